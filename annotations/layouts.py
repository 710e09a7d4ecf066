"""Recognise the files of known datasets by their columns, listed in `layouts.yaml`, and read them as our own rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import chain, islice, takewhile
from pathlib import Path
from typing import Any, Literal

from ..core.documents import package_table
from ..core.errors import InputError
from ..core.tabular import Columns, Row, folded, read_rows
from ..video.frames import TOLERANCE_S
from .entries import WHOLE, Entry, Problems, VideoNames, entries, json_entry, seconds

PIECE_S = 5.0  # DiDeMo counts time in pieces of five seconds, of which the last one ends with its video
SPLIT_WORDS = {"training": "train", "testing": "test"}
INVERTED = "rows_left_out_that_end_before_they_start"


@dataclass(frozen=True)
class Layout:
    """How the files of a dataset state what happens when.

    Attributes:
        marks: Columns by which a row is recognised, even in a test set without ground truth.
        times: Column with the times, or the columns with the start and the end.
        text: Column with the text that describes what happens.
        form: What `times` contains: one span; several spans, each described by the text (windows) or by the text at
            the same position (parallel); or spans of five-second pieces that annotators chose (votes).
        parts: Column with a list of objects that contain `times` and `text`.
        video: Column with the name of the video; the keys of an object of videos are in the column "video".
        length: Column with the length of the video.
        fps: Column with the rate, if times and the length are frame numbers.
        split: Column with the split.
        spare_s: A span that reaches past the end of the video by less than this ends with the video.
    """

    name: str
    marks: tuple[str, ...]
    times: tuple[str, ...]
    text: str
    form: Literal["span", "windows", "parallel", "votes"] = "span"
    parts: str = ""
    video: str = "video"
    length: str = ""
    fps: str = ""
    split: str = ""
    spare_s: float = float(TOLERANCE_S)


def _load_layouts() -> Iterator[Layout]:
    for row in package_table(Path(__file__).with_suffix(".yaml")):
        yield Layout(**row | {"marks": tuple(row["marks"]), "times": tuple(row["times"])})


LAYOUTS = tuple(_load_layouts())
NAMES = ", ".join(layout.name for layout in LAYOUTS[:-1]) + f" and {LAYOUTS[-1].name}"


def read_timed(path: Path, columns: Columns, text: str, problems: Problems) -> tuple[Iterator[Entry], tuple[str, ...]]:
    """Read the rows of a file that has the reader's own columns, or the layout of a known dataset.

    Args:
        path: The file.
        columns: The reader's own columns, which include video, start, end and `text`.
        text: Column for the texts of known datasets.
        problems: Collects problems, and counts what is left out.

    Returns:
        The rows, and a sentence that names the dataset, if it is known. Times of a known dataset are in seconds.

    Raises:
        InputError: The file cannot be read, lacks a column, or belongs to a known dataset but has no ground truth.
    """
    rows = read_rows(path, problems.row_format(path))
    first = list(islice(rows, 1))
    layout = None if columns.given or not first else _recognised(path, first[0], columns)
    rows = chain(first, rows)
    if layout is None:
        return entries(path, columns, problems, rows), ()
    return _layout_entries(path, layout, text, problems, rows), (f"{path.name}: read as {layout.name}.",)


def videos_in_pieces(path: Path, columns: Columns) -> dict[str, str]:
    """Return the videos of a file in the format of DiDeMo, whose last pieces end with the videos; else nothing.

    Returns:
        The name of each video in the file, by id.

    Raises:
        UsageError: The file does not exist.
    """
    names = VideoNames()
    rows, _ = read_timed(path, columns, "text", Problems())
    videos = [names.read(row, "video") for row in takewhile(lambda row: row.spare_s == PIECE_S, rows)]
    return {video: names.in_full().get(video, video) for video in videos if video}


def _recognised(path: Path, row: Row, columns: Columns) -> Layout | None:
    if {folded(name) for name in columns.required} <= {folded(name) for name in row.names}:
        return None
    fitting = [layout for layout in LAYOUTS if {*layout.marks} <= {*row.names}]
    if not fitting:
        return None
    layout = max(fitting, key=lambda layout: len(layout.marks))
    truth = (layout.parts,) if layout.parts else (*layout.times, layout.text, layout.video)
    lacking = [name for name in dict.fromkeys(truth) if name != "video" and name not in row.names]
    if lacking:
        raise InputError(
            f"{path.name} is a file of {layout.name} without {' and '.join(lacking)}: a test set whose ground truth is "
            "not published. Use a file that contains it, such as that of the training or the validation set."
        )
    return layout


def _layout_entries(path: Path, layout: Layout, text: str, problems: Problems, rows: Iterator[Row]) -> Iterator[Entry]:
    times = {"start": layout.times[0], "end": layout.times[-1]}
    names = {"video": layout.video, text: layout.text, "split": layout.split, **times}
    for row in rows:
        if not row.values:
            if row.line:
                problems.empty_rows[path.name].append(row.line)
            continue
        whole = Entry(row.values, path, problems, row.line, row.pointer)
        length, rate = whole.length(layout.length) if layout.length else None, 1.0
        if layout.fps:
            rate = whole.length(layout.fps, "frames per second")
        if length == 0 or not rate:
            continue  # already reported
        split = str(row.values.get(layout.split) or "")
        about = {"video": row.values.get(layout.video), "split": SPLIT_WORDS.get(split, split)}
        length_s = length / rate if length else None
        for part, description, (start, end) in _spans(layout, whole):
            values = {**about, text: description, "start": start / rate, "end": end / rate}
            yield replace(part, values=values, names=names, length_s=length_s, spare_s=layout.spare_s)


def _spans(layout: Layout, whole: Entry) -> Iterator[tuple[Entry, Any, tuple[float, float]]]:
    """Yield every text with its span, and the part of the file that contains it."""
    parts = [whole]
    if layout.parts:
        listed = whole.values.get(layout.parts)
        if not isinstance(listed, list):
            whole.wrong(layout.parts, "a list of objects", listed)
            return
        if not listed:
            whole.leave_out_row(f"rows_left_out_without_{layout.parts}", f"its {layout.parts} is an empty list")
        parts = [
            json_entry(part, whole.path, whole.problems, f"{whole.pointer}{layout.parts}[{index}].")
            for index, part in enumerate(listed)
        ]
    for part in parts:
        columns = [part.values.get(name) for name in layout.times]
        stamps = columns[0] if len(columns) == 1 else columns
        texts = part.values.get(layout.text)
        if layout.form == "span":
            pairs = [(part, texts, stamps)]
        elif not isinstance(stamps, list) or not stamps:
            part.wrong(layout.times[0], "a list of [start, end]", stamps)
            continue
        elif layout.form != "parallel":
            pairs = [(part, texts, stamp) for stamp in stamps]
        elif not isinstance(texts, list) or len(texts) != len(stamps):
            part.wrong(layout.text, f"a list, with as many {layout.text} as {layout.times[0]}", texts)
            continue
        else:
            pairs = [
                (replace(part, pointer=f"{part.pointer}{layout.text}[{index}] "), text, stamp)
                for index, (text, stamp) in enumerate(zip(texts, stamps, strict=True))
            ]
        spans = [(entry, text, span) for entry, text, stamp in pairs if (span := _span(layout, entry, stamp))]
        if layout.form == "votes" and spans:  # the time that most chose, or the earliest if there is a tie
            votes = Counter(span for _, _, span in spans)
            spans = [(part, texts, min(votes, key=lambda span: (-votes[span], span)))]
        yield from spans


def _span(layout: Layout, entry: Entry, stamp: Any) -> tuple[float, float] | None:
    keys = (layout.times[0], layout.times[-1])
    if not isinstance(stamp, list) or len(stamp) != 2:
        entry.wrong(keys[0], "[start, end]", stamp)
        return None
    if layout.form == "votes":
        first, last = (int(str(value)) if WHOLE.fullmatch(str(value)) else None for value in stamp)
        if first is None or last is None or last < first:
            entry.wrong(keys[0], "pairs of first and last piece, such as [0, 1]", stamp)
            return None
        return first * PIECE_S, (last + 1) * PIECE_S
    start, end = (seconds(str(value)) for value in stamp)
    if start is not None and end is not None and end < start:
        entry.leave_out_row(INVERTED, f"it ends at {end:g} s, before its start at {start:g} s")
        return None
    return entry.in_order(stamp[0], stamp[1], keys)
