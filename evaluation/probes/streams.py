"""Match the labels of tokens with the axes of a layer's attention."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any

import numpy as np

from ...core.errors import InputError, UsageError
from .labels import Labels, as_array


@dataclass
class Streams:
    """Labels of tokens, for each pattern of layer names."""

    by_pattern: list[tuple[str, list[Labels], list[Labels]]]
    generated: int | None
    begun: set[str] = field(default_factory=set)
    """Layers that have seen all labelled tokens. Only after that can further tokens be generated ones."""

    def match(self, name: str, batch: int, queries: int, keys: int, *, folded: bool) -> tuple[Labels, Labels] | None:
        """Return the labels that fit a layer's queries and keys, each (batch, tokens) or (1, tokens), or None.

        `folded` tells whether the first axis merges batch and heads.
        """
        for pattern, asking, asked in self.by_pattern:
            if fnmatchcase(name, pattern):
                found = self._lengths(name, asking, asked, queries, keys)
                if found is None or any(batch % len(one) for one in found):
                    return None
                if not folded:
                    found = _repeated(found[0], batch), _repeated(found[1], batch)
                return found
        return None

    def _lengths(
        self, name: str, asking: list[Labels], asked: list[Labels], queries: int, keys: int
    ) -> tuple[Labels, Labels] | None:
        if len(asked) == 1 and asking is asked:
            added = keys - asked[0].shape[1]
            if added == 0 and queries == keys:
                self.begun.add(name)
            elif self.generated is not None and added > 0 and queries < keys and name in self.begun:
                more = np.full((len(asked[0]), added), self.generated, np.int64)
                grown = np.concatenate([asked[0], more], axis=1)
                return grown[:, keys - queries :], grown
        rows, columns = _of_length(name, asking, queries), _of_length(name, asked, keys)
        return None if rows is None or columns is None else (rows, columns)

    def lengths(self) -> str:
        """Return the shapes of all labels as text for messages."""
        shapes = {one.shape for _, asking, asked in self.by_pattern for one in (*asking, *asked)}
        return " and ".join(map(str, sorted(shapes)))


def _repeated(labels: Labels, batch: int) -> Labels:
    return labels if len(labels) in (1, batch) else np.repeat(labels, batch // len(labels), axis=0)


def _of_length(name: str, streams: list[Labels], length: int) -> Labels | None:
    found = [one for one in streams if one.shape[1] == length]
    if len(found) > 1 and any(not np.array_equal(found[0], one) for one in found[1:]):
        raise UsageError(
            f"two streams have labels of length {length}, which matches an axis of {name}. Distinguish them with "
            '`modality={"pattern of a layer\'s name": (labels of queries, labels of keys), …}`.'
        )
    return found[0] if found else None


def read_streams(modality: Any, generated: int | None) -> Streams:
    """Parse the `modality` argument of `quag`."""
    if not isinstance(modality, Mapping):
        every = _streams(modality)
        return Streams([("*", every, every)], generated)
    by_pattern = []
    for pattern, given in modality.items():
        if isinstance(given, tuple):
            if len(given) != 2:
                raise InputError(f"labels for {pattern!r}: a tuple must be (labels of queries, labels of keys).")
            by_pattern.append((str(pattern), _streams(given[0]), _streams(given[1])))
        else:
            every = _streams(given)
            by_pattern.append((str(pattern), every, every))
    return Streams(by_pattern, generated)


def _streams(given: Any) -> list[Labels]:
    several = isinstance(given, list | tuple) and len(given) > 0 and all(hasattr(one, "shape") for one in given)
    return [_labels(one) for one in (given if several else [given])]


def _labels(given: Any) -> Labels:
    labels = as_array(given)
    if labels.dtype.kind not in "iu" or labels.ndim not in (1, 2) or not labels.size or labels.min() < 0:
        raise InputError(
            f"labels must be non-negative integers of shape (batch, tokens) or (tokens,); got {labels.dtype} of shape "
            f"{labels.shape}."
        )
    return np.atleast_2d(labels).astype(np.int64)
