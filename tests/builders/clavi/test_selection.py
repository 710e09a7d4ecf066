"""Whatever the annotations contain is asked about, or stands in `left_out` by name."""

import csv
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from stressreel.annotations.samples import cached_sample
from stressreel.builders.clavi.prepare import prepare
from stressreel.builders.clavi.settings import ClaviSettings
from stressreel.core.plan import Plan, counts_of

PHRASES = (
    *("opening a door", "closing a laptop", "pouring water into a cup", "a man slices an onion", "washing the car"),
    *("the table", "xyzzy", "He sits. He eats.", "opening a door"),
)
ROWS = st.lists(
    st.tuples(st.sampled_from("abcd"), st.integers(0, 12), st.integers(1, 12), st.sampled_from(PHRASES), st.booleans()),
    min_size=1,
    max_size=24,
)


def plan_of(path: Path, rows: list[tuple[str, float, float, str]], **options: object) -> Plan:
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([("video", "start", "end", "phrase"), *rows])
    return prepare(replace(ClaviSettings(segments=path, render=False, same_by="lemmas"), **options)).plan


def check(plan: Plan, rows: list[tuple[str, float, float, str]]) -> None:
    asked = {
        (unit.source_id, unit.payload[f"label_{letter}"], unit.payload[f"start_{letter}_s"])
        for unit in plan.units
        for letter in "ab"
    }
    named = Counter(record.line for record in plan.left_out if record.kind == "phrase")
    for line, (video, start, _, phrase) in enumerate(rows, 2):
        assert ((video, phrase, start) in asked) + named[line] == 1, (line, phrase)
    without = {record.name for record in plan.left_out if record.kind == "video"}
    assert without | {unit.source_id for unit in plan.units} == {video for video, *_ in rows}
    assert without.isdisjoint({unit.source_id for unit in plan.units})
    for reason, count in counts_of(plan.left_out).items():
        assert plan.notes[reason] == count, reason


@given(rows=ROWS)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=25)
def test_every_phrase_is_asked_or_left_out(tmp_path: Path, rows: list[tuple[str, int, int, str, bool]]) -> None:
    usable = ("e", 0.0, 5.0, "opening a door")
    given_rows = [usable, *((v, 7.0 * s, 7.0 * s + n + long * 30, text) for v, s, n, text, long in rows)]
    distinct = list({row[:2] + row[3:]: row for row in given_rows}.values())
    check(plan_of(tmp_path / "own.csv", distinct), distinct)


@pytest.mark.parametrize(
    "options",
    [{}, {"max_pairs_per_video": 1}, {"order": "any"}, {"strict": True}, {"order": "pairs"}, {"shortest": 6.0}],
    ids=str,
)
def test_every_choice_of_pairs_is_accounted_for(tmp_path: Path, options: dict[str, object]) -> None:
    rows = [
        (video, 8.0 * place, 8.0 * place + 5 + place % 3, PHRASES[(place + shift) % 5])
        for shift, video in enumerate("abcdef")
        for place in range(5)
    ]
    check(plan_of(tmp_path / "own.csv", rows, **options), rows)


def test_a_video_says_why_it_has_no_pair(tmp_path: Path) -> None:
    rows = [("a", 0.0, 5.0, "opening a door"), ("b", 0.0, 5.0, "the table"), ("c", 0.0, 1.0, "closing a laptop")]
    plan = plan_of(tmp_path / "own.csv", rows)
    why = {record.name: record.detail for record in plan.left_out if record.kind == "video"}
    assert set(why) == {"a", "b", "c"}
    assert "no verb: 1" in why["b"]
    assert "too short" in why["c"]


def test_limit_and_split_are_no_losses() -> None:
    charades = str(cached_sample("charades"))
    whole, first = (prepare(ClaviSettings(charades=charades, render=False, limit=limit)).plan for limit in (None, 1))
    assert first.left_out == whole.left_out
    train = prepare(ClaviSettings(charades=charades, render=False, split="train")).plan
    assert {record.file for record in train.left_out} <= {"Charades_v1_train.csv"}


def test_rejected_pairs_are_counted_by_video() -> None:
    plan = prepare(ClaviSettings(charades="sample", render=False, max_pairs_per_video=1)).plan
    rejected = [record for record in plan.left_out if record.kind == "pairs"]
    assert len({(record.source_id, record.reason) for record in rejected}) == len(rejected)
    for reason, count in counts_of(plan.left_out).items():
        assert plan.notes[reason] == count, reason
    assert counts_of(rejected)["pairs_left_out_most_per_video"] > 1
