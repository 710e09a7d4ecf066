"""Every command that is a function, too: what it returns is what the command prints, and wrong values are refused."""

from __future__ import annotations

import inspect
import json
import shutil
import webbrowser
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import stressreel
from commands import run
from extras import needs
from stressreel.core.settings import options_of
from stressreel.negatives.settings import MineSettings

PROGRAM = "Exists(phone, Iterate(Localize(after, opening a door), Filter(frame, [objects])))"
MINED = {"balance": "none", "max_lend": 0, "ties": "id", "progress": False}
Places = dict[str, Path]
Case = tuple[Callable[..., Any], tuple[object, ...], dict[str, object], tuple[object, ...]]


@pytest.fixture
def places(build_once: Callable[..., Path], built_graphs: Path, tmp_path: Path) -> Places:
    """Outputs, read only, files of one's own, and where to write."""
    questions = [{"id": f"q{n}", "video_id": f"v{n}", "source_id": n, "question": f"Is it {n}?"} for n in range(4)]
    items = [{"id": n, "question": f"why {n}?", "answer": 1, "vid": n % 7} for n in range(28)]
    items = [{**row, "options": ["no", f"it was chased by dog {row['id']}", "a"]} for row in items]
    for name, rows in {"questions": questions, "items": items}.items():
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return {
        "clavi": build_once("build-clavi", "--charades", "sample", "--limit", 1, "--preset", "ultrafast"),
        "graphs": built_graphs,
        "questions": tmp_path / "questions.jsonl",
        "items": tmp_path / "items.jsonl",
        "to": tmp_path / "to",
        "file": tmp_path / "p.jsonl",
    }


CASES: dict[str, Case] = {
    **{
        f"export {name}": (
            getattr(stressreel, f"export_{name}", None) or partial(stressreel.export_tasks, harness=name),
            ("graphs" if name == "released" else "clavi",),
            {"to": "to"},
            ("export", name, "graphs" if name == "released" else "clavi", "--to", "to"),
        )
        for name in ("lmms-eval", "inspect", "files", "webdataset", "released")
    },
    **{f"list {kind}": (stressreel.list_, (kind,), {}, ("list", kind)) for kind in ("benchmarks", "options", "text")},
    "list left-out": (stressreel.list_, ("left-out", "clavi"), {}, ("list", "left-out", "clavi")),
    "gallery": (
        *(stressreel.gallery, ("clavi",), {"to": "to", "embed": "none"}),
        ("gallery", "clavi", "--to", "to", "--embed", "none"),
    ),
    "permute": (
        *(stressreel.permute, ("questions",), {"to": "file", "sets": 2}),
        ("permute", "questions", "--to", "file", "--sets", 2),
    ),
    "decompose": (stressreel.decompose, (PROGRAM,), {}, ("decompose", PROGRAM)),
    "audit": (
        stressreel.audit,
        (),
        {"items": "items", "columns": {"source": "vid"}, "sbert": False, "resamples": 100},
        ("audit", "--items", "items", "--columns", "source=vid", "--no-sbert", "--resamples", 100),
    ),
}
JSON = ("list", "decompose", "audit")  # these print their results as JSON, too


@pytest.mark.parametrize("name", CASES)
def test_the_result_is_what_the_command_prints(name: str, places: Places) -> None:
    function, given, options, words = CASES[name]

    def placed(value: Any) -> Any:
        return places.get(value, value) if isinstance(value, str) else value

    found = function(*map(placed, given), **{key: placed(value) for key, value in options.items()})
    if places["to"].exists():
        shutil.rmtree(places["to"])
    places["file"].unlink(missing_ok=True)
    arguments = [placed(word) for word in words]
    assert f"{found}\n" == run("stressreel", *arguments).out
    assert name.startswith(("export", "gallery")) or len(found.to_pandas())
    if name.startswith(JSON):
        assert json.loads(found.render("json")) == json.loads(run("stressreel", *arguments, "--json").out)


def test_what_results_hold(places: Places, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []
    monkeypatch.setattr(webbrowser, "open", opened.append)
    page = stressreel.gallery(places["clavi"], to=places["to"], embed="none", open=True)
    assert opened == [page.page.as_uri()]
    assert f'<a href="{page.page.as_uri()}"' in page._repr_html_()
    tasks = stressreel.export_tasks(places["clavi"], harness="lmms-eval", to=places["to"].with_name("tasks"))
    names = tasks.to_pandas()["task"].tolist()
    assert names == [f"stressreel_clavi_{task.name}" for task in tasks.tasks]
    assert all((places["to"].with_name("tasks") / f"{name}.yaml").is_file() for name in names)
    permuted = stressreel.permute(places["questions"], to=places["file"], sets=2)
    written = [json.loads(line) for line in places["file"].read_text().splitlines()]
    assert permuted.to_pandas().to_dict("records") == written
    assert (permuted.items, len(written)) == (4, 16)
    to = places["to"].with_name("audit")
    audited = stressreel.audit(items=places["items"], sbert=False, resamples=100, to=to)
    assert audited.as_json() == json.loads((to / "audit.json").read_text())
    assert (to / "audit.md").read_text() == audited.as_markdown()
    assert {"cue", "alone", "lost without"} <= {*audited.to_pandas("worth")}
    asked = stressreel.decompose(PROGRAM)
    drawn = stressreel.decompose(PROGRAM, dot=True)
    assert f"{drawn}\n" == f"{asked.render('dot')}\n" == run("stressreel", "decompose", PROGRAM, "--dot").out
    assert asked.to_pandas("edges")["parent"].max() == len(asked.steps) - 1


@needs("sentence_transformers")
def test_mined_questions_are_those_that_the_command_writes(tmp_path: Path) -> None:
    found = stressreel.mine("sample", **MINED)
    assert any("occurs least often" in note for note in found.notes)
    options = ("--balance", "none", "--max-lend", 0, "--ties", "id", "--no-progress")
    out = tmp_path / "a.jsonl"
    done = run("stressreel", "mine", "--questions", "sample", *options, "--out", out)
    assert done.out == f"wrote {out}: {str(found).removeprefix('not written (use --out FILE or --json): ')}\n"
    assert found.as_json() == [json.loads(line) for line in out.read_text().splitlines()]
    columns = ["id", "split", "kind", "question", "right", *(f"wrong_{n}" for n in range(1, 5))]
    assert [*found.to_pandas()] == columns
    parameters = inspect.signature(stressreel.mine).parameters
    assert {*parameters} == {each.name for each in options_of(MineSettings)}
    assert all(f"\n    {name}: " in str(stressreel.mine.__doc__) for name in parameters)
