"""Every command that is a function, too: what it returns is what the command prints, and wrong values are refused."""

import asyncio
import json
import shutil
import webbrowser
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import stressreel
from commands import run
from endpoint import running
from extras import needs
from stressreel.core.errors import UsageError

PROGRAM = "Exists(phone, Iterate(Localize(after, opening a door), Filter(frame, [objects])))"
Places = dict[str, Path]


@pytest.fixture
def places(build_once: Callable[..., Path], tmp_path: Path) -> Places:
    """Outputs, read only, files of one's own, and where to write."""
    questions = [{"id": f"q{n}", "video_id": f"v{n}", "source_id": n, "question": f"Is it {n}?"} for n in range(4)]
    items = [{"id": n, "question": f"why {n}?", "answer": 1, "vid": n % 7} for n in range(28)]
    items = [{**row, "options": ["no", f"it was chased by dog {row['id']}", "a"]} for row in items]
    for name, rows in {"questions": questions, "items": items}.items():
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return {
        "clavi": build_once("build-clavi", "--charades", "sample", "--limit", 1, "--preset", "ultrafast"),
        **{name: tmp_path / f"{name}.jsonl" for name in ("questions", "items", "permuted")},
        "to": tmp_path / "to",
    }


@pytest.mark.parametrize(
    ("name", "given", "options"),
    [
        ("export_files", ("clavi",), {"to": "to"}),
        ("gallery", ("clavi",), {"to": "to", "embed": "none"}),
        ("permute", ("questions",), {"to": "permuted", "sets": 2}),
        ("decompose", (PROGRAM,), {}),
        ("audit", (), {"items": "items", "sbert": False, "resamples": 100}),
        *[("list_", (kind,), {}) for kind in ("benchmarks", "options", "text")],
        ("list_", ("left-out", "clavi"), {}),
    ],
)
def test_function_returns_what_command_prints(
    name: str, given: tuple[str, ...], options: dict[str, Any], places: Places
) -> None:
    chosen = {key: places.get(value, value) for key, value in options.items()}
    found = getattr(stressreel, name)(*(places.get(value, value) for value in given), **chosen)
    shutil.rmtree(places["to"], ignore_errors=True)
    places["permuted"].unlink(missing_ok=True)
    flags = [(f"--{key}", value) if value is not False else (f"--no-{key}",) for key, value in chosen.items()]
    words = [*name.rstrip("_").split("_"), *(places.get(value, value) for value in given), *sum(flags, ())]
    assert f"{found}\n" == run("stressreel", *words).out
    assert name.startswith(("export", "gallery")) or len(found.to_pandas())
    if name in ("list_", "decompose", "audit"):
        assert json.loads(found.render("json")) == json.loads(run("stressreel", *words, "--json").out)


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
    to = places["to"].with_name("audit")
    given = {"items": places["items"], "train": places["items"], "columns": {"source": "vid"}, "sbert": False}
    audited = stressreel.audit(**given, resamples=100, to=to)
    assert [audit["learnt_from_train"] for audit in audited.as_json()["audits"]] == [28]
    assert audited.as_json() == json.loads((to / "audit.json").read_text())
    assert (to / "audit.md").read_text() == audited.as_markdown()
    drawn = stressreel.decompose(PROGRAM, dot=True)
    assert f"{drawn}\n" == run("stressreel", "decompose", PROGRAM, "--dot").out
    assert drawn.to_pandas("edges")["parent"].max() == len(drawn.steps) - 1


YES_NO = {"yes/no", "yes/no, video complement pairs", "yes/no, text complement pairs"}


@needs("sklearn")
@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("four_pairs", YES_NO),
        ("built_recipes", {"caption"}),
        pytest.param("built_graphs", {"yes/no", "choice"}, marks=pytest.mark.full),
        pytest.param("built_causal", {"answer", "explanation", "both"}, marks=pytest.mark.full),
    ],
)
def test_outputs_are_audited_by_their_own_questions(name: str, parts: set[str], request: pytest.FixtureRequest) -> None:
    found = stressreel.audit(request.getfixturevalue(name), sbert=False, resamples=100)
    assert {audit["part"] for audit in found.as_json()["audits"]} == parts


@needs("sentence_transformers")
def test_mine_returns_what_it_writes(tmp_path: Path) -> None:
    out = tmp_path / "a.jsonl"
    found = stressreel.mine("sample", balance="none", max_lend=0, ties="id", progress=False, out=out)
    assert found.as_json() == [json.loads(line) for line in out.read_text().splitlines()]
    columns = ["id", "split", "kind", "question", "right", *(f"wrong_{n}" for n in range(1, 5))]
    assert [*found.to_pandas()] == columns


@pytest.mark.parametrize(
    ("name", "arguments", "options"),
    [
        ("verify", (b"x",), {}),
        ("verify", ("x",), {"decode": "yes"}),
        ("permute", ("x",), {"sets": 5.0}),
        ("score", (None, "x"), {}),
        ("gallery", ("x",), {"to": "y", "embed": "nothing"}),
        ("list_", ("left-out",), {}),
        ("list_", ("visual", "x"), {}),
        ("audit", (), {"items": "x", "columns": "vid"}),
        ("score_modalities", ("x", ["video=v"]), {}),
        ("compare", (), {}),
        ("mine", ("sample",), {"out": "a.txt"}),
        ("mine", ("sample",), {"colour": 1}),
        ("ask", ("x",), {"dry_run": True, "prices": 1}),
        ("build_clavi", (), {"charades": "sample", "dry_run": True, "out": ""}),
    ],
)
def test_wrong_argument_is_refused(name: str, arguments: tuple[Any, ...], options: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match=r"^(?!.*does not exist)"):
        getattr(stressreel, name)(*arguments, **options)


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
    assert to.read_text() == (tmp_path / "b.jsonl").read_text()
    assert found.as_json() == json.loads((tmp_path / "a.json").read_text())
    assert found.to_pandas().to_dict("records") == [
        {"modalities": "video", "file": str(to), "answers": 3, "unreadable": 0, "cut short": 0, "no answer": 0}
    ]
