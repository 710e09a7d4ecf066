"""`build-decomp` from end to end: the drawn sample, AGQA's files, published hierarchies."""

from __future__ import annotations

import json
import os
import shutil
import signal
import sys
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from agqa_files import row
from agqa_questions import agqa_rows, templates_of, write_agqa
from commands import info, refuses, rows, run, run_process, start, wait_until
from datasets import load_dataset
from stressreel.builders.decomp import inputs
from stressreel.builders.decomp.inputs import read_inputs
from stressreel.builders.decomp.programs.decomposition import decompose
from stressreel.builders.decomp.programs.parsing import parse_program
from stressreel.builders.decomp.programs.questions import TEMPLATES
from stressreel.builders.decomp.programs.wording import word
from stressreel.builders.decomp.settings import DecompSettings, decided
from stressreel.templates.agqa import load_agqa


def build(out: Path, *arguments: object, code: int = 0) -> str:
    done = run("build-decomp", *arguments, "--out", out, "--no-progress")
    assert done.code == code, done.err
    return done.out + done.err


def fingerprint(out: Path) -> str:
    return str(info(out)["fingerprint"])


BAD: dict[str, tuple[Callable[[dict[str, Any]], object], str]] = {
    "program": (lambda each: each.update(program="Exists(phone"), "are not closed"),
    "field": (lambda each: each.pop("answer"), "answer"),
    "no text": (lambda each: each.update(question=7), "question"),
}


class TestSample:
    def test_every_config_loads(self, drawn: Path) -> None:
        counts = info(drawn)["counts"]
        for config in ("questions", "graphs", "videos"):
            loaded = load_dataset(str(drawn), config)
            assert {split: len(table) for split, table in loaded.items()} == counts[config]
        asked = {row["key"]: row for row in load_dataset(str(drawn), split="test")}
        graphs = load_dataset(str(drawn), "graphs", split="test")
        assert all(asked[row["root"]]["is_root"] for row in graphs)
        assert any(edge["rule"] == "Between" for row in graphs for edge in row["edges"])

    def test_it_is_verified(self, drawn: Path) -> None:
        done = run("stressreel", "verify", drawn)
        assert done.code == 0, done.out
        assert "not checked" not in done.out.replace("decord is not installed", "")

    def test_the_engines_words_are_verified_too(self, drawn: Path, tmp_path: Path) -> None:
        build(tmp_path / "out", "--charades", "sample", "--split", "test", "--embed", "no", "--wording", "engine")
        ours = {row["canonical_id"]: row["question"] for row in rows(drawn, "questions", "test")}
        theirs = {row["canonical_id"]: row["question"] for row in rows(tmp_path / "out", "questions", "test")}
        assert ours.keys() == theirs.keys()
        assert 0 < sum(ours[name] != theirs[name] for name in ours) < len(ours) / 2
        assert run("stressreel", "verify", tmp_path / "out").code == 0

    def test_a_split_is_that_of_the_whole(self, drawn: Path, tmp_path: Path) -> None:
        build(tmp_path / "test", "--charades", "sample", "--split", "test", "--embed", "no")
        for table in ("questions", "graphs"):
            assert rows(tmp_path / "test", table) == rows(drawn, table, "test")
        assert "videos" not in info(tmp_path / "test")["counts"]

    def test_a_limit_is_the_first_videos(self, drawn: Path, tmp_path: Path) -> None:
        build(tmp_path / "out", "--charades", "sample", "--limit", 2, "--embed", "no")
        found = rows(tmp_path / "out", "questions")
        videos = sorted({row["video_id"] for row in rows(drawn, "questions")})[:2]
        assert {row["video_id"] for row in found} == set(videos)
        assert found == [row for row in rows(drawn, "questions") if row["video_id"] in videos]

    def test_the_most_questions_of_a_video(self, tmp_path: Path) -> None:
        build(tmp_path / "out", "--charades", "sample", "--embed", "no", "--max-questions-per-video", 3)
        found = [row["video_id"] for row in rows(tmp_path / "out", "graphs")]
        assert found
        assert max(map(found.count, found)) <= 3

    def test_a_dry_run_counts_what_is_built(self, drawn: Path, tmp_path: Path) -> None:
        said = build(tmp_path / "out", "--charades", "sample", "--dry-run")
        assert not (tmp_path / "out").exists()
        graphs = rows(drawn, "graphs")
        mean = sum(len(row["nodes"]) - 1 for row in graphs) / len(graphs)
        last = next(line.split() for line in said.splitlines() if line.split()[:1] == ["all"])
        assert last == ["all", str(len(graphs)), f"{mean:.2f}"]
        lengths = [len(row["nodes"]) - 1 for row in graphs if row["template"] == "objTime"]
        line = next(line.split() for line in said.splitlines() if line.split()[:1] == ["objTime"])
        assert line == ["objTime", str(len(lengths)), f"{sum(lengths) / len(lengths):.2f}"]
        assert "source videos found: 10 of 10" in said

    def test_after_a_kill_and_with_two_workers(self, drawn: Path, tmp_path: Path) -> None:
        out = tmp_path / "out"
        arguments = ("--charades", "sample", "--out", out, "--no-progress")
        process = start("build-decomp", *arguments, "--workers", 2)
        wait_until(lambda: list(tmp_path.rglob("journal*")), process)
        process.send_signal(signal.SIGKILL)
        process.communicate()
        build(out, "--charades", "sample", "--workers", 2)
        assert fingerprint(out) == fingerprint(drawn)


class TestCharades:
    """Annotations in a folder, of which questions are asked in pairs."""

    def units(self, folder: Path, limit: int | None) -> dict[str, Any]:
        plan = read_inputs(decided(DecompSettings(charades=str(folder), limit=limit))).plan
        return {unit.id: unit.payload for unit in plan.units}

    def test_a_limit_takes_the_first_videos_in_any_order(
        self, charades: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(inputs, "AMONG", 1)
        whole, some = self.units(charades, None), self.units(charades, 20)
        assert len(some) > 10
        assert {*some} <= {f"V{number:03d}" for number in range(20)}
        assert any(some[video] != whole[video] for video in some)
        for path in shutil.copytree(charades, tmp_path / "turned").glob("*_t*.csv"):
            header, *videos = path.read_text("utf-8").splitlines(keepends=True)
            path.write_text("".join([header, *reversed(videos)]), "utf-8")
        assert self.units(tmp_path / "turned", 20) == some
        assert self.units(tmp_path / "turned", None) == whole

    def test_few_are_balanced_among_more(self, charades: Path) -> None:
        whole = self.units(charades, None)
        assert self.units(charades, 3) == {video: whole[video] for video in sorted(whole)[:3]}

    def test_neither_workers_nor_the_seed_of_hashes_change_anything(self, charades: Path, tmp_path: Path) -> None:
        for workers in ("1", "2"):
            given = ("--charades", charades, "--out", tmp_path / workers, "--workers", workers, "--no-progress")
            done = run_process("build-decomp", *given, env={**os.environ, "PYTHONHASHSEED": workers})
            assert done.code == 0, done.err
        assert fingerprint(tmp_path / "1") == fingerprint(tmp_path / "2")


class TestAgqa:
    def test_rows_of_the_tests_cover_all(self) -> None:
        assert templates_of(agqa_rows()) == templates_of(agqa_rows(every=4)) == set(TEMPLATES)

    @pytest.mark.parametrize("which", ["plain", "graphed"])
    def test_it_is_verified(self, which: str, agqa: Path, request: pytest.FixtureRequest) -> None:
        out = request.getfixturevalue(which)
        done = run("stressreel", "verify", out)
        assert done.code == 0, done.out
        done = run("stressreel", "verify", out, "--annotations", agqa)
        assert done.code == 0, done.out
        assert "not checked" not in done.out

    def test_roots_are_agqas(self, graphed: Path, agqa: Path) -> None:
        given = json.loads((agqa / "test_balanced.txt").read_text("utf-8"))
        found = {row["key"]: row for row in rows(graphed, "questions") if row["is_root"]}
        assert found.keys() == given.keys()
        for key, each in given.items():
            asked = found[key]
            told = (asked["question"], asked["answer"], asked["agqa_program"])
            assert told == (each["question"], each["answer"], each["program"])
            assert asked["novel_composition"] == bool(each["novel_comp"])

    def test_graphs_are_what_programs_are_taken_apart_into(self, graphed: Path) -> None:
        by_key = {row["key"]: row for row in rows(graphed, "questions")}
        for graph in rows(graphed, "graphs"):
            steps = decompose(parse_program(by_key[graph["root"]]["agqa_program"]))
            kinds = [by_key[key]["kind"] for key in graph["nodes"]]
            # A question that is a root of the video, too, has the kind that it has as a root.
            assert all(
                kind == step.kind or by_key[key]["is_root"]
                for key, kind, step in zip(graph["nodes"], kinds, steps, strict=True)
            )
            assert kinds[-1] == steps[-1].kind
            inner = [by_key[key] for key in graph["nodes"][:-1]]
            for each, step in zip(inner, steps, strict=False):
                assert each["is_root"] or each["question"] == word(step.question)

    def test_scene_graphs_answer(self, plain: Path, graphed: Path) -> None:
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

    @pytest.mark.parametrize("name", BAD)
    def test_a_bad_row_is_one_error(self, tmp_path: Path, name: str) -> None:
        bad = row("YSKX3-2")
        BAD[name][0](bad)
        write_agqa(tmp_path / "bad", {"YSKX3-1": row("YSKX3-1"), "YSKX3-2": bad}, graphs=False)
        done = run("build-decomp", "--agqa", tmp_path / "bad", "--out", tmp_path / "out", "--no-progress")
        refuses(done, "YSKX3-2", BAD[name][1])
        assert done.err.count("\n") == 1
        assert not (tmp_path / "out" / "build.json").exists()

    @pytest.mark.parametrize("damage", ["truncated", "doubled"])
    def test_a_damaged_file_is_one_error(self, tmp_path: Path, damage: str) -> None:
        text = json.dumps({"YSKX3-1": row("YSKX3-1"), "YSKX3-2": row("YSKX3-2")})
        text = text[:-40] if damage == "truncated" else text.replace("YSKX3-2", "YSKX3-1")
        (tmp_path / "bad").mkdir()
        (tmp_path / "bad" / "test_balanced.txt").write_text(text)
        done = run("build-decomp", "--agqa", tmp_path / "bad", "--out", tmp_path / "out", "--no-progress")
        refuses(done, "test_balanced.txt")
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


def damaged(change: Callable[[dict[str, Any]], object]) -> dict[str, Any]:
    graphs = authors()
    change(graphs["ABCDE-4"])
    return graphs


ROOT = "Was a phone the first thing they were touching?"
SOMETHING = "Is the person touching something?"
DAMAGED: dict[str, tuple[Callable[[dict[str, Any]], object], str]] = {
    "cycle": (lambda g: g["hierarchy"].update({SOMETHING: {"Interaction": [ROOT]}}), "is composed of itself"),
    "kind": (lambda g: g["subquestion"][SOMETHING].update(type="Wonder"), "Wonder"),
    "rule": (lambda g: g["hierarchy"][ROOT].update({"Because": [SOMETHING]}), "Because"),
    "no subquestion": (lambda g: g.pop("subquestion"), "subquestion"),
    "no key": (lambda g: g["subquestion"][SOMETHING].pop("key"), "key"),
    "one child": (lambda g: g["hierarchy"][ROOT]["Equals"].pop(), "takes two"),
    "another child": (lambda g: g["hierarchy"][ROOT]["Equals"].__setitem__(0, "Why?"), "Why?"),
    "no text": (lambda g: g["subquestion"][SOMETHING].update(answer=3), "is no text"),
    "one key": (lambda g: g["subquestion"][SOMETHING].update(key="ABCDE-4"), "same key"),
}


class TestHierarchies:
    SAME = ("key", "video_id", "question", "answer", "options", "kind", "group", "banned", "program", "canonical_id")

    def test_what_is_exported_is_read_back(self, drawn: Path, published: Path, tmp_path: Path) -> None:
        build(tmp_path / "out", "--release-hierarchies", published)
        assert rows(tmp_path / "out", "graphs") == rows(drawn, "graphs")
        for one, other in zip(rows(tmp_path / "out", "questions"), rows(drawn, "questions"), strict=True):
            assert {name: one[name] for name in (*self.SAME, "is_root", "template", "agqa_program")} == {
                name: other[name] for name in (*self.SAME, "is_root", "template", "agqa_program")
            }
        done = run("stressreel", "verify", tmp_path / "out", "--annotations", published)
        assert done.code == 0, done.out

    def test_so_is_agqa(self, graphed: Path, tmp_path: Path) -> None:
        run("stressreel", "export", "released", graphed, "--to", tmp_path / "test_hierarchies")
        build(tmp_path / "out", "--release-hierarchies", tmp_path / "test_hierarchies")
        assert rows(tmp_path / "out", "graphs") == rows(graphed, "graphs")

    def test_the_layout_is_the_authors(self, published: Path, drawn: Path) -> None:
        files = {path.name: json.loads(path.read_text("utf-8")) for path in (published / "test_hierarchies").iterdir()}
        isolated = files.pop("isolated.json")
        graphs = rows(drawn, "graphs", "test")
        assert {row["key"] for row in isolated} == {row["root"] for row in graphs if row["isolated"]}
        assert all({"type", "answer", "key"} <= row.keys() for row in isolated)
        assert {root for content in files.values() for root in content} == {
            row["root"] for row in graphs if not row["isolated"]
        }
        kinds = load_agqa().kinds
        for name, content in files.items():
            for root, graph in content.items():
                assert root.startswith(name.removesuffix(".json"))
                fields = {"question", "type", "old_program", "new_program", "answer", "subquestion", "hierarchy"}
                assert graph.keys() == fields
                assert graph["question"] in graph["subquestion"]
                for node in graph["subquestion"].values():
                    assert node.keys() == {"type", "program", "answer", "key"}
                    assert node["type"] in kinds
                for parent, by_rule in graph["hierarchy"].items():
                    assert {parent, *(c for children in by_rule.values() for c in children)} <= {*graph["subquestion"]}

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
        done = run("stressreel", "verify", tmp_path / "out", "--annotations", tmp_path / "in")
        assert done.code == 0, done.out

    @pytest.mark.parametrize("name", DAMAGED)
    def test_a_damaged_graph_is_one_error(self, tmp_path: Path, name: str) -> None:
        change, said = DAMAGED[name]
        folder = hierarchies(tmp_path / "in", damaged(change))
        done = run("build-decomp", "--release-hierarchies", folder, "--out", tmp_path / "out", "--no-progress")
        refuses(done, said)
        assert done.err.count("\n") == 1
        assert not (tmp_path / "out" / "build.json").exists()

    @pytest.mark.parametrize("alone", [{}, [{"type": "And"}], [{"type": "And", "answer": 1, "key": "A-1"}], "no"])
    def test_damaged_roots_without_graphs_are_told(self, tmp_path: Path, alone: object) -> None:
        folder = hierarchies(tmp_path / "in", authors(), alone)
        refuses(run("build-decomp", "--release-hierarchies", folder, "--out", tmp_path / "out"), "isolated.json")

    def test_a_truncated_file_is_told(self, published: Path, tmp_path: Path) -> None:
        folder = tmp_path / "in" / "test_hierarchies"
        shutil.copytree(published / "test_hierarchies", folder)
        path = next(path for path in sorted(folder.iterdir()) if path.name != "isolated.json")
        path.write_bytes(path.read_bytes()[:-30])
        done = run("build-decomp", "--release-hierarchies", folder, "--out", tmp_path / "out", "--no-progress")
        refuses(done, path.name, "no JSON")

    def test_a_deep_chain_is_refused_and_not_a_crash(self, tmp_path: Path) -> None:
        texts = [f"Question {number}?" for number in range(sys.getrecursionlimit() * 2)]
        graphs = authors()
        graph = graphs["ABCDE-4"]
        for number, text in enumerate(texts):
            graph["subquestion"][text] = {"type": "And", "program": "", "answer": None, "key": f"x{number}"}
        for one, other in pairwise(texts):
            graph["hierarchy"][one] = {"Interaction": [other]}
        folder = hierarchies(tmp_path / "in", graphs)
        refuses(run("build-decomp", "--release-hierarchies", folder, "--out", tmp_path / "out"), "in a row")
