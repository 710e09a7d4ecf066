"""Check the values of a user's rows, and report every problem with its file, line and column."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from math import inf
from pathlib import Path
from typing import Any

from ..core.errors import InputError, UsageError
from ..core.plan import LeftOut, origin_of
from ..core.tabular import Columns, Format, Row, read_rows
from ..video.frames import TOLERANCE_S
from ..video.source_files import file_stem, find_file, same_name

SPLITS = ("train", "validation", "test")
SPLIT_WORDS = {**{split: split for split in SPLITS}, "val": "validation"}
SHOWN_KINDS, SHOWN_PLACES = 20, 3
LONGEST = 1e7
TEXT_KEYS = ("phrase", "caption", "question", "sentence")
LONGEST_NAME = 500  # characters of a row's text in the table of what was left out
CLOCK = re.compile(r"(?:([0-9]{1,3}):(?=[0-9]{2}:))?([0-9]{1,3}):([0-5][0-9](?:\.[0-9]*)?)")
INDEX = re.compile(r"\[[^]]*\]")
NUMBER = re.compile(r"[0-9]+(\.[0-9]*)?([eE][+-]?[0-9]{1,3})?|\.[0-9]+")
WHOLE = re.compile(r"[0-9]{1,9}")
NAME = re.compile(r"(?!\.)[^/\\\x00-\x1f\x7f\ud800-\udfff]+")
NAME_BYTES = 200
NAME_EXPECTED = f"a name of at most {NAME_BYTES} bytes without / and \\, not starting with a dot"
HALF_CHARACTER = re.compile("[\ud800-\udfff]")
RATIO = re.compile(r"([0-9]{1,7})/([1-9][0-9]{0,6})")
DECIMAL = re.compile(r"[0-9]{1,4}(\.[0-9]{1,6})?")
FASTEST = 1000  # frames per second
NTSC = (24, 30, 48, 60, 120)  # nominal rates; the actual rates, such as 23.976, are these times 1000/1001


@dataclass
class Problems:
    """Collects the problems found in input files so that a single error can report them all, each kind once.

    Attributes:
        places: The first places of each kind of problem, as text.
        counts: Number of problems of each kind.
        left_out: What was left out without being a problem.
        empty_rows: Lines of the empty rows by file. Spreadsheets append many of them to tables.
    """

    places: defaultdict[tuple[str, ...], list[str]] = field(default_factory=lambda: defaultdict(list))
    counts: Counter[tuple[str, ...]] = field(default_factory=Counter)
    left_out: list[LeftOut] = field(default_factory=list)
    empty_rows: defaultdict[str, list[int]] = field(default_factory=lambda: defaultdict(list))

    def rows_left_out(self) -> list[LeftOut]:
        """Return everything that was left out, with the number of empty rows of each file."""
        reason, empty = "rows_left_out_empty", "the row has no values"
        records = list(self.left_out)
        for file, lines in self.empty_rows.items():
            line, detail = origin_of(lines, empty)
            records.append(LeftOut("reading", "rows", "empty", reason, detail, file=file, line=line, count=len(lines)))
        return records

    def add(self, path: Path, line: int | None, column: str | None, expected: str, given: str) -> None:
        """Add a problem with its location, the expected value and the given one."""
        kind = (path.name, INDEX.sub("", column or ""), expected.partition(" (")[0])
        self.counts[kind] += 1
        if self.counts[kind] <= SHOWN_PLACES:
            origin = path.name + (f", line {line}" if line else "") + (f", column {column}" if column else "")
            shown = given if len(given) <= 80 else given[:77] + "…"
            self.places[kind].append(f"{origin}: expected {expected}, got {shown!r}")

    def row_format(self, path: Path) -> Format:
        """Return how to read a file so that malformed rows become problems."""
        return Format(
            key="video",
            replace_surrogates=False,
            wrong=lambda line, expected, given: self.add(path, line, None, expected, given),
        )

    def raise_if_any(self, advice: str) -> None:
        """Raise InputError if any problems were added: the first three places of each kind. It ends in `advice`."""
        if not self.counts:
            return
        lines: list[str] = []
        for kind in [*self.places][:SHOWN_KINDS]:
            lines += self.places[kind]
            others = self.counts[kind] - len(self.places[kind])
            lines += [f"… and {others:,} more of this kind"] * bool(others)
        others = sum(self.counts[kind] for kind in [*self.places][SHOWN_KINDS:])
        lines += [f"… and {others:,} of other kinds"] * bool(others)
        total = self.counts.total()
        count = "1 problem" if total == 1 else f"{total:,} problems"
        listed = "\n  ".join(lines)
        raise InputError(f"{count} in the annotations; nothing was written.\n  {listed}\n{advice}")


@dataclass(frozen=True)
class Entry:
    """A row of a table or an object in a JSON file. Values are checked when they are read.

    Attributes:
        line: Line number, if the file has lines.
        pointer: Path within a JSON file, such as "videos[3].".
        names: Names of columns in the file, where they differ from the keys of `values`.
        length_s: Length of the video, if the layout of the file states it.
        spare_s: A span that reaches past the end of the video by less than this ends with the video.
    """

    values: Mapping[str, Any]
    path: Path
    problems: Problems
    line: int | None = None
    pointer: str = ""
    names: Mapping[str, str] = field(default_factory=dict)
    length_s: float | None = None
    spare_s: float = float(TOLERANCE_S)

    def wrong(self, key: str, expected: str, given: Any) -> None:
        """Report that the value of `key` is not what was expected."""
        column = self.pointer + self.names.get(key, key)
        self.problems.add(self.path, self.line, column, expected, "" if given is None else str(given))

    def leave_out(self, kind: str, name: str, reason: str, detail: str, source_id: str = "") -> None:
        """Record that something in this entry is left out; see `LeftOut`."""
        file = self.path.name
        self.problems.left_out.append(LeftOut("reading", kind, name, reason, detail, source_id, file, self.line))

    def leave_out_row(self, reason: str, detail: str) -> None:
        """Record that the row is left out, by its text if it has one."""
        text = next((str(self.values[key]) for key in TEXT_KEYS if self.has(key)), self.pointer or "row")
        self.leave_out("row", text[:LONGEST_NAME], reason, detail, str(self.values.get("video", ""))[:LONGEST_NAME])

    def has(self, key: str) -> bool:
        """Return whether `key` has a value that is not empty."""
        value = self.values.get(key)
        return value not in (None, "") and value == value  # NaN marks a missing value

    def name(self, key: str) -> str:
        """Return a value that can serve as a file name. Report any other value and return ""."""
        name = file_name(self.values.get(key))
        if not name:
            self.wrong(key, NAME_EXPECTED, self.values.get(key))
        return name

    def text(self, key: str) -> str:
        """Return a text without surrounding spaces. Report a missing text and return ""."""
        value = self.values.get(key)
        text = value.strip() if isinstance(value, str) else ""
        if not text or HALF_CHARACTER.search(text):
            self.wrong(key, "a text", value)
            return ""
        return text

    def choice(self, key: str, meanings: Mapping[str, str]) -> str:
        """Look up the value in `meanings` and return its meaning. Report any other value and return ""."""
        value = self.values.get(key)
        if isinstance(value, str) and value in meanings:
            return meanings[value]
        self.wrong(key, f"one of {', '.join(meanings)}", value)
        return ""

    def length(self, key: str, expected: str = "a length in seconds") -> float:
        """Return a length in seconds. Report an invalid one and return 0."""
        length = seconds(str(self.values.get(key)))
        if not length:
            self.wrong(key, expected, self.values.get(key))
        return length or 0.0

    def frames(self, start: str, end: str) -> tuple[int, int] | None:
        """Return the first and the end frame, or None as `in_order` does."""
        frames: list[int] = []
        for key in (start, end):
            value = self.values.get(key)
            if isinstance(value, bool) or not WHOLE.fullmatch(str(value)):
                self.wrong(key, "a frame: a whole number, 0 or more", value)
            else:
                frames.append(int(str(value)))
        if len(frames) < 2 or not self._ascend(frames, frames, end, "a frame"):
            return None
        return frames[0], frames[1]

    def times(self, start: str, end: str) -> tuple[float, float] | None:
        """Return a start and an end in seconds, or None as `in_order` does."""
        return self.in_order(self.values.get(start), self.values.get(end), (start, end))

    def in_order(self, start: Any, end: Any, keys: tuple[str, str]) -> tuple[float, float] | None:
        """Parse a start and an end in seconds.

        Invalid times and an end before the start are reported. A span of zero length is counted as left out. In all
        these cases, return None.
        """
        times: list[float] = []
        for key, value in zip(keys, (start, end), strict=True):
            time = seconds(str(value))
            if time is None:
                self.wrong(key, "a time such as 12.5 (seconds), 1:05 or 1:02:03.5", value)
            else:
                times.append(time)
        if len(times) < 2 or not self._ascend(times, (start, end), keys[1], "an end"):
            return None
        return times[0], times[1]

    def _ascend(self, span: Sequence[float], given: Sequence[Any], key: str, expected: str) -> bool:
        if span[1] < span[0]:
            self.wrong(key, f"{expected} after the start ({given[0]})", given[1])
        if span[1] == span[0]:
            self.leave_out_row("rows_left_out_of_zero_length", f"it starts and ends at {given[0]}")
        return span[1] > span[0]

    def span(self, rate: Fraction | None) -> tuple[float, float] | None:
        """Return the start and end in seconds, from `start` and `end`, or from frame numbers and their rate.

        Frames are in `start_frame` and `end_frame`, and their rate in `fps`, or it is `rate`.
        """
        present = [key for key in ("start", "end", "start_frame", "end_frame") if self.has(key)]
        if not any(key.endswith("frame") for key in present):
            return self.times("start", "end")
        if "start" in present or "end" in present:
            what = "seconds (start, end) or frames (start_frame, end_frame) in a row"
            self.wrong("start_frame", what, f"both: {', '.join(present)}")
            return None
        if self.has("fps"):
            rate = frame_rate(self.values["fps"])
        if rate is None:
            self.wrong("fps", "a frame rate such as 25 or 24000/1001", self.values.get("fps"))
        frames = self.frames("start_frame", "end_frame")
        return (float(frames[0] / rate), float(frames[1] / rate)) if frames and rate else None


def entries(
    path: Path, columns: Columns | Sequence[str], problems: Problems, rows: Iterable[Row] | None = None
) -> Iterator[Entry]:
    """Yield the rows of a file in any format of `core.tabular`. Malformed rows are reported, and empty ones counted.

    `columns` are the columns that the reader knows, or only the required ones. `rows` are the rows if they were read.

    Raises:
        InputError: The file cannot be read, lacks a required column, or has one that may be misspelled.
    """
    known = columns if isinstance(columns, Columns) else Columns.of(columns, columns)
    for row in known.apply(path, read_rows(path, problems.row_format(path)) if rows is None else rows):
        if row.values:
            yield Entry(row.values, path, problems, row.line, row.pointer)
        elif row.line:
            problems.empty_rows[path.name].append(row.line)


def choose_files(path: Path, splits: Sequence[str], names: Mapping[str, Sequence[str]]) -> dict[Path, list[str]]:
    """Find the file to read for each split, and return the splits that each file provides.

    Args:
        path: A file for all splits, or a folder that contains the files, at most two levels deep.
        splits: Requested splits.
        names: Possible file names of each split, in order of preference.

    Raises:
        InputError: A split, path or file does not exist.
    """
    unknown = [split for split in splits if split not in names]
    if unknown or not splits:
        raise UsageError(f"unknown split: {', '.join(unknown) or 'none given'}. Choose from {', '.join(names)}.")
    if path.is_file():
        return {path: list(splits)}
    if not path.is_dir():
        raise UsageError(
            f"there is no file or folder {path}. Specify the annotation file, or the folder that contains it."
        )
    chosen: dict[Path, list[str]] = {}
    for split in dict.fromkeys(splits):
        file = next(filter(None, (find_file(path, name) for name in names[split])), None)
        if file is None:
            raise InputError(
                f"found no {' or '.join(names[split])} in {path} or its subfolders (up to two levels deep). The split "
                f"{split} requires one of these files."
            )
        chosen.setdefault(file, []).append(split)
    return chosen


def json_entry(value: Any, path: Path, problems: Problems, pointer: str) -> Entry:
    """Wrap a JSON object for checking. Any other value is treated as an object without values."""
    return Entry(value if isinstance(value, dict) else {}, path, problems, pointer=pointer)


def find_split_files(
    folder: Path, name: str, splits: Sequence[str], advice: str, error: type[InputError] = InputError
) -> dict[str, Path]:
    """Find the files of the given splits, at most two levels deep. Raise `error` if there are none."""
    names = {split: name.format(split) for split in splits}
    files = {split: file for split, name in names.items() if (file := find_file(folder, name))}
    if not files:
        raise error(
            f"found no {' or '.join(names.values())} in {folder} or its subfolders (up to two levels deep). {advice}"
        )
    return files


def check_splits(path: Path, wanted: Iterable[str], present: Iterable[str], problems: Problems) -> None:
    """Raise InputError if a requested split has no entries, unless problems already reported may be the cause."""
    absent = {*wanted} - {*present}
    if absent and not problems.counts:
        raise InputError(f"{path.name} has no entries for the split {', '.join(sorted(absent))}.")


def file_name(value: Any) -> str:
    """Return a string or a whole number as a file name (in NFC), or "" if it cannot be one."""
    name = same_name(str(value).strip()) if isinstance(value, str | int) and not isinstance(value, bool) else ""
    return name if NAME.fullmatch(name) and len(name.encode()) <= NAME_BYTES else ""


def is_file_name(text: str) -> bool:
    """Return whether an id can serve as a file name: it is not a path, not hidden, and all characters are printable."""
    return bool(text) and text.isprintable() and not text.startswith(".") and not set(text) & set("/\\")


def seconds(text: str) -> float | None:
    """Parse a time: seconds, m:ss or h:mm:ss, perhaps with decimals. Return None for others, and above 10⁷ s."""
    text = text.strip()
    if clock := CLOCK.fullmatch(text):
        hours, minutes, rest = clock.groups()
        if hours is not None and int(minutes) > 59:
            return None
        return 3600 * int(hours or 0) + 60 * int(minutes) + float(rest)
    value = float(text) if NUMBER.fullmatch(text) else inf
    return value if value <= LONGEST else None


def frame_rate(value: Any) -> Fraction | None:
    """Parse a number or a ratio of frames per second. Decimal NTSC rates such as 23.976 become exact ratios."""
    text = "" if isinstance(value, bool) else str(value)
    if ratio := RATIO.fullmatch(text):
        rate = Fraction(int(ratio[1]), int(ratio[2]))
    elif DECIMAL.fullmatch(text):
        rate = exact_rate(Fraction(text))
    else:
        return None
    return rate if 0 < rate <= FASTEST else None


def exact_rate(rate: Fraction) -> Fraction:
    """Return the NTSC rate that a rate such as 23.976 stands for, or the rate itself."""
    exact = (Fraction(whole * 1000, 1001) for whole in NTSC)
    return next((ntsc for ntsc in exact if rate.denominator > 1 and abs(rate - ntsc) < Fraction(1, 200)), rate)


def fitted(
    times: tuple[float, float], length_s: float | None, spare_s: float = float(TOLERANCE_S)
) -> tuple[float, float] | str:
    """Fit a span to the length of its video.

    Args:
        times: Start and end in seconds.
        length_s: Length of the video in seconds, or None if unknown.
        spare_s: A span that reaches past the end of the video by less than this ends with the video. A longer one keeps
            its times, so that the build skips it with a reason.

    Returns:
        Start and end, or a sentence if the span starts after the video has ended.
    """
    start, end = times
    length = inf if length_s is None else length_s
    if length < end < length + spare_s:
        end = length
    last = min(end, length)
    return (start, end) if start < last else f"it starts at {start:g} s, but the video ends at {last:g} s"


@dataclass
class VideoNames:
    """The names of the videos in an annotation file, by id. The id is the stem, so each stem has only one name."""

    _names: dict[str, str] = field(default_factory=dict)

    def read(self, entry: Entry, key: str) -> str:
        """Return the id of the video that an entry names. Report an invalid or a second name, and return ""."""
        name = entry.name(key)
        stem = file_stem(name)[0]
        first = self._names.setdefault(stem, name) if name else name
        if name != first:
            entry.wrong(key, f"one name for each video, as ids have no suffix (another row has {first!r})", name)
            return ""
        return stem

    def in_full(self) -> dict[str, str]:
        """Return the names that include a suffix, by id."""
        return {stem: name for stem, name in self._names.items() if name != stem}
