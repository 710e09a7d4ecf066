"""CLAVI's scores: blind oracles score what theory says."""

import numpy as np
import pytest
from stressreel.builders.clavi import scores as clavi
from stressreel.builders.clavi.questions import question_rows
from stressreel.evaluation.metrics.bootstrap import estimates
from stressreel.evaluation.metrics.predictions import MISSING, UNREADABLE

PAIRS = {f"{number:08x}": f"SRC{number % 4}" for number in range(10)}


@pytest.fixture(scope="module")
def questions() -> clavi.Questions:
    rows = []
    for pair, source in PAIRS.items():
        phrases = {"phrase_a": "opening a door", "phrase_b": "sitting down", "phrase_c": "washing mirror"}
        for variant in range(2):
            rows += [dict(row) for row in question_rows({"pair_id": pair, "source_id": source, **phrases}, variant)]
    for row in rows:
        row["answer"] = ("no", "yes").index(row["answer"])
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
