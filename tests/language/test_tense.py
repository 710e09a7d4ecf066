import pytest
from stressreel.language.clauses import main_clause
from stressreel.language.tagger import load_tagger
from stressreel.language.tense import change_tense, other_tense
from stressreel.language.tense_obstacles import tense_obstacle

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
        ("she isn t dancing", "she wasn t dancing"),
        ("it's been raining", "it had been raining"),
        ("a man sings while a boy plays the drums", "a man sang while a boy played the drums"),
        ("they put the dishes down and start a movie", "they put the dishes down and started a movie"),
        (
            "a man watches a boy who is jumping because he can win",
            "a man watched a boy who was jumping because he could win",
        ),
        (
            "a man was lying there and when he realized this he laughed",
            "a man is lying there and when he realizes this he laughs",
        ),
        ('a man says "I am tired"', 'a man said "I am tired"'),
    ],
)
def test_change_tense(text: str, expected: str) -> None:
    assert change_tense(TAGGER.analyse(text)) == expected


def test_what_has_no_tense_stays() -> None:
    caption = TAGGER.analyse("man riding a horse")
    main = main_clause(caption)
    assert main is not None
    assert other_tense(caption, main) is None
    assert change_tense(caption) is None


@pytest.mark.parametrize(
    "text",
    [
        "the person takes a cup off the shelf and leaves.",
        "one person drinks while another smiles and plays a game",
        "they walk to a table and place the books on it",
        "let's go to the park",
    ],
)
def test_what_is_not_sure_stays(text: str) -> None:
    caption = TAGGER.analyse(text)
    changed = change_tense(caption)
    mixed = {"leaves", "smiles", "place", "go"} & set((changed or "").replace(".", "").split())
    assert tense_obstacle(caption) or not mixed, changed
