"""Wrong options that nobody tells from the right one without the video: drawn as the right one itself might be.

If the wrong options were draws from the same distribution of texts given the question as the right option, no reader of
question and options could do better than chance. So the density of right options over candidates is estimated in
rounds: a model of question and option learns to tell right options from drawn ones, its log-odds are added to the
energies of the candidates, and the wrong options are drawn anew. A second stage does the same with whole option sets,
because what a set looks like (its most central member, its longest) is no property of one option. The scores of a row
always come from models that did not see it.

What steers is small (`steering`): a network on question and option, and with a conditional logit (McFadden 1974) on the
set. Trees and n-grams never steer, and are left to judge (`metrics.blind`).

Zellers et al. 2019, "HellaSwag", section 4 and Le Bras et al. 2020, "Adversarial Filters of Dataset Biases" keep the
options, or the rows, that one model finds hardest. Where we differ: nothing is chased to the bottom. What is hardest
for one model is recognised by the next as suspiciously hard; a draw is not.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..progress import Progress
from ..seeds import rng_for
from .facets import WIDTH, Facet, Features, set_features
from .lending import Lending
from .steering import Network, conditional_logit

Doubles = NDArray[np.float64]
Rows = NDArray[np.int64]

FOLDS = 3
ENERGY_DIGITS = 4
SPREAD = 24.0  # brings projected embeddings to a size that networks learn from
STEPS = (1.0, 0.7, 0.5)  # how much of a model's log-odds is added in each round
CONTRAST = 6  # drawn candidates that a right option is told from
SETS = 48  # option sets of a row that the second stage chooses among
SET_ROUNDS = 8
SET_STEP = 0.6
MOST_ROWS = 12_000  # a model learns from so many rows at most
CLIP = 4.0
TAKEN = 100.0  # taken off the energy of a text that may lend no more


@dataclass(frozen=True, eq=False)
class Balanced:
    """What was drawn.

    Attributes:
        chosen: For each row the places of the drawn candidates, from 0.
        guessable: By kind, for each row how likely networks that did not see it take the right option for right, if
            they take it for the likeliest; else 0.
    """

    chosen: Sequence[Rows]
    guessable: Mapping[str, Doubles]


def balance(
    ids: Sequence[str],
    questions: NDArray[np.float32],
    facets: Mapping[str, Facet],
    *,
    need: int,
    groups: Sequence[str],
    splits: Sequence[str],
    seed: int = 0,
) -> Balanced:
    """Draw the wrong options of every row.

    A candidate is one for all facets at once: an answer together with its explanation, so that the right answer and
    the right explanation are not the only two that go together.

    Args:
        ids: The rows; their order does not matter.
        questions: Embeddings of the questions, float32 of shape (rows, dimensions).
        facets: By kind, the texts.
        need: How many to draw for each row; all where there are fewer.
        groups: What keeps rows together, such as their videos: a model that scores a row saw none of its group.
        splits: The split of each row. What is right nowhere is wrong in one split only, or else a text that is known
            as wrong from train is wrong in the test.
        seed: The dataset's seed.

    Returns:
        What was drawn, in the order of `ids`.
    """
    order = sorted(range(len(ids)), key=lambda row: ids[row])
    rng = rng_for(seed, "balance")
    folds = []
    for _ in STEPS:
        fold_of = {group: place % FOLDS for place, group in enumerate(_shuffled(sorted(set(groups)), rng))}
        folds.append(np.array([fold_of[group] for group in groups]))
    projection = rng.standard_normal((questions.shape[1], WIDTH)) * SPREAD / np.sqrt(questions.shape[1])
    features = {kind: Features(questions, facet, projection.round(6)) for kind, facet in facets.items()}
    noise = [rng_for(seed, "balance", ids[row]) for row in range(len(ids))]
    energies = [np.zeros(len(texts) - 1) for texts in next(iter(facets.values())).texts]
    state = _State(order, folds, features, energies, noise, need, Lending(facets, splits))
    total = (len(STEPS) + 1) * FOLDS * len(facets) + SET_ROUNDS
    with Progress("balancing options", total, "model", brief=True) as progress:
        for number, step in enumerate(STEPS):
            for feature in features.values():
                state.learn(feature, number, step, progress.advance)
        return state.sets(progress.advance)


def _shuffled(names: Sequence[str], rng: np.random.Generator) -> list[str]:
    return [names[place] for place in rng.permutation(len(names)).tolist()]


@dataclass(eq=False)
class _State:
    order: Sequence[int]
    folds: Sequence[Rows]
    features: Mapping[str, Features]
    energies: list[Doubles]
    noise: Sequence[np.random.Generator]
    need: int
    lending: Lending

    def draw(self, row: int, count: int, spent: Doubles | float = 0.0) -> Rows:
        """Draw candidates without replacement by their energies (Gumbel top-k); places from 1."""
        energy = self.energies[row] + spent
        key = energy + self.noise[row].gumbel(size=len(energy))
        return self.lending.distinct(row, 1 + np.argsort(-key, kind="stable"), count)

    def draw_set(self, row: int, spent: Doubles | float = 0.0) -> Rows:
        """Draw as many candidates as are needed; where those drawn exclude too many others, the first by place."""
        found = self.draw(row, self.need, spent)
        every = np.arange(1, 1 + len(self.energies[row]))
        return found if len(found) == self.need else self.lending.distinct(row, every, self.need)

    def learn(self, features: Features, number: int, step: float, learnt: Callable[[], None]) -> None:
        """Learn on some rows what tells right options from drawn ones, and add it to the energies of the others."""
        drawn = {row: self.draw(row, CONTRAST) for row in self.order}
        folds = self.folds[number]
        added = {}
        for fold in range(FOLDS):
            known = [row for row in self.order if folds[row] != fold and len(drawn[row]) == CONTRAST]
            known = known[:: len(known) // MOST_ROWS + 1]
            if not known:
                continue
            places = [np.concatenate([[0], drawn[row]]) for row in known]
            table = np.stack([features.of(row, place) for row, place in zip(known, places, strict=True)])
            mean, scale = table.mean((0, 1)), table.std((0, 1)) + 1e-3
            net = Network.fit((table - mean) / scale, rng_for(0, "balance", str(number), str(fold)))
            learnt()
            for row in self.order:
                if folds[row] == fold and len(self.energies[row]):
                    seen = (features.of(row, 1 + np.arange(len(self.energies[row]))) - mean) / scale
                    odds = net.odds(seen)
                    added[row] = step * np.clip(odds - odds.mean(), -CLIP, CLIP)
        for row, odds in added.items():
            self.energies[row] = (self.energies[row] + odds).round(ENERGY_DIGITS)

    def sets(self, learnt: Callable[[], None]) -> Balanced:
        """Choose among sets of drawn candidates those in which the right option does not stand out."""
        every = {row: np.arange(1, 1 + len(self.energies[row])) for row in self.order}
        rows = [row for row in self.order if len(self.lending.distinct(row, every[row], self.need)) == self.need]
        proposals: list[Rows] = []
        tables: list[Doubles] = []
        for row in rows:
            proposals.append(np.stack([self.draw_set(row) for _ in range(SETS)]))
            seen = [set_features(self.features[k], row, proposals[-1]) for k in self.features]
            tables.append(np.concatenate(seen, axis=2))
        chosen: list[Rows] = [
            self.lending.distinct(row, every[row], self.need) - 1 for row in range(len(self.energies))
        ]
        if not rows:
            return Balanced(chosen, {kind: np.ones(len(self.energies)) for kind in self.features})
        table = np.stack(tables)  # (rows, sets, options, features)
        tables.clear()
        shape = table.shape
        mean, scale = table.mean((0, 1, 2)), table.std((0, 1, 2)) + 1e-3
        table -= mean  # in place: it is the largest thing there is
        table /= scale
        gumbel = np.stack([self.noise[row].gumbel(size=SETS) for row in rows])
        standing = np.zeros(shape[:2])
        chance = np.zeros(shape[:2])
        everyone = np.arange(len(rows))
        judges: list[tuple[Rows, list[Callable[[Doubles], Doubles]]]] = []
        for number in range(SET_ROUNDS):
            best = np.argmax((standing + gumbel).round(ENERGY_DIGITS), axis=1)
            now = table[everyone, best]
            folds = self.folds[number % len(self.folds)][rows]
            found = [
                _set_judge(now[folds != fold], rng_for(0, "sets", str(number), str(fold))) for fold in range(FOLDS)
            ]
            judges.append((folds, found))
            for fold in range(FOLDS):
                here = folds == fold
                chance[here] = _chance(found[fold], table[here])
            standing = (standing - SET_STEP * chance).round(ENERGY_DIGITS)
            learnt()
        for row in sorted(set(self.order).difference(rows)):
            self.lending.take(row, 1 + chosen[row])
        sets = np.zeros((len(rows), *shape[2:]))
        for split in self.lending.order:
            for place in (n for n, row in enumerate(rows) if self.lending.splits[row] == split):
                row = rows[place]
                spent = np.where(self.lending.free(row), 0.0, -TAKEN)
                drawn = np.stack([self.draw_set(row, spent) for _ in range(SETS)])
                of_sets = np.concatenate([set_features(self.features[k], row, drawn) for k in self.features], axis=2)
                of_sets = (of_sets - mean) / scale
                value = gumbel[place].copy()
                for folds, found in judges:
                    value -= SET_STEP * _chance(found[folds[place]], of_sets[None])[0]
                value += np.array([spent[some - 1].sum() for some in drawn])
                best_set = int(np.argmax(value.round(ENERGY_DIGITS)))
                chosen[row], sets[place] = drawn[best_set] - 1, of_sets[best_set]
                self.lending.take(row, drawn[best_set])
        return Balanced(chosen, self._guessable(rows, chosen, sets, learnt))

    def _guessable(
        self, rows: Sequence[int], chosen: Sequence[Rows], sets: Doubles, learnt: Callable[[], None]
    ) -> dict[str, Doubles]:
        """Return how likely networks that did not see a row take its right option for right, by what they look at."""
        found: dict[str, Doubles] = {}
        places = [np.concatenate([[0], 1 + chosen[row]]) for row in rows]
        for name, features in self.features.items():
            table = np.stack([features.of(row, place) for row, place in zip(rows, places, strict=True)])
            table = np.concatenate([table, sets], axis=2)
            table = (table - table.mean((0, 1))) / (table.std((0, 1)) + 1e-3)
            likely = np.ones(len(self.energies))
            folds = self.folds[0][rows]
            for fold in range(FOLDS):
                here = folds == fold
                nets = [Network.fit(table[~here], rng_for(0, "guess", name, str(fold), str(n))) for n in range(2)]
                flat = table[here].reshape(-1, table.shape[2])
                odds = (nets[0].odds(flat) + nets[1].odds(flat)).reshape(-1, table.shape[1])
                share = np.exp(odds[:, 0] - np.logaddexp.reduce(odds, axis=1))
                first = (odds[:, :1] >= odds).all(1)
                likely[np.array(rows)[here]] = (share * first).round(ENERGY_DIGITS)
                learnt()
            found[name] = likely
        return found


def _chance(judge: Callable[[Doubles], Doubles], table: Doubles) -> Doubles:
    """Return the log-probability of the right option, for a table of shape (rows, sets, options, features)."""
    odds = judge(table.reshape(-1, table.shape[3])).reshape(table.shape[:3])
    found: Doubles = odds[..., 0] - np.logaddexp.reduce(odds, axis=2)
    return found


def _set_judge(table: Doubles, rng: np.random.Generator) -> Callable[[Doubles], Doubles]:
    """Learn on the sets of some rows what tells their right option."""
    weights = conditional_logit(table, ridge=1e-3)
    net = Network.fit(table, rng)
    return lambda seen: 0.5 * (seen @ weights + net.odds(seen))
