"""Compare the CPU time, wall time and memory of build-clavi to plain ffmpeg and to the minimum work in one run.

    python benchmarks/clavi.py                         # six bar-coded 854x480 sources of 24 to 46 s
    python benchmarks/clavi.py --rounds 5 --preset medium

    (a) two ffmpeg commands per pair, as in the released script: trim for V, trim and concat for V′ (ffmpeg's threads);
    (b) the floor: the segment decoded once and encoded twice, in one thread, without reordering or other output;
    (c) build-clavi with 1 and with 2 workers: the whole command, from start-up to the dataset card.

All use the same preset and crf; results are medians over the rounds. Needs the extra `bench` (imageio-ffmpeg).

    python benchmarks/clavi.py --long                  # pairs of a source of seven minutes

V and V′ of pairs from a 640x360 source of seven minutes with a keyframe every 250 frames: build-clavi's code compared
to two ffmpeg commands that seek to the pair (one thread; same cuts, size, preset and crf). CPU time must depend on the
clip, not on the source.
"""

from __future__ import annotations

import argparse
import csv
import os
import resource
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import cycle, islice
from pathlib import Path

import av
import cv2
import numpy as np
from measuring import command
from numpy.typing import NDArray
from stressreel.annotations.charades import COLUMNS
from stressreel.builders.clavi.prepare import read_plan
from stressreel.builders.clavi.render import ClaviBuilder, pieces
from stressreel.builders.clavi.settings import ClaviSettings, decided
from stressreel.builders.clavi.sources import AnnotationInput
from stressreel.core.plan import Plan, Unit
from stressreel.video.decode import decode, upright
from stressreel.video.encode import EncodeSettings, Mp4Writer, write_video
from stressreel.video.index import index_frames

RATE = Fraction(30000, 1001)
WIDTH, HEIGHT, BLOCK = 854, 480, 16
LONG_S, LONG_RATE, LONG_SIZE, LONG_KEYFRAMES, LONG_PAIRS = 420, 25, (640, 360), 250, 4
LENGTHS = (24.83, 30.33, 31.79, 32.92, 41.29, 46.08)
Frames = Iterator[NDArray[np.uint8]]


def texture(count: int = 48) -> list[NDArray[np.uint8]]:
    """Return frames to loop over: drifting clouds with grain."""
    rng = np.random.default_rng(0)
    clouds = [
        cv2.resize(rng.integers(0, 256, (34, 60, 3), np.uint8), (960, 544), interpolation=cv2.INTER_CUBIC) for _ in "12"
    ]
    grain = rng.normal(0, 4, (HEIGHT, WIDTH, 3))
    frames = []
    for t in range(count):
        one, two = (
            cloud[s : s + HEIGHT, s : s + WIDTH].astype(float) for cloud, s in zip(clouds, (t, 60 - t), strict=True)
        )
        frames.append(np.clip((one + two) / 2 + np.roll(grain, 7 * t, 0), 0, 255).astype(np.uint8))
    return frames


def coded(frames: list[NDArray[np.uint8]], count: int) -> Frames:
    """Yield frames that show their index as a 16-bit bar code in the top left corner."""
    for number, frame in enumerate(islice(cycle(frames), count)):
        picture = frame.copy()
        for bit in range(16):
            row, column = divmod(bit, 8)
            y, x = row * BLOCK, column * BLOCK
            picture[y : y + BLOCK, x : x + BLOCK] = 255 * (number >> (15 - bit) & 1)
        yield picture


def make_sources(folder: Path) -> None:
    """Write a small dataset like Charades, with one or two pairs per video and actions of typical length."""
    pictures = texture()
    rows = []
    for number, length in enumerate(LENGTHS):
        b_end = round(length - 12 - 2 * (number % 3), 2)
        a_end = round(b_end * 0.45, 2)
        actions = [f"c026 1.00 {a_end}", f"c106 {a_end + 1.3:.2f} {b_end}", f"c097 {b_end + 3:.2f} {length}"]
        rows.append([f"BENC{number}", "SUBJ", "", "", "", "", "", "", "", ";".join(actions), str(length)])
        write_video(folder / f"BENC{number}.mp4", coded(pictures, round(length * RATE)), rate=RATE)
    with open(folder / "Charades_v1_train.csv", "w", newline="", encoding="utf-8") as handle:
        csv.writer(handle).writerows([COLUMNS, *rows])


def swap(cut: dict[str, float], start: float) -> list[str]:
    """Return ffmpeg's options that swap the actions of a pair in an input that is read from `start`."""
    spans = [(cut["in_b"], cut["out_b"]), (cut["in_a"], cut["in_b"]), (cut["out_a"], cut["in_a"])]
    trims = ";".join(
        f"[0:v]trim={first - start:.3f}:{last - start:.3f},setpts=PTS-STARTPTS[p{n}]"
        for n, (first, last) in enumerate(spans)
    )
    return ["-filter_complex", f"{trims};[p0][p1][p2]concat=n=3[v]", "-map", "[v]"]


def with_ffmpeg(plan: Plan, folder: Path, out: Path, settings: EncodeSettings) -> None:
    import imageio_ffmpeg

    ffmpeg = [imageio_ffmpeg.get_ffmpeg_exe(), "-y", "-loglevel", "error"]
    codec = ["-an", "-c:v", "libx264", "-preset", settings.preset, "-crf", str(settings.crf)]
    for unit in plan.units:
        source, cut = str(folder / f"{unit.source_id}.mp4"), unit.payload
        whole = ["-ss", str(cut["out_a"]), "-to", str(cut["out_b"]), "-i", source]
        swapped = ["-i", source, *swap(cut, 0)]
        for number, arguments in ((1, whole), (2, swapped)):
            subprocess.run([*ffmpeg, *arguments, *codec, str(out / f"{unit.id}_{number}.mp4")], check=True)


def floor(plan: Plan, folder: Path, out: Path, settings: EncodeSettings) -> None:
    for unit in plan.units:
        index = index_frames(folder / f"{unit.source_id}.mp4")
        a, _, b = pieces(index, unit)
        options = {"time_base": index.time_base, "rate": RATE, "settings": settings}
        with Mp4Writer(out / "1.mp4", **options) as one, Mp4Writer(out / "2.mp4", **options) as two:
            for number, frame in enumerate(decode(index, range(a.start, b.stop)), a.start):
                picture = upright(frame)
                duration = index.boundary(number + 1) - index.boundary(number)
                one.write(picture, duration)
                two.write(picture, duration)


def build(folder: Path, out: Path, settings: EncodeSettings, workers: int) -> None:
    encoding = ("--crf", settings.crf, "--preset", settings.preset)
    command("build", "clavi", "--charades", folder, "--out", out, "--workers", workers, "--no-progress", *encoding)


def make_long_source(folder: Path) -> Path:
    """Write a source video of seven minutes, and return the file with its segments."""
    pictures = [cv2.resize(picture, LONG_SIZE, interpolation=cv2.INTER_AREA) for picture in texture()]
    with av.open(str(folder / "LONG.mp4"), "w") as container:
        options = {"preset": "veryfast", "crf": "23", "g": str(LONG_KEYFRAMES)}
        stream = container.add_stream("libx264", LONG_RATE, options=options)
        stream.width, stream.height = LONG_SIZE
        stream.pix_fmt = "yuv420p"
        for picture in coded(pictures, LONG_S * LONG_RATE):
            container.mux(stream.encode(av.VideoFrame.from_ndarray(picture, "rgb24")))
        container.mux(stream.encode())
    rows = [("video", "start", "end", "phrase", "split")]
    starts = range(3, LONG_S - 12, 13)
    rows += [("LONG", str(at), str(at + 7.4), f"opening box{at}", "train") for at in starts]
    rows += [("OTHER", "0", "5", "eating bread", "train")]  # required so that there is a negative control
    with open(folder / "segments.csv", "w", newline="", encoding="utf-8") as handle:
        csv.writer(handle).writerows(rows)
    return folder / "segments.csv"


def seeking_ffmpeg(unit: Unit, source: Path, out: Path, settings: EncodeSettings) -> None:
    import imageio_ffmpeg

    cut = unit.payload
    start, length = cut["out_a"], f"{cut['out_b'] - cut['out_a']:.3f}"
    read = ["-threads", "1", "-ss", str(start), "-t", length, "-i", str(source)]
    joined = ["-filter_complex_threads", "1", *swap(cut, start)]
    codec = ["-an", "-c:v", "libx264", "-preset", settings.preset, "-crf", str(settings.crf), "-threads", "1"]
    for number, arguments in enumerate(([], joined), 1):
        command = [imageio_ffmpeg.get_ffmpeg_exe(), "-y", "-loglevel", "error", *read, *arguments, *codec]
        subprocess.run([*command, str(out / f"f{number}.mp4")], check=True)


def long_source(rounds: int, settings: EncodeSettings) -> None:
    with tempfile.TemporaryDirectory(prefix="bench-clavi-") as name:
        folder = Path(name)
        table = make_long_source(folder)
        chosen = decided(ClaviSettings(segments=str(table), max_span=30, crf=settings.crf, preset=settings.preset))
        plan = read_plan(AnnotationInput(table, chosen), pairs=(), limit=None, version="1.0.0", tools={})
        units = sorted(
            (unit for unit in plan.units if unit.source_id == "LONG"), key=lambda unit: unit.payload["out_a"]
        )
        units = units[:: max(1, len(units) // LONG_PAIRS)][:LONG_PAIRS]
        source = folder / "LONG.mp4"
        builder = ClaviBuilder(chosen, {"LONG": str(source)})
        mine: list[float] = []
        theirs: list[float] = []
        print(f"{len(units)} pairs of {LONG_S} s, {LONG_SIZE}, {source.stat().st_size / 2**20:.0f} MB, {settings}")
        print(f"{'from':>8}{'to':>8}{'build-clavi':>13}{'ffmpeg':>9}{'ratio':>7}   CPU s, medians of {rounds}")
        for unit in units:
            one: list[float] = []
            two: list[float] = []
            for _ in range(rounds):
                one.append(in_child(lambda unit=unit: builder.render(unit, folder))[0])
                two.append(in_child(lambda unit=unit: seeking_ffmpeg(unit, source, folder, settings))[0])
            mine.append(statistics.median(one))
            theirs.append(statistics.median(two))
            cut = unit.payload
            print(
                f"{cut['out_a']:8.1f}{cut['out_b']:8.1f}{mine[-1]:13.2f}{theirs[-1]:9.2f}{mine[-1] / theirs[-1]:7.2f}"
            )
        print(f"{'all':>16}{sum(mine):13.2f}{sum(theirs):9.2f}{sum(mine) / sum(theirs):7.2f}")


def in_child(work: Callable[[], None]) -> tuple[float, float, float]:
    """Run a function in a forked process. Return its CPU seconds, wall seconds and peak memory in MB."""
    started = time.perf_counter()
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            work()
            usage = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
            cpu = sum(part.ru_utime + part.ru_stime for part in usage)
            os.write(writer, f"{cpu} {max(part.ru_maxrss for part in usage) / 1024}".encode())
        finally:
            os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as handle:
        text = handle.read()
    os.waitpid(child, 0)
    if not text:
        raise SystemExit("a measured run failed; its output is shown above")
    cpu, memory = map(float, text.split())
    return cpu, time.perf_counter() - started, memory


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--long", action="store_true", help="measure pairs cut from a seven-minute source")
    parser.add_argument("--preset", default="veryfast")
    parser.add_argument("--crf", type=int, default=23)
    arguments = parser.parse_args()
    settings = EncodeSettings(arguments.crf, arguments.preset)
    if arguments.long:
        long_source(arguments.rounds, settings)
        return
    with tempfile.TemporaryDirectory(prefix="bench-clavi-") as name:
        base = Path(name)
        folder, out = base / "charades", base / "out"
        folder.mkdir()
        out.mkdir()
        make_sources(folder)
        plan = read_plan(
            AnnotationInput(folder, ClaviSettings(), ("train",)), pairs=(), limit=None, version="1.0.0", tools={}
        )
        seconds = sum(unit.payload["out_b"] - unit.payload["out_a"] for unit in plan.units)
        print(f"{len(plan.units)} pairs, {seconds:.0f} s of segments, {WIDTH}x{HEIGHT}, {settings}")
        ways: dict[str, Callable[[int], None]] = {
            "(a) two ffmpeg commands per pair": lambda n: with_ffmpeg(plan, folder, out, settings),
            "(b) floor: decode once, encode twice": lambda n: floor(plan, folder, out, settings),
            "(c) build-clavi, 1 worker": lambda n: build(folder, base / f"one{n}", settings, 1),
            "(c) build-clavi, 2 workers": lambda n: build(folder, base / f"two{n}", settings, 2),
        }
        results: dict[str, list[tuple[float, float, float]]] = {way: [] for way in ways}
        for number in range(arguments.rounds):
            for way, work in ways.items():
                results[way].append(in_child(lambda work=work, number=number: work(number)))
    medians = {way: [statistics.median(column) for column in zip(*runs, strict=True)] for way, runs in results.items()}
    print(f"\n{'':40}{'CPU s':>9}{'wall s':>9}{'CPU/floor':>11}{'peak MB':>9}")
    base_cpu = medians["(b) floor: decode once, encode twice"][0]
    for way, (cpu, wall, memory) in medians.items():
        print(f"{way:40}{cpu:9.2f}{wall:9.2f}{cpu / base_cpu:11.3f}{memory:9.0f}")
    (a, _, one, two) = (values for values in medians.values())
    print(f"\n2 workers are {one[1] / two[1]:.2f} times as fast as 1")
    print(
        f"build-clavi with 2 workers is {a[1] / two[1]:.2f} times as fast as (a) and uses 1/{a[0] / two[0]:.2f} of its "
        "CPU time"
    )


if __name__ == "__main__":
    main()
