"""`decompose`: a question's graph as text, JSON, tables, and for Graphviz."""

from __future__ import annotations

import json

import pytest
import stressreel
from commands import run
from stressreel.core.errors import UsageError

PROGRAM = "Exists(phone, Iterate(Localize(after, opening a door), Filter(frame, [objects])))"


def test_one_question() -> None:
    found = stressreel.decompose(PROGRAM)
    assert f"{found}\n" == run("stressreel", "decompose", PROGRAM).out
    assert found.as_json() == json.loads(run("stressreel", "decompose", PROGRAM, "--json").out)
    assert f"{found.render('dot')}\n" == run("stressreel", "decompose", PROGRAM, "--dot").out
    assert found.to_pandas()["kind"].tolist()[-1] == "Interaction After"
    assert found.to_pandas("edges")["parent"].max() == len(found.steps) - 1
    with pytest.raises(UsageError, match="must be a string"):
        stressreel.decompose(PROGRAM, question=3)  # type: ignore[arg-type]
