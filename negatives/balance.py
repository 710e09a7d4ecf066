"""Sample distractors with the same distribution as correct options, so that models without video are at chance.

If the distractors of a question were drawn from the same distribution of texts as its correct option, no model of
question and options could beat chance. That density over the candidates is estimated in rounds: gradient-boosted trees
learn to separate correct options from sampled ones by everything that a judge may see (`option_cues`), their log-odds
are added to the energies of the candidates, and distractors are sampled again. A second stage does the same with entire
option sets, because the most central or the longest option is a property of the set. A row is only scored by models
trained without its group.

The questions may be divided into splits in several ways. A question has the same options in every division, because
the correct option would otherwise be the one that two divisions share. The train splits differ, so cues from train are
computed for each division.

Sampling cannot remove every signal, so rows that remain guessable are flagged (`subset`).

Zellers et al. 2019, "HellaSwag", section 4, and Le Bras et al. 2020, "Adversarial Filters of Dataset Biases", keep the
options or rows that are hardest for one model. This module samples instead, because the next model recognizes options
that were hardest for the previous one as suspiciously hard.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..core.numerics import rng_for
from ..core.progress import Progress
from .option_cues import Options
from .option_models import FOLDS, compared, fit_network, fit_trees, guessable_rows, odds, projection
from .options import Flags, Floats, Indices
from .set_matching import set_cues

ENERGY_DIGITS = 4
STEPS = (0.6, 0.5, 0.4, 0.3)  # weight of the models' log-odds in each round
CONTRAST = 6  # sampled candidates per correct option in training
SETS = 16  # option sets per row from which the second stage selects
SET_ROUNDS = 5
SET_STEP = 0.7
CLIP = 6.0
MOST_ROWS = 12_000  # rows that a model learns from
CHUNK = 256  # rows measured at a time
PART = 1 << 15  # options scored at a time
LENT = 4.0  # uses of a source, in multiples of the even share, beyond which it is avoided
NONE = -1


@dataclass(frozen=True, eq=False)
class Balanced:
    """The distractors that were sampled.

    Attributes:
        chosen: Each row's chosen options, as positions in `Options`.
        guessable: Whether each row is outside the balanced subset, of shape (divisions, rows).
    """

    chosen: Sequence[Indices]
    guessable: Flags


def balance(
    ids: Sequence[str],
    questions: Floats,
    targets: Mapping[str, Options],
    *,
    need: int,
    groups: Sequence[str],
    splits: Sequence[Sequence[str]],
    in_train: Flags,
    well_formed: Callable[[int], bool] = lambda option: True,
    seed: int = 0,
) -> Balanced:
    """Sample the distractors of every row.

    A candidate covers all targets at once, that is, an answer together with its explanation. Otherwise only the correct
    answer and the correct explanation would match.

    Args:
        ids: Ids of the rows, sorted.
        questions: Embeddings of the questions, float32 of shape (rows, dimensions).
        targets: The options by target.
        need: Distractors per row; a row with fewer candidates keeps all of them.
        groups: Group of each row, such as its video: models that score a row are trained without its group.
        splits: Split of each row in each division, of shape (rows, divisions). A text that is nowhere correct is a
            distractor in one split only, as models trained on train would otherwise recognize it in the test split.
        in_train: Whether models are trained on each row in each division, shape (divisions, rows).
        well_formed: Whether an option can be used, for checks that are too slow for all of them.
        seed: The dataset's seed.
    """
    total = (len(STEPS) + SET_ROUNDS) * FOLDS * len(targets) + len(splits[0]) * len(targets)
    with Progress("balancing options", total, "model", brief=True) as progress:
        sampler = _Sampler(ids, questions, targets, need, groups, splits, in_train, seed, progress.advance)
        sampler.learn()
        chosen = sampler.choose(well_formed)
        return Balanced(chosen, sampler.guessable(chosen))


class _Sampler:
    """Holds the energies of all candidates."""

    def __init__(
        self,
        ids: Sequence[str],
        questions: Floats,
        targets: Mapping[str, Options],
        need: int,
        groups: Sequence[str],
        splits: Sequence[Sequence[str]],
        in_train: Flags,
        seed: int,
        learned: Callable[[], None],
    ):
        self.ids, self.targets, self.need, self.seed, self._learned = ids, targets, need, seed, learned
        self.in_train = in_train
        any_target = next(iter(targets.values()))
        self.row, self.source = any_target.row, any_target.source
        self.splits = np.array([list(some) for some in splits], np.str_)
        self.first = np.flatnonzero(np.diff(self.row, prepend=-1))
        counts = np.bincount(self.row, minlength=len(ids)) - 1
        column = np.arange(counts.max(initial=0))
        self.table = np.where(column < counts[:, None], self.first[:, None] + 1 + column, NONE)  # (rows, candidates)
        # Where a row is judged: in each division in which it is outside train, or else in one of them.
        divisions = np.arange(len(self.in_train))[:, None]
        elsewhere = self.in_train.all(0) & (np.arange(len(ids)) % len(divisions) == divisions)
        self.judged = ~self.in_train | elsewhere
        self.rng = rng_for(seed, "balance")
        narrow = projection(questions.shape[1], self.rng)
        self._questions = questions @ narrow
        self._vectors = {name: options.vectors @ narrow for name, options in targets.items()}
        names = sorted(set(groups))
        numbers = {name: index for index, name in enumerate(names)}
        self._group = np.array([numbers[group] for group in groups], np.int64)
        self.energies = np.zeros(len(self.row), np.float32)

    def folds(self) -> Indices:
        """Return a fold for each row. Groups are never divided."""
        folds: Indices = (self.rng.permutation(self._group.max(initial=0) + 1) % FOLDS)[self._group]
        return folds

    def sample(self, count: int, draws: int) -> Indices:
        """Sample candidates without replacement according to their energies (Gumbel top-k).

        The result contains options, of shape (rows, draws, count). All are `NONE` if there are too few candidates.
        """
        sampled = np.full((len(self.table), draws, count), NONE, np.int64)
        for begin in range(0, len(self.table), CHUNK):
            table = self.table[begin : begin + CHUNK]
            values = np.where(table == NONE, np.float32(-np.inf), self.energies[table])
            values = (values[:, None] + self.rng.gumbel(size=(len(table), draws, table.shape[1]))).astype(np.float32)
            sampled[begin : begin + CHUNK] = self._distinct(begin, values, count)
        return sampled

    def _distinct(self, begin: int, values: Floats, count: int) -> Indices:
        """Return the options with the largest values whose texts differ from each other and from the correct text."""
        rows = np.arange(begin, begin + len(values))
        table, index = self.table[rows], np.arange(len(rows))[:, None]
        chosen = np.full((*values.shape[:2], count), NONE, np.int64)
        for options in self.targets.values():
            values[
                np.broadcast_to((options.key[table] == options.key[self.first[rows], None])[:, None], values.shape)
            ] = -np.inf
        for column in range(count if values.shape[2] else 0):
            best = values.argmax(2)
            there = np.isfinite(np.take_along_axis(values, best[:, :, None], 2))[:, :, 0]
            chosen[:, :, column] = np.where(there, table[index, best], NONE)
            for options in self.targets.values():
                same = options.key[table][:, None] == options.key[table[index, best]][:, :, None]
                values[same] = -np.inf
        chosen[(chosen == NONE).any(2)] = NONE
        return chosen

    def _uses(self, options: Options, sampled: Indices, division: int) -> Floats:
        """Return how often an option's text, without names, is a distractor in train, and its source anywhere.

        `sampled` contains the distractors of each row, of shape (rows, need). The row itself is not counted. Both are
        logarithms, of shape (options, 2).
        """
        own = np.zeros(len(self.row), np.int64)
        own[sampled[sampled != NONE]] = 1
        learned = sampled[self.in_train[division]]
        learned = learned[learned != NONE]
        masks = np.bincount(options.mask[learned], minlength=int(options.mask.max()) + 1)[options.mask]
        sources = np.bincount(self.source[sampled[sampled != NONE]], minlength=len(self.ids))[self.source]
        inside = own * self.in_train[division][self.row]
        uses: Floats = np.log1p(np.stack([np.maximum(masks - inside, 0), sources - own], 1)).astype(np.float32)
        return uses

    def _cues(self, target: Options, chosen: Indices, division: int, uses: Floats) -> Floats:
        """Return all cues of some options, of shape (…, cues)."""
        train = self.in_train[division][self.row[chosen]][..., None].astype(np.float32)
        return np.concatenate([target.learned[division][chosen], uses[chosen], target.cues[chosen], train], axis=-1)

    def _compared(self, name: str, options: Indices, cues: Floats) -> Floats:
        """Return the input of a network for some options, of shape (…, features)."""
        return compared(self._questions[self.row[options]], self._vectors[name][self.targets[name].text[options]], cues)

    def learn(self) -> None:
        """Train models to separate correct from sampled options, and add their log-odds to other rows' energies."""
        divisions = range(len(self.in_train))
        weight = self.judged / self.judged.sum(0, dtype=np.float32)
        for round_index, step in enumerate(STEPS):
            sampled = self.sample(CONTRAST, 1)[:, 0]
            enough = np.flatnonzero(sampled[:, 0] != NONE)
            folds, added = self.folds(), np.zeros_like(self.energies)
            for name, target in self.targets.items():
                uses = [self._uses(target, sampled[:, : self.need], division) for division in divisions]
                for fold in range(FOLDS):
                    key, tables, inputs = ("pairs", name, str(round_index), str(fold)), [], []
                    for division in divisions:
                        rows = enough[(folds[enough] != fold) & self.judged[division][enough]]
                        rows = rows[:: len(rows) // MOST_ROWS + 1]
                        options = np.concatenate([self.first[rows, None], sampled[rows]], 1)
                        tables.append(self._cues(target, options, division, uses[division]))
                        inputs.append(self._compared(name, options, tables[-1]))
                    model = fit_trees(np.concatenate(tables), self.seed, *key)
                    network = fit_network(np.concatenate(inputs), rng_for(self.seed, "balance", "network", *key))
                    inside = np.flatnonzero(folds[self.row] == fold)
                    for division in divisions:
                        judged = inside[self.judged[division][self.row[inside]]]
                        for part in np.array_split(judged, len(judged) // PART + 1):
                            cues = self._cues(target, part, division, uses[division])
                            log_odds = odds(model, cues) + network(self._compared(name, part, cues)).round(
                                ENERGY_DIGITS
                            )
                            added[part] += np.clip(log_odds, -CLIP, CLIP) * weight[division][self.row[part]]
                    self._learned()
            self.energies += np.float32(step) * added
            mean = np.bincount(self.row, self.energies) / np.bincount(self.row)
            self.energies = (self.energies - mean[self.row]).astype(np.float32).round(ENERGY_DIGITS)

    def _members(self, rows: Indices, sets: Indices) -> Indices:
        """Return the options of sets with the correct one first; `sets` has the shape (rows, …, need)."""
        first = self.first[rows].reshape(-1, *[1] * (sets.ndim - 1))
        return np.concatenate([np.broadcast_to(first, (*sets.shape[:-1], 1)), sets], axis=-1)

    def _set_tables(
        self, target: Options, rows: Indices, sets: Indices, drawn: Indices, of_division: Flags
    ) -> list[NDArray[np.float16]]:
        """Return the cues of options in their sets, by division, of shape (rows, sets, options, cues).

        `of_division` states which rows each division has, shape (divisions, rows).
        """
        tables = []
        for division, judged in enumerate(of_division):
            uses, parts = self._uses(target, drawn, division), []
            for chunk in np.array_split(np.flatnonzero(judged[rows]), len(rows) // CHUNK + 1):
                members = self._members(rows[chunk], sets[chunk])
                cues = self._cues(target, members, division, uses)
                parts.append(set_cues(target.vectors[target.text[members]], cues).astype(np.float16))
            tables.append(np.concatenate(parts))
        return tables

    def choose(self, well_formed: Callable[[int], bool]) -> list[Indices]:
        """Choose sampled sets in which the correct option is inconspicuous."""
        sets = self.sample(self.need, SETS)
        rows = np.flatnonzero((sets != NONE).all((1, 2)))
        value = self.rng.gumbel(size=(len(self.ids), SETS))
        if len(rows):
            value[rows] -= self._excess(rows, sets, value[rows])
        return list(self._selected(sets, value.round(ENERGY_DIGITS), well_formed))

    def _excess(self, rows: Indices, sets: Indices, noise: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return how conspicuous the correct option is in each set, as an array of shape (rows, sets).

        Models are trained in rounds. Each uses the sets that the previous rounds prefer.
        """
        total = np.zeros((len(rows), sets.shape[1]))
        weight = 1 / self.judged[:, rows].sum(0)
        judged_rows = [np.flatnonzero(judged[rows]) for judged in self.judged]
        tables = {
            name: self._set_tables(target, rows, sets[rows], sets[:, 0], self.judged)
            for name, target in self.targets.items()
        }
        for round_index in range(SET_ROUNDS):
            folds, best = self.folds()[rows], (noise - total).round(ENERGY_DIGITS).argmax(1)
            for name, of_target in tables.items():
                for fold in range(FOLDS):
                    known = [np.flatnonzero(folds[indices] != fold) for indices in judged_rows]
                    known = [at[:: len(at) // MOST_ROWS + 1] for at in known]
                    drawn = [
                        table[at, best[indices[at]]]
                        for table, indices, at in zip(of_target, judged_rows, known, strict=True)
                    ]
                    model = fit_trees(
                        np.concatenate(drawn, dtype=np.float32), self.seed, "sets", name, str(round_index), str(fold)
                    )
                    for table, indices in zip(of_target, judged_rows, strict=True):
                        fold_rows = np.flatnonzero(folds[indices] == fold)
                        for part in np.array_split(fold_rows, len(fold_rows) // CHUNK + 1):
                            scores = odds(model, table[part].astype(np.float32))
                            excess = scores[..., 0] - np.logaddexp.reduce(scores, axis=-1)
                            total[indices[part]] += SET_STEP * weight[indices[part], None] * excess
                    self._learned()
        return total

    def _selected(
        self, sets: Indices, value: NDArray[np.float64], well_formed: Callable[[int], bool]
    ) -> Iterator[Indices]:
        """Yield the set of each row with the highest value whose options are well formed and not used too often."""
        limit = LENT * self.need * len(self.ids) / max(len(np.unique(self.source)), 1)
        uses = np.zeros(len(self.ids), np.int64)
        right = [set(target.key[self.first].tolist()) for target in self.targets.values()]
        keys = [target.key for target in self.targets.values()]
        used: list[dict[int, str]] = [{} for _ in keys]
        places = ["/".join(names) for names in self.splits.tolist()]
        chosen: dict[int, Indices] = {}
        # Rows of small splits choose first.
        sizes = {splits_key: places.count(splits_key) for splits_key in set(places)}
        for row in sorted(range(len(self.ids)), key=lambda row: (sizes[places[row]], self.ids[row])):

            def spent(option: int, row: int = row) -> bool:
                return uses[self.source[option]] >= limit or any(
                    of_key.get(int(key[option]), places[row]) != places[row]
                    for of_key, key in zip(used, keys, strict=True)
                )

            def fits(option: int, spent: Callable[[int], bool] = spent) -> bool:
                return not spent(option) and well_formed(option)

            order = np.argsort(-value[row], kind="stable")
            drawn = [sets[row, index].tolist() for index in order if sets[row, index, 0] != NONE]
            best = next((options for options in drawn if all(map(fits, options))), None)
            if best is None:
                best = self._completed(row, list(filter(fits, drawn[0])) if drawn else [], fits)
                best = self._completed(row, best, well_formed)
            chosen[row] = np.array(best, np.int64)
            for option in chosen[row].tolist():
                uses[self.source[option]] += 1
                for of_key, key, known in zip(used, keys, right, strict=True):
                    if int(key[option]) not in known:
                        of_key.setdefault(int(key[option]), places[row])
        yield from (chosen[row] for row in range(len(self.ids)))

    def _completed(self, row: int, chosen: Sequence[int], fits: Callable[[int], bool]) -> list[int]:
        """Add the fitting candidates with the highest energies whose texts differ, up to the number needed."""
        chosen = list(chosen)
        options = self.table[row][self.table[row] != NONE]
        for option in options[np.argsort(-self.energies[options], kind="stable")].tolist():
            others = [int(self.first[row]), *chosen]
            same = any(target.key[option] in target.key[others] for target in self.targets.values())
            if len(chosen) < self.need and not same and fits(option):
                chosen.append(option)
        return chosen

    def guessable(self, chosen: Sequence[Indices]) -> Flags:
        """Flag the rows of each division that remain guessable."""
        full = np.array([len(options) == self.need for options in chosen], np.bool_)
        flags = np.ones((len(self.in_train), len(self.ids)), np.bool_)
        rows = np.flatnonzero(full)
        if not len(rows):
            return flags
        drawn = np.full((len(self.ids), self.need), NONE, np.int64)
        drawn[rows] = [chosen[row] for row in rows.tolist()]
        everywhere = np.ones_like(self.judged)
        tables = [
            self._set_tables(target, rows, drawn[rows, None], drawn, everywhere) for target in self.targets.values()
        ]
        for division in range(len(flags)):
            flags[division, rows] = guessable_rows(
                [table[division][:, 0].astype(np.float32) for table in tables],
                self.splits[rows, division].tolist(),
                self.in_train[division][rows],
                [self.ids[row] for row in rows.tolist()],
                self.folds()[rows],
                self.seed,
                self._learned,
            )
        return flags
