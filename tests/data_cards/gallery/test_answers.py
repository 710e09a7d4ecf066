import json
from pathlib import Path

import numpy as np
import pytest
from stressreel.core.errors import InputError
from stressreel.data_cards.gallery.answers import judged, read_guesses
from stressreel.evaluation.metrics.items import Items
from stressreel.evaluation.metrics.predictions import Predictions


def test_guesses_by_table_and_id(tmp_path):
    def write(content):
        (tmp_path / "audit.json").write_text(json.dumps(content), encoding="utf-8")
        return tmp_path / "audit.json"

    longest, twin = {"guesser": "longest", "choice": 2}, {"guesser": "twin", "choice": -1}
    audits = [
        {"config": "ud", "part": "answer", "choices": {"1": [longest, twin], "2": []}},
        {"config": "ud", "part": "explanation", "choices": {"1": [longest]}},
        {"config": "ud", "part": "both", "choices": {"1": [{"guesser": "most alike", "choice": [3, 0]}]}},
        {"config": "", "part": "", "choices": {"3": [longest]}},
    ]
    file = write({"version": 1, "output": {"fingerprint": "abc"}, "audits": audits})
    found = read_guesses(tmp_path, fingerprint="abc")
    assert found == read_guesses(file)
    assert [(each["guesser"], each["asked"], each["choice"]) for each in found["ud/1"]] == [
        ("longest", "answer", 2),
        ("longest", "explanation", 2),
        ("most alike, both at once", "answer", 3),
        ("most alike, both at once", "explanation", 0),
    ]
    assert (found["ud/2"], found["3"][0]["choice"]) == ([], 2)
    with pytest.raises(InputError, match="belongs to another output"):
        read_guesses(file, fingerprint="def")
    odd = [{"audits": [{"choices": {"1": [{"guesser": "a", "choice": choice}]}}]} for choice in (-2, True, [1])]
    for content in ([], {"audits": 3}, {"audits": [{"config": "ud"}]}, *odd):
        with pytest.raises(InputError, match="is not an audit"):
            read_guesses(write(content))


def test_answers_are_judged():
    items = Items(["x", "y", "z"], [], [], [], [("no", "yes")] * 3, np.array([0, 1, -1], np.int64))
    rows = [{"id": name, "answer": "yes"} for name in ("x", "y", "z")]
    said = judged(items, Predictions(Path("p.jsonl"), rows))
    assert {name: (each.choice, each.verdict) for name, each in said.items()} == {"x": (1, "wrong"), "y": (1, "right")}
    assert judged(items, Predictions(Path("p.jsonl"), rows[:1])).keys() == {"x"}
    assert judged(items, None) == {}
