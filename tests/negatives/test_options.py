from collections import Counter

import pytest
from stressreel.language.words import text_key
from stressreel.negatives.options import Negative, arrange, even_places, plain_style

NAMES = ("Tom", "Mammy Two Shoes")


@pytest.mark.parametrize(
    ("text", "styled"),
    [
        ("because tom was scared.", "Tom was scared"),
        ("Because of the rain .", "Because of the rain"),
        ("tom 's tail hurt , so tom ran !", "Tom 's tail hurt, so Tom ran"),
        ("to wake mammy two shoes", "To wake Mammy Two Shoes"),
        ("Tomorrow was sunny", "Tomorrow was sunny"),
        ("BECAUSE TOM RAN OVER MAMMY TWO SHOES", "Tom ran over Mammy Two Shoes"),
        ("because", "Because"),
        ("...", "..."),
    ],
)
def test_plain_style(text: str, styled: str) -> None:
    assert plain_style(text, NAMES) == styled


@pytest.mark.parametrize("text", ["because tom ran.", "So that Tom  ran", "tom’s tail"])
def test_plain_style_keeps_words_and_is_idempotent(text: str) -> None:
    assert text_key(plain_style(text, NAMES)) == text_key(text)
    assert plain_style(plain_style(text, NAMES), NAMES) == plain_style(text, NAMES)


def negatives(count: int) -> list[Negative]:
    return [Negative(f"n{i}", f"wrong {i}", 0.5, 0.5, 0.25, "hard") for i in range(count)]


def test_arrange_keeps_sources_and_is_uniform() -> None:
    counts = Counter[int]()
    orders = Counter[tuple[str, ...]]()
    for number in range(1000):
        choice = arrange("right", negatives(4), 7, f"q{number}", "answer")
        assert choice.options[choice.answer_index] == "right"
        assert choice.sources[choice.answer_index] is None
        assert [s.text if s else "right" for s in choice.sources] == list(choice.options)
        assert sorted(choice.options) == ["right", "wrong 0", "wrong 1", "wrong 2", "wrong 3"]
        counts[choice.answer_index] += 1
        orders[choice.options] += 1
    assert min(counts.values()) > 160
    assert len(orders) == 120
    assert arrange("right", negatives(4), 7, "q1", "answer") == arrange("right", negatives(4), 7, "q1", "answer")
    places = [[arrange("r", negatives(4), 7, f"q{n}", kind).answer_index for n in range(50)]
              for kind in ("answer", "explanation")]  # fmt: skip
    assert places[0] != places[1]


@pytest.mark.parametrize("rows", [5, 61, 742])
def test_places_are_even(rows: int) -> None:
    ids = [f"q{n}" for n in range(rows)]
    places = even_places(ids, 5, 0, "ud/answer")
    counts = Counter(places.values())
    assert max(counts.values()) - min(counts[place] for place in range(5)) == (rows % 5 > 0)
    assert even_places(ids[::-1], 5, 0, "ud/answer") == places
    assert rows == 5 or even_places(ids, 5, 1, "ud/answer") != places
    assert rows == 5 or even_places(ids, 5, 0, "ud/explanation") != places
