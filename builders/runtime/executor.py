"""Render units in this process or in worker processes. For several machines, see `ray_cluster`."""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import islice
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from typing import Protocol

from ...core.errors import BuildError, StressreelError, VideoError
from ...core.files import output_error
from ...core.plan import Builder, Facts, Skip, Unit
from ...core.progress import tick, tick_into
from ...core.workers import worker_pool
from .store import Store

Result = tuple[Unit, Facts | Skip]
IN_FLIGHT = 4
"""Units submitted per worker, which bounds the memory for pending units."""

# Limits for multithreaded libraries, since builds run in parallel processes.
ONE_THREAD = dict.fromkeys(
    ("OPENCV_FOR_THREADS_NUM", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1"
)


class Executor(Protocol):
    """Interface of all executors."""

    def execute(self, builder: Builder, units: Sequence[Unit], store: Store) -> Iterator[Result]:
        """Render units. Yield each unit with its facts or its skip as soon as it is done.

        The builder is pickled once per worker.

        Raises:
            OutputError: The disk is full or not writable.
            BuildError: A worker died, or the encoder failed.
        """


def longest_first(units: Sequence[Unit]) -> list[Unit]:
    """Sort units so that the most expensive come first."""
    return sorted(units, key=lambda unit: -unit.cost)


def render_unit(builder: Builder, unit: Unit, store: Store) -> Facts | Skip:
    """Render a unit and deliver its files. If its source is unusable, return a Skip and deliver nothing."""
    try:
        folder = store.scratch(unit.id)
        try:
            facts = builder.render(unit, folder)
        except VideoError as error:
            store.discard(unit.id)
            return Skip(unit.id, unit.source_id, error.reason, error.detail)
        store.deliver(unit.id, facts["files"])
        return facts
    except StressreelError:
        raise
    except OSError as error:
        raise output_error(error, folder) from error
    except (ValueError, RuntimeError, ArithmeticError) as error:
        raise BuildError(
            f"{unit.id} of video {unit.source_id} failed unexpectedly: {type(error).__name__}: {error}. Please report "
            "it; --debug shows the traceback."
        ) from error
    finally:
        gc.collect()  # few frames are in reference cycles, but they are large


@dataclass(frozen=True)
class Inline:
    """Renders units in this process, one after the other."""

    def execute(self, builder: Builder, units: Sequence[Unit], store: Store) -> Iterator[Result]:
        """Render units one after the other; see `Executor`."""
        ours = gc.get_freeze_count() == 0  # otherwise, the caller unfreezes them
        gc.freeze()  # exclude older objects from garbage collection after each unit
        try:
            with _one_thread():
                for unit in longest_first(units):
                    yield unit, render_unit(builder, unit, store)
        finally:
            if ours:
                gc.unfreeze()


@dataclass(frozen=True)
class Processes:
    """Renders units in worker processes on this machine, each with one thread."""

    workers: int

    def execute(self, builder: Builder, units: Sequence[Unit], store: Store) -> Iterator[Result]:
        """Render units in parallel; see `Executor`."""
        if not units:
            return
        waiting = iter(longest_first(units))  # so that no worker ends with a long unit
        running: dict[Future[Facts | Skip], Unit] = {}
        ticks, sender = Pipe(duplex=False)
        count = min(self.workers, len(units))
        with _one_thread(), worker_pool(count, _start_worker, builder, store, sender) as pool:
            while True:
                for unit in islice(waiting, IN_FLIGHT * self.workers - len(running)):
                    running[pool.submit(_work, unit)] = unit
                if not running:
                    break
                done = wait(running, timeout=1, return_when=FIRST_COMPLETED).done
                while ticks.poll():
                    ticks.recv_bytes()
                    tick()
                for future in done:
                    yield running.pop(future), future.result()


@contextmanager
def _one_thread() -> Iterator[None]:
    """Limit libraries that are loaded inside a `with` block, here or in workers, to one thread."""
    kept = {name: os.environ.get(name) for name in ONE_THREAD}
    os.environ.update(ONE_THREAD)
    try:
        yield
    finally:
        for name, value in kept.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


_builder: Builder
_store: Store


def _start_worker(builder: Builder, store: Store, ticks: Connection) -> None:
    global _builder, _store
    _builder, _store = builder, store
    tick_into(partial(ticks.send_bytes, b"1"))
    gc.freeze()  # see `Inline`


def _work(unit: Unit) -> Facts | Skip:
    return render_unit(_builder, unit, _store)
