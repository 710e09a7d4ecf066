"""The released code's tables, faults included."""

from stressreel.corruptions.text import bias
from stressreel.corruptions.text.result import Unchanged
from stressreel.language.tagger import load_tagger


def rewrite(name: str, text: str, mode: str) -> str | Unchanged:
    found: str | Unchanged = getattr(bias, name)(load_tagger("pattern").analyse(text), mode)
    return found


def test_the_released_table_has_female_and_male_the_wrong_way_round() -> None:
    assert rewrite("all_male", "a male singer", "released") == "a female singer"
    assert rewrite("all_female", "a female singer", "released") == "a male singer"
    assert isinstance(rewrite("all_male", "a female singer", "released"), Unchanged)


def test_the_released_table_looks_at_words_between_spaces_only() -> None:
    assert rewrite("all_female", "a man, a boy", "released") == "a man, a girl"
    assert isinstance(rewrite("all_female", "a man.", "released"), Unchanged)


def test_the_released_swap_leaves_words_that_its_list_does_not_have() -> None:
    assert isinstance(rewrite("gender_swap", "two actors and a policeman", "released"), Unchanged)
