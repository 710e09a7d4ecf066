import pytest
from stressreel.language.tag_repairs.sentences import repair_tags

MISTAGGED = [  # words that NLTK's tagger has seen as no verb at all
    ("a person walks into the hallway", ["DT", "NN", "WRB", "IN", "DT", "NN"], "VBZ"),
    ("a person fixes their hair", ["DT", "NN", "POS", "PRP$", "NN"], "VBZ"),
    ("Tom saw Jerry push the trap", ["NNP", "VBD", "NNP", "IN", "DT", "NN"], "VB"),
]


@pytest.mark.parametrize(("text", "tags", "expected"), MISTAGGED)
def test_a_verb_is_never_left_in_a_closed_class(text: str, tags: list[str], expected: str) -> None:
    found, _ = repair_tags(text.split(), tags, "declarative")
    place = next(n for n, tag in enumerate(tags) if tag in ("WRB", "POS", "IN"))
    assert found[place] == expected
