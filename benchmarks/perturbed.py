"""Measure the CPU time that build-perturbed spends on decoding, perturbing and encoding, compared with encoding alone.

    python benchmarks/perturbed.py --clip video7021.mp4   # all 90 settings of a real clip, through the command
    python benchmarks/perturbed.py                        # of a clip of the built-in sample
    python benchmarks/perturbed.py --clip long.mp4 --perturbations box_jumble   # peak memory of a long video

The lower bound is the time for encoding the decoded clean frames 90 times with the same settings. The parts are
measured one by one in a single process. CPU and wall time are those of the whole command with 1 and with 2 workers on
copies of the clip.
"""

from __future__ import annotations

import argparse
import os
import shutil
import tempfile
import time
from pathlib import Path

import cv2
from measuring import command
from stressreel.annotations.samples.cache import cached_sample
from stressreel.builders.perturbed.render import as_encoded, perturbed_frames
from stressreel.corruptions.registry import SEVERITIES, select_corruptions
from stressreel.corruptions.visual.engine import Recipe
from stressreel.video.encode import EncodeSettings, Mp4Writer
from stressreel.video.index import FrameIndex, index_frames
from stressreel.video.store import FrameStore


def encode(pictures: list, index: FrameIndex, path: Path) -> None:
    with Mp4Writer(path, time_base=index.time_base, rate=25, settings=EncodeSettings()) as writer:
        for number, picture in enumerate(pictures):
            writer.write(picture, index.boundary(number + 1) - index.boundary(number))


def split(index: FrameIndex, names: str, folder: Path) -> None:
    """Time decoding, perturbing and encoding separately, and the lower bound."""
    began = time.process_time()
    with FrameStore(index, range(index.num_frames), folder) as store:
        decoding = time.process_time() - began
        wanted = whole = range(index.num_frames)
        clean = [store.yuv(number) for number in wanted]
        corrupting = encoding = floor = 0.0
        for corruption in select_corruptions(names.split(",")):
            for severity in SEVERITIES:
                recipe = Recipe(corruption, severity, 0, "clip")
                children = os.times()
                began = time.process_time()
                pictures = [
                    as_encoded(p, store, lossless=False) for p in perturbed_frames(store, recipe, wanted, whole)
                ]
                corrupting += time.process_time() - began
                ended = os.times()
                corrupting += ended.children_user + ended.children_system
                corrupting -= children.children_user + children.children_system
                began = time.process_time()
                encode(pictures, index, folder / "x.mp4")
                encoding += time.process_time() - began
                began = time.process_time()
                encode(clean, index, folder / "x.mp4")
                floor += time.process_time() - began
    total = decoding + corrupting + encoding
    for label, seconds in (("decode", decoding), ("corrupt, to yuv420p", corrupting), ("encode", encoding)):
        print(f"  {label:22}{seconds:8.2f} s of CPU {seconds / total:7.1%}")
    print(
        f"  {'all':22}{total:8.2f} s; encoding the clean frames the same number of times takes {floor:.2f} s (ratio "
        f"{total / floor:.2f})"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--clip", type=Path)
    parser.add_argument("--perturbations", default="all")
    parser.add_argument("--copies", type=int, default=6, help="number of copies of the clip that the command processes")
    parser.add_argument("--no-split", action="store_true", help="measure only the command (for long videos)")
    arguments = parser.parse_args()
    cv2.setNumThreads(1)  # the same as in a worker
    clip = arguments.clip or cached_sample("msrvtt") / "videos" / "all" / "video90001.mp4"
    index = index_frames(clip)
    print(f"{clip.name}: {index.num_frames} frames, perturbations {arguments.perturbations} x 5")
    with tempfile.TemporaryDirectory(prefix="bench-perturbed-") as name:
        folder = Path(name)
        if not arguments.no_split:
            split(index, arguments.perturbations, folder)
        if not arguments.copies:
            return
        for number in range(arguments.copies):
            shutil.copy(clip, folder / f"clip{number}{clip.suffix}")
        rows = "".join(f"clip{number},a clip\n" for number in range(arguments.copies))
        (folder / "captions.csv").write_text("video,caption\n" + rows, encoding="utf-8")
        walls = {}
        for workers in (1, 2):
            given = ("--captions", folder / "captions.csv", "--out", folder / f"out{workers}", "--no-progress")
            given = (*given, "--workers", workers, "--perturbations", arguments.perturbations)
            cpu, walls[workers], memory = command("build", "perturbed", *given)
            print(
                f"  command, {arguments.copies} copies, {workers} worker{'s' * (workers > 1)}: {cpu:.1f} s of CPU "
                f"({cpu / arguments.copies:.1f} per clip), {walls[workers]:.1f} s, peak {memory:.0f} MB per process"
            )
        print(f"  2 workers are {walls[1] / walls[2]:.2f} times as fast as 1")


if __name__ == "__main__":
    main()
