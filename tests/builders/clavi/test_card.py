"""What the card measures: counts, wordings, and baselines that see no video."""

from typing import Any

import pytest
from stressreel.builders.clavi.baselines import CUTS, EXACT, blind_scores
from stressreel.builders.clavi.card import count_types, wordings_of
from stressreel.builders.clavi.questions import question_rows
from stressreel.builders.clavi.settings import ClaviSettings
from stressreel.builders.clavi.tables import ANSWERS
from stressreel.core.schema import Row

FIRST, SECOND = ("taking food", "opening door", "washing mirror"), ("taking food", "closing box", "opening bag")
USUAL, UNUSUAL = ("opening box", "closing box", "washing mirror"), ("closing box", "opening box", "washing mirror")


def pair(number: int, *phrases: str, source: int | None = None) -> Row:
    """Return a pair with these phrases of A, B and C, from a source video of its own."""
    row: Row = {"pair_id": f"{number:08x}", "source_id": f"S{source or number}"}
    for letter, phrase in zip("abc", phrases, strict=True):
        verb, _, thing = phrase.partition(" ")
        row |= {f"phrase_{letter}": phrase, f"class_{letter}": phrase, f"verb_{letter}": verb}
        row[f"objects_{letter}"] = [thing]
    times = {"start_a_s": 1.0, "end_a_s": 6.0, "start_b_s": 9.0, "end_b_s": 14.0}
    return row | times | {"out_a": 0.5, "in_a": 6.5, "in_b": 8.5, "out_b": 14.5}


def questions(pairs: list[Row]) -> list[Row]:
    rows = [row for one in pairs for variant in range(2) for row in question_rows(one, variant)]
    return [{**row, "answer": ANSWERS.index(row["answer"])} for row in rows]


def guess(known: list[Row], asked: list[Row], **settings: Any) -> dict[str, Any]:
    learnt = questions(known)
    return blind_scores(learnt, learnt if asked is known else questions(asked), known, asked, ClaviSettings(**settings))


def test_types_are_counted_by_split_and_answer() -> None:
    types = count_types({"train": questions([pair(1, *FIRST)]), "test": questions([pair(2, *SECOND)])})
    assert {kind.pop("type"): tuple(kind.values()) for kind in types} == {
        "E": ("control", {"train": 4, "test": 4}, 0, 8),
        "E-NC": ("control", {"train": 2, "test": 2}, 4, 0),
        "BE": ("complement", {"train": 8, "test": 8}, 8, 8),
        "BA": ("complement", {"train": 8, "test": 8}, 8, 8),
        "BA-NC": ("control", {"train": 16, "test": 16}, 32, 0),
    }


def test_wordings_have_letters_instead_of_actions() -> None:
    for wording in ("paper", "natural"):
        worded = wordings_of([pair(1, *FIRST)], ClaviSettings(wording=wording))["sequence"]  # type: ignore[arg-type]
        assert len(worded) == 19
        for template, text in worded:
            assert "{" not in text
            assert all(f"**{letter}**" in text for letter in (template.x, template.y) if letter)
    asked = {f"asked_{letter}": f"Did a man {letter}?" for letter in "abc"}
    (_, first), *_ = wordings_of([pair(1, *FIRST), pair(2, *SECOND) | asked], ClaviSettings())["sequence"]
    assert first == "Was someone **A**? or **A**?"


def test_fixed_answers_have_the_scores_of_the_design() -> None:
    guessed = guess([pair(1, *FIRST)], [pair(2, *SECOND)])["guessed"]
    found = [[score.value for score in scores.values()] for scores in guessed.values()]
    assert found[0] == [13 / 19, 0.5, 0, 0]  # accuracy, balanced accuracy, CAcc_V and CAcc_T of no to everything
    assert found[1] == pytest.approx([15 / 19, (1 + 9 / 13) / 2, 0, 0])  # yes, except about the negative control
    assert found[2] == pytest.approx([9 / 19, (2 / 6 + 7 / 13) / 2, 0, 0.5])  # yes to beginning and before


def test_questions_are_learnt_from_other_sources() -> None:
    same = guess([pair(1, *FIRST)], [pair(2, "opening door", "taking food", "washing mirror")])
    misled = guess([pair(1, *FIRST)], [pair(2, "washing mirror", "taking food", "opening door")])
    assert (same["by_text"], misled["by_text"]) == (1, 0.25)
    for source, share in ((1, 0.5), (3, 1)):
        pairs = [pair(1, *FIRST), pair(3, *FIRST, source=source)]
        assert guess(pairs, pairs)["by_text"] == share


@pytest.mark.parametrize(
    ("asked", "cuts", "score"), [(USUAL, "release", 1), (UNUSUAL, "release", 0), (USUAL, "balanced", 0)]
)
def test_cuts_and_usual_order_answer_what_flips(asked: tuple[str, ...], cuts: str, score: float) -> None:
    found = guess([pair(number, *USUAL) for number in range(1, 4)], [pair(9, *asked)], cuts=cuts)
    assert found["cuts"]["sequence"].value == found["guessed"][CUTS]["CAcc_V, complement"].value == score
    assert found["guessed"][EXACT]["CAcc_V, complement"].value == 0
