"""Represent questions and their distractors, write all options in one style, and order them."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core.numerics import digest_for, rng_for
from ..language.words import name_pattern, with_capital

Floats = NDArray[np.float32]
Doubles = NDArray[np.float64]
Indices = NDArray[np.int64]
Flags = NDArray[np.bool_]
Embed = Callable[[Sequence[str]], Floats]
"""Returns the embeddings of texts: float32 of shape (texts, dimensions), each of length 1."""

COSINE_DIGITS = 4  # digits of cosines used in decisions, so that rounding errors have no effect
ROOM = 1.5e-4  # tolerance for a cosine rounded to four decimals on another processor
REFUSALS = {
    "about the same part of a video": "--no-keep-apart",
    "asking the same": "a higher --same-question",
    "right in train": "--pool all",
    "saying the same": "a higher --same-text",
}
"""Why questions of the pool are no donors, and the option that changes it."""
BECAUSE = re.compile(r"^\W*because\s+(?!of\b)", re.IGNORECASE)
ENDINGS = re.compile(r"[\s.!,;:…]+$")
SPACES = re.compile(r"\s+")
MARK = re.compile(r"\s+([,.;:!?])")


@dataclass(frozen=True)
class QuestionRow:
    """A question with its correct texts.

    Attributes:
        texts: Correct texts by target: "answer", and "explanation" if there is one.
        pool: Pool, such as a split; unchanged texts are borrowed only within a pool.
        group: Group of related questions, such as those of a video.
        splits: Split in each division of the questions.
    """

    id: str
    question: str
    texts: Mapping[str, str]
    pool: str = ""
    group: str = ""
    splits: tuple[str, ...] = ("",)


@dataclass(frozen=True)
class Negative:
    """A distractor, with its source and scores.

    Attributes:
        id: Id of the question whose correct text this is, or from which it was derived.
        text: The distractor.
        cos_question: Cosine of the two questions, rounded to four decimals.
        cos_text: Cosine with the correct text, rounded to four decimals.
        score: Score by which the distractor was chosen; for random distractors, the score that it would have had.
        kind: "hard", "carried" (adapted from another question), "random", "negation" or "swap".
    """

    id: str
    text: str
    cos_question: float
    cos_text: float
    score: float
    kind: str


@dataclass(frozen=True)
class Mined:
    """The distractors that were found for a question.

    Attributes:
        negatives: Distractors, best first; fewer than requested if the pool is too small.
        looked_at: Number of candidates considered.
        refused: If there are too few, the number of pool items that each rule of `REFUSALS` excluded.
    """

    id: str
    negatives: tuple[Negative, ...]
    looked_at: int
    refused: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class MinedOptions:
    """The distractors of all questions.

    Attributes:
        texts: Correct texts as written among the options, by target and id.
        mined: Distractors by target, in the order of the questions.
        guessable: Questions outside the balanced subset of each division; empty if options are not balanced.
    """

    texts: Mapping[str, Mapping[str, str]]
    mined: Mapping[str, Sequence[Mined]]
    guessable: tuple[frozenset[str], ...] = ()


@dataclass(frozen=True)
class EarlierOptions:
    """Distractors that were chosen on another machine, where rounding may change a choice.

    They replace those chosen here if the rules of the choice allow them on a machine that rounds differently.

    Attributes:
        negatives: Distractors in the order of their choice, by target and id.
        guessable: Questions outside the balanced subset.
    """

    negatives: Mapping[str, Mapping[str, Sequence[Negative]]]
    guessable: frozenset[str]


@dataclass(frozen=True)
class OptionSet:
    """The options of a question in their final order.

    Attributes:
        options: The correct option and the distractors.
        answer_index: Position of the correct option.
        sources: Source of each distractor; None for the correct option.
    """

    options: tuple[str, ...]
    answer_index: int
    sources: tuple[Negative | None, ...]


def even_places(ids: Sequence[str], options: int, seed: int, kind: str) -> dict[str, int]:
    """Choose a position of the correct option for each question so that all positions are equally frequent (±1).

    Args:
        ids: Ids of the questions of one split, in any order.
        options: Number of options per question.
        seed: The dataset's seed.
        kind: Key of the random numbers, such as "ud/answer".
    """
    drawn = sorted(ids, key=lambda name: digest_for(seed, "places", kind, name))
    return {name: rank % options for rank, name in enumerate(drawn)}


def arrange(
    right: str, negatives: Sequence[Negative], seed: int, item_id: str, kind: str, position: int | None = None
) -> OptionSet:
    """Shuffle the options of a question.

    Args:
        right: The correct option.
        negatives: The distractors.
        seed: The dataset's seed.
        item_id: Id of the question.
        kind: "answer" or "explanation", which are shuffled independently.
        position: Position of the correct option; uniformly random if None or out of range.
    """
    sources: list[Negative | None] = [None, *negatives]
    placed = tuple(sources[index] for index in shuffled(len(sources), seed, item_id, kind, position))
    return OptionSet(tuple(source.text if source else right for source in placed), placed.index(None), placed)


def shuffled(options: int, seed: int, item_id: str, kind: str, position: int | None = None) -> list[int]:
    """Return which option is at each position: 0 is the correct one, and 1 the first distractor; see `arrange`."""
    order: list[int] = rng_for(seed, "options", item_id, kind).permutation(options).tolist()
    if position is not None and position < len(order):
        order.remove(0)
        order.insert(position, 0)
    return order


def option_sets(
    rows: Sequence[QuestionRow], mined_options: MinedOptions, settings: Any, draw: str = "", division: int = 0
) -> dict[str, dict[str, OptionSet]]:
    """Return the options of each question in order, by target and id.

    Correct options of balanced questions occur equally often at each position within a split of a division.

    `draw` is a prefix for the keys of random numbers, such as "ud/".
    """
    sets: dict[str, dict[str, OptionSet]] = {}
    for kind, mined in mined_options.mined.items():
        places: dict[str, int] = {}
        if mined_options.guessable:
            for split in {row.splits[division] for row in rows}:
                ids = [row.id for row in rows if row.splits[division] == split]
                places |= even_places(ids, settings.num_options, settings.seed, draw + kind)
        sets[kind] = {
            distractors.id: arrange(
                mined_options.texts[kind][distractors.id],
                distractors.negatives,
                settings.seed,
                distractors.id,
                kind,
                places.get(distractors.id),
            )
            for distractors in mined
        }
    return sets


def plain_style(text: str, names: tuple[str, ...] = ()) -> str:
    """Capitalize only the first letter and the names in a text; remove "because" from its start and a final period.

    Returns:
        The text, unchanged if the result would be empty.
    """
    styled = ENDINGS.sub("", BECAUSE.sub("", SPACES.sub(" ", text.replace("’", "'")).strip()))
    styled = in_lower_case(MARK.sub(r"\1", styled))
    return with_capital(as_in_cast(styled, names)) if styled else text


def in_lower_case(text: str) -> str:
    """Write a text of several words in lower case if it is all in capitals."""
    return text.lower() if text.isupper() and " " in text else text


def as_in_cast(text: str, names: tuple[str, ...]) -> str:
    """Write the names in a text as they are written in the cast."""
    pattern = name_pattern(names)
    if pattern is None:
        return text
    written = {name.lower(): name for name in names}
    return pattern.sub(lambda match: written.get(" ".join(match[0].lower().split()), match[0]), text)
