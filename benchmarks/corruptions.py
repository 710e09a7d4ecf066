"""Compare the CPU time of every pixel perturbation with that of imagecorruptions, in one thread.

    pip install -c constraints.txt -e '.[bench]'
    python benchmarks/corruptions.py                  # 320x240 and 640x360, severities 1, 3 and 5
    python benchmarks/corruptions.py --clip clip.mp4  # on the frames of a real clip

Each figure is the median CPU time per frame over the rounds. The two packages alternate, each in a separate process as
in a user's script. Sharing a process would change page faults and, as a result, times by up to a half. Keyed generators
are created for each frame, as in a build. imagecorruptions has no camera or temporal perturbations.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
import warnings
from importlib.util import find_spec
from itertools import cycle, islice
from pathlib import Path

import av
import cv2
import numpy as np
from numpy.typing import NDArray

ENVIRONMENT = os.environ | dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
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
Frame = NDArray[np.uint8]


def pictures(clip: Path | None, width: int, height: int, count: int) -> list[Frame]:
    """Return frames of a clip, or of drifting clouds with edges."""
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


def milliseconds(side: str, name: str, severity: int, frames: Frame) -> float:
    """Return the CPU time per frame, after an untimed first pass that imports modules and builds tables."""
    if side == "stressreel":
        from stressreel.corruptions.registry import select_corruptions
        from stressreel.corruptions.visual.engine import Recipe

        work = Recipe(select_corruptions([name])[0], severity, 0, "benchmark").frame
    else:
        from imagecorruptions import corrupt

        def work(frame: Frame, _: int) -> Frame:
            return corrupt(frame, corruption_name=PEER[name], severity=severity)

    cv2.setNumThreads(1)
    warnings.simplefilter("ignore")
    for number, frame in enumerate(frames):
        work(frame, number)
    started = time.process_time()
    for number, frame in enumerate(frames):
        work(frame, number)
    return (time.process_time() - started) / len(frames) * 1000


def compare(name: str, frames: Path, rounds: int) -> dict[str, float]:
    """Return the median time of each package, averaged over severities. Each is measured in a new process."""
    sides = ["stressreel"] + ["imagecorruptions"] * (name in PEER and bool(find_spec("imagecorruptions")))
    medians: dict[str, list[float]] = {side: [] for side in sides}
    for severity in SEVERITIES:
        times: dict[str, list[float]] = {side: [] for side in sides}
        for _ in range(rounds):
            for side in sides:
                job = json.dumps([side, name, severity, str(frames)])
                command = [sys.executable, "-W", "ignore", __file__, "--job", job]
                run = subprocess.run(command, env=ENVIRONMENT, check=True, capture_output=True, text=True)
                times[side].append(float(run.stdout))
        for side in sides:
            medians[side].append(statistics.median(times[side]))
    return {side: statistics.mean(medians[side]) for side in sides}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--clip", type=Path)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--frames", type=int, default=48)
    parser.add_argument("--job", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.job:
        side, name, severity, file = json.loads(arguments.job)
        print(milliseconds(side, name, severity, np.load(file)))
        return
    from stressreel.corruptions.registry import list_corruptions

    names = [corruption.name for corruption in list_corruptions() if corruption.scope in ("frame", "clip")]
    if not find_spec("imagecorruptions"):
        print("imagecorruptions is not installed: no ratios")
    with tempfile.TemporaryDirectory(prefix="bench-corruptions-") as folder:
        for width, height in SIZES:
            frames = Path(folder, f"{height}.npy")
            np.save(frames, pictures(arguments.clip, width, height, arguments.frames))
            print(f"\n{width}x{height}, ms of CPU per frame, mean of severities 1, 3, 5")
            print(f"{'':18}{'stressreel':>11}{'imagecorr.':>11}{'ratio':>8}")
            for name in names:
                found = compare(name, frames, arguments.rounds)
                mine, theirs = found["stressreel"], found.get("imagecorruptions")
                columns = f"{theirs:11.2f}{theirs / mine:7.1f}x" if theirs else ""
                print(f"{name:18}{mine:11.3f}{columns}", flush=True)


if __name__ == "__main__":
    main()
