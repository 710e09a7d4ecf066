from collections.abc import Callable
from pathlib import Path

import pytest
from changed import columns, derived, put
from forger import Change, Forgery
from stressreel.builders.decomp.tables import GRAPHS, QUESTIONS

FREE = {"questions": "answer recomputed"}  # annotations decide answers, and a root's found again


@pytest.fixture(scope="module")
def out(build_once: Callable[..., Path]) -> Path:
    """Two videos of the drawn sample and what is asked of them; read only."""
    return build_once("build-decomp", "--charades", "sample", "--limit", 2)


@pytest.fixture(scope="module")
def given(published: Path, build_once: Callable[..., Path]) -> Path:
    """Published graphs; read only."""
    return build_once("build-decomp", "--release-hierarchies", published)


def test_built_outputs_verify(out: Path, plain: Path, given: Path, graphed: Path) -> None:
    assert derived(out) == derived(plain) == derived(given) == derived(graphed) == []


def test_changed_columns_are_found(out: Path, given: Path) -> None:
    assert [place for place in columns((QUESTIONS, GRAPHS), FREE) if not derived(out, put(place, -1))] == []
    shape = ("root", "depth", "isolated", "template", "nodes")
    assert [column for column in shape if not derived(given, put(f"graphs.{column}"))] == []


def test_changed_inferred_answer_is_found(plain: Path) -> None:
    def change(forged: Forgery) -> None:
        row = next(row for row in forged.rows("questions") if not row["is_root"] and row["answer"] == "yes")
        row["answer"] = "no"

    assert derived(plain, change)


def turned(forged: Forgery) -> None:
    """Turn the answer of every root that is answered by yes and no."""
    for row in forged.rows("questions"):
        if row["is_root"] and row["answer"] in ("yes", "no"):
            row["answer"] = {"yes": "no", "no": "yes"}[row["answer"]]


@pytest.mark.parametrize(
    "change",
    [
        turned,
        put("questions.recomputed", 0),
        lambda forged: forged.tables["graphs"]["train"].pop(),
        lambda forged: forged.tables["questions"]["train"].pop(0),
        lambda forged: forged.tables["questions"]["train"].append(dict(forged.tables["questions"]["train"][0])),
    ],
)
def test_contradictions_are_found(out: Path, change: Change) -> None:
    assert derived(out, change)
