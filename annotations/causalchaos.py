"""Load CausalChaos (Parmar et al. 2024): why-questions about parts of cartoon episodes, with answers and explanations.

Files have the layout of the released `Annotations.csv`. Questions are also read as events: "Why was Jerry running?"
presupposes that Jerry was running.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from io import StringIO
from pathlib import Path
from typing import Any, TypeVar

from ..core.documents import read_text
from ..core.errors import InputError
from ..core.files import sha256_file
from ..core.plan import LeftOut, counts_of
from ..core.source import Source, sample_source
from ..core.tabular import Columns, read_document
from ..language.events import event
from ..language.people import Cast, derive_cast
from ..video.source_files import same_name
from . import load_source
from .actions import Annotations, VideoDraft, action_of, gather, split_by_video
from .entries import WHOLE, Entry, Problems, entries, frame_rate

COLUMNS = {
    "qid": "QID",
    "episode": "Filename",
    "start_frame": "Start Frame",
    "end_frame": "End Frame",
    "question": "Question",
    "answer": "Answer",
    "explanation": "Explanation",
}
RELEASED = "49a4b64bd6c9b8271c142728e52a4cdc82e8a3a73bdc44e2e793cc618a8ee76e"  # the released Annotations.csv
CAUSALCHAOS = load_source("causalchaos")
ROWS = load_source("rows")
SAMPLE = sample_source("the built-in sample in the format of CausalChaos", CAUSALCHAOS.video_folders)
TEXTS = ("question", "answer", "explanation")
NO_TEXT = "nan"
EPISODE = "Episode"
FIRST_COLOUR = "First color of actual cartoon frame after opening credits"
STABLE = "Stable brightness of first actual cartoon frame"
OFFSET = "Offset"
ADVICE = (
    "Each row is a question about the frames from Start Frame to End Frame of an episode. Fix these rows, or use the "
    "released file; use --columns for other column names, such as --columns question=Q."
)
SYNC_ADVICE = (
    f"Expected the layout of Video_synchonization_frames.csv ({EPISODE}, {FIRST_COLOUR!r}, {STABLE!r}), or the columns "
    f"{EPISODE} and {OFFSET} (frames to add to every frame number)."
)
EVENTS_ADVICE = "Each row is a why-question about the frames from Start Frame to End Frame of an episode."
FPS_ADVICE = 'Use JSON such as {"S01E01": 23.976}, or lines such as S01E01=23.976 or S01E01,23.976.'
DEFAULT_RATE = Fraction(25)
SIGNED = re.compile(r"[+-]?[0-9]{1,9}")
T = TypeVar("T")


@dataclass(frozen=True)
class CausalRow:
    """A why-question about part of an episode, from `start_frame` up to but not including `end_frame`.

    The answer states the cause.
    """

    qid: str
    episode: str
    start_frame: int
    end_frame: int
    question: str
    answer: str
    explanation: str
    line: int | None = field(default=None, compare=False)
    file: str = field(default="", compare=False)

    def overlaps(self, other: CausalRow, margin: int = 0) -> bool:
        """Return whether the two parts of the episode overlap or are fewer than `margin` frames apart."""
        return (
            self.episode == other.episode
            and self.start_frame < other.end_frame + margin
            and other.start_frame < self.end_frame + margin
        )


@dataclass(frozen=True)
class CausalRows:
    """Questions in file order, with file hashes (SHA-256) and the numbers of rows and of tolerated errors."""

    rows: tuple[CausalRow, ...]
    hashes: dict[str, str]
    counts: dict[str, int]
    left_out: tuple[LeftOut, ...] = ()


@dataclass(frozen=True)
class SyncFrames:
    """Two frames by which copies of an episode are aligned; either is None if it is not given.

    `first_colour` is the first frame in colour after the opening credits, `stable` the first of stable brightness.
    """

    first_colour: int | None
    stable: int | None


def read_causalchaos(path: Path, columns: Mapping[str, str] | None = None) -> CausalRows:
    """Load questions from a file with the layout of the released `Annotations.csv`, and normalize their whitespace.

    Args:
        path: File in any format of `core.tabular`. Other columns are ignored.
        columns: Column names that differ from the default, by attribute of `CausalRow`.

    Raises:
        InputError: The file has another format or no rows, or contains malformed rows (all are listed): empty texts,
            frames that are not whole numbers, ends that do not follow their starts, or duplicate ids.
    """
    problems, counts = Problems(), Counter[str]()
    known = Columns({name: (column,) for name, column in COLUMNS.items()}, tuple(COLUMNS), columns or {}, ADVICE)
    seen: dict[str, int | None] = {}
    rows: list[CausalRow] = []
    for entry in entries(path, known, problems):
        qid, episode = entry.name(COLUMNS["qid"]), entry.name(COLUMNS["episode"])
        part = entry.frames(COLUMNS["start_frame"], COLUMNS["end_frame"])
        written = [str(entry.values.get(COLUMNS[name])).strip() for name in TEXTS]
        texts = [entry_text(entry, COLUMNS[name]) for name in TEXTS]
        if qid and qid in seen:
            entry.wrong(COLUMNS["qid"], f"a unique id (line {seen[qid]} has the same)", qid)
        elif qid:
            seen[qid] = entry.line
        if not (qid and episode and all(texts)) or part is None:
            continue  # already reported
        question, answer, explanation = texts
        counts["texts_with_runs_of_spaces"] += texts != written
        rows.append(CausalRow(qid, episode, *part, question, answer, explanation, entry.line, path.name))
    problems.raise_if_any(ADVICE)
    if not rows:
        raise InputError(f"{path.name}: expected at least one row, got none. {ADVICE}")
    overlapping, left_out = overlaps(rows), tuple(problems.rows_left_out())
    counts |= {
        **counts_of(left_out),
        "rows": len(rows),
        "episodes": len({row.episode for row in rows}),
        "rows_with_the_frames_of_another": len(rows) - len({(r.episode, r.start_frame, r.end_frame) for r in rows}),
        "rows_that_overlap_another": sum(bool(others) for others in overlapping.values()),
        "questions_repeated": len(rows) - len({row.question for row in rows}),
        "answers_repeated": len(rows) - len({row.answer for row in rows}),
        "explanations_repeated": len(rows) - len({row.explanation for row in rows}),
        "explanations_equal_to_their_answer": sum(row.answer == row.explanation for row in rows),
    }
    return CausalRows(tuple(rows), {path.name: sha256_file(path)}, dict(sorted(counts.items())), left_out)


def entry_text(entry: Entry, column: str) -> str:
    """Return the text in a column, with single spaces, or "" if it is missing or is pandas' "nan"."""
    text = " ".join(entry.text(column).split())
    if text.lower() == NO_TEXT:
        entry.wrong(column, "a text (this marks a missing value)", text)
        return ""
    return text


def first_by_id(rows: Sequence[CausalRow], limit: int | None) -> tuple[CausalRow, ...]:
    """Return the first `limit` rows by id, in file order. Shorter ids come first, so numeric ids sort by value."""
    kept = {row.qid for row in sorted(rows, key=lambda row: (len(row.qid), row.qid))[:limit]}
    return tuple(row for row in rows if row.qid in kept)


def overlaps(rows: Sequence[CausalRow], margin: int = 0) -> dict[str, tuple[str, ...]]:
    """Map the id of each row to the ids of the rows that overlap with it, in the sense of `CausalRow.overlaps`."""
    by_episode: dict[str, list[CausalRow]] = {}
    for row in rows:
        by_episode.setdefault(row.episode, []).append(row)
    return {
        row.qid: tuple(
            other.qid for other in by_episode[row.episode] if other is not row and row.overlaps(other, margin)
        )
        for row in rows
    }


def read_sync_frames(path: Path) -> dict[str, SyncFrames]:
    """Load the alignment frames of each episode from a file laid out like `Video_synchonization_frames.csv`.

    Values that start with "NA" count as missing. Raises InputError if the file has another layout or contains malformed
    rows (all are listed).
    """
    problems, frames_of = Problems(), dict[str, SyncFrames]()
    for entry in entries(path, (EPISODE, FIRST_COLOUR, STABLE), problems):
        frames: list[int | None] = []
        for column in (FIRST_COLOUR, STABLE):
            value = entry.values[column]
            if value.split("(")[0].strip().upper() == "NA":
                frames.append(None)
            elif WHOLE.fullmatch(value):
                frames.append(int(value))
            else:
                entry.wrong(column, "a frame number or NA", value)
        if frames == [None, None]:
            entry.wrong(STABLE, "at least one frame number", entry.values[STABLE])
        _add(frames_of, entry, SyncFrames(*frames) if len(frames) == 2 else None)
    problems.raise_if_any(SYNC_ADVICE)
    return frames_of


def read_offsets(path: Path, reference: Path | None = None) -> dict[str, int]:
    """Return, for each episode, how many frames to add to annotated frame numbers to match the user's copy.

    `path` is a CSV with the columns `Episode` and `Offset`, or with the alignment frames of the user's copies in the
    layout of the released `Video_synchonization_frames.csv`. In the latter case, `reference` is the released file, and
    offsets are differences from it.

    Raises:
        InputError: A file has another layout or malformed rows, or the reference or one of its frames is missing.
    """
    header = read_text(path).splitlines()[:1]
    if header and OFFSET in [name.strip() for name in header[0].split(",")]:
        return _read_own_offsets(path)
    own = read_sync_frames(path)
    if reference is None:
        raise InputError(
            f"{path.name} contains the start frames of your copies, but not those of the annotators' copies. Also "
            "specify the released Video_synchonization_frames.csv with --released-offsets, or use a file with the "
            f"columns {EPISODE} and {OFFSET}."
        )
    theirs = read_sync_frames(reference)
    problems, offsets = Problems(), dict[str, int]()
    for episode, frames in own.items():
        released = theirs.get(episode, SyncFrames(None, None))
        if frames.stable is not None and released.stable is not None:
            offsets[episode] = frames.stable - released.stable
        elif frames.first_colour is not None and released.first_colour is not None:
            offsets[episode] = frames.first_colour - released.first_colour
        else:
            problems.add(path, None, EPISODE, f"an episode with a frame of the same kind in {reference.name}", episode)
    problems.raise_if_any(SYNC_ADVICE)
    return offsets


def read_fps_map(path: Path) -> dict[str, Fraction]:
    """Load the frame rate of each episode.

    Args:
        path: JSON object (`.json`), or lines such as `episode=rate` or `episode,rate`. A rate is a number or a ratio
            such as 24000/1001. Decimal NTSC rates such as 23.976 are converted to exact ratios.

    Raises:
        InputError: The file has another format, or contains malformed rates (all are listed).
    """
    problems = Problems()
    pairs: list[tuple[int | None, str, Any]] = []
    if path.suffix.lower() == ".json":
        content = read_document(path)
        if not isinstance(content, dict):
            raise InputError(f"{path.name}: expected an object. {FPS_ADVICE}")
        pairs = [(None, str(episode), rate) for episode, rate in content.items()]
    else:
        for line, text in enumerate(StringIO(read_text(path)), 1):
            parts = [part.strip() for part in re.split("[=,]", text, maxsplit=1)]
            if not text.strip() or (line == 1 and [part.lower() for part in parts] == ["episode", "fps"]):
                continue
            if len(parts) == 2:
                pairs.append((line, parts[0], parts[1]))
            else:
                problems.add(path, line, None, "an episode and its frame rate", text.strip())
    rates: dict[str, Fraction] = {}
    for line_number, name, value in pairs:
        episode, rate = same_name(name), frame_rate(value)
        if not episode or rate is None:
            problems.add(
                path, line_number, episode or None, "a frame rate such as 25, 23.976 or 24000/1001", str(value)
            )
        elif episode in rates:
            problems.add(path, line_number, None, "a unique episode", episode)
        else:
            rates[episode] = rate
    problems.raise_if_any(FPS_ADVICE)
    if not rates:
        raise InputError(f"{path.name}: expected at least one episode, got none. {FPS_ADVICE}")
    return rates


def _read_own_offsets(path: Path) -> dict[str, int]:
    problems, offsets = Problems(), dict[str, int]()
    for entry in entries(path, (EPISODE, OFFSET), problems):
        offset = entry.values[OFFSET]
        if not SIGNED.fullmatch(offset):
            entry.wrong(OFFSET, "a whole number of frames", offset)
        _add(offsets, entry, int(offset) if SIGNED.fullmatch(offset) else None)
    problems.raise_if_any(SYNC_ADVICE)
    return offsets


def _add(by_episode: dict[str, T], entry: Entry, value: T | None) -> None:
    """Add a value to those of other episodes, unless it is None. Report an episode that is not unique."""
    episode = same_name(entry.values[EPISODE])
    if not episode or episode in by_episode:
        entry.wrong(EPISODE, "a unique episode", episode)
    elif value is not None:
        by_episode[episode] = value


def source_of_rows(hashes: Mapping[str, str], *, sample: bool) -> Source:
    """Determine from file hashes whether annotations are the sample, the paper's release, or the user's own data."""
    if sample:
        return SAMPLE
    return CAUSALCHAOS if RELEASED in hashes.values() else ROWS


def read_events(
    path: Path,
    *,
    columns: Mapping[str, str] | None = None,
    rate_of: Mapping[str, Fraction] | None = None,
    length_of: Mapping[str, float] | None = None,
    cast: Cast | None = None,
    seed: int = 0,
) -> Annotations:
    """Extract the events that why-questions presuppose, in file order.

    Each event consists of a statement and its yes/no question. Questions that presuppose no usable event are dropped
    and counted by reason.

    Args:
        path: Annotations in the layout of the released `Annotations.csv`; see `read_causalchaos`.
        columns: Column names that differ from the default.
        rate_of: Frames per second by episode. Other episodes default to 25 and are counted.
        length_of: Length in seconds by episode. Other episodes end with their last question.
        cast: The characters; defaults to the names detected in the texts.
        seed: Seed for assigning episodes to splits, as the dataset defines none.

    Raises:
        InputError: The file has another format, contains malformed rows, or has no usable question.
    """
    rows = read_causalchaos(path, columns)
    rates, lengths = rate_of or {}, length_of or {}
    if cast is None:
        cast = derive_cast(text for row in rows.rows for text in (row.question, row.answer, row.explanation))
    counts = Counter(rows.counts)
    drafts: dict[str, VideoDraft] = {}
    for row in rows.rows:
        if row.episode not in drafts:
            drafts[row.episode] = VideoDraft(row.episode, length_s=lengths.get(row.episode), file=path.name)
            counts["episodes_without_a_frame_rate"] += row.episode not in rates
        rate = rates.get(row.episode, DEFAULT_RATE)
        times = float(row.start_frame / rate), float(row.end_frame / rate)
        action = action_of(event(row.question, cast), row.question)
        drafts[row.episode].add(action, row.question, times, counts, line=row.line)
    return gather(drafts, [path], counts, EVENTS_ADVICE, split_by_video(drafts, seed), rows.left_out)
