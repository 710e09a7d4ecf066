"""Wrong options that nobody tells from the right one without the video: drawn as the right one itself might be.

If the wrong options were draws from the same distribution of texts given the question as the right option, no reader of
question and options could do better than chance. So the density of right options over candidates is estimated in
rounds: a model of question and option learns to tell right options from drawn ones, its log-odds are added to the
energies of the candidates, and the wrong options are drawn anew. A second stage does the same with whole option sets,
because what a set looks like (its most central member, its longest) is no property of one option. The scores of a row
always come from models that did not see it.

Every model here is a conditional logit (McFadden 1974) on fixed features, in float64 and rounded before anything is
drawn, so that other machines draw the same. Networks, trees and n-grams never steer, and are left to judge.

Zellers et al. 2019, "HellaSwag", section 4 and Le Bras et al. 2020, "Adversarial Filters of Dataset Biases" keep the
options, or the rows, that one model finds hardest. Where we differ: nothing is chased to the bottom. What is hardest
for one model is recognised by the next as suspiciously hard; a draw is not.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..seeds import rng_for

Doubles = NDArray[np.float64]
Rows = NDArray[np.int64]
Progress = Callable[[int, int], None]

FOLDS = 3
ROUNDS = 3
STEPS = (1.0, 0.7, 0.5)  # how much of a model's log-odds is added in each round
CONTRAST = 6  # drawn candidates that a right option is told from
SETS = 48  # option sets of a row that the second stage chooses among
SET_ROUNDS = 16
SET_STEP = 0.6
WIDTH = 128  # random projections of an embedding
MOST_ROWS = 12_000  # a model learns from so many rows at most
CLIP = 4.0
HIDDEN = 96
EPOCHS = 6
BATCH = 64
DROPPED = 0.3
RATE = 1e-3
DECAY = 1e-2
ENERGY_DIGITS = 4


@dataclass(frozen=True, eq=False)
class Facet:
    """One kind of text that is chosen among: answers, or explanations.

    Attributes:
        vectors: Embeddings of all texts, float32 of shape (texts, dimensions), each of length 1.
        texts: For each row the number of the right text and those of its candidates, the right one first.
        cues: For each row float64 of shape (1 + candidates, cues): what else can be seen of question and text.
    """

    vectors: NDArray[np.float32]
    texts: Sequence[Rows]
    cues: Sequence[Doubles]


@dataclass(frozen=True, eq=False)
class Balanced:
    """What was drawn.

    Attributes:
        chosen: For each row the places of the drawn candidates, from 0.
        guessable: For each row how likely a model that did not see it takes the right option to be right.
    """

    chosen: Sequence[Rows]
    guessable: Doubles


def balance(
    ids: Sequence[str],
    questions: NDArray[np.float32],
    facets: Mapping[str, Facet],
    *,
    need: int,
    groups: Sequence[str],
    seed: int = 0,
    progress: Progress | None = None,
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
        seed: The dataset's seed.
        progress: Called with the models learnt and to learn.

    Returns:
        What was drawn, in the order of `ids`.
    """
    order = sorted(range(len(ids)), key=lambda row: ids[row])
    rng = rng_for(seed, "balance")
    folds = []
    for _ in range(max(ROUNDS, 1)):
        fold_of = {group: place % FOLDS for place, group in enumerate(_shuffled(sorted(set(groups)), rng))}
        folds.append(np.array([fold_of[group] for group in groups]))
    projection = rng.standard_normal((questions.shape[1], WIDTH)) * 3 / np.sqrt(questions.shape[1]) * 8
    features = {
        kind: _Features(questions, facet, projection.round(6), rng.standard_normal((len(order), 0)))
        for kind, facet in facets.items()
    }
    noise = [rng_for(seed, "balance", ids[row]) for row in range(len(ids))]
    counts = [len(next(iter(facets.values())).texts[row]) - 1 for row in range(len(ids))]
    energies = [np.zeros(count) for count in counts]
    state = _State(order, folds, features, energies, noise, need)
    total = ROUNDS * FOLDS * len(facets) + SET_ROUNDS
    done = 0

    def learnt() -> None:
        nonlocal done
        done += 1
        if progress is not None:
            progress(done, total)

    for number, step in enumerate(STEPS[:ROUNDS]):
        for feature in features.values():
            state.learn(feature, number, step, learnt)
    return state.sets(progress, done, total)


def _shuffled(names: Sequence[str], rng: np.random.Generator) -> list[str]:
    return [names[place] for place in rng.permutation(len(names)).tolist()]


class _Features:
    """What a model sees of question and option."""

    def __init__(self, questions: NDArray[np.float32], facet: Facet, projection: Doubles, _: Doubles):
        self.facet = facet
        self.projection = projection
        self.questions = (questions.astype(np.float64).round(4) @ projection).round(6)
        self.vectors = facet.vectors
        self._projected: Doubles = np.empty((len(facet.vectors), WIDTH))
        for first in range(0, len(facet.vectors), 8192):
            part = facet.vectors[first : first + 8192].astype(np.float64).round(4)
            self._projected[first : first + 8192] = (part @ projection).round(6)

    def of(self, row: int, places: Rows) -> Doubles:
        """Return the features of options of a row, float64 of shape (options, features); place 0 is the right one."""
        question = self.questions[row]
        option = self._projected[self.facet.texts[row][places]]
        cues = self.facet.cues[row][places]
        return np.concatenate(
            [np.broadcast_to(question, option.shape), option, option * question, np.abs(option - question), cues], axis=1
        )


@dataclass(eq=False)
class _State:
    order: Sequence[int]
    folds: Sequence[Rows]
    features: Mapping[str, _Features]
    energies: list[Doubles]
    noise: Sequence[np.random.Generator]
    need: int

    def draw(self, row: int, count: int) -> Rows:
        """Draw candidates without replacement by their energies (Gumbel top-k); places from 1."""
        energy = self.energies[row]
        key = energy + self.noise[row].gumbel(size=len(energy))
        return 1 + np.argsort(-key, kind="stable")[:count]

    def learn(self, features: _Features, number: int, step: float, learnt: Callable[[], None]) -> None:
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
            hit = []
            for row in self.order:
                if folds[row] == fold and len(self.energies[row]):
                    seen = (features.of(row, np.arange(0, 1 + len(self.energies[row]))) - mean) / scale
                    odds = net.odds(seen)
                    if len(drawn[row]) >= 4: hit.append(odds[0] > odds[drawn[row][:4]].max())
                    odds = odds[1:]
                    added[row] = step * np.clip(odds - odds.mean(), -CLIP, CLIP)
            import os
            if os.environ.get("DBG"):
                print(number, fold, table.shape, "held-out hits", np.mean(hit), flush=True)
        for row, odds in added.items():
            self.energies[row] = (self.energies[row] + odds).round(ENERGY_DIGITS)

    def sets(self, progress: Progress | None, done: int, total: int) -> Balanced:
        """Choose among sets of drawn candidates those in which the right option does not stand out."""
        rows = [row for row in self.order if len(self.energies[row]) >= self.need]
        few = [row for row in self.order if len(self.energies[row]) < self.need]
        proposals: list[Rows] = []
        tables: list[Doubles] = []
        for row in rows:
            sets = np.stack([self.draw(row, self.need) for _ in range(SETS)])
            proposals.append(sets)
            tables.append(np.concatenate([set_features(self.features[k], row, sets) for k in self.features], axis=2))
        chosen: list[Rows] = [np.arange(len(energy)) for energy in self.energies]
        guessable = np.full(len(self.energies), 1.0)
        if not rows:
            return Balanced(chosen, guessable)
        table = np.stack(tables)  # (rows, sets, options, features)
        shape = table.shape
        mean, scale = table.mean((0, 1, 2)), table.std((0, 1, 2)) + 1e-3
        table = (table - mean) / scale
        gumbel = np.stack([self.noise[row].gumbel(size=SETS) for row in rows])
        folds = self.folds[-1][rows]
        standing = np.zeros(shape[:2])
        chance = np.zeros(shape[:2])
        for number in range(SET_ROUNDS):
            best = np.argmax((standing + gumbel).round(ENERGY_DIGITS), axis=1)
            now = table[np.arange(len(rows)), best]
            for fold in range(FOLDS):
                here = folds == fold
                weights = conditional_logit(now[~here], ridge=1e-3)
                odds = (table[here].reshape(-1, shape[3]) @ weights).reshape(-1, *shape[1:3])
                chance[here] = odds[..., 0] - np.logaddexp.reduce(odds, axis=2)
            standing = (standing - SET_STEP * chance).round(ENERGY_DIGITS)
            if progress is not None:
                progress(done + number + 1, total)
        best = np.argmax((standing + gumbel).round(ENERGY_DIGITS), axis=1)
        for place, row in enumerate(rows):
            chosen[row] = proposals[place][best[place]] - 1
            guessable[row] = np.exp(chance[place, best[place]])
        for row in few:
            chosen[row] = np.arange(len(self.energies[row]))
        return Balanced(chosen, guessable)


@dataclass(frozen=True, eq=False)
class Network:
    """A network with one hidden layer that says how likely an option is the right one of its set.

    Attributes:
        inner: Weights of shape (features, hidden).
        shift: Of shape (hidden,).
        outer: Of shape (hidden,).
    """

    inner: Doubles
    shift: Doubles
    outer: Doubles

    def odds(self, table: Doubles) -> Doubles:
        """Return the log-odds of options, but for what is the same for all of a set."""
        found: Doubles = np.maximum(table @ self.inner + self.shift, 0) @ self.outer
        return found

    @staticmethod
    def fit(table: Doubles, rng: np.random.Generator) -> Network:
        """Learn that the first option of each row is the right one.

        Args:
            table: Features, float64 of shape (rows, options, features), scaled alike.
            rng: Draws the weights to begin with, the order of rows and what is dropped out.
        """
        rows, options, width = table.shape
        values = [
            rng.standard_normal((width, HIDDEN)) / np.sqrt(width),
            np.zeros(HIDDEN),
            rng.standard_normal(HIDDEN) / np.sqrt(HIDDEN),
        ]
        first, second = [np.zeros_like(v) for v in values], [np.zeros_like(v) for v in values]
        step = 0
        for _ in range(EPOCHS):
            order = rng.permutation(rows)
            for start in range(0, rows, BATCH):
                batch = order[start : start + BATCH]
                seen = table[batch].reshape(-1, width) * ((rng.random((1, width)) > DROPPED) / (1 - DROPPED))
                kept = (rng.random((len(seen), HIDDEN)) > DROPPED) / (1 - DROPPED)
                bent = np.maximum(seen @ values[0] + values[1], 0) * kept
                odds = (bent @ values[2]).reshape(-1, options)
                odds -= odds.max(1, keepdims=True)
                error = np.exp(odds)
                error /= error.sum(1, keepdims=True)
                error[:, 0] -= 1
                error = error.reshape(-1) / len(batch)
                back = error[:, None] * values[2] * (bent > 0) * kept
                gradients = [seen.T @ back, back.sum(0), bent.T @ error]
                step += 1
                for value, gradient, m, v in zip(values, gradients, first, second, strict=True):
                    m += 0.1 * (gradient - m)
                    v += 0.001 * (gradient**2 - v)
                    rate = RATE * np.sqrt(1 - 0.999**step) / (1 - 0.9**step)
                    value -= rate * m / (np.sqrt(v) + 1e-8) + RATE * DECAY * value
        return Network(*values)


def set_features(features: _Features, row: int, sets: Rows) -> Doubles:
    """Return what a set makes of each option, float64 of shape (sets, options, features); the right one comes first.

    Args:
        features: Of one kind.
        row: Which row.
        sets: Places of the drawn candidates, from 1, of shape (sets, need).
    """
    facet = features.facet
    members = np.concatenate([np.zeros((len(sets), 1), np.int64), sets], axis=1)
    used, inverse = np.unique(members, return_inverse=True)
    inverse = inverse.reshape(members.shape)
    vectors = facet.vectors[facet.texts[row][used]].astype(np.float64)
    cosines = (vectors @ vectors.T).round(4)
    np.fill_diagonal(cosines, np.nan)
    block = cosines[inverse[:, :, None], inverse[:, None, :]]
    mean, most = np.nanmean(block, axis=2), np.nanmax(block, axis=2)
    cues = facet.cues[row][members]
    columns = [*_relative(mean), *_relative(most)]
    for cue in range(cues.shape[2]):
        values = cues[:, :, cue]
        columns += [values - values.mean(1, keepdims=True)] if cue >= RANKED else [*_relative(values)]
    return np.stack(columns, axis=2)


RANKED = 6  # so many cues count by their rank too


def _relative(values: Doubles) -> list[Doubles]:
    """Return values against their set's mean, and which is the first, the second, the last and the last but one."""
    low = (values[:, :, None] > values[:, None, :]).sum(2) + 0.5 * (values[:, :, None] == values[:, None, :]).sum(2)
    rank = low - 0.5
    last = values.shape[1] - 1
    return [
        values - values.mean(1, keepdims=True),
        rank / last,
        np.clip(rank - (last - 1), 0, 1),
        np.clip(1 - rank, 0, 1),
    ]


def conditional_logit(table: Doubles, *, ridge: float = 3e-3, steps: int = 60) -> Doubles:
    """Fit weights under which the first option of each row is likely the right one.

    Args:
        table: Features, float64 of shape (rows, options, features), scaled alike.
        ridge: Penalty of the weights' squares, against the mean loss of a row.
        steps: Of Nesterov's accelerated gradient; a fixed number, so that nothing depends on when it stops.

    Returns:
        Weights, float64 of shape (features,).
    """
    rows, options, width = table.shape
    flat = table.reshape(-1, width)
    weights = np.zeros(width)
    ahead = weights
    # The curvature of the loss is at most half the largest eigenvalue of the second moments.
    vector = np.ones(width) / np.sqrt(width)
    for _ in range(12):
        vector = flat.T @ (flat @ vector)
        vector /= np.linalg.norm(vector) + 1e-300
    rate = 1 / (0.5 * np.linalg.norm(flat @ vector) ** 2 / rows * 1.1 + ridge)
    target = table[:, 0].sum(0)
    for step in range(steps):
        odds = (flat @ ahead).reshape(rows, options)
        odds -= odds.max(1, keepdims=True)
        share = np.exp(odds)
        share /= share.sum(1, keepdims=True)
        gradient = (flat.T @ share.ravel() - target) / rows + ridge * ahead
        new = ahead - rate * gradient
        ahead = new + step / (step + 3) * (new - weights)
        weights = new
    return weights
