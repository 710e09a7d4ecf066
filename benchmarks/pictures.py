"""How far right and wrong videos of a suite are from the limits of `verify`'s check `pictures`.

    python benchmarks/pictures.py OUT

For every perturbation of pixels of a finished suite, over its clips and severities:

    right      the largest of distance / distance of the nearest other severity: above 1.1 (`TIED`) is a false alarm
    exchanged  the smallest of that for the video of another severity in its row: below 1.1 is not found
    changed    the smallest share of the correlation that the encoder leaves: below 0.5 (less 0.05) is a false alarm
    nothing    the largest such share of a clean clip encoded once more: above the same limit it is not found
    far        the largest distance in units of the encoder's loss: the limit is 2, of jpeg and codecs 6

Where a scene is so dark that nothing can be told apart, a limit is not reached; the checks then let it pass.
"""

from __future__ import annotations

import argparse
import tempfile
from fractions import Fraction
from pathlib import Path

import numpy as np
from stressreel.builders.perturbed.pictures import (
    Likeness,
    Stretch,
    apart,
    compared,
    correlation,
    make_again,
    places_in,
)
from stressreel.builders.perturbed.settings import PerturbedSettings
from stressreel.builders.perturbed.tables import CLEAN
from stressreel.corruptions.registry import SEVERITIES, check_name
from stressreel.records.output import FinishedOutput, open_output
from stressreel.records.schema import Row
from stressreel.video.encode import EncodeSettings
from stressreel.video.thumbnails import look_at


def measure(output: FinishedOutput, name: str, rows: dict[int, Row], clean: Path) -> dict[str, float]:
    """Measure the videos of one clip under a perturbation."""
    settings = PerturbedSettings(**output.info["settings"])
    shown: dict[int, list[np.ndarray]] = {}
    for severity, row in rows.items():
        likeness = Likeness(
            clean,
            name,
            severity,
            settings.seed,
            row["clip_id"] if settings.clip_first else row["source_id"],
            row["first_frame"],
            Fraction(row["fps"]).limit_denominator(1001),
            EncodeSettings(settings.crf, settings.preset, settings.lossless),
            places_in(row["num_frames"], output.info["fingerprint"], row["clip_id"]),
        )
        made = [make_again(likeness, place) for place in likeness.places]
        samples = look_at(row["video"]["bytes"], pictures=False, keep=likeness.frames).samples
        shown[severity] = [
            np.stack([compared(samples[place + number]) for number in range(len(stretch.clean))])
            for place, stretch in zip(likeness.places, made, strict=True)
        ]
    if check_name(name).scope == "file":
        made = made[:1]

    def ratio(video: int, row: int) -> float:
        distances = {
            severity: sum(apart(s, m.severities[severity].encoded) for s, m in zip(shown[video], made, strict=False))
            for severity in SEVERITIES
        }
        return distances.pop(row) / max(min(distances.values()), 1e-9)

    def share(found: np.ndarray, stretch: Stretch, severity: int) -> float:
        own = stretch.severities[severity]
        left = correlation(own.encoded, own.exact, stretch.clean)
        return correlation(found, own.exact, stretch.clean) / left if left > 0.1 else float("nan")

    each = [(severity, s, m) for severity in rows for s, m in zip(shown[severity], made, strict=False)]
    return {
        "right": max(ratio(severity, severity) for severity in rows),
        "exchanged": min((ratio(video, row) for row in rows for video in rows if video != row), default=np.nan),
        "changed": float(np.nanmin([share(s, m, severity) for severity, s, m in each] + [np.inf])),
        "nothing": float(np.nanmax([share(m.unchanged, m, severity) for severity, _, m in each] + [-np.inf])),
        "far": max(apart(s, m.severities[v].encoded) / (m.severities[v].loss + m.loss + 1) for v, s, m in each),
    }


def main() -> None:
    """Print a line for each perturbation and clip."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path)
    output = open_output(parser.parse_args().out)
    print(f"{'':16}{'clip':28}{'right':>10}{'exchanged':>10}{'changed':>10}{'nothing':>10}{'far':>10}")
    with tempfile.TemporaryDirectory() as folder:
        for row in output.rows(CLEAN):
            (Path(folder) / f"{row['clip_id']}.mp4").write_bytes(row["video"]["bytes"])
        for name in output.info["settings"]["perturbations"]:
            if check_name(name).scope == "index":
                continue
            clips: dict[str, dict[int, Row]] = {}
            for row in output.rows(name):
                clips.setdefault(row["clip_id"], {})[row["severity"]] = row
            for clip, rows in clips.items():
                found = measure(output, name, rows, Path(folder) / f"{clip}.mp4")
                print(f"{name:16}{clip[:27]:28}" + "".join(f"{value:10.2f}" for value in found.values()), flush=True)


if __name__ == "__main__":
    main()
