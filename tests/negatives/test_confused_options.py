from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import product

import numpy as np
import pytest
from numpy.typing import NDArray
from stressreel.core.numerics import rng_for
from stressreel.language.people import Cast
from stressreel.language.words import text_key
from stressreel.negatives import set_matching
from stressreel.negatives.confused_options import (
    ConfusedOptions,
    QuestionOptions,
    Results,
    confuse_correct,
    confuse_evenly,
)
from stressreel.negatives.confusion import Confuser, Confusion, Unconfused
from stressreel.negatives.content_words import may_be_right
from stressreel.negatives.options import Negative, OptionSet

CONFUSER = Confuser(Cast(("Tom", "Jerry", "Spike"), {"tom": "male", "jerry": "male", "spike": "male"}))
DID = ("chasing", "hitting", "hugging", "pulling", "pushing", "calling", "helping", "carrying", "washing", "feeding")
ALONE = "Hello there, everybody!"
WIDTH = 8


def embed(texts: Sequence[str]) -> NDArray[np.float32]:
    """Return made-up embeddings: of words, in their order."""
    found = np.zeros((len(texts), WIDTH))
    for row, text in enumerate(texts):
        for place, word in enumerate(text_key(text).split()):
            found[row] += rng_for(0, word).standard_normal(WIDTH) / (place + 2)
    return (found / np.linalg.norm(found, axis=1, keepdims=True)).astype(np.float32)


def option_set(options: Sequence[str], right: int) -> OptionSet:
    negatives = [Negative(f"lender{n}", text, 0.5, 0.4, 0.2, "hard") for n, text in enumerate(options)]
    return OptionSet(tuple(options), right, tuple(None if n == right else one for n, one in enumerate(negatives)))


def told(number: int, *, alone: bool = False) -> QuestionOptions:
    """A question whose options can all be turned round; the right one cannot, where it is to be alone."""
    some = [DID[(number + step) % len(DID)] for step in range(5)]
    right = ALONE if alone else f"Tom was {some[0]} Jerry."
    options = [f"Spike was {verb} Tom." if number % 2 else f"Jerry was not {verb} Spike." for verb in some[1:]]
    options.insert(number % 5, right)
    rights = (right, "The bell broke.")
    return QuestionOptions(f"q{number:02}", "Why did the alarm ring?", rights, option_set(options, number % 5))


def confuse(rows: Sequence[QuestionOptions], seed: int = 0, most: int = 2) -> Mapping[str, ConfusedOptions]:
    return confuse_evenly(rows, CONFUSER, embed, most=most, seed=seed, kind="answer")


def pairs(found: Mapping[str, ConfusedOptions]) -> tuple[int, int]:
    """Count all pairs, and those of which one is right."""
    placed = [outcome for confused in found.values() for outcome in confused.outcomes if outcome.position is not None]
    return len(placed), sum(outcome.of == "right" for outcome in placed)


@pytest.mark.parametrize(("rows", "every", "most"), [(5, 0, 2), (23, 4, 1), (40, 4, 2)])
def test_one_twin_in_five_is_right(rows: int, every: int, most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Up to rounding at the start; matching keeps near it, and as many right options turned round."""
    some = [told(n, alone=bool(every) and n % every == 0) for n in range(rows)]
    matched = confuse(some, most=most)
    monkeypatch.setattr(set_matching, "SWEEPS", 0)
    count, right = pairs(confuse(some, most=most))
    assert right == pytest.approx(2 * count / 5, abs=1.5)
    found, still_right = pairs(matched)
    assert still_right >= right
    assert rows < 40 or abs(still_right / (2 * found) - 0.2) < 0.05
    assert {len({o.position for o in each.outcomes} - {None}) for each in matched.values()} <= {*range(most + 1)}
    for row in some:
        if row.rights[0] == ALONE:
            assert all(outcome.position is None for outcome in matched[row.id].outcomes if outcome.of == "right")


def test_outcomes_match_the_options() -> None:
    some = [told(n) for n in range(20)]
    found = confuse(some)
    for row in some:
        before, after, outcomes = row.choice, found[row.id].choice, found[row.id].outcomes
        assert after.answer_index == before.answer_index
        placed = {outcome.position: outcome for outcome in outcomes if outcome.position is not None}
        assert {n for n in range(5) if after.options[n] != before.options[n]} == placed.keys() - {after.answer_index}
        assert len({text_key(text) for text in after.options}) == 5
        for place, outcome in placed.items():
            source, text = after.sources[place], after.options[place]
            assert source is not None
            assert isinstance(outcome.result, Confusion)
            assert (text, source.kind) == (outcome.result.text, outcome.result.kind)
            assert (source.id == row.id) == (outcome.of == "right")
            bases = (CONFUSER.swap, CONFUSER.negation), set(after.options) - {text}
            assert text in {made.text for way, base in product(*bases) if isinstance(made := way(base), Confusion)}


def test_twins_are_never_right() -> None:
    """Each confused distractor says what the question or a right text says."""
    right, other = "Tom was angry.", "Spike was chasing Jerry."
    options = (right, "Jerry was not furious.", "Jerry was chasing Spike.", "Tom did not run away.", "The roof fell.")
    question = QuestionOptions("", "Why did Tom push Jerry?", (right, other), option_set(options, 0))
    rows = [QuestionOptions(f"q{n}", question.question, question.rights, question.choice) for n in range(15)]
    outcomes = [outcome for confused in confuse(rows).values() for outcome in confused.outcomes]
    results = [outcome.result for outcome in outcomes if outcome.of == "wrong"]
    twins = [result.text for result in results if isinstance(result, Confusion)]
    assert twins
    assert not any(may_be_right(twin, question.question, question.rights) for twin in twins)


@pytest.mark.full
def test_seed_and_not_order_decides() -> None:
    some = [told(n) for n in range(40)]
    assert confuse(some[::-1]) == confuse(some) != confuse(some, seed=1)


RIGHT = "Tom was hitting Jerry."
MADE: Results = {"negation": CONFUSER.negation(RIGHT), "swap": CONFUSER.swap(RIGHT)}


@pytest.mark.parametrize("count", [0, 1, 2])
def test_confusions_replace_distractors_at_random(count: int) -> None:
    before = option_set(["a", "b", RIGHT, "c", "d"], 2)
    kinds, places = Counter[str](), set[int]()
    for number in range(80):
        after = confuse_correct(before, MADE, count=count, seed=0, item_id=str(number), kind="answer").choice
        differing = [n for n in range(5) if after.options[n] != before.options[n]]
        assert len(differing) == count
        assert (after.answer_index, after.options[2], len(set(after.options))) == (2, RIGHT, 5)
        kinds.update(source.kind for n in differing if (source := after.sources[n]))
        places.update(differing)
    assert places == ({0, 1, 3, 4} if count else set())
    assert min(kinds["swap"], kinds["negation"]) >= {0: 0, 1: 20, 2: 80}[count]


def test_repeated_option_replaces_nothing() -> None:
    before = option_set(["tom was not hitting jerry", "b", RIGHT, "c", "d"], 2)
    after = confuse_correct(before, MADE, count=2, seed=0, item_id="7", kind="answer")
    assert after.outcomes[0].result == Unconfused("negation", "another option says the same")
    assert sum(one != other for one, other in zip(after.choice.options, before.options, strict=True)) == 1
