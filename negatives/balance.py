"""Wrong options that nobody tells from the right one without the video: drawn as the right one itself might be.

If the wrong options were draws from the same distribution of texts given the question as the right option, no reader of
question and options could do better than chance. So the density of right options over candidates is estimated in
rounds: a model of question and option learns to tell right options from drawn ones, its log-odds are added to the
energies of the candidates, and the wrong options are drawn anew. A second stage does the same with whole option sets,
because what a set looks like (its most central member, its longest) is no property of one option. The scores of a row
always come from models that did not see it.

What cannot be drawn away is left to flags (`subset`): an answer that is lent is an option of several questions, and
nearest to its own. To even that out, texts were held to as many wrong options as they are right, or kept from lending;
either left fewer that are as likely as the right one, and trees found these out.

What steers is small (`steering`): a network on question and option, and with a conditional logit (McFadden 1974) on the
set. Trees and n-grams never steer, and are left to judge (`evaluation.blind`).

Zellers et al. 2019, "HellaSwag", section 4 and Le Bras et al. 2020, "Adversarial Filters of Dataset Biases" keep the
options, or the rows, that one model finds hardest. Where we differ: nothing is chased to the bottom. What is hardest
for one model is recognised by the next as suspiciously hard; a draw is not.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..core.progress import Progress
from ..core.seeds import rng_for
from .counting import Counts
from .facets import WIDTH, Facet, Features, set_features
from .judges import FOLDS, Judge, chances
from .lending import Lending
from .steering import Network
from .subset import Drawn, left_out

Doubles = NDArray[np.float64]
Rows = NDArray[np.int64]

ENERGY_DIGITS = 4
SPREAD = 24.0  # brings projected embeddings to a size that networks learn from
STEPS = (1.0, 0.7, 0.5)  # how much of a model's log-odds is added in each round
CONTRAST = 6  # drawn candidates that a right option is told from
SETS = 48  # option sets of a row that the second stage chooses among
SET_ROUNDS = 8
SET_STEP = 0.6
MOST_JUDGED = 6_000  # whole sets are learnt from so many rows at most: all of them are in memory
MOST_ROWS = 12_000  # a model learns from so many rows at most
CLIP = 4.0
TAKEN = 100.0  # taken off the energy of a text that may lend no more


@dataclass(frozen=True, eq=False)
class Balanced:
    """What was drawn.

    Attributes:
        chosen: For each row the places of the drawn candidates, from 0.
        guessable: Whether each row is outside of the balanced subset.
    """

    chosen: Sequence[Rows]
    guessable: NDArray[np.bool_]


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
    state = _State(seed, ids, order, folds, features, energies, noise, need, Lending(facets, splits))
    total = (len(STEPS) + 1) * FOLDS * len(facets) + SET_ROUNDS + 1
    with Progress("balancing options", total, "model", brief=True) as progress:
        for number, step in enumerate(STEPS):
            for feature in features.values():
                state.learn(feature, number, step, progress.advance)
        return state.sets(Counts(facets, splits), progress.advance)


def _shuffled(names: Sequence[str], rng: np.random.Generator) -> list[str]:
    return [names[place] for place in rng.permutation(len(names)).tolist()]


@dataclass(eq=False)
class _State:
    seed: int
    ids: Sequence[str]
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
            net = Network.fit((table - mean) / scale, rng_for(self.seed, "balance", str(number), str(fold)))
            learnt()
            for row in self.order:
                if folds[row] == fold and len(self.energies[row]):
                    seen = (features.of(row, 1 + np.arange(len(self.energies[row]))) - mean) / scale
                    odds = net.odds(seen)
                    added[row] = step * np.clip(odds - odds.mean(), -CLIP, CLIP)
        for row, odds in added.items():
            self.energies[row] = (self.energies[row] + odds).round(ENERGY_DIGITS)

    def sets(self, counts: Counts, learnt: Callable[[], None]) -> Balanced:
        """Choose among sets of drawn candidates those in which the right option does not stand out, and the subset."""
        every = {row: np.arange(1, 1 + len(self.energies[row])) for row in self.order}
        chosen = [self.lending.distinct(row, every[row], self.need) for row in range(len(self.energies))]
        rows = [row for row in self.order if len(chosen[row]) == self.need]
        guessable = np.ones(len(chosen), np.bool_)
        if not rows:
            return Balanced([places - 1 for places in chosen], guessable)
        judges = self._set_judges(rows[:: len(rows) // MOST_JUDGED + 1], learnt)
        for row in sorted(set(self.order).difference(rows)):
            self.lending.take(row, chosen[row])
        for split in self.lending.order:
            for row in (row for row in rows if self.lending.splits[row] == split):
                chosen[row] = self._choose(row, judges)
                self.lending.take(row, chosen[row])
        for row, places in enumerate(chosen):
            counts.add(row, places)
        guessable[rows] = left_out(
            Drawn(
                rows,
                np.stack([np.append(0, chosen[row]) for row in rows]),
                self.features,
                counts,
                [self.lending.splits[row] for row in rows],
                [self.ids[row] for row in rows],
                [folds[rows] for folds in self.folds],
            ),
            self.seed,
            learnt,
        )
        return Balanced([places - 1 for places in chosen], guessable)

    def _seen(self, row: int, sets: Rows) -> Doubles:
        """Return what sets of a row show, float64 of shape (sets, options, features)."""
        return np.concatenate([set_features(features, row, sets) for features in self.features.values()], axis=2)

    def _set_judges(self, rows: Sequence[int], learnt: Callable[[], None]) -> list[Judge]:
        """Learn in rounds what tells the right option in the sets that are drawn."""
        table = np.empty(0)
        for place, row in enumerate(rows):
            seen = self._seen(row, np.stack([self.draw_set(row) for _ in range(SETS)]))
            if not place:
                table = np.empty((len(rows), *seen.shape))
            table[place] = seen
        scale = table.mean((0, 1, 2)), table.std((0, 1, 2)) + 1e-3
        standing = np.stack([self.noise[row].gumbel(size=SETS) for row in rows])
        everyone = np.arange(len(rows))
        judges = []
        for number in range(SET_ROUNDS):
            best = np.argmax(standing.round(ENERGY_DIGITS), axis=1)
            judges.append(
                Judge.learn(table[everyone, best], scale, self.folds[number % FOLDS], rows, self.seed, "sets", number)
            )
            for place, row in enumerate(rows):
                standing[place] -= SET_STEP * chances(judges[-1].odds(row, table[place]))
            learnt()
        return judges

    def _choose(self, row: int, judges: Sequence[Judge]) -> Rows:
        """Draw sets for a row, and choose one in which the right option does not stand out."""
        spent = np.where(self.lending.free(row), 0.0, -TAKEN)
        sets = np.stack([self.draw_set(row, spent) for _ in range(SETS)])
        value = self.noise[row].gumbel(size=SETS) + np.append(0.0, spent)[sets].sum(1)
        seen = self._seen(row, sets)
        value -= SET_STEP * np.sum([chances(judge.odds(row, seen)) for judge in judges], axis=0)
        best: Rows = sets[int(np.argmax(value.round(ENERGY_DIGITS)))]
        return best
