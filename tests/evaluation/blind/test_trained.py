import numpy as np
from stressreel.evaluation.blind.trained import relative


def test_cues_relative_to_other_options() -> None:
    exists = np.array([[True, True, True], [True, True, False]])
    found = relative(exists, np.array([[4.0, 1.0, 1.0], [2.0, 6.0, 0.0]])[:, :, None])
    assert found[0].tolist() == [[2, 2.5, 3], [-1, 1, -3], [-1, 1, -3]]
    assert found[1].tolist() == [[-2, 0.5, -4], [2, 1.5, 4], [0, 0, 0]]
