"""Calibrate the estimates of build-perturbed --dry-run, and compare them to real builds.

    python benchmarks/estimate.py measure clip.mp4 other.mp4@200:90   # all 90 settings, of clips or of 90 frames
    python benchmarks/estimate.py write                               # factors from all measurements so far
    python benchmarks/estimate.py fixed                               # start-up, card, packing: independent of clips
    python benchmarks/estimate.py compare held_out.mp4 third.mp4      # dry run and real build, by perturbation

`measure` appends JSON lines to a file (--measured); `write` condenses them into builders/perturbed/costs.yaml and the
clean part of video/costs.yaml, as geometric means over clips. CPU time counts, not wall time. Give `compare` other
clips than `measure`; options after `--` are passed to the build (`-- --severity 3`).
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterable, Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

import av
import cv2
import numpy as np
import pyarrow.parquet as pq
import yaml
from stressreel.builders.perturbed import estimate as perturbed_estimate
from stressreel.builders.perturbed.estimate import JUMPS, jump_factor, perturb_stretches
from stressreel.builders.perturbed.prepare import prepare
from stressreel.builders.perturbed.render import as_encoded, perturbed_frames, recipe_for
from stressreel.builders.perturbed.settings import PerturbedSettings
from stressreel.builders.perturbed.tables import CLEAN
from stressreel.cli.main import load_command
from stressreel.cli.options import from_values
from stressreel.core.options import settled
from stressreel.core.shards import ShardWriter
from stressreel.corruptions.registry import SEVERITIES, check_name, visual_corruptions
from stressreel.video import estimate
from stressreel.video.encode import EncodeSettings, Mp4Writer, write_video
from stressreel.video.estimate import (
    BuildEstimate,
    Footage,
    Measured,
    Stretch,
    key_share,
    mean,
    measure_clean,
    opened,
    stretches,
    survey,
)
from stressreel.video.index import index_frames
from stressreel.video.store import FrameStore

ROOT = Path(__file__).parents[1]
TABLES = {"general": ROOT / "video" / "costs.yaml", "perturbed": ROOT / "builders" / "perturbed" / "costs.yaml"}
Row = dict[str, Any]


def cpu() -> float:
    """Return the CPU seconds of this process and of its finished children."""
    spent = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + spent.ru_utime + spent.ru_stime


def part_of(text: str) -> tuple[Path, int, int | None]:
    name, _, span = text.partition("@")
    first, _, count = span.partition(":")
    return Path(name), int(first or 0), int(count) if count else None


def measure(text: str) -> Iterable[Row]:
    """Perturb and encode all 90 settings and the clean one; yield sizes and times."""
    path, first, count = part_of(text)
    index = index_frames(path)
    stop = min(index.num_frames, first + (count or index.num_frames))
    with tempfile.TemporaryDirectory(prefix="bench-") as name:
        file = Path(name) / "x.mp4"
        began = cpu()
        with FrameStore(index, range(first, stop), Path(name)) as store:
            decoding = cpu() - began
            wanted = list(store.frames)
            for perturbation in (CLEAN, *visual_corruptions()):
                for severity in (0,) if perturbation == CLEAN else SEVERITIES:
                    recipe = recipe_for(perturbation, severity, 0, "clip")
                    began = cpu()
                    made = perturbed_frames(store, recipe, wanted, range(first, stop))
                    pictures = [as_encoded(p, store, lossless=False) for p in made]
                    perturbing = cpu() - began
                    began = cpu()
                    with Mp4Writer(file, time_base=index.time_base, rate=25, settings=EncodeSettings()) as writer:
                        for number, picture in zip(wanted, pictures, strict=True):
                            writer.write(picture, index.boundary(number + 1) - index.boundary(number))
                    encoding = cpu() - began
                    with av.open(str(file)) as container:
                        packets = [(p.size, bool(p.is_keyframe)) for p in container.demux(video=0) if p.size]
                    keys = [size for size, key in packets if key]
                    yield {
                        "clip": str(path),
                        "first": first,
                        "n": len(wanted),
                        "w": store.width,
                        "h": store.height,
                        "name": perturbation,
                        "sev": severity,
                        "pert": perturbing,
                        "enc": encoding,
                        "dec": decoding,
                        "packets": sum(size for size, _ in packets),
                        "keys": len(keys),
                        "key": sum(keys),
                    }


def geometric(values: Iterable[float]) -> float:
    return float(f"{np.exp(np.mean(np.log([max(value, 1e-6) for value in values]))):.4g}")


def write(measured: Path) -> None:
    clips: dict[tuple[str, int, int], dict[tuple[str, int], Row]] = defaultdict(dict)
    for line in measured.read_text().splitlines():
        row = json.loads(line)
        clips[row["clip"], row["first"], row["n"]][row["name"], row["sev"]] = row
    whole = {clip: rows for clip, rows in clips.items() if len(rows) == 91}
    general, perturbed = (yaml.safe_load(path.read_text()) or {} for path in TABLES.values())
    every = perturbed["codec"]["key_every"]
    launch = perturbed["codec"]["launch_s"]
    shares = {clip: key_share(index_frames(Path(clip[0])), range(clip[1], clip[1] + clip[2])) for clip in whole}

    def pixels(row: Row) -> int:
        return row["w"] * row["h"] * row["n"]

    def key_bits(row: Row) -> float:
        return row["key"] / row["keys"] * row["n"] / pixels(row) * 8

    def later_bits(row: Row, key: float, share: float) -> float:
        """Return the bits per pixel of frames other than keyframes, assuming the estimated share of keyframes."""
        return (row["packets"] * 8 / pixels(row) - share * key) / (1 - share)

    clean = {clip: rows[CLEAN, 0] for clip, rows in whole.items()}
    general["clean"] = {
        "key": geometric(key_bits(row) for row in clean.values()),
        "later": geometric(later_bits(row, key_bits(row), shares[clip]) for clip, row in clean.items()),
        "encode_ns": geometric(row["enc"] / pixels(row) * 1e9 for row in clean.values()),
        "decode_ns": geometric(row["dec"] / pixels(row) * 1e9 for row in clean.values()),
        "tail": 0.0,
    }
    perturbed["joined"] = 1.0
    perturbed["perturbations"] = {}
    for name, corruption in visual_corruptions().items():
        lists: dict[str, list[float]] = {"later": [], "perturb_ns": [], "encode_ns": []}
        for severity in SEVERITIES:
            rows = {clip: rows[name, severity] for clip, rows in whole.items()}
            later = []
            for clip, row in rows.items():
                share = max(shares[clip], 1 / every) if corruption.scope == "file" else shares[clip]
                later.append(later_bits(row, key_bits(clean[clip] if corruption.scope == "index" else row), share))
            lists["later"].append(geometric(later))
            off = launch if corruption.scope == "file" else 0.0
            lists["perturb_ns"].append(geometric((row["pert"] - off) / pixels(row) * 1e9 for row in rows.values()))
            lists["encode_ns"].append(geometric(row["enc"] / pixels(row) * 1e9 for row in rows.values()))
        middle = geometric(key_bits(rows[name, 3]) for rows in whole.values())
        perturbed["perturbations"][name] = {"key": middle, **lists, "stretch": 1.0}
    save(general, perturbed)
    for table in (estimate.costs, perturbed_estimate.factors, perturbed_estimate._table):
        table.cache_clear()
    off: dict[str, list[float]] = defaultdict(list)
    tails: list[float] = []
    joined: list[float] = []
    follow: dict[str, list[float]] = defaultdict(list)
    for clip, rows in whole.items():
        chosen, clean_found, found, jumps = stretches_of(clip)
        key = np.mean([one.key for one in clean_found])
        short = np.array([one.later for one in clean_found])
        frames = np.mean([len(stretch.frames) for stretch in chosen])
        tails.append((later_bits(rows[CLEAN, 0], key, shares[clip]) / short.mean() - 1) * frames)
        key = key_bits(rows[CLEAN, 0])
        real = later_bits(rows[JUMPS], key, shares[clip]) / later_bits(rows[CLEAN, 0], key, shares[clip])
        usually = perturbed["perturbations"][JUMPS[0]]["later"][JUMPS[1] - 1] / general["clean"]["later"]
        joined.append((real - 1) / (usually - 1) / jumps)
        for name, ones in found.items():
            share = max(shares[clip], 1 / every) if check_name(name).scope == "file" else shares[clip]
            later = np.array([one.later for one in ones])
            off[name].append(later_bits(rows[name, 3], np.mean([one.key for one in ones]), share) / later.mean())
            x, y = (np.log(values) - np.log(values).mean() for values in (short, later))
            follow[name].append(float((x * y).sum() / (x * x).sum()))
        print(
            Path(clip[0]).name,
            round(tails[-1], 2),
            {name: round(float(values[-1]), 2) for name, values in off.items()},
            flush=True,
        )
    general["clean"]["tail"] = round(float(np.mean(tails)), 2)
    perturbed["joined"] = round(float(np.median(joined)), 2)
    for name, values in off.items():
        slope = float(np.clip(np.median(follow[name]), 0, 1))
        perturbed["perturbations"][name] |= {"stretch": round(float(np.median(values)), 3), "contents": round(slope, 2)}
    save(general, perturbed)


def stretches_of(clip: tuple[str, int, int]) -> tuple[list[Stretch], list[Measured], dict[str, list[Measured]], float]:
    """Encode the stretches that a dry run would choose: clean, under each perturbation, and with temporal jumps."""
    span, settings = range(clip[1], clip[1] + clip[2]), EncodeSettings()
    footage = Footage(clip[0], lambda shape: len(span), lambda index: span)
    chosen = stretches(survey([footage], {clip[0]: Path(clip[0])}, "perturbed"))
    with opened(chosen) as (found, _), tempfile.TemporaryDirectory(prefix="bench-") as folder:
        file = Path(folder) / "x.mp4"
        clean = [measure_clean(stretch, store, settings, file) for stretch, store in found]
        perturbed = {
            name: [perturb_stretches(corruption, 3, found=[one], encoding=settings, file=file)[0] for one in found]
            for name, corruption in visual_corruptions().items()
            if corruption.scope != "index"
        }
        return chosen, clean, perturbed, jump_factor(found, mean(clean), settings, file)


def save(general: Mapping[str, Any], perturbed: Mapping[str, Any]) -> None:
    """Write the tables, keeping the comment at the top of each."""
    for path, content in zip(TABLES.values(), (general, perturbed), strict=True):
        top = [line for line in path.read_text().splitlines() if line.startswith("#")]
        text = yaml.safe_dump(dict(content), sort_keys=False, default_flow_style=None, width=118)
        path.write_text("\n".join(top) + "\n" + text)


def command(*arguments: object) -> tuple[float, str]:
    start = [sys.executable, "-c", "from stressreel.cli.main import main; main()", "build", "perturbed"]
    began = cpu()
    done = subprocess.run([*start, *map(str, arguments)], check=True, capture_output=True, text=True)
    return cpu() - began, done.stdout


def fixed() -> None:
    """Measure the costs that do not depend on clips, with builds of tiny clips that differ in one quantity."""
    with tempfile.TemporaryDirectory(prefix="bench-") as name:
        folder = Path(name)
        flat = np.full((64, 64, 3), 128, np.uint8)
        write_video(folder / "a0.mp4", [flat] * 2, rate=Fraction(25))
        for number in range(1, 48):
            shutil.copy(folder / "a0.mp4", folder / f"a{number}.mp4")

        def build(clips: int, workers: int, *more: object) -> float:
            (folder / "c.csv").write_text("video,caption\n" + "".join(f"a{n},x\n" for n in range(clips)))
            out = folder / "out"
            shutil.rmtree(out, ignore_errors=True)
            given = ("--captions", folder / "c.csv", "--workers", workers, "--out", out, "--no-progress")
            return float(np.median([command(*given, "--fresh", *more)[0] for _ in range(3)]))

        one = build(2, 1, "--perturbations", "sampling", "--severity", 3)
        two = build(2, 2, "--perturbations", "sampling", "--severity", 3)
        many = build(48, 1, "--perturbations", "sampling", "--severity", 3)
        files = build(48, 1, "--perturbations", "sampling", "--severity", "1-5")
        held = build(48, 1, "--perturbations", "sampling", "--severity", "1-2")
        codec = build(48, 1, "--perturbations", "mpeg1", "--severity", "1-2")
    file_s = (files - many) / (48 * 4)
    unit_s = (many - one) / 46 - 2 * file_s
    worker_s = two - one
    general, perturbed = (yaml.safe_load(path.read_text()) or {} for path in TABLES.values())
    general["fixed"] |= {
        "command_s": round(one - worker_s - 2 * unit_s - 4 * file_s, 2),
        "worker_s": round(worker_s, 2),
        "unit_s": round(max(0.0, unit_s), 4),
        "file_s": round(file_s, 4),
        "gigabyte_s": round(packing(), 1),
    }
    perturbed["codec"]["launch_s"] = round((codec - held) / (48 * 2), 4)
    save(general, perturbed)
    print(general["fixed"], perturbed["codec"])


def packing() -> float:
    from stressreel.builders.perturbed.tables import perturbed_configs

    config = perturbed_configs(["jpeg"], videos=True)[0]
    content = os.urandom(3_000_000)
    empty = {column.name: None for column in config.columns}
    with tempfile.TemporaryDirectory(prefix="bench-") as name:
        began = cpu()
        files = [Path(name) / f"{number}" for number in range(100)]
        for file in files:
            file.write_bytes(content)
            hashlib.sha256(file.read_bytes()).hexdigest()

        def rows() -> Iterable[tuple[Row, int]]:
            for file in files:
                read = file.read_bytes()
                hashlib.sha256(read).hexdigest()
                yield empty | {"video": {"bytes": read, "path": "x.mp4"}, "clip_id": "x", "severity": 1}, len(read)

        writer = ShardWriter(Path(name) / "x.parquet", config)
        for row, size in rows():
            writer.add(row, size)
        writer.close()
        return (cpu() - began) / (len(files) * len(content)) * 1e9


def compare(clips: list[str], more: list[str]) -> None:
    """Print the ratios of estimated to measured sizes and CPU times for each clip."""
    ratios: dict[str, list[str]] = defaultdict(list)
    for text in clips:
        path = Path(text)
        with tempfile.TemporaryDirectory(prefix="bench-") as name:
            folder = Path(name)
            (folder / path.name).symlink_to(path.resolve())
            (folder / "c.csv").write_text(f"video,caption\n{path.name},a clip\n")
            given = ["--captions", folder / "c.csv", "--workers", 1, *more]
            asked, printed = command(*given, "--dry-run")
            said = foretold(given)
            spent, _ = command(*given, "--out", folder / "out", "--no-progress")
            sizes: dict[str, float] = defaultdict(float)
            worst = []
            for table in sorted({shard.parent for shard in (folder / "out").glob("*/*.parquet")}):
                rows = pq.read_table(table, columns=["severity", "video"]).to_pylist()
                for row in rows:
                    size = len(row["video"]["bytes"])
                    sizes[table.name] += size
                    worst.append((said.parts[table.name, row["severity"]].size / size, table.name, row["severity"]))
        print(f"\n{path.name}\n{printed}\nthe dry run took {asked:.1f} s of CPU; largest errors: ", end="")
        worst.sort()
        print(", ".join(f"{name} {severity} x{ratio:.2f}" for ratio, name, severity in (*worst[:3], *worst[-3:])))
        for table, size in sizes.items():
            ratios[table].append(f"{sum(c.size for (t, _), c in said.parts.items() if t == table) / size:.2f}")
        whole = sum(sizes.values())
        ratios["all sizes"].append(f"{said.total.size / whole:.2f} of {whole / 1e6:.0f} MB")
        ratios["CPU"].append(f"{said.total.cpu_s / spent:.2f} of {spent:.0f} s")
    print(f"\nestimated / real\n{'':18}" + "".join(f"{Path(clip).name[:22]:>24}" for clip in clips))
    for name in (CLEAN, *visual_corruptions(), "all sizes", "CPU"):
        if name in ratios:
            print(f"{name:18}" + "".join(f"{ratio:>24}" for ratio in ratios[name]))


def foretold(given: Iterable[object]) -> BuildEstimate:
    """Return the estimate that a dry run with these arguments makes."""
    params = load_command("build-perturbed").make_context("build-perturbed", [*map(str, given), "--dry-run"]).params
    estimate_of = prepare(settled(from_values(PerturbedSettings, params)), dry_run=True).estimate
    assert estimate_of is not None
    return estimate_of(1, True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("measure", "write", "fixed", "compare"))
    parser.add_argument("clips", nargs="*")
    parser.add_argument("--measured", type=Path, default=Path("measured.jsonl"))
    given = sys.argv[1:]
    cut = given.index("--") if "--" in given else len(given)
    arguments, more = parser.parse_args(given[:cut]), given[cut + 1 :]
    cv2.setNumThreads(1)  # as in a worker
    if arguments.what == "measure":
        for clip in arguments.clips:
            with open(arguments.measured, "a") as file:
                for row in measure(clip):
                    file.write(json.dumps(row) + "\n")
    elif arguments.what == "write":
        write(arguments.measured)
    elif arguments.what == "fixed":
        fixed()
    else:
        compare(arguments.clips, more)


if __name__ == "__main__":
    main()
