"""Measure the distance between a model's attention on the two sides of a complement pair.

Rawal et al. 2024, §B.7: for each layer and head, two attention maps are aligned by the permutation of tokens that makes
them most similar, and their L2 distance is averaged over heads and layers. A pair is a video and its complement with
one question (V, V′), or a question and its complement on one video (Q, Q′). `evaluation.models.distances`
computes statistics over many pairs.

The paper does not specify the permutations, the search, sequences of different length, or a normalization. Our choices:

* Tokens are permuted within their modality. A complement has other words or another order of frames; matching a word to
  a frame would compare different quadrants.
* One permutation P acts on both rows and columns, so min ‖A − P B Pᵀ‖ is a quadratic assignment problem, which is
  NP-hard. The paper calls it a linear sum assignment without specifying the cost. `align` uses a linear assignment of
  token profiles, which also yields the Gilmore-Lawler lower bound, followed by pairwise swaps until none reduces the
  distance. It may miss the optimum, so the distance is an upper bound and is reported with a lower one.
* If a modality has fewer tokens on one side, rows and columns of zeros are added there, so that a token without a
  partner counts with its whole row and column.
* Tokens labelled 0 (padding) are removed.
* Distances are divided by √tokens, and reported undivided too. Rows are distributions, at most √2 apart, so distances
  lie between 0 and √2 for every length.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...core.errors import InputError
from ...core.extras import import_extra
from .labels import Labels, as_array
from .quadrants import NEITHER

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Distance:
    """Distance between the attention of two runs, averaged over all heads and layers.

    Attributes:
        value: Distance of the aligned maps divided by √tokens, from 0 to √2.
        undivided: Frobenius norm of the difference, from 0 to √(2 · tokens).
        lowest: Lower bound of `value` over all permutations.
        settled: Share of heads in which no further swap reduces the distance, from 0 to 1.
        tokens: Length of the aligned sequences.
        heads: The averaged values, as one array of shape (heads,) per layer.
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
    """Compute the distance between the attention maps of a complement pair; see the module for details.

    Args:
        first: Maps of one side by layer, shape (heads, tokens, tokens), where rows are queries, as returned by
            `CapturedAttention.maps`. Cross-attention layers are not supported.
        second: Maps of the other side, with the same layers and heads but possibly another number of tokens.
        labels_first: Modality of each token of the first side, integers of shape (tokens,), 0 for tokens to remove,
            such as a row of `labels_for`.
        labels_second: Modality of each token of the second side.
        rounds: Maximum number of rounds of swaps per head, or None for no limit. A limit saves time if hundreds of
            tokens moved, but then increases the distance (`settled` falls below 1).

    Raises:
        InputError: Shapes do not match, labels are not integers or all 0, or maps are not finite.
        MissingExtraError: scipy is not installed.
    """
    first_layers, second_layers = list(first), list(second)  # type: ignore[arg-type]
    if len(first_layers) != len(second_layers) or not first_layers:
        raise InputError(
            f"both sides need maps of the same layers; one side has {len(first_layers)} and the other has "
            f"{len(second_layers)}."
        )
    groups, *sides = _grouped(_labels(labels_first), _labels(labels_second))
    aligned = []
    for layer, both in enumerate(zip(first_layers, second_layers, strict=True)):
        ours, theirs = (_placed(maps, side, layer) for maps, side in zip(both, sides, strict=True))
        if len(ours) != len(theirs):
            raise InputError(f"layer {layer} has {len(ours)} heads on one side and {len(theirs)} on the other.")
        aligned.append([align(*maps, groups, rounds) for maps in zip(ours, theirs, strict=True)])
    all_heads = [head for of_layer in aligned for head in of_layer]
    undivided, lowest, settled = (
        float(np.mean([getattr(head, name) for head in all_heads])) for name in ("distance", "lowest", "settled")
    )
    tokens = groups[-1].stop
    size = float(np.sqrt(tokens))
    heads = tuple(np.array([head.distance for head in of_layer]) / size for of_layer in aligned)
    return Distance(undivided / size, undivided, lowest / size, settled, tokens, heads)


@dataclass(frozen=True)
class Side:
    """Labels of one side of a pair, and its tokens ordered by group, where −1 stands for padding."""

    labels: Labels
    order: NDArray[np.intp]


def _grouped(first: Labels, second: Labels) -> tuple[list[slice], Side, Side]:
    groups: list[slice] = []
    orders: tuple[list[NDArray[np.intp]], ...] = ([], [])
    for label in sorted({*first.tolist(), *second.tolist()} - {NEITHER}):
        tokens = [np.flatnonzero(side == label) for side in (first, second)]
        length = max(map(len, tokens))
        start = groups[-1].stop if groups else 0
        groups.append(slice(start, start + length))
        for order, indices in zip(orders, tokens, strict=True):
            order.append(np.pad(indices, (0, length - len(indices)), constant_values=-1))
    if not groups:
        raise InputError(
            "no token has a label: 0 excludes a token. Labels are 1 (video), 2 (text) and higher integers."
        )
    first_order, second_order = map(np.concatenate, orders)
    return groups, Side(first, first_order), Side(second, second_order)


def _placed(maps: ArrayLike, side: Side, layer: int) -> NDArray[np.float32]:
    array = np.asarray(as_array(maps), np.float32)
    length = len(side.labels)
    if array.ndim != 3 or array.shape[1:] != (length, length) or not len(array):
        raise InputError(
            f"maps of layer {layer} have shape {array.shape}; with {length} labels, the shape must be (heads, "
            f"{length}, {length}). For models with two streams or cross-attention, use the self-attention of one "
            "stream."
        )
    padded = np.pad(array, ((0, 0), (0, 1), (0, 1)))[:, side.order[:, None], side.order]  # −1 refers to the padding
    if not np.isfinite(padded).all():
        raise InputError(f"maps of layer {layer} contain non-finite values for labelled tokens.")
    return padded


def _labels(label_array: ArrayLike) -> Labels:
    labels = as_array(label_array)
    if labels.ndim != 1 or labels.dtype.kind not in "iu" or (labels < 0).any():
        raise InputError(
            f"labels of one side must be non-negative integers of shape (tokens,); got {labels.dtype} of shape "
            f"{labels.shape}."
        )
    return labels.astype(np.int64)


Map = NDArray[np.float32]
Order = NDArray[np.intp]

ENOUGH = 1e-6  # minimum reduction by a swap, as a share of the squared distance: about single precision


@dataclass(frozen=True)
class Alignment:
    """The best alignment that was found between two attention maps.

    Attributes:
        order: Index of the second map's token matched to each token of the first, shape (tokens,).
        distance: ‖A − P B Pᵀ‖, the Frobenius norm with this permutation.
        lowest: Lower bound over all permutations within the groups.
        settled: Whether no swap of two tokens reduces the distance. False if `rounds` ended first.
    """

    order: Order
    distance: float
    lowest: float
    settled: bool


def align(first: Map, second: Map, groups: Sequence[slice], rounds: int | None = None) -> Alignment:
    """Align the second map to the first by a permutation within groups of tokens.

    The search starts from the better of the identity and the linear assignment of profiles. Each round then swaps all
    disjoint pairs of tokens whose swap reduces the distance. The result is a local optimum.

    `groups` are the token ranges of the modalities, which together cover all tokens. `rounds` limits the number of
    rounds.

    Raises:
        MissingExtraError: scipy is not installed.
    """
    identity = np.arange(len(first))
    if not _squared(first - second):
        return Alignment(identity, 0.0, 0.0, settled=True)
    assigned, lowest = assigned_by_profile(first, second, groups)
    order = min((identity, assigned), key=lambda tokens: _squared(first - second[np.ix_(tokens, tokens)]))
    order, squared, settled = swapped(first, second, order, groups, rounds)
    distance = float(np.sqrt(squared))
    return Alignment(order, distance, min(lowest, distance), settled)


def assigned_by_profile(first: Map, second: Map, groups: Sequence[slice]) -> tuple[Order, float]:
    """Match tokens so that their profiles differ least (modified Jonker-Volgenant algorithm).

    A token's profile is invariant under permutations within the groups: its diagonal cell, and its row and column
    sorted within each group. Sorted lists differ least among all orders, and each off-diagonal cell counts half in its
    row and half in its column, so the cost bounds the squared distance from below (Gilmore 1962, Lawler 1963).

    Returns:
        The matching token of the second map for each token of the first, and the lower bound of the distance.
    """
    optimize = import_extra("scipy.optimize", what="the alignment of attention maps")
    order = np.arange(len(first))
    lowest = 0.0
    for group in groups:
        first_profiles, second_profiles = _profiles(first, group, groups), _profiles(second, group, groups)
        mean = (
            first_profiles.mean(axis=0) + second_profiles.mean(axis=0)
        ) / 2  # subtracted to preserve single precision
        first_profiles, second_profiles = first_profiles - mean, second_profiles - mean
        costs = -2 * (first_profiles @ second_profiles.T)
        costs += np.square(first_profiles).sum(axis=1)[:, None]
        costs += np.square(second_profiles).sum(axis=1)
        rows, columns = optimize.linear_sum_assignment(costs)
        order[group] = group.start + columns
        lowest += _squared(first_profiles[rows] - second_profiles[columns]) / 2
    return order, float(np.sqrt(lowest))


def swapped(
    first: Map, second: Map, order: Order, groups: Sequence[slice], rounds: int | None = None
) -> tuple[Order, float, bool]:
    """Swap pairs of tokens within groups until no swap reduces the distance.

    With C = P B Pᵀ and S = A Cᵀ + Aᵀ C, swapping i and j reduces ‖A − C‖² by twice w(S) + w(A)·w(C) at (i, j), where
    w(M) = M_ij + M_ji − M_ii − M_jj. The gains of all swaps are therefore one matrix, and S is updated incrementally.

    Returns:
        The new order, the squared distance, and whether no further swap reduces it.
    """
    reordered, order = second[np.ix_(order, order)], order.copy()
    squared = _squared(first - reordered)
    identity = np.arange(len(first))
    first_crosswise = [_crosswise(first[group, group]) for group in groups]
    products = [_relations(first, group, identity) @ _relations(reordered, group, identity).T for group in groups]
    settled = False
    for _ in count() if rounds is None else range(rounds):
        gains = [
            _crosswise(product) + crosswise * _crosswise(reordered[group, group])
            for product, crosswise, group in zip(products, first_crosswise, groups, strict=True)
        ]
        left, right = _pairs(gains, groups, squared * ENOUGH / 2)
        while len(left):  # together, swaps may gain less than one by one, or nothing
            tokens, partners = np.concatenate([left, right]), np.concatenate([right, left])
            moved = identity.copy()
            moved[tokens] = partners
            rows, columns = reordered[partners][:, moved], reordered[:, partners].T[:, moved]
            before = _around(first[tokens] - reordered[tokens], first[:, tokens].T - reordered[:, tokens].T, tokens)
            after = _around(first[tokens] - rows, first[:, tokens].T - columns, tokens)
            if before - after > squared * ENOUGH / 2:
                break
            left, right = left[: len(left) // 2], right[: len(right) // 2]
        else:
            settled = True
            break
        local_orders = [moved[group] - group.start for group in groups]
        relations_before = [
            _relations(reordered, group, tokens)[local_order]
            for group, local_order in zip(groups, local_orders, strict=True)
        ]
        reordered[tokens], reordered[:, tokens] = rows, columns.T
        for index, group in enumerate(groups):
            change = _relations(reordered, group, tokens) - relations_before[index]
            products[index] = products[index][:, local_orders[index]] + _relations(first, group, tokens) @ change.T
        order, squared = order[moved], squared - before + after
    return order, _squared(first - reordered), settled


def _squared(difference: Map) -> float:
    return float(np.vdot(difference, difference))


def _around(rows: Map, columns: Map, tokens: Order) -> float:
    """Sum the squares in the rows and columns of some tokens, counting each cell once."""
    return _squared(rows) + _squared(columns) - _squared(rows[:, tokens])


def _profiles(attention: Map, group: slice, groups: Sequence[slice]) -> Map:
    """Return the profiles (`assigned_by_profile`) of a group's tokens, shape (tokens of the group, 2 · tokens − 1)."""
    parts = [np.sqrt(np.float32(2)) * np.diagonal(attention)[group, None]]
    for oriented in (attention, attention.T):
        for columns in groups:
            cells = np.array(oriented[group, columns], order="C")
            if columns == group:
                np.fill_diagonal(cells, np.inf)
            cells.sort(axis=1)
            parts.append(cells[:, :-1] if columns == group else cells)
    return np.concatenate(parts, axis=1)


def _relations(attention: Map, group: slice, tokens: Order) -> Map:
    """Return a group's rows and columns, restricted to some tokens, shape (tokens of the group, 2 · tokens)."""
    return np.concatenate([attention[group][:, tokens], attention[tokens, group].T], axis=1)


def _crosswise(attention: Map) -> Map:
    """Return w(M) = M_ij + M_ji − M_ii − M_jj."""
    diagonal = np.diagonal(attention)
    return attention + attention.T - diagonal[:, None] - diagonal


def _pairs(gains: Sequence[Map], groups: Sequence[slice], least: float) -> tuple[Order, Order]:
    lefts, rights, gain_values = [], [], []
    for gain, group in zip(gains, groups, strict=True):
        np.fill_diagonal(gain, -np.inf)
        partners = gain.argmax(axis=1)
        tokens = np.arange(len(gain))
        lefts.append(tokens + group.start)
        rights.append(partners + group.start)
        gain_values.append(gain[tokens, partners])
    tokens, partners, values = (
        np.concatenate(lefts),
        np.concatenate(rights),
        np.concatenate(gain_values),
    )
    swapped_tokens: set[int] = set()
    indices = []
    for index in np.argsort(-values, kind="stable"):
        pair = {int(tokens[index]), int(partners[index])}
        if values[index] <= least:
            break
        if not pair & swapped_tokens:
            swapped_tokens |= pair
            indices.append(index)
    return tokens[indices], partners[indices]
