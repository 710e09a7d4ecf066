"""What the card of a suite of perturbed clips says and measures; the words are in `perturbed.md.j2`."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from math import inf, log10
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...core.errors import InputError
from ...core.output import FinishedOutput
from ...core.schema import Config, Row
from ...core.source import source_of
from ...corruptions.registry import VisualCorruption, check_name
from ...data_cards.card import Card
from ...video.estimate import spread
from ...video.pyav import plane_view
from ...video.thumbnails import UNDECODABLE, frames_of
from .caption_card import TextStatistics, measure_texts
from .figures import perturbed_figures
from .render import PLACE, index_map_of
from .settings import settings_of
from .tables import CLEAN, suite_configs, visual_tables

CLIPS, FRAMES, AMONG = 3, 16, 32
MAPS = 50
BySeverity = dict[str, dict[int, float]]
"""A number for each perturbation and severity."""


class PaperSuite(NamedTuple):
    """A suite, and its clips, perturbed clips and perturbed captions in the paper; 0 if that has no such suite."""

    name: str
    paper: tuple[int, int, int] = (0, 0, 0)


SUITES = {
    "sample": PaperSuite("MSRVTT-P on the built-in sample of stressreel"),
    "msrvtt": PaperSuite("MSRVTT-P", (1_000, 90_000, 35_000)),
    "youcook2": PaperSuite("YouCook2-P", (3_350, 301_500, 103_850)),
    "captions": PaperSuite("Perturbed clips"),
}
NOTES = {
    "clips": "clips read",
    "videos": "videos that they come from",
    "captions": "captions read",
    "captions_repeated_in_their_clip": "captions that their clip has twice",
    "clips_with_the_times_of_another": "clips with the source and times of another",
    "videos_in_several_splits": "videos in more than one split",
    "ends_past_the_length": "annotated ends past the video's length",
}
SCOPES = {"frame": "each frame", "clip": "all frames alike", "index": "order of frames", "file": "the whole file"}


@dataclass(frozen=True)
class PerturbedStatistics:
    """Everything that is measured for a card.

    Attributes:
        clips: The clean rows, without their videos.
        splits: How many clips each split has.
        sources: How many source videos each split has.
        seconds: Length of all clips; None if neither a file nor an annotation says.
        sizes: Bytes of all videos by perturbation (or "clean") and severity.
        ratios: These bytes divided by those of the same clips when clean.
        psnr: Of decoded frames against the clean ones in dB, for perturbations of pixels.
        moved: Mean distance in frames from where a frame is shown to where it was, for temporal perturbations.
        compared: Clips whose frames were compared, and how many frames in all.
        maps: Number of clips whose index maps were computed.
        cut: Whether a clip is a part of its source.
        text: What is counted of perturbed captions; None if there are none.
    """

    clips: tuple[Row, ...]
    splits: dict[str, int]
    sources: dict[str, int]
    seconds: float | None
    sizes: dict[str, dict[int, int]] = field(default_factory=dict)
    ratios: BySeverity = field(default_factory=dict)
    psnr: BySeverity = field(default_factory=dict)
    moved: BySeverity = field(default_factory=dict)
    compared: tuple[tuple[str, ...], int] = ((), 0)
    maps: int = 0
    cut: bool = False
    text: TextStatistics | None = None


def measure_perturbed(output: FinishedOutput) -> PerturbedStatistics:
    """Count and measure everything that the card says; every video is read once and few are decoded."""
    columns = ["clip_id", "captions", "source_id", "start_s", "end_s", *PLACE]
    clips: list[Row] = []
    splits, sources = {}, {}
    for split in output.splits(CLEAN):
        rows = list(output.whole(CLEAN, columns, split))
        splits[split], sources[split] = len(rows), len({row["source_id"] for row in rows})
        clips += rows
    counted: dict[str, Any] = {
        "clips": tuple(clips),
        "splits": splits,
        "sources": sources,
        "seconds": total_seconds(clips),
        "cut": any(row["start_s"] is not None for row in clips),
        "text": measure_texts(output),
    }
    if output.info["settings"]["render"]:
        counted |= measure_files(output, {row["clip_id"] for row in spread(clips, CLIPS)})
        mapped = spread(clips, MAPS)
        counted |= {"moved": measure_maps(output, mapped), "maps": len(mapped)}
    return PerturbedStatistics(**counted)


def total_seconds(clips: Iterable[Row]) -> float | None:
    """Add up the lengths of clips, as measured or else as annotated."""
    lengths = [
        row["num_frames"] / row["fps"] if row["num_frames"] else row["end_s"] - row["start_s"]
        for row in clips
        if row["num_frames"] or row["end_s"] is not None
    ]
    return sum(lengths) if lengths else None


def measure_files(output: FinishedOutput, chosen: set[str]) -> dict[str, Any]:
    """Measure sizes of all files, and PSNR of the chosen clips."""
    sizes: dict[str, dict[int, int]] = {}
    ratios: BySeverity = {}
    psnr: BySeverity = {}
    clean_bytes = Counter[str]()
    clean_frames: dict[str, list[NDArray[np.uint8]]] = {}
    for name in visual_tables(output.info):
        pixels = name == CLEAN or check_name(name).scope != "index"
        totals, cleans, errors = Counter[int](), Counter[int](), defaultdict[int, list[float]](list)
        for row in output.whole(name, ["clip_id", "severity", "num_frames", "video"]):
            clip, severity, content = row["clip_id"], row["severity"], row["video"]["bytes"] or b""
            if name == CLEAN:
                clean_bytes[clip] = len(content)
            totals[severity] += len(content)
            cleans[severity] += clean_bytes[clip]
            if clip in chosen and pixels:
                try:
                    frames = some_frames(content, row["num_frames"])
                except UNDECODABLE as error:
                    raise not_as_built(output, name, row, f"cannot be decoded ({error})") from error
                known = clean_frames.setdefault(clip, frames) if name == CLEAN else clean_frames.get(clip, [])
                if known and [len(frame) for frame in frames] != [len(frame) for frame in known]:
                    raise not_as_built(output, name, row, "has frames of another size or number than the clean clip")
                errors[severity] += map(mean_square, known, frames)
        sizes[name] = dict(sorted(totals.items()))
        if name != CLEAN:
            ratios[name] = {severity: sizes[name][severity] / (cleans[severity] or inf) for severity in sizes[name]}
            if pixels:
                psnr[name] = {severity: decibels(found) for severity, found in sorted(errors.items())}
    compared = tuple(clean_frames), sum(map(len, clean_frames.values()))
    return {"sizes": sizes, "ratios": ratios, "psnr": psnr, "compared": compared}


def not_as_built(output: FinishedOutput, name: str, row: Row, why: str) -> InputError:
    """Describe that a video is not one that was built."""
    return InputError(
        f"{output.path}, table {name}: the video of clip {row['clip_id']}, severity {row['severity']}, {why}, so it is "
        "not what was built. `stressreel verify` says more; build again with --fresh."
    )


def some_frames(content: bytes, num_frames: int) -> list[NDArray[np.uint8]]:
    """Decode a few frames at equal distances near the beginning, each as one array of all its samples.

    The samples are those of the file, Y, U and V (or G, B and R if lossless), so that no conversion of colours, which
    is not the same on every processor, comes between.
    """
    wanted = spread(range(min(num_frames, AMONG)), FRAMES)
    found: list[NDArray[np.uint8]] = []
    for number, frame in enumerate(frames_of(content)):
        if number == wanted[len(found)]:
            planes = range(len(frame.planes))
            found.append(np.concatenate([plane_view(frame, plane).ravel() for plane in planes]))
            if len(found) == len(wanted):
                break
    return found


def mean_square(one: NDArray[np.uint8], other: NDArray[np.uint8]) -> float:
    """Measure how far two frames are apart."""
    apart = one.astype(np.int32) - other
    return int((apart * apart).sum(dtype=np.int64)) / len(one)


def decibels(errors: Sequence[float]) -> float:
    """Turn mean squares into PSNR as FFmpeg's filter `psnr` does: of their mean."""
    mean = sum(errors) / len(errors) if errors else 0.0
    return 10 * log10(255**2 / mean) if mean else inf


def measure_maps(output: FinishedOutput, clips: Sequence[Row]) -> BySeverity:
    """Compute how far temporal perturbations move the frames of clips."""
    settings = settings_of(output.info)
    moved: BySeverity = {}
    for name in settings.perturbations:
        for severity in settings.severities if check_name(name).scope == "index" else ():
            total = frames = 0
            for row in clips:
                own = np.arange(row["first_frame"], row["first_frame"] + row["num_frames"])
                shown = index_map_of(name, severity, row, settings)[own]
                total += int(np.abs(shown - own).sum())
                frames += row["num_frames"]
            moved.setdefault(name, {})[severity] = total / frames
    return moved


def grows(values: Mapping[int, float], *, falling: bool) -> bool:
    """Return whether a number goes one way from each severity to the next, as far as the card writes it out."""
    shown = [round(-value if falling else value, 1) for _, value in sorted(values.items())]
    return all(one < other for one, other in pairwise(shown))


def title_of(output: FinishedOutput) -> str:
    """Return the name of a suite, with the half that it is if it is not whole."""
    settings = output.info["settings"]
    half = {(True, False): ", visual half", (False, True): ", text half"}
    return SUITES[source_of(output.info).key].name + half.get(
        (bool(settings["perturbations"]), bool(settings["text_perturbations"])), ""
    )


def card() -> Card:
    """Return what the card of a suite says."""
    return Card(
        Path(__file__).parent / "card.md.j2",
        measure_perturbed,
        context,
        front_matter,
        lambda output, measured: perturbed_figures(output),
        notes=NOTES,
    )


def front_matter(output: FinishedOutput) -> dict[str, Any]:
    """Return the fields of the YAML head that depend on the benchmark."""
    source = source_of(output.info)
    return {
        "pretty_name": title_of(output) if source.drawn else f"{title_of(output)}, built with stressreel",
        **({} if source.key == "captions" else {"language": ["en"]}),
        "task_categories": ["video-text-to-text"],
        "tags": ["video", "text-to-video-retrieval", "robustness", "corruptions", "diagnostic", "stressreel"],
    }


def context(output: FinishedOutput, measured: PerturbedStatistics) -> dict[str, Any]:
    """Return the fields of the template."""
    info = output.info
    settings = info["settings"]
    kind = source_of(info).key
    corruptions = [check_name(name) for name in settings["perturbations"]]
    return {
        "kind": kind,
        "suite": SUITES[kind],
        "text": measured.text,
        "stats": measured,
        "severities": settings["severities"],
        "corruptions": corruptions,
        "drawn": drawn(corruptions),
        "filed": [corruption.name for corruption in corruptions if corruption.scope == "file"],
        "scopes": SCOPES,
        "example": example_of(settings),
        "kinds_of_tables": kinds_of_tables(output),
        "visual_rows": sum(sum(info["counts"][name].values()) for name in visual_tables(info)),
        "rows": {name: sum(splits.values()) for name, splits in info["counts"].items()},
        "captions": sum(len(row["captions"]) for row in measured.clips),
        "lengths": sorted({row["num_frames"] / row["fps"] for row in measured.clips if row["num_frames"]}),
        "rates": sorted({row["fps"] for row in measured.clips if row["fps"]}),
        "psnr_grows": {name: grows(values, falling=True) for name, values in measured.psnr.items()},
        "moved_grows": {name: grows(values, falling=False) for name, values in measured.moved.items()},
        "infinite": inf,
        "total": sum(sum(sizes.values()) for sizes in measured.sizes.values()),
        "sampling": {"clips": CLIPS, "frames": FRAMES, "among": AMONG},
        "jsfusion": any("JSFUSION" in name for name in info["inputs"]),
    }


def kinds_of_tables(output: FinishedOutput) -> dict[str, Config]:
    """Return one table of each kind, with what the card says of it."""
    settings = settings_of(output.info)
    visual, texts, pairs = len(settings.perturbations), settings.text_perturbations, settings.pairs
    configs = suite_configs(settings)
    others = "All tables" if not texts else "`clean` and the tables of visual perturbations" if visual else "`clean`"
    verb = "has these" if others == "`clean`" else "have the same"
    found = {f"{others} {verb} columns; a row is named by its first two.": configs[0]}
    if texts:
        title = "The tables of text perturbations have these columns; a row is named by its `caption_id`."
        found[title] = configs[1 + visual]
    if pairs:
        found["`multimodal` has these; a row is named by all of them."] = configs[-1]
    return found


def example_of(settings: Mapping[str, Any]) -> str:
    """Choose the table that the card opens as an example."""
    visual, texts = settings["perturbations"], settings["text_perturbations"]
    return "gaussian_noise" if "gaussian_noise" in visual else [*visual, *texts][0]


def drawn(corruptions: Iterable[VisualCorruption]) -> dict[str, list[str]]:
    """Sort perturbations by what is drawn for them: something for each frame ("frame"), for the clip, or nothing."""
    found: dict[str, list[str]] = {"frame": [], "clip": [], "nothing": []}
    for corruption in corruptions:
        kind = "nothing" if not corruption.random else "frame" if corruption.scope == "frame" else "clip"
        found[kind].append(corruption.name)
    return found
