"""Executors yield every unit once, and name the unit that fails."""

from pathlib import Path

import pytest
from failing_units import Failing
from number_units import Numbers, plan_of
from stressreel.builders.runtime.executors import Executor, Inline, Processes
from stressreel.builders.runtime.store import FolderStore
from stressreel.core.errors import BuildError
from stressreel.core.plan import Skip

EXECUTORS = (Inline(), Processes(2))


@pytest.mark.full
def test_killed_worker_raises_build_error(tmp_path: Path) -> None:
    (tmp_path / "marks").mkdir()
    builder, store = Failing(marks=tmp_path / "marks", fault="kill", times=9), FolderStore(tmp_path / "store")
    with pytest.raises(BuildError, match=r"a worker process died, .* Run the same command again, with fewer --workers"):
        list(Processes(2).execute(builder, plan_of(5).units, store))


@pytest.mark.parametrize("executor", EXECUTORS, ids=lambda each: type(each).__name__)
class TestExecutors:
    def test_every_unit_is_yielded_once(self, executor: Executor, tmp_path: Path) -> None:
        plan, store = plan_of(7), FolderStore(tmp_path)
        done = list(executor.execute(Numbers(bad=frozenset(["u03"])), plan.units, store))
        assert sorted(unit.id for unit, _ in done) == [unit.id for unit in plan.units]
        found = {unit.id: result for unit, result in done}
        skip = found["u03"]
        assert isinstance(skip, Skip)
        assert (skip.reason, skip.detail) == ("undecodable", "u03 is broken")
        for name, facts in found.items():
            if not isinstance(facts, Skip):
                assert store.has(name, facts["files"])
        assert not (tmp_path / "u03").exists()

    def test_unexpected_error_names_the_unit(self, executor: Executor, tmp_path: Path) -> None:
        with pytest.raises(BuildError, match="u01 of video v1 failed unexpectedly: ValueError"):
            list(executor.execute(Numbers(failing=frozenset(["u01"])), plan_of(2).units, FolderStore(tmp_path)))
