import pytest
from stressreel.language.clauses import main_clause
from stressreel.language.negation import negate, remove_negation
from stressreel.language.tagger import load_tagger

TAGGER = load_tagger("pattern")


@pytest.mark.parametrize(
    ("text", "positive"),
    [
        ("nobody is dancing", "somebody is dancing"),
        ("No one is there.", "Someone is there."),
        ("the box has nothing in it", "the box has something in it"),
        ("a man is no longer singing", "a man is still singing"),
        ("there is no water in the pot", "there is some water in the pot"),
        ("there is no car", "there is a car"),
        ("he has no choice but to run", None),
        ("he did not find nothing", None),
    ],
)
def test_negative_words_become_positive(text: str, positive: str | None) -> None:
    caption = TAGGER.analyse(text)
    main = main_clause(caption)
    assert main is not None
    assert negate(caption, main) is None
    assert remove_negation(caption, main) == positive


@pytest.mark.parametrize(
    ("text", "negative"),
    [
        ("Tom had ran away", "Tom had not ran away"),
        ("he had thrown food at it", "he had not thrown food at it"),
        ("the woman has dyed hair", "the woman does not have dyed hair"),
        ("she had a plan", "she did not have a plan"),
        ("the trash can fell over", "the trash can did not fall over"),
        ("a dog can swim", "a dog cannot swim"),
        ("there are dogs on the road", "there are no dogs on the road"),
        ("there is a dog on the road", "there is not a dog on the road"),
    ],
)
def test_had_can_and_there_are(text: str, negative: str) -> None:
    caption = TAGGER.analyse(text)
    main = main_clause(caption)
    assert main is not None
    assert negate(caption, main) == negative


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Because Tom wants to catch Jerry.", "Because Tom does not want to catch Jerry."),
        ("Tom is angry that Jerry ate his cheese.", "Tom is not angry that Jerry ate his cheese."),
        ("Jerry ate it.", "Jerry did not eat it."),
        ("they have eaten", "they have not eaten"),
        ("a man slowly walks", "a man does not slowly walk"),
        ("he can swim", "he cannot swim"),
        ("he's eating", "he's not eating"),
        ("people dance", "people do not dance"),
    ],
)
def test_negate_and_back(text: str, expected: str) -> None:
    caption = TAGGER.analyse(text)
    main = main_clause(caption)
    assert main is not None
    assert negate(caption, main) == expected
    assert remove_negation(caption, main) is None
    again = TAGGER.analyse(expected)
    main = main_clause(again)
    assert main is not None
    assert negate(again, main) is None
    assert remove_negation(again, main) == text
