"""`stressreel ask` against a server on loopback and a tiny model: what is asked, kept, written and counted."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import tiny_models
from commands import Ran, refuses, rows, run, start, wait_until
from endpoint import Body, Slow, Status, completion, running
from stressreel.annotations.samples.cache import cached_sample

pytest.importorskip("openai", reason="the extra ask is not installed")
KEY = "sk-very-secret-0123456789"


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setattr("openai._base_client.INITIAL_RETRY_DELAY", 0.01)
    monkeypatch.setattr("openai._base_client.MAX_RETRY_DELAY", 0.02)


def ask(out: Path, url: str, to: Path, *more: object) -> Ran:
    return run("stressreel", "ask", out, "--endpoint", url, "--model", "m", "--to", to, "--frames", 2, *more)


def read(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def score(out: Path, file: Path, *more: object) -> dict[str, Any]:
    done = run("stressreel", "score", out, "--predictions", file, "--json", "--resamples", 100, *more)
    assert done.code == 0, done.err
    return dict(json.loads(done.out))


def text_of(request: dict[str, Any]) -> str:
    return str(request["messages"][0]["content"][-1]["text"])


def test_right_answers_are_scored_as_right(built: Path, tmp_path: Path) -> None:
    """The server knows a question by its text and its video by the frames, as a model would."""
    seen: dict[str, str] = {}
    for row in rows(built, "questions", "test"):
        seen.setdefault(row["question"], ("no", "yes")[row["answer"]])
    with running(lambda request, before: seen[text_of(request).split("\n")[0]].title() + ".") as server:
        done = ask(built, server.url, tmp_path / "a.jsonl", "--prices", "1,10")
    assert done.code == 0, done.err
    asked = rows(built, "questions", "test")
    assert f"{len(asked)} answers, 0 of them unreadable, 0 cut short" in done.out
    assert f"cost {len(asked) * (100 + 20) / 1e6:.4f}" in done.out
    assert f"stressreel score {built} --predictions {tmp_path / 'a.jsonl'} --split test" in done.out
    assert server.pictures() == [2] * len(asked)
    found = score(built, tmp_path / "a.jsonl")
    expected = sum(seen[row["question"]] == ("no", "yes")[row["answer"]] for row in asked) / len(asked)
    assert found["headline"]["accuracy"]["value"] == pytest.approx(expected)
    record = json.loads((tmp_path / "a.json").read_text())
    assert record["requests"] == {"answered": len(asked), "failed": 0, "cut": 0}
    assert record["tokens"] == {"sent": 100 * len(asked), "answered": 2 * len(asked), "uncounted": 0}
    assert (record["temperature"], record["seed"], record["models"]) == (0, 0, ["loopback-1"])
    assert record["shown"] == {"frames": 2, "size": 448, "quality": 90}
    assert record["prompts"]["version"] >= 4


def test_no_file_holds_the_key(built: Path, tmp_path: Path) -> None:
    with running() as server:
        assert ask(built, server.url, tmp_path / "a.jsonl", "--limit", 2).code == 0
    assert server.keys == {f"Bearer {KEY}"}
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert len(files) >= 3
    assert not any(KEY.encode() in path.read_bytes() for path in files)


def test_the_same_questions_at_any_number_at_once(built: Path, tmp_path: Path) -> None:
    with running(lambda request, before: "yes" if len(text_of(request)) % 2 else "no") as server:
        for at_once in (1, 7):
            to = tmp_path / str(at_once) / "a.jsonl"
            assert ask(built, server.url, to, "--at-once", at_once, "--limit", 30).code == 0
    assert (tmp_path / "1" / "a.jsonl").read_bytes() == (tmp_path / "7" / "a.jsonl").read_bytes()


def test_what_was_answered_is_not_asked_again(built: Path, tmp_path: Path) -> None:
    to = tmp_path / "a.jsonl"
    with running() as server:
        assert ask(built, server.url, to, "--limit", 10).code == 0
        assert len(server.requests) == 10
        assert ask(built, server.url, to, "--limit", 10).code == 0
        assert len(server.requests) == 10
        assert ask(built, server.url, to, "--limit", 14).code == 0
        assert len(server.requests) == 14
        assert len(read(to)) == 14
        refuses(ask(built, server.url, to, "--seed", 1), "seed 0; now: seed 1", "--fresh")
        assert ask(built, server.url, to, "--seed", 1, "--limit", 3, "--fresh").code == 0
        assert len(server.requests) == 17


def test_a_killed_run_goes_on(built: Path, tmp_path: Path) -> None:
    to, journal = tmp_path / "a.jsonl", tmp_path / "a.journal"
    with running(lambda request, before: Slow(0.02)) as server:
        arguments = (built, "--endpoint", server.url, "--model", "m", "--to", to, "--at-once", 2, "--frames", 1)
        process = start("stressreel", "ask", *arguments)
        wait_until(lambda: journal.exists() and journal.read_bytes().count(b"\n") >= 6, process)
        os.kill(process.pid, signal.SIGKILL)
        process.communicate()
        assert not to.exists()
        kept = journal.read_bytes().count(b"\n") - 1
        assert kept >= 5
        before = len(server.requests)
        done = run("stressreel", "ask", *arguments)
        assert done.code == 0, done.err
        total = len(rows(built, "questions", "test"))
        assert len(server.requests) - before == total - kept
    assert len(read(to)) == total


def test_passing_faults_cost_nothing_and_lasting_ones_are_told(built: Path, tmp_path: Path) -> None:
    to = tmp_path / "a.jsonl"
    with running(
        lambda request, before: Status(500) if before == 0 and len(text_of(request)) % 3 == 0 else "yes"
    ) as server:
        assert ask(built, server.url, to, "--limit", 20).code == 0
    assert len(server.requests) > 20
    other = tmp_path / "b.jsonl"
    bad = rows(built, "questions", "test")[3]["question"]
    with running(lambda request, before: Body(b"{") if bad in text_of(request) else "yes") as server:
        failed = ask(built, server.url, other, "--limit", 10)
        refuses(failed, "of 10 requests got no answer", "not what an endpoint sends", "run the same command again")
        assert not other.exists()
        asked = len(server.requests)
        done = ask(built, server.url, other, "--limit", 10, "--partial")
        assert done.code == 0, done.err
        assert len(server.requests) - asked == 10 - len(read(other))
        assert 0 < len(read(other)) < 10
    with running() as server:
        moved = json.loads((tmp_path / "b.journal").read_text().splitlines()[0])["endpoint"]
        assert moved != server.url
        refuses(ask(built, server.url, other, "--limit", 10), "were asked otherwise")


def test_a_server_that_only_fails_is_left_alone(built: Path, tmp_path: Path) -> None:
    with running(lambda request, before: Status(500, "down")) as server:
        refuses(
            ask(built, server.url, tmp_path / "a.jsonl", "--retries", 0, "--at-once", 1), "the last 10 requests", "down"
        )
    assert len(server.requests) == 10
    with running(lambda request, before: Status(401, "no such key")) as server:
        refuses(ask(built, server.url, tmp_path / "b.jsonl", "--at-once", 4), "OPENAI_API_KEY")
    assert len(server.requests) <= 8


def test_unreadable_answers_are_kept_and_counted(built_causal: Path, tmp_path: Path) -> None:
    with running(lambda request, before: "perhaps A, perhaps B") as server:
        done = ask(built_causal, server.url, tmp_path / "a.jsonl", "--config", "ud")
    assert done.code == 0, done.err
    found = read(tmp_path / "a.jsonl")
    assert f"{2 * len(found)} answers, {2 * len(found)} of them unreadable" in done.out
    assert {(row["answer"], row["explanation"], row["config"]) for row in found} == {
        ("perhaps A, perhaps B", "perhaps A, perhaps B", "ud")
    }
    assert score(built_causal, tmp_path / "a.jsonl", "--config", "ud")["headline"]["A"]["value"] == 0


def test_every_table_of_a_causal_output_is_asked_and_scored(built_causal: Path, tmp_path: Path) -> None:
    with running(lambda request, before: completion("B", "length")) as server:
        done = ask(built_causal, server.url, tmp_path / "a.jsonl")
    assert done.code == 0, done.err
    lines = [line for line in done.out.splitlines() if line.startswith("stressreel score ")]
    assert len(lines) == 5
    for table in ("ud", "ps", "un", "causal_confusion"):
        assert any(f"--config {table} " in line for line in lines)
        right = [row["answer_index"] == 1 for row in rows(built_causal, table, "test")]
        found = score(built_causal, tmp_path / "a.jsonl", "--config", table, "--out", tmp_path / table)
        assert found["headline"]["A"]["value"] == pytest.approx(sum(right) / len(right))
    assert any(line.startswith("stressreel score open-ended") for line in lines)


def test_a_suite_is_asked_by_setting(build_once: Callable[..., Path], tmp_path: Path) -> None:
    given = ("--msrvtt", "sample", "--severity", "1,3", "--perturbations", "jpeg", "--modality", "all")
    suite = build_once("build-perturbed", *given, "--text-perturbations", "random_noun", "--tagger", "pattern")
    with running(lambda request, before: "A") as server:
        done = ask(suite, server.url, tmp_path / "a.jsonl", "--setting", "clean", "--setting", "jpeg-?")
    assert done.code == 0, done.err
    found = read(tmp_path / "a.jsonl")
    assert {row["setting"] for row in found} == {"clean", "jpeg-1", "jpeg-3"}
    assert {row["raw"] for row in found} == {"A"}
    assert score(suite, tmp_path / "a.jsonl", "--partial")["answers"]["unreadable"] == 0


def test_a_suite_of_recipes_is_asked_on_the_fly(build_once: Callable[..., Path], tmp_path: Path) -> None:
    given = ("--msrvtt", "sample", "--severity", 3, "--perturbations", "jpeg", "--no-render")
    recipes = build_once("build-perturbed", *given)
    with running(lambda request, before: "A") as server:
        refuses(ask(recipes, server.url, tmp_path / "a.jsonl"), "--videos", code=2)
        more = ("--videos", cached_sample("msrvtt"), "--limit", 2)
        refuses(ask(recipes, server.url, tmp_path / "a.jsonl", *more, "--send", "video"), "recipes, not videos", code=2)
        done = ask(recipes, server.url, tmp_path / "b.jsonl", *more)
    assert done.code == 0, done.err
    assert [row["setting"] for row in read(tmp_path / "b.jsonl")] == ["clean"] * 2 + ["jpeg-3"] * 2
    assert server.pictures() == [2] * 4


def test_modalities_of_own_items_make_importance(built: Path, tmp_path: Path) -> None:
    """Two commands from a file of questions to modality importance."""
    (tmp_path / "videos").mkdir()
    names = ["v", "w"]
    for name, row in zip(names, rows(built, "videos"), strict=False):
        (tmp_path / "videos" / f"{name}.mp4").write_bytes(row["video"]["bytes"])
    asked = {"question": "Which?", "options": ["a", "b"], "answer": "b"}
    said = ["It is b."] * 4 + ["Hm."] * 4
    lines = [
        {**asked, "id": str(number), "video_id": names[number % 2], "subtitles": text}
        for number, text in enumerate(said)
    ]
    items = tmp_path / "q.jsonl"
    items.write_text("\n".join(map(json.dumps, lines)))

    def behave(request: dict[str, Any], before: int) -> str:
        return "B" if "It is b." in text_of(request) else "A"

    with running(behave) as server:
        to = tmp_path / "answers"
        done = ask(items, server.url, to, "--videos", tmp_path / "videos", "--modalities", "video,text,both")
    assert done.code == 0, done.err
    assert sorted(set(server.pictures())) == [0, 2]
    assert len(server.requests) == 24
    command = next(line for line in done.out.splitlines() if line.startswith("stressreel score modalities"))
    scored = run(*command.split(), "--json")
    assert scored.code == 0, scored.err
    counts = {row["category"]: row["questions"] for row in json.loads(scored.out)["categories"]}
    assert counts["text-biased"] == 4
    assert counts["modality-agnostic incorrect"] == 4


def test_blind_asks_without_videos(build_once: Callable[..., Path], tmp_path: Path) -> None:
    out = build_once("build-clavi", "--charades", "sample", "--no-render")
    with running() as server:
        refuses(ask(out, server.url, tmp_path / "a.jsonl"), "holds no videos", "blind", code=2)
        done = ask(out, server.url, tmp_path / "a.jsonl", "--modalities", "blind")
        assert done.code == 0, done.err
    assert set(server.pictures()) == {0}


def test_a_dry_run_counts_and_sends_nothing(built: Path, tmp_path: Path) -> None:
    with running() as server:
        done = ask(
            built, server.url, tmp_path / "a.jsonl", "--dry-run", "--prices", "1,2", "--modalities", "video,blind"
        )
    assert done.code == 0, done.err
    assert not server.requests
    assert not [*tmp_path.iterdir()]
    asked = len(rows(built, "questions", "test"))
    assert f"{2 * asked} requests, {len({r['video_id'] for r in rows(built, 'questions', 'test')})} clips" in done.out
    assert f"{2 * asked} pictures, those of the first clip" in done.out
    assert "at most about" in done.out
    assert run("stressreel", "ask", built, "--dry-run").code == 0


def test_a_model_that_runs_here_answers(built: Path, once: Callable[[str, Any], Path], tmp_path: Path) -> None:
    pytest.importorskip("transformers")

    def made(folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        tiny_models.write_qwen2_vl(folder)

    model = once("qwen2-vl", made)
    arguments = ("ask", built, "--transformers", model, "--to", tmp_path / "a.jsonl", "--limit", 3, "--frames", 2)
    done = run("stressreel", *arguments, "--max-tokens", 2)
    assert done.code == 0, done.err
    assert len(read(tmp_path / "a.jsonl")) == 3
    record = json.loads((tmp_path / "a.json").read_text())
    assert (record["decoding"], record["dtype"]) == ("greedy", "float32")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--to", "a.jsonl"), "give either --endpoint"),
        (("--to", "a.jsonl", "--endpoint", "http://h/v1"), "go together"),
        (("--to", "a.jsonl", "--endpoint", "http://h/v1", "--model", "m", "--transformers", "x"), "give either"),
        (("--to", "a.jsonl", "--transformers", "x", "--send", "video"), "goes with --endpoint"),
        (("--to", "a.jsonl", "--endpoint", "http://u:p@h/v1", "--model", "m"), "--key-variable"),
        (("--endpoint", "http://h/v1", "--model", "m"), "--to is missing"),
        (("--to", "a.csv", "--endpoint", "http://h/v1", "--model", "m"), "ends in .jsonl"),
        (
            ("--to", "a.jsonl", "--endpoint", "http://h/v1", "--model", "m", "--config", "none"),
            "has no questions in a table",
        ),
        (("--to", "a.jsonl", "--endpoint", "http://h/v1", "--model", "m", "--setting", "clean"), "matches no setting"),
        (("--to", "a.jsonl", "--endpoint", "http://h/v1", "--model", "m", "--prices", "1"), "two prices"),
        (("--to", "a.jsonl", "--endpoint", "http://h/v1", "--model", "m", "--modalities", "text"), "has subtitles"),
        (("--to", "a.jsonl", "--endpoint", "http://h/v1", "--model", "m", "--request", "{"), "--request is not JSON"),
    ],
)
def test_wrong_usage_is_said_before_anything_is_asked(built: Path, tmp_path: Path, arguments: Any, said: str) -> None:
    refuses(run("stressreel", "ask", built, *arguments, cwd=tmp_path), said, code=2)
    assert not [*tmp_path.iterdir()]


def test_questions_are_not_written_over(tmp_path: Path) -> None:
    questions = tmp_path / "q.json"
    questions.write_text(json.dumps([{"id": "a", "question": "Is it?"}]))
    before = questions.read_bytes()
    with running() as server:
        refuses(
            ask(questions, server.url, tmp_path / "q.jsonl", "--modalities", "blind"), "holds the questions", code=2
        )
        (tmp_path / "b.json").write_text("mine")
        refuses(ask(questions, server.url, tmp_path / "b.jsonl", "--modalities", "blind"), "is there already", code=2)
        assert not server.requests
        assert ask(questions, server.url, tmp_path / "c.jsonl", "--modalities", "blind").code == 0
    assert questions.read_bytes() == before


def test_one_bad_clip_takes_its_own_questions_alone(built: Path, tmp_path: Path) -> None:
    (tmp_path / "bad.mp4").write_bytes(b"no video")
    (tmp_path / "good.mp4").write_bytes(rows(built, "videos")[0]["video"]["bytes"])
    asked = [{"id": f"b{n}", "question": "Is it?", "video_id": "bad"} for n in range(12)]
    asked += [{"id": f"g{n}", "question": "Is it?", "video_id": "good"} for n in range(3)]
    asked.append({"id": "late", "question": "Is it?", "video_id": "good", "start": 999})
    (tmp_path / "q.jsonl").write_text("\n".join(map(json.dumps, asked)))
    with running() as server:
        refuses(ask(tmp_path / "q.jsonl", server.url, tmp_path / "a.jsonl"), "13 of 16 requests got no answer")
        done = ask(tmp_path / "q.jsonl", server.url, tmp_path / "a.jsonl", "--partial")
        assert done.code == 0, done.err
        assert len(server.requests) == 3
    assert [row["id"] for row in read(tmp_path / "a.jsonl")] == ["g0", "g1", "g2"]


def test_nothing_is_written_into_an_output_or_over_other_files(built: Path, tmp_path: Path) -> None:
    with running() as server:
        refuses(ask(built, server.url, built / "a.jsonl"), "lies in the output itself", code=2)
        (tmp_path / "a.jsonl").write_text("mine")
        refuses(ask(built, server.url, tmp_path / "a.jsonl"), "is there already", code=2)
        assert (tmp_path / "a.jsonl").read_text() == "mine"
        assert not server.requests
