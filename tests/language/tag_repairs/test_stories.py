import pytest
from stressreel.language.tagger import load_tagger

TAGGER = load_tagger("pattern")
LIVING = frozenset(("cat", "mouse", "duck", "baby", "bear"))


@pytest.mark.parametrize(
    ("text", "tags"),
    [
        ("tom heard noises.", "NNP VBD NNS ."),
        ("the baby duck shook jerry", "DT NN NN VBD NNP"),
        ("the can jerry was in started moving", "DT NN NNP VBD IN VBD VBG"),
        ("the bear heard the cat", "DT NN VBD DT NN"),
    ],
)
def test_what_is_told(text: str, tags: str) -> None:
    caption = TAGGER.analyse_story(text, ("Tom", "Jerry"), LIVING)
    assert " ".join(token.tag for token in caption.tokens) == tags
    assert caption.text == text
