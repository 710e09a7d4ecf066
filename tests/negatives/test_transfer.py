import pytest
from stressreel.language.cast import Cast
from stressreel.negatives.confuser import Confuser
from stressreel.negatives.entities import entities
from stressreel.negatives.transfer import carry_over, read_roles

CAST = Cast(
    ("Tom", "Jerry", "Spike", "Toodles"), {"tom": "male", "jerry": "male", "spike": "male", "toodles": "female"}
)
CONFUSER = Confuser(CAST)


def carried(source: str, answer: str, target: str, inject: bool = False) -> str | None:
    caption = CONFUSER.read(answer)
    roles = [read_roles(CONFUSER.read(question), CAST) for question in (source, target)]
    return carry_over(caption, tuple(entities(caption, CAST)), roles[0], roles[1], inject=inject)


@pytest.mark.parametrize(
    ("source", "answer", "target", "expected"),
    [
        ("Why did Tom hide?", "Tom was afraid of Spike", "Why did Jerry cry?", "Jerry was afraid of Spike"),
        ("Why did Tom hit Jerry?", "Jerry laughed at Tom", "Why did Spike bite Tom?", "Tom laughed at Spike"),
        ("Why did Tom hide?", "Tom was afraid of Jerry", "Why did Jerry cry?", "Jerry was afraid of Tom"),
        ("Why did Tom run?", "Tom's tail was caught", "Why did Jerry cry?", "Jerry's tail was caught"),
        ("Why did Tom run?", "It was raining", "Why did Jerry cry?", "It was raining"),
        (
            "Why did Tom lift the cup?",
            "Tom wanted to throw the cup at Jerry",
            "Why did Spike pull the rope?",
            "Spike wanted to throw the rope at Jerry",
        ),
    ],
)
def test_who_and_what_a_question_names_takes_the_places(source: str, answer: str, target: str, expected: str) -> None:
    assert carried(source, answer, target) == expected


@pytest.mark.parametrize(
    ("source", "answer", "target"),
    [
        ("Why did Tom hide?", "Tom hurt his tail", "Why did Toodles cry?"),  # "his" would be hers
        ("Why did Tom hide?", "Tom and Jerry were afraid", "Why did Spike cry?"),  # Tom alone is moved
        ("Why did the cats run?", "The cats were afraid", "Why did Tom run?"),  # several for one
    ],
)
def test_what_cannot_be_written_is_refused(source: str, answer: str, target: str) -> None:
    assert carried(source, answer, target) is None


def test_what_has_found_no_place_takes_that_of_what_only_the_answer_names() -> None:
    asked = ("Why did Tom hide?", "Tom wanted to throw a vase", "Why did Jerry lift the rock?")
    assert carried(*asked) == "Jerry wanted to throw a vase"
    assert carried(*asked, inject=True) == "Jerry wanted to throw the rock"
