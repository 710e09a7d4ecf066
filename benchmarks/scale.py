"""Measure how the cost of a build grows with units and workers: overhead, memory, planning and packing.

    python benchmarks/scale.py overhead --executors inline processes ray --units 10000   # units that do nothing
    python benchmarks/scale.py work --executors processes ray --units 200 --seconds 1    # units that compute
    python benchmarks/scale.py idle --seconds 30          # CPU use of an idle cluster
    python benchmarks/scale.py real --executors inline processes ray --units 200         # cut, encoded and packed clips
    python benchmarks/scale.py plan --units 1000000        # time and memory of the plan and its distribution
    python benchmarks/scale.py pack --units 1000000        # time and memory of packing one row per unit
    python benchmarks/scale.py paper --youcook2 ~/YouCook2 --machines 50 --cores 16     # YouCook2-P, from costs.yaml

Ray runs on a head without CPUs and on `--nodes` nodes with one CPU each. Every measurement has its own process, and
therefore its own peak memory. `inline` uses one process; the other executors use `--workers`.
"""

from __future__ import annotations

import argparse
import heapq
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from measuring import peak_mb
from stressreel.builders.perturbed.prepare import prepare
from stressreel.builders.perturbed.settings import PerturbedSettings
from stressreel.builders.perturbed.tables import CLEAN
from stressreel.builders.runtime import build
from stressreel.builders.runtime.executors import Executor, Inline, Processes, longest_first
from stressreel.builders.runtime.output import BuildJournal, claim
from stressreel.builders.runtime.store import FolderStore
from stressreel.core.build_settings import WorkShare
from stressreel.core.files import sha256_file
from stressreel.core.plan import Facts, Plan, Skip, Unit
from stressreel.core.schema import Column, Config, Row

WORDS = Config("words", "words", (Column("id", "string", "id"), Column("text", "string", "t")), default=True)
CLIPS = Config(
    "clips",
    "clips",
    (Column("id", "string", "id"), Column("sha256", "string", "of `video`"), Column("video", "video", "v")),
)
SIZE, FRAMES = (320, 240), 120
MEMORY = 100_000_000
PACKING_S = 7.3  # CPU seconds to hash and copy a gigabyte into shards


@dataclass(frozen=True)
class Work:
    """Units that compute for `seconds`, encode a clip or, if not `rendered`, produce nothing but rows."""

    seconds: float = 0.0
    clips: bool = False
    rendered: bool = True

    def renders(self, unit: Unit) -> bool:
        return self.rendered

    def missing(self, unit: Unit) -> Skip | None:
        return None

    def stamp(self, unit: Unit) -> str:
        return ""

    def render(self, unit: Unit, folder: Path) -> Facts:
        began = time.process_time()
        if self.clips:
            file = folder / "clip.mp4"
            encode(file, int(unit.payload["seed"]))
            files = {file.name: file.stat().st_size}
            return {"files": files, "sha256": sha256_file(file), "cpu_s": time.process_time() - began}
        while time.process_time() - began < self.seconds:
            pass
        return {"files": {}, "cpu_s": time.process_time() - began}

    def rows(self, unit: Unit, facts: Facts) -> Iterator[tuple[str, Row]]:
        if self.clips:
            yield "clips", {"id": unit.id, "sha256": facts["sha256"], "video": "clip.mp4"}
        yield "words", {"id": unit.id, "text": f"what {unit.id} shows"}


def encode(path: Path, seed: int) -> None:
    import av
    import numpy as np

    noise = np.random.default_rng(seed).integers(0, 256, (SIZE[1], SIZE[0] + FRAMES, 3), np.uint8)
    with av.open(str(path), "w") as container:
        stream: Any = container.add_stream("libx264", rate=30)
        stream.width, stream.height, stream.pix_fmt = *SIZE, "yuv420p"
        stream.codec_context.thread_count = 1
        stream.options = {"preset": "veryfast", "x264-params": "cpu-independent=1:lookahead-threads=1"}
        for number in range(FRAMES):
            picture = np.ascontiguousarray(noise[:, number : number + SIZE[0]])
            container.mux(stream.encode(av.VideoFrame.from_ndarray(picture)))
        container.mux(stream.encode(None))


def plan_of(count: int) -> Plan:
    units = tuple(Unit(f"u{n:07d}", "train", f"v{n // 100}", {"seed": n}, float(n % 7)) for n in range(count))
    return Plan("scale", {"settings": {}, "tools": {}}, units, (WORDS, CLIPS))


@contextmanager
def executor_of(name: str, workers: int, nodes: int) -> Iterator[Executor]:
    """Start an executor. Wait until a cluster is ready, so that its start is not measured."""
    if name == "inline":
        yield Inline()
    elif name == "processes":
        yield Processes(workers)
    else:
        os.environ |= {"RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "1", "RAY_USAGE_STATS_ENABLED": "0"}
        import ray
        from ray.cluster_utils import Cluster
        from stressreel.builders.runtime.executors import RayCluster

        cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 0, "object_store_memory": MEMORY})
        for _ in range(nodes):
            cluster.add_node(num_cpus=1, object_store_memory=MEMORY)
        ray.init(address=cluster.address, log_to_driver=False, logging_level="ERROR")
        time.sleep(20)  # wait until the node agents have started, so that units are not charged for it
        try:
            yield RayCluster()
        finally:
            ray.shutdown()
            cluster.shutdown()


def measure_units(given: argparse.Namespace) -> dict[str, Any]:
    """Measure the overhead of an executor by rendering units without a journal."""
    name = given.executors[0]
    cpus = {"inline": 1, "processes": given.workers, "ray": given.nodes}[name]
    builder, plan = Work(given.seconds if given.what == "work" else 0.0), plan_of(given.units)
    with tempfile.TemporaryDirectory() as folder, executor_of(name, given.workers, given.nodes) as executor:
        store = FolderStore(Path(folder))
        began, busy, first, spent = time.monotonic(), 0.0, 0.0, -spent_cpu()
        started = before = 0.0
        for _, facts in executor.execute(builder, plan.units, store):
            if not first:
                first, started, before = time.monotonic() - began, spent + spent_cpu(), facts["cpu_s"]
            busy += facts["cpu_s"]
        wall, spent = time.monotonic() - began, spent + spent_cpu()
    found = {"executor": name, "units": given.units, "wall_s": wall, "first_s": first, "peak_mb": peak_mb()}
    if given.what == "overhead":
        return found | {"ms_a_unit": 1000 * (wall - first) / (given.units - 1)}
    return found | {
        "start_cpu_s": started - before,
        "of_cpu_spent": busy / spent,
        "of_cpu_spent_after_start": (busy - before) / (spent - started),
        "of_cpus": busy / (wall * cpus),
    }


def measure_idle(given: argparse.Namespace) -> dict[str, Any]:
    with executor_of("ray", given.workers, given.nodes):
        began, spent = time.monotonic(), -spent_cpu()
        time.sleep(given.seconds)
        return {"nodes": given.nodes, "cpus_taken": (spent + spent_cpu()) / (time.monotonic() - began)}


def measure_real(given: argparse.Namespace) -> dict[str, Any]:
    """Measure a build of clips, including journal, store and packing."""
    name = given.executors[0]
    with tempfile.TemporaryDirectory() as folder, executor_of(name, given.workers, given.nodes) as executor:
        began, spent = time.monotonic(), -spent_cpu()
        with claim(Path(folder) / "out") as output:
            options = build.RunSettings(executor, progress=False)
            run = build.BuildRun(plan_of(given.units), Work(clips=True), options, {}, lambda path, info: None, print)
            done = run.run(output)
        wall, spent = time.monotonic() - began, spent + spent_cpu()
        lines = (Path(folder) / "out" / ".build" / "journal.jsonl").read_text().splitlines()
        busy = sum(json.loads(line)["facts"]["cpu_s"] for line in lines if '"facts"' in line)
    found = {"executor": name, "units": given.units, "wall_s": wall, "busy_s": busy, "peak_mb": peak_mb()}
    return found | {"of_cpu_spent": busy / spent, "fingerprint": done["fingerprint"][:16]}


def measure_plan(given: argparse.Namespace) -> dict[str, Any]:
    """Measure what the driver does: creating and hashing a plan, and reading the receipts of all units."""
    found: dict[str, Any] = {"units": given.units}
    began = time.monotonic()
    plan = plan_of(given.units)
    found |= {"units_s": time.monotonic() - began, "units_mb": peak_mb()}
    began = time.monotonic()
    plan.hash  # noqa: B018
    found |= {"hash_s": time.monotonic() - began, "hash_mb": peak_mb()}
    with tempfile.TemporaryDirectory() as folder:
        path = write_receipts(Path(folder) / "journal.jsonl", plan)
        began = time.monotonic()
        journal = BuildJournal.read(path)
        found |= {"journal_s": time.monotonic() - began, "journal_bytes": path.stat().st_size, "all_mb": peak_mb()}
        assert all(journal.rendered(unit.id) for unit in plan.units)
    return found


def write_receipts(path: Path, plan: Plan) -> Path:
    with open(path, "w") as file:
        for unit in plan.units:
            facts = {"files": {"clip.mp4": 100000 + unit.payload["seed"]}, "sha256": unit.id * 8}
            file.write(json.dumps({"facts": facts, "stamp": "1", "unit": unit.id}) + "\n")
    return path


def measure_pack(given: argparse.Namespace) -> dict[str, Any]:
    plan = plan_of(given.units)
    with tempfile.TemporaryDirectory() as folder:
        began = time.monotonic()
        with claim(Path(folder) / "out") as output:
            options = build.RunSettings(Inline(), progress=False)
            build.BuildRun(plan, Work(rendered=False), options, {}, lambda path, info: None, print).run(output)
        wall = time.monotonic() - began
    return {"units": given.units, "pack_s": wall, "us_a_row": 1e6 * wall / given.units, "peak_mb": peak_mb()}


def on_paper(given: argparse.Namespace) -> dict[str, Any]:
    """Simulate how YouCook2-P is distributed over machines by estimated cost, without videos."""
    settings = PerturbedSettings(youcook2=given.youcook2)
    prepared = prepare(settings, dry_run=True)
    cpus = given.machines * given.cores
    estimate = prepared.estimate(cpus, probe=False)
    size, units = estimate.size_bytes, [unit for unit in prepared.plan.units if unit.source_id]
    packing = PACKING_S * size / 1e9
    second = estimate.cpu_seconds / sum(unit.cost for unit in units)
    files = sum(len(unit.payload["clips"]) * (1 if CLEAN in unit.payload["perturbations"] else 5) for unit in units)
    shares = [WorkShare(number, given.machines).of(units) for number in range(1, given.machines + 1)]
    return {
        "units": len(units),
        "files": files,
        "gigabytes": size / 1e9,
        "cpu_h": (estimate.cpu_seconds + packing) / 3600,
        "packing_h": packing / 3600,
        "longest_unit_min": max(unit.cost for unit in units) * second / 60,
        "longest_first_min": makespan(longest_first(units), cpus) * second / 60,
        "by_id_min": makespan(units, cpus) * second / 60,
        "shares_min": max(makespan(longest_first(share), given.cores) for share in shares) * second / 60,
    }


def makespan(units: Sequence[Unit], cpus: int) -> float:
    """Return the finishing time if each unit in turn is assigned to the first free CPU."""
    free = [0.0] * cpus
    for unit in units:
        heapq.heapreplace(free, free[0] + unit.cost)
    return max(free)


def spent_cpu() -> float:
    """Return the CPU seconds of this process, its finished children and its running descendants."""
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    below, total = {os.getpid()}, time.process_time() + ended.ru_utime + ended.ru_stime
    stats = [path.read_text() for path in Path("/proc").glob("[0-9]*/stat") if path.exists()]
    parts = {int(text.split()[0]): text.rpartition(")")[2].split() for text in stats}
    for number in sorted(parts):  # children have higher process ids, unless the numbering restarted
        if int(parts[number][1]) in below:
            below.add(number)
            total += sum(map(int, parts[number][11:15])) / os.sysconf("SC_CLK_TCK")  # includes its finished children
    return total


MEASURES: dict[str, Callable[[argparse.Namespace], dict[str, Any]]] = {
    "overhead": measure_units,
    "work": measure_units,
    "idle": measure_idle,
    "real": measure_real,
    "plan": measure_plan,
    "pack": measure_pack,
    "paper": on_paper,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=MEASURES)
    parser.add_argument("--executors", nargs="+", choices=("inline", "processes", "ray"), default=["inline"])
    parser.add_argument("--units", type=int, default=1000)
    parser.add_argument("--seconds", type=float, default=1.0, help="CPU seconds per unit of `work`")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--nodes", type=int, default=2)
    parser.add_argument("--youcook2", type=Path, help="folder with the YouCook2 annotations, for `paper`")
    parser.add_argument("--machines", type=int, default=50)
    parser.add_argument("--cores", type=int, default=16, help="cores per machine")
    parser.add_argument("--here", action="store_true", help="measure in this process")
    given = parser.parse_args()
    if given.here or given.what == "paper":
        found = MEASURES[given.what](given)
        print(json.dumps({key: round(value, 4) if isinstance(value, float) else value for key, value in found.items()}))
        return
    for name in given.executors if given.what in ("overhead", "work", "real") else [given.executors[0]]:
        options = [f"--{key}={getattr(given, key)}" for key in ("units", "seconds", "workers", "nodes")]
        subprocess.run([sys.executable, __file__, given.what, "--executors", name, *options, "--here"], check=True)


if __name__ == "__main__":
    main()
