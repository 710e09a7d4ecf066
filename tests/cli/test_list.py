import json

import pytest
from commands import run
from stressreel.corruptions.registry import list_corruptions


def test_text_perturbations_are_shown_with_what_they_do() -> None:
    shown = run("stressreel", "list", "text").out
    lines = shown.splitlines()
    assert lines[0].split()[:4] == ["name", "family", "kind", "needs"]
    for line, corruption in zip(lines[1:], list_corruptions("text"), strict=False):
        assert line.split()[:3] == [corruption.name, corruption.family, corruption.kind]
        assert line.endswith(corruption.does)
        assert all(need in line for need in corruption.needs)
        assert f"  {corruption.name}: {corruption.source}; {corruption.differs}" in lines


@pytest.mark.parametrize(("kind", "count"), [("text", 35), ("visual", 18)])
def test_json_has_every_declaration(kind: str, count: int) -> None:
    rows = json.loads(run("stressreel", "list", kind, "--json").out)
    assert [row["name"] for row in rows] == [corruption.name for corruption in list_corruptions(kind)]
    assert len(rows) == count
    assert all(row["source"] and row["differs"] for row in rows)


def test_another_kind_is_wrong_usage() -> None:
    done = run("stressreel", "list", "sound")
    assert done.code == 2
    assert "'visual', 'text'" in done.err
