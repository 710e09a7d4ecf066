import json
import sys
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from commands import refuses, rows, run

from .test_prepare import build


def hierarchies(folder: Path, graphs: object, isolated: object = None, split: str = "test") -> Path:
    """Write published hierarchies by hand."""
    place = folder / f"{split}_hierarchies"
    place.mkdir(parents=True)
    (place / "ABCDE.json").write_text(json.dumps(graphs))
    if isolated is not None:
        (place / "isolated.json").write_text(json.dumps(isolated))
    return folder


def authors() -> dict[str, Any]:
    """A graph as the scoring programs read it, in a notation of its own."""
    root = "Was a phone the first thing they were touching?"
    nodes = {
        "Does a phone exist?": ("Object Exists", "objExists(phone)", "Yes", "ABCDE-4_0"),
        "Is the person touching something?": ("Relation Exists", "relExists(touching)", "Yes", "ABCDE-4_1"),
        "What is the person touching?": ("Object", "objects(touching)", None, "ABCDE-4_2"),
        "What is the first object that the person is touching?": ("First Object", "first(…)", "phone", "ABCDE-4_3"),
        root: ("Object Equals", "equals(…)", "Yes", "ABCDE-4"),
    }
    first = "What is the first object that the person is touching?"
    program = (
        "Equals(phone, OnlyItem(IterateUntil(forward, video, Exists(touching, Filter(frame, [relations])), "
        "Filter(frame, [relations, touching, objects]))))"
    )
    return {
        "ABCDE-4": {
            "question": root,
            "type": "Object Equals",
            "old_program": program,
            "new_program": "equals(…)",
            "answer": "Yes",
            "subquestion": {
                text: {"type": kind, "program": said, "answer": answer, "key": key}
                for text, (kind, said, answer, key) in nodes.items()
            },
            "hierarchy": {
                "What is the person touching?": {"Interaction": ["Is the person touching something?"]},
                first: {"First": ["What is the person touching?"]},
                root: {"Equals": ["Does a phone exist?", first]},
            },
        }
    }


ROOT = "Was a phone the first thing they were touching?"
SOMETHING = "Is the person touching something?"
DAMAGED: dict[str, tuple[Callable[[dict[str, Any]], object], str]] = {
    "cycle": (lambda g: g["hierarchy"].update({SOMETHING: {"Interaction": [ROOT]}}), "is its own sub-question"),
    "kind": (lambda g: g["subquestion"][SOMETHING].update(type="Wonder"), "Wonder"),
    "no key": (lambda g: g["subquestion"][SOMETHING].pop("key"), "key"),
    "one child": (lambda g: g["hierarchy"][ROOT]["Equals"].pop(), "needs exactly two"),
    "another child": (lambda g: g["hierarchy"][ROOT]["Equals"].__setitem__(0, "Why?"), "Why?"),
    "no text": (lambda g: g["subquestion"][SOMETHING].update(answer=3), "is not a string"),
    "one key": (lambda g: g["subquestion"][SOMETHING].update(key="ABCDE-4"), "same key"),
}


class TestHierarchies:
    def test_published_layout_survives_a_round_trip(self, drawn: Path, published: Path, tmp_path: Path) -> None:
        build(tmp_path / "out", "--release-hierarchies", published)
        assert rows(tmp_path / "out", "graphs") == rows(drawn, "graphs")
        lost = ("reason", "decided_by", "recomputed", "novel_composition", "more_steps")
        for one, other in zip(rows(tmp_path / "out", "questions"), rows(drawn, "questions"), strict=True):
            assert one | dict.fromkeys(lost) == other | dict.fromkeys(lost)
        verified(tmp_path / "out", "--annotations", published)

    def test_published_layout_is_the_authors(self, published: Path) -> None:
        files = {path.name: json.loads(path.read_text("utf-8")) for path in (published / "test_hierarchies").iterdir()}
        assert all({"type", "answer", "key"} <= row.keys() for row in files.pop("isolated.json"))
        graph = next(iter(next(iter(files.values())).values()))
        assert [*graph] == ["question", "type", "old_program", "new_program", "answer", "subquestion", "hierarchy"]
        assert all([*node] == ["type", "program", "answer", "key"] for node in graph["subquestion"].values())
        assert {*graph["hierarchy"]} <= {*graph["subquestion"]}

    def test_authors_files_are_read(self, tmp_path: Path) -> None:
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
        verified(tmp_path / "out", "--annotations", tmp_path / "in")

    def refused(self, folder: Path, *said: str) -> None:
        done = run("build-decomp", "--release-hierarchies", folder, "--out", folder.parent / "out", "--no-progress")
        refuses(done, *said)
        assert done.err.count("\n") == 1

    @pytest.mark.parametrize("name", DAMAGED)
    def test_damaged_graph_is_one_error(self, tmp_path: Path, name: str) -> None:
        change, said = DAMAGED[name]
        graphs = authors()
        change(graphs["ABCDE-4"])
        self.refused(hierarchies(tmp_path / "in", graphs), "ABCDE", said)

    @pytest.mark.parametrize("alone", [[{"type": "And"}], "no"])
    def test_damaged_isolated_roots_are_refused(self, tmp_path: Path, alone: object) -> None:
        self.refused(hierarchies(tmp_path / "in", authors(), alone), "isolated.json")

    def test_truncated_and_deep_files_are_refused(self, tmp_path: Path) -> None:
        folder = hierarchies(tmp_path / "in", authors())
        path = folder / "test_hierarchies" / "ABCDE.json"
        path.write_bytes(path.read_bytes()[:-30])
        self.refused(folder, path.name, "is not valid JSON")
        texts = [f"Question {number}?" for number in range(sys.getrecursionlimit() * 2)]
        graphs = authors()
        graph = graphs["ABCDE-4"]
        for number, text in enumerate(texts):
            graph["subquestion"][text] = {"type": "And", "program": "", "answer": None, "key": f"x{number}"}
        graph["hierarchy"] |= {one: {"Interaction": [other]} for one, other in pairwise(texts)}
        self.refused(hierarchies(tmp_path / "deep" / "in", graphs), "levels of sub-questions")
