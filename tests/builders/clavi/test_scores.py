"""CLAVI's scores: blind oracles score what theory says."""

import numpy as np
import pytest
from sklearn.metrics import balanced_accuracy_score
from stressreel.builders.clavi import scores as clavi
from stressreel.builders.clavi.questions import question_rows
from stressreel.core.errors import InputError
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


ORACLES = {
    "always yes": lambda questions: np.full(len(questions.ids), clavi.YES),
    "always no": lambda questions: np.full(len(questions.ids), clavi.NO),
    "text-only oracle": text_only,
    "video-only oracle": video_only,
    "one modality, yes where it cannot know": yes_where_blind,
    "both": lambda questions: questions.answer,
}
# accuracy; balanced; CAcc_V all, control, complement; CAcc_T all, control, complement
# Per video: E 2, E-NC 1, BA-NC 8 (control), BE 4 and BA 4 (complement); couples of Q and Q': 4 BA-NC, 2 BE, 2 BA.
THEORY = {
    "always yes": (6 / 19, 1 / 2, 2 / 19, 2 / 11, 0, 0, 0, 0),
    "always no": (13 / 19, 1 / 2, 9 / 19, 9 / 11, 0, 1 / 2, 1, 0),
    "text-only oracle": (15 / 19, (4 / 6 + 11 / 13) / 2, 11 / 19, 1, 0, 3 / 4, 1, 1 / 2),
    "video-only oracle": (15 / 19, (4 / 6 + 11 / 13) / 2, 15 / 19, 1, 1 / 2, 1 / 2, 1, 0),
    "one modality, yes where it cannot know": (15 / 19, (1 + 9 / 13) / 2, 11 / 19, 1, 0, 1 / 2, 1, 0),
    "both": (1,) * 8,
}
NAMES = (
    *("accuracy", "balanced accuracy", "CAcc_V", "CAcc_V control", "CAcc_V complement"),
    *("CAcc_T", "CAcc_T control", "CAcc_T complement"),
)


@pytest.mark.parametrize("name", ORACLES)
def test_oracles_score_what_theory_says(questions: clavi.Questions, name: str) -> None:
    counted = clavi.count(questions, ORACLES[name](questions))
    found = estimates(counted, clavi.measure, resamples=100)
    assert [found[score].value for score in NAMES] == pytest.approx(THEORY[name])


def test_balanced_accuracy_is_that_of_scikit_learn(questions: clavi.Questions) -> None:
    picks = np.random.default_rng(1).integers(0, 2, len(questions.ids))
    found = estimates(clavi.count(questions, picks), clavi.measure, resamples=100)["balanced accuracy"].value
    assert found == pytest.approx(balanced_accuracy_score(questions.answer, picks))


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
    assert counted.totals()["all"] == totals["all"] - 1
    assert counted.totals()["CAcc_V"] == totals["CAcc_V"] - 1
    assert counted.totals()["CAcc_T"] == totals["CAcc_T"] - 1
    assert {value[0] for value in counted.means(np.ones((1, 4))).values()} == {1.0}


def test_fine_grained_table_matches_table_15(questions: clavi.Questions) -> None:
    """Yes to everything is right about Q in V and about Q′ in V′."""
    table = clavi.tables(clavi.count(questions, ORACLES["always yes"](questions)))[2]
    shape = [("E", "Q"), ("E-NC", "-"), ("BE", "Q"), ("BE", "Q′"), ("BA", "Q"), ("BA", "Q′"), ("BA-NC", "-")]
    assert [row[:3] for row in table.rows] == [(v, *each) for v in ("V", "V′") for each in shape]
    assert sum(row[4] for row in table.rows) == len(questions.ids)
    found = {row[:3]: row[3] for row in table.rows}
    assert found["V", "BA", "Q"] == found["V′", "BE", "Q′"] == 1
    assert found["V", "BA", "Q′"] == found["V′", "BE", "Q"] == 0


def test_ba_nc_control_gives_table_3(questions: clavi.Questions) -> None:
    """Per video and its other: of couples (V, V′) 8 are BA-NC and 8 complement, of (Q, Q′) 8 and 8."""
    picks = np.where(questions.flips, clavi.YES, questions.answer)
    picks[questions.type == clavi.TYPES.index("E")] = clavi.NO  # wrong, but neither BA-NC nor complement
    table = clavi.tables(clavi.count(questions, picks))[1]
    found = {row[:2]: row[2:] for row in table.rows}
    for letter in "VT":
        assert found[f"CAcc_{letter}", "control = BA-NC"] == (1, 8 * len(PAIRS))
        assert found[f"CAcc_{letter}", "all, control = BA-NC"] == (0.5, 16 * len(PAIRS))
    assert found["CAcc_V", "all"][0] == pytest.approx(9 / 19)


def test_an_unknown_type_of_question_is_named(questions: clavi.Questions) -> None:
    row = {name: "x" for name in clavi.COLUMNS} | {"type_id": 0, "answer": 0, "variant": "original", "type": "Z"}
    with pytest.raises(InputError, match="column type of the output contains 'Z'; allowed: E, E-NC"):
        clavi.questions_from({name: [value] for name, value in row.items()})
