"""CPU of every pixel perturbation, beside imagecorruptions, in one run and one thread.

    pip install -c constraints.txt -e '.[bench]'
    python benchmarks/corruptions.py                  # 320x240 and 640x360, severities 1, 3 and 5
    python benchmarks/corruptions.py --clip clip.mp4  # on the frames of a real clip

Each figure is the median over the rounds of the CPU time of one frame; the two sides take turns in every round. Keyed
generators are made anew for each frame, as a build does. imagecorruptions has no camera or temporal perturbations.
"""

from __future__ import annotations

import argparse
import statistics
import time
import warnings
from collections.abc import Callable
from itertools import cycle, islice
from pathlib import Path

import av
import cv2
import numpy as np
from numpy.typing import NDArray
from stressreel.corruptions.engine import Recipe
from stressreel.corruptions.registry import list_corruptions

SIZES = ((320, 240), (640, 360))
SEVERITIES = (1, 3, 5)
PEER = {
    "gaussian_noise": "gaussian_noise",
    "shot_noise": "shot_noise",
    "impulse_noise": "impulse_noise",
    "speckle_noise": "speckle_noise",
    "zoom_blur": "zoom_blur",
    "defocus_blur": "defocus_blur",
    "motion_blur": "motion_blur",
    "jpeg": "jpeg_compression",
}
TARGETS = {
    "gaussian_noise": 18,
    "shot_noise": 7,
    "impulse_noise": 12,
    "speckle_noise": 9,
    "defocus_blur": 2.5,
    "motion_blur": 6,
    "zoom_blur": 24,
    "jpeg": 1.3,
}
Frame = NDArray[np.uint8]


def pictures(clip: Path | None, width: int, height: int, count: int) -> list[Frame]:
    """Give frames: of a clip, or drifting clouds with edges."""
    if clip:
        with av.open(str(clip), metadata_errors="ignore") as container:
            found = [frame.reformat(width, height, "rgb24").to_ndarray() for frame in container.decode(video=0)]
        return list(islice(cycle(found), count))
    rng = np.random.default_rng(0)
    cloud = cv2.resize(rng.integers(0, 256, (9, 16, 3), np.uint8), (width + 64, height), interpolation=cv2.INTER_CUBIC)
    frames = [np.ascontiguousarray(cloud[:, t % 64 : t % 64 + width]) for t in range(count)]
    for t, frame in enumerate(frames):
        cv2.rectangle(frame, (20 + t % 50, 30), (90 + t % 50, 120), (230, 40, 20), -1)
    return frames


def milliseconds(work: Callable[[Frame, int], object], frames: list[Frame]) -> float:
    """CPU time of one frame."""
    started = time.process_time()
    for number, frame in enumerate(frames):
        work(frame, number)
    return (time.process_time() - started) / len(frames) * 1000


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--clip", type=Path)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--frames", type=int, default=12)
    arguments = parser.parse_args()
    cv2.setNumThreads(1)
    warnings.simplefilter("ignore")
    try:
        from imagecorruptions import corrupt as peer
    except ImportError as error:
        print(f"without imagecorruptions ({error}): no ratios")
        peer = None
    for width, height in SIZES:
        frames = pictures(arguments.clip, width, height, arguments.frames)
        print(f"\n{width}x{height}, ms of CPU a frame, mean of severities 1, 3, 5")
        print(f"{'':18}{'stressreel':>11}{'imagecorr.':>11}{'ratio':>8}{'to reach':>10}")
        for corruption in list_corruptions():
            if corruption.scope not in ("frame", "clip"):
                continue
            ours, theirs = [], []
            for severity in SEVERITIES:
                recipe = Recipe(corruption, severity, 0, "benchmark")
                sides: list[tuple[list[float], Callable[[Frame, int], object]]] = [([], recipe.frame)]
                if peer and corruption.name in PEER:
                    name = PEER[corruption.name]
                    sides.append(([], lambda frame, _, n=name, s=severity: peer(frame, corruption_name=n, severity=s)))
                for _, work in sides:
                    work(frames[0], 0)
                for _ in range(arguments.rounds):
                    for times, work in sides:
                        times.append(milliseconds(work, frames))
                ours.append(statistics.median(sides[0][0]))
                theirs += [statistics.median(times) for times, _ in sides[1:]]
            mine = statistics.mean(ours)
            other = statistics.mean(theirs) if theirs else None
            columns = f"{other:11.2f}{other / mine:7.1f}x" if other else f"{'':19}"
            target = f"{TARGETS[corruption.name]:9g}x" if corruption.name in TARGETS else ""
            print(f"{corruption.name:18}{mine:11.3f}{columns}{target}", flush=True)


if __name__ == "__main__":
    main()
