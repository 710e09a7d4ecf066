"""Load annotated segments from CSV, JSON Lines, and the formats of ActivityNet Captions, DiDeMo and QVHighlights."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from math import inf
from pathlib import Path
from typing import Any

from ..core.documents import parse_json, read_text
from ..core.errors import InputError, UsageError
from ..core.source import Source, sample_source
from ..language.free_phrases import free_phrase
from ..language.gerund_wording import fold_noun
from ..language.phrases import phrase
from ..video.interval import TOLERANCE_S
from .actions import Action, Annotations
from .captions import SPLITS
from .charades import CHARADES
from .drafts import VideoDraft, action_of, gather
from .tables import WHOLE, Entry, Problems, entries, json_entry, read_json, seconds
from .video_names import VideoNames

COLUMNS = ("video", "start", "end", "start_frame", "end_frame", "phrase", "class", "split", "objects", "subject")
REQUIRED = ("video", "phrase")
SEGMENTS = Source(
    "segments",
    "the dataset author's own segments",
    {"license": "unknown"},
    video_folders=(*CHARADES.video_folders, "videos"),  # videos of the animated Charades sample
)
SAMPLE = sample_source("the built-in sample of annotated segments", SEGMENTS.video_folders)
SPLIT_WORDS = {**{split: split for split in SPLITS}, "val": "validation"}
PIECE_S = 5.0  # DiDeMo counts time in pieces of five seconds, of which the last one ends with its video
ADVICE = (
    "Each row is a segment. Required columns: video (file name), start and end (in seconds; or start_frame and "
    "end_frame with --fps), and phrase. Optional columns: class, split (train, validation, test), objects (separated "
    "by semicolons), and subject."
)
OTHER_ADVICE = (
    'Expected {"<video>": {"duration": …, "timestamps": [[start, end], …], "sentences": […]}, …} as in ActivityNet '
    'Captions, [{"video": …, "times": [[first, last], …], "description": …}, …] as in DiDeMo, or JSON Lines or a JSON '
    f"list with the columns {', '.join(COLUMNS)}."
)


@dataclass(frozen=True)
class _SegmentRow:
    """A segment as read from any of the supported formats."""

    entry: Entry
    video: str
    times: tuple[float, float]
    text: str
    group: str = ""
    split: str = ""
    objects: str = ""
    subject: str = ""
    length: float | None = None
    spare: float = float(TOLERANCE_S)


@dataclass
class _FrameRows:
    """Keep track of rows that give times as frame numbers, and of their frame rate if it is known."""

    rate: Fraction | None
    rows: int = 0
    first: str = ""


def read_segments(
    path: Path,
    *,
    as_is: bool = False,
    rate: Fraction | None = None,
    length_of: Mapping[str, float] | None = None,
    seed: int = 0,
) -> Annotations:
    """Load annotated segments, video by video in file order.

    Phrases that cannot be converted are dropped and counted by reason. Rows with the same `class` describe the same
    action and share the phrase of the first such row.

    Args:
        path: CSV with a header (`.csv`), JSON Lines (`.jsonl`, `.ndjson`, `.json`) or a JSON list (`.json`) with the
            columns listed in `COLUMNS`, JSON Lines of QVHighlights, or JSON of ActivityNet Captions or DiDeMo.
        as_is: Use phrases literally instead of converting gerunds, instructions and sentences about a person to gerund
            phrases.
        rate: Frames per second of the videos, if times are given as `start_frame` and `end_frame`.
        length_of: Length in seconds by video. Other videos end with their last segment.
        seed: Seed for assigning videos to splits if the file has none.

    Raises:
        UsageError: Times are frame numbers and there is no rate, or a rate is given but there are no frame numbers.
        InputError: The file has another format, rows are malformed (all are listed), or no phrase is usable.
    """
    problems, counts, frames, names = Problems(), Counter[str](), _FrameRows(rate), VideoNames()
    drafts: dict[str, VideoDraft] = {}
    grouped: dict[str, Action | str] = {}
    wordings: dict[str, str] = {}
    for row in _segment_rows(path, frames, names, problems, counts):
        draft = drafts.get(row.video)
        if draft is None:
            length = (length_of or {}).get(row.video, row.length)
            draft = drafts[row.video] = VideoDraft(
                row.video, row.split, row.subject, length, spare_s=row.spare, file=path.name
            )
        for name, given, first in (("split", row.split, draft.split), ("subject", row.subject, draft.subject)):
            if given != first:
                row.entry.wrong(name, f"the value of the other rows of this video ({first!r})", given)
        found = _action(row, as_is)
        if row.group:
            if wordings.setdefault(row.group, row.text.lower()) != row.text.lower():
                row.entry.wrong("phrase", f"one phrase for each class ({row.group}: {wordings[row.group]!r})", row.text)
            found = grouped.setdefault(row.group, found)
        draft.add(found, row.text, row.times, counts, line=row.entry.line)
    unsplit = sum(not draft.split for draft in drafts.values())
    if 0 < unsplit < len(drafts):
        problems.add(path, None, "split", "a split for all videos or for none", f"none for {unsplit} of {len(drafts)}")
    problems.raise_if_any(ADVICE)
    if rate is None and frames.rows:
        raise UsageError(
            f"{path.name} gives times as frame numbers (the first is in {frames.first}). Specify the frame rate of the "
            "videos, for example --fps 25, or use times in seconds (start and end) in every row."
        )
    if rate is not None and not frames.rows:
        raise UsageError(f"{path.name} gives all times in seconds, so --fps has no effect. Omit it.")
    if problems.empty_rows:
        counts["rows_left_out_empty"] += problems.empty_rows
    annotations = gather(drafts, [path], counts, seed, ADVICE)
    left_out = (*problems.rows_left_out(path), *annotations.left_out)
    return replace(annotations, names=names.in_full(), left_out=left_out)


def videos_in_pieces(path: Path) -> dict[str, str]:
    """Return the videos of a file in the format of DiDeMo, whose last pieces end with the videos; else nothing.

    Returns:
        The name of each video in the file, by id.

    Raises:
        UsageError: The file does not exist.
    """
    if path.suffix.lower() != ".json" or _has_lines(path):
        return {}
    names = VideoNames()
    rows = _document(path, _FrameRows(None), names, Problems(), Counter())
    videos = dict.fromkeys(row.video for row in rows if row.spare == PIECE_S)
    return {video: names.in_full().get(video, video) for video in videos}


def _action(row: _SegmentRow, as_is: bool) -> Action | str:
    action = action_of(phrase(row.text, as_is=True) if as_is else free_phrase(row.text), row.text)
    if isinstance(action, str):
        return action
    if row.objects:
        objects = frozenset(fold_noun(name.strip().lower()) for name in row.objects.split(";") if name.strip())
        action = replace(action, objects=objects, words=action.words | objects)
    return replace(action, key=row.group or action.key)


# Formats


def _segment_rows(
    path: Path, frames: _FrameRows, names: VideoNames, problems: Problems, counts: Counter[str]
) -> Iterator[_SegmentRow]:
    if path.suffix.lower() == ".json" and not _has_lines(path):
        yield from _document(path, frames, names, problems, counts)
        return
    for entry in entries(path, REQUIRED, ADVICE, problems):
        if "relevant_windows" in entry.values:  # a QVHighlights row holds a query and all the windows that it describes
            video, text, length = names.read(entry, "vid"), entry.text("query"), entry.length("duration")
            for times in _pairs(entry, "relevant_windows", entry.in_order):
                if video and text and length:
                    yield _SegmentRow(entry, video, times, text, length=length)
            continue
        yield from _own(entry, frames, names)


def _has_lines(path: Path) -> bool:
    if not path.is_file():
        raise UsageError(f"there is no file {path}. {ADVICE}")
    lines = [line for line in read_text(path).splitlines() if line.strip()]
    try:
        first = parse_json(lines[0]) if lines else None
    except ValueError:
        return False
    return isinstance(first, dict) and (len(lines) > 1 or "video" in first or "vid" in first)


def _own(entry: Entry, frames: _FrameRows, names: VideoNames) -> Iterator[_SegmentRow]:
    entry.refuse_other_columns(COLUMNS)
    video, text = names.read(entry, "video"), entry.text("phrase")
    framed = entry.has("start_frame") or entry.has("end_frame")
    if framed and (entry.has("start") or entry.has("end")):
        given = "both: " + ", ".join(key for key in ("start", "end", "start_frame", "end_frame") if entry.has(key))
        frames.rows += 1
        entry.wrong("start_frame", "seconds (start, end) or frames (start_frame, end_frame) in a row", given)
        return
    if framed:
        frames.rows += 1
        frames.first = frames.first or (f"line {entry.line}" if entry.line else "its first row")
        found, rate = entry.frames("start_frame", "end_frame"), frames.rate or Fraction(1)
        times = (float(found[0] / rate), float(found[1] / rate)) if found else None  # a missing rate is reported later
    else:
        times = entry.times("start", "end")
    split = entry.choice("split", SPLIT_WORDS) if entry.has("split") else ""
    texts = {key: entry.text(key) if entry.has(key) else "" for key in ("class", "objects", "subject")}
    bad = any(entry.has(key) and not value for key, value in (*texts.items(), ("split", split)))
    if video and text and times and not bad:
        yield _SegmentRow(entry, video, times, text, texts["class"], split, texts["objects"], texts["subject"])


def _document(
    path: Path, frames: _FrameRows, names: VideoNames, problems: Problems, counts: Counter[str]
) -> Iterator[_SegmentRow]:
    content = read_json(path, problems)
    if isinstance(content, dict) and content:
        for video, info in content.items():
            entry = json_entry(info, path, problems, f"[{video!r}].")
            yield from _described(replace(entry, values={**entry.values, "video": video}), names, counts)
    elif isinstance(content, list) and content:
        for number, info in enumerate(content):
            entry = json_entry(info, path, problems, f"[{number}].")
            yield from _own(entry, frames, names) if entry.has("phrase") else _pieces(entry, names)
    else:
        raise InputError(f"{path.name}: expected videos with segments. {OTHER_ADVICE}")


def _described(entry: Entry, names: VideoNames, counts: Counter[str]) -> Iterator[_SegmentRow]:
    """Yield the segments of a video from ActivityNet Captions. Empty or inverted ones are dropped and counted."""
    video, length = names.read(entry, "video"), entry.length("duration")
    sentences, stamps = entry.values.get("sentences"), entry.values.get("timestamps")
    if not isinstance(sentences, list) or not isinstance(stamps, list) or len(sentences) != len(stamps):
        entry.wrong("sentences", "a list, with as many sentences as timestamps", sentences)
        return
    for number, (sentence, stamp) in enumerate(zip(sentences, stamps, strict=True)):
        line = replace(entry, values={"sentence": sentence}, place=f"{entry.place}sentences[{number}] ")
        times = [seconds(str(time)) for time in stamp] if isinstance(stamp, list) else []
        if len(times) != 2 or None in times:
            line.wrong("timestamps", "[start, end] in seconds", stamp)
            continue
        text, (start, end) = line.text("sentence"), times
        if start is None or end is None or not (video and text and length):
            continue
        if end <= start:
            counts["segments_left_out_empty_or_inverted"] += 1
            detail = f"it ends at {end:g} s, not after its start at {start:g} s"
            line.leave_out("phrase", text, "segments_left_out_empty_or_inverted", detail, video)
            continue
        yield _SegmentRow(line, video, (start, end), text, length=length, spare=inf)


def _pieces(entry: Entry, names: VideoNames) -> Iterator[_SegmentRow]:
    """Yield a DiDeMo description with the time that most annotators chose, or the earliest if there is a tie."""
    video, text = names.read(entry, "video"), entry.text("description")

    def pieces(first: Any, last: Any, keys: tuple[str, str]) -> tuple[float, float] | None:
        numbers = [int(str(value)) if WHOLE.fullmatch(str(value)) else None for value in (first, last)]
        if numbers[0] is None or numbers[1] is None or numbers[1] < numbers[0]:
            entry.wrong(keys[0], "pairs of first and last piece, such as [0, 1]", [first, last])
            return None
        return numbers[0] * PIECE_S, (numbers[1] + 1) * PIECE_S

    chosen = Counter(_pairs(entry, "times", pieces))
    if video and text and chosen:
        times = min(chosen, key=lambda pair: (-chosen[pair], pair))
        yield _SegmentRow(entry, video, times, text, spare=PIECE_S)


def _pairs(
    entry: Entry, key: str, read: Callable[[Any, Any, tuple[str, str]], tuple[float, float] | None]
) -> Iterator[tuple[float, float]]:
    given = entry.values.get(key)
    if not isinstance(given, list) or not given:
        entry.wrong(key, "a list of [start, end]", given)
        return
    for pair in given:
        if not isinstance(pair, list) or len(pair) != 2:
            entry.wrong(key, "[start, end]", pair)
        elif times := read(pair[0], pair[1], (key, key)):
            yield times
