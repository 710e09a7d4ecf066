"""Limits and balance of pairs; and whatever the annotations contain is asked about, or stands in `left_out` by name."""

import csv
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from stressreel.annotations.actions import Action, AnnotatedVideo, Segment
from stressreel.annotations.samples.cache import cached_sample
from stressreel.builders.clavi.pairs import Candidate
from stressreel.builders.clavi.prepare import prepare
from stressreel.builders.clavi.selection import (
    balanced,
    balanced_by_pair,
    balanced_over_videos,
    class_of,
    spread_over_videos,
)
from stressreel.builders.clavi.settings import ClaviSettings
from stressreel.core.plan import Plan, counts_of


def candidates(*names: str, sources: int = 3) -> list[Candidate]:
    """Pairs of actions with these verbs; each of a few sources has every so-manyth."""
    made = []
    for number, name in enumerate(names):
        words = [Action(f"{verb} {number}", "", verb, verb, frozenset(), words=frozenset(verb)) for verb in name]
        a, b = (Segment(word, 20.0 * number + 7 * n, 20.0 * number + 7 * n + 5) for n, word in enumerate(words))
        source = AnnotatedVideo(f"V{number % sources}", "train", "", 900.0, (a, b), frozenset(), frozenset(), {})
        made.append(Candidate(source, a, b, ()))
    return made


def test_limited_pairs_spread_over_video() -> None:
    pairs, counts = candidates(*["ab"] * 30, sources=1), Counter[str]()
    kept = spread_over_videos(pairs, 5, 0, counts)
    middles = sorted(pair.a.start_s for pair in kept)
    assert len(kept) == 5
    assert counts["pairs_left_out_most_per_video"] == len(pairs) - 5
    assert middles[0] < 150 < 350 < middles[-1]
    assert kept == spread_over_videos(pairs[::-1], 5, 0, Counter())
    assert len({tuple(pair.a.start_s for pair in spread_over_videos(pairs, 5, seed, counts)) for seed in range(4)}) > 1


def test_each_class_pair_is_balanced() -> None:
    pairs = candidates(*["ab"] * 6, *["ba"] * 2, *["bc"] * 4, *["dd"] * 2, "ca", "ac")
    counts = Counter[str]()
    kept = balanced_by_pair(pairs, 0, counts)
    found = Counter(class_of(pair, "a") + class_of(pair, "b") for pair in kept)
    assert found == {"ab": 2, "ba": 2, "dd": 2, "ca": 1, "ac": 1}
    assert counts["pairs_left_out_order_balance"] == len(pairs) - len(kept)
    assert kept == balanced_by_pair(pairs[::-1], 0, Counter())


@pytest.mark.parametrize("most", [1, 2, 5])
def test_balance_holds_with_limit_per_video(most: int) -> None:
    """Circles of pairs take the place of what alone would be out of balance."""
    pairs, counts = candidates(*["ab", "bc", "ca", "ba", "cb", "ac", "dd", "ad", "ab"] * 4), Counter[str]()
    kept = balanced_over_videos(pairs, most, 0, counts)
    first, second = (Counter(class_of(pair, letter) for pair in kept) for letter in "ab")
    assert first == second
    assert max(Counter(pair.video.id for pair in kept).values()) <= most
    assert len({id(pair) for pair in kept}) == len(kept)
    alone = balanced(spread_over_videos(pairs, most, 0, Counter()), 0, Counter())
    assert len(kept) > len(alone) or most == 1
    assert sum(counts.values()) == len(pairs) - len(kept)
    assert kept == balanced_over_videos(pairs, most, 0, Counter())


# Nothing is lost

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
    "options", [{"max_pairs_per_video": 1}, {"order": "any"}, {"strict": True}, {"order": "pairs"}, {"shortest": 6.0}]
)
def test_every_choice_of_pairs_is_accounted_for(tmp_path: Path, options: dict[str, object]) -> None:
    rows = [
        (video, 8.0 * place, 8.0 * place + 5 + place % 3, PHRASES[(place + shift) % 5])
        for shift, video in enumerate("abcdef")
        for place in range(5)
    ]
    check(plan_of(tmp_path / "own.csv", rows, **options), rows)


def test_losses_say_why_by_video(tmp_path: Path) -> None:
    rows = [("a", 0.0, 5.0, "opening a door"), ("b", 0.0, 5.0, "the table"), ("c", 0.0, 1.0, "closing a laptop")]
    left_out = plan_of(tmp_path / "own.csv", rows).left_out
    why = {record.name: record.detail for record in left_out if record.kind == "video"}
    assert set(why) == {"a", "b", "c"}
    assert "no verb: 1" in why["b"]
    assert "too short" in why["c"]
    charades = ClaviSettings(charades=cached_sample("charades"), render=False)
    whole, first, train, one = (
        prepare(replace(charades, **more)).plan
        for more in ({}, {"limit": 1}, {"split": "train"}, {"max_pairs_per_video": 1})
    )
    assert first.left_out == whole.left_out
    assert {record.file for record in train.left_out} <= {"Charades_v1_train.csv"}
    rejected = [record for record in one.left_out if record.kind == "pairs"]
    assert len({(record.source_id, record.reason) for record in rejected}) == len(rejected)
    assert counts_of(rejected)["pairs_left_out_most_per_video"] > 1
