"""Units on a machine's processes, or in this one. Each result is given back as soon as it is there, in any order.

Those on other machines are in `ray_cluster`.
What an executor needs of a build is the units, the builder and a store to deliver files to.
"""

from __future__ import annotations

import gc
import multiprocessing
import os
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Protocol

from ...core.errors import BuildError, StressreelError, VideoError
from ...core.files import output_error
from ...core.plan import Builder, Facts, Skip, Unit
from ...core.progress import Counts, tick_into, ticked
from ...core.workers import DIED, Workers
from .store import Store

Result = tuple[Unit, Facts | Skip]
IN_FLIGHT = 4
"""Units handed to the pool for each worker, so that memory does not grow with their number."""

# What a library with threads of its own is told: processes are what scales here.
ONE_THREAD = dict.fromkeys(
    ("OPENCV_FOR_THREADS_NUM", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1"
)


class Executor(Protocol):
    """Renders units somewhere."""

    def execute(self, builder: Builder, units: Sequence[Unit], store: Store) -> Iterator[Result]:
        """Render units.

        Args:
            builder: Renders them; pickled once to every worker.
            units: The work.
            store: Takes their files.

        Yields:
            Every unit with its facts or its skip, as they finish.

        Raises:
            OutputError: The disk is full or not writable.
            BuildError: A worker died, or the encoder failed.
        """


def longest_first(units: Sequence[Unit]) -> list[Unit]:
    """Sort units by their cost."""
    return sorted(units, key=lambda unit: -unit.cost)


def render_unit(builder: Builder, unit: Unit, store: Store) -> Facts | Skip:
    """Render one unit and deliver its files; a source that cannot be used becomes a Skip and leaves nothing."""
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
            f"{unit.id} of video {unit.source_id} failed in a way that should not happen: "
            f"{type(error).__name__}: {error}. Please report it; --debug shows where."
        ) from error
    finally:
        gc.collect()  # frames in reference cycles are few to Python's collector, but large


@dataclass(frozen=True)
class Inline:
    """This process, without another one."""

    def execute(self, builder: Builder, units: Sequence[Unit], store: Store) -> Iterator[Result]:
        """Render units one after the other; see `Executor`."""
        ours = gc.get_freeze_count() == 0  # else it is for whoever called this to thaw
        gc.freeze()  # so that the collection after each unit does not look through all that was there before
        try:
            with _one_thread():
                for unit in longest_first(units):
                    yield unit, render_unit(builder, unit, store)
        finally:
            if ours:
                gc.unfreeze()


@dataclass(frozen=True)
class Processes:
    """Worker processes of this machine.

    Attributes:
        workers: How many, each with one thread.
    """

    workers: int

    def execute(self, builder: Builder, units: Sequence[Unit], store: Store) -> Iterator[Result]:
        """Render units side by side; see `Executor`."""
        if not units:
            return
        waiting = iter(longest_first(units))  # so that no worker is left with a long one
        running: dict[Future[Facts | Skip], Unit] = {}
        counter = multiprocessing.get_context("spawn").Value("q", ticked())
        tick_into(counter)
        count = min(self.workers, len(units))
        with _one_thread(), Workers(count, _start_worker, builder, store, shared=(counter,)) as pool:
            try:
                while True:
                    for unit in waiting:
                        running[pool.submit(_work, unit)] = unit
                        if len(running) >= IN_FLIGHT * self.workers:
                            break
                    if not running:
                        break
                    for future in wait(running, return_when=FIRST_COMPLETED).done:
                        yield running.pop(future), future.result()
            except BrokenProcessPool as error:
                raise BuildError(
                    f"{DIED} What was finished is kept: run the same command again to go on, with fewer --workers if "
                    "memory was short."
                ) from error


@contextmanager
def _one_thread() -> Iterator[None]:
    """Make libraries that start meanwhile, here or in workers, use one thread."""
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


def _start_worker(builder: Builder, store: Store, counter: Counts) -> None:
    global _builder, _store
    _builder, _store = builder, store
    tick_into(counter)
    gc.freeze()  # see `Inline`


def _work(unit: Unit) -> Facts | Skip:
    return render_unit(_builder, unit, _store)
