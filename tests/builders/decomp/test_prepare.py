import json
import os
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest
from agqa_files import row
from agqa_questions import write_agqa
from commands import info, refuses, rows, run, run_process, succeed
from datasets import load_dataset
from stressreel.annotations.samples.charades import SampleVideo, sample_videos
from stressreel.builders.decomp.decomposition import decompose
from stressreel.builders.decomp.parsing import parse_program
from stressreel.builders.decomp.prepare import drawn_graph
from stressreel.builders.decomp.wording import word
from stressreel.templates.agqa import load_agqa

SAMPLE = ("--charades", "sample")


@pytest.mark.parametrize("video", sample_videos(), ids=lambda video: video.id)
def test_drawn_graph_has_the_cues(video: SampleVideo) -> None:
    shown = {cue.action for cue in video.actions}
    expected = [(load_agqa().event(cue.action, shown), cue.start, cue.end) for cue in video.actions]
    spans = [(span.phrase, span.start, span.end) for span in drawn_graph(video).actions]
    assert spans == [(event.phrase if event else None, *when) for event, *when in expected]


def build(out: Path, *arguments: object) -> str:
    done = succeed("build-decomp", *arguments, "--out", out, "--no-progress")
    return done.out + done.err


def test_sample_loads_and_verifies(built_graphs: Path) -> None:
    counts = info(built_graphs)["counts"]
    for config in ("graphs", "videos"):
        loaded = load_dataset(str(built_graphs), config)
        assert {split: len(table) for split, table in loaded.items()} == counts[config]
    assert any(edge["rule"] == "Between" for row in rows(built_graphs, "graphs") for edge in row["edges"])
    assert "not checked" not in succeed("stressreel", "verify", built_graphs).out


def test_split_and_engine_wording_change_only_words(built_graphs: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    build(out, *SAMPLE, "--split", "test", "--embed", "no", "--wording", "engine")
    assert "videos" not in info(out)["counts"]
    assert rows(out, "graphs") == rows(built_graphs, "graphs", "test")
    ours, theirs = rows(built_graphs, "questions", "test"), rows(out, "questions")
    differing = sum(one["question"] != two["question"] for one, two in zip(ours, theirs, strict=True))
    assert 0 < differing < len(ours) / 2
    assert [row | {"question": ""} for row in ours] == [row | {"question": ""} for row in theirs]


def test_dry_run_counts_equal_those_built(built_graphs: Path, tmp_path: Path) -> None:
    said = build(tmp_path / "out", *SAMPLE, "--dry-run").splitlines()
    assert not (tmp_path / "out").exists()
    for template in ("all", "objTime"):
        sizes = [len(row["nodes"]) - 1 for row in rows(built_graphs, "graphs") if template in ("all", row["template"])]
        assert [template, str(len(sizes)), f"{sum(sizes) / len(sizes):.2f}"] in [line.split() for line in said]


@pytest.mark.full
def test_workers_and_hash_seed_change_nothing(tmp_path: Path) -> None:
    for workers in ("1", "2"):
        given = (*SAMPLE, "--out", tmp_path / workers, "--workers", workers, "--no-progress")
        done = run_process("build-decomp", *given, env={**os.environ, "PYTHONHASHSEED": workers})
        assert done.code == 0, done.err
    assert info(tmp_path / "1")["fingerprint"] == info(tmp_path / "2")["fingerprint"]


def test_agqa_roots_and_graphs_match_their_programs(graphed: Path, agqa: Path) -> None:
    assert "not checked" not in succeed("stressreel", "verify", graphed, "--annotations", agqa).out
    given = json.loads((agqa / "test_balanced.txt").read_text("utf-8"))
    by_key = {row["key"]: row for row in rows(graphed, "questions")}
    asked_of = defaultdict(set)
    for key, each in given.items():
        asked = by_key[key]
        asked_of[asked["video_id"]].add(parse_program(each["program"]))
        told = (asked["question"], asked["answer"], asked["agqa_program"], asked["novel_composition"])
        assert told == (each["question"], each["answer"], each["program"], bool(each["novel_comp"]))
    assert {key for key, row in by_key.items() if row["is_root"]} == given.keys()
    for graph in rows(graphed, "graphs"):
        steps = decompose(parse_program(given[graph["root"]]["program"]), asked_of[graph["video_id"]])
        found = [by_key[key] for key in graph["nodes"]]
        assert found[-1]["kind"] == steps[-1].kind
        for each, step in zip(found[:-1], steps[:-1], strict=True):
            # A question that is a root of the video, too, has the kind and the words that it has as a root.
            assert each["is_root"] or (each["kind"], each["question"]) == (step.kind, word(step.question))


def test_question_has_same_children_everywhere(built_graphs: Path, graphed: Path) -> None:
    children: dict[Any, list[Any]] = defaultdict(list)
    for out in (built_graphs, graphed):
        for graph in rows(out, "graphs"):
            nodes = graph["nodes"]
            for place, key in enumerate(nodes):
                edges = [edge for edge in graph["edges"] if edge["parent"] == place]
                children[out, key].append([(edge["rule"], [nodes[n] for n in edge["children"]]) for edge in edges])
    assert [key for key, found in children.items() if any(each != found[0] for each in found)] == []
    assert sum(len(found) - 1 for found in children.values()) > 100


def test_scene_graphs_answer_sub_questions(plain: Path, graphed: Path, agqa: Path) -> None:
    succeed("stressreel", "verify", plain, "--annotations", agqa)
    without, having = (
        {row["key"]: row for row in rows(out, "questions") if not row["is_root"]} for out in (plain, graphed)
    )
    assert without.keys() == having.keys()
    assert {row["reason"] for row in without.values()} <= {"", "no_graph", "conflict"}
    assert "graph" not in {row["decided_by"] for row in without.values()}
    assert sum(row["decided_by"] == "graph" for row in having.values()) > len(having) / 10
    assert any(row["recomputed"] for row in rows(graphed, "questions"))


def test_order_of_rows_changes_nothing(agqa: Path, plain: Path, tmp_path: Path) -> None:
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
def test_bad_row_or_file_is_one_error(tmp_path: Path, bad: Any, said: tuple[str, ...]) -> None:
    second = row("YSKX3-2") | (bad if isinstance(bad, dict) else {})
    text = json.dumps({"YSKX3-1": row("YSKX3-1"), "YSKX3-2": second})
    text = {"truncated": text[:-40], "doubled": text.replace("YSKX3-2", "YSKX3-1")}.get(str(bad), text)
    (tmp_path / "bad").mkdir()
    (tmp_path / "bad" / "test_balanced.txt").write_text(text)
    refuses(run("build-decomp", "--agqa", tmp_path / "bad", "--out", tmp_path / "out", "--no-progress"), *said)
    assert not (tmp_path / "out" / "build.json").exists()
