"""`list_` and `list_benchmarks`: what they return is what `stressreel list` prints."""

from __future__ import annotations

import json
from typing import Any

import pytest
import stressreel
from commands import run
from stressreel.core.errors import UsageError


@pytest.mark.parametrize("kind", ["benchmarks", "options", "visual", "text"])
def test_every_kind(kind: Any) -> None:
    found = stressreel.list_(kind)
    assert f"{found}\n" == run("stressreel", "list", kind).out
    assert json.loads(found.render("json")) == json.loads(run("stressreel", "list", kind, "--json").out)
    assert found.to_pandas()["name"].tolist() == [row["name"] for row in found.as_json()]


def test_benchmarks() -> None:
    assert str(stressreel.list_benchmarks()) == str(stressreel.list_("benchmarks"))


def test_another_kind() -> None:
    with pytest.raises(UsageError, match="must be one of benchmarks, options, visual, text"):
        stressreel.list_("sound")  # type: ignore[arg-type]
