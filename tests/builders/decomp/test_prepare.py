import json
import os
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest
from agqa_files import row
from agqa_questions import write_agqa
from commands import info, refuses, rows, run, run_process
from datasets import load_dataset
from stressreel.annotations.samples.charades import SampleVideo, sample_videos
from stressreel.builders.decomp.decomposition import decompose
from stressreel.builders.decomp.parsing import parse_program
from stressreel.builders.decomp.prepare import drawn_graph
from stressreel.builders.decomp.wording import word
from stressreel.templates.agqa import load_agqa

VIDEOS = sample_videos()


@pytest.mark.parametrize("video", VIDEOS, ids=lambda video: video.id)
def test_drawn_graph_has_the_cues(video: SampleVideo) -> None:
    shown = {cue.action for cue in video.actions}
    events = [(load_agqa().event(cue.action, shown), cue) for cue in video.actions]
    expected = [(event.phrase, cue.start, cue.end) for event, cue in events if event]
    assert len(expected) == len(video.actions)
    assert [(span.phrase, span.start, span.end) for span in drawn_graph(video).actions] == expected
    assert drawn_graph(video).provenance == "drawn"


def build(out: Path, *arguments: object, code: int = 0) -> str:
    done = run("build-decomp", *arguments, "--out", out, "--no-progress")
    assert done.code == code, done.err
    return done.out + done.err


def verified(out: Path, *more: object) -> str:
    done = run("stressreel", "verify", out, *more)
    assert done.code == 0, done.out
    return done.out


class TestSample:
    def test_sample_loads_and_verifies(self, drawn: Path) -> None:
        counts = info(drawn)["counts"]
        for config in ("graphs", "videos"):
            loaded = load_dataset(str(drawn), config)
            assert {split: len(table) for split, table in loaded.items()} == counts[config]
        assert any(edge["rule"] == "Between" for row in rows(drawn, "graphs") for edge in row["edges"])
        assert "not checked" not in verified(drawn)

    def test_split_and_engine_wording_change_only_words(self, drawn: Path, tmp_path: Path) -> None:
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

    def test_limits_on_videos_and_questions(self, drawn: Path, tmp_path: Path) -> None:
        limits = ("--limit", 2, "--max-questions-per-video", 3)
        build(tmp_path / "out", "--charades", "sample", "--embed", "no", *limits)
        found = [row["video_id"] for row in rows(tmp_path / "out", "graphs")]
        assert {*found} == {*sorted({row["video_id"] for row in rows(drawn, "questions")})[:2]}
        assert max(map(found.count, found)) <= 3

    def test_dry_run_counts_equal_those_built(self, drawn: Path, tmp_path: Path) -> None:
        said = build(tmp_path / "out", "--charades", "sample", "--dry-run")
        assert not (tmp_path / "out").exists()
        assert "source videos found: 10 of 10" in said
        for template in ("all", "objTime"):
            graphs = [row for row in rows(drawn, "graphs") if template in ("all", row["template"])]
            mean = sum(len(row["nodes"]) - 1 for row in graphs) / len(graphs)
            line = next(line.split() for line in said.splitlines() if line.split()[:1] == [template])
            assert line == [template, str(len(graphs)), f"{mean:.2f}"]


@pytest.mark.full
def test_workers_and_hash_seed_change_nothing(tmp_path: Path) -> None:
    for workers in ("1", "2"):
        given = ("--charades", "sample", "--out", tmp_path / workers, "--workers", workers, "--no-progress")
        done = run_process("build-decomp", *given, env={**os.environ, "PYTHONHASHSEED": workers})
        assert done.code == 0, done.err
    assert info(tmp_path / "1")["fingerprint"] == info(tmp_path / "2")["fingerprint"]


class TestAgqa:
    def test_agqa_roots_and_graphs_match_their_programs(self, graphed: Path, agqa: Path) -> None:
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

    def test_question_has_same_children_everywhere(self, drawn: Path, graphed: Path) -> None:
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

    def test_scene_graphs_answer_sub_questions(self, plain: Path, graphed: Path, agqa: Path) -> None:
        verified(plain, "--annotations", agqa)
        without, having = (
            {row["key"]: row for row in rows(out, "questions") if not row["is_root"]} for out in (plain, graphed)
        )
        assert without.keys() == having.keys()
        assert {row["reason"] for row in without.values()} <= {"", "no_graph", "conflict"}
        assert "graph" not in {row["decided_by"] for row in without.values()}
        assert sum(row["decided_by"] == "graph" for row in having.values()) > len(having) / 10
        assert any(row["recomputed"] for row in rows(graphed, "questions"))

    def test_order_of_rows_changes_nothing(self, agqa: Path, plain: Path, tmp_path: Path) -> None:
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
    def test_bad_row_or_file_is_one_error(self, tmp_path: Path, bad: Any, said: tuple[str, ...]) -> None:
        second = row("YSKX3-2") | (bad if isinstance(bad, dict) else {})
        text = json.dumps({"YSKX3-1": row("YSKX3-1"), "YSKX3-2": second})
        text = {"truncated": text[:-40], "doubled": text.replace("YSKX3-2", "YSKX3-1")}.get(str(bad), text)
        (tmp_path / "bad").mkdir()
        (tmp_path / "bad" / "test_balanced.txt").write_text(text)
        done = run("build-decomp", "--agqa", tmp_path / "bad", "--out", tmp_path / "out", "--no-progress")
        refuses(done, *said)
        assert not (tmp_path / "out" / "build.json").exists()
