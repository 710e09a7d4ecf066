"""Calls on worker processes, results in the order of the calls, few of them held at a time."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future
from typing import Any, TypeVar

from ...core.progress import counted
from ...core.workers import Workers

Result = TypeVar("Result")


def on_processes(function: Callable[..., Result], calls: Iterable[tuple[Any, ...]], workers: int) -> Iterator[Result]:
    """Call a function with each tuple of arguments.

    Args:
        function: A function of a module.
        calls: Its arguments; taken only as results are wanted, so that large ones are not all in memory.
        workers: Processes; 1 works in the calling process.

    Yields:
        The results, in order.
    """
    yield from counted(_results(function, calls, workers))


def _results(function: Callable[..., Result], calls: Iterable[tuple[Any, ...]], workers: int) -> Iterator[Result]:
    if workers == 1:
        yield from (function(*arguments) for arguments in calls)
        return
    waiting: deque[Future[Result]] = deque()
    with Workers(workers) as pool:
        for arguments in calls:
            waiting.append(pool.submit(function, *arguments))
            if len(waiting) > 4 * workers:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
