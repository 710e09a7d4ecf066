"""How far apart a model's attention lies for the two sides of a complement pair.

Rawal et al. 2024, §B.7: for each layer and head, the two attention maps are laid over each other by the permutation of
tokens that makes them most alike, and their L2 distance is taken; averaged over heads and layers. Pairs are a video and
its complement under one question (V, V′), or a question and its complement on one video (Q, Q′). Statistics of many
pairs are in `evaluation.metrics.distance_table`.

The paper leaves open which permutations are meant, how they are found, what is done with sequences of two lengths, and
whether distances are divided by a size. Ours:

* Tokens change places within their modality only. A complement has other words, or its frames in another order; it
  never makes a word of a frame, and a match of the two would compare quadrants that are not comparable.
* The permutation is that of `alignment.align`: an assignment of the tokens' profiles, then swaps. It may miss the best
  one, so a distance is an upper bound, and comes with a lower one.
* Where a modality has fewer tokens on one side, rows and columns of zeros are added to it there: a token without a
  partner counts with all of its row and its column.
* Tokens labelled 0 (padding) are left out, rows and columns.
* Distances are divided by √tokens. Rows are distributions, and two of these lie at most √2 apart, so a distance is
  between 0 and √2 for every length: the root of the mean squared distance of two rows. The undivided one is given too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...core.errors import InputError
from .alignment import align
from .labels import Labels, as_array
from .quadrants import NEITHER

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Distance:
    """The distance between the attention of two runs, means over all heads of all layers.

    Attributes:
        value: Distance of aligned maps, divided by √tokens: 0 to √2.
        undivided: The same not divided: the Frobenius norm of the difference, 0 to √(2 · tokens).
        lowest: A lower bound of `value`: no permutations give less.
        settled: Share of heads in which no further swap of two tokens makes the maps more alike, 0 to 1.
        tokens: Length of the aligned sequences.
        heads: What `value` is the mean of: for each layer an array (heads,).
    """

    value: float
    undivided: float
    lowest: float
    settled: float
    tokens: int
    heads: tuple[Floats, ...]


def attention_distance(
    first: Sequence[ArrayLike] | ArrayLike,
    second: Sequence[ArrayLike] | ArrayLike,
    labels_first: ArrayLike,
    labels_second: ArrayLike,
    *,
    rounds: int | None = None,
) -> Distance:
    """Compute the distance between the attention maps of a complement pair; see the module for definition and choices.

    Args:
        first: For each layer the maps of the one side, shape (heads, tokens, tokens), rows being queries, as from
            `CapturedAttention.maps`. Layers of cross-attention, whose rows and columns are other tokens, have none.
        second: Likewise of the other; the same layers and heads, not necessarily as many tokens.
        labels_first: Modality of each token of the one side, integers of shape (tokens,), 0 for what is left out, as a
            row of `labels_for`.
        labels_second: Likewise of the other.
        rounds: Rounds of swaps at most for each head, which saves time where hundreds of tokens have moved, and gives
            greater distances there (`settled` falls below 1). None: until no swap gains.

    Raises:
        InputError: Shapes do not go together, labels are no integers or all 0, or maps hold what is not finite.
        MissingExtraError: scipy is not installed.
    """
    layers, others = list(first), list(second)  # type: ignore[arg-type]
    if len(layers) != len(others) or not layers:
        raise InputError(
            f"maps must be of the same layers, and are of {len(layers)} on one side, {len(others)} on the other."
        )
    groups, here, there = _grouped(_labels(labels_first), _labels(labels_second))
    found = []
    for number, (ours, theirs) in enumerate(zip(layers, others, strict=True)):
        one, other = _placed(ours, here, number), _placed(theirs, there, number)
        if len(one) != len(other):
            raise InputError(f"layer {number} has {len(one)} heads on one side and {len(other)} on the other.")
        found.append([align(*pair, groups, rounds) for pair in zip(one, other, strict=True)])
    every = [head for layer in found for head in layer]
    undivided, lowest, settled = (
        float(np.mean([getattr(head, name) for head in every])) for name in ("distance", "lowest", "settled")
    )
    tokens = groups[-1].stop
    size = float(np.sqrt(tokens))
    heads = tuple(np.array([head.distance for head in layer]) / size for layer in found)
    return Distance(undivided / size, undivided, lowest / size, settled, tokens, heads)


@dataclass(frozen=True)
class Side:
    """Labels of one side of a pair, and its tokens in the order of the groups; −1 where it has none."""

    labels: Labels
    order: NDArray[np.intp]


def _grouped(first: Labels, second: Labels) -> tuple[list[slice], Side, Side]:
    """Put the tokens of each modality together, on both sides as many as the longer has."""
    groups: list[slice] = []
    orders: tuple[list[NDArray[np.intp]], ...] = ([], [])
    for label in sorted({*first.tolist(), *second.tolist()} - {NEITHER}):
        tokens = [np.flatnonzero(side == label) for side in (first, second)]
        longest = max(map(len, tokens))
        start = groups[-1].stop if groups else 0
        groups.append(slice(start, start + longest))
        for order, own in zip(orders, tokens, strict=True):
            order.append(np.pad(own, (0, longest - len(own)), constant_values=-1))
    if not groups:
        raise InputError(
            "no token has a label: 0 leaves a token out; allowed are 1 (video), 2 (text) and further ones."
        )
    one, other = map(np.concatenate, orders)
    return groups, Side(first, one), Side(second, other)


def _placed(maps: ArrayLike, side: Side, layer: int) -> NDArray[np.float32]:
    """Bring the maps of a layer into the order of the groups, with zeros where the side has no token."""
    given = np.asarray(as_array(maps), np.float32)
    length = len(side.labels)
    if given.ndim != 3 or given.shape[1:] != (length, length) or not len(given):
        raise InputError(
            f"maps of layer {layer} are of shape {given.shape}, and must be of shape (heads, {length}, {length}) to "
            f"go with {length} labels. Of models with two streams or cross-attention, take the self-attention of one "
            "stream."
        )
    placed = np.pad(given, ((0, 0), (0, 1), (0, 1)))[:, side.order[:, None], side.order]  # −1 is what was added
    if not np.isfinite(placed).all():
        raise InputError(f"maps of layer {layer} hold values that are not finite, where tokens have labels.")
    return placed


def _labels(given: ArrayLike) -> Labels:
    labels = as_array(given)
    if labels.ndim != 1 or labels.dtype.kind not in "iu" or (labels < 0).any():
        raise InputError(
            f"labels of one side must be integers of 0 or more, of shape (tokens,); these are of type {labels.dtype} "
            f"and shape {labels.shape}."
        )
    return labels.astype(np.int64)
