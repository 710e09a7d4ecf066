"""Checks of a finished suite of perturbed clips, from its rows and the decoded videos alone."""

from __future__ import annotations

import tempfile
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...records.checks import Check, VerifyOptions
from ...records.output import FinishedOutput
from ...records.schema import Row
from ...runtime.decoded import check_decord
from ...runtime.processes import on_processes
from ...video.encode import EncodeSettings
from ...video.thumbnails import UNDECODABLE, look_at, misplaced
from .caption_checks import text_checks
from .pictures import Likeness, compared, places_in, unlike
from .render import recipe_for
from .settings import PerturbedSettings, settings_of
from .source_checks import check_annotations, check_source, check_sources
from .tables import CLEAN, level_of, visual_tables

SAME = ("captions", "source_id", "start_s", "end_s")
LENGTH = ("num_frames", "fps")
PLACE = ("source_frames", "first_frame")
LEVEL = ("perturbation", "level", "written_quantiser")


def check_rows(output: FinishedOutput) -> Iterator[str]:
    """Every clip has every perturbation and severity once and a clean row, with the same captions, source and times.

    What `build.json` lists as skipped may be absent.
    """
    settings = settings_of(output.info)
    skipped = {skip["unit_id"] for skip in output.info["skips"]["list"]}
    clips: dict[str, tuple[str, Row]] = {}
    found: dict[str, dict[tuple[str, int], int]] = {}
    for name in visual_tables(output.info):
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
    """Perturbations are those of their tables; levels and written quantisers are those of the registry."""
    for name in visual_tables(output.info):
        for row in output.rows(name, ["clip_id", "severity", *LEVEL]):
            expected = level_of(name, row["severity"])
            for column in LEVEL:
                if row[column] != expected[column]:
                    yield f"{_title(name, row)}: {column} is {row[column]}, not {expected[column]}"


def check_same_length(output: FinishedOutput) -> Iterator[str]:
    """Every perturbed clip has the number of frames, the rate and the place in its source of the clean one.

    The place lies inside the source, a whole video begins at its first frame and ends at its last, and sources of the
    same name are equally long.
    """
    settings = settings_of(output.info)
    columns = ["clip_id", "source_id", "start_s", *LENGTH, *PLACE]
    clean = {row["clip_id"]: row for row in output.rows(CLEAN, columns)}
    lengths: dict[str, int] = {}
    for name in visual_tables(output.info):
        for row in output.rows(name, ["severity", *columns]):
            for column in (*LENGTH, *PLACE):
                expected = clean.get(row["clip_id"], row)[column]
                if row[column] != expected:
                    yield f"{_title(name, row)}: {column} is {row[column]}, of the clean clip {expected}"
            last, length = row["first_frame"] + row["num_frames"], row["source_frames"]
            if row["first_frame"] < 0 or last > length:
                yield f"{_title(name, row)}: frames {row['first_frame']} to {last - 1} are not in 0 to {length - 1}"
            whole = settings.clip_first or row["start_s"] is None
            if whole and (row["first_frame"], last) != (0, length):
                yield f"{_title(name, row)}: frames {row['first_frame']} to {last - 1} are not all of 0 to {length - 1}"
            expected = lengths.setdefault(_key(row, settings), length)
            if length != expected:
                yield f"{_title(name, row)}: source_frames is {length}, of another clip of that source {expected}"


@dataclass(frozen=True)
class Seen:
    """What was seen of one video.

    Attributes:
        problem: Why it cannot be decoded; empty if it can.
        num_frames: Frames.
        sizes: The (width, height) of its frames.
        seconds: Its length.
        clock: Hash of the timestamps of all frames.
        slack: By how much its length may differ: MP4 keeps durations in the order of decoding, so what the last frame
            has may be another one's.
        tracks: The tracks of the file; see `Look`.
        tags: What it says about itself.
        wrong: Frames that the index map puts elsewhere; see `disordered`.
        unlike: In what its pixels are not those of its recipe; empty if they are.
    """

    problem: str = ""
    num_frames: int = 0
    sizes: frozenset[tuple[int, int]] = frozenset()
    seconds: Fraction = Fraction(0)
    clock: str = ""
    slack: Fraction = Fraction(0)
    tracks: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    wrong: tuple[tuple[int, int], ...] = ()
    unlike: str = ""


Thumbnails = tuple[Path, int]
"""A file with the thumbnails of a clean clip, and the number of its first frame in what was perturbed as a whole."""


@dataclass(frozen=True)
class Order:
    """What a temporal perturbation shows.

    Attributes:
        shown: int64, shape (num_frames,): number of the frame shown at each position, in what was perturbed as a whole.
        clean: The clean clips that show frames of that; the clip's own first.
        furthest: How far two thumbnails of one frame may be apart, root mean square; see `noise_limit`.
    """

    shown: NDArray[np.int64]
    clean: tuple[Thumbnails, ...]
    furthest: float


def noise_limit(settings: PerturbedSettings) -> float:
    """Return a distance of thumbnails that the encoder's noise does not reach, in grey levels.

    At crf 23 five real clips of 160x120 and more reached 2.1; x264's quantiser doubles every 6.
    """
    return float(12 * 2 ** (max(0 if settings.lossless else settings.crf - 23, 0) / 6))


def see(content: bytes, order: Order | None = None, likeness: Likeness | None = None, keep: Path | None = None) -> Seen:
    """Decode a video, and compare it with clean ones if its order or its recipe is given (work of a process).

    Args:
        content: The video as MP4.
        order: Which frame each position shows.
        likeness: What its pixels are compared with.
        keep: Where to keep it and its thumbnails, for the comparison of others: files of this name, .mp4 and .npy.
    """
    try:
        look = look_at(content, pictures=bool(order or keep), keep=likeness.frames if likeness else ())
    except UNDECODABLE as error:
        return Seen(problem=f"it cannot be decoded ({error})")
    if keep:
        np.save(keep.with_suffix(".npy"), look.pictures.astype(np.uint8))
        keep.with_suffix(".mp4").write_bytes(content)
    wrong = disordered(look.pictures, order) if order and look.num_frames == len(order.shown) else []
    clock = sha256(repr((look.time_base, look.times[:-1].tolist())).encode()).hexdigest()
    shown = np.diff(look.times[:-1])
    slack = int(shown.max() - shown.min()) * look.time_base if len(shown) else Fraction(0)
    unlike_recipe = unlike({n: compared(samples) for n, samples in look.samples.items()}, likeness) if likeness else ""
    return Seen(
        num_frames=look.num_frames,
        sizes=look.sizes,
        seconds=look.seconds,
        clock=clock,
        slack=slack,
        tracks=look.tracks,
        tags=look.tags,
        wrong=tuple(wrong),
        unlike=unlike_recipe,
    )


def disordered(pictures: NDArray[np.float32], order: Order) -> list[tuple[int, int]]:
    """Find the frames that are not those that the order says; see `misplaced`.

    A frame that some clean clip shows is compared with it, and may be no further from it than the encoder's noise.
    Where a source is perturbed as a whole, other frames come from where no clip is: the first position that shows such
    a frame is believed, and later ones are compared with it.

    Args:
        pictures: Thumbnails of the video.
        order: What it shows.

    Returns:
        The position of each wrong frame, and the frame that it looks like; -1 if it is none that is known.
    """
    numbers = order.shown.tolist()
    wanted = {*numbers}
    known: dict[int, NDArray[np.float32]] = {}
    for own, (path, first) in enumerate(order.clean):
        if path.is_file():  # else it could not be decoded, which is a problem of its own
            for number, picture in enumerate(np.load(path).astype(np.float32), first):
                if own == 0 or number in wanted:
                    known.setdefault(number, picture)
    seen = [position for position, number in enumerate(numbers) if number in known]
    wrong = _unlike(pictures, seen, numbers, known, order.furthest)
    held = []
    for position, number in enumerate(numbers):
        if known.setdefault(number, pictures[position]) is not pictures[position]:
            held.append(position)
    held = sorted({*held} - {*seen})
    return sorted(wrong + _unlike(pictures, held, numbers, known, order.furthest))


def _unlike(
    pictures: NDArray[np.float32],
    positions: list[int],
    numbers: list[int],
    known: Mapping[int, NDArray[np.float32]],
    furthest: float,
) -> list[tuple[int, int]]:
    """Find which of some positions look less like the frame with their number than like another, or not like it."""
    if not positions:
        return []
    places = {number: place for place, number in enumerate(known)}
    order = np.array([places[numbers[position]] for position in positions])
    shown, source = pictures[positions], np.stack([*known.values()])
    apart = np.sqrt(((shown - source[order]) ** 2).mean(1))
    wrong = dict.fromkeys(np.flatnonzero(apart > furthest).tolist(), -1)
    wrong |= {place: [*known][closest] for place, closest in misplaced(shown, source, order)}
    return [(positions[place], number) for place, number in wrong.items()]


def see_all(output: FinishedOutput, workers: int) -> Iterator[tuple[str, str]]:
    """Decode every video once, in worker processes; only a few are held in memory.

    The clean clips, with thumbnails of a kilobyte a frame, wait in a temporary folder.

    Yields:
        The name of a check, "decoded", "index_maps" or "pictures", and a problem.
    """
    tables = visual_tables(output.info)
    track = "h264 gbrp" if output.info["settings"]["lossless"] else "h264 yuv420p"
    clean: dict[str, Seen] = {}
    with tempfile.TemporaryDirectory(prefix="stressreel-") as folder:
        for names in (tables[:1], tables[1:]):  # what the clean ones are must be known before the others
            waiting: deque[tuple[str, Row, Order | None]] = deque()
            for seen in on_processes(see, _calls(output, names, Path(folder), waiting), workers):
                name, row, order = waiting.popleft()
                if name == CLEAN:
                    clean[row["clip_id"]] = seen
                for problem in _differences(row, seen, clean.get(row["clip_id"], seen), track):
                    yield "decoded", f"{_title(name, row)}: {problem}"
                if seen.wrong and order:
                    position, number = seen.wrong[0]
                    count = "1 frame is" if len(seen.wrong) == 1 else f"{len(seen.wrong)} frames are"
                    shown = f"frame {number}" if number >= 0 else "a frame of no clean clip"
                    yield (
                        "index_maps",
                        f"{_title(name, row)}: {count} not where the recipe puts them; the first, {position}, shows "
                        f"{shown} instead of {int(order.shown[position])}",
                    )
                if seen.unlike:
                    yield "pictures", f"{_title(name, row)}: {seen.unlike}"


def _calls(
    output: FinishedOutput, names: Sequence[str], folder: Path, waiting: deque[tuple[str, Row, Order | None]]
) -> Iterator[tuple[bytes, Order | None, Likeness | None, Path | None]]:
    """Yield what `see` takes for each row of some tables; the rows queue up in `waiting` as their videos are taken."""
    settings = settings_of(output.info)
    clean: dict[str, dict[str, tuple[Path, int]]] = {}
    for number, row in enumerate(output.rows(CLEAN, ["clip_id", "source_id", *PLACE])):
        clean.setdefault(_key(row, settings), {})[row["clip_id"]] = (folder / str(number), row["first_frame"])
    for name in names:
        for row in output.rows(name, ["clip_id", "severity", "source_id", *LENGTH, *PLACE, "video"]):
            content, key = row.pop("video")["bytes"] or b"", _key(row, settings)
            clips = clean.get(key, {})
            own, _ = clips.get(row["clip_id"], (None, 0))
            recipe = recipe_for(name, row["severity"], settings.seed, key)
            order = likeness = None
            if recipe and recipe.corruption.scope == "index":
                start = row["first_frame"]
                shown = recipe.index_map(row["source_frames"])[start : start + row["num_frames"]]
                own_first = sorted(clips, key=lambda clip_id: clip_id != row["clip_id"])
                files = ((clips[clip_id][0].with_suffix(".npy"), clips[clip_id][1]) for clip_id in own_first)
                order = Order(shown, tuple(files), noise_limit(settings))
            elif recipe and own:
                likeness = Likeness(
                    own.with_suffix(".mp4"),
                    name,
                    row["severity"],
                    settings.seed,
                    key,
                    row["first_frame"],
                    Fraction(row["fps"]).limit_denominator(1001),
                    EncodeSettings(settings.crf, settings.preset, settings.lossless),
                    places_in(row["num_frames"], output.info["fingerprint"], row["clip_id"]),
                )
            waiting.append((name, row, order))
            yield content, order, likeness, own if name == CLEAN else None


def _key(row: Row, settings: PerturbedSettings) -> str:
    """Name what is perturbed as a whole."""
    return str(row["clip_id"] if settings.clip_first else row["source_id"])


def _differences(row: Row, seen: Seen, clean: Seen, track: str) -> Iterator[str]:
    if seen.problem:
        yield seen.problem
        return
    if seen.tracks != (track,):
        yield f"its tracks are {', '.join(seen.tracks)}, not {track} alone"
    yield from (f"the file carries a note, {tag}" for tag in seen.tags)
    if seen.num_frames != row["num_frames"]:
        yield f"{seen.num_frames} frames, num_frames says {row['num_frames']}"
    if abs(row["num_frames"] / row["fps"] - seen.seconds) > seen.slack + 1e-6:
        yield f"it lasts {float(seen.seconds):.3f} s, num_frames / fps says {row['num_frames'] / row['fps']:.3f} s"
    if len(seen.sizes) > 1:
        yield f"its frames have {len(seen.sizes)} sizes"
    if clean.problem:
        return
    if seen.sizes != clean.sizes:
        sizes = (" and ".join(f"{width}x{height}" for width, height in sorted(s.sizes)) for s in (seen, clean))
        yield "{}, the clean clip {}".format(*sizes)
    if abs(seen.seconds - clean.seconds) > clean.slack:
        yield f"it lasts {float(seen.seconds):.3f} s, the clean clip {float(clean.seconds):.3f} s"
    elif seen.num_frames == clean.num_frames and seen.clock != clean.clock:
        yield "its frames are shown at other times than those of the clean clip"


def _title(name: str, row: Row) -> str:
    return f"{name}: clip {row['clip_id']}" + (f", severity {row['severity']}" if row["severity"] else "")


def perturbed_checks(info: Mapping[str, Any], options: VerifyOptions) -> dict[str, Check]:
    """Return the checks of a suite by name.

    Args:
        info: The content of `build.json`.
        options: How far to look.
    """
    checks: dict[str, Check] = {
        "source": check_source,
        "rows": check_rows,
        "levels": check_levels,
        **text_checks(info),
        "annotations": lambda output: check_annotations(output, options),
    }
    if not info["settings"]["render"]:
        return checks
    checks["same_length"] = check_same_length
    if options.decode:
        problems: dict[str, list[str]] = {}

        def seen(check: str) -> Check:
            def run(output: FinishedOutput) -> Iterator[str]:
                if not problems:  # the checks share one pass over the videos
                    found: dict[str, list[str]] = {"decoded": [], "index_maps": [], "pictures": []}
                    for name, problem in see_all(output, options.workers):
                        found[name].append(problem)
                    problems.update(found)
                yield from problems[check]

            return run

        checks |= {
            "decoded": seen("decoded"),
            "index_maps": seen("index_maps"),
            "pictures": seen("pictures"),
            "decord": lambda output: check_decord(output, options.workers),
        }
    checks["sources"] = lambda output: check_sources(output, options)
    return checks
