import pytest
from hypothesis import given
from hypothesis import strategies as st
from stressreel.language.clauses import clauses, main_clause
from stressreel.language.rewrite import change_tense, negate, passive_obstacle, remove_negation, to_passive
from stressreel.language.tagger import load_tagger

TAGGER = load_tagger("pattern")
WORDS = (
    "a the man women dog is are not riding rides ride rode picks up ball and who that by of , . to her because eaten"
)


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
    ],
)
def test_had_and_can(text: str, negative: str) -> None:
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


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a man cuts onions and adds oil", "onions are cut by a man who adds oil"),
        ("a man is cutting onions and adding oil", "onions are being cut by a man who is adding oil"),
        ("she cuts onions and adds oil", "onions are cut by her and she adds oil"),
        ("a man cutting onions and adding oil", "onions being cut by a man adding oil"),
        ("a machine cuts onions and sings", "onions are cut by a machine that sings"),
        ("he did not eat the apples", "the apples were not eaten by him"),
        ("A man, who is tall, slowly picks the ball up.", "The ball is slowly picked up by a man, who is tall."),
    ],
)
def test_to_passive(text: str, expected: str) -> None:
    caption = TAGGER.analyse(text)
    main = next(c for c in clauses(caption) if c.role in ("main", "modifier"))
    assert to_passive(caption, main) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [("a man shows himself", "what is done is done to the doer"), ("she is a chef", "no verb with an object")],
)
def test_obstacles(text: str, expected: str) -> None:
    caption = TAGGER.analyse(text)
    main = main_clause(caption)
    assert main is not None
    assert passive_obstacle(caption, main) == expected
    assert to_passive(caption, main) is None


@given(st.lists(st.sampled_from(WORDS.split()), max_size=14).map(" ".join))
def test_any_words_can_be_rewritten(text: str) -> None:
    caption = TAGGER.analyse(text)
    for clause in clauses(caption):
        assert (to_passive(caption, clause) is None) == bool(passive_obstacle(caption, clause))
        assert (negate(caption, clause) is None) != (remove_negation(caption, clause) is None)
        changed = change_tense(caption, [clause])
        assert changed is None or changed.strip()
