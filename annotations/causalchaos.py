"""Load CausalChaos (Parmar et al. 2024): why-questions about parts of cartoon episodes, with answers and explanations.

Files have the layout of the released `Annotations.csv`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from io import StringIO
from pathlib import Path
from typing import Any, TypeVar

from ..core.documents import read_text
from ..core.errors import InputError
from ..core.files import sha256_file
from ..core.left_out import LeftOut, counts_of
from ..core.source import Source, sample_source
from ..core.tabular import Columns, read_document
from ..video.source_files import same_name
from .tables import WHOLE, Entry, Problems, entries, frame_rate

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
VIDEO_FOLDERS = (".", "videos", "Videos")
CAUSALCHAOS = Source(
    "causalchaos",
    "CausalChaos",
    {"license": "unknown"},
    terms="its annotations were released without a licence of their own, and the cartoons belong to their owners",
    citation="Parmar et al. 2024, CausalChaos! Dataset for Comprehensive Causal Action Question Answering Over Longer "
    "Causal Chains Grounded in Dynamic Visual Scenes (arXiv 2404.01299)",
    link="https://github.com/LUNAProject22/CausalChaos",
    video_folders=VIDEO_FOLDERS,
)
ROWS = Source(
    "rows", "the dataset author's own questions", {"license": "unknown"}, video_folders=VIDEO_FOLDERS, own=True
)
SAMPLE = sample_source("the built-in sample in the format of CausalChaos", VIDEO_FOLDERS)
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
FPS_ADVICE = 'Use JSON such as {"S01E01": 23.976}, or lines such as S01E01=23.976 or S01E01,23.976.'
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
    known = known_columns(columns)
    seen: dict[str, int | None] = {}
    rows: list[CausalRow] = []
    for entry in entries(path, known, problems):
        qid, episode = entry.name(COLUMNS["qid"]), entry.name(COLUMNS["episode"])
        part = entry.frames(COLUMNS["start_frame"], COLUMNS["end_frame"])
        given = {name: str(entry.values.get(COLUMNS[name])).strip() for name in TEXTS}
        texts = [entry_text(entry, COLUMNS[name]) for name in TEXTS]
        if qid and qid in seen:
            entry.wrong(COLUMNS["qid"], f"a unique id (line {seen[qid]} has the same)", qid)
        elif qid:
            seen[qid] = entry.line
        if not (qid and episode and all(texts)) or part is None:
            continue  # already reported
        question, answer, explanation = texts
        counts["texts_with_runs_of_spaces"] += texts != list(given.values())
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


def known_columns(given: Mapping[str, str] | None = None) -> Columns:
    """Return the columns of the released file, with the user's names for them."""
    return Columns({name: (column,) for name, column in COLUMNS.items()}, tuple(COLUMNS), given or {}, ADVICE)


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
    return _by_episode(path, (EPISODE, FIRST_COLOUR, STABLE), _sync_frames)


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
        return _by_episode(path, (EPISODE, OFFSET), _offset)
    own = read_sync_frames(path)
    if reference is None:
        raise InputError(
            f"{path.name} contains the start frames of your copies, but not those of the annotators' copies. Also "
            "specify the released Video_synchonization_frames.csv with --released-offsets, or use a file with the "
            f"columns {EPISODE} and {OFFSET}."
        )
    theirs = read_sync_frames(reference)
    problems, offsets = Problems(), {}
    for episode, frames in own.items():
        other = theirs.get(episode)
        pairs = [(frames.stable, other.stable), (frames.first_colour, other.first_colour)] if other else []
        both = next(((mine, released) for mine, released in pairs if mine is not None and released is not None), None)
        if both is None:
            problems.add(path, None, EPISODE, f"an episode with a frame of the same kind in {reference.name}", episode)
        else:
            offsets[episode] = both[0] - both[1]
    problems.raise_if_any(SYNC_ADVICE)
    return offsets


def read_fps_map(path: Path) -> dict[str, Fraction]:
    """Load the frame rate of each episode.

    Args:
        path: JSON object (`.json`), or lines such as `episode=rate` or `episode,rate`. A rate is a number or a ratio
            such
            as 24000/1001. Decimal NTSC rates such as 23.976 are converted to exact ratios.

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
    for place, name, given in pairs:
        episode, rate = same_name(name), frame_rate(given)
        if not episode or rate is None:
            problems.add(path, place, episode or None, "a frame rate such as 25, 23.976 or 24000/1001", str(given))
        elif episode in rates:
            problems.add(path, place, None, "a unique episode", episode)
        else:
            rates[episode] = rate
    problems.raise_if_any(FPS_ADVICE)
    if not rates:
        raise InputError(f"{path.name}: expected at least one episode, got none. {FPS_ADVICE}")
    return rates


def _by_episode(path: Path, required: Sequence[str], read: Callable[[Entry], T | None]) -> dict[str, T]:
    problems, found = Problems(), dict[str, T]()
    for entry in entries(path, required, problems):
        value, episode = read(entry), same_name(entry.values[EPISODE])
        if not episode or episode in found:
            entry.wrong(EPISODE, "a unique episode", episode)
        elif value is not None:
            found[episode] = value
    problems.raise_if_any(SYNC_ADVICE)
    return found


def _sync_frames(entry: Entry) -> SyncFrames | None:
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
    return SyncFrames(*frames) if len(frames) == 2 else None


def _offset(entry: Entry) -> int | None:
    if SIGNED.fullmatch(entry.values[OFFSET]):
        return int(entry.values[OFFSET])
    entry.wrong(OFFSET, "a whole number of frames", entry.values[OFFSET])
    return None


def source_of_rows(hashes: Mapping[str, str], *, sample: bool) -> Source:
    """Determine from file hashes whether annotations are the sample, the paper's release, or the user's own data."""
    if sample:
        return SAMPLE
    return CAUSALCHAOS if RELEASED in hashes.values() else ROWS
