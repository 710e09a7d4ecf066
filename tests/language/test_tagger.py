import pytest
from stressreel.language.tagger import StyleOption, load_tagger

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
]
ORDERS = [
    ("close the bun", "VB DT NN"),
    ("mix the flour and whisk it", "VB DT NN CC VB PRP"),
    ("add oil and mix", "VB NN CC VB"),
    ("place mix and juice", "VB NN CC NN"),
    ("juice a lemon and stir", "VB DT NN CC VB"),
    ("oil the grill and grill the meat", "VB DT NN CC VB DT NN"),
    ("add salt and pepper to the pan", "VB NN CC NN TO DT NN"),
    ("mix well let it simmer", "VB RB VB PRP VB"),
    ("deep fry the fish", "RB VB DT NN"),
]


@pytest.mark.parametrize(("text", "tags", "style"), STATEMENTS)
def test_statements(text: str, tags: str | None, style: str) -> None:
    caption = TAGGER.analyse(text)
    assert tags is None or " ".join(token.tag for token in caption.tokens) == tags
    assert caption.style == style


@pytest.mark.parametrize(("text", "tags"), ORDERS)
def test_orders(text: str, tags: str) -> None:
    caption = TAGGER.analyse(text, "imperative")
    assert " ".join(token.tag for token in caption.tokens) == tags
    assert caption.style == "imperative"


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
