"""Align two attention maps by the permutation of tokens that makes them most similar.

One permutation P acts on both rows and columns, so min ‖A − P B Pᵀ‖ is a quadratic assignment problem, which is
NP-hard. Rawal et al. 2024, §B.7, call it a linear sum assignment without specifying the cost. This module uses a linear
assignment of token profiles, which also yields the Gilmore-Lawler lower bound, followed by pairwise swaps until none
reduces the distance.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count

import numpy as np
from numpy.typing import NDArray

from ...core.extras import import_extra

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
    standing = np.arange(len(first))
    if not _squared(first - second):
        return Alignment(standing, 0.0, 0.0, settled=True)
    assigned, lowest = assigned_by_profile(first, second, groups)
    order = min((standing, assigned), key=lambda one: _squared(first - second[np.ix_(one, one)]))
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
        ours, theirs = _profiles(first, group, groups), _profiles(second, group, groups)
        middle = (ours.mean(axis=0) + theirs.mean(axis=0)) / 2  # subtracted to preserve single precision
        ours, theirs = ours - middle, theirs - middle
        costs = -2 * (ours @ theirs.T)
        costs += np.square(ours).sum(axis=1)[:, None]
        costs += np.square(theirs).sum(axis=1)
        rows, columns = optimize.linear_sum_assignment(costs)
        order[group] = group.start + columns
        lowest += _squared(ours[rows] - theirs[columns]) / 2
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
    over, order = second[np.ix_(order, order)], order.copy()
    squared = _squared(first - over)
    every = np.arange(len(first))
    apart = [_crosswise(first[group, group]) for group in groups]
    products = [_relations(first, group, every) @ _relations(over, group, every).T for group in groups]
    settled = False
    for _ in count() if rounds is None else range(rounds):
        gains = [
            _crosswise(product) + one * _crosswise(over[group, group])
            for product, one, group in zip(products, apart, groups, strict=True)
        ]
        left, right = _pairs(gains, groups, squared * ENOUGH / 2)
        while len(left):  # together, swaps may gain less than one by one, or nothing
            tokens, places = np.concatenate([left, right]), np.concatenate([right, left])
            moved = every.copy()
            moved[tokens] = places
            rows, columns = over[places][:, moved], over[:, places].T[:, moved]
            before = _around(first[tokens] - over[tokens], first[:, tokens].T - over[:, tokens].T, tokens)
            after = _around(first[tokens] - rows, first[:, tokens].T - columns, tokens)
            if before - after > squared * ENOUGH / 2:
                break
            left, right = left[: len(left) // 2], right[: len(right) // 2]
        else:
            settled = True
            break
        here = [moved[group] - group.start for group in groups]
        given = [_relations(over, group, tokens)[own] for group, own in zip(groups, here, strict=True)]
        over[tokens], over[:, tokens] = rows, columns.T
        for place, group in enumerate(groups):
            change = _relations(over, group, tokens) - given[place]
            products[place] = products[place][:, here[place]] + _relations(first, group, tokens) @ change.T
        order, squared = order[moved], squared - before + after
    return order, _squared(first - over), settled


def _squared(difference: Map) -> float:
    return float(np.vdot(difference, difference))


def _around(rows: Map, columns: Map, tokens: Order) -> float:
    """Sum the squares in the rows and columns of some tokens, counting each cell once."""
    return _squared(rows) + _squared(columns) - _squared(rows[:, tokens])


def _profiles(of: Map, group: slice, groups: Sequence[slice]) -> Map:
    """Return the profiles (`assigned_by_profile`) of a group's tokens, shape (tokens of the group, 2 · tokens − 1)."""
    parts = [np.sqrt(np.float32(2)) * np.diagonal(of)[group, None]]
    for one in (of, of.T):
        for other in groups:
            cells = np.array(one[group, other], order="C")
            if other == group:
                np.fill_diagonal(cells, np.inf)
            cells.sort(axis=1)
            parts.append(cells[:, :-1] if other == group else cells)
    return np.concatenate(parts, axis=1)


def _relations(of: Map, group: slice, tokens: Order) -> Map:
    """Return a group's rows and columns, restricted to some tokens, shape (tokens of the group, 2 · tokens)."""
    return np.concatenate([of[group][:, tokens], of[tokens, group].T], axis=1)


def _crosswise(of: Map) -> Map:
    """Return w(M) = M_ij + M_ji − M_ii − M_jj."""
    diagonal = np.diagonal(of)
    return of + of.T - diagonal[:, None] - diagonal


def _pairs(gains: Sequence[Map], groups: Sequence[slice], least: float) -> tuple[Order, Order]:
    left, right, gained = [], [], []
    for gain, group in zip(gains, groups, strict=True):
        np.fill_diagonal(gain, -np.inf)
        partners = gain.argmax(axis=1)
        tokens = np.arange(len(gain))
        left.append(tokens + group.start)
        right.append(partners + group.start)
        gained.append(gain[tokens, partners])
    tokens, partners, values = np.concatenate(left), np.concatenate(right), np.concatenate(gained)
    taken: set[int] = set()
    chosen = []
    for place in np.argsort(-values, kind="stable"):
        pair = {int(tokens[place]), int(partners[place])}
        if values[place] <= least:
            break
        if not pair & taken:
            taken |= pair
            chosen.append(place)
    return tokens[chosen], partners[chosen]
