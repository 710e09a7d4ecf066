"""Measure the CPU time of build-perturbed, and of every pixel perturbation beside imagecorruptions.

    python benchmarks/perturbed.py build --clip video7021.mp4   # all 90 settings of a real clip, through the command
    python benchmarks/perturbed.py build                        # of a clip of the built-in sample
    python benchmarks/perturbed.py build --clip long.mp4 --perturbations box_jumble   # peak memory of a long video

The lower bound is the time for encoding the decoded clean frames 90 times with the same settings. Decoding, perturbing
and encoding are measured one by one in a single process. CPU and wall time are those of the whole command with 1 and
with 2 workers on copies of the clip.

    pip install -c constraints.txt -e '.[bench]'
    python benchmarks/perturbed.py corruptions                  # 320x240 and 640x360, severities 1, 3 and 5
    python benchmarks/perturbed.py corruptions --clip clip.mp4  # on the frames of a real clip

Each figure is the median CPU time per frame over the rounds, in one thread. The two packages alternate, each in a
separate process as in a user's script. Sharing a process would change page faults and, as a result, times by up to a
half. Keyed generators are created for each frame, as in a build. imagecorruptions has no camera or temporal
perturbations.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import tempfile
import time
import warnings
from importlib.util import find_spec
from itertools import cycle, islice
from pathlib import Path

import av
import cv2
import numpy as np
from measuring import again, command
from numpy.typing import NDArray
from stressreel.annotations.samples import cached_sample
from stressreel.builders.perturbed.render import as_encoded, perturbed_frames
from stressreel.corruptions.registry import SEVERITIES, list_corruptions, select_corruptions
from stressreel.corruptions.visual.engine import Recipe
from stressreel.video.encode import EncodeSettings, Mp4Writer
from stressreel.video.index import FrameIndex, index_frames
from stressreel.video.store import FrameStore

ENVIRONMENT = os.environ | dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
SIZES = ((320, 240), (640, 360))
MEASURED_SEVERITIES = (1, 3, 5)
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
            decoded = [frame.reformat(width, height, "rgb24").to_ndarray() for frame in container.decode(video=0)]
        return list(islice(cycle(decoded), count))
    rng = np.random.default_rng(0)
    cloud = cv2.resize(rng.integers(0, 256, (9, 16, 3), np.uint8), (width + 64, height), interpolation=cv2.INTER_CUBIC)
    frames = [np.ascontiguousarray(cloud[:, t % 64 : t % 64 + width]) for t in range(count)]
    for t, frame in enumerate(frames):
        cv2.rectangle(frame, (20 + t % 50, 30), (90 + t % 50, 120), (230, 40, 20), -1)
    return frames


def milliseconds(side: str, name: str, severity: int, frames: Frame) -> float:
    """Return the CPU time per frame, after an untimed first pass that imports modules and builds tables."""
    if side == "stressreel":
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
    for severity in MEASURED_SEVERITIES:
        times: dict[str, list[float]] = {side: [] for side in sides}
        for _ in range(rounds):
            for side in sides:
                times[side].append(float(again(__file__, side, name, severity, str(frames), environment=ENVIRONMENT)))
        for side in sides:
            medians[side].append(statistics.median(times[side]))
    return {side: statistics.mean(medians[side]) for side in sides}


def measure_corruptions(options: argparse.Namespace) -> None:
    names = [corruption.name for corruption in list_corruptions() if corruption.scope in ("frame", "clip")]
    if not find_spec("imagecorruptions"):
        print("imagecorruptions is not installed: no ratios")
    with tempfile.TemporaryDirectory(prefix="bench-corruptions-") as folder:
        for width, height in SIZES:
            frames = Path(folder, f"{height}.npy")
            np.save(frames, pictures(options.clip, width, height, options.frames))
            print(f"\n{width}x{height}, ms of CPU per frame, mean of severities 1, 3, 5")
            print(f"{'':18}{'stressreel':>11}{'imagecorr.':>11}{'ratio':>8}")
            for name in names:
                medians = compare(name, frames, options.rounds)
                mine, theirs = medians["stressreel"], medians.get("imagecorruptions")
                columns = f"{theirs:11.2f}{theirs / mine:7.1f}x" if theirs else ""
                print(f"{name:18}{mine:11.3f}{columns}", flush=True)


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


def measure_build(options: argparse.Namespace) -> None:
    cv2.setNumThreads(1)  # the same as in a worker
    clip = options.clip or cached_sample("msrvtt") / "videos" / "all" / "video90001.mp4"
    index = index_frames(clip)
    print(f"{clip.name}: {index.num_frames} frames, perturbations {options.perturbations} x 5")
    with tempfile.TemporaryDirectory(prefix="bench-perturbed-") as name:
        folder = Path(name)
        if not options.no_split:
            split(index, options.perturbations, folder)
        if not options.copies:
            return
        for number in range(options.copies):
            shutil.copy(clip, folder / f"clip{number}{clip.suffix}")
        rows = "".join(f"clip{number},a clip\n" for number in range(options.copies))
        (folder / "captions.csv").write_text("video,caption\n" + rows, encoding="utf-8")
        walls = {}
        for workers in (1, 2):
            arguments = ("--captions", folder / "captions.csv", "--out", folder / f"out{workers}", "--no-progress")
            arguments = (*arguments, "--workers", workers, "--perturbations", options.perturbations)
            cpu, walls[workers], memory = command("build", "perturbed", *arguments)
            print(
                f"  command, {options.copies} copies, {workers} worker{'s' * (workers > 1)}: {cpu:.1f} s of CPU "
                f"({cpu / options.copies:.1f} per clip), {walls[workers]:.1f} s, peak {memory:.0f} MB per process"
            )
        print(f"  2 workers are {walls[1] / walls[2]:.2f} times as fast as 1")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    what = parser.add_subparsers(dest="what", required=True)
    build, corruptions = what.add_parser("build"), what.add_parser("corruptions")
    for subject in (build, corruptions):
        subject.add_argument("--clip", type=Path)
    build.add_argument("--perturbations", default="all")
    build.add_argument("--copies", type=int, default=6, help="number of copies of the clip that the command processes")
    build.add_argument("--no-split", action="store_true", help="measure only the command (for long videos)")
    corruptions.add_argument("--rounds", type=int, default=3)
    corruptions.add_argument("--frames", type=int, default=48)
    job = what.add_parser("job")  # run by `again`
    job.add_argument("job", type=json.loads)
    options = parser.parse_args()
    if options.what == "build":
        measure_build(options)
    elif options.what == "corruptions":
        measure_corruptions(options)
    else:
        side, name, severity, file = options.job
        print(milliseconds(side, name, severity, np.load(file)))


if __name__ == "__main__":
    main()
