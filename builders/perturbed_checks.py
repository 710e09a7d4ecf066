"""Checks of a finished suite of perturbed clips, from its rows and the decoded videos alone."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future, ProcessPoolExecutor
from dataclasses import dataclass
from fractions import Fraction
from hashlib import sha256
from multiprocessing import get_context
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..corruptions.registry import check_name
from ..records.output import FinishedOutput
from ..records.schema import Row
from ..video.thumbnails import UNDECODABLE, look_at, misplaced
from .perturbed import CLEAN, PerturbedSettings, recipe_for

Check = Callable[[FinishedOutput], Iterator[str]]
SAME = ("captions", "source_id", "start_s", "end_s")
LENGTH = ("num_frames", "fps")


def check_rows(output: FinishedOutput) -> Iterator[str]:
    """Every clip has every perturbation and severity once and a clean row, with the same captions, source and times.

    What `build.json` lists as skipped may be absent.
    """
    settings = PerturbedSettings(**output.info["settings"])
    skipped = {skip["unit_id"] for skip in output.info["skips"]["list"]}
    clips: dict[str, tuple[str, Row]] = {}
    found: dict[str, dict[tuple[str, int], int]] = {}
    for name in output.info["counts"]:
        counts = found.setdefault(name, {})
        for split in output.splits(name):
            for row in output.rows(name, ["clip_id", "severity", *SAME], split):
                clip = row["clip_id"]
                place, known = clips.setdefault(clip, (split, row))
                differing = [column for column in SAME if row[column] != known[column]]
                differing += ["split"] if split != place else []
                if differing:
                    yield f"{_title(name, row)}: other {', '.join(differing)} than in the other tables"
                counts[clip, row["severity"]] = counts.get((clip, row["severity"]), 0) + 1
    for name in (CLEAN, *settings.perturbations):
        counts = found.get(name, {})
        severities = (0,) if name == CLEAN else settings.severities
        for clip, (split, row) in clips.items():
            unit = f"{row['source_id']}.{name}"
            if {unit, f"{unit}.{split}"} & skipped:
                continue
            for severity in severities:
                count = counts.pop((clip, severity), 0)
                if count != 1:
                    yield f"{name}: clip {clip}, severity {severity} comes {count} times"
        for clip, severity in counts:
            yield f"{name}: clip {clip}, severity {severity} is not part of the build"


def check_levels(output: FinishedOutput) -> Iterator[str]:
    """Levels and effective levels are those of the registry."""
    for name in output.info["counts"]:
        for row in output.rows(name, ["clip_id", "severity", "level", "effective_level"]):
            severity = row["severity"]
            expected: tuple[str | None, str | None] = (None, None)
            if name != CLEAN:
                corruption = check_name(name)
                expected = (corruption.level(severity), corruption.effective_level(severity))
            if (row["level"], row["effective_level"]) != expected:
                given = f"{row['level']} (effective {row['effective_level']})"
                yield f"{_title(name, row)}: level {given}, not {expected[0]} ({expected[1]})"


def check_same_length(output: FinishedOutput) -> Iterator[str]:
    """Every perturbed clip has the number of frames and the rate of the clean one."""
    clean = {row["clip_id"]: row for row in output.rows(CLEAN, ["clip_id", *LENGTH])}
    for name in output.info["counts"]:
        for row in output.rows(name, ["clip_id", "severity", *LENGTH]):
            for column in LENGTH:
                expected = clean.get(row["clip_id"], row)[column]
                if row[column] != expected:
                    yield f"{_title(name, row)}: {column} is {row[column]}, of the clean clip {expected}"


def check_clamped(output: FinishedOutput) -> Iterator[str]:
    """Levels that FFmpeg clamps to the same quantiser give the same file."""
    for name in output.info["counts"]:
        if name == CLEAN or check_name(name).scope != "file":
            continue
        files: dict[tuple[str, str], tuple[int, str]] = {}
        for row in output.rows(name, ["clip_id", "severity", "effective_level", "sha256"]):
            first = (row["severity"], row["sha256"])
            severity, digest = files.setdefault((row["clip_id"], row["effective_level"]), first)
            if row["sha256"] != digest:
                level = row["effective_level"]
                yield f"{_title(name, row)}: not the file of severity {severity}, though both take effect as {level}"


@dataclass(frozen=True)
class Seen:
    """What was seen of one video.

    Attributes:
        problem: Why it cannot be decoded; empty if it can.
        num_frames: Frames.
        sizes: The (width, height) of its frames.
        seconds: Its length.
        clock: Hash of all timestamps.
        wrong: Frames that the index map puts elsewhere; see `misplaced`.
    """

    problem: str = ""
    num_frames: int = 0
    sizes: frozenset[tuple[int, int]] = frozenset()
    seconds: Fraction = Fraction(0)
    clock: str = ""
    wrong: tuple[tuple[int, int], ...] = ()


def see(content: bytes, clean: bytes | None = None, order: NDArray[np.int64] | None = None) -> Seen:
    """Decode a video, and compare it with its clean one if an index map is given (work of a process).

    Args:
        content: The video as MP4.
        clean: The clean video.
        order: Which frame of the clean video each position shows.
    """
    try:
        look = look_at(content, pictures=order is not None)
    except UNDECODABLE as error:
        return Seen(problem=f"it cannot be decoded ({error})")
    wrong: list[tuple[int, int]] = []
    if clean is not None and order is not None and look.num_frames == len(order):
        try:
            source = look_at(clean)
        except UNDECODABLE:
            source = None
        if source and source.num_frames == len(order):
            wrong = misplaced(look.pictures, source.pictures, order)
    clock = sha256(repr((look.time_base, look.times.tolist())).encode()).hexdigest()
    return Seen(num_frames=look.num_frames, sizes=look.sizes, seconds=look.seconds, clock=clock, wrong=tuple(wrong))


def see_all(output: FinishedOutput, workers: int) -> Iterator[tuple[str, str]]:
    """Decode every video once, in worker processes; only a few are held in memory.

    Yields:
        The name of a check, "decoded" or "index_maps", and a problem.
    """
    clean: dict[str, Seen] = {}
    waiting: deque[tuple[str, Row, NDArray[np.int64] | None, Future[Seen]]] = deque()

    def finished(most: int) -> Iterator[tuple[str, str]]:
        while len(waiting) > most:
            name, row, order, future = waiting.popleft()
            seen = future.result()
            if name == CLEAN:
                clean[row["clip_id"]] = seen
            for problem in _differences(row, seen, clean.get(row["clip_id"], seen)):
                yield "decoded", f"{_title(name, row)}: {problem}"
            if seen.wrong and order is not None:
                position, shown = seen.wrong[0]
                yield (
                    "index_maps",
                    f"{_title(name, row)}: {len(seen.wrong)} frames are not where the recipe puts them; the first, "
                    f"{position}, shows frame {shown} of the clean clip instead of {int(order[position])}",
                )

    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
        for name in output.info["counts"]:
            for row, content, original, order in _tasks(output, name):
                waiting.append((name, row, order, pool.submit(see, content, original, order)))
                yield from finished(2 * workers)
            yield from finished(0)  # what the clean ones are must be known before the others


def _tasks(output: FinishedOutput, name: str) -> Iterator[tuple[Row, bytes, bytes | None, NDArray[np.int64] | None]]:
    """Give each row of a table with its video and, where its frames can be compared, the clean video and the map.

    Where clips are cut out of a source that was perturbed as a whole, a temporal perturbation may show frames from
    outside the clip, and the length of the source is not recorded: those are not compared.
    """
    settings = PerturbedSettings(**output.info["settings"])
    temporal = name != CLEAN and check_name(name).scope == "index"
    columns = ["clip_id", "severity", "source_id", "start_s", *LENGTH, "video"]
    comparable = {
        row["clip_id"]
        for row in output.rows(CLEAN, ["clip_id", "start_s"])
        if temporal and (settings.clip_first or row["start_s"] is None)
    }
    originals = output.rows(CLEAN, ["clip_id", "video"])  # its clips come in the order of all tables
    clip, clean = None, b""
    for row in output.rows(name, columns):
        content = row.pop("video")["bytes"] or b""
        key = row["clip_id"] if settings.clip_first else row["source_id"]
        recipe = recipe_for(name, row["severity"], settings.seed, key)
        if recipe is None or row["clip_id"] not in comparable:
            yield row, content, None, None
            continue
        while clip != row["clip_id"]:
            original = next(originals)
            clip, clean = original["clip_id"], original["video"]["bytes"] or b""
        yield row, content, clean, recipe.index_map(row["num_frames"])


def _differences(row: Row, seen: Seen, clean: Seen) -> Iterator[str]:
    if seen.problem:
        yield seen.problem
        return
    if seen.num_frames != row["num_frames"]:
        yield f"{seen.num_frames} frames, num_frames says {row['num_frames']}"
    if abs(row["num_frames"] / row["fps"] - seen.seconds) > 1e-6:
        yield f"it lasts {float(seen.seconds):.3f} s, num_frames / fps says {row['num_frames'] / row['fps']:.3f} s"
    if len(seen.sizes) > 1:
        yield f"its frames have {len(seen.sizes)} sizes"
    if clean.problem:
        return
    if seen.sizes != clean.sizes:
        sizes = (" and ".join(f"{width}x{height}" for width, height in sorted(s.sizes)) for s in (seen, clean))
        yield "{}, the clean clip {}".format(*sizes)
    if seen.seconds != clean.seconds:
        yield f"it lasts {float(seen.seconds):.3f} s, the clean clip {float(clean.seconds):.3f} s"
    elif seen.num_frames == clean.num_frames and seen.clock != clean.clock:
        yield "its frames are shown at other times than those of the clean clip"


def _title(name: str, row: Row) -> str:
    return f"{name}: clip {row['clip_id']}" + (f", severity {row['severity']}" if row["severity"] else "")


def perturbed_checks(info: Mapping[str, Any], *, decode: bool, workers: int) -> dict[str, Check]:
    """Give the checks of a suite by name.

    Args:
        info: The content of `build.json`.
        decode: Whether to decode the videos.
        workers: Processes for decoding.
    """
    checks: dict[str, Check] = {"rows": check_rows, "levels": check_levels}
    if not info["settings"]["render"]:
        return checks
    checks |= {"same_length": check_same_length, "clamped": check_clamped}
    if decode:
        problems: dict[str, list[str]] = {}

        def seen(check: str) -> Check:
            def run(output: FinishedOutput) -> Iterator[str]:
                if not problems:  # both checks share one pass over the videos
                    found: dict[str, list[str]] = {"decoded": [], "index_maps": []}
                    for name, problem in see_all(output, workers):
                        found[name].append(problem)
                    problems.update(found)
                yield from problems[check]

            return run

        checks |= {"decoded": seen("decoded"), "index_maps": seen("index_maps")}
    return checks
