"""Sample balanced distractors: they follow the distribution of correct options, so that blind models are at chance.

If the distractors of a question were drawn from the same distribution of texts as its correct option, no model of
question and options could beat chance. That density over the candidates is estimated in rounds: a model of question and
option learns to separate correct options from sampled ones, its log-odds are added to the energies of the candidates,
and distractors are sampled again. A second stage does the same with entire option sets, because the most central or the
longest option is a property of the set. A row is only scored by models trained without it.

Sampling cannot remove every signal. The rest is handled by flags (`subset`): a borrowed answer is an option of several
questions and most similar to its own. Two alternatives left too few plausible candidates, which trees detected:
limiting each text to as many uses as a distractor as it has as a correct option, and excluding it from being borrowed.

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
from .features import WIDTH, Counts, PairFeatures, Target, set_features
from .learners import FOLDS, SetModel, fit_network, fit_sets, log_likelihood
from .subset import SampledRows, guessable_rows

Doubles = NDArray[np.float64]
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
    """The sampled distractors.

    Attributes:
        chosen: Positions of each row's chosen candidates, from 0.
        guessable: Whether each row is outside the balanced subset.
    """

    chosen: Sequence[Indices]
    guessable: NDArray[np.bool_]


def balance(
    ids: Sequence[str],
    questions: NDArray[np.float32],
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
    order = sorted(range(len(ids)), key=lambda row: ids[row])
    rng = rng_for(seed, "balance")
    folds = []
    names = sorted(set(groups))
    for _ in STEPS:
        fold_of = {names[group]: place % FOLDS for place, group in enumerate(rng.permutation(len(names)).tolist())}
        folds.append(np.array([fold_of[group] for group in groups]))
    projection = rng.standard_normal((questions.shape[1], WIDTH)) * SPREAD / np.sqrt(questions.shape[1])
    sampler = _Sampler(ids, order, folds, targets, splits, need, seed)
    total = (len(STEPS) + 1) * FOLDS * len(targets) + SET_ROUNDS + 1
    with Progress("balancing options", total, "model", brief=True) as progress:
        features = {name: PairFeatures(questions, target, projection.round(6)) for name, target in targets.items()}
        for number, step in enumerate(STEPS):
            for feature in features.values():
                sampler.learn(feature, number, step, progress.advance)
        return sampler.choose_sets(features, progress.advance)


class _Sampler:
    def __init__(
        self,
        ids: Sequence[str],
        order: Sequence[int],
        folds: Sequence[Indices],
        targets: Mapping[str, Target],
        splits: Sequence[str],
        need: int,
        seed: int,
    ):
        self.ids, self.order, self.folds, self.targets = ids, order, folds, targets
        self.splits, self.need, self.seed = splits, need, seed
        self.energies = [np.zeros(len(texts) - 1) for texts in next(iter(targets.values())).texts]
        self.noise = [rng_for(seed, "balance", name) for name in ids]
        # Splits choose in order of increasing size; each text is marked with the position of the split that uses it.
        self.split_order = sorted(set(splits), key=lambda split: (splits.count(split), split))
        self._place = {split: place for place, split in enumerate(self.split_order)}
        self._new = {name: np.sum(list(target.rights.values()), axis=0) == 0 for name, target in targets.items()}
        self._used_in = {name: np.full(len(new), UNUSED) for name, new in self._new.items()}

    def sample(self, row: int, count: int, spent: Doubles | float = 0.0) -> Indices:
        """Sample candidates without replacement according to their energies (Gumbel top-k); positions start at 1."""
        energy = self.energies[row] + spent
        key = energy + self.noise[row].gumbel(size=len(energy))
        return self.distinct(row, 1 + np.argsort(-key, kind="stable"), count)

    def sample_set(self, row: int, spent: Doubles | float = 0.0) -> Indices:
        """Sample as many candidates as needed; if they exclude too many others, take the first by position."""
        found = self.sample(row, self.need, spent)
        every = np.arange(1, 1 + len(self.energies[row]))
        return found if len(found) == self.need else self.distinct(row, every, self.need)

    def distinct(self, row: int, places: Indices, count: int) -> Indices:
        """Return the first positions whose texts differ from one another and from the correct text, for each target."""
        columns = [target.keys[row] for target in self.targets.values()]
        taken: list[set[int]] = [{int(keys[0])} for keys in columns]
        found: list[int] = []
        for place in places.tolist():
            if len(found) == count:
                break
            own = [int(keys[place]) for keys in columns]
            if any(key in known for key, known in zip(own, taken, strict=True)):
                continue
            for key, known in zip(own, taken, strict=True):
                known.add(key)
            found.append(place)
        return np.array(found, np.int64)

    def learn(self, features: PairFeatures, number: int, step: float, learnt: Callable[[], None]) -> None:
        """Fit correct against sampled options on some folds, and add the log-odds to the energies of the other rows."""
        sampled = {row: self.sample(row, CONTRAST) for row in self.order}
        folds = self.folds[number]
        added = {}
        for fold in range(FOLDS):
            known = [row for row in self.order if folds[row] != fold and len(sampled[row]) == CONTRAST]
            known = known[:: len(known) // MOST_ROWS + 1]
            if not known:
                continue
            table = np.stack([features.of(row, np.concatenate([[0], sampled[row]])) for row in known])
            mean, scale = table.mean((0, 1)), table.std((0, 1)) + 1e-3
            network = fit_network((table - mean) / scale, rng_for(self.seed, "balance", str(number), str(fold)))
            learnt()
            for row in self.order:
                if folds[row] == fold and len(self.energies[row]):
                    odds = network((features.of(row, 1 + np.arange(len(self.energies[row]))) - mean) / scale)
                    added[row] = step * np.clip(odds - odds.mean(), -CLIP, CLIP)
        for row, odds in added.items():
            self.energies[row] = (self.energies[row] + odds).round(ENERGY_DIGITS)

    def choose_sets(self, features: Mapping[str, PairFeatures], learnt: Callable[[], None]) -> Balanced:
        """Choose sampled sets in which the correct option is inconspicuous, and flag the guessable rows."""
        chosen = [self.distinct(row, np.arange(1, 1 + len(some)), self.need) for row, some in enumerate(self.energies)]
        rows = [row for row in self.order if len(chosen[row]) == self.need]
        guessable = np.ones(len(chosen), np.bool_)
        if rows:
            models = self._set_models(rows[:: len(rows) // MOST_SETS + 1], learnt)
            for row in sorted(set(self.order).difference(rows)):
                self._use(row, chosen[row])
            for split in self.split_order:
                for row in (row for row in rows if self.splits[row] == split):
                    chosen[row] = self._choose(row, models)
                    self._use(row, chosen[row])
            counts = Counts(self.targets, self.splits)
            for row, places in enumerate(chosen):
                counts.add(row, places)
            guessable[rows] = guessable_rows(
                SampledRows(
                    rows,
                    np.stack([np.append(0, chosen[row]) for row in rows]),
                    features,
                    counts,
                    [self.splits[row] for row in rows],
                    [self.ids[row] for row in rows],
                    [folds[rows] for folds in self.folds],
                ),
                self.seed,
                learnt,
            )
        return Balanced([places - 1 for places in chosen], guessable)

    def _set_features(self, row: int, sets: Indices) -> Doubles:
        return np.concatenate([set_features(target, row, sets) for target in self.targets.values()], axis=2)

    def _set_models(self, rows: Sequence[int], learnt: Callable[[], None]) -> list[SetModel]:
        table = np.empty(0)
        for place, row in enumerate(rows):
            features = self._set_features(row, np.stack([self.sample_set(row) for _ in range(SETS)]))
            if not place:
                table = np.empty((len(rows), *features.shape))
            table[place] = features
        scale = table.mean((0, 1, 2)), table.std((0, 1, 2)) + 1e-3
        value = np.stack([self.noise[row].gumbel(size=SETS) for row in rows])
        models = []
        for number in range(SET_ROUNDS):
            best = np.argmax(value.round(ENERGY_DIGITS), axis=1)
            sets, folds = table[np.arange(len(rows)), best], self.folds[number % FOLDS]
            models.append(fit_sets(sets, scale, folds, rows, self.seed, "sets", number))
            for place, row in enumerate(rows):
                value[place] -= SET_STEP * log_likelihood(models[-1].odds(row, table[place]))
            learnt()
        return models

    def _choose(self, row: int, models: Sequence[SetModel]) -> Indices:
        free = np.ones(len(self.energies[row]), np.bool_)  # candidates that no other split uses
        for name, target in self.targets.items():
            used = self._used_in[name][target.keys[row][1:]]
            free &= (used == UNUSED) | (used == self._place[self.splits[row]])
        spent = np.where(free, 0.0, -USED_UP)
        sets = np.stack([self.sample_set(row, spent) for _ in range(SETS)])
        value = self.noise[row].gumbel(size=SETS) + np.append(0.0, spent)[sets].sum(1)
        features = self._set_features(row, sets)
        value -= SET_STEP * np.sum([log_likelihood(model.odds(row, features)) for model in models], axis=0)
        best: Indices = sets[int(np.argmax(value.round(ENERGY_DIGITS)))]
        return best

    def _use(self, row: int, places: Indices) -> None:
        for name, target in self.targets.items():
            keys = target.keys[row][places]
            self._used_in[name][keys[self._new[name][keys]]] = self._place[self.splits[row]]
