import json
from pathlib import Path

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from stressreel.builders.decomp import questions as ask
from stressreel.builders.decomp.parsing import DEEPEST, parse_program, program_of, read_tree
from stressreel.core.errors import InputError

from tests.support.compositional import roots

from .notation import read

PROGRAMS = yaml.safe_load(Path(__file__).with_name("programs.yaml").read_text(encoding="utf-8"))


@pytest.mark.parametrize("case", PROGRAMS["written"], ids=lambda case: case["asks"])
def test_programs_parse_and_format(case: dict[str, str]) -> None:
    assert parse_program(case["program"]) == read(case["asks"])
    assert program_of(read(case["asks"])) == case["program"]


@given(roots())
@settings(max_examples=60, deadline=None)
def test_every_question_survives_a_round_trip(question: ask.Question) -> None:
    program = program_of(question)
    assert parse_program(program) == question
    assert str(read_tree(program)) == program
    assert read(ask.notation(question)) == question
    assert ask.template_of(question) in (*ask.TEMPLATES, "")


@pytest.mark.parametrize(
    "case", [*PROGRAMS["refused"], {"program": "Exists(" * (DEEPEST + 2), "why": f"more than {DEEPEST} deep"}]
)
def test_invalid_program_error_names_position(case: dict[str, str]) -> None:
    with pytest.raises(InputError) as caught:
        parse_program(case["program"])
    assert case["why"] in str(caught.value)


@given(roots(), st.data())
@settings(max_examples=60, deadline=None)
def test_damaged_programs_parse_or_raise(question: ask.Question, data: st.DataObject) -> None:
    program = program_of(question)
    at = data.draw(st.integers(0, len(program) - 1))
    damaged = program[:at] + data.draw(st.sampled_from(["", "(", ")", "[", "]", ",", "x", " "])) + program[at + 1 :]
    try:
        found = parse_program(damaged)
    except InputError:
        return
    assert parse_program(program_of(found)) == found


@pytest.mark.parametrize("asked", ["happens(opening a door)", "objExists(phone)", "equals(phone, object(holding))"])
def test_sub_questions_have_no_program(asked: str) -> None:
    with pytest.raises(ValueError, match="AGQA has no program"):
        program_of(read(asked))


@pytest.mark.shared
def test_real_programs_survive_a_round_trip(shared: Path) -> None:
    lines = (shared / "data" / "agqa" / "programs.jsonl").read_text(encoding="utf-8").splitlines()
    assert len(lines) > 150
    for row in map(json.loads, lines):
        question = parse_program(row["program"])
        assert program_of(question) == row["program"]
        assert ask.template_of(question) == row.get("template", ask.template_of(question))
