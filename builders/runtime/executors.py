"""Render units in this process, in worker processes, or on a Ray cluster."""

from __future__ import annotations

import gc
import os
import pickle
import signal
import socket
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from functools import lru_cache, partial
from itertools import islice
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, Protocol

from ...core.errors import (
    BuildError,
    MismatchError,
    OutputError,
    StressreelError,
    TransientError,
    UsageError,
    VideoError,
)
from ...core.extras import import_extra, own_process
from ...core.files import output_error, write_atomic
from ...core.plan import Builder, Facts, Skip, Unit
from ...core.progress import tick, tick_into
from ...core.version import version_here
from ...core.workers import worker_pool
from ...video.encode import ffmpeg_version
from .store import FolderStore, SharedFolderStore, Store

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
                    running[pool.submit(_render_in_process, unit)] = unit
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


def _render_in_process(unit: Unit) -> Facts | Skip:
    return render_unit(_builder, unit, _store)


QUEUED = 2  # units submitted per CPU: one being rendered, and one waiting
TRIES = 3  # attempts at a unit whose worker died, or whose store could not be reached
ALONE_S = 60.0  # without a result or any CPU, after which the build fails
PASSED = ("STRESSREEL_FFMPEG",)
"""Environment variables that workers need."""
QUIET = {"RAY_USAGE_STATS_ENABLED": "0", "RAY_IGNORE_UNHANDLED_ERRORS": "1"}  # no telemetry or tracebacks


@dataclass(frozen=True)
class RayCluster:
    """Renders units on the machines of a Ray cluster.

    Attributes:
        address: "host:port" of the head; by default the cluster of this machine, or else a temporary local one.
        workers: Maximum number of parallel units; defaults to the CPUs of the cluster.
        tools: Versions in the plan that determine the content; workers must have the same.
    """

    address: str | None = None
    workers: int | None = None
    tools: Mapping[str, str] = field(default_factory=dict)

    def execute(self, builder: Builder, units: Sequence[Unit], store: Store) -> Iterator[Result]:
        """Render units on the cluster; see `Executor`.

        If a worker or node dies, or the store is temporarily unreachable, the unit is rendered again, up to `TRIES`
        times in total. Other failures are not retried.

        Raises:
            MismatchError: A worker's versions differ from the plan.
            OutputError: A worker cannot access the store's folder, or cannot write there.
            BuildError: The cluster has no CPU, a node lacks stressreel, or workers died repeatedly.
        """
        if not units:
            return
        ray, seen = import_extra("ray", what="--executor ray"), ""
        running: dict[Any, Unit] = {}
        with ExitStack() as stack:
            if isinstance(store, FolderStore):
                store = SharedFolderStore(store.path.absolute())
                seen = str(store.path / f".seen-{os.getpid()}")
                write_atomic(Path(seen), "")
                stack.callback(Path(seen).unlink, missing_ok=True)
            if ray.is_initialized():  # otherwise, all tasks end with the connection
                stack.callback(lambda: [ray.cancel(ref, force=True) for ref in running])
            else:
                stack.callback(ray.shutdown)
                _join(ray, self.address)
            tools = {name: here for name in self.tools if (here := _version(name)) == self.tools[name]}
            pickled = ray.cloudpickle.dumps((builder, store))  # definitions in __main__ are pickled by value
            setup = [ray.put((tools, seen, os.getcwd(), pickled))]
            ours = {name: os.environ[name] for name in PASSED if name in os.environ}  # Ray logs them, so no keys
            options = {"num_cpus": 1, "max_retries": TRIES - 1, "retry_exceptions": [TransientError]}
            task = ray.remote(**options, runtime_env={"env_vars": ONE_THREAD | ours})(_render_on_cluster)
            waiting = iter(longest_first(units))
            while True:
                cpus = int(ray.cluster_resources().get("CPU", 0))  # nodes may be added or removed
                room = (self.workers or max(QUEUED * cpus, 1)) - len(running)
                running.update((task.remote(setup, unit), unit) for unit in islice(waiting, max(room, 0)))
                if not running:
                    return
                done, _ = ray.wait(list(running), timeout=ALONE_S)
                if not done and not cpus:
                    raise BuildError(
                        f"the Ray cluster has had no CPU for {ALONE_S:.0f} s: its nodes have left, or have no CPUs. "
                        "Finished work is kept. Start nodes, then run the same command again to continue."
                    )
                for ref in done:
                    unit = running.pop(ref)
                    yield unit, _result(ray, ref, unit)


def _result(ray: Any, ref: Any, unit: Unit) -> Any:
    try:
        return ray.get(ref)
    except ray.exceptions.RayError as error:
        cause = getattr(error, "cause", None)
        if isinstance(cause, StressreelError):
            raise cause from error
        reason = (str(cause or error).strip().splitlines() or [""])[-1]
        raise BuildError(
            f"{unit.id} of video {unit.source_id} failed on the Ray cluster ({type(error).__name__}: {reason}). If its "
            f"workers died ({TRIES} attempts), use fewer --workers, as memory may be insufficient; if a module is "
            "missing, install it on all machines. Run the same command again to continue: finished work is kept."
        ) from error


def _render_on_cluster(setup: Sequence[Any], unit: Unit) -> Facts | Skip:
    """Render a unit in a worker."""
    builder, store = _prepared(setup[0])
    return render_unit(builder, unit, store)


@lru_cache(maxsize=1)
def _prepared(ref: Any) -> tuple[Builder, Store]:
    """Check the versions and the access to the folder once per worker, then unpickle the builder and the store."""
    tools, seen, folder, pickled = import_extra("ray").get(ref)
    own_process()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the driver handles Ctrl-C
    with suppress(OSError):
        os.chdir(folder)  # paths may be relative
    here, machine = {name: _version(name) for name in tools}, socket.gethostname()
    if others := [
        f"{name} is {here[name]} there and {tools[name]} here" for name in tools if here[name] != tools[name]
    ]:
        raise MismatchError(
            f"the worker on {machine} has different versions from the plan: {', '.join(others)}. Install the same "
            "versions on all machines of the cluster."
        )
    if seen and not os.path.exists(seen):
        raise OutputError(
            f"{machine} of the Ray cluster does not have access to {os.path.dirname(seen)}. Use an --out that all "
            "machines can access under the same path (NFS, Lustre), or build on one with --executor processes."
        )
    gc.freeze()  # exclude Ray and the packages from garbage collection after each unit
    builder, store = pickle.loads(pickled)
    return builder, store


def _version(name: str) -> str | None:
    return ffmpeg_version() if name == "ffmpeg" else version_here(name)


def _join(ray: Any, address: str | None) -> None:
    """Join a cluster or start a local one. Raise BuildError if that fails."""
    os.environ |= QUIET | {"RAY_task_oom_retries": str(TRIES - 1)} | os.environ  # by default, Ray repeats forever
    terminate = signal.getsignal(signal.SIGTERM)
    try:
        ray.init(address, include_dashboard=False, log_to_driver=False, logging_level="ERROR", configure_logging=False)
    except (ConnectionError, RuntimeError, ValueError, OSError) as error:
        raise BuildError(
            f"cannot join the Ray cluster at {address or 'this machine, or start one'}: {error}"
        ) from error
    with suppress(ValueError):  # in another thread, which has no handlers
        signal.signal(signal.SIGTERM, terminate)  # Ray has replaced it


def check_address(address: str) -> None:
    """Check the address of a cluster before a build is prepared. Raise UsageError if it cannot be used."""
    host, _, port = address.rpartition(":")
    try:
        if address != "auto":
            socket.create_connection((host.strip("[]"), int(port)), timeout=10).close()
    except (OSError, OverflowError, ValueError) as error:
        raise UsageError(
            f"--ray-address {address}: the connection failed ({error}). Use host:port of the head, as `ray start "
            "--head` prints it, or auto; omit the option to use only this machine. ray:// and http:// are not "
            "supported, because the build itself must run on a machine of the cluster."
        ) from error
