"""Run functions in worker processes that do not import the user's script.

`multiprocessing` imports the parent's main module in each worker. A script without `if __name__ == "__main__"` would
therefore start another build there, and `python -` would fail. These workers have no main module, so functions and
classes defined in the script itself cannot be sent to them.
"""

from __future__ import annotations

import io
import multiprocessing
import os
import pickle
import signal
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor  # noqa: TID251
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from functools import cache, partial
from importlib import import_module
from multiprocessing import connection, spawn
from multiprocessing.context import SpawnContext, SpawnProcess
from types import FunctionType, SimpleNamespace, TracebackType
from typing import Any, TypeVar

from .errors import BuildError, InputError
from .extras import own_process
from .progress import counted

T = TypeVar("T")

DIED = "a worker process died, possibly because the system ran out of memory."


class Workers(ProcessPoolExecutor):
    """A process pool that does not import the user's script.

    The processes ignore Ctrl-C and end with the parent. An exception in the `with` block terminates them immediately.
    """

    def __init__(self, count: int, setup: Callable[..., None] | None = None, *given: Any, shared: tuple[Any, ...] = ()):
        """Prepare the pool. Its processes start with the first call, and call `setup` with the arguments `given`.

        `shared` contains arguments that must be passed when a process starts, such as a `multiprocessing.Value`.

        Raises:
            InputError: An argument cannot be pickled.
        """
        self._context = _Context()
        super().__init__(count, self._context, _start, (_packed(setup, *given), shared))

    def submit(self, function: Callable[..., T], /, *arguments: Any, **named: Any) -> Future[T]:
        """Call a function in one of the processes. Raise InputError if it or an argument cannot be pickled."""
        packed = _packed(partial(function, **named), *arguments)
        with _without_interrupts():
            return super().submit(_call, packed)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None:
            self.shutdown()
            return
        self.shutdown(wait=False, cancel_futures=True)
        for process in self._context.started:
            if process.is_alive():
                process.terminate()
        if isinstance(error, BrokenProcessPool):
            raise BuildError(f"{DIED} Try again with fewer --workers.") from error


class _Process(SpawnProcess):
    @staticmethod
    def _Popen(process_obj: Any) -> Any:
        return _popen()(process_obj)


class _Context(SpawnContext):
    """Context that records the processes it starts, so that only these are terminated."""

    def __init__(self) -> None:
        super().__init__()
        self.started: list[_Process] = []

    def Process(self, *arguments: Any, **named: Any) -> _Process:  # type: ignore[override]
        process = _Process(*arguments, **named)
        self.started.append(process)
        return process


@cache
def _popen() -> Any:
    """Copy the `Popen` of `multiprocessing`, omitting the parent's main module from its preparation data.

    The copy uses a modified `spawn`, since patching `spawn` would affect all processes of the program.
    """
    real = import_module(f"multiprocessing.popen_spawn_{'win32' if sys.platform == 'win32' else 'posix'}").Popen

    def without_main(name: str) -> dict[str, Any]:
        data = spawn.get_preparation_data(name)
        return {key: value for key, value in data.items() if not key.startswith("init_main")}

    ours = SimpleNamespace(**{**vars(spawn), "get_preparation_data": without_main})
    methods = {
        name: FunctionType(each.__code__, {**each.__globals__, "spawn": ours}, name, None, each.__closure__)
        for name, each in vars(real).items()
        if isinstance(each, FunctionType) and "get_preparation_data" in each.__code__.co_names
    }
    return type("Popen", (real,), methods)


@contextmanager
def _without_interrupts() -> Iterator[None]:
    """Block SIGINT while processes start, since they inherit the mask."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


class _Pickler(pickle.Pickler):
    def reducer_override(self, thing: Any) -> Any:
        if isinstance(thing, type | FunctionType) and thing.__module__ in ("__main__", "__mp_main__"):
            raise pickle.PicklingError(f"{thing.__qualname__} is defined in the script or notebook itself")
        return NotImplemented


def _packed(function: Callable[..., Any] | None, *arguments: Any) -> bytes:
    file = io.BytesIO()
    try:
        _Pickler(file, pickle.HIGHEST_PROTOCOL).dump((function, arguments))
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise InputError(
            f"cannot send this to worker processes: {error}. Define it at the top level of a module that can be "
            "imported, or set workers=1 to run without worker processes."
        ) from error
    return file.getvalue()


def _call(packed: bytes) -> Any:
    function, arguments = pickle.loads(packed)
    return function(*arguments)


def _start(setup: bytes, shared: tuple[Any, ...]) -> None:
    own_process()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = multiprocessing.parent_process()
    if parent is not None:

        def leave_with_parent() -> None:
            connection.wait([parent.sentinel])
            os._exit(1)

        threading.Thread(target=leave_with_parent, daemon=True).start()
    function, given = pickle.loads(setup)
    if function is not None:
        function(*given, *shared)


def on_processes(function: Callable[..., T], calls: Iterable[tuple[Any, ...]], workers: int) -> Iterator[T]:
    """Call a function in worker processes with each tuple of arguments, and yield the results in order.

    Calls are consumed lazily to limit memory. With 1 worker, the function is called in this process.
    """
    yield from counted(_results(function, calls, workers))


def _results(function: Callable[..., T], calls: Iterable[tuple[Any, ...]], workers: int) -> Iterator[T]:
    if workers == 1:
        yield from (function(*arguments) for arguments in calls)
        return
    waiting: deque[Future[T]] = deque()
    with Workers(workers) as pool:
        for arguments in calls:
            waiting.append(pool.submit(function, *arguments))
            if len(waiting) > 4 * workers:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
