from typing import Any

import numpy as np
import pytest
from stressreel.core.errors import InputError
from stressreel.core.seeds import rng_for
from stressreel.evaluation.probes import NEITHER, TEXT, VIDEO, attention_distance
from stressreel.evaluation.probes.reference import softmax

V, T = VIDEO, TEXT
LABELS = np.array([T, T, V, V, V, T, T, V, T])


def layers(*key: int, tokens: int = 9, heads: int = 2, count: int = 3) -> np.ndarray:
    return softmax(rng_for(0, "maps", *key).normal(0, 2, (count, heads, tokens, tokens)))


def test_maps_that_are_alike_are_0_apart_wherever_a_modality_stands() -> None:
    maps, moved = layers(0), rng_for(4, "any").permutation(9)
    found = attention_distance(maps, maps, LABELS, LABELS)
    assert (found.value, found.undivided, found.lowest, found.settled, found.tokens) == (0, 0, 0, 1, 9)
    assert attention_distance(maps, maps[:, :, moved[:, None], moved], LABELS, LABELS[moved]).value < 1e-6


def test_it_is_symmetric_and_within_its_bounds_and_padding_is_left_out() -> None:
    first, second = ([*layers(key), layers(key, heads=3, count=1)[0]] for key in (1, 2))
    forth = attention_distance(first, second, LABELS, LABELS)
    assert forth.value == pytest.approx(attention_distance(second, first, LABELS, LABELS).value, rel=1e-4)
    assert 0 < forth.lowest <= forth.value <= np.sqrt(2)
    assert forth.undivided == pytest.approx(forth.value * 3, rel=1e-6)
    assert [layer.shape for layer in forth.heads] == [(2,)] * 3 + [(3,)]
    assert forth.value == pytest.approx(np.mean(np.concatenate(forth.heads)), rel=1e-6)
    padded = [np.pad(layer, ((0, 0), (2, 1), (2, 1)), constant_values=np.nan) for layer in second]
    labels = np.concatenate([[NEITHER] * 2, LABELS, [NEITHER]])
    assert attention_distance(first, padded, LABELS, labels).value == pytest.approx(forth.value, rel=1e-6)


def test_the_farthest_maps_are_the_root_of_2_apart() -> None:
    """Every row looks at one token, in the one map at itself, in the other at the next."""
    one = np.eye(6)[None, None]
    found = attention_distance(one, np.roll(one, 1, -1), [V] * 6, [V] * 6)
    assert (found.value, found.undivided) == pytest.approx((np.sqrt(2), np.sqrt(12)), rel=1e-6)


def test_tokens_without_a_partner_count_with_row_and_column() -> None:
    first = np.array([[[0.5, 0.5], [0.5, 0.5]]])
    second = np.array([[[0.5, 0.25, 0.25], [0.5, 0.25, 0.25], [0.0, 0.0, 1.0]]])
    found = attention_distance([first], [second], [V, T], [V, T, T])
    left_over_last = 2 * 0.25**2 + 2 * 0.25**2 + 1  # the last text token is the one without a partner
    left_over_second = 2 * 0.25**2 + 0.5**2 + 0.5**2 + 0.25**2 + 0.5**2 + 0.25**2
    assert found.undivided == pytest.approx(np.sqrt(min(left_over_last, left_over_second)), rel=1e-5)
    assert (found.tokens, found.value) == (3, pytest.approx(found.undivided / np.sqrt(3)))
    only = attention_distance([first], [first], [V, V], [T, T])  # no modality in common: nothing has a partner
    assert only.undivided == pytest.approx(np.sqrt(2))


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"first": layers(0)[:2]}, "one side has 2 and the other has 3"),
        ({"first": layers(0, heads=3)}, "layer 0 has 3 heads on one side and 2"),
        ({"first": layers(0)[..., :8]}, r"shape \(2, 9, 8\).*\(heads, 9, 9\)"),
        ({"labels_first": -LABELS}, "non-negative"),
        ({"labels_first": LABELS * 0, "labels_second": LABELS * 0}, "no token has a label"),
        ({"first": layers(0) * np.nan}, "layer 0 contain non-finite values"),
    ],
)
def test_what_cannot_be_compared_is_refused(change: dict[str, Any], says: str) -> None:
    given = {"first": layers(0), "second": layers(1), "labels_first": LABELS, "labels_second": LABELS, **change}
    with pytest.raises(InputError, match=says):
        attention_distance(**given)


def test_more_rounds_do_not_lie_farther_apart() -> None:
    first, second = (layers(key, tokens=40, count=1) for key in (9, 10))
    labels = [V] * 25 + [T] * 15
    few, many = (attention_distance(first, second, labels, labels, rounds=rounds) for rounds in (1, None))
    assert (few.settled, many.settled, many.lowest) == (0, 1, few.lowest)
    assert many.value < few.value
