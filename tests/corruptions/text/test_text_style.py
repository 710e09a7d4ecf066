import pytest
from captions import perturb


@pytest.mark.parametrize("text", ["a man rides a horse", "dogs are barking", "she has eaten", "man riding a horse"])
def test_a_negation_is_taken_back(text: str) -> None:
    negated = perturb("reverse_neg", text).text
    assert " not " in negated
    assert perturb("reverse_neg", negated).text == text
