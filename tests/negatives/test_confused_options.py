from collections import Counter
from collections.abc import Sequence
from math import ceil

import numpy as np
import pytest
from numpy.typing import NDArray
from stressreel.core.seeds import rng_for
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
from stressreel.negatives.confusion import KINDS, Confuser, Confusion, Unconfused
from stressreel.negatives.content_words import may_be_right
from stressreel.negatives.options import Negative, OptionSet

GENDERS = {"tom": "male", "jerry": "male", "spike": "male"}
CONFUSER = Confuser(Cast(("Tom", "Jerry", "Spike"), GENDERS))
DID = ("chasing", "hitting", "hugging", "pulling", "pushing", "calling", "helping", "carrying", "washing", "feeding")
ALONE = "Hello there, everybody!"
ROWS = 40
WIDTH = 8


def embed(texts: Sequence[str]) -> NDArray[np.float32]:
    """Return made-up embeddings: of words, in their order."""
    found = np.zeros((len(texts), WIDTH))
    for row, text in enumerate(texts):
        for place, word in enumerate(text_key(text).split()):
            found[row] += rng_for(0, word).standard_normal(WIDTH) / (place + 2)
    return (found / np.linalg.norm(found, axis=1, keepdims=True)).astype(np.float32)


def told(number: int, *, alone: bool = False) -> QuestionOptions:
    """A question whose options can all be turned round; the right one cannot, where it is to be alone."""
    some = [DID[(number + step) % len(DID)] for step in range(5)]
    right = ALONE if alone else f"Tom was {some[0]} Jerry."
    wrong = [f"Spike was {verb} Tom." if number % 2 else f"Jerry was not {verb} Spike." for verb in some[1:]]
    options = [right, *wrong]
    place = number % 5
    options.insert(place, options.pop(0))
    sources = tuple(
        None if n == place else Negative(f"lender{n}", text, 0.5, 0.4, 0.2, "carried") for n, text in enumerate(options)
    )
    return QuestionOptions(f"q{number:02}", "Why did the alarm ring?", (right, "The bell broke."),
                OptionSet(tuple(options), place, sources))  # fmt: skip


def looks(found: dict[str, ConfusedOptions]) -> Counter[tuple[int, bool]]:
    """Count sets by how many pairs they have, and whether the right option is in one."""
    return Counter(
        (
            sum(outcome.position is not None for outcome in confused.outcomes),
            any(outcome.position is not None and outcome.of == "right" for outcome in confused.outcomes),
        )
        for confused in found.values()
    )


def exact(found: Counter[tuple[int, bool]]) -> bool:
    """Whether a twin is right in one of five, whatever the set looks like."""
    two, one = (found[pairs, True] + found[pairs, False] for pairs in (2, 1))
    return found[2, True] == two * 4 // 5 and found[1, False] == ceil(one * 3 / 5)


def near(found: Counter[tuple[int, bool]]) -> bool:
    """Whether a twin is right in about one of five."""
    twins = sum(2 * pairs * count for (pairs, _), count in found.items())
    return abs((found[1, True] + found[2, True]) / twins - 0.2) < 0.05


@pytest.mark.parametrize(("rows", "every", "most"), [(5, 0, 2), (23, 4, 1), (ROWS, 4, 2)])
def test_one_twin_in_five_is_right(rows: int, every: int, most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Exactly so at the start; matching keeps near it, and as many right options turned round."""
    some = [told(n, alone=bool(every) and n % every == 0) for n in range(rows)]
    matched = confuse_evenly(some, CONFUSER, embed, most=most, seed=0, kind="answer")
    monkeypatch.setattr(set_matching, "SWEEPS", 0)
    first = looks(confuse_evenly(some, CONFUSER, embed, most=most, seed=0, kind="answer"))
    found = looks(matched)
    assert exact(first)
    assert first[1, True] + first[2, True] > 0
    assert found[1, True] + found[2, True] >= first[1, True] + first[2, True]
    assert found.total() == rows
    assert {pairs for pairs, _ in found} <= set(range(most + 1))
    if rows == ROWS:
        assert near(found)
    for row in some:
        if row.choice.options[row.choice.answer_index] == ALONE:
            assert all(outcome.position is None for outcome in matched[row.id].outcomes if outcome.of == "right")


def test_outcomes_match_the_options() -> None:
    some = [told(n) for n in range(ROWS)]
    for name, confused in confuse_evenly(some, CONFUSER, embed, seed=0, kind="answer").items():
        before = next(row.choice for row in some if row.id == name)
        after = confused.choice
        assert after.answer_index == before.answer_index
        assert after.options[after.answer_index] == before.options[before.answer_index]
        differing = {n for n in range(5) if after.options[n] != before.options[n]}
        placed = {outcome.position: outcome for outcome in confused.outcomes if outcome.position is not None}
        assert set(placed) == differing
        assert len({text_key(text) for text in after.options}) == 5
        for place, outcome in placed.items():
            source = after.sources[place]
            assert isinstance(outcome.result, Confusion)
            assert source is not None
            assert (after.options[place], source.kind) == (outcome.result.text, outcome.result.kind)
            assert (source.id == name) == (outcome.of == "right")
            bases = [text for n, text in enumerate(after.options) if n != place]
            ways = [way(text) for text in bases for way in (CONFUSER.swap, CONFUSER.negation)]
            assert outcome.result.text in {way.text for way in ways if isinstance(way, Confusion)}


def test_twins_are_never_right() -> None:
    """Each confused distractor says what the question or a right text says."""
    right, other = "Tom was angry.", "Spike was chasing Jerry."
    options = (right, "Jerry was not furious.", "Jerry was chasing Spike.", "Tom did not run away.", "The roof fell.")
    sources = (None, *(Negative(f"x{n}", text, 0.5, 0.4, 0.2, "hard") for n, text in enumerate(options[1:])))
    rows = [
        QuestionOptions(f"q{n}", "Why did Tom push Jerry?", (right, other), OptionSet(options, 0, sources))
        for n in range(15)
    ]
    twins = 0
    for confused in confuse_evenly(rows, CONFUSER, embed, seed=0, kind="answer").values():
        for outcome in confused.outcomes:
            if outcome.of == "wrong" and isinstance(outcome.result, Confusion):
                twins += 1
                assert not may_be_right(outcome.result.text, rows[0].question, rows[0].rights)
    assert twins > 0


@pytest.mark.full
def test_seed_and_not_order_decides() -> None:
    some = [told(n) for n in range(ROWS)]
    found = confuse_evenly(some, CONFUSER, embed, seed=0, kind="answer")
    assert confuse_evenly(some[::-1], CONFUSER, embed, seed=0, kind="answer") == found
    assert confuse_evenly(some, CONFUSER, embed, seed=1, kind="answer") != found


RIGHT = "Tom was hitting Jerry."
MADE: Results = {"negation": CONFUSER.negation(RIGHT), "swap": CONFUSER.swap(RIGHT)}


def mined(*options: str) -> OptionSet:
    sources = [Negative(str(n), text, 0.5, 0.5, 0.25, "hard") for n, text in enumerate(options)]
    return OptionSet((*options[:2], RIGHT, *options[2:]), 2, (*sources[:2], None, *sources[2:]))


@pytest.mark.parametrize("count", [0, 1, 2])
def test_confusions_replace_distractors_at_random(count: int) -> None:
    before = mined("a", "b", "c", "d")
    kinds, places = Counter[str](), set[int]()
    for number in range(80):
        after = confuse_correct(before, MADE, count=count, seed=0, item_id=str(number), kind="answer").choice
        differing = [n for n in range(5) if after.options[n] != before.options[n]]
        assert len(differing) == count
        assert (after.answer_index, after.options[2], len(set(after.options))) == (2, RIGHT, 5)
        kinds.update(source.kind for n in differing if (source := after.sources[n]))
        places.update(differing)
    assert places == ({0, 1, 3, 4} if count else set())
    assert min(kinds[kind] for kind in KINDS) == count * 40 or 20 < kinds["swap"] < 60


def test_repeated_option_replaces_nothing() -> None:
    before = mined("tom was not hitting jerry", "b", "c", "d")
    after = confuse_correct(before, MADE, count=2, seed=0, item_id="7", kind="answer")
    assert after.outcomes[0].result == Unconfused("negation", "another option says the same")
    assert sum(one != other for one, other in zip(after.choice.options, before.options, strict=True)) == 1
