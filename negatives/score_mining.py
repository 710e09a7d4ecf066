"""Mine distractors from the answers to other questions by score, or at random.

Parmar et al. 2024, "CausalChaos!", §3.3 (Vanilla Hard Negative mining): the answers of the ten most similar questions
are scored by α·cos(questions) · β·cos(answers), and the best four become options. A constant β would only scale all
scores, so it is applied if the cosine of the answers is τ or more, which matches its purpose ("heavily penalises
answers with a high similarity").

Differences from the paper: answers equivalent to the correct one or to a previously chosen distractor are excluded, as
are those of equivalent questions. No answer is used much more often than the others; otherwise the rarest option would
be the correct one. If ten questions are too few, more are considered.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from heapq import heappop, heappush
from itertools import combinations, pairwise

import numpy as np
from numpy.typing import NDArray

from ..core.errors import InputError
from ..core.numerics import digest_for, rng_for
from ..core.progress import tracked
from ..language.embeddings import Indices, nearest
from ..language.words import text_key
from .content_words import content_words, says_no_more
from .options import COSINE_DIGITS, REFUSALS, ROOM, Floats, Mined, Negative, QuestionRow
from .settings import MiningSettings

Cosines = NDArray[np.float64]
Rows = NDArray[np.int64]
Draws = NDArray[np.uint64]

SCORE_DIGITS = 8
JITTER = 1e-9  # below the last digit of a score; a seeded draw decides between equal offers
REACH = 4  # a search returns this multiple of top_k questions, so that widening seldom needs the entire pool
FAR = 16  # a row without a free text among this multiple of top_k questions may exceed the limit
FEW = 64  # numbers drawn individually before the pool is permuted


@dataclass(frozen=True)
class Item:
    """A question with one correct text.

    Attributes:
        text: The correct text.
        pool: Pool, such as a split; items borrow only within their pool.
        is_donor: Whether other items may borrow the text.
    """

    id: str
    question: str
    text: str
    pool: str = ""
    is_donor: bool = True


def items_of(rows: Sequence[QuestionRow], target: str, train: str | None) -> list[Item]:
    """Return one item per question for a target. Texts outside train that are also correct in train are not donors."""
    trained = {text_key(row.texts[target]) for row in rows if row.splits[0] == train} if train else set()
    return [
        Item(
            row.id,
            row.question,
            row.texts[target],
            row.pool,
            is_donor=row.splits[0] == train or text_key(row.texts[target]) not in trained,
        )
        for row in rows
    ]


def mine_by_score(
    items: Sequence[Item],
    questions: Floats,
    texts: Floats,
    settings: MiningSettings,
    *,
    seed: int = 0,
    kept_apart: Mapping[str, Sequence[str]] | None = None,
    ranked_by: Floats | None = None,
    earlier: Mapping[str, Sequence[Negative]] | None = None,
) -> tuple[Mined, ...]:
    """Choose the distractors of every item by score, or at random.

    Candidates are taken from the `top_k` questions of the pool with the largest cosine (`ties` breaks ties), excluding
    equivalent ones (`same_question`) and those kept apart. Their texts are scored by `alpha·cos_question · cos_text ·
    (beta if cos_text >= tau else 1)`, with negative cosines counted as 0, and taken in order of score; ties are broken
    by the cosine of the question, then by a seeded draw. Texts equivalent to the correct one or to a previous one are
    excluded: those that are equal after `text_key`, have a cosine of `same_text` or more, or have content words that
    are a subset of the other's, unless only one of them is negated.

    If too few remain, the next most similar questions are considered, doubling the number up to the entire pool; their
    texts rank after the previous ones.

    A text is used at most `max_lend` times its even share, rounded up: the distractors that the pool needs, divided by
    the donors, times the rows for which the text is correct. If more rows request it, those with the best scores
    receive it, with ties broken by a seeded draw; the others use their next best among up to 16·top_k questions. Rows
    that still have too few take their best regardless of the limit.

    Args:
        items: The questions, in any order.
        questions: Embeddings of the questions, float32 of shape (items, dimensions), each of length 1.
        texts: Embeddings of the correct texts, in the same form.
        settings: Settings of mining.
        seed: The dataset's seed, for ties and random distractors.
        kept_apart: Ids of items that must not be donors, such as those about the same part of a video, by item id.
        ranked_by: Embeddings used to score the texts in place of their own. In the released CausalChaos, answers were
            ranked by their explanations.
        earlier: Distractors chosen elsewhere, by id, which are taken if they follow the rules above.

    Returns:
        The distractors of each item, in the order of `items`.

    Raises:
        InputError: Two items have the same id.
    """
    if len({item.id for item in items}) < len(items):
        raise InputError("two questions have the same id. Question ids must be unique.")
    pools: dict[str, list[int]] = {}
    for index in sorted(range(len(items)), key=lambda index: (len(items[index].id), items[index].id)):
        pools.setdefault(items[index].pool, []).append(index)
    mined_by_index: dict[int, Mined] = {}
    for indices in pools.values():
        pool = _Pool(
            [items[index] for index in indices],
            questions[indices],
            texts[indices],
            (texts if ranked_by is None else ranked_by)[indices],
            settings,
            kept_apart or {},
            seed,
        )
        mined = pool.random(seed) if settings.negatives == "random" else pool.hard()
        mined_by_index |= dict(
            zip(indices, mined if earlier is None else pool.replaced(list(mined), earlier), strict=True)
        )
    return tuple(mined_by_index[index] for index in range(len(items)))


class _Pool:
    """Items that may borrow from each other, sorted by id. The position of an item is its row."""

    def __init__(
        self,
        items: Sequence[Item],
        questions: Floats,
        texts: Floats,
        ranking: Floats,
        settings: MiningSettings,
        kept_apart: Mapping[str, Sequence[str]],
        seed: int,
    ):
        self.items, self.texts, self.ranking, self.settings = items, texts, ranking, settings
        self.need = settings.num_options - 1
        self._limit = settings.same_question if settings.same_question <= 1 else None
        numbers: dict[str, int] = {}
        self.text_of = np.array([numbers.setdefault(text_key(item.text), len(numbers)) for item in items], np.int64)
        self._uses = use_limits(self.text_of.tolist(), [item.is_donor for item in items], settings)
        self._words = [content_words(item.text) if settings.same_text <= 1 else frozenset[str]() for item in items]
        row_of = {item.id: row for row, item in enumerate(items)}
        # The items of a large group share one list, and the set derived from it.
        lists = [kept_apart.get(item.id, ()) for item in items]
        distinct = {id(some): some for some in lists}
        apart = {key: frozenset(row_of[donor] for donor in some if donor in row_of) for key, some in distinct.items()}
        self._apart = [apart[id(some)] for some in lists]
        # Rows with the same question share one embedding and its search.
        rows_by_question: dict[str, list[int]] = {}
        for row, item in enumerate(items):
            rows_by_question.setdefault(item.question, []).append(row)
        self._asked = questions[[rows[0] for rows in rows_by_question.values()]]
        self._question_of = np.empty(len(items), np.int64)
        for index, rows in enumerate(rows_by_question.values()):
            self._question_of[rows] = index
        self._donors = [
            np.array([row for row in rows if items[row].is_donor], np.int64) for rows in rows_by_question.values()
        ]
        self._sizes = np.array([len(rows) for rows in self._donors], np.int64)
        digests = b"".join(digest_for(seed, "ties", item.id)[:8] for item in items)
        self._draws = np.frombuffer(digests, "<u8").astype(np.uint64)

    def hard(self) -> list[Mined]:
        """Choose hard negatives for each row."""
        reach = min(REACH * self.settings.top_k, len(self._asked))
        near = nearest(self._asked, None, reach, below=self._limit)
        askers = [_Asker(self, row, near[int(self._question_of[row])]) for row in range(len(self.items))]
        if self.settings.max_lend == 0:
            return [asker.fill().mined() for asker in tracked(askers, "mining distractors", "question")]
        return self._shared(askers)

    def _shared(self, askers: Sequence[_Asker]) -> list[Mined]:
        """Assign texts by deferred acceptance (Gale and Shapley 1962), so that none is used more often than allowed."""
        holders: list[list[tuple[float, int]]] = [[] for _ in self._uses]
        bars = np.where(np.array(self._uses) > 0, -np.inf, np.inf)  # smallest offer that each text accepts
        waiting = list(reversed(askers))
        while waiting:
            asker = waiting.pop()
            while len(asker.held) < self.need and (position := asker.next(bars)) is not None:
                asker.held[position] = []
                text = int(asker.says[position])
                heappush(holders[text], (float(asker.offers[position]), asker.row))
                if len(holders[text]) > self._uses[text]:
                    loser = askers[heappop(holders[text])[1]]
                    loser.drop(text)
                    waiting.append(loser)
                if len(holders[text]) >= self._uses[text]:
                    bars[text] = holders[text][0][0]
        return [asker.fill().mined() for asker in askers]  # rows with too few distractors exceed the limits

    def random(self, seed: int) -> Iterator[Mined]:
        """Choose random distractors for each row."""
        used = [0] * len(self._uses)
        for row, item in enumerate(tracked(self.items, "sampling distractors", "question")):
            chosen: list[int] = []
            full: list[int] = []
            looked_at = 0

            def fits(other: int, row: int = row, chosen: list[int] = chosen) -> bool:
                return not any(self.says_the_same(chosen_row, other) for chosen_row in (row, *chosen))

            for other in _drawn(rng_for(seed, "random_negatives", item.id), len(self.items)):
                if len(chosen) == self.need:
                    break
                looked_at += 1
                if other == row or other in self._apart[row] or not self.items[other].is_donor:
                    continue
                if self._limit is not None and self._cos_question(row, other) >= self._limit:
                    continue
                if used[self.text_of[other]] >= self._uses[self.text_of[other]]:
                    full.append(other)
                elif fits(other):
                    chosen.append(other)
            for other in full:
                if len(chosen) < self.need and fits(other):
                    chosen.append(other)
            for other in chosen:
                used[self.text_of[other]] += 1
            yield Mined(item.id, tuple(self._scored(row, other) for other in chosen), looked_at)

    def replaced(self, mined: Sequence[Mined], earlier: Mapping[str, Sequence[Negative]]) -> list[Mined]:
        """Replace the distractors of rows by the given ones that a machine which rounds differently may have chosen.

        They must be allowed, mutually different, and in order of score, and no better candidate may be available: one
        of the `top_k` nearest questions whose text is used less often than its limit.
        """
        row_of = {item.id: row for row, item in enumerate(self.items)}
        wanted = [
            [(row_of.get(negative.id, -1), negative) for negative in earlier.get(item.id, ())] for item in self.items
        ]
        uses = Counter(int(self.text_of[other]) for some in wanted for other, _ in some if other >= 0)
        full = {text for text, count in uses.items() if count >= self._uses[text]}
        results = []
        for row, (own, some) in enumerate(zip(mined, wanted, strict=True)):
            others = [other for other, _ in some]
            texts_fit = all(other >= 0 and negative.text == self.items[other].text for other, negative in some)
            differ = len(others) == len(own.negatives) and others != [row_of[negative.id] for negative in own.negatives]
            if differ and texts_fit and self._may_take(row, others, full):
                own = replace(own, negatives=tuple(self._scored(row, other) for other in others))
            results.append(own)
        return results

    def _may_take(self, row: int, others: Sequence[int], full: Collection[int]) -> bool:
        """Return whether these rows, best first, can be the chosen donors; `full` are texts used up to their limit."""
        limit = np.inf if self._limit is None else self._limit
        cosines = _cosines(self._asked, self._asked[self._question_of[row]])[self._question_of]
        allowed = np.array([item.is_donor for item in self.items])
        allowed[[row, *self._apart[row]]] = False
        if not all(allowed[other] and cosines[other] < limit + ROOM for other in others):
            return False
        if any(self.says_the_same(first, other, ROOM) for first, other in combinations((row, *others), 2)):
            return False
        if self.settings.negatives == "random":
            return True
        scores = [self._scored(row, other).score for other in others]
        slack = 3 * ROOM * self.settings.alpha
        if any(later > earlier + slack for earlier, later in pairwise(scores)):
            return False
        border = np.sort(cosines[allowed & (cosines < limit)])[-self.settings.top_k :][0]
        least = min(scores) + slack if cosines[list(others)].min() >= border - ROOM else -np.inf
        for other in np.flatnonzero(allowed & (cosines > border + ROOM) & (cosines < limit - ROOM)).tolist():
            if other in others or int(self.text_of[other]) in full or self._scored(row, other).score <= least:
                continue
            if not any(self.says_the_same(first, other, -ROOM) for first in (row, *others)):
                return False
        return True

    def _scored(self, row: int, other: int) -> Negative:
        cos_question = self._cos_question(row, other)
        score = self._score(cos_question, cosine(self.ranking[other], self.ranking[row]))
        return self.negative(row, other, cos_question, float(score))

    def _cos_question(self, row: int, other: int) -> float:
        return cosine(self._asked[self._question_of[other]], self._asked[self._question_of[row]])

    def candidates(self, row: int, near: Indices, count: int) -> tuple[Rows, Cosines, bool]:
        """Return the first `count` rows by question cosine, their cosines, and whether the whole pool was searched."""
        known = near[near >= 0].astype(np.int64)
        rows_found, cosines = self._nearest_rows(row, known, count)
        whole = len(known) < len(near)  # a search with fewer results than requested has returned everything
        if len(rows_found) < count and not whole:
            others = np.delete(np.arange(len(self._donors)), self._question_of[row])
            rows_found, cosines = self._nearest_rows(row, others, count)
            whole = True
        return rows_found[:count], cosines[:count], whole and len(rows_found) <= count

    def _nearest_rows(self, row: int, others: Rows, count: int) -> tuple[Rows, Cosines]:
        """Return at least `count` rows with these questions, if the pool has that many."""
        question = int(self._question_of[row])
        cosines = _cosines(self._asked[others], self._asked[question])
        if self._limit is None:  # rows with the identical question then count as well
            others, cosines = np.append(others, question), np.append(cosines, 1.0)
        else:
            others, cosines = others[cosines < self._limit], cosines[cosines < self._limit]
        order = np.argsort(-cosines, kind="stable")
        others, cosines = others[order], cosines[order]
        sizes = self._sizes[others]
        enough = int(np.searchsorted(np.cumsum(sizes), count + len(self._apart[row]) + 1))
        if enough < len(others):  # include all ties with the last requested one
            enough = int(np.searchsorted(-cosines, -cosines[enough], side="right"))
        rows = np.concatenate([np.empty(0, np.int64), *(self._donors[other] for other in others[:enough])])
        repeated = np.repeat(cosines[:enough], sizes[:enough])
        order = np.lexsort((self._ties(row, rows), -repeated))
        rows, repeated = rows[order], repeated[order]
        kept = rows != row
        if self._apart[row]:
            kept &= np.fromiter((other not in self._apart[row] for other in rows.tolist()), np.bool_, len(rows))
        return rows[kept], repeated[kept]

    def _ties(self, row: int, rows: Rows) -> Rows | Draws:
        return rows if self.settings.ties == "id" else self.tie_breakers(row, rows)

    def tie_breakers(self, row: int, rows: Rows) -> Draws:
        """Return a random number for each pair of a row with another, by the finalizer of splitmix64 (Steele 2014)."""
        mixed = self._draws[rows] ^ (self._draws[row : row + 1] * np.uint64(0x9E3779B97F4A7C15))
        mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        draws: Draws = mixed ^ (mixed >> np.uint64(31))
        return draws

    def ranked(self, row: int, rows: Rows, cosines: Cosines) -> tuple[Rows, Cosines, Cosines]:
        """Return the rows that are not equivalent to a row, best first, with their question cosines and scores."""
        same = _cosines(self.texts[rows], self.texts[row]) >= self.settings.same_text
        same |= self.text_of[rows] == self.text_of[row]
        words = self._words[row]
        for position, other in enumerate(rows.tolist() if words else ()):
            same[position] |= says_no_more(words, self._words[other])
        rows, cosines = rows[~same], cosines[~same]
        scores = self._score(cosines, _cosines(self.ranking[rows], self.ranking[row]))
        order = np.lexsort((self._ties(row, rows), -cosines, -scores))
        return rows[order], cosines[order], scores[order]

    def says_the_same(self, first: int, second: int, room: float = 0.0) -> bool:
        """Return whether the texts of two rows are equivalent. `room` is added to the limit of their cosine."""
        return (
            self.text_of[first] == self.text_of[second]
            or says_no_more(self._words[first], self._words[second])
            or cosine(self.texts[first], self.texts[second]) >= self.settings.same_text + room
        )

    def refused(self, row: int, chosen: Collection[int]) -> dict[str, int]:
        """Count the rows that a row could not use, by the first rule of `REFUSALS` that applies."""
        left = np.ones(len(self.items), np.bool_)
        left[[row, *chosen]] = False
        same = np.zeros(len(self.items), np.bool_)
        if self._limit is not None:
            question = int(self._question_of[row])
            same = (_cosines(self._asked, self._asked[question]) >= self._limit)[self._question_of]
        rules = (
            np.isin(np.arange(len(self.items)), list(self._apart[row])),
            same,
            ~np.fromiter((item.is_donor for item in self.items), np.bool_, len(self.items)),
            np.ones(len(self.items), np.bool_),  # the others are equivalent to the correct text, or to one taken before
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
        """Return the text of another row as a distractor for a row."""
        item = self.items[other]
        cos_text = cosine(self.texts[other], self.texts[row])
        return Negative(
            item.id, item.text, round(cos_question, COSINE_DIGITS), cos_text, score, self.settings.negatives
        )


class _Asker:
    """A row that needs distractors, with its candidates, best first, and those that it currently holds.

    `held` maps the position of a held candidate to the positions of those that it excludes as equivalent.
    """

    def __init__(self, pool: _Pool, row: int, near: Indices):
        self.pool, self.row, self._near = pool, row, near
        self.rows, self.cosines, self.scores = np.empty(0, np.int64), np.empty(0), np.empty(0)
        self.says, self.offers = np.empty(0, np.int64), np.empty(0)
        self.looked_at, self._whole = 0, False
        self.held: dict[int, list[int]] = {}
        self._widen()

    def next(self, bars: Cosines | None) -> int | None:
        """Return the position of the best available candidate. `bars` are the lowest offers that texts accept."""
        while True:
            free = np.ones(len(self.rows), np.bool_) if bars is None else self.offers > bars[self.says]
            for position, excluded in self.held.items():
                free[[position, *excluded]] = False
            for position in np.flatnonzero(free).tolist():
                row = int(self.rows[position])
                rival = next((at for at in self.held if self.pool.says_the_same(int(self.rows[at]), row)), None)
                if rival is None:
                    return int(position)
                self.held[rival].append(position)
            enough = bars is not None and self.looked_at >= FAR * self.pool.settings.top_k
            if enough or not self._widen():
                return None

    def drop(self, text: int) -> None:
        """Remove the candidate with this text."""
        del self.held[next(position for position in self.held if self.says[position] == text)]

    def fill(self) -> _Asker:
        """Add candidates until there are as many as needed or none are left."""
        while len(self.held) < self.pool.need and (position := self.next(None)) is not None:
            self.held[position] = []
        return self

    def mined(self) -> Mined:
        """Return the candidates that the row holds as its distractors."""
        positions = sorted(self.held)
        return Mined(
            self.pool.items[self.row].id,
            tuple(
                self.pool.negative(
                    self.row, int(self.rows[position]), float(self.cosines[position]), float(self.scores[position])
                )
                for position in positions
            ),
            self.looked_at,
            self.pool.refused(self.row, self.rows[positions].tolist()) if len(positions) < self.pool.need else {},
        )

    def _widen(self) -> bool:
        """Double the number of candidates. Return whether that added any."""
        if self._whole:
            return False
        count = 2 * self.looked_at or self.pool.settings.top_k
        candidates, near, self._whole = self.pool.candidates(self.row, self._near, count)
        rows, cosines, scores = self.pool.ranked(self.row, candidates[self.looked_at :], near[self.looked_at :])
        self.looked_at = len(candidates)
        offers = scores + JITTER * (self.pool.tie_breakers(self.row, rows) / 2.0**64)
        self.rows = np.concatenate([self.rows, rows])
        self.cosines = np.concatenate([self.cosines, cosines])
        self.scores = np.concatenate([self.scores, scores])
        self.says = np.concatenate([self.says, self.pool.text_of[rows]])
        self.offers = np.concatenate([self.offers, offers])
        return True


def _cosines(vectors: Floats, vector: Floats) -> Cosines:
    rounded: Cosines = np.round(vectors.astype(np.float64) @ vector.astype(np.float64), COSINE_DIGITS)
    return rounded


def cosine(first: Floats, second: Floats) -> float:
    """Return the cosine of two vectors of length 1, rounded to `COSINE_DIGITS`."""
    return float(np.round(np.dot(first.astype(np.float64), second.astype(np.float64)), COSINE_DIGITS))


def _drawn(rng: np.random.Generator, size: int) -> Iterator[int]:
    """Yield every number below `size` once, in random order. The first numbers need no permutation of all."""
    seen: set[int] = set()
    for number in rng.integers(0, size, FEW).tolist():
        if number not in seen:
            seen.add(number)
            yield number
    yield from (number for number in rng.permutation(size).tolist() if number not in seen)


def use_limits(text_of: Sequence[int], is_donor: Sequence[bool], settings: MiningSettings) -> list[float]:
    """Return how often each text may be used: `max_lend` times its even share, rounded up."""
    if settings.max_lend == 0:
        return [np.inf] * (max(text_of, default=-1) + 1)
    share = (settings.num_options - 1) * len(text_of) / max(sum(is_donor), 1)
    rows = Counter(text for text, may in zip(text_of, is_donor, strict=True) if may)
    return [float(np.ceil(settings.max_lend * share * rows[text])) for text in range(max(text_of, default=-1) + 1)]
