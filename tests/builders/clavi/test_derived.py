from collections.abc import Callable
from pathlib import Path

import pytest
from changed import columns, derived, put
from forger import Change, Forgery
from stressreel.builders.clavi.settings import ClaviSettings
from stressreel.builders.clavi.tables import clavi_configs

# Annotations and sources say the one, `check_shown` what the frames between show.
FREE = {"pairs": "subject other_actions source_objects source_sha256 in_a_frame in_b_frame"}


@pytest.fixture(scope="module")
def out(build_once: Callable[..., Path]) -> Path:
    """Three pairs; read only."""
    return build_once("build-clavi", "--charades", "sample", "--limit", 3, "--preset", "ultrafast")


@pytest.fixture(scope="module")
def segments(build_once: Callable[..., Path]) -> Path:
    """Pairs of free phrases; read only."""
    return build_once("build-clavi", "--segments", "sample", "--no-render")


def test_untouched_output_has_no_findings(out: Path, segments: Path) -> None:
    assert derived(out) == derived(segments) == []


def test_another_value_is_found(out: Path, segments: Path) -> None:
    places = columns(clavi_configs(ClaviSettings()), FREE)
    assert [place for place in places if not derived(out, put(place))] == []
    free = [f"pairs.{what}_{n}" for n in "abc" for what in ("label", "phrase", "verb", "asked")]
    assert [place for place in free if not derived(segments, put(place))] == []


def control_of_the_source(forged: Forgery) -> None:
    pair = forged.rows("pairs")[0]
    pair["source_verbs"] = sorted({*pair["source_verbs"], pair["verb_c"]})


@pytest.mark.parametrize(
    "change",
    [
        control_of_the_source,
        lambda forged: forged.tables["questions"]["train"].pop(),
        lambda forged: forged.tables["questions"]["train"].append(forged.tables["questions"]["train"][0]),
        lambda forged: forged.tables["questions"]["train"].reverse(),
        lambda forged: forged.tables["pairs"]["train"].pop(0),
    ],
)
def test_a_contradiction_is_found(out: Path, change: Change) -> None:
    assert derived(out, change)
