"""Sample distractors with the same distribution as correct options, so that models without video are at chance.

If the distractors of a question were drawn from the same distribution of texts as its correct option, no model of
question and options could beat chance. That density over the candidates is estimated in rounds: a model of question and
option learns to separate correct options from sampled ones, its log-odds are added to the energies of the candidates,
and distractors are sampled again. A second stage does the same with entire option sets, because the most central or the
longest option is a property of the set. A row is only scored by models trained without it.

Sampling cannot remove every signal: a borrowed answer is an option of several questions and is most similar to its own.
Rows that remain guessable are therefore flagged (`subset`). Two alternatives were rejected because they left too few
plausible candidates, which trees detected: limiting each text to as many uses as a distractor as it has as a correct
option, and excluding it from being borrowed.

The guiding models (`learners`) are small: a network on question and option, and another with a conditional logit on the
set.

Zellers et al. 2019, "HellaSwag", section 4, and Le Bras et al. 2020, "Adversarial Filters of Dataset Biases", keep the
options or rows that are hardest for one model. This module samples instead, because the next model recognizes options
that were hardest for the previous one as suspiciously hard.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..core.progress import Progress
from ..core.seeds import rng_for
from .features import CHUNK, WIDTH, Counts, PairFeatures, Target, chunks, set_features
from .learners import FOLDS, LEAST, Network, Scorer, fit_network, fit_sets, log_likelihood, scored
from .subset import SampledRows, guessable_rows

Floats = NDArray[np.float32]
Indices = NDArray[np.int64]

ENERGY_DIGITS = 4
SPREAD = 24.0  # scale of projected embeddings in the input of networks
STEPS = (1.0, 0.7, 0.5)  # weight of a model's log-odds in each round
CONTRAST = 6  # sampled candidates per correct option in training
SETS = 48  # option sets per row from which the second stage selects
SET_ROUNDS = 8
SET_STEP = 0.6
MOST_SETS = 6_000  # maximum rows used to learn from sets, which are all in memory
MOST_ROWS = 12_000  # maximum rows that a model learns from
CLIP = 4.0
USED_UP = 100.0  # subtracted from the energy of a text that another split uses
UNUSED = -1


@dataclass(frozen=True, eq=False)
class Balanced:
    """The distractors that were sampled.

    Attributes:
        chosen: Positions of each row's chosen candidates, from 0.
        guessable: Whether each row is outside the balanced subset.
    """

    chosen: Sequence[Indices]
    guessable: NDArray[np.bool_]


def balance(
    ids: Sequence[str],
    questions: Floats,
    targets: Mapping[str, Target],
    *,
    need: int,
    groups: Sequence[str],
    splits: Sequence[str],
    seed: int = 0,
) -> Balanced:
    """Sample the distractors of every row.

    A candidate covers all targets at once, that is, an answer together with its explanation. Otherwise only the correct
    answer and the correct explanation would match.

    Args:
        ids: Ids of the rows, in any order.
        questions: Embeddings of the questions, float32 of shape (rows, dimensions).
        targets: The texts by target.
        need: Distractors per row; a row with fewer candidates keeps all of them.
        groups: Group of each row, such as its video: models that score a row are trained without its group.
        splits: Split of each row. A text that is nowhere correct is a distractor in one split only, as models trained
            on train would otherwise recognize it in the test split.
        seed: The dataset's seed.
    """
    total = len(STEPS) * FOLDS * len(targets) + SET_ROUNDS + FOLDS * len(targets) + 1
    with Progress("balancing options", total, "model", brief=True) as progress:
        sampler = _Sampler(ids, questions, targets, groups, seed)
        del targets  # the sampler has its own, sorted
        sampler.learn(progress.advance)
        return sampler.choose_sets(need, splits, progress.advance)


class _Sampler:
    """Holds the energies of all candidates, which are numbered from 1.

    Rows are sorted by their number of candidates, then by id, so that chunks contain little padding.
    """

    def __init__(
        self, ids: Sequence[str], questions: Floats, targets: Mapping[str, Target], groups: Sequence[str], seed: int
    ):
        offered = (next(iter(targets.values())).keys[:, 1:] >= 0).sum(1)
        self.order = np.array(sorted(range(len(ids)), key=lambda row: (offered[row], ids[row])), np.int64)
        self._offered = offered[self.order]
        self.ids, self.seed = [ids[row] for row in self.order], seed
        self.targets = {name: target.take(self.order) for name, target in targets.items()}
        self.rng = rng_for(seed, "balance")
        names = sorted(set(groups))
        numbers = {name: number for number, name in enumerate(names)}
        group = np.array([numbers[groups[row]] for row in self.order], np.int64)
        self.folds = [(self.rng.permutation(len(names)) % FOLDS)[group] for _ in STEPS]
        projection = self.rng.standard_normal((questions.shape[1], WIDTH)) * SPREAD / np.sqrt(questions.shape[1])
        self.features = {
            name: PairFeatures(questions[self.order], target, projection) for name, target in self.targets.items()
        }
        keys = [target.keys for target in self.targets.values()]
        self.energies = np.where(keys[0][:, 1:] >= 0, np.float32(0), np.float32(-np.inf))
        # Whether two candidates share a text, so that they are never options of one question.
        self.clash = np.any([one[:, :, None] == one[:, None, :] for one in keys], axis=0)

    def width(self, rows: Indices) -> int:
        """Return the largest number of candidates of some rows."""
        return int(self._offered[rows].max(initial=0))

    def sample(self, rows: Indices, count: int, draws: int, spent: Floats | float = 0.0) -> Indices:
        """Sample candidates without replacement according to their energies (Gumbel top-k).

        The result contains positions of shape (rows, draws, count), which are 0 if there are too few candidates.
        """
        width = self.width(rows)
        noise = self.rng.gumbel(size=(len(rows), draws, width))
        keys = (self.energies[rows, :width] + spent)[:, None] + noise.astype(np.float32)
        return self._distinct(rows, keys.astype(np.float32, copy=False), count)

    def first(self, rows: Indices, count: int) -> Indices:
        """Return the first candidates as positions of shape (rows, count), which are 0 if there are too few."""
        keys = np.where(np.isfinite(self.energies[rows]), -np.arange(self.energies.shape[1], dtype=np.float32), -np.inf)
        return self._distinct(rows, keys[:, None], count)[:, 0]

    def _distinct(self, rows: Indices, keys: Floats, count: int) -> Indices:
        """Return the positions with the largest keys whose texts differ from each other and from the correct text."""
        stop = 1 + keys.shape[2]
        keys = np.where(self.clash[rows, :1, 1:stop], -np.inf, keys)
        found = np.zeros((*keys.shape[:2], count), np.int64)
        for number in range(count if keys.shape[2] else 0):
            best = keys.argmax(2)
            there = np.isfinite(np.take_along_axis(keys, best[:, :, None], 2))[:, :, 0]
            found[:, :, number] = np.where(there, best + 1, 0)
            keys[self.clash[rows[:, None], best + 1, 1:stop]] = -np.inf
        return found

    def learn(self, learnt: Callable[[], None]) -> None:
        """Train models to separate correct from sampled options, and add their log-odds to other rows' energies."""
        every = np.arange(len(self.ids))
        for number, step in enumerate(STEPS):
            for name, features in self.features.items():
                sampled = np.concatenate([self.sample(some, CONTRAST, 1)[:, 0] for some in chunks(every)])
                enough = (sampled > 0).all(1)
                added = np.zeros_like(self.energies)
                for fold in range(FOLDS):
                    inside = self.folds[number] == fold
                    known = np.flatnonzero(enough & ~inside)
                    known = known[:: len(known) // MOST_ROWS + 1]
                    if len(known):
                        table = features.of(known, np.insert(sampled[known], 0, 0, axis=1))
                        scale = table.mean((0, 1)), table.std((0, 1)) + np.float32(LEAST)
                        rng = rng_for(self.seed, "balance", name, str(number), str(fold))
                        network = fit_network((table - scale[0]) / scale[1], rng).on_unscaled(*scale)
                        self._score(features, network, np.flatnonzero(inside), added)
                    learnt()
                self.energies = (self.energies + np.float32(step) * added).round(ENERGY_DIGITS)

    def _score(self, features: PairFeatures, network: Network, rows: Indices, added: Floats) -> None:
        """Write the log-odds of the candidates of rows, relative to their mean, to `added`."""
        for some in chunks(rows):
            there = np.isfinite(self.energies[some, : self.width(some)])
            odds = features.odds(network, some, np.broadcast_to(np.arange(1, 1 + there.shape[1]), there.shape))
            mean = np.where(there, odds, 0).sum(1, keepdims=True) / np.maximum(there.sum(1, keepdims=True), 1)
            added[some, : there.shape[1]] = np.where(there, np.clip(odds - mean, -CLIP, CLIP), 0)

    def choose_sets(self, need: int, splits: Sequence[str], learnt: Callable[[], None]) -> Balanced:
        """Choose sampled sets in which the correct option is inconspicuous, and flag rows that remain guessable."""
        # Splits choose in order of increasing size; each text is marked with the position of the split that uses it.
        split_order = sorted(set(splits), key=lambda split: (splits.count(split), split))
        split = np.array([split_order.index(splits[row]) for row in self.order], np.int64)
        used_in = {name: np.full(len(next(iter(t.rights.values()))), UNUSED) for name, t in self.targets.items()}
        every = np.arange(len(self.ids))
        self.need, self.greedy = need, self.first(every, need)
        full = (self.greedy > 0).all(1)
        rows = np.flatnonzero(full)
        chosen = self.greedy.copy()
        guessable = np.ones(len(chosen), np.bool_)
        if len(rows):
            learning = rows[:: len(rows) // MOST_SETS + 1]
            judge = _SetJudge(self, learning, learnt)
            self._use(np.flatnonzero(~full), chosen, split, used_in)
            for number in range(len(split_order)):
                own = rows[split[rows] == number]
                for some in chunks(own):
                    chosen[some] = self._choose(some, judge, number, used_in)
                self._use(own, chosen, split, used_in)
            named = [split_order[number] for number in split]
            counts = Counts(self.targets, named)
            counts.add(rows, chosen[rows])
            for row in np.flatnonzero(~full)[:, None]:
                counts.add(row, chosen[row, : int((chosen[row] > 0).sum())])
            guessable[rows] = guessable_rows(
                SampledRows(
                    rows,
                    np.insert(chosen[rows], 0, 0, axis=1),
                    self.features,
                    counts,
                    [named[row] for row in rows],
                    [self.ids[row] for row in rows],
                    [folds[rows] for folds in self.folds],
                ),
                self.seed,
                learnt,
            )
        back = np.argsort(self.order)
        return Balanced([some[some > 0] - 1 for some in chosen[back]], guessable[back])

    def sample_sets(self, rows: Indices, spent: Floats | float = 0.0) -> Indices:
        """Sample option sets of shape (rows, SETS, need). If candidates rule out too many others, take the first."""
        found = self.sample(rows, self.need, SETS, spent)
        return np.where((found > 0).all(2, keepdims=True), found, self.greedy[rows][:, None])

    def set_features(self, rows: Indices, sets: Indices) -> Floats:
        """Return the features of option sets, for all targets together."""
        return np.concatenate([set_features(target, rows, sets) for target in self.targets.values()], axis=3)

    def _choose(self, rows: Indices, judge: _SetJudge, split: int, used_in: Mapping[str, Indices]) -> Indices:
        spent = np.zeros((len(rows), self.width(rows)), np.float32)
        for name, target in self.targets.items():
            used = used_in[name][target.keys[rows, 1 : 1 + spent.shape[1]]]
            spent[(used != UNUSED) & (used != split)] = -USED_UP
        sets = self.sample_sets(rows, spent)
        value = self.rng.gumbel(size=sets.shape[:2]) - judge.excess(rows, self.set_features(rows, sets))
        value += np.take_along_axis(spent[:, None], sets - 1, axis=2).sum(2)
        best: Indices = sets[np.arange(len(rows)), value.round(ENERGY_DIGITS).argmax(1)]
        return best

    def _use(self, rows: Indices, chosen: Indices, split: Indices, used_in: Mapping[str, Indices]) -> None:
        """Mark texts that are never correct with the split that uses them."""
        for name, target in self.targets.items():
            new = np.sum(list(target.rights.values()), axis=0) == 0
            taken, place = np.nonzero(chosen[rows])
            keys = target.keys[rows[taken], chosen[rows[taken], place]]
            used_in[name][keys[new[keys]]] = split[rows[taken]][new[keys]]


class _SetJudge:
    """Models, trained in rounds, that try to find the correct option of a set from features of the set."""

    def __init__(self, sampler: _Sampler, rows: Indices, learnt: Callable[[], None]):
        """Train on sampled sets. Each round uses the sets that the previous rounds prefer."""
        self._models: list[tuple[Sequence[Scorer], Indices]] = []
        table = np.empty(0, np.float16)  # most of the memory, therefore in half precision
        sums, squares = [], []
        for first in range(0, len(rows), CHUNK):
            some = rows[first : first + CHUNK]
            features = sampler.set_features(some, sampler.sample_sets(some))
            if not first:
                table = np.empty((len(rows), *features.shape[1:]), np.float16)
            table[first : first + CHUNK] = features
            sums.append(features.sum((0, 1, 2), dtype=np.float64))
            squares.append(np.square(features).sum((0, 1, 2), dtype=np.float64))
        count = table.size / table.shape[-1]
        mean = np.sum(sums, axis=0) / count
        variance = np.sum(squares, axis=0) / count - mean**2
        self._mean = mean.astype(np.float32)
        self._scale = np.sqrt(np.maximum(variance, 0)).astype(np.float32) + np.float32(LEAST)
        for some in chunks(np.arange(len(rows))):
            table[some] = (table[some] - self._mean) / self._scale
        value = sampler.rng.gumbel(size=table.shape[:2])
        for number in range(SET_ROUNDS):
            folds = sampler.folds[number % len(sampler.folds)]
            best = value.round(ENERGY_DIGITS).argmax(1)
            scorers = fit_sets(
                table[np.arange(len(rows)), best].astype(np.float32), folds[rows], sampler.seed, "sets", str(number)
            )
            self._models.append((scorers, folds))
            value -= SET_STEP * log_likelihood(scored(scorers, folds[rows], table))
            learnt()

    def excess(self, rows: Indices, features: Floats) -> Floats:
        """Return how conspicuous the correct option is in each set, as an array of shape (rows, sets)."""
        features = (features - self._mean) / self._scale
        odds = (log_likelihood(scored(scorers, folds[rows], features)) for scorers, folds in self._models)
        found: Floats = np.float32(SET_STEP) * np.sum(list(odds), axis=0)
        return found
