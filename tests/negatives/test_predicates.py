import pytest
from stressreel.language.cast import Cast
from stressreel.negatives.confuser import Confuser
from stressreel.negatives.entities import entities
from stressreel.negatives.predicates import find_restated
from stressreel.negatives.transfer import carry_over, read_roles

CAST = Cast(("Tom", "Jerry", "Spike"), {"tom": "male", "jerry": "male", "spike": "male"})
CONFUSER = Confuser(CAST)


def restated(source: str, answer: str, target: str) -> str | None:
    """Carry an answer over with what it says again of its question; None where it says nothing of it again."""
    asked, other = (read_roles(CONFUSER.read(question), CAST) for question in (source, target))
    caption = CONFUSER.read(answer)
    assert asked.predicate is not None
    assert asked.subject is not None
    found = find_restated(caption, asked.predicate, asked.subject.key[-1])
    return found and carry_over(caption, tuple(entities(caption, CAST)), asked, other, restated=found)


@pytest.mark.parametrize(
    ("source", "answer", "target", "expected"),
    [
        (
            "Why did Tom close the door?",
            "Tom wanted to stop Jerry by closing the door",
            "Why did Spike chop up carrots?",
            "Spike wanted to stop Jerry by chopping up carrots",
        ),
        ("Why did Tom run away?", "Tom ran away to hide", "Why did Jerry light a match?", "Jerry lit a match to hide"),
        (
            "Why was Tom frowning?",
            "Tom was frowning because Jerry kept hitting Tom",
            "Why did Spike shake his head?",
            "Spike was shaking his head because Jerry kept hitting Spike",
        ),
    ],
)
def test_what_a_question_says_takes_the_place(source: str, answer: str, target: str, expected: str) -> None:
    assert restated(source, answer, target) == expected


@pytest.mark.parametrize(
    ("source", "answer"),
    [
        ("Why was Tom laughing?", "Tom was laughing at Jerry"),  # "at" belongs to it
        ("Why did Tom bark?", "Tom wanted to scare Jerry with his bark"),  # a noun
        ("Why did Tom hit Jerry?", "Jerry was hit by Tom"),  # the passive
        ("Why did Tom jump?", "Tom wanted to make Jerry jump"),  # somebody else does it
    ],
)
def test_what_says_something_else_is_left(source: str, answer: str) -> None:
    assert restated(source, answer, "Why did Spike eat the cake?") is None


@pytest.mark.parametrize(
    ("question", "verb", "rest"),
    [
        ("Why did the store owner bang his head?", "bang", "his head"),
        ("Why was Jerry running with the kitten?", "run", "with the kitten"),
    ],
)
def test_questions_are_read(question: str, verb: str, rest: str) -> None:
    predicate = read_roles(CONFUSER.read(question), CAST).predicate
    assert predicate is not None
    assert (predicate.verb, predicate.rest) == (verb, rest)
