import json
import os
import sys
from collections import defaultdict
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from agqa_files import row
from agqa_questions import write_agqa
from commands import info, refuses, rows, run, run_process
from datasets import load_dataset
from stressreel.builders.decomp.decomposition import decompose
from stressreel.builders.decomp.parsing import parse_program
from stressreel.builders.decomp.wording import word


def build(out: Path, *arguments: object, code: int = 0) -> str:
    done = run("build-decomp", *arguments, "--out", out, "--no-progress")
    assert done.code == code, done.err
    return done.out + done.err


def verified(out: Path, *more: object) -> str:
    done = run("stressreel", "verify", out, *more)
    assert done.code == 0, done.out
    return done.out


class TestSample:
    def test_it_loads_and_is_verified(self, drawn: Path) -> None:
        counts = info(drawn)["counts"]
        for config in ("graphs", "videos"):
            loaded = load_dataset(str(drawn), config)
            assert {split: len(table) for split, table in loaded.items()} == counts[config]
        assert any(edge["rule"] == "Between" for row in rows(drawn, "graphs") for edge in row["edges"])
        assert "not checked" not in verified(drawn)

    def test_a_split_is_that_of_the_whole_and_the_engines_words_ask_the_same(self, drawn: Path, tmp_path: Path) -> None:
        engine = ("--split", "test", "--embed", "no", "--wording", "engine")
        build(tmp_path / "out", "--charades", "sample", *engine)
        assert "videos" not in info(tmp_path / "out")["counts"]
        assert rows(tmp_path / "out", "graphs") == rows(drawn, "graphs", "test")
        ours, theirs = rows(drawn, "questions", "test"), rows(tmp_path / "out", "questions")
        assert (
            0 < sum(one["question"] != two["question"] for one, two in zip(ours, theirs, strict=True)) < len(ours) / 2
        )
        assert [row | {"question": ""} for row in ours] == [row | {"question": ""} for row in theirs]
        verified(tmp_path / "out")

    def test_limits(self, drawn: Path, tmp_path: Path) -> None:
        limits = ("--limit", 2, "--max-questions-per-video", 3)
        build(tmp_path / "out", "--charades", "sample", "--embed", "no", *limits)
        found = [row["video_id"] for row in rows(tmp_path / "out", "graphs")]
        assert {*found} == {*sorted({row["video_id"] for row in rows(drawn, "questions")})[:2]}
        assert max(map(found.count, found)) <= 3

    def test_a_dry_run_counts_what_is_built(self, drawn: Path, tmp_path: Path) -> None:
        said = build(tmp_path / "out", "--charades", "sample", "--dry-run")
        assert not (tmp_path / "out").exists()
        assert "source videos found: 10 of 10" in said
        for template in ("all", "objTime"):
            graphs = [row for row in rows(drawn, "graphs") if template in ("all", row["template"])]
            mean = sum(len(row["nodes"]) - 1 for row in graphs) / len(graphs)
            line = next(line.split() for line in said.splitlines() if line.split()[:1] == [template])
            assert line == [template, str(len(graphs)), f"{mean:.2f}"]


@pytest.mark.full
def test_neither_workers_nor_the_seed_of_hashes_change_anything(tmp_path: Path) -> None:
    for workers in ("1", "2"):
        given = ("--charades", "sample", "--out", tmp_path / workers, "--workers", workers, "--no-progress")
        done = run_process("build-decomp", *given, env={**os.environ, "PYTHONHASHSEED": workers})
        assert done.code == 0, done.err
    assert info(tmp_path / "1")["fingerprint"] == info(tmp_path / "2")["fingerprint"]


class TestAgqa:
    def test_roots_are_agqas_and_graphs_what_programs_are_taken_apart_into(self, graphed: Path, agqa: Path) -> None:
        assert "not checked" not in verified(graphed, "--annotations", agqa)
        given = json.loads((agqa / "test_balanced.txt").read_text("utf-8"))
        by_key = {row["key"]: row for row in rows(graphed, "questions")}
        asked_of: dict[str, set[Any]] = defaultdict(set)
        for each in by_key.values():
            if each["is_root"]:
                asked_of[each["video_id"]].add(parse_program(each["agqa_program"]))
        assert {key for key, row in by_key.items() if row["is_root"]} == given.keys()
        for key, each in given.items():
            asked = by_key[key]
            told = (asked["question"], asked["answer"], asked["agqa_program"], asked["novel_composition"])
            assert told == (each["question"], each["answer"], each["program"], bool(each["novel_comp"]))
        for graph in rows(graphed, "graphs"):
            steps = decompose(parse_program(by_key[graph["root"]]["agqa_program"]), asked_of[graph["video_id"]])
            found = [by_key[key] for key in graph["nodes"]]
            assert found[-1]["kind"] == steps[-1].kind
            for each, step in zip(found[:-1], steps[:-1], strict=True):
                # A question that is a root of the video, too, has the kind and the words that it has as a root.
                assert each["is_root"] or (each["kind"], each["question"]) == (step.kind, word(step.question))

    def test_a_question_has_the_same_children_in_all_graphs(self, drawn: Path, graphed: Path) -> None:
        several = 0
        for out in (drawn, graphed):
            edges: dict[str, set[tuple[tuple[str, tuple[str, ...]], ...]]] = defaultdict(set)
            for graph in rows(out, "graphs"):
                own: dict[int, list[tuple[str, tuple[str, ...]]]] = {place: [] for place in range(len(graph["nodes"]))}
                for edge in graph["edges"]:
                    own[edge["parent"]].append((edge["rule"], tuple(graph["nodes"][n] for n in edge["children"])))
                several += sum(graph["nodes"][place] in edges for place in own)
                for place, found in own.items():
                    edges[graph["nodes"][place]].add(tuple(found))
            assert {key: found for key, found in edges.items() if len(found) > 1} == {}
        assert several > 100

    def test_scene_graphs_answer(self, plain: Path, graphed: Path, agqa: Path) -> None:
        verified(plain, "--annotations", agqa)
        without, having = (
            {row["key"]: row for row in rows(out, "questions") if not row["is_root"]} for out in (plain, graphed)
        )
        assert without.keys() == having.keys()
        assert {row["reason"] for row in without.values()} <= {"", "no_graph", "conflict"}
        assert "graph" not in {row["decided_by"] for row in without.values()}
        assert sum(row["decided_by"] == "graph" for row in having.values()) > len(having) / 10
        assert any(row["recomputed"] for row in rows(graphed, "questions"))

    def test_the_order_of_rows_changes_nothing(self, agqa: Path, plain: Path, tmp_path: Path) -> None:
        given = json.loads((agqa / "test_balanced.txt").read_text("utf-8"))
        write_agqa(tmp_path / "turned", dict(reversed(given.items())), graphs=False)
        build(tmp_path / "out", "--agqa", tmp_path / "turned")
        for table in ("questions", "graphs"):
            assert rows(tmp_path / "out", table) == rows(plain, table)

    @pytest.mark.parametrize(
        ("bad", "said"),
        [
            ({"program": "Exists(phone"}, ("YSKX3-2", "are not closed")),
            ({"answer": None}, ("YSKX3-2", "answer")),
            ("truncated", ("test_balanced.txt",)),
            ("doubled", ("test_balanced.txt",)),
        ],
    )
    def test_a_bad_row_or_file_is_one_error(self, tmp_path: Path, bad: Any, said: tuple[str, ...]) -> None:
        second = row("YSKX3-2") | (bad if isinstance(bad, dict) else {})
        text = json.dumps({"YSKX3-1": row("YSKX3-1"), "YSKX3-2": second})
        text = {"truncated": text[:-40], "doubled": text.replace("YSKX3-2", "YSKX3-1")}.get(str(bad), text)
        (tmp_path / "bad").mkdir()
        (tmp_path / "bad" / "test_balanced.txt").write_text(text)
        done = run("build-decomp", "--agqa", tmp_path / "bad", "--out", tmp_path / "out", "--no-progress")
        refuses(done, *said)
        assert not (tmp_path / "out" / "build.json").exists()


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
    def test_what_is_exported_is_read_back(self, drawn: Path, published: Path, tmp_path: Path) -> None:
        build(tmp_path / "out", "--release-hierarchies", published)
        assert rows(tmp_path / "out", "graphs") == rows(drawn, "graphs")
        lost = ("reason", "decided_by", "recomputed", "novel_composition", "more_steps")
        for one, other in zip(rows(tmp_path / "out", "questions"), rows(drawn, "questions"), strict=True):
            assert one | dict.fromkeys(lost) == other | dict.fromkeys(lost)
        verified(tmp_path / "out", "--annotations", published)

    def test_the_layout_is_the_authors(self, published: Path, drawn: Path) -> None:
        files = {path.name: json.loads(path.read_text("utf-8")) for path in (published / "test_hierarchies").iterdir()}
        isolated = files.pop("isolated.json")
        graphs = rows(drawn, "graphs", "test")
        assert {row["key"] for row in isolated} == {row["root"] for row in graphs if row["isolated"]}
        assert all({"type", "answer", "key"} <= row.keys() for row in isolated)
        assert {root for content in files.values() for root in content} == {
            row["root"] for row in graphs if not row["isolated"]
        }
        graph = next(iter(next(iter(files.values())).values()))
        assert [*graph] == ["question", "type", "old_program", "new_program", "answer", "subquestion", "hierarchy"]
        assert all([*node] == ["type", "program", "answer", "key"] for node in graph["subquestion"].values())
        assert {*graph["hierarchy"]} <= {*graph["subquestion"]}

    def test_the_authors_files_are_read(self, tmp_path: Path) -> None:
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
    def test_a_damaged_graph_is_one_error(self, tmp_path: Path, name: str) -> None:
        change, said = DAMAGED[name]
        graphs = authors()
        change(graphs["ABCDE-4"])
        self.refused(hierarchies(tmp_path / "in", graphs), "ABCDE", said)

    @pytest.mark.parametrize("alone", [[{"type": "And"}], "no"])
    def test_damaged_roots_without_graphs_are_told(self, tmp_path: Path, alone: object) -> None:
        self.refused(hierarchies(tmp_path / "in", authors(), alone), "isolated.json")

    def test_a_truncated_file_and_a_deep_chain_are_refused(self, tmp_path: Path) -> None:
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
