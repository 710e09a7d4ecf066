"""Robustness by the paper's definitions."""

import numpy as np
import pytest
from stressreel.evaluation.metrics.bootstrap import estimates, tally
from stressreel.evaluation.metrics.robustness import (
    Setting,
    Suite,
    cell,
    gamma_absolute,
    gamma_relative,
    measure,
    tables,
)

CLEAN = Setting()


def test_gammas_by_definition() -> None:
    clean, perturbed = np.array([0.5, 0.5, 0.5, 0.5]), np.array([0.5, 0.25, 0.0, 0.6])
    assert gamma_absolute(clean, perturbed) == pytest.approx([1, 0.75, 0.5, 1.1])
    assert gamma_relative(clean, perturbed) == pytest.approx([1, 0.5, 0, 1.2])
    assert np.isnan(gamma_relative(np.array([0.0]), np.array([0.0]))).all()


def test_names_of_settings() -> None:
    assert [
        setting.name
        for setting in (CLEAN, Setting("jpeg", 3), Setting(text="no_verbs"), Setting("jpeg", 3, "no_verbs"))
    ] == ["clean", "jpeg-3", "no_verbs", "jpeg-3+no_verbs"]


def test_means_over_severities_then_perturbations() -> None:
    values = {
        CLEAN: 0.8,
        Setting("jpeg", 1): 0.8,
        Setting("jpeg", 5): 0.4,  # jpeg: γr 1 and 0.5, mean 0.75
        Setting("mpeg1", 1): 0.2,  # γr 0.25; with one severity, it weighs as much as jpeg
        Setting("jumble", 1): 0.8,
        Setting(text="no_verbs"): 0.4,
        Setting("jpeg", 3, "no_verbs"): 0.2,
    }
    suite = Suite(
        tuple(values), ("R@1",), {"jpeg": "digital", "mpeg1": "digital", "jumble": "temporal", "no_verbs": "drop_text"}
    )
    items = np.zeros(10, np.intp)
    cells = {
        cell(setting, "R@1"): (items, np.repeat([1.0, 0.0], [round(10 * value), 10 - round(10 * value)]))
        for setting, value in values.items()
    }
    counted = tally(["one"], cells)
    found = {name: each.value for name, each in estimates(counted, lambda means: measure(suite, means)).items()}
    assert found == pytest.approx(
        {
            "R@1 clean": 0.8,
            "R@1 γa video": (0.8 + 0.4 + 1) / 3,
            "R@1 γr video": (0.75 + 0.25 + 1) / 3,
            "R@1 γa text": 0.6,
            "R@1 γr text": 0.5,
            "R@1 γa multimodal": 0.4,
            "R@1 γr multimodal": 0.25,
            "R@1 γa video, digital": 0.6,
            "R@1 γr video, digital": 0.5,
            "R@1 γa video, temporal": 1,
            "R@1 γr video, temporal": 1,
            "R@1 γa text, drop_text": 0.6,
            "R@1 γr text, drop_text": 0.5,
        }
    )
    by_family = tables(suite, counted, estimates(counted, lambda means: measure(suite, means)))[0]
    digital = next(row for row in by_family.rows if row[2] == "digital")
    assert digital[6] == pytest.approx(np.std([1, 0.5, 0.25]))
    overall = next(row for row in by_family.rows if row[1:3] == ("video", "all"))
    assert overall[5].value == pytest.approx((0.75 + 0.25 + 1) / 3)
    assert overall[6] == pytest.approx(np.std([1, 0.5, 0.25, 1]))


def test_captions_that_no_perturbation_changes_are_told() -> None:
    suite = Suite((CLEAN, Setting(text="no_verbs"), Setting("jpeg", 3)), ("R@1",), {"jpeg": "d", "no_verbs": "d"})
    cells = {cell(setting, "R@1"): (np.zeros(2, np.intp), np.ones(2)) for setting in suite.settings}
    counted = tally(["one"], cells)
    by_name = tables(suite, counted, estimates(counted, lambda means: measure(suite, means)), {"no_verbs": 0.25})[1]
    assert by_name.headings[-1] == "captions changed"
    assert {row[3]: row[-1] for row in by_name.rows} == {"no_verbs": 0.25, "jpeg": None}


def test_kinds_of_text_perturbations() -> None:
    """Table 16: each perturbation weighs the same; pairs and videos are in no kind."""
    values = {
        CLEAN: 0.8,
        Setting("jpeg", 3): 0.1,
        Setting(text="typos"): 0.8,
        Setting(text="casual"): 0.4,
        Setting(text="ocr"): 0.6,
        Setting(text="no_verbs"): 0.2,
        Setting("jpeg", 3, "typos"): 0.0,
    }
    kinds = {"typos": "natural", "casual": "natural", "ocr": "machine", "no_verbs": "synthetic"}
    suite = Suite(tuple(values), ("R@1",), dict.fromkeys((*kinds, "jpeg"), "f"), kinds)
    items = np.zeros(10, np.intp)
    cells = {
        cell(setting, "R@1"): (items, np.repeat([1.0, 0.0], [round(10 * value), 10 - round(10 * value)]))
        for setting, value in values.items()
    }
    counted = tally(["one"], cells)
    scored = estimates(counted, lambda means: measure(suite, means))
    table = next(table for table in tables(suite, counted, scored) if table.name == "kinds")
    rows = {row[1]: dict(zip(table.headings, row, strict=True)) for row in table.rows}
    assert {kind: (row["γr"].value, row["settings"]) for kind, row in rows.items()} == {
        "natural": (pytest.approx(0.75), 2),
        "machine": (pytest.approx(0.75), 1),
        "synthetic": (pytest.approx(0.25), 1),
        "not synthetic": (pytest.approx(0.75), 3),
    }
    assert rows["natural"]["γr std"] == pytest.approx(0.25)
    assert rows["natural"]["γa"].value == pytest.approx(0.8)


def test_no_two_columns_have_one_name() -> None:
    suite = Suite((CLEAN, Setting("jpeg", 3)), ("R@1",), {"jpeg": "digital"})
    counted = tally(["one"], {cell(setting, "R@1"): (np.zeros(2, np.intp), np.ones(2)) for setting in suite.settings})
    for table in tables(suite, counted, estimates(counted, lambda means: measure(suite, means))):
        names = [name.strip() for name in table.headings]
        assert len({*names}) == len(names)
        assert names == list(table.headings)
