import pytest
from stressreel.negatives.content_words import may_be_right

QUESTION = "Why did Tom hit Jerry?"


@pytest.mark.parametrize(
    ("candidate", "right", "expected"),
    [
        ("Tom was furious at Jerry", ("Tom was angry at Jerry",), True),  # the same effect in other words
        ("Tom was angry", ("Tom was annoyed that Jerry ate the cheese",), True),  # says part of it
        ("Tom wanted to inflict pain on Jerry", ("Jerry ate the cheese",), True),  # says what the question says
        ("Tom was angry at Jerry", ("Jerry ate the cheese",), True),  # a feeling goes with whatever is the reason
        ("Tom wanted to catch Jerry", ("Jerry ate the cheese",), True),  # and so does an aim that anybody has
        ("Tom wanted to catch Jerry", ("Tom was angry at Jerry",), False),
        ("Tom wanted to sleep", ("Tom was angry at Jerry",), False),
        ("Tom was not angry at Jerry", ("Tom was angry at Jerry",), False),
        ("Tom saw a ghost", ("Jerry ate the cheese", "Tom was hungry"), False),
    ],
)
def test_words_tell_what_may_be_right_too(candidate: str, right: tuple[str, ...], expected: bool) -> None:
    assert may_be_right(candidate, QUESTION, right) is expected
