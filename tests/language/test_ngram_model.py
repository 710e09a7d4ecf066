import numpy as np
import pytest
from stressreel.language.ngram_model import NgramModel


def test_orders_are_interpolated() -> None:
    one = (1 + 2 / 4) / (3 + 2)  # of "a", "b" and the end, 1/4 each before anything is seen
    two = (1 + 2 * one) / (1 + 2)
    three = (1 + 2 * two) / (1 + 2)
    assert NgramModel(["a b"]).log_probability("A b") == pytest.approx(np.log([three] * 3))
    unseen = 2 / 4 / (3 + 2)  # then nothing follows it, so the end has the probability of its lower orders
    assert NgramModel(["a b"]).log_probability("c") == pytest.approx(np.log([unseen * (2 / 3) ** 2, one]))


def test_texts_left_out_do_not_count() -> None:
    texts = ("the cat ran", "the dog ran", "the cat ran away")
    found = NgramModel(texts).log_probability("the cat ran", without=texts[:1])
    assert found == pytest.approx(NgramModel(texts[1:]).log_probability("the cat ran"))
    assert NgramModel(texts).log_probability("the cat", without=texts) == pytest.approx(np.log([1 / 7] * 3))
