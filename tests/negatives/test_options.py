from collections import Counter

import pytest
from stressreel.language.words import text_key
from stressreel.negatives.options import Negative, arrange, even_places, plain_style

from .test_content_words import CASES

NAMES = ("Tom", "Mammy Two Shoes")


@pytest.mark.parametrize(("text", "styled"), CASES["plain_style"].items())
def test_plain_style(text: str, styled: str) -> None:
    assert plain_style(text, NAMES) == plain_style(styled, NAMES) == styled
    assert text_key(styled) == text_key(text)


def test_arrange_keeps_sources_and_is_uniform() -> None:
    negatives = [Negative(f"n{i}", f"wrong {i}", 0.5, 0.5, 0.25, "hard") for i in range(4)]
    counts, orders = Counter[int](), Counter[tuple[str, ...]]()
    for number in range(1000):
        choice = arrange("right", negatives, 7, f"q{number}", "answer")
        assert choice.options[choice.answer_index] == "right"
        assert choice.sources[choice.answer_index] is None
        assert [s.text if s else "right" for s in choice.sources] == list(choice.options)
        counts[choice.answer_index] += 1
        orders[choice.options] += 1
    assert min(counts.values()) > 160
    assert len(orders) == 120
    again, other = ([arrange("right", negatives, 7, f"q{n}", kind).options for n in range(1000)]
                    for kind in ("answer", "explanation"))  # fmt: skip
    assert Counter(again) == orders
    assert again != other


@pytest.mark.parametrize("rows", [5, 61, 742])
def test_places_are_even(rows: int) -> None:
    ids = [f"q{n}" for n in range(rows)]
    places = even_places(ids, 5, 0, "ud/answer")
    counts = Counter(places.values())
    assert max(counts.values()) - min(counts[place] for place in range(5)) == (rows % 5 > 0)
    assert even_places(ids[::-1], 5, 0, "ud/answer") == places
    assert rows == 5 or even_places(ids, 5, 1, "ud/answer") != places != even_places(ids, 5, 0, "ud/explanation")
