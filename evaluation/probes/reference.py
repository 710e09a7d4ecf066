"""Implement QUAG and QUAG-attention in NumPy with float64, as a reference.

Rawal et al. 2024: the operators R and φ (§2.2), short-circuits (§2.3), QUAG-attention (§2.4). Where the paper's
listings (§A.4) deviate from its text and equations, this module follows the text; see `docs/probes.md`. Means over the
keys that a *causal* mask leaves visible, the operators "knockout" and "merge", and more than two modalities are ours.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...core.errors import InputError
from .quadrants import Quadrant, checked_operator, quadrants_of

Floats = NDArray[np.float64]


def short_circuit(
    attention: ArrayLike,
    rows: ArrayLike,
    columns: ArrayLike,
    quadrants: str | Iterable[str | Quadrant],
    visible: ArrayLike | None = None,
    operator: str = "average",
) -> Floats:
    """Apply φ(A, S) to attention maps, which impairs the quadrants S and leaves the others unchanged.

    * "average" is the paper's R: in each row, the visible weights of a quadrant become their arithmetic mean. Each
      modality keeps its share of the row.
    * "merge": they become their geometric mean, and the row is normalized. This averages the *scores* before softmax,
      as QUAG-attention does (`merged_attention`).
    * "knockout": they become 0, and the row is normalized. A row without other weights becomes 0.

    Args:
        attention: Weights after softmax, shape (…, queries, keys).
        rows: Labels of the queries, integers, shape (…, queries), broadcast over the leading axes: labels of shape
            (batch, queries) go with maps of shape (batch, heads, queries, keys) as `labels[:, None]`.
        columns: Labels of the keys, in the same form.
        quadrants: Quadrants to impair; see `quadrants_of`.
        visible: Visible keys of each query, booleans that broadcast to the shape of `attention`: padding masks (the
            paper's) and causal masks (ours). None for all. Hidden weights, and rows without visible keys, are
            preserved.
        operator: One of "average", "knockout", "merge".

    Returns:
        The new maps, float64.

    Raises:
        InputError: Shapes do not match.
        UsageError: The quadrants or the operator are unknown.
    """
    weights = np.array(attention, np.float64)
    chosen, operator = quadrants_of(quadrants), checked_operator(operator)
    try:
        is_visible = np.broadcast_to(np.asarray(True if visible is None else visible, bool), weights.shape)
        query_labels = np.broadcast_to(np.asarray(rows)[..., :, None], weights.shape)
        key_labels = np.broadcast_to(np.asarray(columns)[..., None, :], weights.shape)
    except ValueError as error:
        raise InputError(
            f"attention of shape {weights.shape} does not match labels of shapes {np.shape(rows)} (queries) and "
            f"{np.shape(columns)} (keys){'' if visible is None else f' and a mask of shape {np.shape(visible)}'}."
        ) from error
    cells = [(query_labels == query) & (key_labels == key) & is_visible for query, key in sorted(chosen)]
    if operator == "average":
        for in_quadrant in cells:
            weights = np.where(in_quadrant, _mean(weights, in_quadrant), weights)
        return weights
    touched = np.any(cells, axis=0).any(axis=-1, keepdims=True)
    changed = np.where(is_visible, weights, 0.0)
    for in_quadrant in cells:
        if operator == "knockout":
            changed = np.where(in_quadrant, 0.0, changed)
        else:
            with np.errstate(divide="ignore"):
                logs = np.log(weights, where=in_quadrant, out=np.zeros_like(weights))
            changed = np.where(in_quadrant, np.exp(_mean(logs, in_quadrant)), changed)
    total = changed.sum(axis=-1, keepdims=True)
    return np.where(touched, changed / np.where(total > 0, total, 1), weights)


def merged_attention(
    query: ArrayLike,
    key: ArrayLike,
    value: ArrayLike,
    columns: ArrayLike,
    averaged: Iterable[int],
    visible: ArrayLike | None = None,
) -> Floats:
    """Apply QUAG-attention (§2.4), which replaces the tokens of each averaged modality by one mean key and value.

    The result is softmax(Q Kᵀ / √d + log s) V, where s is the number of tokens represented by a key. The paper averages
    the inputs of the layer, which is equivalent if keys and values are affine maps of them.

    Args:
        query: Queries, shape (…, queries, d).
        key: Keys, shape (…, keys, d).
        value: Values, shape (…, keys, width).
        columns: Labels of the keys, shape (keys,).
        averaged: Labels of the averaged modalities: (1,) for video, (2,) for text, (1, 2) for both.
        visible: Whether each key is not padding, shape (keys,), or None if all are visible.

    Returns:
        Attention output, shape (…, queries, width), float64.
    """
    queries, keys, values = (np.asarray(tensor, np.float64) for tensor in (query, key, value))
    labels = np.asarray(columns)
    is_visible = np.ones(len(labels), bool) if visible is None else np.asarray(visible, bool)
    averaged = sorted(set(averaged))
    groups = [np.flatnonzero(is_visible & (labels == label)) for label in averaged]
    groups += [np.array([index]) for index in np.flatnonzero(is_visible & ~np.isin(labels, averaged))]
    groups = [group for group in groups if len(group)]
    short_keys = np.stack([keys[..., group, :].mean(axis=-2) for group in groups], axis=-2)
    short_values = np.stack([values[..., group, :].mean(axis=-2) for group in groups], axis=-2)
    sizes = np.array([len(group) for group in groups], np.float64)
    scores = queries @ np.swapaxes(short_keys, -1, -2) / np.sqrt(queries.shape[-1]) + np.log(sizes)
    return np.asarray(softmax(scores) @ short_values, np.float64)


def softmax(scores: Floats) -> Floats:
    """Compute the softmax over the last axis."""
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return np.asarray(powers / powers.sum(axis=-1, keepdims=True), np.float64)


def _mean(values: Floats, cells: NDArray[np.bool_]) -> Floats:
    counts = cells.sum(axis=-1, keepdims=True)
    sums = np.where(cells, values, 0.0).sum(axis=-1, keepdims=True)
    return np.asarray(sums / np.maximum(counts, 1), np.float64)
