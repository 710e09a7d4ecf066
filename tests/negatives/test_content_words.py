import pytest
from stressreel.negatives.content_words import content_words, says_no_more


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


def test_one_of_two_says_no_more_if_the_other_has_all_its_words() -> None:
    texts = ("Jerry was scared.", "Tom and Jerry were scared", "Jerry was not scared by Tom", "It")
    short, long, opposite, none = (content_words(text) for text in texts)
    assert says_no_more(short, long)
    assert says_no_more(long, short)
    assert not says_no_more(long, content_words("Tom was scared of Spike"))
    assert not says_no_more(short, opposite)
    assert not says_no_more(none, long)
