"""Executors yield every unit once, and name the unit that fails."""

import os
import socket
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from commands import refuses, run
from failing_units import TEXT, Failing
from number_units import Numbers, build_numbers, plan_of
from stressreel.builders.runtime import executors
from stressreel.builders.runtime.executors import Executor, Inline, Processes, RayCluster
from stressreel.builders.runtime.store import FolderStore
from stressreel.core.errors import BuildError, InputError, MismatchError, OutputError
from stressreel.core.plan import Skip


@pytest.fixture
def marks(tmp_path: Path) -> Path:
    (tmp_path / "marks").mkdir()
    return tmp_path / "marks"


@pytest.mark.parametrize("executor", [Inline(), Processes(2)])
def test_every_unit_is_yielded_once_or_named(executor: Executor, tmp_path: Path) -> None:
    plan, store = plan_of(7), FolderStore(tmp_path)
    done = list(executor.execute(Numbers(bad=frozenset(["u03"])), plan.units, store))
    assert sorted(unit.id for unit, _ in done) == [unit.id for unit in plan.units]
    found = {unit.id: result for unit, result in done}
    assert found.pop("u03") == Skip("u03", "v3", "undecodable", "u03 is broken")
    for name, facts in found.items():
        assert not isinstance(facts, Skip)
        assert store.has(name, facts["files"])
    assert not (tmp_path / "u03").exists()
    with pytest.raises(BuildError, match="u01 of video v1 failed unexpectedly: ValueError"):
        list(executor.execute(Numbers(failing=frozenset(["u01"])), plan_of(2).units, FolderStore(tmp_path)))


@pytest.mark.full
def test_killed_worker_raises_build_error(tmp_path: Path, marks: Path) -> None:
    builder = Failing(marks=marks, fault="kill", times=9)
    with pytest.raises(BuildError, match=r"a worker process died, .* Run the same command again"):
        list(Processes(2).execute(builder, plan_of(5).units, FolderStore(tmp_path / "store")))


def test_wrong_ray_options_are_refused(tmp_path: Path) -> None:
    pytest.importorskip("ray")
    for given, said in (
        (("--ray-address", "x:1"), "requires --executor ray"),
        (("--executor", "inline", "--workers", 2), "Omit one of them"),
        (("--executor", "ray", "--ray-address", "ray://x:1"), "host:port"),
        (("--executor", "ray", "--ray-address", "localhost:1"), "the connection failed"),
    ):
        refuses(run("build-clavi", "--charades", "sample", "--out", tmp_path / "o", *given), said, code=2)
        assert not (tmp_path / "o").exists()


MEMORY = 80_000_000
SUPPORT = Path(__file__).parents[2] / "support"


@pytest.fixture(scope="module")
def cluster() -> Iterator[None]:
    """A head without CPUs, and two nodes with one each; this process is a driver of it."""
    ray = pytest.importorskip("ray", reason="Ray is not installed: pip install 'stressreel[cluster]'")
    from ray.cluster_utils import Cluster

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER", "1")
        patch.setenv("RAY_USAGE_STATS_ENABLED", "0")
        patch.setenv("RAY_health_check_period_ms", "1000")
        patch.setenv("RAY_health_check_failure_threshold", "3")
        patch.setenv("PYTHONPATH", os.pathsep.join([str(SUPPORT), *filter(None, [os.environ.get("PYTHONPATH")])]))
        made = Cluster(initialize_head=True, head_node_args={"num_cpus": 0, "object_store_memory": MEMORY})
        for _ in range(2):
            made.add_node(num_cpus=1, object_store_memory=MEMORY)
        ray.init(address=made.address, log_to_driver=False, logging_level="ERROR")
        yield
        ray.shutdown()
        made.shutdown()


@pytest.mark.full
@pytest.mark.filterwarnings("ignore")  # Ray's own
@pytest.mark.usefixtures("cluster")
class TestRay:
    def test_ray_gives_same_content_as_one_process(self, tmp_path: Path) -> None:
        import ray

        builder = Numbers(bad=frozenset(["u02"]))
        done = build_numbers(tmp_path / "out", builder, executor=RayCluster(), max_skip=0.5)
        assert done == build_numbers(tmp_path / "plain", builder, max_skip=0.5)
        assert done["skips"]["by_reason"] == {"undecodable": 1}
        assert not (tmp_path / "out" / ".build" / "staging").exists()
        assert ray.is_initialized()  # who joined leaves

    @pytest.mark.parametrize("fault", ["kill", "transient"])
    def test_unit_is_rendered_again_after_fault(self, fault: str, tmp_path: Path, marks: Path) -> None:
        """Its worker was killed after rendering, or the storage was away for a moment."""
        builder = Failing(marks=marks, fault=fault)
        done = build_numbers(tmp_path / "out", builder, executor=RayCluster())
        assert done == build_numbers(tmp_path / "plain", Numbers())
        assert builder.begun("u03") == 2

    @pytest.mark.parametrize(
        ("fault", "error", "text", "tries"),
        [
            ("kill", BuildError, "u03 of video v3 failed", executors.TRIES),
            ("input", InputError, TEXT, 1),
            ("file", OutputError, "No such file or directory", 1),
        ],
    )
    def test_lasting_faults_fail_the_build(
        self, fault: str, error: type[Exception], text: str, tries: int, tmp_path: Path, marks: Path
    ) -> None:
        builder = Failing(marks=marks, fault=fault, times=9)
        with pytest.raises(error) as caught:
            build_numbers(tmp_path / "out", builder, executor=RayCluster())
        assert text in str(caught.value)
        assert type(caught.value) is error
        assert builder.begun("u03") == tries
        again = build_numbers(tmp_path / "out", Numbers(), executor=RayCluster())
        assert again == build_numbers(tmp_path / "plain", Numbers())

    def test_unfit_nodes_are_refused(self, tmp_path: Path, marks: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        folder = os.open(tmp_path, os.O_RDONLY)
        try:
            seen_here_alone = FolderStore(Path(f"/proc/self/fd/{folder}/staging"))
            with pytest.raises(OutputError, match=f"{socket.gethostname()} of .* does not have access to /proc"):
                list(RayCluster().execute(Failing(marks=marks), plan_of(3).units, seen_here_alone))
        finally:
            os.close(folder)
        monkeypatch.setattr(executors, "version_here", lambda name: "0.0.1")
        cluster = RayCluster(tools={"numpy": "0.0.1", "tagger": "Pattern's"})
        with pytest.raises(MismatchError, match=rf"numpy is {np.__version__} there and 0\.0\.1 here"):
            list(cluster.execute(Failing(marks=marks), plan_of(3).units, FolderStore(tmp_path)))
        assert not list(marks.iterdir())
