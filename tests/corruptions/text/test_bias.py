import pytest
from stressreel.core.errors import InputError
from stressreel.corruptions.registry import Unchanged
from stressreel.corruptions.text import bias
from stressreel.corruptions.text.engine import corrupt_text
from stressreel.corruptions.text.gender_words import gendered_nouns
from stressreel.corruptions.text.lexical import read_table
from stressreel.corruptions.text.tools import nltk_tagger
from stressreel.language.parse import parse

NAMES = ("all_female", "all_male", "gender_neutral", "gender_swap")
NOBODY = Unchanged("nobody with a gender")


def rewrite(name: str, text: str, mode: str = "stressreel") -> str | Unchanged:
    found: str | Unchanged = getattr(bias, name)(parse(text), mode)
    return found


@pytest.mark.parametrize("name", NAMES)
def test_a_word_that_contains_a_gendered_one_stays(name: str) -> None:
    words = "human manhole womanizer ladybug master heroic sunshine kingdom chess hershey"
    assert {rewrite(name, f"the {word} is here") for word in words.split()} == {NOBODY}


def test_names_and_titles_stay() -> None:
    for phrase in read_table("bias")["protected"]["rows"]:
        assert rewrite("gender_swap", f"this is {phrase}".replace(" 's", "'s")) == NOBODY, phrase


def test_swapping_twice_restores_the_caption() -> None:
    """For the nouns that are each other's first choice."""
    nouns = gendered_nouns()
    both = [(word, entry.become("swap")) for word, entry in nouns.items()]
    pairs = [(one, other) for one, other in both if other in nouns and nouns[other].become("swap") == one]
    assert len(pairs) > 20
    for one, other in pairs:
        text = f"the {one} is seen with his dog and her cat"
        once = rewrite("gender_swap", text)
        assert once == f"the {other} is seen with her dog and his cat"
        assert rewrite("gender_swap", str(once)) == text


def test_the_released_tables_are_repeated_faults_included() -> None:
    assert rewrite("all_male", "a male singer", "released") == "a female singer"
    assert rewrite("all_female", "a man, a boy", "released") == "a man, a girl"
    assert isinstance(rewrite("all_female", "a man.", "released"), Unchanged)
    assert isinstance(rewrite("gender_swap", "two actors and a policeman", "released"), Unchanged)


@pytest.mark.parametrize("name", ["no_nouns", "gender_swap"])
def test_the_released_mode_is_refused_without_the_data_of_nltk(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("nltk.data.path", [])
    nltk_tagger.cache_clear()
    with pytest.raises(InputError, match="averaged_perceptron_tagger_eng"):
        corrupt_text("a man sings", name, mode="released")
    assert corrupt_text("a man sings", name).changed
