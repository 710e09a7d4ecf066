"""Render units on a Ray cluster, with one task per unit. Workers write files to the store and return the facts.

The driver keeps the journal. Only Ray Core is used, and its object store holds nothing but the pickled builder.
"""

from __future__ import annotations

import gc
import os
import pickle
import signal
import socket
import tempfile
import threading
import time
from collections import Counter, deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

from ...core.errors import (
    BuildError,
    InputError,
    MismatchError,
    OutputError,
    StressreelError,
    TransientError,
    UsageError,
)
from ...core.extras import import_extra, own_process
from ...core.files import output_error
from ...core.plan import Builder, Facts, Skip, Unit
from ...core.version import version_here
from ...video.ffmpeg import ffmpeg_version
from .executor import ONE_THREAD, Result, longest_first, render_unit
from .store import FolderStore, SharedFolderStore, Store

QUEUED = 2
"""Units submitted per CPU: one being rendered, and one waiting."""
TRIES = 3
"""Maximum attempts at a unit whose worker died, or whose store could not be reached."""
LOOK_EVERY_S = 5.0
ALONE_S = 60.0
"""Seconds without any CPU after which the build fails."""
PROBE_S = 120.0
OBJECT_STORE = 100_000_000  # bytes; Ray's minimum is 75 MB
OURS = ("STRESSREEL_CACHE_GB", "STRESSREEL_FFMPEG")
"""Environment variables passed on to workers, besides thread limits."""


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
        if isinstance(store, FolderStore):
            store = SharedFolderStore(store.path.absolute())
        others = bool(import_extra("ray", what="--executor ray").is_initialized())
        with _token(store) as token, _joined(self) as ray:
            _check_nodes(ray, token)
            job = _Job(
                {name: found for name, found in _versions_here(self.tools).items() if found == self.tools[name]},
                token,
                os.getcwd(),
                ray.cloudpickle.dumps((builder, store)),  # definitions in __main__ are pickled by value
            )
            variables = ONE_THREAD | {name: os.environ[name] for name in OURS if name in os.environ}
            work = ray.remote(num_cpus=1, max_retries=0, runtime_env={"env_vars": variables})(_work)
            yield from _drive(ray, work, ray.put(job), longest_first(units), self.workers, cancel=others)


@dataclass(frozen=True)
class _Job:
    """Data that is sent to every worker once.

    Attributes:
        tools: Required versions.
        token: A file that the worker must be able to access; None if the store is not a folder.
        folder: The driver's working folder, since paths may be relative.
        pickled: The builder and the store.
    """

    tools: Mapping[str, str]
    token: str | None
    folder: str
    pickled: bytes


def _drive(
    ray: Any, work: Any, job: Any, units: Sequence[Unit], workers: int | None, *, cancel: bool
) -> Iterator[Result]:
    """Submit units and yield results as they arrive. With `cancel`, tasks that still run at the end are cancelled."""
    waiting = deque(units)
    running: dict[Any, Unit] = {}
    begun: Counter[str] = Counter()
    names = ("WorkerCrashedError", "NodeDiedError", "LocalRayletDiedError", "ObjectLostError", "OutOfMemoryError")
    lost = tuple(getattr(ray.exceptions, name) for name in names)
    looked = seen = -LOOK_EVERY_S - ALONE_S
    room = 1
    try:
        while waiting or running:
            now = time.monotonic()
            if now - looked > LOOK_EVERY_S:  # nodes may be added or removed
                cpus, looked = int(ray.cluster_resources().get("CPU", 0)), now
                seen = now if cpus or seen < 0 else seen
                if now - seen > ALONE_S:
                    raise BuildError(
                        f"the Ray cluster has had no CPU for {ALONE_S:.0f} s: its nodes have left, or have no CPUs. "
                        "Finished work is kept. Start nodes, then run the same command again to continue."
                    )
                room = workers or max(QUEUED * cpus, 1)
            while waiting and len(running) < room:
                unit = waiting.popleft()
                pause = 0 if not begun[unit.id] else 2 ** begun[unit.id]
                begun[unit.id] += 1
                running[work.remote([job], unit, pause)] = unit
            found, _ = ray.wait(list(running), num_returns=1, timeout=1.0)
            if found:  # collect all other finished tasks as well
                found, _ = ray.wait(list(running), num_returns=len(running), timeout=0)
            for ref in found:
                unit = running.pop(ref)
                try:
                    result: Facts | Skip | StressreelError = ray.get(ref)
                except lost as error:
                    result = BuildError(
                        f"{unit.id} of video {unit.source_id} was started {begun[unit.id]} times, and each time its "
                        f"worker or the worker's machine died ({_first_line(error)}). Finished work is kept. Run the "
                        "same command again to continue, with fewer --workers if memory was insufficient."
                    )
                    if begun[unit.id] < TRIES:
                        waiting.appendleft(unit)
                        continue
                except ray.exceptions.RayTaskError as error:
                    raise error.cause from error
                except ray.exceptions.RayError as error:
                    raise BuildError(f"Ray cannot run {unit.id}: {type(error).__name__}: {error}") from error
                if isinstance(result, TransientError) and begun[unit.id] < TRIES:
                    waiting.appendleft(unit)
                    continue
                if isinstance(result, StressreelError):
                    raise result
                yield unit, result
    finally:
        for ref in running if cancel else ():  # otherwise they end with the driver; doing both can crash Ray 2.60
            with suppress(ray.exceptions.RayError, RuntimeError, ValueError):
                ray.cancel(ref, force=True)


def _work(job: Sequence[Any], unit: Unit, pause: float) -> Facts | Skip | StressreelError:
    """Render a unit in a worker. Errors are returned, because Ray would wrap exceptions in its own message."""
    time.sleep(pause)
    try:
        builder, store = _prepared(job[0])
        return render_unit(builder, unit, store)
    except StressreelError as error:
        return error


@lru_cache(maxsize=1)
def _prepared(ref: Any) -> tuple[Builder, Store]:
    """Check the versions and the access to the folder once per worker, then unpickle the builder and the store."""
    job: _Job = import_extra("ray").get(ref)
    own_process()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the driver handles Ctrl-C
    with suppress(OSError):
        os.chdir(job.folder)
    here = _versions_here(job.tools)
    others = [
        f"{name} is {here[name] or 'not installed'} there and {wanted} here" for name, wanted in job.tools.items()
        if here[name] != wanted
    ]  # fmt: skip
    if others:
        raise MismatchError(
            f"the worker on {socket.gethostname()} has different versions from the plan:\n  "
            + "\n  ".join(others)
            + "\nInstall the same versions on all machines of the cluster."
        )
    if job.token and not os.path.exists(job.token):
        raise _unseen([socket.gethostname()], job.token)
    try:
        builder, store = pickle.loads(job.pickled)
    except (ImportError, AttributeError) as error:
        raise BuildError(
            f"the worker on {socket.gethostname()} cannot load the builder: {error}. Install the package of the "
            "benchmark on all machines of the cluster."
        ) from error
    gc.freeze()  # exclude Ray and the packages from garbage collection after each unit
    return builder, store


def _versions_here(tools: Mapping[str, str]) -> dict[str, str | None]:
    def of(name: str) -> str | None:
        if name != "ffmpeg":
            return version_here(name)
        try:
            return ffmpeg_version()
        except InputError:
            return None

    return {name: of(name) for name in tools}


@contextmanager
def _joined(cluster: RayCluster) -> Iterator[Any]:
    """Join a cluster or start a local one, and leave or stop it afterwards, unless the caller had already joined one.

    Raises:
        BuildError: Ray cannot be started or joined.
    """
    ray = import_extra("ray", what="--executor ray")
    if ray.is_initialized():
        yield ray
        return
    try:
        with _own_signals():
            _init(ray, cluster)
        yield ray
    finally:
        with _own_signals():
            ray.shutdown()


def _init(ray: Any, cluster: RayCluster) -> None:
    quiet: dict[str, Any] = {"log_to_driver": False, "logging_level": "ERROR", "configure_logging": False}
    try:
        try:
            ray.init(address=cluster.address or "auto", **quiet)
        except ConnectionError:
            if cluster.address:
                raise
            os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # disable telemetry
            ray.init(
                address="local",
                num_cpus=cluster.workers or os.cpu_count(),
                object_store_memory=OBJECT_STORE,
                include_dashboard=False,
                **quiet,
            )
    except (ConnectionError, RuntimeError, ValueError, OSError) as error:
        where = f"join the Ray cluster at {cluster.address}" if cluster.address else "start Ray on this machine"
        raise BuildError(f"cannot {where}: {error}") from error


def check_address(address: str) -> None:
    """Check the address of a cluster before a build is prepared. Raise UsageError if it cannot be used."""
    host, _, port = address.rpartition(":")
    if address == "auto":
        return
    if not host or not port.isdigit() or "/" in address:
        raise UsageError(
            f"--ray-address {address} is not the address of a Ray cluster. Use host:port of its head node, or auto for "
            "the cluster of this machine. ray:// and http:// are not supported, because the build itself must run on a "
            "machine of the cluster."
        )
    try:
        socket.create_connection((host.strip("[]"), int(port)), timeout=10).close()
    except (OSError, OverflowError) as error:
        raise UsageError(
            f"--ray-address {address}: the connection failed ({error}). `ray start --head` prints the address of a "
            "cluster; omit the option to use only this machine."
        ) from error


@contextmanager
def _own_signals() -> Iterator[None]:
    """Restore the handlers for SIGINT and SIGTERM that Ray replaces."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    kept = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in kept.items():
            signal.signal(number, handler)


@contextmanager
def _token(store: Store) -> Iterator[str | None]:
    """Create a temporary file in the store's folder, which workers use to test their access."""
    if not isinstance(store, FolderStore):
        yield None
        return
    try:
        store.path.mkdir(parents=True, exist_ok=True)
        file = tempfile.NamedTemporaryFile(prefix=".seen-", dir=store.path)  # noqa: SIM115
    except OSError as error:
        raise output_error(error, store.path) from error
    with file:
        yield file.name


def _check_nodes(ray: Any, token: str | None) -> None:
    """Check, before work starts, that every node can access the token and has stressreel installed.

    Raises:
        OutputError: A node cannot access the store's folder.
        BuildError: A node does not respond, or lacks stressreel.
    """

    def look(token: str | None) -> tuple[bool, bool]:  # an inner function is pickled by value
        import importlib.util
        import os

        return token is None or os.path.exists(token), importlib.util.find_spec("stressreel") is not None

    nodes = {node["NodeID"]: node for node in ray.nodes() if node["Alive"] and node["Resources"].get("CPU")}
    place = ray.util.scheduling_strategies.NodeAffinitySchedulingStrategy
    asked = {
        ray.remote(num_cpus=0, max_retries=0)(look)
        .options(scheduling_strategy=place(node_id=name, soft=False))
        .remote(token): node["NodeManagerHostname"]
        for name, node in nodes.items()
    }
    answered, silent = ray.wait(list(asked), num_returns=len(asked), timeout=PROBE_S) if asked else ([], [])
    if silent:
        raise BuildError(
            f"{_listed([asked[ref] for ref in silent])} of the Ray cluster did not respond within {PROBE_S:.0f} s. "
            "Check `ray status`, and run the same command again."
        )
    try:
        found = {asked[ref]: ray.get(ref) for ref in answered}
    except ray.exceptions.RayError as error:
        raise BuildError(f"a node of the Ray cluster failed immediately: {_first_line(error)}") from error
    if unseen := [name for name, (sees, _) in found.items() if not sees]:
        raise _unseen(unseen, token or "")
    if without := [name for name, (_, has) in found.items() if not has]:
        raise BuildError(
            f"stressreel is not installed on {_listed(without)} of the Ray cluster. Install it on all machines."
        )


def _unseen(names: Sequence[str], token: str) -> OutputError:
    return OutputError(
        f"{_listed(names)} of the Ray cluster {'does' if len(set(names)) == 1 else 'do'} not have access to "
        f"{Path(token).parent}, where workers write their files. Use an --out that all machines can access under the "
        "same path (NFS, Lustre), or build on one machine with --executor processes."
    )


def _listed(names: Sequence[str]) -> str:
    unique = sorted(set(names))
    return ", ".join(unique[:5]) + (f" and {len(unique) - 5} more" if len(unique) > 5 else "")


def _first_line(error: Exception) -> str:
    lines = str(error).strip().splitlines()
    return type(error).__name__ + (f": {lines[0]}" if lines else "")
