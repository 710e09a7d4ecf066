import json
import re
from pathlib import Path

import pytest
from browsing import HOSTILE
from commands import refuses, rows, run, succeed
from stressreel.builders import benchmark_of
from stressreel.core.output import open_output
from stressreel.data_cards.annotate import pages
from stressreel.data_cards.annotate.pages import session, write_pages
from stressreel.evaluation.people import CONDITIONS, Item, Plan, plan

TELLING = re.compile(r"original|complement|counterpart|negative|\bV′|correct", re.IGNORECASE)


def written(out, to, *arguments):
    succeed("stressreel", "annotate", out, "--to", to, "--no-progress", *arguments)
    return to


def shown(folder):
    """What the pages know about the items."""
    return json.loads(re.fullmatch(r"annotateItems\((.*)\);\n", (folder / "data/items.js").read_text("utf-8"), re.S)[1])


@pytest.mark.parametrize(
    ("fixture", "table", "key"), [("built", "questions", "question_id"), ("built_graphs", "questions", "key")]
)
@pytest.mark.parametrize("condition", CONDITIONS)
def test_no_file_tells_ids_kinds_or_answers(fixture, table, key, condition, request, tmp_path):
    out = request.getfixturevalue(fixture)
    folder = written(out, tmp_path / "pages", "--condition", condition, "--items", 40)
    questions = rows(out, table)
    names = {
        str(row[column]) for row in questions for column in (key, "video_id", "source_id", "pair_id") if column in row
    }
    kinds = {str(row[name]) for row in questions for name in ("kind", "group", "template_id", "program") if name in row}
    ids, kinds = ({text for text in texts if len(text) > 5} for texts in (names, kinds))
    assert len(ids) > 10
    for path in folder.rglob("*"):
        if path.is_file():
            content = path.read_bytes().decode("utf-8", "replace")
            secrets = ids if path.parent.name == "annotate" else ids | kinds  # scripts are the same on all pages
            assert not [text for text in secrets if text in content or text in path.name], path
            assert path.suffix == ".mp4" or not TELLING.search(content), path
    known = shown(folder)
    assert {tuple(item) for item in known["shown"]} == {("key", "film", "question", "options")}
    assert all(re.fullmatch(r"[0-9a-f]{12}", item["key"]) for item in known["shown"])
    assert all((item["film"] is None) == (condition == "text") for item in known["shown"])
    assert all((item["question"] == "") == (condition == "video") for item in known["shown"])
    files = {path.relative_to(folder).as_posix() for path in folder.glob("media/*")}
    assert files == {item["film"] for item in known["shown"] if item["film"]}


def test_videos_are_those_of_the_questions(built_causal, tmp_path):
    folder = written(built_causal, tmp_path / "pages")
    output = open_output(built_causal)
    drawn = plan(output, benchmark_of(output), items=200, seed=1)
    stored = {row["clip_id"]: row["video"]["bytes"] for row in rows(built_causal, "clips")}
    asked = {row["qid"]: row for row in rows(built_causal, drawn.config)}
    for item, entry in zip(drawn.items, shown(folder)["shown"], strict=True):
        row = asked[item.question_id]
        assert (entry["question"], entry["options"]) == (row["question"], row["options"])
        assert (folder / entry["film"]).read_bytes() == stored[row["clip_id"]]


def test_pages_run_nothing_of_a_question(built, tmp_path):
    output = open_output(built)
    item = Item("0" * 12, "id", None, HOSTILE, (HOSTILE, "b"))
    hostile = Plan("clavi", "f" * 64, 1, 1, "text", "questions", "test", (item,))
    write_pages(output, hostile, (), tmp_path / "pages")
    assert "</script>" not in (tmp_path / "pages/data/items.js").read_text("utf-8")
    assert shown(tmp_path / "pages")["shown"][0]["question"] == HOSTILE
    page = (tmp_path / "pages/index.html").read_text("utf-8")
    assert "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; media-src 'self';" in page
    assert not re.search(r"unsafe|<script(?![^>]* src=)|<style|\son\w+=|\sstyle=", page)
    assert {f"annotate/{path.name}" for path in pages.static_files()} | {pages.ITEMS} == set(
        re.findall(r'(?:src|href)="((?:annotate|data)/[^"]*)"', page)
    )
    for path in pages.static_files():
        code = path.read_text("utf-8")
        assert set(re.findall(r"https?://[^\s\"')]+", code)) <= {"http://www.w3.org/2000/svg"}
        assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function", code)


def test_scripts_stay_small():
    lines = sum(len(path.read_text("utf-8").splitlines()) for path in Path(pages.__file__).parent.glob("*.js"))
    assert lines <= 450


def test_pages_refuse_what_people_cannot_answer(built_suite, build_once, tmp_path):
    done = run("stressreel", "annotate", built_suite, "--to", tmp_path / "a")
    refuses(done, "build-perturbed", "no questions with options")
    bare = build_once("build-clavi", "--charades", "sample", "--limit", 1, "--no-render")
    refuses(run("stressreel", "annotate", bare, "--to", tmp_path / "a"), "no videos", "--no-render", "--condition text")
    assert not (tmp_path / "a").exists()
    assert run("stressreel", "annotate", bare, "--to", tmp_path / "a", "--condition", "text").code == 0


def test_other_pages_are_not_mixed(built, tmp_path):
    to = written(built, tmp_path / "pages", "--condition", "text")
    refuses(run("stressreel", "annotate", built, "--to", to, "--seed", 2, "--condition", "text"), "--force")
    written(built, to, "--seed", 2, "--condition", "text", "--force")
    assert shown(to)["seed"] == 2


def test_session_names_what_the_answers_belong_to(built):
    output = open_output(built)
    drawn = plan(output, benchmark_of(output), items=5, seed=3, condition="text")
    known = session(drawn, {})
    assert (known["fingerprint"], known["seed"], known["items"], known["condition"]) == (output.asked, 3, 5, "text")
