from collections import Counter

from stressreel.core.plan import LeftOut, bounded, counts_of, rows_of, summary

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
