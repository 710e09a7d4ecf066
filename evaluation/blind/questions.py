"""Represent questions with their options as arrays for blind baselines."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...core.seeds import digest_for
from ...language.text_key import text_key
from ..metrics.answers import YES_NO
from ..metrics.items import Items

Floats = NDArray[np.float64]
Vectors = NDArray[np.float32]
Embed = Callable[[Sequence[str]], Vectors]
"""Function that embeds texts, and returns float32 unit vectors of shape (texts, dimensions)."""


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
        there: Whether each option exists, shape (questions, most options).
        keys: Options normalized by `text_key`, or "", shape (questions, most options).
        right: Position of the correct option, shape (questions,).
    """

    asked: tuple[BlindQuestion, ...]
    order: NDArray[np.int64]
    there: NDArray[np.bool_]
    keys: NDArray[np.str_]
    right: NDArray[np.int64]

    def take(self, rows: NDArray[np.int64]) -> Arranged:
        """Return only the questions with these indices."""
        some = tuple(self.asked[row] for row in rows.tolist())
        return Arranged(some, self.order[rows], self.there[rows], self.keys[rows], self.right[rows])

    def texts(self) -> list[list[str]]:
        """Return the options of each question in the random order."""
        return [
            [asked.options[number] for number in numbers if number >= 0]
            for asked, numbers in zip(self.asked, self.order.tolist(), strict=True)
        ]

    def spread(self, values: Sequence[Sequence[float]]) -> Floats:
        """Convert lists of values per option to an array that is 0 for missing options."""
        return self.placed([value for row in values for value in row])

    def placed(self, values: Sequence[float] | Floats) -> Floats:
        """Convert the values of all existing options to an array that is 0 for missing options."""
        found = np.zeros(self.there.shape)
        found[self.there] = values
        return found

    def labels(self) -> NDArray[np.int64]:
        """Return 1 for each correct option and 0 for each distractor, shape (existing options,)."""
        found = np.zeros(self.there.shape, np.int64)
        found[np.arange(len(self.right)), self.right] = 1
        return found[self.there]

    def given(self, places: NDArray[np.int64]) -> NDArray[np.int64]:
        """Convert positions in the random order to original indices of options."""
        return self.order[np.arange(len(self.order)), places]


def arrange(asked: Sequence[BlindQuestion]) -> Arranged:
    """Sort questions by id, and put the options of each in a random order."""
    rows = tuple(sorted(asked, key=lambda one: one.id))
    most = max((len(one.options) for one in rows), default=0)
    order = np.full((len(rows), most), -1, np.int64)
    keys = [[""] * most for _ in rows]
    for row, one in enumerate(rows):
        drawn = sorted(range(len(one.options)), key=lambda place: digest_for(0, "blind", one.id, one.options[place]))
        order[row, : len(drawn)] = drawn
        keys[row][: len(drawn)] = [text_key(one.options[place]) for place in drawn]
    right = [order[row].tolist().index(one.right) for row, one in enumerate(rows)]
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

    def found(texts: Sequence[str]) -> Vectors:
        new = [text for text in dict.fromkeys(texts) if text not in known]
        if new:
            known.update(zip(new, embed(new), strict=True))
        return np.stack([known[text] for text in texts])

    return found


def embedded(rows: Arranged, embed: Embed) -> Embedded:
    """Embed the questions and options. Each distinct text is embedded once."""
    options = [text for texts in rows.texts() for text in texts]
    texts = list(dict.fromkeys([one.question for one in rows.asked] + options))
    place = {text: number for number, text in enumerate(texts)}
    vectors = embed(texts)
    found = np.zeros((*rows.there.shape, vectors.shape[1]), np.float32)
    found[rows.there] = vectors[[place[text] for text in options]]
    return Embedded(vectors[[place[one.question] for one in rows.asked]], found)
