from collections.abc import Mapping

import numpy as np
import pytest
from stressreel.core.results import Estimate, Table
from stressreel.evaluation.metrics.bootstrap import estimates, tally
from stressreel.evaluation.metrics.robustness import (
    Setting,
    Suite,
    cell,
    gamma_relative,
    measure,
    tables,
)

CLEAN = Setting()


def scored(suite: Suite, values: Mapping[Setting, float]) -> tuple[dict[str, Estimate], dict[str, Table]]:
    """Ten items of one source video under each setting, of which the share is right."""
    right = {setting: np.repeat([1.0, 0.0], [round(10 * v), 10 - round(10 * v)]) for setting, v in values.items()}
    cells = {cell(setting, "R@1"): (np.zeros(10, np.intp), each) for setting, each in right.items()}
    counted = tally(["one"], cells)
    found = estimates(counted, lambda means: measure(suite, means))
    videos = {("jpeg", 1): 1.0, ("jpeg", 3): 0.9, ("jpeg", 5): 0.5, ("jumble", 1): 0.0}
    shown = tables(suite, counted, found, {"no_verbs": 0.25}, videos)
    for table in shown:
        assert len({name.strip() for name in table.headings}) == len(table.headings)
    return found, {table.name: table for table in shown}


def test_means_over_severities_then_perturbations() -> None:
    assert np.isnan(gamma_relative(np.array([0.0]), np.array([0.0]))).all()
    # jpeg: γr 1 and 0.5, mean 0.75; mpeg1: γr 0.25, which with one severity weighs as much as jpeg
    values = {CLEAN: 0.8, Setting("jpeg", 1): 0.8, Setting("jpeg", 5): 0.4, Setting("mpeg1", 1): 0.2}
    values |= {Setting("jumble", 1): 0.8, Setting(text="no_verbs"): 0.4, Setting("jpeg", 3, "no_verbs"): 0.2}
    families = {"jpeg": "digital", "mpeg1": "digital", "jumble": "temporal", "no_verbs": "drop_text"}
    found, shown = scored(Suite(tuple(values), ("R@1",), families), values)
    expected = {  # γa, γr
        "video": ((0.8 + 0.4 + 1) / 3, (0.75 + 0.25 + 1) / 3),
        "text": (0.6, 0.5),
        "multimodal": (0.4, 0.25),
        "video, digital": (0.6, 0.5),
        "video, temporal": (1, 1),
        "text, drop_text": (0.6, 0.5),
    }
    numbers = {f"R@1 {g} {name}": v for name, pair in expected.items() for g, v in zip(("γa", "γr"), pair, strict=True)}
    assert {name: each.value for name, each in found.items()} == pytest.approx({"R@1 clean": 0.8, **numbers})
    by_family = {row[1:3]: row for row in shown["families"].rows}
    assert by_family["video", "digital"][6] == pytest.approx(np.std([1, 0.5, 0.25]))
    assert by_family["video", "all"][5].value == pytest.approx((0.75 + 0.25 + 1) / 3)
    assert by_family["video", "all"][6] == pytest.approx(np.std([1, 0.5, 0.25, 1]))
    assert {row[3]: row[-2:] for row in shown["perturbations"].rows} == {  # shares of captions and videos that changed
        "jpeg": (None, 0.75),
        "mpeg1": (None, None),
        "jumble": (None, 0.0),
        "no_verbs": (0.25, None),
        "jpeg-3+no_verbs": (0.25, 0.9),
    }
    assert {row[1:4]: row[-2:] for row in shown["settings"].rows if row[1] == "jpeg"} == {
        ("jpeg", 1, ""): (None, 1.0),
        ("jpeg", 5, ""): (None, 0.5),
        ("jpeg", 3, "no_verbs"): (0.25, 0.9),
    }


def test_kinds_of_text_perturbations() -> None:
    """Table 16: each perturbation weighs the same; pairs and videos are in no kind."""
    texts = {"typos": 0.8, "casual": 0.4, "ocr": 0.6, "no_verbs": 0.2}
    values = {CLEAN: 0.8, Setting("jpeg", 3): 0.1, **{Setting(text=name): value for name, value in texts.items()}}
    values[Setting("jpeg", 3, "typos")] = 0.0
    kinds = {"typos": "natural", "casual": "natural", "ocr": "machine", "no_verbs": "synthetic"}
    _, shown = scored(Suite(tuple(values), ("R@1",), dict.fromkeys((*kinds, "jpeg"), "f"), kinds), values)
    rows = {row[1]: dict(zip(shown["kinds"].headings, row, strict=True)) for row in shown["kinds"].rows}
    assert {kind: (row["γr"].value, row["settings"]) for kind, row in rows.items()} == {
        "natural": (pytest.approx(0.75), 2),
        "machine": (pytest.approx(0.75), 1),
        "synthetic": (pytest.approx(0.25), 1),
        "not synthetic": (pytest.approx(0.75), 3),
    }
    assert rows["natural"]["γr std"] == pytest.approx(0.25)
    assert rows["natural"]["γa"].value == pytest.approx(0.8)
