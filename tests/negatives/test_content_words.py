import pytest
from stressreel.negatives.content_words import content_words, may_be_right, says_no_more


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Because he was scared of the dogs", {"scare", "dog"}),
        ("Tom didn't see Jerry's cheese.", {"tom", "not", "see", "jerry", "cheese"}),
        ("Tom saw it; Tom cannot see him", {"tom", "see", "not"}),
        ("It was them.", set()),
    ],
)
def test_content_words(text: str, words: set[str]) -> None:
    assert content_words(text) == words


def test_says_no_more_compares_sets_of_words() -> None:
    texts = ("Jerry was scared.", "Tom and Jerry were scared", "Jerry was not scared by Tom", "It")
    short, long, opposite, none = (content_words(text) for text in texts)
    assert says_no_more(short, long)
    assert says_no_more(long, short)
    assert not says_no_more(long, content_words("Tom was scared of Spike"))
    assert not says_no_more(short, opposite)
    assert not says_no_more(none, long)


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
def test_may_be_right_judges_by_words(candidate: str, right: tuple[str, ...], expected: bool) -> None:
    assert may_be_right(candidate, QUESTION, right) is expected
