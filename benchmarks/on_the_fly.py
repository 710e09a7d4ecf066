"""Compare the cost of perturbing some frames of a clip on the fly with the cost of all frames, in one thread.

    python benchmarks/on_the_fly.py --clip video7021.mp4   # 8 evenly spaced frames, and the first 8
    python benchmarks/on_the_fly.py                        # of a clip of the built-in sample

Each figure is the median wall time of `clips[0]` over the rounds, where `clips` comes from `stressreel.load` and the
file's index is cached; the variants alternate. "alone" perturbs decoded frames, which is a lower bound: the rest is
decoding from the nearest keyframe and, for mpeg1 and mpeg2, running the codec from the start.
"""

from __future__ import annotations

import argparse
import shutil
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import cv2
import stressreel
from measuring import command
from stressreel.annotations.samples.cache import cached_sample
from stressreel.builders.perturbed.load import PerturbedClip
from stressreel.corruptions.registry import list_corruptions
from stressreel.video.index import index_frames


def medians(ways: dict[str, Callable[[], object]], rounds: int) -> dict[str, float]:
    """Return the median time of each variant in milliseconds, not counting a first pass."""
    times: dict[str, list[float]] = {name: [] for name in ways}
    for turn in range(rounds + 1):
        for name, way in ways.items():
            began = time.perf_counter()
            way()
            times[name] += [(time.perf_counter() - began) * 1000] * (turn > 0)
    return {name: statistics.median(found) for name, found in times.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--clip", type=Path)
    parser.add_argument("--frames", type=int, default=8)
    parser.add_argument("--rounds", type=int, default=5)
    arguments = parser.parse_args()
    cv2.setNumThreads(1)
    clip = arguments.clip or cached_sample("msrvtt") / "videos" / "all" / "video90001.mp4"
    index = index_frames(clip)
    keyframes = [int((index.pts < keyframe).sum()) for keyframe in index.keyframes]
    print(f"{clip.name}: {index.num_frames} frames, keyframes {keyframes}; severity 3, ms")
    count = arguments.frames
    print(f"{'':18}{'all':>9}{f'{count} apart':>10}{'ratio':>8}{f'first {count}':>10}{'ratio':>8}{'alone':>8}")
    with tempfile.TemporaryDirectory(prefix="bench-on-the-fly-") as name:
        folder = Path(name)
        shutil.copy(clip, folder)
        (folder / "captions.csv").write_text(f"video,caption\n{clip.stem},a clip\n", encoding="utf-8")
        options = ("--captions", folder / "captions.csv", "--out", folder / "out", "--no-render", "--severity", 3)
        command("build", "perturbed", *options, "--no-progress")

        def loading(table: str, frames: int | slice | None = None) -> Callable[[], PerturbedClip]:
            clips = stressreel.load(folder / "out", table, videos=folder, frames=frames)
            return lambda: clips[0]

        pictures = loading("clean", count)().frames
        for table in ["clean", *(corruption.name for corruption in list_corruptions())]:

            def alone(table: str = table) -> object:
                return pictures if table == "clean" else stressreel.corrupt(pictures, table, severity=3)

            ways = {"all": loading(table), "apart": loading(table, count), "first": loading(table, slice(count))}
            found = medians({**ways, "alone": alone}, arguments.rounds)
            whole, apart, first = found["all"], found["apart"], found["first"]
            print(
                f"{table:18}{whole:9.1f}{apart:10.1f}{whole / apart:7.1f}x{first:10.1f}{whole / first:7.1f}x"
                f"{found['alone']:8.1f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
