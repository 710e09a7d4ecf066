"""Wrong options out of the answers to other questions: hard negatives by sentence embeddings, or random ones.

Parmar et al. 2024, "CausalChaos!", §3.3 (Vanilla Hard Negative mining): of the ten questions nearest to the question at
hand, the answers are scored by α·cos(questions) · β·cos(answers), and the best four become options. A constant β would
only scale, so β counts where the answers are τ or more alike, which is what it is there for ("heavily penalises answers
with a high similarity").

Where we differ: an answer that says the same as the right one, or as an option taken before it, is never taken; nor is
one whose question says the same as the question at hand. No answer lends much more often than the others, or else the
option that is rarest among all options would be the right one. When ten questions are too few, more are looked at.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from heapq import heappop, heappush

import numpy as np
from numpy.typing import NDArray

from ..core.errors import InputError
from ..core.progress import tracked
from ..core.seeds import digest_for, rng_for
from ..language.text_key import text_key
from .content_words import content_words, says_no_more
from .search import Indices, nearest
from .settings import MiningSettings

Floats = NDArray[np.float32]
Cosines = NDArray[np.float64]
Rows = NDArray[np.int64]
Draws = NDArray[np.uint64]

COSINE_DIGITS = 4  # cosines are rounded before anything is decided, so that noise in the last places decides nothing
SCORE_DIGITS = 8
JITTER = 1e-9  # below the last digit of a score: of equal offers a seeded draw decides
REACH = 4  # a search gives this many times top_k questions, so that widening seldom needs the whole pool
FAR = 16  # who finds nothing among this many times top_k questions that may still lend goes over the limit
FEW = 64  # that many numbers are drawn one by one before a permutation of the pool is made

REFUSALS = {
    "about the same part of a video": "--no-keep-apart",
    "asking the same": "a higher --same-question",
    "right in train": "--pool all",
    "saying the same": "a higher --same-text",
}
"""Why questions of the pool lend nothing, and what changes it."""


@dataclass(frozen=True)
class Item:
    """A question with its right answer, or with its explanation.

    Attributes:
        id: Unique.
        question: The question.
        text: The right option.
        pool: Items lend options to each other only inside a pool, such as a split.
        lends: Whether its text may be an option of others.
    """

    id: str
    question: str
    text: str
    pool: str = ""
    lends: bool = True


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
        refused: If it has fewer than wanted, how many of the pool each rule kept from it; see `REFUSALS`.
    """

    id: str
    negatives: tuple[Negative, ...]
    looked_at: int
    refused: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class MinedOptions:
    """The wrong options of all questions.

    Attributes:
        texts: By kind and id, the right options as they stand among the wrong ones.
        mined: By kind, the wrong ones in the order of the questions.
        guessable: The questions outside of the balanced subset; None where options are not balanced.
    """

    texts: Mapping[str, Mapping[str, str]]
    mined: Mapping[str, Sequence[Mined]]
    guessable: frozenset[str] | None = None


@dataclass(frozen=True)
class OptionSet:
    """A question's options in their order.

    Attributes:
        options: The right option and the wrong ones.
        answer_index: Which is right.
        sources: Where each option comes from; None for the right one.
    """

    options: tuple[str, ...]
    answer_index: int
    sources: tuple[Negative | None, ...]


def even_places(ids: Sequence[str], options: int, seed: int, kind: str) -> dict[str, int]:
    """Return the place of the right option of each question: each place equally often, but for a remainder.

    Args:
        ids: The questions of one split; their order does not matter.
        options: Options of a question.
        seed: The dataset's seed.
        kind: What is asked, such as "ud/answer".
    """
    drawn = sorted(ids, key=lambda name: digest_for(seed, "places", kind, name))
    return {name: number % options for number, name in enumerate(drawn)}


def arrange(
    right: str, negatives: Sequence[Negative], seed: int, item_id: str, kind: str, place: int | None = None
) -> OptionSet:
    """Put the options in an order that is drawn for this question.

    Args:
        right: The right option.
        negatives: The wrong ones.
        seed: The dataset's seed.
        item_id: The question.
        kind: "answer" or "explanation"; each has its own order.
        place: Where the right option is to stand; by default it is drawn too, and so is where there is no such place.

    Returns:
        The options; every place of the right one is equally likely.
    """
    sources: list[Negative | None] = [None, *negatives]
    order = rng_for(seed, "options", item_id, kind).permutation(len(sources)).tolist()
    if place is not None and place < len(order):
        order.remove(0)
        order.insert(place, 0)
    placed = tuple(sources[number] for number in order)
    return OptionSet(tuple(source.text if source else right for source in placed), placed.index(None), placed)


def mine(
    items: Sequence[Item],
    questions: Floats,
    texts: Floats,
    settings: MiningSettings,
    *,
    seed: int = 0,
    kept_apart: Mapping[str, Sequence[str]] | None = None,
    ranked_by: Floats | None = None,
) -> tuple[Mined, ...]:
    """Choose the wrong options of every item.

    Candidates come from the `top_k` questions of the pool with the largest cosine (`ties` says how ties are broken),
    without those that ask the same (`same_question`) or are kept apart. Their texts are scored by
    `alpha·cos_question · cos_text · (beta if cos_text >= tau else 1)`, cosines below 0 counting as 0, and taken from
    the best down; ties are broken by the cosine of the question, then by a seeded draw. Never taken is a text that
    says the same as the right one or as one taken before: equal but for case, stops and apostrophes, with a cosine of
    `same_text` or more, or with content words that are all among the other's, unless one alone is negated.

    If too few are left, as many questions again are looked at, those next nearest, then twice as many and so on, at
    last the whole pool; what comes from them ranks behind what was there.

    A text lends at most `max_lend` times its even share, rounded up: the options that the pool needs, divided by the
    rows that lend, times the rows whose right option it is. If more want it, it stays with those whom it fits best by
    score, ties broken by a seeded draw; the others take their next best, and if need be look further, to 16·top_k
    questions. Who then still has too few takes its best whatever the limit.

    Args:
        items: The questions; their order does not matter.
        questions: Embeddings of the questions, float32 of shape (items, dimensions), each of length 1.
        texts: Embeddings of the right options, likewise.
        settings: How to choose.
        seed: The dataset's seed, for broken ties and random negatives.
        kept_apart: By id, the ids of items that must not lend their text, such as those on the same part of a video.
        ranked_by: Embeddings whose cosine scores the texts in place of their own. The released options of CausalChaos
            were ranked by their explanations, answers too.

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
            seed,
        )
        mined = pool.random(seed) if settings.negatives == "random" else pool.hard()
        found |= dict(zip(places, mined, strict=True))
    return tuple(found[place] for place in range(len(items)))


@dataclass(frozen=True, eq=False)
class _Pool:
    """Items that lend each other options, in the order of their ids.

    Attributes:
        items: The items; an item's place is its row.
        text_of: The text of each row, by number: rows that say the same in the same words share one.
        lendable: How often each text may lend.
        words: The content words of each row's text; none where only equal words count.
        kept_apart: The rows that each item is kept apart from.
        texts: Embeddings of their texts.
        ranking: Embeddings that score.
        asked: Embeddings of the distinct questions: rows that ask with the same words share one, and its search.
        rows_of: The rows that ask a distinct question and may lend, rising.
        sizes: How many these are.
        question_of: The distinct question of each row.
        draws: A number drawn for each row, by which ties are broken.
        settings: How to choose.
    """

    items: Sequence[Item]
    text_of: Rows
    lendable: Sequence[float]
    words: Sequence[frozenset[str]]
    kept_apart: Sequence[frozenset[int]]
    texts: Floats
    ranking: Floats
    asked: Floats
    rows_of: Sequence[Rows]
    sizes: Rows
    question_of: Rows
    draws: Draws
    settings: MiningSettings

    def hard(self) -> list[Mined]:
        """Return the hard negatives of each row."""
        reach = REACH * self.settings.top_k
        near, _ = nearest(self.asked, reach, below=self._limit)
        askers = (_Asker(self, row, near[int(self.question_of[row])]) for row in range(len(self.items)))
        if self.settings.max_lend == 0:
            return [asker.fill().mined() for asker in tracked(list(askers), "mining wrong options", "question")]
        return self._shared(list(askers))

    def _shared(self, askers: Sequence[_Asker]) -> list[Mined]:
        """Let a text that is wanted too often stay with those whom it fits best; the others take their next best.

        This is deferred acceptance (Gale and Shapley 1962).
        """
        holders: list[list[tuple[float, int]]] = [[] for _ in self.lendable]
        bars = np.where(np.array(self.lendable) > 0, -np.inf, np.inf)  # what an asker must offer to be taken
        waiting = list(reversed(askers))
        while waiting:
            asker = waiting.pop()
            while len(asker.held) < self._need and (place := asker.next(bars)) is not None:
                asker.hold(place)
                text = int(asker.says[place])
                heappush(holders[text], (float(asker.offers[place]), asker.row))
                if len(holders[text]) > self.lendable[text]:
                    loser = askers[heappop(holders[text])[1]]
                    loser.drop(text)
                    waiting.append(loser)
                if len(holders[text]) >= self.lendable[text]:
                    bars[text] = holders[text][0][0]
        for asker in askers:  # whoever found too few asks again, and nobody turns it away
            asker.fill()
        return [asker.mined() for asker in askers]

    def random(self, seed: int) -> Iterator[Mined]:
        """Draw the negatives of each row from all that may be taken."""
        lent = [0] * len(self.lendable)
        for row, item in enumerate(tracked(self.items, "drawing wrong options", "question")):
            taken: list[int] = []
            full: list[int] = []
            looked_at = 0

            def fits(other: int, row: int = row, taken: list[int] = taken) -> bool:
                return not any(self.says_the_same(one, other) for one in (row, *taken))

            for other in _drawn(rng_for(seed, "random_negatives", item.id), len(self.items)):
                if len(taken) == self._need:
                    break
                looked_at += 1
                if other == row or other in self.kept_apart[row] or not self.items[other].lends:
                    continue
                if self._limit is not None and self._cos_question(row, other) >= self._limit:
                    continue
                if lent[self.text_of[other]] >= self.lendable[self.text_of[other]]:
                    full.append(other)
                elif fits(other):
                    taken.append(other)
            for other in full:
                if len(taken) < self._need and fits(other):
                    taken.append(other)
            for other in taken:
                lent[self.text_of[other]] += 1
            yield Mined(item.id, tuple(self._random_negative(row, other) for other in taken), looked_at)

    def _random_negative(self, row: int, other: int) -> Negative:
        cos_question = self._cos_question(row, other)
        score = self._score(cos_question, _cosine(self.ranking[other], self.ranking[row]))
        return self.negative(row, other, cos_question, float(score))

    def _cos_question(self, row: int, other: int) -> float:
        return _cosine(self.asked[self.question_of[other]], self.asked[self.question_of[row]])

    @property
    def _need(self) -> int:
        return self.settings.num_options - 1

    @property
    def _limit(self) -> float | None:
        return self.settings.same_question if self.settings.same_question <= 1 else None

    def candidates(self, row: int, near: Indices, count: int) -> tuple[Rows, Cosines, bool]:
        """Return the rows whose questions are nearest, and the cosines: falling, ties broken by a seeded draw.

        Args:
            row: Who asks.
            near: The nearest distinct questions, as far as they were searched.
            count: How many are wanted.

        Returns:
            The first `count` rows, their cosines, and whether there are no more.
        """
        number = int(self.question_of[row])
        known = near[near >= 0].astype(np.int64)
        found, cosines = self._nearest_rows(row, number, known, count)
        # A search that gave less than was asked for has given all that there is.
        every = len(known) < len(near)
        if len(found) < count and not every:
            others = np.delete(np.arange(len(self.rows_of)), number)
            found, cosines = self._nearest_rows(row, number, others, count)
            every = True
        return found[:count], cosines[:count], every and len(found) <= count

    def _nearest_rows(self, row: int, number: int, others: Rows, count: int) -> tuple[Rows, Cosines]:
        """Return at least `count` rows, if there are as many, of these questions."""
        cosines = _cosines(self.asked[others], self.asked[number])
        if self._limit is None:  # then rows with the very same question count as well
            others, cosines = np.append(others, number), np.append(cosines, 1.0)
        else:
            others, cosines = others[cosines < self._limit], cosines[cosines < self._limit]
        order = np.argsort(-cosines, kind="stable")
        others, cosines = others[order], cosines[order]
        sizes = self.sizes[others]
        enough = int(np.searchsorted(np.cumsum(sizes), count + len(self.kept_apart[row]) + 1))
        if enough < len(others):  # what ties with the last one wanted is there, the rest is not needed
            enough = int(np.searchsorted(-cosines, -cosines[enough], side="right"))
        rows = np.concatenate([np.empty(0, np.int64), *(self.rows_of[other] for other in others[:enough])])
        repeated = np.repeat(cosines[:enough], sizes[:enough])
        order = np.lexsort((self.ties(row, rows), -repeated))
        rows, repeated = rows[order], repeated[order]
        kept = rows != row
        if self.kept_apart[row]:
            kept &= np.fromiter((other not in self.kept_apart[row] for other in rows.tolist()), np.bool_, len(rows))
        return rows[kept], repeated[kept]

    def ties(self, row: int, rows: Rows) -> Rows | Draws:
        """Return the numbers by which equal rows are put in order for a row."""
        return rows if self.settings.ties == "id" else self.tie_breakers(row, rows)

    def tie_breakers(self, row: int, rows: Rows) -> Draws:
        """Return the number drawn for each pair of a row and others, by the finaliser of splitmix64 (Steele 2014)."""
        mixed = self.draws[rows] ^ (self.draws[row : row + 1] * np.uint64(0x9E3779B97F4A7C15))
        mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        found: Draws = mixed ^ (mixed >> np.uint64(31))
        return found

    def ranked(self, row: int, rows: Rows, cosines: Cosines) -> tuple[Rows, Cosines, Cosines]:
        """Put candidates in the order in which they are wanted.

        Returns:
            The rows without those that say the same as the right one, the cosines of the questions, and the scores.
        """
        fit = ~self.same(row, rows)
        rows, cosines = rows[fit], cosines[fit]
        scores = self._score(cosines, _cosines(self.ranking[rows], self.ranking[row]))
        order = np.lexsort((self.ties(row, rows), -cosines, -scores))
        return rows[order], cosines[order], scores[order]

    def same(self, row: int, rows: Rows) -> NDArray[np.bool_]:
        """Return which rows say the same as a row."""
        found: NDArray[np.bool_] = _cosines(self.texts[rows], self.texts[row]) >= self.settings.same_text
        found |= self.text_of[rows] == self.text_of[row]
        words = self.words[row]
        for place, other in enumerate(rows.tolist() if words else ()):
            found[place] |= says_no_more(words, self.words[other])
        return found

    def says_the_same(self, one: int, other: int) -> bool:
        """Return whether two rows say the same."""
        return (
            self.text_of[one] == self.text_of[other]
            or says_no_more(self.words[one], self.words[other])
            or _cosine(self.texts[one], self.texts[other]) >= self.settings.same_text
        )

    def refused(self, row: int, taken: Collection[int]) -> dict[str, int]:
        """Count the rows that did not lend to a row that was offered all, each under the first rule of `REFUSALS`."""
        left = np.ones(len(self.items), np.bool_)
        left[[row, *taken]] = False
        number = int(self.question_of[row])
        same = np.zeros(len(self.items), np.bool_)
        if self._limit is not None:
            same = (_cosines(self.asked, self.asked[number]) >= self._limit)[self.question_of]
        rules = (
            np.isin(np.arange(len(self.items)), list(self.kept_apart[row])),
            same,
            ~np.fromiter((item.lends for item in self.items), np.bool_, len(self.items)),
            np.ones(len(self.items), np.bool_),  # what is left says the same as the right option, or as one taken
        )
        counts = {}
        for name, barred in zip(REFUSALS, rules, strict=True):
            counts[name] = int((left & barred).sum())
            left &= ~barred
        return {name: count for name, count in counts.items() if count}

    def _score(self, cos_question: Cosines | float, cos_text: Cosines | float) -> Cosines:
        penalty = np.where(np.asarray(cos_text) >= self.settings.tau, self.settings.beta, 1.0)
        product = self.settings.alpha * np.maximum(cos_question, 0) * np.maximum(cos_text, 0) * penalty
        rounded: Cosines = np.round(product, SCORE_DIGITS)
        return rounded

    def negative(self, row: int, other: int, cos_question: float, score: float) -> Negative:
        """Write down an option."""
        item = self.items[other]
        cos_text = _cosine(self.texts[other], self.texts[row])
        return Negative(
            item.id, item.text, round(cos_question, COSINE_DIGITS), cos_text, score, self.settings.negatives
        )


class _Asker:
    """A row that looks for options: its candidates in the order in which it wants them, and what it holds of these."""

    def __init__(self, pool: _Pool, row: int, near: Indices):
        """Take the `top_k` nearest."""
        self.pool, self.row, self._near = pool, row, near
        self.rows, self.cosines, self.scores = np.empty(0, np.int64), np.empty(0), np.empty(0)
        self.says, self.offers = np.empty(0, np.int64), np.empty(0)
        self.looked_at, self._whole = 0, False
        self.held: dict[int, list[int]] = {}  # by place, the candidates that it keeps away because they say the same
        self._widen()

    def next(self, bars: Cosines | None) -> int | None:
        """Return the place of the candidate that is wanted most, of those that can be had.

        Args:
            bars: What must be offered for each text; nothing if all can be had.
        """
        while True:
            free = np.ones(len(self.rows), np.bool_) if bars is None else self.offers > bars[self.says]
            for place, kept_away in self.held.items():
                free[[place, *kept_away]] = False
            for place in np.flatnonzero(free).tolist():
                row = int(self.rows[place])
                rival = next((one for one in self.held if self.pool.says_the_same(int(self.rows[one]), row)), None)
                if rival is None:
                    return int(place)
                self.held[rival].append(place)
            enough = bars is not None and self.looked_at >= FAR * self.pool.settings.top_k
            if enough or not self._widen():
                return None

    def hold(self, place: int) -> None:
        """Hold a candidate."""
        self.held[place] = []

    def drop(self, text: int) -> None:
        """Return up the candidate with a text."""
        del self.held[next(place for place in self.held if self.says[place] == text)]

    def fill(self) -> _Asker:
        """Hold as many as are needed, if there are."""
        while len(self.held) < self.pool.settings.num_options - 1 and (place := self.next(None)) is not None:
            self.hold(place)
        return self

    def mined(self) -> Mined:
        """Return what is held."""
        held = [int(self.rows[place]) for place in sorted(self.held)]
        short = len(held) < self.pool.settings.num_options - 1
        return Mined(
            self.pool.items[self.row].id,
            tuple(
                self.pool.negative(
                    self.row, int(self.rows[place]), float(self.cosines[place]), float(self.scores[place])
                )
                for place in sorted(self.held)
            ),
            self.looked_at,
            self.pool.refused(self.row, held) if short else {},
        )

    def _widen(self) -> bool:
        """Add as many candidates as were looked at before, behind those; tell whether there were any."""
        if self._whole:
            return False
        count = 2 * self.looked_at or self.pool.settings.top_k
        found, near, self._whole = self.pool.candidates(self.row, self._near, count)
        rows, cosines, scores = self.pool.ranked(self.row, found[self.looked_at :], near[self.looked_at :])
        self.looked_at = len(found)
        offers = scores + JITTER * (self.pool.tie_breakers(self.row, rows) / 2.0**64)
        self.rows = np.concatenate([self.rows, rows])
        self.cosines = np.concatenate([self.cosines, cosines])
        self.scores = np.concatenate([self.scores, scores])
        self.says = np.concatenate([self.says, self.pool.text_of[rows]])
        self.offers = np.concatenate([self.offers, offers])
        return True


def _cosines(vectors: Floats, vector: Floats) -> Cosines:
    """Return the cosines of many vectors with one, rounded."""
    rounded: Cosines = np.round(vectors.astype(np.float64) @ vector.astype(np.float64), COSINE_DIGITS)
    return rounded


def _cosine(one: Floats, other: Floats) -> float:
    return float(np.round(np.dot(one.astype(np.float64), other.astype(np.float64)), COSINE_DIGITS))


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
    seed: int,
) -> _Pool:
    row_of = {item.id: row for row, item in enumerate(items)}
    asked: dict[str, list[int]] = {}
    for row, item in enumerate(items):
        asked.setdefault(item.question, []).append(row)
    # Items may share one list, as those of a large group do; then they share the set that it becomes.
    lists = [kept_apart.get(item.id, ()) for item in items]
    sets = {id(some): some for some in lists}
    apart_rows = {key: frozenset(row_of[one] for one in some if one in row_of) for key, some in sets.items()}
    question_of = np.empty(len(items), np.int64)
    for number, rows in enumerate(asked.values()):
        question_of[rows] = number
    numbers: dict[str, int] = {}
    text_of = np.array([numbers.setdefault(text_key(item.text), len(numbers)) for item in items], np.int64)
    digests = b"".join(digest_for(seed, "ties", item.id)[:8] for item in items)
    rows_of = [np.array([row for row in rows if items[row].lends], np.int64) for rows in asked.values()]
    return _Pool(
        items=items,
        text_of=text_of,
        lendable=lending_limits(text_of.tolist(), [item.lends for item in items], settings),
        words=[content_words(item.text) if settings.same_text <= 1 else frozenset() for item in items],
        kept_apart=[apart_rows[id(some)] for some in lists],
        texts=texts,
        ranking=ranking,
        asked=questions[[rows[0] for rows in asked.values()]],
        rows_of=rows_of,
        sizes=np.array([len(rows) for rows in rows_of], np.int64),
        question_of=question_of,
        draws=np.frombuffer(digests, "<u8").astype(np.uint64),
        settings=settings,
    )


def lending_limits(text_of: Sequence[int], lends: Sequence[bool], settings: MiningSettings) -> list[float]:
    """Return how often each text may lend: `max_lend` times its even share, or whatever comes.

    Args:
        text_of: The text of each row, by number from 0.
        lends: Whether each row lends.
        settings: How to choose.
    """
    if settings.max_lend == 0:
        return [np.inf] * (max(text_of, default=-1) + 1)
    share = (settings.num_options - 1) * len(text_of) / max(sum(lends), 1)
    rows = Counter(text for text, lent in zip(text_of, lends, strict=True) if lent)
    return [float(np.ceil(settings.max_lend * share * rows[text])) for text in range(max(text_of, default=-1) + 1)]
