"""Measure the distance between a model's attention on the two sides of a complement pair.

Rawal et al. 2024, §B.7: for each layer and head, two attention maps are aligned by the permutation of tokens that makes
them most similar, and their L2 distance is averaged over heads and layers. A pair is a video and its complement with
one question (V, V′), or a question and its complement on one video (Q, Q′). `evaluation.models.distances`
computes statistics over many pairs.

The paper does not specify the permutations, the search, sequences of different length, or a normalization. Our choices:

* Tokens are permuted within their modality. A complement has other words or another order of frames; matching a word to
  a frame would compare different quadrants.
* The search is `alignment.align`. It may miss the optimum, so the distance is an upper bound and is reported with a
  lower one.
* If a modality has fewer tokens on one side, rows and columns of zeros are added there, so that a token without a
  partner counts with its whole row and column.
* Tokens labelled 0 (padding) are removed.
* Distances are divided by √tokens, and reported undivided too. Rows are distributions, at most √2 apart, so distances
  lie between 0 and √2 for every length.
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
    layers, others = list(first), list(second)  # type: ignore[arg-type]
    if len(layers) != len(others) or not layers:
        raise InputError(
            f"both sides need maps of the same layers; one side has {len(layers)} and the other has {len(others)}."
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
    """Labels of one side of a pair, and its tokens ordered by group, where −1 stands for padding."""

    labels: Labels
    order: NDArray[np.intp]


def _grouped(first: Labels, second: Labels) -> tuple[list[slice], Side, Side]:
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
            "no token has a label: 0 excludes a token. Labels are 1 (video), 2 (text) and higher integers."
        )
    one, other = map(np.concatenate, orders)
    return groups, Side(first, one), Side(second, other)


def _placed(maps: ArrayLike, side: Side, layer: int) -> NDArray[np.float32]:
    given = np.asarray(as_array(maps), np.float32)
    length = len(side.labels)
    if given.ndim != 3 or given.shape[1:] != (length, length) or not len(given):
        raise InputError(
            f"maps of layer {layer} have shape {given.shape}; with {length} labels, the shape must be (heads, "
            f"{length}, {length}). For models with two streams or cross-attention, use the self-attention of one "
            "stream."
        )
    placed = np.pad(given, ((0, 0), (0, 1), (0, 1)))[:, side.order[:, None], side.order]  # −1 refers to the padding
    if not np.isfinite(placed).all():
        raise InputError(f"maps of layer {layer} contain non-finite values for labelled tokens.")
    return placed


def _labels(given: ArrayLike) -> Labels:
    labels = as_array(given)
    if labels.ndim != 1 or labels.dtype.kind not in "iu" or (labels < 0).any():
        raise InputError(
            f"labels of one side must be non-negative integers of shape (tokens,); got {labels.dtype} of shape "
            f"{labels.shape}."
        )
    return labels.astype(np.int64)
