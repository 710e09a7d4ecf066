"""Datasets without the questions that people disputed: what goes with them, and that all else stays as it was."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from commands import info, refuses, rows, run, succeed
from extras import needs
from option_inputs import INPUTS
from option_inputs import write_disputed_list as disputed
from stressreel.annotations.samples import cached_sample

NEW = ("--version", "2.0.0")
CLAVI = ("build-clavi", "--charades", "sample", "--no-render")
CAUSAL = ("build-causal", "--annotations", "sample", "--no-render", "--splits", "UD,PS,UN")
DECOMP = ("build-decomp", "--charades", "sample", "--embed", "no", "--limit")


def without(out: Path, build: tuple[object, ...], *files: Path) -> Path:
    """Build without disputed questions, and verify the result with and without its sources."""
    dropped = [word for file in files for word in ("--drop", file)]
    succeed(*map(str, (*build, *dropped, *NEW)), "--out", out, "--no-progress")
    succeed("stressreel", "verify", out)
    folders = dict.fromkeys(str(file.parent) for file in files)
    assert "not checked" not in succeed("stressreel", "verify", out, "--sources", *folders).out
    assert {file.name for file in files} < info(out)["inputs"].keys()
    assert all(f"--drop {file.name}" in info(out)["command"] for file in files)
    assert all(f"--drop {file.name}" in (out / "README.md").read_text() for file in files)
    return out


def left_out(out: Path) -> set[tuple[str, str]]:
    listed = rows(out, "left_out")
    assert all(row["stage"] == "selection" for row in listed if row["reason"] == "disputed")
    return {(row["kind"], row["name"]) for row in listed if row["reason"] == "disputed"}


@pytest.fixture(scope="session")
def pairs(build_once: Callable[..., Path]) -> Path:
    return build_once(*CLAVI)


def test_pair_goes_as_a_whole(pairs: Path, tmp_path: Path) -> None:
    names = [row["pair_id"] for row in rows(pairs, "pairs")]
    out = without(tmp_path / "out", CLAVI, disputed(tmp_path / "d.json", f"{names[0]}_2_07", f"{names[0]}_1_00"))
    for table in ("questions", "pairs"):
        assert rows(out, table) == [row for row in rows(pairs, table) if row["pair_id"] != names[0]]
    assert ("pair", names[0]) in left_out(out)
    (line,) = (row for row in rows(out, "left_out") if row["name"] == names[0])
    assert f"{names[0]}_2_07: marked wrong" in line["detail"]
    assert line["line"] > 1
    assert names[0] in succeed("stressreel", "list", "left-out", out).out
    assert "pairs: 1 gone" in run("stressreel", "diff", pairs, out).out


@needs("sentence_transformers")
def test_row_goes_from_all_tables(build_once: Callable[..., Path], tmp_path: Path) -> None:
    before = build_once(*CAUSAL)
    tested, trained = (rows(before, "ud", split)[0]["qid"] for split in ("test", "train"))
    files = [disputed(tmp_path / f"{name}.json", name) for name in (tested, trained)]
    out = without(tmp_path / "out", CAUSAL, *files)
    for table in ("ud", "ps", "un", "causal_confusion", "open_ended"):
        kept = [row for row in rows(before, table) if row["qid"] not in (tested, trained)]
        assert rows(out, table) == kept
        assert len(kept) < len(rows(before, table))
    assert left_out(out) == {("question", tested), ("question", trained)}
    blind = info(out)["notes"]["blind"]["ud"]["test"]["answer"]["questions"]
    assert blind == len(rows(before, "ud", "test")) - 1


@needs("sentence_transformers")
def test_clip_that_only_disputed_questions_show_goes(built_causal: Path, tmp_path: Path) -> None:
    clips = [row["clip_id"] for row in rows(built_causal, "open_ended")]
    row = next(row for row in rows(built_causal, "open_ended") if clips.count(row["clip_id"]) == 1)
    build = ("build-causal", "--annotations", cached_sample("causal") / "Annotations.csv", "--splits", "UD")
    file = disputed(tmp_path / "d.json", row["qid"])
    said = succeed(*map(str, build), "--drop", file, *NEW, "--dry-run").out
    assert f"{len({*clips}) - 1} clips of" in said


def test_root_goes_if_its_graph_contains_the_question(build_once: Callable[..., Path], tmp_path: Path) -> None:
    build = (*DECOMP, 4)
    before = build_once(*build)
    graphs = rows(before, "graphs")
    shared = next(name for row in graphs for name in row["nodes"] if sum(name in each["nodes"] for each in graphs) == 3)
    gone = [row["root"] for row in graphs if shared in row["nodes"]]
    out = without(tmp_path / "out", build, disputed(tmp_path / "d.json", shared))
    assert [row["root"] for row in rows(out, "graphs")] == [row["root"] for row in graphs if row["root"] not in gone]
    meanings = {row["canonical_id"] for row in rows(before, "questions") if row["key"] in (shared, *gone)}
    assert not meanings & {row["canonical_id"] for row in rows(out, "questions")}
    assert {node for row in rows(out, "graphs") for node in row["nodes"]} == {r["key"] for r in rows(out, "questions")}
    assert left_out(out) == {("question", root) for root in gone}


def test_second_list_is_about_the_version_without_the_first(build_once: Callable[..., Path], tmp_path: Path) -> None:
    """Keys of shared questions change with the first list, and the last root takes its video with it."""
    build = (*DECOMP, 1)
    graphs = rows(build_once(*build), "graphs")
    first = disputed(tmp_path / "first.json", graphs[0]["root"])
    once = rows(without(tmp_path / "once", build, first), "graphs")
    moved = next(name for row in once for name in row["nodes"] if name not in {n for g in graphs for n in g["nodes"]})
    second = disputed(tmp_path / "second.json", moved)
    twice = rows(without(tmp_path / "twice", build, first, second), "graphs")
    assert [row["root"] for row in twice] == [row["root"] for row in once if moved not in row["nodes"]]
    refuses(run(*map(str, build), "--drop", second, "--drop", first, *NEW, "--dry-run"), "does not have", moved)
    every = disputed(tmp_path / "every.json", *(row["root"] for row in graphs))
    refuses(run(*map(str, build), "--drop", every, *NEW, "--out", tmp_path / "out"), "disputed: 40")


def test_published_graph_goes(once: Callable[..., Path], build_once: Callable[..., Path], tmp_path: Path) -> None:
    build = ("build-decomp", "--release-hierarchies", once("every-option-published", INPUTS["published"]))
    before = build_once(*build)
    root, out = rows(before, "graphs")[0]["root"], tmp_path / "out"
    succeed(*map(str, build), "--drop", disputed(tmp_path / "d.json", root), *NEW, "--out", out, "--no-progress")
    succeed("stressreel", "verify", out)
    kept = [row for row in rows(before, "graphs") if root not in row["nodes"]]
    assert rows(out, "graphs") == kept
    nodes = {name for row in kept for name in row["nodes"]}
    questions = {row["key"]: row for row in rows(before, "questions") if row["key"] in nodes}
    assert {row["key"]: row for row in rows(out, "questions")} == questions


def test_wrong_lists_are_refused(pairs: Path, tmp_path: Path) -> None:
    pair = rows(pairs, "pairs")[0]["pair_id"]
    question, file = f"{pair}_1_03", tmp_path / "d.json"

    def said(*words: str, code: int = 1, build: tuple[object, ...] = CLAVI, version: tuple[str, ...] = NEW) -> None:
        done = run(*map(str, build), "--drop", file, *version, "--out", tmp_path / "out")
        refuses(done, "--drop", *words, code=code)
        assert not (tmp_path / "out").exists()

    disputed(file, question, f"{pair}_1_99", "00000000_1_00", "x")
    said("3 questions", f"{pair}_1_99", "00000000_1_00", "x", "--seed")
    disputed(file, question)
    said("does not have", question, build=(*CLAVI, "--split", "train"))
    disputed(file, question, dataset_version="2.0.0")
    said("2.0.0", "--version", code=2)
    disputed(file)
    said("no effect", "names no questions")
    for change in ({"format": "stressreel answers"}, {"version": 2}, {"items": [{"question_id": 1}]}, {"items": None}):
        disputed(file, question, **change)
        said("d.json", "stressreel agreement")
    file.write_text("[" * 2000)
    said("d.json")
    disputed(file, "any")
    said("no effect", "no questions", code=2, build=("build-perturbed", "--msrvtt", "sample"))
    (tmp_path / "other").mkdir()
    again = disputed(tmp_path / "other" / "d.json", question)
    disputed(file, question)
    refuses(run(*map(str, CLAVI), "--drop", file, "--drop", again, *NEW, "--dry-run"), "same name", code=2)


def test_verify_asks_for_the_list_and_notices_another(pairs: Path, tmp_path: Path) -> None:
    first, second = (row["pair_id"] for row in rows(pairs, "pairs")[:2])
    (tmp_path / "lists").mkdir()
    file = disputed(tmp_path / "lists" / "d.json", f"{first}_1_00")
    out = without(tmp_path / "out", CLAVI, file)
    (tmp_path / "none").mkdir()
    assert "the input of --drop was not found" in run("stressreel", "verify", out, "--sources", tmp_path / "none").out
    disputed(file, f"{second}_1_00")
    done = run("stressreel", "verify", out, "--sources", file.parent)
    assert done.code == 1
    assert "inputs.d.json" in done.out
    record = json.loads((out / "build.json").read_text())
    record["settings"]["drop"] = []
    (out / "build.json").write_text(json.dumps(record, indent=2, ensure_ascii=False) + "\n")
    assert "the command is" in run("stressreel", "verify", out).out
