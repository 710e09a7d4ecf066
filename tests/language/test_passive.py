import pytest
from hypothesis import given
from hypothesis import strategies as st
from stressreel.language.clauses import clauses, main_clause
from stressreel.language.negation import negate, remove_negation
from stressreel.language.passive import to_passive
from stressreel.language.passive_obstacles import passive_obstacle
from stressreel.language.tagger import load_tagger
from stressreel.language.tense import change_tense

TAGGER = load_tagger("pattern")
WORDS = (
    "a the man women dog is are not riding rides ride rode picks up ball and who that by of , . to her because eaten"
)


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
    changed = change_tense(caption)
    assert changed is None or changed.strip()
