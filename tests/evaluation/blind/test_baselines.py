import numpy as np
import pytest
from stressreel.evaluation.blind.baselines import features, fit_logit, folds, probabilities
from stressreel.evaluation.blind.blind_questions import BlindQuestion, arrange
from stressreel.evaluation.blind.trained import relative


def test_features_and_relative_cues_by_hand() -> None:
    exists = np.array([[True, True, False], [True, True, True]])
    found = features(exists, np.array([[1.0, 3.0, 9.0], [5.0, 5.0, 2.0]]))
    assert (found[~exists] == 0).all()
    assert found[0, :2, 1:].tolist() == [[0, 1], [1, 0]]
    assert found[1, :, 1:].tolist() == [[0.5, 0], [0.5, 0], [0, 1]]  # ties share
    compared = relative(exists[::-1], np.array([[4.0, 1.0, 1.0], [2.0, 6.0, 0.0]])[:, :, None])
    assert compared[0].tolist() == [[2, 2.5, 3], [-1, 1, -3], [-1, 1, -3]]
    assert compared[1].tolist() == [[-2, 0.5, -4], [2, 1.5, 4], [0, 0, 0]]


def test_logit_recovers_weights() -> None:
    rng = np.random.default_rng(0)
    values, exists = rng.normal(size=(4000, 4, 2)), np.ones((4000, 4), bool)
    exists[:2000, 3] = False
    shares = probabilities(values @ np.array([1.0, -0.5]), exists)
    right = np.array([rng.choice(4, p=row) for row in shares])
    assert fit_logit(values * exists[:, :, None], exists, right) == pytest.approx([1.0, -0.5], abs=0.1)


def test_folds_keep_source_videos_together() -> None:
    parts = folds(arrange([BlindQuestion(f"q{n:02}", "", ("a", "b"), 0, f"v{n % 7}") for n in range(21)]))
    assert sorted(row for _, fold in parts for row in fold.tolist()) == list(range(21))
    assert not any({*(others % 7).tolist()} & {*(fold % 7).tolist()} for others, fold in parts)
