import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from stressreel.negatives.option_models import MOST_LEFT_OUT, leave_out

NAMES = [f"q{row:05}" for row in range(100)]
CHANCE = 0.2


def test_guessed_rows_are_excluded_until_chance() -> None:
    hits = np.zeros((100, 1))
    assert not leave_out(np.zeros((100, 1)), hits, NAMES, CHANCE).any()
    hits[:30] = 1
    out = leave_out(np.zeros((100, 1)), hits, NAMES, CHANCE)
    assert not out[30:].any()
    assert 1 - out[:30].mean() == pytest.approx(17 / 30)  # 17 of 87 is the first share below a fifth


def test_rows_that_unbalance_cues_are_excluded_first() -> None:
    hits, differ = np.zeros((100, 1)), np.zeros((100, 1))
    hits[:40], differ[:10], differ[10:20] = 1, 1, -0.5
    out = leave_out(differ, hits, NAMES, CHANCE)
    assert out[:10].sum() > out[10:20].sum()
    assert abs(differ[~out].sum()) < abs(differ.sum())


@given(st.integers(0, 40), st.integers(0, 2**31))
def test_at_most_a_quarter_is_excluded(count: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    hits, differ = (rng.random((count, 3)) < 0.5).astype(float), rng.standard_normal((count, 2)).round(0)  # with ties
    out = leave_out(differ, hits, NAMES[:count], CHANCE)
    assert out.sum() <= MOST_LEFT_OUT * count
    order = rng.permutation(count)
    assert leave_out(differ[order], hits[order], [NAMES[row] for row in order], CHANCE).tolist() == out[order].tolist()
