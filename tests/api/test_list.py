"""`list_` and `list_benchmarks`: what they return is what `stressreel list` prints."""

from __future__ import annotations

import json
from typing import Any

import pytest
import stressreel
from commands import refuses, run
from stressreel.core.errors import UsageError
from stressreel.corruptions.registry import list_corruptions


@pytest.mark.parametrize("kind", ["benchmarks", "options", "visual", "text"])
def test_every_kind(kind: Any) -> None:
    found, shown = stressreel.list_(kind), run("stressreel", "list", kind)
    assert f"{found}\n" == shown.out
    declared = json.loads(run("stressreel", "list", kind, "--json").out)
    assert json.loads(found.render("json")) == declared
    assert found.to_pandas()["name"].tolist() == [row["name"] for row in declared]
    if kind == "benchmarks":
        assert str(stressreel.list_benchmarks()) == str(found)
    if kind in ("visual", "text"):
        lines = shown.out.splitlines()
        for line, each, row in zip(lines[1:], list_corruptions(kind), declared, strict=False):
            assert line.split()[:2] == [each.name, each.family] == [row["name"], row["family"]]
            assert f"  {each.name}: {each.source}; {each.differs}" in lines
            if kind == "text":
                assert line.endswith(each.does)
                assert all(need in line for need in each.needs)
        assert len(declared) == {"text": 35, "visual": 18}[kind]


def test_another_kind() -> None:
    with pytest.raises(UsageError, match="must be one of benchmarks, options, visual, text"):
        stressreel.list_("sound")  # type: ignore[arg-type]
    refuses(run("stressreel", "list", "sound"), "'visual', 'text'", code=2)
