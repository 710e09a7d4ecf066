import pytest
from stressreel.language.tagger import load_tagger

TAGGER = load_tagger("pattern")
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


@pytest.mark.parametrize(("text", "tags"), ORDERS)
def test_orders(text: str, tags: str) -> None:
    caption = TAGGER.analyse(text, "imperative")
    assert " ".join(token.tag for token in caption.tokens) == tags
    assert caption.style == "imperative"
