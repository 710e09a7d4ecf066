import pytest
from stressreel.language.tagger import load_tagger
from stressreel.language.words import StyleOption

TAGGER = load_tagger("pattern")
STATEMENTS = [
    ("two kids with toys", "CD NNS IN NNS", "noun_phrase"),
    ("a dog plays", "DT NN VBZ", "declarative"),
    ("a man and a woman ride horses", "DT NN CC DT NN VBP NNS", "declarative"),
    ("a man who is cooking talks to people", "DT NN WP VBZ VBG VBZ TO NNS", "declarative"),
    ("a woman is slicing bread and decorating the meal", "DT NN VBZ VBG NN CC VBG DT NN", "declarative"),
    ("a car s alternator wasn t working", "DT NN POS NN VBD RB VBG", "declarative"),
    ("a man looks at pipes and talks to a priest", "DT NN VBZ IN NNS CC VBZ TO DT NN", "declarative"),
    ("her hair is brown", "PRP$ NN VBZ JJ", "declarative"),
    ("a man sees her", "DT NN VBZ PRP", "declarative"),
    ("close up of a man", None, "noun_phrase"),
    ("person open the door", "NN VBP DT NN", "declarative"),
    ("person drink coffee", "NN VBP NN", "declarative"),
    ("person points at the wall", "NN VBZ IN DT NN", "declarative"),
    ("person a closes the door", "NN DT VBZ DT NN", "declarative"),
    ("a person is standing in a doorway smiling", "DT NN VBZ VBG IN DT NN VBG", "declarative"),
    ("a person is sitting at a table drinking coffee", "DT NN VBZ VBG IN DT NN VBG NN", "declarative"),
    ("a person is dressing by the bed", "DT NN VBZ VBG IN DT NN", "declarative"),
    ("a person begins cooking", "DT NN VBZ VBG", "declarative"),
    ("reporters speak about a school shooting", "NNS VBP IN DT NN NN", "declarative"),
    ("a kid unwrapping his presents", "DT NN VBG PRP$ NNS", "noun_phrase"),
    ("a man talks to the press regarding his movie", "DT NN VBZ TO DT NN IN PRP$ NN", "declarative"),
    ("a girl is showing how to apply make up", "DT NN VBZ VBG WRB TO VB NN NN", "declarative"),
]


@pytest.mark.parametrize(("text", "tags", "style"), STATEMENTS)
def test_statements(text: str, tags: str | None, style: str) -> None:
    caption = TAGGER.analyse(text)
    assert tags is None or " ".join(token.tag for token in caption.tokens) == tags
    assert caption.style == style


@pytest.mark.parametrize(
    ("text", "style", "expected"),
    [
        ("add the oil to the pan", "auto", "imperative"),
        ("close up of a man", "auto", "noun_phrase"),
        ("a man rides a horse", "auto", "declarative"),
        ("a man rides a horse", "imperative", "declarative"),
    ],
)
def test_styles(text: str, style: StyleOption, expected: str) -> None:
    assert TAGGER.analyse(text, style).style == expected
