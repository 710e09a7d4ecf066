"""Plans: the order of splits, what changed between two of them, and the table of what was left out."""

from collections import Counter

import pytest
from stressreel.core.plan import LeftOut, Plan, Unit, bounded, changed, counts_of, rows_of, summary


def test_splits_are_in_usual_order():
    units = [Unit(split, split, "", {}) for split in ("b", "test", "a", "validation", "train", "test")]
    assert Plan("clavi", {}, tuple(units), ()).splits == ("train", "validation", "test", "a", "b")


@pytest.mark.parametrize(
    ("before", "after", "lines"),
    [
        ({"a": 1, "b": {"c": [1]}}, {"b": {"c": (1,)}, "a": 1}, []),
        ({"gone": "x", "seed": 7}, {"new": "y", "seed": 8}, ["gone: x → absent", "new: absent → y", "seed: 7 → 8"]),
        ({"tools": {"av": {"a": "1"}, "b": 0}}, {"tools": {"av": {"a": "2"}, "b": 0}}, ["tools.av.a: 1 → 2"]),
        ({"sha": "0" * 64}, {"sha": "1" * 64}, [f"sha: {'0' * 16}… → {'1' * 16}…"]),
        ({"a": 1, "b": 0, "c": 0.0}, {"a": True, "b": 0.0, "c": -0.0}, ["a: 1 → True", "b: 0 → 0.0", "c: 0.0 → -0.0"]),
    ],
)
def test_the_leaves_that_differ_are_named(before, after, lines):
    assert changed(before, after) == lines
    assert [line.split(":")[0] for line in changed(after, before)] == [line.split(":")[0] for line in lines]


PHRASES = [
    LeftOut("reading", "phrase", f"phrase {n}", "no_verb", "it has no verb", f"v{n % 2}", "a.csv", n) for n in range(5)
]
PAIRS = LeftOut("selection", "pairs", "v0", "same_meaning", "A and B are the same", "v0", count=7)


def test_combining_keeps_all_counts_and_says_so():
    records = [*PHRASES, PAIRS]
    assert bounded(records, 6) == bounded(records[::-1], 6)
    assert Counter(bounded(records, 6)) == Counter(records)
    assert len({row["id"] for row in rows_of([*records, PAIRS])}) == 7  # although two records are equal
    combined = bounded(records, 5)
    assert counts_of(combined) == counts_of(records) == {"no_verb": 5, "same_meaning": 7}
    found = [(record.source_id, record.count, record.line) for record in combined]
    assert found == [("v0", 3, None), ("v1", 2, None), ("v0", 7, None)]
    assert "counted by video" in combined[0].detail
    assert combined[-1] == PAIRS
    assert list(summary(map(vars, records[::-1])).values()) == [5, 7]  # in the order of the stages
