import pytest
from stressreel.corruptions.text.text_style import reverse_neg
from stressreel.language.tagger import load_tagger

NAMES = ("active_to_passive", "reverse_neg", "tense", "formal", "casual")
TAGGER = load_tagger("pattern")


@pytest.mark.parametrize("text", ["a man rides a horse", "dogs are barking", "she has eaten", "man riding a horse"])
def test_a_negation_is_taken_back(text: str) -> None:
    negated = reverse_neg(TAGGER.analyse(text))
    assert isinstance(negated, str)
    assert " not " in negated
    assert reverse_neg(TAGGER.analyse(negated)) == text
