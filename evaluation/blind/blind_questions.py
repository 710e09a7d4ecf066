"""Represent questions with their options as arrays for blind baselines, and load them from a user's file."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...core.documents import shortened
from ...core.errors import InputError, UsageError
from ...core.numerics import digest_for
from ...language.words import text_key
from ..metrics.answers import YES_NO
from ..metrics.items import COLUMNS, INDEX, Items, given_options, options_of, read_questions, right_option

TRUE, FALSE = ("true", "1", "yes"), ("false", "0", "no")

Floats = NDArray[np.float64]
Vectors = NDArray[np.float32]
Embed = Callable[[Sequence[str]], Vectors]
"""Function that embeds texts, and returns float32 unit vectors of shape (texts, dimensions)."""
Table = tuple[str, str]
"""Config and split of questions, each "" if the file does not state it."""


@dataclass(frozen=True)
class BlindQuestion:
    """A question with its options.

    Attributes:
        id: Id that is unique within an audit.
        options: The options, or "no" and "yes" for a yes/no question.
        source: The source video. If it is "" (unknown), the question counts as its own source.
        kind: Kind of a yes/no question, such as its template. Some baselines are trained for each kind.
        part: Type of options, such as "answer" or "explanation", if a question has several sets.
        balanced: Whether the question is in the balanced subset, or None if there is no such subset.
    """

    id: str
    question: str
    options: tuple[str, ...]
    right: int
    source: str = ""
    kind: str = ""
    part: str = ""
    balanced: bool | None = None

    @property
    def cluster(self) -> str:
        """The source video, or the question itself if the source is unknown."""
        return self.source or self.id

    @property
    def yes_no(self) -> bool:
        """Whether the options are "yes" and "no"."""
        return sorted(option.casefold() for option in self.options) == sorted(YES_NO)


def blind_questions(items: Items, kinds: Sequence[str] | None = None) -> list[BlindQuestion]:
    """Return the items that have options and a known correct option."""
    return [
        BlindQuestion(name, text, tuple(options), int(right), source, kind or "")
        for name, text, options, right, source, kind in zip(
            items.ids,
            items.texts,
            items.options,
            items.truth,
            items.sources,
            kinds or [""] * len(items.ids),
            strict=True,
        )
        if right >= 0 and len(options) > 1
    ]


@dataclass(frozen=True, eq=False)
class Arranged:
    """Questions sorted by id, with their options in a random order, so that baselines cannot use the original order.

    The order depends on the texts of the options. Ties between options are therefore resolved at random.

    Attributes:
        order: Original index of the option at each position, or -1, shape (questions, most options).
        exists: Whether each option exists, shape (questions, most options).
        keys: Options normalized by `text_key`, or "", shape (questions, most options).
        right: Position of the correct option, shape (questions,).
    """

    questions: tuple[BlindQuestion, ...]
    order: NDArray[np.int64]
    exists: NDArray[np.bool_]
    keys: NDArray[np.str_]
    right: NDArray[np.int64]

    def take(self, rows: NDArray[np.int64]) -> Arranged:
        """Return only the questions with these indices."""
        questions = tuple(self.questions[row] for row in rows.tolist())
        return Arranged(questions, self.order[rows], self.exists[rows], self.keys[rows], self.right[rows])

    def texts(self) -> list[list[str]]:
        """Return the options of each question in the random order."""
        return [
            [question.options[number] for number in numbers if number >= 0]
            for question, numbers in zip(self.questions, self.order.tolist(), strict=True)
        ]

    def as_array(self, values: Sequence[float] | Floats) -> Floats:
        """Convert the values of all existing options to an array that is 0 for missing options."""
        array = np.zeros(self.exists.shape)
        array[self.exists] = values
        return array

    def labels(self) -> NDArray[np.int64]:
        """Return 1 for each correct option and 0 for each distractor, shape (existing options,)."""
        labels = np.zeros(self.exists.shape, np.int64)
        labels[np.arange(len(self.right)), self.right] = 1
        return labels[self.exists]

    def original(self, positions: NDArray[np.int64]) -> NDArray[np.int64]:
        """Convert positions in the random order to original indices of options."""
        return self.order[np.arange(len(self.order)), positions]


def arrange(questions: Sequence[BlindQuestion]) -> Arranged:
    """Sort questions by id, and put the options of each in a random order."""
    rows = tuple(sorted(questions, key=lambda question: question.id))
    most = max((len(question.options) for question in rows), default=0)
    order = np.full((len(rows), most), -1, np.int64)
    keys = [[""] * most for _ in rows]
    for row, question in enumerate(rows):
        digests = [digest_for(0, "blind", question.id, option) for option in question.options]
        drawn = sorted(range(len(digests)), key=digests.__getitem__)
        order[row, : len(drawn)] = drawn
        keys[row][: len(drawn)] = [text_key(question.options[index]) for index in drawn]
    right = [order[row].tolist().index(question.right) for row, question in enumerate(rows)]
    return Arranged(rows, order, order >= 0, np.array(keys, dtype=np.str_), np.array(right, np.int64))


@dataclass(frozen=True, eq=False)
class Embedded:
    """Embeddings of arranged questions and of their options.

    Attributes:
        questions: float32 of shape (questions, dimensions).
        options: float32 of shape (questions, most options, dimensions); zeros for missing options.
    """

    questions: Vectors
    options: Vectors


def remembering(embed: Embed) -> Embed:
    """Return an embedding function that caches the embedding of each text."""
    known: dict[str, Vectors] = {}

    def embed_once(texts: Sequence[str]) -> Vectors:
        new = [text for text in dict.fromkeys(texts) if text not in known]
        if new:
            known.update(zip(new, embed(new), strict=True))
        return np.stack([known[text] for text in texts])

    return embed_once


def embedded(rows: Arranged, embed: Embed) -> Embedded:
    """Embed the questions and options. Each distinct text is embedded once."""
    options = [text for texts in rows.texts() for text in texts]
    texts = list(dict.fromkeys([question.question for question in rows.questions] + options))
    number = {text: place for place, text in enumerate(texts)}
    vectors = embed(texts)
    of_options = np.zeros((*rows.exists.shape, vectors.shape[1]), np.float32)
    of_options[rows.exists] = vectors[[number[text] for text in options]]
    return Embedded(vectors[[number[question.question] for question in rows.questions]], of_options)


def read_blind_questions(
    path: Path, columns: Mapping[str, str] | None = None, first: int = 0
) -> dict[Table, list[BlindQuestion]]:
    """Load multiple-choice questions from a file of rows.

    Args:
        path: File with `id`, `question`, `options` (or a0, a1, …; without options, answers are yes or no) and `answer`
            (or `answer_index`); optionally `source`, `split`, `config`, `kind`, `part`, `blind_guessable`, and
            `explanation_options` with `explanation_index`, as written by `stressreel mine`.
        columns: Names of columns in the file that differ from those in `items.COLUMNS`.
        first: Index of the first option in numeric answers. `answer_index` always counts from 0.

    Returns:
        The questions by config and split, in file order.

    Raises:
        UsageError: The file does not exist, or `columns` has an unknown key.
        InputError: The file cannot be read, or a row has no id or correct option.
    """
    if not path.exists():
        raise UsageError(f"{path} does not exist. Pass the output of a build, or a file with your own questions.")
    questions: dict[Table, list[BlindQuestion]] = {}
    for number, row in enumerate(read_questions(path, columns).rows, 1):
        values = {name: _first_value(row, names) for name, names in COLUMNS.items()}
        if not _text(values["id"]):
            raise InputError(f"{path}: row {number} has no id. Ids are read from {', '.join(COLUMNS['id'])}.")
        table = (_text(values["config"]), _text(values["split"]))
        questions.setdefault(table, []).extend(_of_row(path, row, values, first))
    return questions


def _of_row(path: Path, row: Mapping[str, Any], values: Mapping[str, Any], first: int) -> list[BlindQuestion]:
    """Return the question of a row, or its questions about the answer and about the explanation."""
    name = _text(values["id"])
    guessable = _flag(path, name, values["blind_guessable"])
    explained = values["explanation_options"] is not None
    written = given_options({**row, "options": values["options"]})
    if written is None and values["question"] is None:
        raise InputError(f"{path}: {name!r} has neither a question nor options. A file of predictions is not enough.")
    options = options_of(written, path, name)
    answers = COLUMNS["answer"]
    answer = next((column for column in answers if row.get(column) not in (None, "")), None)
    if answer is None:
        raise InputError(f"{path}: {name!r} has no correct answer. Answers are read from {', '.join(answers)}.")
    _refuse_one_option(path, name, options)
    question = BlindQuestion(
        id=name,
        question=_text(values["question"]),
        options=options,
        right=right_option(row, answer, options, f"{path}: {name!r}", first=first),
        source=_text(values["source"]),
        kind=_text(values["kind"]),
        part=_text(values["part"]) or ("answer" if explained else ""),
        balanced=None if guessable is None else not guessable,
    )
    if not explained:
        return [question]
    options = options_of(values["explanation_options"], path, name)
    _refuse_one_option(path, name, options)
    index = {INDEX: values["explanation_index"]}
    right = right_option(index, INDEX, options, f"{path}: the explanation of {name!r}")
    return [question, replace(question, options=options, right=right, part="explanation")]


def _first_value(row: Mapping[str, Any], names: Sequence[str]) -> Any:
    return next((row[name] for name in names if row.get(name) not in (None, "")), None)


def _text(value: Any) -> str:
    return "" if value is None else str(value).strip()


def _refuse_one_option(path: Path, name: str, options: Sequence[str]) -> None:
    if len(options) < 2:
        raise InputError(f"{path}: {name!r} has one option; at least two are needed.")


def _flag(path: Path, name: str, value: Any) -> bool | None:
    if value is None:
        return None
    text = str(value).casefold()
    if text not in (*TRUE, *FALSE):
        raise InputError(f"{path}: blind_guessable of {name!r} is {shortened(value)}; expected true or false.")
    return text in TRUE
