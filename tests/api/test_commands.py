"""Every command that is a function, too: what it returns is what the command prints, and wrong values are refused."""

from __future__ import annotations

import asyncio
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
from commands import refuses, run
from endpoint import running
from extras import needs
from stressreel.api.ask import find_clips, read_questions
from stressreel.core.errors import InputError, UsageError
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
def test_function_returns_what_command_prints(name: str, places: Places) -> None:
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


def test_results_equal_written_files(places: Places, monkeypatch: pytest.MonkeyPatch) -> None:
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
def test_mine_returns_what_command_writes(tmp_path: Path) -> None:
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


@pytest.mark.parametrize(
    ("name", "arguments", "options"),
    [
        ("verify", (b"x",), {}),
        ("verify", ("x",), {"decode": "yes"}),
        ("verify", ("x",), {"workers": 0}),
        ("permute", ("x",), {"sets": 5.0}),
        ("score", (None, "x"), {}),
        ("score", ("x", "y"), {"first_index": 2}),
        ("gallery", ("x",), {"to": "y", "embed": "nothing"}),
        ("gallery", ("x",), {"to": "y", "limit": 0}),
        ("export_files", ("x",), {"to": "y", "force": "yes"}),
        ("list_", ("sound",), {}),
        ("list_", ("left-out",), {}),
        ("list_", ("visual", "x"), {}),
        ("decompose", ("x",), {"question": 3}),
        ("audit", (), {"items": "x", "columns": "vid"}),
        ("score_modalities", ("x", ["video=v"]), {}),
        ("compare", (), {}),
        ("mine", ("sample",), {"out": "a.txt"}),
        ("mine", ("sample",), {"colour": 1}),
        ("ask", ("x",), {"dry_run": True, "prices": 1}),
        ("ask", ("x",), {"dry_run": True, "send": "sound"}),
    ],
)
def test_wrong_argument_is_refused(name: str, arguments: tuple[Any, ...], options: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match=r"^(?!.*does not exist)"):
        getattr(stressreel, name)(*arguments, **options)


def test_explaining_takes_no_options_of_scores(built: Path, tmp_path: Path) -> None:
    refuses(run("stressreel", "score", "explain", built, "--question", "x"), "PREDICTIONS is missing", code=2)
    given = ("--predictions", tmp_path / "p.jsonl", "--question", "x")
    refuses(run("stressreel", "score", "explain", built, *given, "--partial"), "--partial", code=2)


def test_output_changed_after_reading_questions_is_refused(built: Path, tmp_path: Path) -> None:
    out = shutil.copytree(built, tmp_path / "out")
    asked = read_questions(out, (), None, (), 1)
    info = json.loads((out / "build.json").read_text())
    (out / "build.json").write_text(json.dumps({**info, "settings": True}))
    with pytest.raises(InputError, match="is inconsistent"):
        find_clips(asked, None)


def test_output_without_fingerprint_is_refused(built: Path, tmp_path: Path) -> None:
    out = shutil.copytree(built, tmp_path / "out")
    info = json.loads((out / "build.json").read_text())
    del info["fingerprint"]
    (out / "build.json").write_text(json.dumps(info))
    with pytest.raises(InputError, match="is damaged"):
        stressreel.read(out).items()


@pytest.mark.parametrize(("arguments", "options"), [(("sample", "mined.jsonl"), {}), (("sample",), {"questions": "x"})])
def test_only_the_questions_of_mine_are_positional(arguments: tuple[str, ...], options: dict[str, str]) -> None:
    with pytest.raises(TypeError, match="questions"):
        stressreel.mine(*arguments, **options)


@pytest.mark.parametrize("options", [{"charades": ""}, {"out": ""}, {"rules": None}, {"ray_address": ""}])
def test_empty_values_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match=r"not allowed\. Leave it out"):
        stressreel.build_clavi(**{"charades": "sample", "dry_run": True} | options)


@needs("openai")
def test_ask_returns_what_command_prints(built: Path, tmp_path: Path) -> None:
    to = tmp_path / "a.jsonl"
    with running() as server:
        asked = {"endpoint": server.url, "model": "m", "frames": 1, "limit": 3, "prices": (1, 10)}
        found = stressreel.ask(built, to=to, request={"top_p": 1}, **asked)
        options = ("--endpoint", server.url, "--model", "m", "--frames", 1, "--limit", 3, "--prices", "1,10")
        done = run("stressreel", "ask", built, "--to", to, "--request", '{"top_p": 1}', *options)

        async def notebook() -> None:  # where a loop runs already
            stressreel.ask(built, to=tmp_path / "b.jsonl", request={"top_p": 1}, **asked)

        asyncio.run(notebook())
    assert (done.code, done.out, found.files) == (0, f"{found}\n", {"video": to})
    assert len(to.read_text().splitlines()) == 3
    assert to.read_text() == (tmp_path / "b.jsonl").read_text()
    assert found.as_json() == json.loads((tmp_path / "a.json").read_text())
    assert found.to_pandas().to_dict("records") == [
        {"modalities": "video", "file": str(to), "answers": 3, "unreadable": 0, "cut short": 0, "no answer": 0}
    ]
