import pytest
from stressreel.language.people import Cast
from stressreel.negatives.confusion import Confuser
from stressreel.negatives.roles import find_restated, read_roles

CAST = Cast(("Tom", "Jerry", "Spike"), {"tom": "male", "jerry": "male", "spike": "male"})
CONFUSER = Confuser(CAST)


def restated(question: str, answer: str) -> str | None:
    """Return the part of an answer that restates its question."""
    roles = read_roles(CONFUSER.read(question), CAST)
    caption = CONFUSER.read(answer)
    found = find_restated(caption, roles.predicate, roles.subject.key[-1])
    return found and caption.slice((found.first, found.stop - 1))


@pytest.mark.parametrize(
    ("question", "answer", "expected"),
    [
        ("Why did Tom close the door?", "Tom wanted to stop Jerry by closing the door", "closing the door"),
        ("Why did Tom run away?", "Tom ran away to hide", "ran away"),
        ("Why was Tom frowning?", "Tom was frowning because Jerry kept hitting Tom", "frowning"),
        ("Why was Tom laughing?", "Tom was laughing at Jerry", None),  # "at" belongs to it
        ("Why did Tom bark?", "Tom wanted to scare Jerry with his bark", None),  # a noun
        ("Why did Tom hit Jerry?", "Jerry was hit by Tom", None),  # the passive
        ("Why did Tom jump?", "Tom wanted to make Jerry jump", None),  # somebody else does it
    ],
)
def test_restated_predicate_is_found(question: str, answer: str, expected: str | None) -> None:
    assert restated(question, answer) == expected


@pytest.mark.parametrize(
    ("question", "verb", "rest"),
    [
        ("Why did the store owner bang his head?", "bang", "his head"),
        ("Why was Jerry running with the kitten?", "run", "with the kitten"),
    ],
)
def test_questions_are_read(question: str, verb: str, rest: str) -> None:
    predicate = read_roles(CONFUSER.read(question), CAST).predicate
    assert (predicate.verb, predicate.rest) == (verb, rest)
