import pytest
from stressreel.language.tagger import load_tagger

TAGGER = load_tagger("pattern")


@pytest.mark.parametrize(
    ("text", "tags"),
    [
        ("person the open the door", "NN PRP VBP DT NN"),
        ("person opening a door", "NN VBG DT NN"),
        ("person grabs cup turns off lamp", "NN VBZ NN VBZ IN NN"),
        ("person smiles as the close the window", "NN VBZ IN PRP VBP DT NN"),
        ("person sits down and covers up with it", "NN VBZ RB CC VBZ IN IN PRP"),
        ("person watches themselves undress", "NN VBZ PRP VB"),
        ("person goes to bed", "NN VBZ TO NN"),
        ("person begins to dress", "NN VBZ TO VB"),
        ("person drinks drinks from a glass", "NN VBZ NNS IN DT NN"),
        ("person opens washing machine", "NN VBZ NN NN"),
        ("person puts it into it's bag", "NN VBZ PRP IN PRP POS NN"),
    ],
)
def test_what_must_be_a_verb_is_one(text: str, tags: str) -> None:
    caption = TAGGER.analyse_clipped(text)
    assert " ".join(token.tag for token in caption.tokens) == tags
    assert caption.text == text


def test_other_captions_are_not_read_as_clipped() -> None:
    text = "person the open the door"
    assert TAGGER.analyse(text).tokens[1].tag == "DT"
