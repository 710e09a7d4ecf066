"""`stressreel ask` against a server on loopback and a tiny model: what is asked, kept, written and counted."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import tiny_models
from commands import Ran, refuses, rows, run, run_json, score_json, succeed
from endpoint import Status, completion, running
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


def write(path: Path, values: list[dict[str, Any]]) -> Path:
    path.write_text("\n".join(map(json.dumps, values)))
    return path


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
    expected = sum(seen[row["question"]] == ("no", "yes")[row["answer"]] for row in asked) / len(asked)
    assert score_json(built, tmp_path / "a.jsonl")["headline"]["accuracy"]["value"] == pytest.approx(expected)
    record = json.loads((tmp_path / "a.json").read_text())
    assert record["requests"] == {"answered": len(asked), "failed": 0, "cut": 0}
    assert record["tokens"] == {"sent": 100 * len(asked), "answered": 2 * len(asked), "uncounted": 0}
    assert (record["temperature"], record["seed"], record["models"]) == (0, 0, ["loopback-1"])
    assert record["shown"] == {"frames": 2, "size": 448, "quality": 90}
    assert read(tmp_path / "b" / "a.jsonl") == read(tmp_path / "a.jsonl")[:20]  # at any number at once
    assert server.keys == {f"Bearer {KEY}"}
    assert not any(KEY.encode() in path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())


def test_answers_are_kept_and_lasting_faults_reported(built: Path, tmp_path: Path) -> None:
    to = tmp_path / "a.jsonl"
    with running(lambda request, before: Status(500) if before == 0 else "yes") as server:
        assert ask(built, server.url, to, "--dry-run").code == 0
        assert server.requests == []
        assert ask(built, server.url, to, "--limit", 6).code == 0
        assert (asked := len(server.requests)) > 6  # passing faults are retried
        assert ask(built, server.url, to, "--limit", 6).code == 0
        assert len(server.requests) == asked
        assert ask(built, server.url, to, "--limit", 8).code == 0
        assert 2 <= len(server.requests) - asked <= 4
        refuses(ask(built, server.url, to, "--seed", 1), "seed 0; now: seed 1", "--fresh")
        assert ask(built, server.url, to, "--seed", 1, "--limit", 3, "--fresh").code == 0
        assert len(read(to)) == 3
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
    assert (done.out.count("\nstressreel score "), done.out.count("\nstressreel score open-ended ")) == (4, 1)
    for table in ("ud", "causal_confusion"):
        right = [row["answer_index"] == 1 for row in rows(built_causal, table, "test")]
        found = score_json(built_causal, tmp_path / "a.jsonl", "--config", table, "--out", str(tmp_path / table))
        assert found["headline"]["A"]["value"] == pytest.approx(sum(right) / len(right))


def test_modalities_of_own_items_make_importance(built: Path, tmp_path: Path) -> None:
    """Two commands from a file with questions to modality importance; an answer may repeat its prompt."""
    (tmp_path / "videos").mkdir()
    for name, row in zip("vw", rows(built, "videos"), strict=False):
        (tmp_path / "videos" / f"{name}.mp4").write_bytes(row["video"]["bytes"])
    asked = {"question": "Which?", "options": ["a", "b"], "answer": "b"}
    said = ["It is b."] * 4 + ["Hm."] * 4
    lines = [{**asked, "id": str(n), "video_id": "vw"[n % 2], "subtitles": text} for n, text in enumerate(said)]

    def behave(request: dict[str, Any], before: int) -> str:
        answer = "B" if "It is b." in text_of(request) else "A"
        return f"user\n{text_of(request)}\nassistant\n{answer}"

    with running(behave) as server:
        more = ("--videos", tmp_path / "videos", "--modalities", "video,text,both")
        done = ask(write(tmp_path / "q.jsonl", lines), server.url, tmp_path / "answers", *more)
    assert done.code == 0, done.err
    assert sorted(server.pictures()) == [0] * 8 + [2] * 16
    command = next(line for line in done.out.splitlines() if line.startswith("stressreel score modalities"))
    counts = {row["category"]: row["questions"] for row in run_json(*command.split())["categories"]}
    assert counts["text-biased"] == counts["modality-agnostic incorrect"] == 4


def test_a_model_that_runs_here_answers(built: Path, once: Callable[[str, Any], Path], tmp_path: Path) -> None:
    pytest.importorskip("transformers")
    model = once("qwen2-vl", tiny_models.write_qwen2_vl)
    given = ("--to", tmp_path / "a.jsonl", "--limit", 3, "--fps", 0.2, "--batch", 2, "--send", "frames")
    succeed("stressreel", "ask", built, "--transformers", model, *given, "--max-tokens", 2)
    assert len(read(tmp_path / "a.jsonl")) == 3
    record = json.loads((tmp_path / "a.json").read_text())
    assert (record["decoding"], record["dtype"]) == ("greedy", "float32")
    assert (record["shown"], record["sent"]) == ({"fps": 0.2, "size": 448, "quality": 90}, "frames")


def test_one_bad_clip_takes_its_own_questions_alone(built: Path, tmp_path: Path) -> None:
    (tmp_path / "bad.mp4").write_bytes(b"no video")
    (tmp_path / "good.mp4").write_bytes(rows(built, "videos")[0]["video"]["bytes"])
    asked = [{"id": f"b{n}", "question": "Is it?", "video_id": "bad"} for n in range(12)]
    asked += [{"id": f"g{n}", "question": "Is it?", "video_id": "good"} for n in range(3)]
    asked.append({"id": "late", "question": "Is it?", "video_id": "good", "start": 999})
    questions = write(tmp_path / "q.jsonl", asked)
    with running() as server:
        refuses(ask(questions, server.url, tmp_path / "a.jsonl"), "13 of 16 requests received no answer")
        assert ask(questions, server.url, tmp_path / "a.jsonl", "--partial").code == 0
        assert len(server.requests) == 3
    assert [row["id"] for row in read(tmp_path / "a.jsonl")] == ["g0", "g1", "g2"]
