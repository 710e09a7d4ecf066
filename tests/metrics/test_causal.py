"""Causal scores on the paper's Table 3 and on worked examples."""

import numpy as np
import pytest
from stressreel.metrics.bootstrap import estimates
from stressreel.metrics.causal import CAPTION_SCORES, capsmix, count, measure, normalised_mean, tables

# Table 3 (a), UD: scores of A and E in turn; the sums of A, of E, and CapsMIX as printed.
TABLE_3 = {
    "BlindQA": (
        ".2412 .1912 .1039 .0618 .0415 .0221 .1243 .0891 .2732 .1885 .2956 .0703 .1034 .0403 .4987 .4195",
        (1.6818, 1.0828, 2.7646),
    ),
    "VisionGPT-2": (
        ".3878 .3095 .2605 .1727 .1738 .1091 .2560 .1756 .3934 .2941 .4498 .3385 1.3725 .7539 .6760 .6350",
        (3.9698, 2.7884, 6.7582),
    ),
}


def table_3(model: str) -> tuple[dict[str, float], dict[str, float]]:
    values = [float(text) for text in TABLE_3[model][0].split()]
    return (
        dict(zip(CAPTION_SCORES, values[0::2], strict=True)),
        dict(zip(CAPTION_SCORES, values[1::2], strict=True)),
    )


@pytest.mark.parametrize("model", TABLE_3)
def test_capsmix_is_the_plain_sum_of_table_3(model: str) -> None:
    answers, explanations = table_3(model)
    of_a, of_e, both = TABLE_3[model][1]
    assert sum(answers.values()) == pytest.approx(of_a, abs=1e-9)
    assert sum(explanations.values()) == pytest.approx(of_e, abs=1e-9)
    assert capsmix(answers, explanations) == pytest.approx(both, abs=1e-9)


def test_normalised_mean_divides_cider_by_ten() -> None:
    best = {name: 10.0 if name == "CIDEr" else 1.0 for name in CAPTION_SCORES}
    assert normalised_mean(best, best) == pytest.approx(1)
    answers, explanations = table_3("BlindQA")
    assert normalised_mean(answers, explanations) == pytest.approx((2.7646 - 0.9 * (0.1034 + 0.0403)) / 16)


def test_a_missing_score_has_no_capsmix() -> None:
    answers, explanations = table_3("BlindQA")
    del answers["SPICE"]
    with pytest.raises(KeyError):
        capsmix(answers, explanations)


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
