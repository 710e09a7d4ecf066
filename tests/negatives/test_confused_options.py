import pytest
from stressreel.language.cast import Cast
from stressreel.language.tagger import load_tagger
from stressreel.language.text_key import text_key
from stressreel.negatives.confused_options import confuse_options
from stressreel.negatives.confuser import Confuser
from stressreel.negatives.confusion import KINDS, Unconfused
from stressreel.negatives.mining import Negative, OptionSet


def confuser() -> Confuser:
    return Confuser(load_tagger("pattern"), Cast(("Tom", "Jerry"), {"tom": "male", "jerry": "male"}))


def choice(right: str) -> OptionSet:
    wrong = [Negative(str(n), f"wrong {n}", 0.5, 0.5, 0.25, "hard") for n in range(4)]
    return OptionSet(
        ("wrong 0", "wrong 1", right, "wrong 2", "wrong 3"), 2, (wrong[0], wrong[1], None, wrong[2], wrong[3])
    )


@pytest.mark.parametrize("count", [0, 1, 2])
def test_options_are_replaced(count: int) -> None:
    right = "Tom was hitting Jerry."
    before = choice(right)
    after, results = confuse_options(right, before, confuser(), count=count, seed=0, item_id="7", kind="answer")
    differing = [n for n in range(5) if after.options[n] != before.options[n]]
    assert len(differing) == count
    assert after.answer_index == 2
    assert after.options[2] == right
    assert {source.kind for n in differing if (source := after.sources[n])} <= set(KINDS)
    assert [result.kind for result in results] == list(KINDS)
    assert len({text_key(option) for option in after.options}) == 5


def test_places_and_kinds_are_drawn_by_question() -> None:
    right = "Tom was hitting Jerry."
    found = [
        confuse_options(right, choice(right), confuser(), count=1, seed=0, item_id=str(n), kind="answer")[0]
        for n in range(80)
    ]
    changed = [next(n for n in range(5) if c.options[n] != choice(right).options[n]) for c in found]
    kinds = [source.kind for c, n in zip(found, changed, strict=True) if (source := c.sources[n])]
    assert set(changed) == {0, 1, 3, 4}
    assert 20 < kinds.count("swap") < 60


def test_what_another_option_says_replaces_nothing() -> None:
    right = "Tom was hitting Jerry."
    before = choice(right)
    options = ("tom was not hitting jerry", *before.options[1:])
    after, results = confuse_options(
        right, OptionSet(options, 2, before.sources), confuser(), count=2, seed=0, item_id="7", kind="answer"
    )
    assert results[0] == Unconfused("negation", "another option says the same")
    assert sum(one != other for one, other in zip(after.options, options, strict=True)) == 1
