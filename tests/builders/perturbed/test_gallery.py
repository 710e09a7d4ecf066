from pathlib import Path

from commands import rows
from stressreel.builders.perturbed.gallery import gallery
from stressreel.core.output import open_output
from stressreel.data_cards.gallery.answers import Answers
from stressreel.evaluation.metrics.predictions import Predictions


def exhibits(suite, *given):
    answers = Answers(Predictions(Path("p.jsonl"), list(given))) if given else Answers()
    return list(gallery(open_output(suite), answers).exhibits([0, 1]))


def verdicts(content):
    cells = {(row["name"], cell["severity"]): cell["verdict"] for row in content["rows"] for cell in row["cells"]}
    return {key: verdict for key, verdict in cells.items() if verdict}


def test_clip_has_all_cells_and_captions(suite):
    shown = exhibits(suite)[0]
    content = shown.content
    tables = {
        name: [row for row in rows(suite, name) if row["clip_id"] == shown.id] for name in ("clean", "jpeg", "jumble")
    }
    stored = {(name, row["severity"]): row["sha256"] for name, found in tables.items() for row in found}
    cells = {(row["name"], cell["severity"]): cell["film"] for row in content["rows"] for cell in row["cells"]}
    assert {**cells, ("clean", 0): content["clean"]["film"]} == stored
    assert {film.sha256 for film in shown.films} == set(stored.values())
    assert content["severities"] == [1, 3]
    made = {(text, row["caption_id"]): row for text in ("typos", "no_verbs") for row in rows(suite, text)}
    assert content["captions"]
    for caption in content["captions"]:
        found = [made[each["name"], caption["id"]] for each in content["texts"]]
        changes = [{"text": row["caption"] if row["changed"] else None, "reason": row["reason"]} for row in found]
        assert caption["changes"] == changes


def test_one_wrong_answer_makes_setting_wrong(suite):
    name = rows(suite, "clean")[0]["clip_id"]
    one, other = exhibits(
        suite,
        {"setting": "clean", "id": name, "question": "one", "correct": True},
        {"setting": "clean", "id": name, "question": "two", "correct": False},
        {"setting": "jpeg-3", "id": name, "correct": 1},
        {"setting": "jpeg-3+no_verbs", "id": name, "correct": 0},
        {"setting": "typos", "id": "unknown", "correct": 0},
    )
    assert one.content["clean"]["verdict"] == "wrong"
    assert verdicts(one.content) == {("jpeg", 3): "right"}
    judged = {(each.facets["visual"], each.facets["text"]): each.verdict for each in one.asked if each.verdict}
    assert judged == {("clean", "clean"): "wrong", ("jpeg", "clean"): "right", ("jpeg", "no_verbs"): "wrong"}
    assert not any(each.verdict for each in other.asked)


def test_chosen_caption_is_judged(suite):
    one, other = (row["clip_id"] for row in rows(suite, "clean")[:2])
    chosen = {"clean": f"{one}#0", "jpeg-1": f"{other}#0"}
    content = exhibits(suite, *({"setting": name, "id": one, "answer": answer} for name, answer in chosen.items()))[
        0
    ].content
    assert content["clean"]["verdict"] == "right"
    assert verdicts(content) == {("jpeg", 1): "wrong"}
