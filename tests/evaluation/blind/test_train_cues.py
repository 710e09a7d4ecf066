from collections.abc import Sequence

import numpy as np
import pytest
from stressreel.evaluation.blind.blind_questions import BlindQuestion, arrange
from stressreel.evaluation.blind.cues import Measured, measure
from stressreel.evaluation.blind.train_cues import LIKELY, TRAINING, train_cues
from stressreel.language.words import name_pattern

NAMES = name_pattern(("Tom", "Jerry"))
TRAIN = [
    BlindQuestion("a", "why run", ("Tom hid.", "Jerry slept", "it rained"), 0, "v"),
    BlindQuestion("b", "why jump", ("tom hid", "Jerry fell"), 1, "v"),
    BlindQuestion("c", "why sing", ("Jerry hid.", "it rained", "they sang"), 2, "w"),
]
OPTIONS = ("Tom hid.", "Jerry fell", "it rained", "Jerry hid.")
AXES = sorted({text for one in TRAIN for text in one.options})
ANGLES = {"why run": 0.0, "why jump": 0.5, "why sing": 1.5, "why walk": 0.1}


def embed(texts: Sequence[str]) -> np.ndarray:
    """Questions at angles, options at right angles to each other."""
    found = np.zeros((len(texts), 2 + len(AXES)), np.float32)
    for row, text in enumerate(texts):
        if text in ANGLES:
            found[row, :2] = np.cos(ANGLES[text]), np.sin(ANGLES[text])
        elif text in AXES:
            found[row, 2 + AXES.index(text)] = 1
    return found


def view(asked: Sequence[BlindQuestion]) -> Measured:
    return measure(arrange(asked), embed, NAMES)


def test_cues_from_train() -> None:
    asked = view([BlindQuestion("q", "why walk", OPTIONS, 1)])
    found = train_cues(asked, view(TRAIN))
    assert set(found) == set(TRAINING)
    texts = asked.rows.texts()[0]
    by_text = {name: dict(zip(texts, values[0].round(3).tolist(), strict=True)) for name, values in found.items()}
    for name, counts in (
        ("right_in_train", (1, 1, 0, 0)),
        ("wrong_in_train", (1, 0, 2, 1)),
        ("right_unnamed", (1, 1, 0, 1)),
        ("wrong_unnamed", (2, 0, 2, 2)),
        ("near_right", (1, 0, 0, 0)),
        ("like_a_right", (1, 1, 0, 0)),
        ("near_best_of_20", (1, 1, 0, 0)),
        ("like_a_wrong", (0, 0, 1, 1)),
    ):
        assert by_text[name] == dict(zip(OPTIONS, counts, strict=True)), name
    near = [np.exp(10 * np.cos(angle - 0.1)) for angle in (0, 0.5, 1.5)]
    assert by_text["near_weighted"]["Jerry fell"] == pytest.approx(near[1] / sum(near), abs=0.001)
    assert max(by_text["likely"], key=lambda text: by_text["likely"][text]) == "Tom hid."


@pytest.mark.parametrize("apart", [False, True])
def test_training_question_is_compared_with_others_only(apart: bool) -> None:
    known = view(TRAIN)
    found = train_cues(known, known, apart=apart)
    for row, one in enumerate(TRAIN):
        others = [other for other in TRAIN if (other.source != one.source if apart else other.id != one.id)]
        alone = train_cues(view([one]), view(others))
        for name in set(TRAINING) - {*LIKELY, "like_5_rights"}:  # words stay known; of fewer than 5, some count as -1
            size = len(one.options)
            by_text = dict(zip(known.rows.texts()[row], found[name][row, :size], strict=True))
            assert by_text == pytest.approx(dict(zip(known.rows.texts()[row], alone[name][0], strict=True)), abs=0.001)
