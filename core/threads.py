"""Limit the number of threads that numerical libraries use."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


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
