import json
import sys
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from commands import refuses, rows, run, succeed

from .test_prepare import build

ROOT = "Was a phone the first thing they were touching?"
SOMETHING = "Is the person touching something?"


def hierarchies(folder: Path, graphs: object, isolated: object = None, split: str = "test") -> Path:
    """Write published hierarchies by hand."""
    place = folder / f"{split}_hierarchies"
    place.mkdir(parents=True)
    (place / "ABCDE.json").write_text(json.dumps(graphs))
    if isolated is not None:
        (place / "isolated.json").write_text(json.dumps(isolated))
    return folder


def authors() -> dict[str, Any]:
    """A graph as the authors' scoring programs read it, in a notation of its own."""
    return dict(json.loads(Path(__file__).with_name("published.json").read_text(encoding="utf-8")))


DAMAGED: dict[str, tuple[Callable[[dict[str, Any]], object], str]] = {
    "cycle": (lambda g: g["hierarchy"].update({SOMETHING: {"Interaction": [ROOT]}}), "is its own sub-question"),
    "kind": (lambda g: g["subquestion"][SOMETHING].update(type="Wonder"), "Wonder"),
    "no key": (lambda g: g["subquestion"][SOMETHING].pop("key"), "key"),
    "one child": (lambda g: g["hierarchy"][ROOT]["Equals"].pop(), "needs exactly two"),
    "another child": (lambda g: g["hierarchy"][ROOT]["Equals"].__setitem__(0, "Why?"), "Why?"),
    "no text": (lambda g: g["subquestion"][SOMETHING].update(answer=3), "is not a string"),
    "one key": (lambda g: g["subquestion"][SOMETHING].update(key="ABCDE-4"), "same key"),
}


def test_published_layout_survives_a_round_trip(built_graphs: Path, published: Path, tmp_path: Path) -> None:
    build(tmp_path / "out", "--release-hierarchies", published)
    assert rows(tmp_path / "out", "graphs") == rows(built_graphs, "graphs")
    lost = ("reason", "decided_by", "recomputed", "novel_composition", "more_steps")
    for one, other in zip(rows(tmp_path / "out", "questions"), rows(built_graphs, "questions"), strict=True):
        assert one | dict.fromkeys(lost) == other | dict.fromkeys(lost)
    succeed("stressreel", "verify", tmp_path / "out", "--annotations", published)


def test_published_layout_is_the_authors(published: Path) -> None:
    files = {path.name: json.loads(path.read_text("utf-8")) for path in (published / "test_hierarchies").iterdir()}
    assert all({"type", "answer", "key"} <= row.keys() for row in files.pop("isolated.json"))
    graph = next(iter(next(iter(files.values())).values()))
    assert [*graph] == ["question", "type", "old_program", "new_program", "answer", "subquestion", "hierarchy"]
    assert all([*node] == ["type", "program", "answer", "key"] for node in graph["subquestion"].values())
    assert {*graph["hierarchy"]} <= {*graph["subquestion"]}


def test_authors_files_are_read(tmp_path: Path) -> None:
    alone = [{"type": "Object Exists", "answer": "No", "key": "ABCDE-9"}]
    build(tmp_path / "out", "--release-hierarchies", hierarchies(tmp_path / "in", authors(), alone))
    found = {row["key"]: row for row in rows(tmp_path / "out", "questions")}
    assert [*found] == ["ABCDE-4_0", "ABCDE-4_1", "ABCDE-4_2", "ABCDE-4_3", "ABCDE-4", "ABCDE-9"]
    assert (found["ABCDE-4"]["template"], found["ABCDE-4"]["answer"]) == ("objFirstVerify", "Yes")
    assert found["ABCDE-4_2"]["reason"] == "not_published"
    graph, single = rows(tmp_path / "out", "graphs")
    assert [edge["rule"] for edge in graph["edges"]] == ["Interaction", "First", "Equals"]
    assert graph["edges"][-1]["children"] == [0, 3]
    assert single["isolated"]
    succeed("stressreel", "verify", tmp_path / "out", "--annotations", tmp_path / "in")


def refused(folder: Path, *said: str) -> None:
    done = run("build-decomp", "--release-hierarchies", folder, "--out", folder.parent / "out", "--no-progress")
    refuses(done, *said)
    assert done.err.count("\n") == 1


@pytest.mark.parametrize("name", DAMAGED)
def test_damaged_graph_is_one_error(tmp_path: Path, name: str) -> None:
    change, said = DAMAGED[name]
    graphs = authors()
    change(graphs["ABCDE-4"])
    refused(hierarchies(tmp_path / "in", graphs), "ABCDE", said)


def test_damaged_files_are_refused(tmp_path: Path) -> None:
    refused(hierarchies(tmp_path / "alone" / "in", authors(), [{"type": "And"}]), "isolated.json")
    folder = hierarchies(tmp_path / "cut" / "in", authors())
    path = folder / "test_hierarchies" / "ABCDE.json"
    path.write_bytes(path.read_bytes()[:-30])
    refused(folder, path.name, "is not valid JSON")


def test_deep_graph_is_refused(tmp_path: Path) -> None:
    texts = [f"Question {number}?" for number in range(sys.getrecursionlimit() * 2)]
    graphs = authors()
    graph = graphs["ABCDE-4"]
    for number, text in enumerate(texts):
        graph["subquestion"][text] = {"type": "And", "program": "", "answer": None, "key": f"x{number}"}
    graph["hierarchy"] |= {one: {"Interaction": [other]} for one, other in pairwise(texts)}
    refused(hierarchies(tmp_path / "in", graphs), "levels of sub-questions")
