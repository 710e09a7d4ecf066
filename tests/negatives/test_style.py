import pytest
from stressreel.language.text_key import text_key
from stressreel.negatives.options import plain_style

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
def test_a_text_gets_capitals_and_loses_what_annotators_add(text: str, styled: str) -> None:
    assert plain_style(text, NAMES) == styled


@pytest.mark.parametrize("text", ["because tom ran.", "So that Tom  ran", "tom’s tail"])
def test_a_text_says_the_same_in_the_same_words_as_before(text: str) -> None:
    assert text_key(plain_style(text, NAMES)) == text_key(text)
    assert plain_style(plain_style(text, NAMES), NAMES) == plain_style(text, NAMES)
