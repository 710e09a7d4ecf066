"""Wrong options out of the answers to other questions: hard negatives by sentence embeddings, or random ones.

Parmar et al. 2024, "CausalChaos!", §3.3 (Vanilla Hard Negative mining): of the ten questions nearest to the question at
hand, the answers are scored by α·cos(questions) · β·cos(answers), and the best four become options. A constant β would
only scale, so β counts where the answers are τ or more alike, which is what it is there for ("heavily penalises answers
with a high similarity").

Where we differ: an answer that says the same as the right one, or as an option taken before it, is never taken; nor is
one whose question says the same as the question at hand. When ten questions are too few, more are looked at.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError
from ..seeds import rng_for
from .search import nearest

Floats = NDArray[np.float32]
Cosines = NDArray[np.float64]
Rows = NDArray[np.int64]
Kind = Literal["answer", "explanation"]
Progress = Callable[[int, int], None]

COSINE_DIGITS = 4  # cosines are rounded before anything is decided, so that noise in the last places decides nothing
SCORE_DIGITS = 8
REACH = 4  # a search gives this many times top_k questions, so that widening seldom needs the whole pool
FEW = 64  # that many numbers are drawn one by one before a permutation of the pool is made

APOSTROPHES = re.compile("['’‘`´]")
MARKS = re.compile(r"[^\w\s]|_")


@dataclass(frozen=True)
class MiningSettings:
    """How wrong options are chosen.

    Attributes:
        negatives: "hard", or "random" as a baseline with the same exclusions.
        num_options: Options of a question, the right one included.
        top_k: How many of the nearest questions give candidates.
        alpha: Weight of the questions' cosine. It scales all scores alike, so it changes no choice.
        beta: Factor of a candidate that is tau or more like the right one.
        tau: From this cosine on, beta counts.
        same_question: From this cosine on, two questions ask the same, and neither lends its answer to the other.
        same_text: From this cosine on, two texts say the same, and are never options of one question.
    """

    negatives: Literal["hard", "random"] = "hard"
    num_options: int = 5
    top_k: int = 10
    alpha: float = 1.0
    beta: float = 0.001
    tau: float = 0.85
    same_question: float = 0.9
    same_text: float = 0.9

    def __post_init__(self) -> None:
        """Check the values.

        Raises:
            InputError: One of them makes no sense.
        """
        checks = {
            f"negatives is hard or random, not {self.negatives!r}": self.negatives in ("hard", "random"),
            f"num_options is 2 or more, not {self.num_options}": self.num_options >= 2,
            f"top_k is 1 or more, not {self.top_k}": self.top_k >= 1,
            f"alpha is above 0, not {self.alpha}": 0 < self.alpha < np.inf,
            f"beta is 0 to 1, not {self.beta}": 0 <= self.beta <= 1,
            f"tau is -1 to 1, not {self.tau}": -1 <= self.tau <= 1,
            f"same_question is above 0, not {self.same_question}": self.same_question > 0,
            f"same_text is above 0, not {self.same_text}": self.same_text > 0,
        }
        wrong = [text for text, good in checks.items() if not good]
        if wrong:
            raise InputError(f"{'; '.join(wrong)}. Mend the settings of the negatives.")


@dataclass(frozen=True)
class Item:
    """A question with its right answer, or with its explanation.

    Attributes:
        id: Unique.
        question: The question.
        text: The right option.
        pool: Items lend options to each other only inside a pool, such as a split.
    """

    id: str
    question: str
    text: str
    pool: str = ""


@dataclass(frozen=True)
class Negative:
    """A wrong option and where it comes from.

    Attributes:
        id: The question whose right option this is.
        text: The option.
        cos_question: Cosine of the two questions, rounded to four decimals.
        cos_text: Cosine of the two right options, likewise.
        score: What it was chosen by; for a random option what it would have got.
        kind: "hard", "random", or what later puts something else in its place.
    """

    id: str
    text: str
    cos_question: float
    cos_text: float
    score: float
    kind: str


@dataclass(frozen=True)
class Mined:
    """The wrong options of a question.

    Attributes:
        id: The question.
        negatives: The best first; fewer than wanted if the whole pool has no more.
        looked_at: How many questions were looked at: top_k, or more if these gave too few.
    """

    id: str
    negatives: tuple[Negative, ...]
    looked_at: int


@dataclass(frozen=True)
class Choice:
    """A question's options in their order.

    Attributes:
        options: The right option and the wrong ones.
        answer_index: Which is right.
        sources: Where each option comes from; None for the right one.
    """

    options: tuple[str, ...]
    answer_index: int
    sources: tuple[Negative | None, ...]


def text_key(text: str) -> str:
    """Fold what does not tell two texts apart: capitals, stops, apostrophes, spaces, a "because" in front."""
    words = MARKS.sub(" ", APOSTROPHES.sub("", text.casefold())).split()
    return " ".join(words[1:] if words[:1] == ["because"] and len(words) > 1 else words)


def arrange(right: str, negatives: Sequence[Negative], seed: int, item_id: str, kind: Kind) -> Choice:
    """Put the options in an order that is drawn for this question.

    Args:
        right: The right option.
        negatives: The wrong ones.
        seed: The dataset's seed.
        item_id: The question.
        kind: "answer" or "explanation"; each has its own order.

    Returns:
        The options; every place of the right one is equally likely.
    """
    sources: list[Negative | None] = [None, *negatives]
    order = rng_for(seed, "options", item_id, kind).permutation(len(sources)).tolist()
    placed = tuple(sources[place] for place in order)
    return Choice(tuple(source.text if source else right for source in placed), placed.index(None), placed)


def mine(
    items: Sequence[Item],
    questions: Floats,
    texts: Floats,
    settings: MiningSettings,
    *,
    seed: int = 0,
    kept_apart: Mapping[str, Sequence[str]] | None = None,
    ranked_by: Floats | None = None,
    progress: Progress | None = None,
) -> tuple[Mined, ...]:
    """Choose the wrong options of every item.

    Candidates come from the `top_k` questions of the pool with the largest cosine, equal ones by id (shorter first, so
    that numbers rise), without those that ask the same (`same_question`) or are kept apart. Their texts are scored by
    `alpha·cos_question · cos_text · (beta if cos_text >= tau else 1)`, cosines below 0 counting as 0, and taken from
    the best down, equal ones by cosine of the question, then id. Never taken is a text that says the same as the right
    one or as one taken before: equal but for case, stops and apostrophes, or with a cosine of `same_text` or more. If
    too few are left, the same is done with 2·top_k questions, then 4·top_k and so on, at last with the whole pool.

    Args:
        items: The questions; their order does not matter.
        questions: Embeddings of the questions, float32 of shape (items, dimensions), each of length 1.
        texts: Embeddings of the right options, likewise.
        settings: How to choose.
        seed: The dataset's seed; only random negatives depend on it.
        kept_apart: By id, the ids of items that must not lend their text, such as those on the same part of a video.
        ranked_by: Embeddings whose cosine scores the texts in place of their own. The released options of CausalChaos
            were ranked by their explanations, answers too.
        progress: Called with the tiles of the search that are done and all of them, for each pool anew.

    Returns:
        What was found for each item, in the order of `items`.

    Raises:
        InputError: Two items share an id.
    """
    if len({item.id for item in items}) < len(items):
        raise InputError("two questions share an id. Give each question an id of its own.")
    pools: dict[str, list[int]] = {}
    for place in sorted(range(len(items)), key=lambda place: (len(items[place].id), items[place].id)):
        pools.setdefault(items[place].pool, []).append(place)
    found: dict[int, Mined] = {}
    for places in pools.values():
        pool = _gather(
            [items[place] for place in places],
            questions[places],
            texts[places],
            texts[places] if ranked_by is None else ranked_by[places],
            settings,
            kept_apart or {},
        )
        mined = pool.random(seed) if settings.negatives == "random" else pool.hard(progress)
        found |= dict(zip(places, mined, strict=True))
    return tuple(found[place] for place in range(len(items)))


@dataclass(frozen=True, eq=False)
class _Pool:
    """Items that lend each other options, in the order of their ids.

    Attributes:
        items: The items; an item's place is its row.
        keys: Their texts, folded.
        apart: The rows that each item is kept apart from.
        texts: Embeddings of their texts.
        ranking: Embeddings that score.
        asked: Embeddings of the distinct questions: rows that ask with the same words share one, and its search.
        rows_of: The rows that ask a distinct question, rising.
        question_of: The distinct question of each row.
        settings: How to choose.
    """

    items: Sequence[Item]
    keys: Sequence[str]
    apart: Sequence[frozenset[int]]
    texts: Floats
    ranking: Floats
    asked: Floats
    rows_of: Sequence[Rows]
    question_of: Rows
    settings: MiningSettings

    def hard(self, progress: Progress | None) -> Iterator[Mined]:
        """Give the hard negatives of each row."""
        reach = REACH * self.settings.top_k
        near, _ = nearest(self.asked, reach, below=self._limit, progress=progress)
        for row in range(len(self.items)):
            number = int(self.question_of[row])
            others = near[number][near[number] >= 0].astype(np.int64)
            # A search that gave less than was asked for has given all that there is.
            yield self._hard(row, self._candidates(number, others), whole=len(others) < reach)

    def _hard(self, row: int, candidates: tuple[Rows, Cosines], whole: bool) -> Mined:
        rows, cosines = self._without_apart(row, *candidates)
        count = self.settings.top_k
        while True:
            if count > len(rows) and not whole:
                number = int(self.question_of[row])
                every = np.delete(np.arange(len(self.rows_of)), number)
                rows, cosines = self._without_apart(row, *self._candidates(number, every))
                whole = True
            taken = self._best(row, rows[:count], cosines[:count])
            if len(taken) == self._need or (whole and count >= len(rows)):
                return Mined(self.items[row].id, taken, min(count, len(rows)))
            count *= 2

    def random(self, seed: int) -> Iterator[Mined]:
        """Draw the negatives of each row from all that may be taken."""
        for row, item in enumerate(self.items):
            taken: dict[int, Negative] = {}
            looked_at = 0
            for other in _drawn(rng_for(seed, "random_negatives", item.id), len(self.items)):
                if len(taken) == self._need:
                    break
                looked_at += 1
                if other == row or other in self.apart[row]:
                    continue
                cos_question = _cosine(self.asked[self.question_of[other]], self.asked[self.question_of[row]])
                if self._limit is not None and cos_question >= self._limit:
                    continue
                if not any(self._says_the_same(one, other) for one in (row, *taken)):
                    score = self._score(cos_question, _cosine(self.ranking[other], self.ranking[row]))
                    taken[other] = self._negative(row, other, cos_question, float(score))
            yield Mined(item.id, tuple(taken.values()), looked_at)

    @property
    def _need(self) -> int:
        return self.settings.num_options - 1

    @property
    def _limit(self) -> float | None:
        return self.settings.same_question if self.settings.same_question <= 1 else None

    def _candidates(self, number: int, others: Rows) -> tuple[Rows, Cosines]:
        """Give the rows that ask other questions, and the cosines: falling, equal ones by id."""
        cosines = _cosines(self.asked[others], self.asked[number])
        if self._limit is None:  # then rows with the very same question count as well
            others, cosines = np.append(others, number), np.append(cosines, 1.0)
        else:
            others, cosines = others[cosines < self._limit], cosines[cosines < self._limit]
        members = [self.rows_of[other] for other in others]
        rows = np.concatenate([np.empty(0, np.int64), *members])
        repeated = np.repeat(cosines, [len(some) for some in members])
        order = np.lexsort((rows, -repeated))
        return rows[order], repeated[order]

    def _without_apart(self, row: int, rows: Rows, cosines: Cosines) -> tuple[Rows, Cosines]:
        apart = self.apart[row]
        kept = rows != row
        if apart:
            kept &= np.fromiter((other not in apart for other in rows.tolist()), np.bool_, len(rows))
        return rows[kept], cosines[kept]

    def _best(self, row: int, rows: Rows, cosines: Cosines) -> tuple[Negative, ...]:
        scores = self._score(cosines, _cosines(self.ranking[rows], self.ranking[row]))
        same = _cosines(self.texts[rows], self.texts[row]) >= self.settings.same_text
        taken: dict[int, Negative] = {}
        for place in np.lexsort((rows, -cosines, -scores)).tolist():
            other = int(rows[place])
            if len(taken) == self._need:
                break
            if same[place] or self.keys[other] == self.keys[row]:
                continue
            if not any(self._says_the_same(one, other) for one in taken):
                taken[other] = self._negative(row, other, float(cosines[place]), float(scores[place]))
        return tuple(taken.values())

    def _score(self, cos_question: Cosines | float, cos_text: Cosines | float) -> Cosines:
        penalty = np.where(np.asarray(cos_text) >= self.settings.tau, self.settings.beta, 1.0)
        product = self.settings.alpha * np.maximum(cos_question, 0) * np.maximum(cos_text, 0) * penalty
        rounded: Cosines = np.round(product, SCORE_DIGITS)
        return rounded

    def _says_the_same(self, one: int, other: int) -> bool:
        return self.keys[one] == self.keys[other] or (
            _cosine(self.texts[one], self.texts[other]) >= self.settings.same_text
        )

    def _negative(self, row: int, other: int, cos_question: float, score: float) -> Negative:
        item = self.items[other]
        cos_text = _cosine(self.texts[other], self.texts[row])
        return Negative(
            item.id, item.text, round(cos_question, COSINE_DIGITS), cos_text, score, self.settings.negatives
        )


def _cosines(vectors: Floats, vector: Floats) -> Cosines:
    """Give the cosines of many vectors with one, rounded."""
    rounded: Cosines = np.round(vectors.astype(np.float64) @ vector.astype(np.float64), COSINE_DIGITS)
    return rounded


def _cosine(one: Floats, other: Floats) -> float:
    return float(_cosines(one[None], other)[0])


def _drawn(rng: np.random.Generator, size: int) -> Iterator[int]:
    """Draw every number below `size` once, in random order; the first ones without a permutation of all."""
    seen: set[int] = set()
    for number in rng.integers(0, size, FEW).tolist():
        if number not in seen:
            seen.add(number)
            yield number
    yield from (number for number in rng.permutation(size).tolist() if number not in seen)


def _gather(
    items: Sequence[Item],
    questions: Floats,
    texts: Floats,
    ranking: Floats,
    settings: MiningSettings,
    kept_apart: Mapping[str, Sequence[str]],
) -> _Pool:
    row_of = {item.id: row for row, item in enumerate(items)}
    asked: dict[str, list[int]] = {}
    for row, item in enumerate(items):
        asked.setdefault(item.question, []).append(row)
    # Items may share one list, as those of a large group do; then they share the set that it becomes.
    lists = [kept_apart.get(item.id, ()) for item in items]
    sets = {id(some): some for some in lists}
    apart = {key: frozenset(row_of[one] for one in some if one in row_of) for key, some in sets.items()}
    question_of = np.empty(len(items), np.int64)
    for number, rows in enumerate(asked.values()):
        question_of[rows] = number
    return _Pool(
        items=items,
        keys=[text_key(item.text) for item in items],
        apart=[apart[id(some)] for some in lists],
        texts=texts,
        ranking=ranking,
        asked=questions[[rows[0] for rows in asked.values()]],
        rows_of=[np.array(rows, np.int64) for rows in asked.values()],
        question_of=question_of,
        settings=settings,
    )
