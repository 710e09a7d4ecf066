"""What a gallery shows of a perturbed clip."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from commands import rows
from stressreel.builders.perturbed.gallery import gallery
from stressreel.core.output import open_output
from stressreel.data_cards.gallery.answers import Answers
from stressreel.evaluation.metrics.predictions import Predictions


@pytest.fixture(scope="module")
def suite(build_once: Callable[..., Path], msrvtt: Path) -> Path:
    given = ("--msrvtt", msrvtt, "--severity", "1,3", "--perturbations", "jpeg,jumble", "--modality", "all")
    return build_once(
        "build-perturbed", *given, "--text-perturbations", "random_noun,typos", "--tagger", "pattern", "--limit", 2
    )


def test_a_clip_has_every_cell_caption_and_combination(suite: Path) -> None:
    shown = next(gallery(open_output(suite), Answers()).exhibits([0]))
    content = shown.content
    stored = {
        (name, row["severity"]): row["sha256"]
        for name in ("clean", "jpeg", "jumble")
        for row in rows(suite, name)
        if row["clip_id"] == shown.id
    }
    cells = {(row["name"], cell["severity"]): cell["film"] for row in content["rows"] for cell in row["cells"]}
    assert {**cells, ("clean", 0): content["clean"]["film"]} == stored
    assert {film.sha256 for film in shown.films} == set(stored.values())
    assert content["severities"] == [1, 3]
    texts = [each["name"] for each in content["texts"]]
    made = {
        (text, row["caption_id"]): (row["caption"] if row["changed"] else None, row["reason"])
        for text in texts
        for row in rows(suite, text)
    }
    assert content["captions"]
    for caption in content["captions"]:
        for text, change in zip(texts, caption["changes"], strict=True):
            assert (change["text"], change["reason"]) == made[text, caption["id"]]
            assert (change["text"] is None) == (change["reason"] is not None)
    pairs = {f"{cell['visual']}:{cell['text']}" for cell in content["pairs"]["cells"]}
    assert pairs == {f"{row['visual']}:{row['text']}" for row in rows(suite, "multimodal")}


def test_a_setting_is_wrong_if_any_of_its_questions_is(suite: Path) -> None:
    name = rows(suite, "clean")[0]["clip_id"]
    given = [
        {"setting": "clean", "id": name, "question": "one", "correct": True},
        {"setting": "clean", "id": name, "question": "two", "correct": False},
        {"setting": "jpeg-3", "id": name, "correct": 1},
        {"setting": "jpeg-3+random_noun", "id": name, "correct": 0},
        {"setting": "typos", "id": "unknown", "correct": 0},
    ]
    found = gallery(open_output(suite), Answers(Predictions(Path("p.jsonl"), given)))
    one, other = found.exhibits([0, 1])
    assert one.content["clean"]["verdict"] == "wrong"
    verdicts = {(row["name"], c["severity"]): c["verdict"] for row in one.content["rows"] for c in row["cells"]}
    assert {key for key, verdict in verdicts.items() if verdict} == {("jpeg", 3)}
    pairs = [(c["visual"], c["text"]) for c in one.content["pairs"]["cells"] if c["verdict"] == "wrong"]
    assert pairs == [("jpeg", "random_noun")]
    judged = {(each.facets["visual"], each.facets["text"]): each.verdict for each in one.asked if each.verdict}
    assert judged == {("clean", "clean"): "wrong", ("jpeg", "clean"): "right", ("jpeg", "random_noun"): "wrong"}
    assert not any(each.verdict for each in other.asked)


def test_a_choice_is_judged_by_the_caption(suite: Path) -> None:
    one, other = rows(suite, "clean")[:2]
    given = [
        {"setting": "clean", "id": one["clip_id"], "answer": f"{one['clip_id']}#0"},
        {"setting": "jpeg-1", "id": one["clip_id"], "answer": f"{other['clip_id']}#0"},
    ]
    shown = next(gallery(open_output(suite), Answers(Predictions(Path("p.jsonl"), given))).exhibits([0]))
    assert shown.content["clean"]["verdict"] == "right"
    assert shown.content["rows"][0]["cells"][0]["verdict"] == "wrong"
