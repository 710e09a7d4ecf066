"""Verify embedded videos: decode them, and compare them with their rows, with each other, and with decord."""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib.util import find_spec
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...core.errors import VideoError
from ...core.extras import command_for
from ...core.output import Finding, FinishedOutput, Note, NotRun
from ...core.schema import Config, Row
from ...core.shards import read_footer, read_rows, row_reader
from ...core.workers import on_processes
from ...video.compare import LARGEST, decord_difference, evenly_spaced, is_compared
from ...video.decode import shape_of, with_index
from ...video.thumbnails import UNDECODABLE, decode_video, header_of, misplaced, side_for

SHAPE = ("num_frames", "fps", "width", "height", "duration_s")
ROOM = 1e-7  # relative tolerance of floats
SAMPLE = 20  # number of videos to read with decord
MOST_SEEN = 10_000  # number of videos whose properties are cached


def at_once(output: FinishedOutput, configs: Sequence[Config], workers: int) -> int:
    """Return how many videos of an output to decode at once: one if some have so many pixels that memory is short."""
    large = (pixels > LARGEST for config in configs for pixels in _pixels(output, config))
    return 1 if workers > 1 and any(large) else workers


def _pixels(output: FinishedOutput, config: Config) -> Iterator[int]:
    """Yield the pixels per frame of all videos in a table, as its rows state or, if they do not, the files."""
    names = {column.name for column in config.columns}
    if {"width", "height", "video"} <= names:
        for row in output.rows(config.name, ["width", "height"]):
            yield (row["width"] or 0) * (row["height"] or 0)
    elif "video" in names:
        for row in output.rows(config.name, ["video"]):
            with suppress(*UNDECODABLE):
                yield prod(header_of(row["video"]["bytes"] or b"").size)


def check_decoded(output: FinishedOutput, configs: Sequence[Config], workers: int) -> Iterator[str]:
    """Check that every video has the frames, frame rate, size and length that its row states.

    Files encoded by the build must have one video track, an audio track only if sound is kept, and no metadata.
    """
    settings, workers = output.info["settings"], at_once(output, configs, workers)
    tracks: list[tuple[str, ...]] = []  # tracks allowed in a file; empty if files were copied unchanged
    if "crf" in settings:
        picture = "h264 gbrp" if settings.get("lossless") else "h264 yuv420p"
        tracks = [(picture,), (picture, "aac")] if settings.get("audio") == "keep" else [(picture,)]
    for config in configs:
        names = [column.name for column in config.columns]
        keys, shape = config.key, [name for name in SHAPE if name in names]
        if "video" not in names:
            continue
        for split in output.splits(config.name):
            rows = output.rows(config.name, [*dict.fromkeys([*keys, *shape, "video"])], split)
            calls = ((f"{config.name}/{split}: {_named(row[key] for key in keys)}", row, tracks) for row in rows)
            for problems in on_processes(row_problems, calls, workers):
                yield from problems


def row_problems(title: str, row: Row, tracks: Sequence[tuple[str, ...]]) -> list[str]:
    """Compare a row with its decoded video. `tracks` lists the tracks allowed in files encoded by the build."""
    most = (row.get("width") or 0) * (row.get("height") or 0)
    key = (hashlib.sha256(row["video"]["bytes"] or b"").digest(), row["video"]["path"], most, *tracks)
    if key not in _seen:
        if len(_seen) == MOST_SEEN:
            _seen.clear()
        _seen[key] = _facts(row["video"], tracks, most)
    shape, slack, others = _seen[key]
    problems = [*others]
    for name, value in shape.items():
        room = (ROOM + slack) * value if isinstance(value, float) else 0
        if name in row and not abs((row[name] or 0) - value) <= room:
            problems.append(f"{name} is {row[name]}, the video has {value}")
    return [f"{title}: {problem}" for problem in problems]


_seen: dict[tuple[object, ...], tuple[Mapping[str, float], float, list[str]]] = {}  # decode identical bytes only once


def _facts(
    video: Mapping[str, Any], tracks: Sequence[tuple[str, ...]], most: int
) -> tuple[Mapping[str, float], float, list[str]]:
    """Decode a video. Return its shape, the relative tolerance of its rate and length, and any problems.

    Frames of more than `most` pixels are not decoded. Only their size is returned.
    """
    content = video["bytes"] or b""
    try:
        header = header_of(content)
        if header.size[0] * header.size[1] > most > 0:
            return dict(zip(("width", "height"), header.size, strict=True)), 0.0, []
        if not tracks:
            return shape_in(video), 0.0, []
        look = decode_video(content, side=0)
        ((width, height),) = look.sizes
        values = (look.num_frames, float(look.num_frames / look.seconds), width, height, float(look.seconds))
        # MP4 stores durations in decoding order, so the last frame may have the duration of another one.
        slack = float(np.ptp([*look.durations[:-1]] or 0)) * float(look.time_base / look.seconds)
    except (*UNDECODABLE, VideoError, ArithmeticError) as error:
        return {}, 0.0, [f"its video cannot be decoded ({error})"]
    problems = [f"its tracks are {', '.join(header.tracks)}"] if header.tracks not in tracks else []
    problems += [f"the file has the metadata {tag}" for tag in header.tags]
    return dict(zip(SHAPE, values, strict=True)), slack, problems


def shape_in(video: Mapping[str, Any]) -> dict[str, int | float]:
    """Return the shape of an embedded video in any format."""
    with tempfile.TemporaryDirectory(prefix="stressreel-") as folder:
        path = Path(folder) / f"video{Path(video['path'] or '').suffix}"
        path.write_bytes(video["bytes"] or b"")
        return with_index(path, shape_of)


@dataclass(frozen=True)
class ShownFrames:
    """A video that shows the frames of another video.

    Attributes:
        key: Values of the key columns in its row.
        of_key: Values of the key columns in the other video's row.
        order: Frame of the other video at each position, int64 of shape (frames,).
        of_table: Table of the other video.
        timed: Whether each frame keeps its duration in the other video; if not, each position keeps its duration.
    """

    table: str
    split: str
    key: tuple[Any, ...]
    of_key: tuple[Any, ...]
    order: NDArray[np.int64]
    of_table: str
    timed: bool = True


def check_shown(output: FinishedOutput, shown: Iterable[ShownFrames], workers: int) -> Iterator[str]:
    """Check that videos show the frames of other videos in the recorded order, with the same durations and sizes."""
    settings = output.info["settings"]
    # At crf 23, thumbnails of equal frames in real clips differed by up to 2.1. x264's quantiser doubles every 6 steps.
    furthest = 12.0 * 2 ** (max(0, settings.get("crf", 23) - 23) / 6)
    video = video_reader(output)
    once = {(item.table, item.key): item for item in shown}  # another check reports repeated rows
    calls = ((item, video(item.table, item.key), video(item.of_table, item.of_key), furthest) for item in once.values())
    for problems in on_processes(shown_problems, calls, workers):
        yield from problems


def shown_problems(shown: ShownFrames, content: bytes, original: bytes, furthest: float) -> list[str]:
    """Compare a decoded video with the video whose frames it shows."""
    title, other_name, problems = f"{shown.table}/{shown.split}: {_named(shown.key)}", _named(shown.of_key), []
    try:
        side = side_for(max(len(shown.order), shown.order.max(initial=0) + 1))
        look, source = decode_video(content, side=side), decode_video(original, side=side)
    except UNDECODABLE as error:
        return [f"{title}: it cannot be compared with {other_name} ({error})"]
    if look.num_frames != len(shown.order) or source.num_frames <= shown.order.max(initial=0):
        return [
            f"{title}: it has {look.num_frames} frames, {other_name} {source.num_frames}; the rows state other numbers"
        ]
    if look.sizes != source.sizes or look.header.tracks != source.header.tracks:
        problems.append(f"its size or its tracks differ from those of {other_name}")
    durations = source.durations[shown.order] if shown.timed else source.durations
    compared = np.s_[: None if shown.timed else -1]  # the last duration may belong to another frame, see `_facts`
    if look.time_base != source.time_base or not np.array_equal(look.durations[compared], durations[compared]):
        problems.append(f"the durations of its frames differ from those in {other_name}")
    distances = np.sqrt(((look.pictures - source.pictures[shown.order]) ** 2).mean(1))
    wrong = {position for position, _ in misplaced(look.pictures, source.pictures, shown.order)}
    if wrong := wrong | {*np.flatnonzero(distances > furthest).tolist()}:
        problems.append(f"{len(wrong)} frames, from {min(wrong)} on, are not the recorded frames of {other_name}")
    return [f"{title}: {problem}" for problem in problems]


def check_decord(output: FinishedOutput, workers: int) -> Iterator[Finding]:
    """Check that decord and PyAV decode the same frames from up to 20 evenly spaced videos."""
    if find_spec("decord") is None:
        yield NotRun(f"decord is not installed: {command_for('decord')}")
        return
    first = [path for table in output.info["counts"] for path in output.shards(table)[:1]]
    tables = [path.parent.name for path in first if "video" in read_footer(path).schema.to_arrow_schema().names]
    positions = [position for table in tables for position in _places(output, table, 2).values()]
    read = row_reader(["video"])
    calls = (
        (path.parent.name, read(path, row)["video"])
        for path, row in map(positions.__getitem__, evenly_spaced(len(positions), SAMPLE))
    )
    skipped = 0
    for problem in on_processes(decord_problem, calls, workers):
        skipped += problem is None
        if problem:
            yield problem
    if skipped:
        yield Note(f"{skipped} videos are not compared, as decord cannot read such small or large frames")


def decord_problem(table: str, video: Mapping[str, Any]) -> str | None:
    """Return how decord and PyAV decode a video differently, "" if they agree, or None if they are not compared."""
    content = video["bytes"] or b""
    with suppress(*UNDECODABLE):
        if not is_compared(*header_of(content).size):
            return None
    problem = decord_difference(content)
    return problem and f"{table}: {video['path']}: {problem}"


def video_reader(output: FinishedOutput) -> Callable[[str, tuple[Any, ...]], bytes]:
    """Return a function that reads the video of a row, given its table and key, or b"" if there is none."""
    positions: dict[str, dict[tuple[Any, ...], tuple[Path, int]]] = {}
    read = row_reader(["video"])

    def video(table: str, key: tuple[Any, ...]) -> bytes:
        if table not in positions:
            positions[table] = _places(output, table, len(key))
        return read(*positions[table][key])["video"]["bytes"] or b"" if key in positions[table] else b""

    return video


def _places(output: FinishedOutput, table: str, keys: int) -> dict[tuple[Any, ...], tuple[Path, int]]:
    """Return the shard and row number of each row in a table, keyed by its first columns."""
    positions = {}
    for path in output.shards(table):
        names = read_footer(path).schema.to_arrow_schema().names[:keys]
        for index, row in enumerate(read_rows(path, names)):
            positions[tuple(row.values())] = (path, index)
    return positions


def _named(key: Iterable[Any]) -> str:
    return ", ".join(map(str, key))
