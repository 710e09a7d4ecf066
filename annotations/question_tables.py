"""Load questions and their correct answers for `stressreel mine`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..core.errors import InputError
from ..core.files import sha256_file
from ..core.tabular import Columns, Row, folded, read_rows
from .causalchaos import COLUMNS as CAUSALCHAOS
from .causalchaos import entry_text, overlaps, read_causalchaos
from .entries import Entry, Problems, entries

COLUMNS = ("id", "question", "answer", "explanation", "group", "split")
REQUIRED = ("id", "question", "answer")
ADVICE = (
    "Each row is a question. Required columns: id, question and answer. Optional columns: explanation, group (rows of "
    "a group are never distractors of one another), and split. For other column names, use --columns, such as "
    "--columns answer=A."
)


@dataclass(frozen=True)
class Question:
    """A question with its correct answer. `explanation` and `split` are empty if the dataset does not provide them."""

    id: str
    question: str
    answer: str
    explanation: str
    split: str


@dataclass(frozen=True)
class Questions:
    """The questions of a dataset, in file order.

    Attributes:
        kept_apart: For each question id, the questions whose answers must not serve as distractors because they belong
            to the same group or to overlapping parts of a video.
        hashes: SHA-256 of the file, by name.
        counts: Totals and tolerated errors, by name.
        framed: Whether the questions are about parts of a video, given by frame numbers.
    """

    questions: tuple[Question, ...]
    kept_apart: Mapping[str, Sequence[str]]
    hashes: dict[str, str]
    counts: dict[str, int]
    framed: bool = False


def read_questions(path: Path, columns: Mapping[str, str] | None = None, apart_frames: int = 0) -> Questions:
    """Load questions from a file of rows, which may have the layout of CausalChaos' `Annotations.csv`.

    Explanations and splits must be given for all questions or for none.

    Args:
        path: File in any format of `core.tabular`. Other columns are ignored.
        columns: Column names that differ from the default.
        apart_frames: Parts of a video with fewer frames between them are treated as overlapping.

    Raises:
        InputError: The file has another format, contains no questions, or has malformed rows (all are listed).
    """
    rows = read_rows(path, Problems().row_format(path))
    first = next(rows, Row({}, ()))
    if not columns and {folded(name) for name in CAUSALCHAOS.values()} <= {folded(name) for name in first.names}:
        read = read_causalchaos(path)
        listed = tuple(Question(row.qid, row.question, row.answer, row.explanation, "") for row in read.rows)
        return Questions(listed, overlaps(read.rows, apart_frames), read.hashes, read.counts, framed=True)
    problems = Problems()
    questions: list[Question] = []
    groups: dict[str, list[str]] = {}
    group_of: dict[str, str] = {}
    lines: dict[str, int | None] = {}
    present: list[str] = []
    known = Columns.of(COLUMNS, (*REQUIRED, *(columns or ())), columns, ADVICE)
    for entry in entries(path, known, problems):
        if not present:  # the first row determines which optional columns exist
            present = [name for name in COLUMNS if name in REQUIRED or name in entry.values]
        values = {name: _text(entry, name) if name in present else "" for name in COLUMNS}
        identity = values["id"]
        if identity and identity in lines:
            entry.wrong("id", f"a unique id (line {lines[identity]} has the same)", identity)
        lines.setdefault(identity, entry.line)
        if all(values[name] for name in present):
            questions.append(Question(**{name: values[name] for name in COLUMNS if name != "group"}))
            if values["group"]:
                group_of[identity] = values["group"]
                groups.setdefault(values["group"], []).append(identity)
    problems.raise_if_any(ADVICE)
    if not questions:
        raise InputError(f"{path.name}: expected at least one question, got none. {ADVICE}")
    counts = {
        "answers_repeated": len(questions) - len({question.answer for question in questions}),
        "groups": len(groups),
        "questions": len(questions),
        "questions_repeated": len(questions) - len({question.question for question in questions}),
        "splits": len({question.split for question in questions if question.split}),
    }
    apart = {identity: groups[group] for identity, group in group_of.items()}  # questions of a group share one list
    return Questions(tuple(questions), apart, {path.name: sha256_file(path)}, counts)


def _text(entry: Entry, column: str) -> str:
    value = entry.values.get(column)
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    return entry_text(entry, column)
