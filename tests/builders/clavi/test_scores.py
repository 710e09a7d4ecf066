"""CLAVI's scores, and what its card measures: blind oracles and baselines score what theory says."""

from typing import Any

import numpy as np
import pytest
from stressreel.builders.clavi import scores as clavi
from stressreel.builders.clavi.baselines import CUTS, EXACT, blind_scores
from stressreel.builders.clavi.card import wordings_of
from stressreel.builders.clavi.questions import question_rows
from stressreel.builders.clavi.settings import ClaviSettings
from stressreel.builders.clavi.tables import ANSWERS
from stressreel.core.errors import InputError
from stressreel.core.schema import Row
from stressreel.evaluation.metrics.bootstrap import estimates
from stressreel.evaluation.metrics.predictions import MISSING, UNREADABLE

PAIRS = {f"{number:08x}": f"SRC{number % 4}" for number in range(10)}


def rows_about(pairs: list[Row]) -> list[Row]:
    rows = [row for one in pairs for variant in range(2) for row in question_rows(one, variant)]
    return [{**row, "answer": ANSWERS.index(row["answer"])} for row in rows]


@pytest.fixture(scope="module")
def questions() -> clavi.Questions:
    phrases = {"phrase_a": "opening a door", "phrase_b": "sitting down", "phrase_c": "washing mirror"}
    rows = rows_about([{"pair_id": pair, "source_id": source, **phrases} for pair, source in PAIRS.items()])
    return clavi.questions_from({name: [row[name] for row in rows] for name in clavi.COLUMNS})


def text_only(questions: clavi.Questions) -> np.ndarray:
    """Answer as is right for V, whatever the video."""
    others = np.where(questions.variant == 1, questions.counterpart, np.arange(len(questions.ids)))
    return questions.answer[others]


def video_only(questions: clavi.Questions) -> np.ndarray:
    """Answer every Q′ as its Q: before and after (beginning and end) are not told apart."""
    link, here = questions.complement, np.arange(len(questions.ids))
    return questions.answer[np.where((link >= 0) & (link < here), link, here)]


def yes_where_blind(questions: clavi.Questions) -> np.ndarray:
    """Answer control rightly and all of complement by yes, of which there are fewer: the best of one modality."""
    return np.where(questions.flips, clavi.YES, questions.answer)


# accuracy; balanced; CAcc_V all, control, complement; CAcc_T all, control, complement
# Per video: E 2, E-NC 1, BA-NC 8 (control), BE 4 and BA 4 (complement); couples of Q and Q': 4 BA-NC, 2 BE, 2 BA.
THEORY = {
    "always yes": (6 / 19, 1 / 2, 2 / 19, 2 / 11, 0, 0, 0, 0),
    "always no": (13 / 19, 1 / 2, 9 / 19, 9 / 11, 0, 1 / 2, 1, 0),
    "text only": (15 / 19, (4 / 6 + 11 / 13) / 2, 11 / 19, 1, 0, 3 / 4, 1, 1 / 2),
    "video only": (15 / 19, (4 / 6 + 11 / 13) / 2, 15 / 19, 1, 1 / 2, 1 / 2, 1, 0),
    "yes where blind": (15 / 19, (1 + 9 / 13) / 2, 11 / 19, 1, 0, 1 / 2, 1, 0),
    "both": (1,) * 8,
}
NAMES = (
    "accuracy",
    "balanced accuracy",
    *(f"CAcc_{x}{part}" for x in "VT" for part in ("", " control", " complement")),
)


def test_oracles_score_what_theory_says(questions: clavi.Questions) -> None:
    picks = {
        "always yes": np.full(len(questions.ids), clavi.YES),
        "always no": np.full(len(questions.ids), clavi.NO),
        "text only": text_only(questions),
        "video only": video_only(questions),
        "yes where blind": yes_where_blind(questions),
        "both": questions.answer,
    }
    for name, answers in picks.items():
        found = estimates(clavi.count(questions, answers), clavi.measure, resamples=100)
        assert [found[score].value for score in NAMES] == pytest.approx(THEORY[name]), name


@pytest.mark.parametrize("place", [0, -1])  # the first of its couples, and the second
def test_unreadable_counts_wrong_and_missing_is_excluded(questions: clavi.Questions, place: int) -> None:
    picks = questions.answer.copy()
    be = int(np.flatnonzero(questions.flips)[place])
    totals = clavi.count(questions, picks).totals()
    picks[be] = UNREADABLE
    counted = clavi.count(questions, picks)
    assert counted.totals() == totals
    means = {name: value[0] for name, value in counted.means(np.ones((1, 4))).items()}
    assert means["all"] == pytest.approx(1 - 1 / len(picks))
    assert means["CAcc_V complement"] == pytest.approx(1 - 1 / totals["CAcc_V complement"])
    picks[be] = MISSING
    counted = clavi.count(questions, picks)
    assert [totals[name] - counted.totals()[name] for name in ("all", "CAcc_V", "CAcc_T")] == [1, 1, 1]
    assert {value[0] for value in counted.means(np.ones((1, 4))).values()} == {1.0}


def test_fine_grained_table_matches_table_15(questions: clavi.Questions) -> None:
    """Yes to everything is right about Q in V and about Q′ in V′."""
    table = clavi.tables(clavi.count(questions, np.full(len(questions.ids), clavi.YES)))[2]
    shape = [("E", "Q"), ("E-NC", "-"), ("BE", "Q"), ("BE", "Q′"), ("BA", "Q"), ("BA", "Q′"), ("BA-NC", "-")]
    assert [row[:3] for row in table.rows] == [(v, *each) for v in ("V", "V′") for each in shape]
    assert sum(row[4] for row in table.rows) == len(questions.ids)
    found = {row[:3]: row[3] for row in table.rows}
    assert found["V", "BA", "Q"] == found["V′", "BE", "Q′"] == 1
    assert found["V", "BA", "Q′"] == found["V′", "BE", "Q"] == 0


def test_ba_nc_control_gives_table_3(questions: clavi.Questions) -> None:
    """Per video and its other: of couples (V, V′) 8 are BA-NC and 8 complement, of (Q, Q′) 8 and 8."""
    picks = yes_where_blind(questions)
    picks[questions.type == clavi.TYPES.index("E")] = clavi.NO  # wrong, but neither BA-NC nor complement
    table = clavi.tables(clavi.count(questions, picks))[1]
    found = {row[:2]: row[2:] for row in table.rows}
    for letter in "VT":
        assert found[f"CAcc_{letter}", "control = BA-NC"] == (1, 8 * len(PAIRS))
        assert found[f"CAcc_{letter}", "all, control = BA-NC"] == (0.5, 16 * len(PAIRS))
    assert found["CAcc_V", "all"][0] == pytest.approx(9 / 19)
    row = {name: "x" for name in clavi.COLUMNS} | {"type_id": 0, "answer": 0, "variant": "original", "type": "Z"}
    with pytest.raises(InputError, match="type of the output contains 'Z'"):
        clavi.questions_from({name: [value] for name, value in row.items()})


# The card

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


def guess(known: list[Row], asked: list[Row], **settings: Any) -> dict[str, Any]:
    learnt = rows_about(known)
    return blind_scores(
        learnt, learnt if asked is known else rows_about(asked), known, asked, ClaviSettings(**settings)
    )


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
