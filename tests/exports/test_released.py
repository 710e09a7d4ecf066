"""`stressreel export released`: the folder appears whole or not at all."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from commands import refuses, run
from stressreel.core.errors import InputError, OutputError
from stressreel.exports.released import write_layout


@pytest.fixture(scope="module")
def graphs(build_once: Callable[..., Path]) -> Path:
    """Question graphs of the drawn sample; read only."""
    return build_once("build-decomp", "--charades", "sample", "--embed", "no")


def test_files_are_written_and_counted(tmp_path: Path) -> None:
    assert write_layout(tmp_path / "a" / "b", [("one.json", b"1"), ("two.json", b"2")]) == 2
    assert {path.name: path.read_bytes() for path in (tmp_path / "a" / "b").iterdir()} == {
        "one.json": b"1",
        "two.json": b"2",
    }
    assert [path.name for path in (tmp_path / "a").iterdir()] == ["b"]


def test_an_empty_folder_will_do_and_another_will_not(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    assert write_layout(tmp_path / "empty", [("one.json", b"1")]) == 1
    with pytest.raises(InputError, match="holds something"):
        write_layout(tmp_path / "empty", [("one.json", b"2")])
    assert (tmp_path / "empty" / "one.json").read_bytes() == b"1"
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match="holds something"):
        write_layout(tmp_path / "file", [])


def test_a_fault_on_the_way_leaves_nothing(tmp_path: Path) -> None:
    def files() -> Iterator[tuple[str, bytes]]:
        yield "one.json", b"1"
        raise InputError("it is damaged")

    with pytest.raises(InputError, match="damaged"):
        write_layout(tmp_path / "new", files())
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "file").touch()
    with pytest.raises(OutputError, match="cannot write"):
        write_layout(tmp_path / "file" / "new", [("one.json", b"1")])


def test_the_command(graphs: Path, tmp_path: Path) -> None:
    done = run("stressreel", "export", "released", graphs, "--to", tmp_path / "to")
    assert done.code == 0, done.err
    assert done.out == f"Wrote 4 files to {tmp_path / 'to'}.\n"  # three videos in test, and the roots that are alone
    assert json.loads((tmp_path / "to" / "isolated.json").read_text("utf-8")) == []  # none in the sample
    refuses(run("stressreel", "export", "released", graphs, "--to", tmp_path / "to"), "holds something")
    refuses(run("stressreel", "export", "released", graphs, "--to", graphs / "to"), "in the output itself", code=2)
    done = run("stressreel", "export", "released", graphs, "--to", tmp_path / "train", "--split", "train")
    assert done.out.startswith("Wrote 8 files")
    refuses(run("stressreel", "export", "released", graphs, "--to", tmp_path / "no", "--split", "dev"), "train", code=2)
    assert not (tmp_path / "no").exists()


def test_a_benchmark_without_such_a_layout_is_refused(build_once: Callable[..., Path], tmp_path: Path) -> None:
    clavi = build_once("build-clavi", "--charades", "sample", "--no-render")
    done = run("stressreel", "export", "released", clavi, "--to", tmp_path / "to")
    assert done.code in (1, 2)
    assert "clavi" in done.err
    assert not (tmp_path / "to").exists()
