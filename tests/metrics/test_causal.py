"""Causal scores on worked examples."""

import numpy as np
from stressreel.builders.causal.scores import count, measure, tables
from stressreel.metrics.bootstrap import estimates


def test_protocols_and_kinds_of_wrong_options() -> None:
    truth = np.array([0, 1, 2, 3])
    answers = np.array([0, 1, 0, -1])  # the last cannot be read
    explanations = np.array([0, 0, 2, 3])
    kinds = [["hard"] * 4 for _ in range(4)]
    kinds[2][0] = "swap"
    counted = count(["a", "a", "b", "b"], (answers, truth), (explanations, truth), {"A": kinds})
    found = estimates(counted, measure, resamples=100)
    assert {name: each.value for name, each in found.items()} == {"A": 0.5, "E": 0.75, "A+E": 0.25}
    (table,) = tables(counted)
    assert table.rows == (("A", "hard", 0.0, 4), ("A", "swap", 1.0, 1))


def test_without_explanations_there_is_protocol_1_alone() -> None:
    counted = count(["a"], (np.array([1]), np.array([1])), None)
    assert list(estimates(counted, measure)) == ["A"]
    assert tables(counted) == ()
