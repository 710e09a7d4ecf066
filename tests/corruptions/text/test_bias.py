import pytest
from stressreel.core.errors import InputError
from stressreel.corruptions.registry import Unchanged
from stressreel.corruptions.text import bias
from stressreel.corruptions.text.engine import corrupt_text
from stressreel.corruptions.text.gender_words import gendered_nouns
from stressreel.corruptions.text.lexical import read_table
from stressreel.corruptions.text.tools import nltk_tagger
from stressreel.language.parse import parse

NOBODY = Unchanged("nobody with a gender")


def rewrite(name: str, text: str, mode: str = "stressreel") -> str | Unchanged:
    result: str | Unchanged = getattr(bias, name)(parse(text), mode)
    return result


@pytest.mark.parametrize("name", ["all_female", "all_male", "gender_neutral", "gender_swap"])
def test_words_without_gender_and_names_stay(name: str) -> None:
    words = "human manhole womanizer ladybug master heroic sunshine kingdom chess hershey"
    assert {rewrite(name, f"the {word} is here") for word in words.split()} == {NOBODY}
    for phrase in read_table("bias")["protected"]["rows"]:
        assert rewrite(name, f"this is {phrase}".replace(" 's", "'s")) == NOBODY, phrase


def test_swapping_twice_restores_the_caption() -> None:
    """For the nouns that are each other's first choice."""
    nouns = gendered_nouns()
    swapped = {word: entry.become("swap") for word, entry in nouns.items()}
    pairs = [(word, other) for word, other in swapped.items() if swapped.get(other) == word]
    assert len(pairs) > 20
    for word, other in pairs:
        text, once = f"the {word} is seen with his dog and her cat", f"the {other} is seen with her dog and his cat"
        assert (rewrite("gender_swap", text), rewrite("gender_swap", once)) == (once, text)


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("all_male", "a male singer", "a female singer"),
        ("all_female", "a man, a boy", "a man, a girl"),
        ("all_female", "a man.", None),
        ("gender_swap", "two actors and a policeman", None),
    ],
)
def test_released_tables_keep_their_errors(name: str, text: str, expected: str | None) -> None:
    result = rewrite(name, text, "released")
    assert result == expected or (expected is None and isinstance(result, Unchanged))


@pytest.mark.parametrize("name", ["no_nouns", "gender_swap"])
def test_released_mode_requires_nltk_data(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("nltk.data.path", [])
    nltk_tagger.cache_clear()
    with pytest.raises(InputError, match="averaged_perceptron_tagger_eng"):
        corrupt_text("a man sings", name, mode="released")
    assert corrupt_text("a man sings", name).changed
