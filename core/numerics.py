"""Compute the same numbers on every machine: one thread for BLAS, and trees without early stopping."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from .extras import import_extra


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
