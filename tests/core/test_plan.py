from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from stressreel.core.plan import Plan, Unit, changed

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
def test_splits_are_those_of_the_units_in_the_usual_order(splits: list[str], order: tuple[str, ...]) -> None:
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
