from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from stressreel.core.errors import InputError
from stressreel.templates import agqa_making, read_table
from stressreel.templates.agqa import load_agqa
from stressreel.templates.agqa_making import load_frames, load_rules

GOLDEN = Path(__file__).with_name("golden_frames.txt")


def lines() -> Iterator[str]:
    frames = load_frames()
    for part in (frames.windows, frames.references, frames.frames):
        yield from (f"{name}: {text}" for name, wordings in part.items() for text in wordings)
    for phrase in load_agqa().actions:
        yield f"{phrase} | {frames.tense(phrase, past=False)} | {frames.tense(phrase, past=True)}"
    for relation in load_agqa().relations.values():
        if relation.family != "attention" and relation.name not in load_rules().unasked_relations:
            tenses = [frames.relation(relation.pattern, relation.name, past) for past in (False, True)]
            yield f"{relation.pattern} | {' | '.join(tenses)}"


def test_words_are_frozen() -> None:
    assert "\n".join(lines()) + "\n" == GOLDEN.read_text(encoding="utf-8")


def test_two_gerunds() -> None:
    assert load_frames().tense("reaching for and grabbing a picture", past=True) == "reached for and grabbed a picture"


def test_an_unknown_gerund_is_refused() -> None:
    with pytest.raises(InputError, match="no tenses of 'juggling'"):
        load_frames().tense("juggling apples", past=True)


def test_look_alikes_are_mutual() -> None:
    alike = load_rules().alike
    assert all(name in alike[other] for name, others in alike.items() for other in others)


@pytest.mark.parametrize(
    ("table", "part", "value", "message"),
    [
        ("agqa_frames", "frames", {"objExists": ["Is {x} there?"]}, "unknown slots: x"),
        ("agqa_frames", "gerunds", {"holding": ["hold", "held"]}, "has no tenses of"),
        ("agqa_making", "unasked_objects", ["unicorn"], "unknown words: unicorn"),
        ("agqa_making", "doubtful", {"holding": ["juggling"]}, "unknown words: juggling"),
        ("agqa_making", "never_in_time", ["juggling"], "unknown words: juggling"),
    ],
)
def test_damaged_tables_are_refused(
    table: str, part: str, value: Any, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        agqa_making, "read_table", lambda name: read_table(name) | ({part: value} if name == table else {})
    )
    loader = {"agqa_frames": load_frames, "agqa_making": load_rules}[table]
    loader.cache_clear()
    try:
        with pytest.raises(InputError, match=message):
            loader()
    finally:
        loader.cache_clear()
