import json
import os
from pathlib import Path
from typing import Any

import pytest
from commands import start_python
from failing_units import Failing
from number_units import INFO, Numbers, build_numbers, plan_of
from stressreel.builders.runtime import build
from stressreel.builders.runtime.output import claim
from stressreel.core.errors import BuildError, OutputError
from stressreel.core.share import Unfinished, WorkShare

ONE = """
import sys
from dataclasses import dataclass
from pathlib import Path
from commands import start_python
from failing_units import Failing
from test_shares import share
marks, out, number, count, fault, seconds = sys.argv[1:]
share(Path(out), Failing(marks=Path(marks), fault=fault, unit="u06", seconds=float(seconds)), int(number), int(count))
"""


def share(
    out: Path, builder: Numbers, number: int, count: int, said: list[str] | None = None, **options: Any
) -> dict[str, Any] | Unfinished:
    return build.run_share(
        options.pop("plan", plan_of(9)), builder, out, WorkShare(number, count),
        build.RunSettings(progress=False, **options),
        info=INFO, write_card=lambda path, info: None, say=[].append if said is None else said.append,
    )  # fmt: skip


def shards(out: Path) -> dict[str, bytes]:
    return {path.relative_to(out).as_posix(): path.read_bytes() for path in out.rglob("*.parquet")}


def start(marks: Path, out: Path, number: int, count: int, fault: str = "", seconds: float = 0) -> Any:
    """Start a share in a process of its own."""
    support = str(Path(__file__).parents[2] / "support")
    path = os.pathsep.join([support, str(Path(__file__).parent), *filter(None, [os.environ.get("PYTHONPATH")])])
    environment = {**os.environ, "PYTHONPATH": path}
    return start_python(ONE, marks, out, number, count, fault, seconds, env=environment)


def packings(out: Path) -> int:
    return (out / ".build" / "journal.jsonl").read_bytes().count(b'"packing"')


@pytest.fixture
def marks(tmp_path: Path) -> Path:
    (tmp_path / "marks").mkdir()
    return tmp_path / "marks"


@pytest.mark.parametrize("count", [2, 20])
def test_the_last_one_packs_what_one_process_would(count: int, tmp_path: Path) -> None:
    plain = build_numbers(tmp_path / "plain", Numbers(bad=frozenset(["u01"])), max_skip=0.5)
    out = tmp_path / "out"
    for number in range(count, 0, -1):
        said: list[str] = []
        done = share(out, Numbers(bad=frozenset(["u01"])), number, count, said, max_skip=0.5)
        assert isinstance(done, Unfinished) == (number > 1)
        assert said == []
    assert done == plain
    assert shards(out) == shards(tmp_path / "plain")
    assert (out / "build.json").read_bytes() == (tmp_path / "plain" / "build.json").read_bytes()
    assert packings(out) == 1
    assert not list((out / ".build").glob("lock-*"))
    assert not (out / ".build" / "staging").exists()


@pytest.mark.full
def test_a_share_killed_and_run_again(tmp_path: Path, marks: Path) -> None:
    out = tmp_path / "out"
    own = [unit.id for unit in WorkShare(1, 2).of(plan_of(9).units)]
    victim = start(marks, out, 1, 2, "kill")
    victim.communicate()
    builder = Failing(marks=marks)
    assert victim.returncode == -9
    journal = out / ".build" / "journal-1-of-2.jsonl"
    with open(journal, "ab") as file:
        file.write(b'{"facts": {"half')  # a line that the kill cut off
    before = {name: builder.begun(name) for name in own}
    receipts = [json.loads(line)["unit"] for line in journal.read_bytes().splitlines()[:-1]]
    assert receipts
    rest = share(out, builder, 2, 2)
    assert isinstance(rest, Unfinished)
    assert (rest.remaining, rest.running) == (len(own) - len(set(receipts)), ())
    done = share(out, builder, 1, 2)
    assert done == build_numbers(tmp_path / "plain", Numbers())
    assert {name for name in own if builder.begun(name) > before[name]} == set(own) - set(receipts)


@pytest.mark.full
def test_two_that_finish_at_once(tmp_path: Path, marks: Path) -> None:
    out = tmp_path / "out"
    running = [start(marks, out, number, 3, seconds=0.05) for number in (1, 2, 3)]
    for process in running:
        _, err = process.communicate()
        assert process.returncode == 0, err
    assert json.loads((out / "build.json").read_text()) == build_numbers(tmp_path / "plain", Numbers())
    assert packings(out) == 1
    assert len(list(marks.iterdir())) == 9  # every unit once


def test_nobody_packs_while_a_share_runs(tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert share(out, Numbers(), 1, 2) == Unfinished(out, "1/2", 4, 9, "unit")
    with claim(out, wait=lambda text: None) as output:
        lock = output.hold(WorkShare(1, 2))  # again, to try its skips
    try:
        assert share(out, Numbers(), 2, 2) == Unfinished(out, "2/2", 0, 9, "unit", ("1/2",))
        with pytest.raises(OutputError, match="another process is rendering share 1/2"):
            share(out, Numbers(), 1, 2)
        with pytest.raises(OutputError, match="is being built in shares; 1/2 are running"):
            build_numbers(out, Numbers())
    finally:
        lock.release()
    assert share(out, Numbers(), 1, 2) == build_numbers(tmp_path / "plain", Numbers())


def test_packing_that_was_killed_is_gone_on_with(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out = tmp_path / "out"
    share(out, Numbers(), 1, 2)

    def interrupted(*given: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(build, "pack", interrupted)
        with pytest.raises(KeyboardInterrupt):
            share(out, Numbers(), 2, 2)
    builder = Numbers(failing=frozenset(unit.id for unit in plan_of(9).units))  # nothing is rendered again
    assert share(out, builder, 1, 2) == build_numbers(tmp_path / "plain", Numbers())


def test_too_many_skips_fail_in_the_last_one(tmp_path: Path) -> None:
    bad = Numbers(bad=frozenset(["u00", "u01"]))
    assert isinstance(share(tmp_path / "out", bad, 1, 2), Unfinished)
    with pytest.raises(BuildError, match="2 of 9 units"):
        share(tmp_path / "out", bad, 2, 2)
    with pytest.raises(BuildError, match="1 of 9 units"):  # the videos were repaired: each tries its own again
        share(tmp_path / "out", Numbers(), 1, 2)
    assert share(tmp_path / "out", Numbers(), 2, 2) == build_numbers(tmp_path / "plain", Numbers())
