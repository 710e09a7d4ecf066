import pytest
from stressreel.language.clauses import main_clause
from stressreel.language.passive_obstacles import passive_obstacle
from stressreel.language.tense_obstacles import tense_obstacle
from stressreel.language.verb_doubts import UNSURE, verbs_unsure
from stressreel.language.words import Caption, tokenize


def tagged(text: str) -> Caption:
    """Return a caption with the tags that stand behind its words, as another tagger may give them."""
    words = [part.rpartition("/") for part in text.split()]
    plain = " ".join(word for word, _, _ in words)
    tokens = zip(tokenize(plain), (tag for _, _, tag in words), strict=True)
    return Caption(plain, tuple(token.with_tag(tag) for token, tag in tokens), "declarative")


@pytest.mark.parametrize(
    "text",
    [
        "city/NN limits/NNS photograph/VBP taken/VBN from/IN a/DT point/NN",
        "he/PRP walked/VBD in/IN while/IN holding/VBG a/DT phone/NN and/CC stood/NN in/IN the/DT room/NN",
    ],
)
def test_tags_of_another_tagger(text: str) -> None:
    caption = tagged(text)
    main = main_clause(caption)
    assert main is not None
    assert tense_obstacle(caption) == UNSURE
    assert verbs_unsure(caption, main)


def test_adverb_read_as_an_object() -> None:
    caption = tagged("Tom/NNP was/VBD floating/VBG upwards/NNS and/CC wanted/VBD to/TO stay/VB")
    main = main_clause(caption)
    assert main is not None
    assert passive_obstacle(caption, main) == "not sure where its object ends"
