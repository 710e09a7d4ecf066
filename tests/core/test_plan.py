from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from stressreel.core.plan import LeftOut, Plan, Unit, bounded, changed, counts_of, rows_of, summary

UNIT = Unit("00000001", "train", "AAAAA", {"out_a": 1.5, "others": ["c000"]})
OTHER = Unit("00000002", "test", "BBBBB", {})
PLAN = Plan("clavi", {"settings": {"seed": 0}, "version": "1.0.0"}, (UNIT, OTHER), ())


@pytest.mark.parametrize(
    ("splits", "order"),
    [
        (["test", "train", "test"], ("train", "test")),
        (["test", "validation", "train"], ("train", "validation", "test")),
        (["test"], ("test",)),
        ([], ()),
    ],
)
def test_splits_are_in_usual_order(splits: list[str], order: tuple[str, ...]) -> None:
    assert replace(PLAN, units=tuple(replace(UNIT, split=split) for split in splits)).splits == order


# What changed


@pytest.mark.parametrize(
    ("before", "after", "lines"),
    [
        ({"a": 1, "b": {"c": [1]}}, {"b": {"c": [1]}, "a": 1}, []),
        ({"seed": 7}, {"seed": 8}, ["seed: 7 → 8"]),
        ({"gone": "x"}, {"new": "y"}, ["gone: x → absent", "new: absent → y"]),
        (
            {"settings": {"seed": 0, "crf": 23}, "tools": {"av": "1"}},
            {"settings": {"seed": 0, "crf": 20}, "tools": {"av": "2"}},
            ["settings.crf: 23 → 20", "tools.av: 1 → 2"],
        ),
        ({"sha": "0" * 64}, {"sha": "1" * 64}, [f"sha: {'0' * 16}… → {'1' * 16}…"]),
    ],
)
def test_the_leaves_that_differ_are_named(before: dict[str, Any], after: dict[str, Any], lines: list[str]) -> None:
    assert changed(before, after) == lines


IDENTITY = st.recursive(
    st.dictionaries(st.sampled_from("abc"), st.integers(0, 2)),
    lambda inner: st.dictionaries(st.sampled_from("abc"), st.integers(0, 2) | inner),
    max_leaves=6,
)


@settings(derandomize=True, deadline=None, max_examples=50)
@given(IDENTITY, IDENTITY)
def test_something_is_named_exactly_if_something_differs(one: dict[str, Any], other: dict[str, Any]) -> None:
    assert (changed(one, other) == []) is (one == other)
    assert [line.split(":")[0] for line in changed(one, other)] == [line.split(":")[0] for line in changed(other, one)]


PHRASES = [
    LeftOut("reading", "phrase", f"phrase {n}", "no_verb", "it has no verb", f"v{n % 2}", "a.csv", n) for n in range(5)
]
PAIRS = LeftOut("selection", "pairs", "v0", "same_meaning", "A and B are the same", "v0", count=7)


def test_equal_records_have_different_ids() -> None:
    rows = list(rows_of([PAIRS, PAIRS, *PHRASES]))
    assert len({row["id"] for row in rows}) == 7
    assert rows == list(rows_of([PAIRS, PAIRS, *PHRASES]))


def test_combining_keeps_all_counts_and_says_so() -> None:
    records = [*PHRASES, PAIRS]
    assert bounded(records, 6) == bounded(records[::-1], 6)
    assert Counter(bounded(records, 6)) == Counter(records)
    combined = bounded(records, 5)
    assert counts_of(combined) == counts_of(records) == {"no_verb": 5, "same_meaning": 7}
    assert [(record.source_id, record.count, record.line) for record in combined] == [
        ("v0", 3, None),
        ("v1", 2, None),
        ("v0", 7, None),
    ]
    assert "counted by video" in combined[0].detail
    assert combined[-1] == PAIRS


def test_summary_is_in_the_order_of_the_stages() -> None:
    assert list(summary(map(vars, [PAIRS, *PHRASES])).items()) == [
        (("reading", "phrase", "no_verb"), 5),
        (("selection", "pairs", "same_meaning"), 7),
    ]
