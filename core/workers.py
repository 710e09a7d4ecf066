"""Run functions in worker processes that do not run the user's script again.

`multiprocessing` would import the parent's main module in each worker, and a script without `if __name__ ==
"__main__"` would start another build there. The workers of loky receive what a script or notebook defines by value.
"""

from __future__ import annotations

import os
import signal
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import BrokenExecutor, Executor
from contextlib import contextmanager
from itertools import islice
from multiprocessing import Pipe
from multiprocessing.connection import Connection, wait
from pickle import PicklingError
from typing import Any, TypeVar

from .errors import BuildError, InputError
from .extras import own_process

T = TypeVar("T")


@contextmanager
def worker_pool(count: int, setup: Callable[..., object] = int, *arguments: Any) -> Iterator[Executor]:
    """Start worker processes, which first call `setup` with the arguments `arguments`, and kill them after the block.

    They ignore Ctrl-C and end with the parent.

    Raises:
        InputError: A function or an argument cannot be pickled.
        BuildError: A worker died.
    """
    from loky import ProcessPoolExecutor  # takes 0.1 s

    ours, parent = Pipe()  # our end is closed when this process dies
    keep = {"LOKY_MAX_MEMORY_LEAK_SIZE": "1e15"}  # by default, workers that need 300 MB more are replaced
    pool = ProcessPoolExecutor(count, initializer=_start, initargs=(parent, setup, arguments), env=keep)
    try:
        _start_processes(pool)
        yield pool
    except PicklingError as error:
        cause = str(error.__cause__ or error).strip('"\n').splitlines()[-1]  # which may be a traceback as text
        raise InputError(f"cannot send this to worker processes: {cause}. Set workers=1 to use none.") from error
    except BrokenExecutor as error:
        raise BuildError(
            "a worker process died, possibly because the system ran out of memory. Run the same command again, with "
            "fewer --workers if memory was insufficient; a build continues where it stopped."
        ) from error
    finally:
        pool.shutdown(kill_workers=True)
        ours.close()


def _start_processes(pool: Executor) -> None:
    masks = hasattr(signal, "pthread_sigmask")
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT}) if masks else ()  # inherited by the processes
    try:
        pool.submit(int)
    except (AttributeError, TypeError) as error:
        raise PicklingError from error
    finally:
        if masks:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _start(parent: Connection, setup: Callable[..., object], arguments: tuple[Any, ...]) -> None:
    own_process()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=lambda: wait([parent]) and os._exit(1), daemon=True).start()
    setup(*arguments)


def on_processes(function: Callable[..., T], calls: Iterable[tuple[Any, ...]], workers: int) -> Iterator[T]:
    """Call a function in worker processes with each tuple of arguments, and yield the results in order.

    Calls are consumed lazily to limit memory. With 1 worker, the function is called in this process.
    """
    if workers == 1:
        yield from (function(*arguments) for arguments in calls)
        return
    with worker_pool(workers) as pool:
        futures = (pool.submit(function, *arguments) for arguments in calls)
        waiting = deque(islice(futures, 4 * workers))
        while waiting:
            yield waiting.popleft().result()
            waiting.extend(islice(futures, 1))
