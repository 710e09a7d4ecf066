from pathlib import Path

import pytest
from commands import rows
from stressreel.builders.perturbed.gallery import gallery
from stressreel.core.output import open_output
from stressreel.data_cards.gallery.answers import Answers
from stressreel.evaluation.metrics.predictions import Predictions


@pytest.fixture(scope="module")
def suite(build_once, msrvtt):
    given = ("--msrvtt", msrvtt, "--severity", "1,3", "--perturbations", "jpeg,jumble", "--modality", "all")
    texts = ("--text-perturbations", "random_noun,typos", "--limit", 2)
    return build_once("build-perturbed", *given, *texts)


def exhibits(suite, *given):
    answers = Answers(Predictions(Path("p.jsonl"), list(given))) if given else Answers()
    return list(gallery(open_output(suite), answers).exhibits([0, 1]))


def verdicts(content):
    return {(row["name"], cell["severity"]): cell["verdict"] for row in content["rows"] for cell in row["cells"]}


def test_clip_has_all_cells_and_captions(suite):
    shown = exhibits(suite)[0]
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
        (text, row["caption_id"]): {"text": row["caption"] if row["changed"] else None, "reason": row["reason"]}
        for text in texts
        for row in rows(suite, text)
    }
    assert content["captions"]
    for caption in content["captions"]:
        assert caption["changes"] == [made[text, caption["id"]] for text in texts]


def test_one_wrong_answer_makes_setting_wrong(suite):
    name = rows(suite, "clean")[0]["clip_id"]
    one, other = exhibits(
        suite,
        {"setting": "clean", "id": name, "question": "one", "correct": True},
        {"setting": "clean", "id": name, "question": "two", "correct": False},
        {"setting": "jpeg-3", "id": name, "correct": 1},
        {"setting": "jpeg-3+random_noun", "id": name, "correct": 0},
        {"setting": "typos", "id": "unknown", "correct": 0},
    )
    assert one.content["clean"]["verdict"] == "wrong"
    assert {key for key, verdict in verdicts(one.content).items() if verdict} == {("jpeg", 3)}
    judged = {(each.facets["visual"], each.facets["text"]): each.verdict for each in one.asked if each.verdict}
    assert judged == {("clean", "clean"): "wrong", ("jpeg", "clean"): "right", ("jpeg", "random_noun"): "wrong"}
    assert not any(each.verdict for each in other.asked)


def test_chosen_caption_is_judged(suite):
    one, other = (row["clip_id"] for row in rows(suite, "clean")[:2])
    given = [
        {"setting": "clean", "id": one, "answer": f"{one}#0"},
        {"setting": "jpeg-1", "id": one, "answer": f"{other}#0"},
    ]
    content = exhibits(suite, *given)[0].content
    assert content["clean"]["verdict"] == "right"
    assert verdicts(content)["jpeg", 1] == "wrong"
