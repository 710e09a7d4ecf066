"""Units on worker processes. Each result is given back as soon as it is there, in any order."""

from __future__ import annotations

import gc
import multiprocessing
import os
import shutil
import signal
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing.connection import wait
from pathlib import Path

from ..errors import BuildError, StressreelError, VideoError
from ..records.files import output_error
from ..records.plan import Builder, Facts, Skip, Unit

Result = tuple[Unit, Facts | Skip]

# What a fresh process of a library with threads of its own is told: processes are what scales here.
ONE_THREAD = dict.fromkeys(
    ("OPENCV_FOR_THREADS_NUM", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1"
)


def execute(builder: Builder, units: Sequence[Unit], staging: Path, workers: int) -> Iterator[Result]:
    """Render units.

    Args:
        builder: Pickled once to every worker.
        units: The work.
        staging: Each unit's files go to a folder of its id in here.
        workers: Processes, each with one thread.

    Yields:
        Every unit with its facts or its skip, as they finish.

    Raises:
        OutputError: The disk is full or not writable.
        BuildError: A worker died, or the encoder failed.
    """
    if not units:
        return
    kept = {name: os.environ.get(name) for name in ONE_THREAD}
    os.environ.update(ONE_THREAD)
    pool = ProcessPoolExecutor(
        min(workers, len(units)),
        mp_context=multiprocessing.get_context("spawn"),
        initializer=_start_worker,
        initargs=(builder, staging),
    )
    try:
        with _without_interrupts():
            longest_first = sorted(units, key=lambda unit: -unit.cost)  # so that no worker is left with a long one
            futures = {pool.submit(_work, unit): unit for unit in longest_first}
        for future in as_completed(futures):
            yield futures[future], future.result()
        pool.shutdown()
    except BrokenProcessPool as error:
        raise BuildError(
            "a worker process died (killed by the system? out of memory?). What was finished is kept: run the same "
            "command again to go on, with fewer --workers if memory was short."
        ) from error
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
        for process in multiprocessing.active_children():
            process.terminate()
        for name, value in kept.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


@contextmanager
def _without_interrupts() -> Iterator[None]:
    """Hold Ctrl-C back while workers start: they inherit that, and so never see it."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def render_unit(builder: Builder, unit: Unit, staging: Path) -> Facts | Skip:
    """Render one unit into its own folder; a source that cannot be used becomes a Skip and leaves nothing."""
    try:
        return _render(builder, unit, staging)
    finally:
        gc.collect()  # frames in reference cycles are few to Python's collector, but large


def _render(builder: Builder, unit: Unit, staging: Path) -> Facts | Skip:
    folder = staging / unit.id
    try:
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        try:
            facts = builder.render(unit, folder)
        except VideoError as error:
            shutil.rmtree(folder, ignore_errors=True)
            return Skip(unit.id, unit.source_id, error.reason, error.detail)
        for name in facts["files"]:
            with open(folder / name, "rb+") as handle:
                os.fsync(handle.fileno())
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


_builder: Builder
_staging: Path


def _start_worker(builder: Builder, staging: Path) -> None:
    """Set up a worker: the parent alone handles Ctrl-C, and a worker whose parent is gone goes too."""
    global _builder, _staging
    _builder, _staging = builder, staging
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = multiprocessing.parent_process()
    if parent is not None:

        def leave_with_parent() -> None:
            wait([parent.sentinel])
            os._exit(1)

        threading.Thread(target=leave_with_parent, daemon=True).start()


def _work(unit: Unit) -> Facts | Skip:
    return render_unit(_builder, unit, _staging)
