from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from stressreel.evaluation.metrics.bootstrap import estimates, tally
from stressreel.evaluation.metrics.robustness import Setting, Suite, cell, gamma_relative, measure, tables

CLEAN = Setting()


def scored(suite: Suite, values: Mapping[Setting, float]) -> tuple[dict[str, float], dict[str, list[dict[str, Any]]]]:
    """Scores and tables of ten items of one source video under each setting, of which the share is right."""
    right = {setting: np.repeat([1.0, 0.0], [round(10 * v), 10 - round(10 * v)]) for setting, v in values.items()}
    cells = {cell(setting, "R@1"): (np.zeros(10, np.intp), each) for setting, each in right.items()}
    counted = tally(["one"], cells)
    found = estimates(counted, lambda means: measure(suite, means))
    shown = tables(suite, counted, found, {"no_verbs": 0.25}, {("jpeg", 1): 1.0, ("jpeg", 3): 0.9, ("jpeg", 5): 0.5})
    rows = {table.name: [dict(zip(table.headings, row, strict=True)) for row in table.rows] for table in shown}
    return {name: each.value for name, each in found.items()}, rows


def test_means_over_severities_then_perturbations() -> None:
    assert np.isnan(gamma_relative(np.array([0.0]), np.array([0.0]))).all()
    # jpeg: γr 1 and 0.5, mean 0.75; mpeg1: γr 0.25, which with one severity weighs as much as jpeg
    values = {CLEAN: 0.8, Setting("jpeg", 1): 0.8, Setting("jpeg", 5): 0.4, Setting("mpeg1", 1): 0.2}
    values |= {Setting("jumble", 1): 0.8, Setting(text="no_verbs"): 0.4, Setting("jpeg", 3, "no_verbs"): 0.2}
    families = {"jpeg": "digital", "mpeg1": "digital", "jumble": "temporal", "no_verbs": "drop_text"}
    found, shown = scored(Suite(tuple(values), ("R@1",), families), values)
    expected = {
        **{"γa video": (0.8 + 0.4 + 1) / 3, "γa text": 0.6, "γa multimodal": 0.4, "γa video, digital": 0.6},
        **{"γr video": (0.75 + 0.25 + 1) / 3, "γr text": 0.5, "γr multimodal": 0.25, "γr video, digital": 0.5},
        **{"γa video, temporal": 1, "γr video, temporal": 1, "γa text, drop_text": 0.6, "γr text, drop_text": 0.5},
    }
    assert found == pytest.approx({"R@1 clean": 0.8, **{f"R@1 {name}": value for name, value in expected.items()}})
    by_family = {(row["modality"], row["family"]): row for row in shown["families"]}
    assert by_family["video", "digital"]["γr std"] == pytest.approx(np.std([1, 0.5, 0.25]))
    assert by_family["video", "all"]["γr std"] == pytest.approx(np.std([1, 0.5, 0.25, 1]))
    assert by_family["video", "all"]["γr"].value == pytest.approx((0.75 + 0.25 + 1) / 3)
    changed = {row["perturbation"]: (row["captions changed"], row["videos changed"]) for row in shown["perturbations"]}
    assert changed == {
        **{"jpeg": (None, 0.75), "mpeg1": (None, None), "jumble": (None, None)},
        **{"no_verbs": (0.25, None), "jpeg-3+no_verbs": (0.25, 0.9)},
    }
    assert [row["videos changed"] for row in shown["settings"] if row["visual"] == "jpeg"] == [1.0, 0.5, 0.9]


def test_means_leave_out_the_family_extra() -> None:
    values = {CLEAN: 0.8, Setting("jpeg", 1): 0.6, Setting("speed", 1): 0.2}
    suite = Suite(tuple(values), ("R@1",), {"jpeg": "digital", "speed": "extra"})
    found, shown = scored(suite, values)
    assert (found["R@1 γa video"], found["R@1 γa video, extra"]) == pytest.approx((0.8, 0.4))
    assert {row["family"]: row["settings"] for row in shown["families"]} == {"digital": 1, "extra": 1, "all": 1}
    found, shown = scored(Suite((CLEAN, Setting("speed", 1)), ("R@1",), {"speed": "extra"}), values)
    assert "R@1 γa video" not in found
    assert [row["family"] for row in shown["families"]] == ["extra"]


def test_kinds_of_text_perturbations() -> None:
    """Table 16: each perturbation weighs the same; pairs and videos are in no kind."""
    texts = {"typos": 0.8, "casual": 0.4, "ocr": 0.6, "no_verbs": 0.2}
    values = {CLEAN: 0.8, Setting("jpeg", 3): 0.1, **{Setting(text=name): value for name, value in texts.items()}}
    values[Setting("jpeg", 3, "typos")] = 0.0
    kinds = {"typos": "natural", "casual": "natural", "ocr": "machine", "no_verbs": "synthetic"}
    _, shown = scored(Suite(tuple(values), ("R@1",), dict.fromkeys((*kinds, "jpeg"), "f"), kinds), values)
    assert {row["kind"]: (row["γr"].value, row["γr std"], row["settings"]) for row in shown["kinds"]} == {
        "natural": pytest.approx((0.75, 0.25, 2)),
        "machine": pytest.approx((0.75, 0, 1)),
        "synthetic": pytest.approx((0.25, 0, 1)),
        "not synthetic": pytest.approx((0.75, np.std([1, 0.5, 0.75]), 3)),
    }
