"""Number of threads of numerical libraries."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def one_thread() -> Iterator[None]:
    """Limit BLAS and OpenMP to one thread, if threadpoolctl is installed.

    Threads multiply the CPU time of small products without making them faster. The order of sums then no longer depends
    on the number of cores.
    """
    try:
        from threadpoolctl import threadpool_limits
    except ModuleNotFoundError:
        yield
        return
    with threadpool_limits(1):
        yield
