"""`stressreel export released`: the folder appears complete or not at all."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from commands import refuses, run
from stressreel.core.errors import InputError, OutputError
from stressreel.exports.released import write_layout


def test_a_new_or_an_empty_folder_will_do_and_another_will_not(tmp_path: Path) -> None:
    (tmp_path / "b").mkdir()
    for folder in (tmp_path / "a" / "b", tmp_path / "b"):
        assert write_layout(folder, [("one.json", b"1"), ("two.json", b"2")]) == 2
        assert {path.name: path.read_bytes() for path in folder.iterdir()} == {"one.json": b"1", "two.json": b"2"}
        assert not list(folder.parent.glob(".*"))
    (tmp_path / "file").touch()
    for folder in (tmp_path / "b", tmp_path / "file"):
        with pytest.raises(InputError, match="but this layout needs an empty folder"):
            write_layout(folder, [("one.json", b"2")])
    assert (tmp_path / "b" / "one.json").read_bytes() == b"1"


def test_a_fault_on_the_way_leaves_nothing(tmp_path: Path) -> None:
    def files() -> Iterator[tuple[str, bytes]]:
        yield "one.json", b"1"
        raise InputError("it is damaged")

    with pytest.raises(InputError, match="damaged"):
        write_layout(tmp_path / "new", files())
    with pytest.raises(InputError, match="the name of two files"):
        write_layout(tmp_path / "new", [("a.json", b"1"), ("a.json", b"2")])
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "file").touch()
    with pytest.raises(OutputError, match="cannot write"):
        write_layout(tmp_path / "file" / "new", [("one.json", b"1")])


def test_the_command(built: Path, built_graphs: Path, tmp_path: Path) -> None:
    to, export = tmp_path / "to", ("stressreel", "export", "released", built_graphs, "--to")
    assert run(*export, to).out == f"Wrote 4 files to {to}.\n"  # three videos in test, and the roots that are alone
    assert json.loads((to / "isolated.json").read_text("utf-8")) == []  # none in the sample
    assert run(*export, tmp_path / "train", "--split", "train").out.startswith("Wrote 8 files")
    refuses(run("stressreel", "export", "released", built, "--to", tmp_path / "no"), "clavi")
    assert not (tmp_path / "no").exists()
