"""Labels of tokens as `quag` takes them, and which of them go with the axes of a layer's attention."""

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
    """Labels of tokens, to be matched to axes of attention."""

    by_pattern: list[tuple[str, list[Labels], list[Labels]]]
    generated: int | None
    begun: set[str] = field(default_factory=set)
    """Layers that have seen all tokens with labels: after that, and only then, more are generated ones."""

    def match(self, name: str, batch: int, queries: int, keys: int, *, folded: bool) -> tuple[Labels, Labels] | None:
        """Find the labels of queries and keys, each (batch, tokens) or (1, tokens), that go with a layer's axes.

        Args:
            name: The layer.
            batch: Length of the first axis.
            queries: Length of the axis of queries.
            keys: Length of the axis of keys.
            folded: The first axis is that of batch and heads together.
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
        """Write the shapes of all labels, for a message."""
        shapes = {one.shape for _, asking, asked in self.by_pattern for one in (*asking, *asked)}
        return " and ".join(map(str, sorted(shapes)))


def _repeated(labels: Labels, batch: int) -> Labels:
    return labels if len(labels) in (1, batch) else np.repeat(labels, batch // len(labels), axis=0)


def _of_length(name: str, streams: list[Labels], length: int) -> Labels | None:
    found = [one for one in streams if one.shape[1] == length]
    if len(found) > 1 and any(not np.array_equal(found[0], one) for one in found[1:]):
        raise UsageError(
            f"labels of two streams have the length {length} of an axis of {name}: say which is which with "
            '`modality={"pattern of a layer\'s name": (labels of queries, labels of keys), …}`.'
        )
    return found[0] if found else None


def read_streams(modality: Any, generated: int | None) -> Streams:
    """Read labels as `quag` takes them."""
    if not isinstance(modality, Mapping):
        every = _streams(modality)
        return Streams([("*", every, every)], generated)
    by_pattern = []
    for pattern, given in modality.items():
        if isinstance(given, tuple):
            if len(given) != 2:
                raise InputError(f"labels for {pattern!r}: a tuple is (labels of queries, labels of keys).")
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
            f"labels must be integers of 0 or more, of shape (batch, tokens) or (tokens,); these are of type "
            f"{labels.dtype} and shape {labels.shape}."
        )
    return np.atleast_2d(labels).astype(np.int64)
