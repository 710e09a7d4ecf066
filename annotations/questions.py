"""Questions with their right answers, from any data set: the input of `stressreel mine`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..core.errors import InputError
from ..core.files import sha256_file
from .causalchaos import COLUMNS as CAUSALCHAOS
from .causalchaos import entry_text, overlaps, read_causalchaos
from .tables import Entry, Problems, entries, named_columns

COLUMNS = ("id", "question", "answer", "explanation", "group", "split")
REQUIRED = ("id", "question", "answer")
ADVICE = (
    "One row is one question. id, question and answer are needed; explanation, group (rows of a group lend each other "
    "no options) and split may be left out. --columns names columns that are called otherwise: --columns answer=A."
)


@dataclass(frozen=True)
class Question:
    """A question with its right answer.

    Attributes:
        id: Unique.
        question: The question.
        answer: The right answer.
        explanation: Why it is right; "" if the data set has none.
        split: Its split; "" if the data set has none.
    """

    id: str
    question: str
    answer: str
    explanation: str
    split: str


@dataclass(frozen=True)
class Questions:
    """What was read.

    Attributes:
        questions: In the order of the file.
        kept_apart: By id, the ids of questions that must not lend their answer: those of the same group, or those on
            overlapping parts of a video.
        hashes: SHA-256 of the file, by its name.
        counts: How many there are, and oddities met and kept, for people.
    """

    questions: tuple[Question, ...]
    kept_apart: Mapping[str, Sequence[str]]
    hashes: dict[str, str]
    counts: dict[str, int]


def read_questions(path: Path, columns: Mapping[str, str] | None = None, apart_frames: int = 0) -> Questions:
    """Read questions; a file with the columns of CausalChaos' `Annotations.csv` is read as such.

    Args:
        path: A CSV with a header, or JSON lines. Other columns are ignored.
        columns: Names of columns that are called otherwise.
        apart_frames: Parts of a video with fewer frames between them are kept apart like those that overlap.

    Returns:
        The questions. All have an explanation, or none has; likewise a split.

    Raises:
        InputError: The file has another format or holds no question, or rows are malformed (all such rows are named).
    """
    if columns is None and _is_causalchaos(path):
        read = read_causalchaos(path)
        found = tuple(Question(row.qid, row.question, row.answer, row.explanation, "") for row in read.rows)
        return Questions(found, overlaps(read.rows, apart_frames), read.hashes, read.counts)
    names = named_columns({name: name for name in COLUMNS}, columns)
    needed = [*REQUIRED, *(name for name in columns or () if name not in REQUIRED)]
    problems = Problems()
    questions: list[Question] = []
    groups: dict[str, list[str]] = {}
    group_of: dict[str, str] = {}
    lines: dict[str, int | None] = {}
    present: set[str] | None = None
    for entry in entries(path, [names[name] for name in needed], ADVICE, problems):
        if present is None:  # the first row tells which of the optional columns there are
            present = {name for name in COLUMNS if name in needed or names[name] in entry.values}
        values = {name: _text(entry, names[name]) if name in present else "" for name in COLUMNS}
        own = values["id"]
        if own and own in lines:
            entry.wrong(names["id"], f"an id of its own (line {lines[own]} has it)", own)
        lines.setdefault(own, entry.line)
        if all(values[name] for name in present):
            questions.append(Question(**{name: values[name] for name in COLUMNS if name != "group"}))
            if values["group"]:
                group_of[own] = values["group"]
                groups.setdefault(values["group"], []).append(own)
    problems.raise_if_any(ADVICE)
    if not questions:
        raise InputError(f"{path.name}: expected at least one question, got none. {ADVICE}")
    counts = Counter(
        {
            "questions": len(questions),
            "questions_repeated": len(questions) - len({one.question for one in questions}),
            "answers_repeated": len(questions) - len({one.answer for one in questions}),
            "groups": len(groups),
            "splits": len({one.split for one in questions if one.split}),
        }
    )
    apart = {own: groups[group] for own, group in group_of.items()}  # a group's questions share one list
    return Questions(tuple(questions), apart, {path.name: sha256_file(path)}, dict(sorted(counts.items())))


def _text(entry: Entry, column: str) -> str:
    """Take a text, or a whole number in its place, with single spaces."""
    given = entry.values.get(column)
    if isinstance(given, int) and not isinstance(given, bool):
        return str(given)
    return entry_text(entry, column)


def _is_causalchaos(path: Path) -> bool:
    """Look whether the first row has all the columns of the release."""
    first = next(entries(path, (), ADVICE, Problems()), None)
    return first is not None and set(CAUSALCHAOS.values()) <= first.values.keys()
