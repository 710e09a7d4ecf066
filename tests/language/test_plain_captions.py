import pytest
from stressreel.language.plain_captions import Refused, plain_sentence


@pytest.mark.parametrize(
    ("given", "plain"),
    [
        ("He hugs her.", "they hugs them"),
        ("She brushes her hair!", "they brushes their hair"),
        ("a women's hat", "a people's hat"),
        ("A man sits at at a table", "a person sits at a table"),
        ("persno opend the door", "person opened the door"),
        ("person #2 & a boy", "person 2 and a person"),
    ],
)
def test_plain_sentence(given: str, plain: str) -> None:
    assert plain_sentence(given) == plain


@pytest.mark.parametrize(
    ("given", "reason"), [("", "empty"), ("?!", "empty"), ("It ends. It starts.", "several_sentences")]
)
def test_what_is_no_sentence_is_refused(given: str, reason: str) -> None:
    with pytest.raises(Refused, match=reason):
        plain_sentence(given)
