"""Compute the same numbers on every machine: random generators by key, one thread for BLAS, trees without early stop.

There is no global random state: a generator is derived from a seed and a key.
"""

from __future__ import annotations

import hashlib
import json
import secrets  # noqa: TID251 - draws a seed where none is given
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from .extras import import_extra

Key = str | int


def digest_for(seed: int, *key: Key) -> bytes:
    """Return a 32-byte hash of a seed and a key. ("a", "bc") and ("ab", "c") differ, and so do 1 and "1"."""
    return hashlib.sha256(json.dumps([seed, *key], ensure_ascii=True).encode()).digest()


def rng_for(seed: int, *key: Key) -> np.random.Generator:
    """Return a Philox generator, seeded with 128 bits of the SHA-256 of a seed and a key.

    The key states the purpose of the draw, such as ("clavi", "extension", pair id). It must not depend on row order or
    worker count.
    """
    return np.random.Generator(np.random.Philox(key=_words(seed, *key)))


def draw_seed() -> int:
    """Return an unpredictable 32-bit seed for the samples that `verify` draws. Builds never use it."""
    return secrets.randbits(32)


def rekey(rng: np.random.Generator, seed: int, *key: Key) -> None:
    """Reset a generator from `rng_for` to another key, which is three times as fast as creating one."""
    rng.bit_generator.state = {
        "bit_generator": "Philox",
        "state": {"counter": _ZEROS, "key": _words(seed, *key)},
        "buffer": _ZEROS,
        "buffer_pos": 4,
        "has_uint32": 0,
        "uinteger": 0,
    }


_ZEROS = np.zeros(4, np.uint64)


def _words(seed: int, *key: Key) -> np.ndarray[tuple[int], np.dtype[np.uint64]]:
    return np.frombuffer(digest_for(seed, *key)[:16], dtype="<u8").astype(np.uint64)


@contextmanager
def one_thread() -> Iterator[None]:
    """Limit BLAS and OpenMP to one thread inside a `with` block, if threadpoolctl is installed.

    More threads do not speed up small matrix products, and the order of summation would depend on the number of cores.
    """
    try:
        from threadpoolctl import threadpool_limits
    except ModuleNotFoundError:
        yield
        return
    with threadpool_limits(1):
        yield


def fit_boosted_trees(
    inputs: Any, labels: Any, *, iterations: int, rate: float, smallest: int, penalty: float, seed: int, what: str
) -> Any:
    """Fit trees of up to 15 leaves, each on half of the inputs, without early stopping.

    Args:
        inputs: Array of shape (rows, inputs).
        labels: Class of each row, 0 or 1.
        iterations: Number of trees.
        rate: Learning rate.
        smallest: Minimum number of rows in a leaf.
        penalty: L2 penalty of the leaves.
        seed: Seed of the sampled inputs.
        what: What needs scikit-learn, for the error message.

    Returns:
        The model, whose `decision_function` returns log-odds.

    Raises:
        MissingExtraError: scikit-learn is not installed.
    """
    ensemble = import_extra("sklearn.ensemble", what=what)
    return ensemble.HistGradientBoostingClassifier(
        max_iter=iterations,
        learning_rate=rate,
        max_leaf_nodes=15,
        min_samples_leaf=smallest,
        l2_regularization=penalty,
        max_features=0.5,
        early_stopping=False,
        random_state=seed,
    ).fit(inputs, labels)
