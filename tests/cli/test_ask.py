"""`stressreel ask` against a server on loopback and a tiny model: what is asked, kept, written and counted."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import tiny_models
from commands import Ran, refuses, rows, run, succeed
from endpoint import Body, Status, completion, running
from extras import needs

pytestmark = needs("openai")
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
    done = succeed("stressreel", "score", out, "--predictions", file, "--json", "--resamples", 100, *more)
    return dict(json.loads(done.out))


def text_of(request: dict[str, Any]) -> str:
    return str(request["messages"][0]["content"][-1]["text"])


def test_right_answers_are_scored_as_right(built: Path, tmp_path: Path) -> None:
    """The server knows a question by its text and its video by the frames, as a model would."""
    seen: dict[str, str] = {}
    asked = rows(built, "questions", "test")
    for row in asked:
        seen.setdefault(row["question"], ("no", "yes")[row["answer"]])
    with running(lambda request, before: seen[text_of(request).split("\n")[0]].title() + ".") as server:
        done = ask(built, server.url, tmp_path / "a.jsonl", "--prices", "1,10")
        again = ask(built, server.url, tmp_path / "b" / "a.jsonl", "--at-once", 1, "--limit", 20)
    assert (done.code, again.code) == (0, 0), done.err
    assert f"{len(asked)} answers, 0 of them unreadable, 0 cut short" in done.out
    assert f"cost {len(asked) * (100 + 20) / 1e6:.4f}" in done.out
    assert f"stressreel score {built} --predictions {tmp_path / 'a.jsonl'} --split test" in done.out
    assert server.pictures() == [2] * (len(asked) + 20)
    found = score(built, tmp_path / "a.jsonl")
    expected = sum(seen[row["question"]] == ("no", "yes")[row["answer"]] for row in asked) / len(asked)
    assert found["headline"]["accuracy"]["value"] == pytest.approx(expected)
    record = json.loads((tmp_path / "a.json").read_text())
    assert record["requests"] == {"answered": len(asked), "failed": 0, "cut": 0}
    assert record["tokens"] == {"sent": 100 * len(asked), "answered": 2 * len(asked), "uncounted": 0}
    assert (record["temperature"], record["seed"], record["models"]) == (0, 0, ["loopback-1"])
    assert record["shown"] == {"frames": 2, "size": 448, "quality": 90}
    assert record["prompts"]["version"] >= 4
    assert read(tmp_path / "b" / "a.jsonl") == read(tmp_path / "a.jsonl")[:20]  # at any number at once
    assert server.keys == {f"Bearer {KEY}"}
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert not any(KEY.encode() in path.read_bytes() for path in files)


def test_what_was_answered_is_not_asked_again(built: Path, tmp_path: Path) -> None:
    to = tmp_path / "a.jsonl"
    with running() as server:
        for limit, asked in ((6, 6), (6, 6), (8, 8)):
            assert ask(built, server.url, to, "--limit", limit).code == 0
            assert len(server.requests) == asked
        assert len(read(to)) == 8
        refuses(ask(built, server.url, to, "--seed", 1), "seed 0; now: seed 1", "--fresh")
        assert ask(built, server.url, to, "--seed", 1, "--limit", 3, "--fresh").code == 0
        assert len(server.requests) == 11


def test_passing_faults_are_retried_and_lasting_ones_reported(built: Path, tmp_path: Path) -> None:
    to, other = tmp_path / "a.jsonl", tmp_path / "b.jsonl"
    fails = lambda request, before: Status(500) if before == 0 and len(text_of(request)) % 3 == 0 else "yes"  # noqa: E731
    with running(fails) as server:
        assert ask(built, server.url, to, "--limit", 10).code == 0
    assert len(server.requests) > 10
    bad = rows(built, "questions", "test")[3]["question"]
    with running(lambda request, before: Body(b"{") if bad in text_of(request) else "yes") as server:
        failed = ask(built, server.url, other, "--limit", 10)
        refuses(failed, "of 10 requests received no answer", "not a chat completion", "Run the same command again")
        assert not other.exists()
        asked = len(server.requests)
        assert ask(built, server.url, other, "--limit", 10, "--partial").code == 0
        assert len(server.requests) - asked == 10 - len(read(other))
        assert 0 < len(read(other)) < 10
    with running() as server:
        refuses(ask(built, server.url, other, "--limit", 10), "with different settings")
    with running(lambda request, before: Status(500, "down")) as server:
        alone = ("--retries", 0, "--at-once", 1)
        refuses(ask(built, server.url, tmp_path / "c.jsonl", *alone), "the last 10 requests", "down")
    assert len(server.requests) == 10
    with running(lambda request, before: Status(401, "no such key")) as server:
        refuses(ask(built, server.url, tmp_path / "d.jsonl", "--at-once", 4), "OPENAI_API_KEY")
    assert len(server.requests) <= 8


def test_every_causal_table_is_asked_and_scored(built_causal: Path, tmp_path: Path) -> None:
    half_counted = {**completion("B", "length"), "usage": {"prompt_tokens": 5}}
    with running(lambda request, before: half_counted) as server:
        done = ask(built_causal, server.url, tmp_path / "a.jsonl")
    assert done.code == 0, done.err
    record = json.loads((tmp_path / "a.json").read_text())
    assert record["tokens"]["uncounted"] == record["requests"]["answered"] > 0
    lines = [line for line in done.out.splitlines() if line.startswith("stressreel score ")]
    assert len(lines) == 4
    assert any(line.startswith("stressreel score open-ended") for line in lines)
    for table in ("ud", "causal_confusion"):
        assert any(f"--config {table} " in line for line in lines)
        right = [row["answer_index"] == 1 for row in rows(built_causal, table, "test")]
        found = score(built_causal, tmp_path / "a.jsonl", "--config", table, "--out", tmp_path / table)
        assert found["headline"]["A"]["value"] == pytest.approx(sum(right) / len(right))
    said = "perhaps A, perhaps B"
    with running(lambda request, before: said) as server:
        done = ask(built_causal, server.url, tmp_path / "b.jsonl", "--config", "un", "--limit", 2)
    assert "4 answers, 4 of them unreadable" in done.out
    kept = [(row["answer"], row["explanation"], row["config"]) for row in read(tmp_path / "b.jsonl")]
    assert kept == [(said, said, "un")] * 2


def test_modalities_of_own_items_make_importance(built: Path, tmp_path: Path) -> None:
    """Two commands from a file with questions to modality importance."""
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
    scored = succeed(*command.split(), "--json")
    counts = {row["category"]: row["questions"] for row in json.loads(scored.out)["categories"]}
    assert counts["text-biased"] == 4
    assert counts["modality-agnostic incorrect"] == 4


def test_answer_after_repeated_prompt_is_read(built: Path, tmp_path: Path) -> None:
    """As a server answers that returns the whole text, without its special tokens."""
    with running(lambda request, before: f"user\n{text_of(request)}\nassistant\nNo, never.") as server:
        done = ask(built, server.url, tmp_path / "a.jsonl", "--limit", 3)
    assert done.code == 0, done.err
    assert "3 answers, 0 of them unreadable" in done.out
    assert {row["answer"] for row in read(tmp_path / "a.jsonl")} <= {"no", "No, never."}
    assert "assistant" in (tmp_path / "a.journal").read_text()


def test_a_dry_run_counts_and_sends_nothing(built: Path, tmp_path: Path) -> None:
    more = ("--dry-run", "--prices", "1,2", "--modalities", "video,blind")
    with running() as server:
        done = ask(built, server.url, tmp_path / "a.jsonl", *more)
    assert done.code == 0, done.err
    assert not server.requests
    assert not [*tmp_path.iterdir()]
    asked = rows(built, "questions", "test")
    assert f"{2 * len(asked)} requests, {len({row['video_id'] for row in asked})} clips" in done.out
    assert f"{2 * len(asked)} frames, " in done.out
    assert "at most about" in done.out
    assert run("stressreel", "ask", built, "--dry-run").code == 0


def test_a_model_that_runs_here_answers(built: Path, once: Callable[[str, Any], Path], tmp_path: Path) -> None:
    pytest.importorskip("transformers")
    model = once("qwen2-vl", tiny_models.write_qwen2_vl)
    given = ("--to", tmp_path / "a.jsonl", "--limit", 3, "--fps", 0.2, "--batch", 2, "--send", "frames")
    succeed("stressreel", "ask", built, "--transformers", model, *given, "--max-tokens", 2)
    assert len(read(tmp_path / "a.jsonl")) == 3
    record = json.loads((tmp_path / "a.json").read_text())
    assert (record["decoding"], record["dtype"]) == ("greedy", "float32")
    assert (record["shown"], record["sent"]) == ({"fps": 0.2, "size": 448, "quality": 90}, "frames")


def test_answers_never_overwrite_other_files(built: Path, tmp_path: Path) -> None:
    questions = tmp_path / "q.json"
    questions.write_text(json.dumps([{"id": "a", "question": "Is it?"}]))
    (tmp_path / "b.json").write_text("mine")
    before = questions.read_bytes()
    with running() as server:
        for out, to, says in (
            (questions, tmp_path / "q.jsonl", "contains the questions"),
            (questions, tmp_path / "b.jsonl", "already exists"),
            (built, built / "a.jsonl", "is inside the output"),
        ):
            refuses(ask(out, server.url, to, "--modalities", "blind"), says, code=2)
        assert not server.requests
        assert ask(questions, server.url, tmp_path / "c.jsonl", "--modalities", "blind").code == 0
        assert set(server.pictures()) == {0}
    assert (questions.read_bytes(), (tmp_path / "b.json").read_text()) == (before, "mine")


def test_one_bad_clip_takes_its_own_questions_alone(built: Path, tmp_path: Path) -> None:
    (tmp_path / "bad.mp4").write_bytes(b"no video")
    (tmp_path / "good.mp4").write_bytes(rows(built, "videos")[0]["video"]["bytes"])
    asked = [{"id": f"b{n}", "question": "Is it?", "video_id": "bad"} for n in range(12)]
    asked += [{"id": f"g{n}", "question": "Is it?", "video_id": "good"} for n in range(3)]
    asked.append({"id": "late", "question": "Is it?", "video_id": "good", "start": 999})
    (tmp_path / "q.jsonl").write_text("\n".join(map(json.dumps, asked)))
    with running() as server:
        refuses(ask(tmp_path / "q.jsonl", server.url, tmp_path / "a.jsonl"), "13 of 16 requests received no answer")
        done = ask(tmp_path / "q.jsonl", server.url, tmp_path / "a.jsonl", "--partial")
        assert done.code == 0, done.err
        assert len(server.requests) == 3
    assert [row["id"] for row in read(tmp_path / "a.jsonl")] == ["g0", "g1", "g2"]
