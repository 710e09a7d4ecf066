"""Run blind baselines that choose the answer and the explanation of a question together."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .cues import DIGITS, rarity, stems
from .figures import BaselineChoices, Family
from .fitting import cross_fitted, features, fit
from .options import BaselineRun
from .questions import Embed, Embedded, Floats, embedded

ALIKE = {
    "alike_words": "the two options that share the most words, weighted by rarity",
    "alike": "the two most similar options (SBERT)",
}
PAIRED = "combines all cues of both options and their similarity (conditional logit, cross-fitted)"
TWICE = "the same baseline twice: "


def guess_pairs(one: BaselineRun, other: BaselineRun, embed: Embed | None) -> tuple[BaselineChoices, ...]:
    """Choose one option from each of two sets, with the baselines for single sets and with joint baselines.

    Both sets must belong to the same questions in the same order. Without `embed`, baselines that require embeddings
    are omitted.
    """
    seconds = {guess.name: guess for guess in other.guesses}
    found = [
        BaselineChoices(
            guess.name,
            TWICE + guess.meaning,
            guess.family,
            np.stack([guess.choices, seconds[guess.name].choices], axis=1),
            guess.right * seconds[guess.name].right,
        )
        for guess in one.guesses
        if guess.name in seconds
    ]
    pairs = _Pairs(one, other)
    likeness = {"alike_words": pairs.flat(_shared_words(one, other))}
    if embed is not None:
        likeness["alike"] = pairs.flat(_cosines(embedded(one.rows, embed), embedded(other.rows, embed)))
    found += [pairs.guess(name, ALIKE[name], "untrained", values) for name, values in likeness.items()]
    if one.divided:
        found.append(pairs.guess("paired", PAIRED, "trained", pairs.weigh(likeness)))
    return tuple(found)


class _Pairs:
    """All pairs of one option from each set, treated as the options of one question."""

    def __init__(self, one: BaselineRun, other: BaselineRun):
        self.one, self.other = one, other
        self.shape = (*one.rows.there.shape, other.rows.there.shape[1])
        self.there: NDArray[np.bool_] = self.flat(one.rows.there[:, :, None] & other.rows.there[:, None])
        self.right = one.rows.right * self.shape[2] + other.rows.right

    def flat(self, values: NDArray[Any]) -> NDArray[Any]:
        """Reshape an array of pairs, (questions, firsts, seconds, …), to one of options, (questions, pairs, …)."""
        return values.reshape(len(values), -1, *values.shape[3:])

    def guess(self, name: str, meaning: str, family: Family, scores: Floats) -> BaselineChoices:
        masked = np.where(self.there, np.round(scores, DIGITS), -np.inf)
        best = masked == masked.max(axis=1, keepdims=True)
        first, second = np.divmod(best.argmax(axis=1), self.shape[2])
        choices = np.stack([self.one.rows.given(first), self.other.rows.given(second)], axis=1)
        right = best[np.arange(len(best)), self.right] / best.sum(axis=1)
        return BaselineChoices(name, meaning, family, choices, right)

    def weigh(self, likeness: Mapping[str, Floats]) -> Floats:
        """Score pairs with a cross-fitted conditional logit on the cues of both options and their similarity."""
        firsts, seconds = (np.concatenate(list(side.groups.values()), axis=2) for side in (self.one, self.other))
        pairs = np.concatenate([features(self.there, values) for values in likeness.values()], axis=2)

        def values(rows: NDArray[np.int64]) -> Floats:
            size = (len(rows), *self.shape[1:])
            one = np.broadcast_to(firsts[rows][:, :, None], (*size, firsts.shape[2]))
            other = np.broadcast_to(seconds[rows][:, None], (*size, seconds.shape[2]))
            joined: Floats = np.concatenate([self.flat(one), self.flat(other), pairs[rows]], axis=2)
            return joined * self.there[rows][:, :, None]

        return cross_fitted(
            self.one.divided,
            lambda learnt, asked, _: values(asked) @ fit(values(learnt), self.there[learnt], self.right[learnt]),
        )


def _cosines(one: Embedded, other: Embedded) -> Floats:
    found: Floats = np.round(np.einsum("nad,nbd->nab", one.options, other.options).astype(np.float64), DIGITS)
    return found


def _shared_words(one: BaselineRun, other: BaselineRun) -> Floats:
    firsts, seconds = one.rows.texts(), other.rows.texts()
    weights = rarity(text for texts in (*firsts, *seconds) for text in texts)
    found = np.zeros((*one.rows.there.shape, other.rows.there.shape[1]))
    for row, (some, others) in enumerate(zip(firsts, seconds, strict=True)):
        bags = [set(stems(text)) for text in others]
        for place, text in enumerate(some):
            words = set(stems(text))
            found[row, place, : len(bags)] = [sum(weights[stem] for stem in sorted(words & bag)) for bag in bags]
    return found
