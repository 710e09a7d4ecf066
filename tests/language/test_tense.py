import pytest
from stressreel.language.clauses import main_clause
from stressreel.language.tagger import load_tagger
from stressreel.language.tense import change_tense, other_tense

TAGGER = load_tagger("pattern")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a man rides a horse", "a man rode a horse"),
        ("a man rode a horse", "a man rides a horse"),
        ("they were riding", "they are riding"),
        ("she has eaten", "she had eaten"),
        ("he will swim", "he would swim"),
        ("he cannot swim", "he could not swim"),
        ("she isn't dancing", "she wasn't dancing"),
    ],
)
def test_change_tense(text: str, expected: str) -> None:
    caption = TAGGER.analyse(text)
    main = main_clause(caption)
    assert main is not None
    assert change_tense(caption, [main]) == expected


def test_what_has_no_tense_stays() -> None:
    caption = TAGGER.analyse("man riding a horse")
    main = main_clause(caption)
    assert main is not None
    assert other_tense(caption, main) is None
    assert change_tense(caption, [main]) is None
