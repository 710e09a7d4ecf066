from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from stressreel.annotations.causalchaos import CausalRow, read_causalchaos
from stressreel.builders.causal.plan import divide, leaks
from stressreel.builders.causal.tables import SPLITS


def row(qid: int, episode: int = 1, start: int = 0, end: int = 10) -> CausalRow:
    return CausalRow(str(qid), f"E{episode}", start, end, "why", "because", "so")


rows_strategy = st.lists(
    st.tuples(st.integers(1, 6), st.integers(0, 900), st.integers(1, 99)), min_size=1, max_size=60
).map(lambda parts: [row(number, episode, start, start + more) for number, (episode, start, more) in enumerate(parts)])


def sizes(split_of: dict[str, str]) -> tuple[int, ...]:
    counts = Counter(split_of.values())
    return tuple(counts[split] for split in SPLITS)


@given(rows_strategy, st.integers(0, 5))
def test_every_row_has_one_split_whatever_the_order(rows: list[CausalRow], seed: int) -> None:
    for scheme in ("ud", "ps", "un"):
        found = divide(scheme, rows, seed)
        assert found.keys() == {one.qid for one in rows}
        assert divide(scheme, rows[::-1], seed) == found


@given(rows_strategy)
def test_un_shares_no_episode(rows: list[CausalRow]) -> None:
    found = divide("un", rows, 0)
    places = {(one.episode, found[one.qid]) for one in rows}
    assert len(places) == len({one.episode for one in rows})


@given(rows_strategy)
def test_ps_goes_by_the_middle_of_the_clip(rows: list[CausalRow]) -> None:
    found = divide("ps", rows, 0)
    for one in rows:
        last = max(other.end_frame for other in rows if other.episode == one.episode)
        middle = (one.start_frame + one.end_frame) / 2
        expected = "train" if middle < 0.7 * last else "validation" if middle < 0.85 * last else "test"
        if min(abs(middle - share * last) for share in (0.7, 0.85)) > 1e-6:
            assert found[one.qid] == expected


def test_sizes_and_seeds() -> None:
    rows = [row(number, number % 20) for number in range(100)]
    for scheme in ("ud", "un"):
        assert sizes(divide(scheme, rows, 0)) == (70, 15, 15)
        assert divide(scheme, rows, 0) != divide(scheme, rows, 1)
    assert divide("ps", rows[:20] + rows[40:60], 0, "rows")["0"] == "train"


def test_leaks_are_counted() -> None:
    rows = [row(0, 1, 0, 10), row(1, 1, 0, 10), row(2, 1, 5, 20), row(3, 1, 20, 30), row(4, 2)]
    split_of = {"0": "train", "1": "test", "2": "test", "3": "test", "4": "validation"}
    found = leaks(rows, split_of)
    assert found["test"] == {"rows": 3, "same": 1, "overlapping": 2, "episode": 3}
    assert found["validation"] == {"rows": 1, "same": 0, "overlapping": 0, "episode": 0}


@pytest.mark.shared
def test_sizes_of_the_release(shared: Path) -> None:
    rows = read_causalchaos(shared / "data" / "causalchaos" / "Annotations.csv").rows
    assert sizes(divide("ud", rows, 0)) == (3462, 741, 742)
    found = divide("un", rows, 0)
    episodes = {one.episode: found[one.qid] for one in rows}
    assert sizes(episodes) == (113, 24, 24)
    by_rows = sizes(divide("ps", rows, 0, "rows"))
    assert max(abs(a - b) for a, b in zip(by_rows, (3459, 757, 728), strict=True)) <= 1
    assert divide("ps", rows, 0, "rows")["85"] == "test"  # frames 1,600 to 2,100: from the episode's beginning
    assert divide("ps", rows, 0)["85"] == "train"
