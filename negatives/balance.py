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

from ..progress import Progress
from ..seeds import rng_for

Doubles = NDArray[np.float64]
Rows = NDArray[np.int64]

FOLDS = 3
ROUNDS = 4
STEPS = (1.0, 0.8, 0.6, 0.5)  # how much of a model's log-odds is added in each round
CONTRAST = 6  # drawn candidates that a right option is told from
SETS = 48  # option sets of a row that the second stage chooses among
SET_ROUNDS = 8
SET_STEP = 0.6
WIDTH = 128  # random projections of an embedding
MOST_ROWS = 12_000  # a model learns from so many rows at most
CLIP = 4.0
SPENT = 0.02  # what a text that may lend no more still counts
EVEN = 3  # times that what texts lend is compared with what they may, in each round
HIDDEN = 96
EPOCHS = 6
BATCH = 64
DROPPED = 0.3
RATE = 1e-3
DECAY = 1e-2
ENERGY_DIGITS = 4
TAKEN = 100.0  # taken off the energy of a text that may lend no more


@dataclass(frozen=True, eq=False)
class Facet:
    """One kind of text that is chosen among: answers, or explanations.

    Attributes:
        vectors: Embeddings of all texts, float32 of shape (texts, dimensions), each of length 1.
        texts: For each row the number of the right text and those of its candidates, the right one first.
        cues: For each row float64 of shape (1 + candidates, cues): what else can be seen of question and text.
        keys: For each row the same as `texts`, by numbers that texts saying the same in the same words share.
        rights: By split, how often each key is right there, int64 of shape (keys,).
        lends: Of keys that are right once, whether they may be wrong elsewhere, shape (keys,).
    """

    vectors: NDArray[np.float32]
    texts: Sequence[Rows]
    cues: Sequence[Doubles]
    keys: Sequence[Rows]
    rights: Mapping[str, Rows]
    lends: NDArray[np.bool_]


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
        splits: The split of each row. What is right nowhere is wrong once at most, and what is right somewhere is
            wrong in a split in proportion to how often it is right there; or else a text known as wrong from one
            split is wrong in another.
        seed: The dataset's seed.

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
    lending = _Lending(facets, splits, need)
    state = _State(order, folds, features, lending.shares(), noise, need, lending)
    total = (ROUNDS + 1) * FOLDS * len(facets) + SET_ROUNDS
    with Progress("balancing options", total, "model", brief=True) as progress:
        for number, step in enumerate(STEPS[:ROUNDS]):
            for feature in features.values():
                state.learn(feature, number, step, progress.advance)
        return state.sets(progress.advance)


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
            [np.broadcast_to(question, option.shape), option, option * question, np.abs(option - question), cues],
            axis=1,
        )


class _Lending:
    """How often a text may be wrong."""

    def __init__(self, facets: Mapping[str, Facet], splits: Sequence[str], need: int):
        self.facets, self.splits, self.need = facets, splits, need
        self.order = sorted(set(splits), key=lambda split: (splits.count(split), split))  # the small ones choose first
        self.total = {kind: sum(facet.rights.values()) for kind, facet in facets.items()}

    def limits(self, kind: str, split: str) -> Doubles:
        """Return how often each key may be wrong in a split.

        What is right nowhere is wrong once. What is right somewhere is never wrong, or as many times as often as there
        are wrong options for a right one: a text that is seen twice and is right once would be worth a guess.
        """
        facet = self.facets[kind]
        often = self.need * facet.rights[split].astype(np.float64)
        return np.where(self.total[kind] == 0, 1.0, np.where((self.total[kind] == 1) & ~facet.lends, 0.0, often))

    def shares(self) -> list[Doubles]:
        """Return the energies to begin with: a text that many rows may take is as much less likely in each."""
        found = [np.zeros(len(texts) - 1) for texts in next(iter(self.facets.values())).texts]
        for kind, facet in self.facets.items():
            wanted = {split: np.zeros(len(rights)) for split, rights in facet.rights.items()}
            for row, keys in enumerate(facet.keys):
                np.add.at(wanted[self.splits[row]], keys[1:], 1)
            everywhere = np.sum(list(wanted.values()), axis=0)
            for row, keys in enumerate(facet.keys):
                split = self.splits[row]
                new = self.total[kind][keys[1:]] == 0
                asked = np.where(new, everywhere[keys[1:]], wanted[split][keys[1:]])
                share = np.log((self.limits(kind, split)[keys[1:]] + SPENT) / asked)
                found[row] = (found[row] + np.minimum(share, 0)).round(ENERGY_DIGITS)
        return found

    def distinct(self, row: int, places: Rows, count: int) -> Rows:
        """Return the first places whose texts are all different, of each kind."""
        columns = [facet.keys[row] for facet in self.facets.values()]
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

    def even(self, drawn: Mapping[int, Rows]) -> list[Doubles]:
        """Return what to add to the energies, so that texts that are right somewhere lend as often as they may."""
        found = [np.zeros(len(texts) - 1) for texts in next(iter(self.facets.values())).texts]
        for kind, facet in self.facets.items():
            lent = {split: np.zeros(len(rights)) for split, rights in facet.rights.items()}
            for row, places in drawn.items():
                np.add.at(lent[self.splits[row]], facet.keys[row][places], 1)
            for split, counts in lent.items():
                ratio = np.log((self.limits(kind, split) + 0.5) / (counts + 0.5)).clip(-1, 1)
                lent[split] = np.where((self.total[kind] > 1) | ((self.total[kind] == 1) & facet.lends), ratio, 0)
            for row, keys in enumerate(facet.keys):
                found[row] = found[row] + lent[self.splits[row]][keys[1:]]
        return found


class _Left:
    """How often texts may still be wrong, while sets are chosen one after another."""

    def __init__(self, lending: _Lending):
        self.lending = lending
        self.left = {
            (kind, split): lending.limits(kind, split)
            for kind, facet in lending.facets.items()
            for split in facet.rights
        }
        self.new = {kind: np.where(total == 0, 1.0, np.inf) for kind, total in lending.total.items()}

    def free(self, row: int) -> NDArray[np.bool_]:
        """Return which candidates of a row may still be taken."""
        free = np.ones(len(next(iter(self.lending.facets.values())).texts[row]) - 1, np.bool_)
        for kind, facet in self.lending.facets.items():
            keys = facet.keys[row][1:]
            once = (self.lending.total[kind][keys] == 1) & ~facet.lends[keys]  # seldom drawn, but the better way out
            free &= once | (np.minimum(self.left[kind, self.lending.splits[row]][keys], self.new[kind][keys]) >= 1)
        return free

    def take(self, row: int, places: Rows) -> None:
        """Note what a row takes."""
        for kind, facet in self.lending.facets.items():
            keys = facet.keys[row][places]
            self.left[kind, self.lending.splits[row]][keys] -= 1
            self.new[kind][keys] -= 1


@dataclass(eq=False)
class _State:
    order: Sequence[int]
    folds: Sequence[Rows]
    features: Mapping[str, _Features]
    energies: list[Doubles]
    noise: Sequence[np.random.Generator]
    need: int
    lending: _Lending

    def draw(self, row: int, count: int, spent: Doubles | float = 0.0) -> Rows:
        """Draw candidates without replacement by their energies (Gumbel top-k); places from 1."""
        energy = self.energies[row] + spent
        key = energy + self.noise[row].gumbel(size=len(energy))
        return self.lending.distinct(row, 1 + np.argsort(-key, kind="stable"), count)

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
            for row in self.order:
                if folds[row] == fold and len(self.energies[row]):
                    seen = (features.of(row, 1 + np.arange(len(self.energies[row]))) - mean) / scale
                    odds = net.odds(seen)
                    added[row] = step * np.clip(odds - odds.mean(), -CLIP, CLIP)
        for row, odds in added.items():
            self.energies[row] = (self.energies[row] + odds).round(ENERGY_DIGITS)
        for _ in range(EVEN):
            more = self.lending.even({row: self.draw(row, self.need) for row in self.order})
            self.energies = [(one + add).round(ENERGY_DIGITS) for one, add in zip(self.energies, more, strict=True)]

    def sets(self, learnt: Callable[[], None]) -> Balanced:
        """Choose among sets of drawn candidates those in which the right option does not stand out."""
        every = {row: np.arange(1, 1 + len(self.energies[row])) for row in self.order}
        rows = [row for row in self.order if len(self.lending.distinct(row, every[row], self.need)) == self.need]
        proposals: list[Rows] = []
        tables: list[Doubles] = []
        for row in rows:
            proposals.append(np.stack([self.draw(row, self.need) for _ in range(SETS)]))
            sets = proposals[-1]
            tables.append(np.concatenate([set_features(self.features[k], row, sets) for k in self.features], axis=2))
        chosen: list[Rows] = [
            self.lending.distinct(row, every[row], self.need) - 1 for row in range(len(self.energies))
        ]
        if not rows:
            return Balanced(chosen, {kind: np.ones(len(self.energies)) for kind in self.features})
        table = np.stack(tables)  # (rows, sets, options, features)
        shape = table.shape
        mean, scale = table.mean((0, 1, 2)), table.std((0, 1, 2)) + 1e-3
        table = (table - mean) / scale
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
        left = _Left(self.lending)
        sets = np.zeros((len(rows), *shape[2:]))
        for split in self.lending.order:
            for place in (n for n, row in enumerate(rows) if self.lending.splits[row] == split):
                row = rows[place]
                spent = np.where(left.free(row), 0.0, -TAKEN)
                drawn = np.stack([self.draw(row, self.need, spent) for _ in range(SETS)])
                seen = np.concatenate([set_features(self.features[k], row, drawn) for k in self.features], axis=2)
                seen = (seen - mean) / scale
                value = gumbel[place].copy()
                for folds, found in judges:
                    value -= SET_STEP * _chance(found[folds[place]], seen[None])[0]
                value += np.array([spent[some - 1].sum() for some in drawn])
                best_set = int(np.argmax(value.round(ENERGY_DIGITS)))
                chosen[row], sets[place] = drawn[best_set] - 1, seen[best_set]
                left.take(row, drawn[best_set])
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
                odds = sum(net.odds(table[here].reshape(-1, table.shape[2])) for net in nets).reshape(
                    -1, table.shape[1]
                )  # type: ignore[union-attr]
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
