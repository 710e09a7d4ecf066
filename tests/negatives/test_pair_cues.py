"""What is seen of options some of which are twins."""

from __future__ import annotations

import math

import numpy as np
import pytest
from stressreel.negatives.pair_cues import measure_sets, word_weights

QUESTION = "Why did Tom run?"
TEXTS = (
    "Tom chased Jerry",
    "Jerry chased Tom",
    "The roof fell",
    "Tom did not chase Jerry",
    "It rained",
    "A dog barked",
)
VECTORS = {
    text: np.array([math.cos(place), math.sin(place)], np.float32) for place, text in enumerate((QUESTION, *TEXTS))
}
DENIED = np.array([False, False, False, True, False, False])
SETS = np.array([[0, 1, 2, 4, 5], [0, 3, 2, 4, 5], [4, 2, 0, 1, 5]])
PAIRS = [[(0, 1)], [(0, 1)], [(2, 3)]]
NEAR, LIKE, MOST, LETTERS, TWIN, SHARED = (slice(first, first + 4) for first in range(0, 24, 4))
NEGATED, ONE, TWO, NEARER, FARTHER = 24, 25, 26, 27, 28


@pytest.fixture(scope="module")
def shown() -> np.ndarray:
    """What is seen of three sets."""
    return measure_sets(QUESTION, TEXTS, SETS, PAIRS, DENIED, VECTORS, {"run": 1.0, "tom": 0.5})


def test_nearness_is_seen_against_the_set(shown: np.ndarray) -> None:
    cosines = np.array([math.cos(1 + place) for place in SETS[0]]).round(4)
    np.testing.assert_allclose(shown[0, :, NEAR][:, 0], 5 * (cosines - cosines.mean()), atol=1e-3)
    assert shown[0, :, NEAR][:, 2].argmax() == cosines.argmax()


def test_length_and_shared_words(shown: np.ndarray) -> None:
    lengths = np.array([len(TEXTS[place]) for place in SETS[0]]) / 20
    np.testing.assert_allclose(shown[0, :, LETTERS][:, 0], lengths - lengths.mean())
    assert (shown[0, :2, SHARED][:, 0] > 0).all()
    assert (shown[0, 2:, SHARED][:, 0] < 0).all()


def test_twins_are_seen_in_words_and_a_negation_less_than_what_it_denies(shown: np.ndarray) -> None:
    assert shown[0, :2, TWIN][:, 0].min() > shown[0, 2:, TWIN][:, 0].max()
    assert shown[1, 0, TWIN][0] > shown[1, 1, TWIN][0] > shown[1, 2:, TWIN][:, 0].max()
    assert (shown[:, :, NEGATED] > 0).tolist() == [[False] * 5, [False, True, False, False, False], [False] * 5]


def test_pairs_are_seen_with_the_nearer_twin(shown: np.ndarray) -> None:
    assert (shown[0, :, ONE] > 0).tolist() == [True, True, False, False, False]
    assert (shown[2, :, ONE] > 0).tolist() == [False, False, True, True, False]
    assert not shown[:, :, TWO].any()
    assert shown.shape == (3, 5, 33)
    assert (shown[0, :, NEARER] > 0).tolist() == [True, False, False, False, False]
    assert (shown[0, :, FARTHER] > 0).tolist() == [False, True, False, False, False]


def test_two_pairs_are_seen_as_such() -> None:
    shown = measure_sets(QUESTION, TEXTS, SETS[:1], [[(0, 1), (2, 3)]], DENIED, VECTORS, {})
    assert not shown[0, :, ONE].any()
    assert (shown[0, :, TWO] > 0).sum() == 4


def test_rare_words_of_questions_weigh_more() -> None:
    weights = word_weights(["Why did Tom run?", "Why did Tom jump?", "Why did Tom sleep?"])
    assert weights["run"] > weights["tom"] > 0
