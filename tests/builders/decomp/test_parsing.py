import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from stressreel.builders.decomp import questions as ask
from stressreel.builders.decomp.parsing import DEEPEST, parse_program, program_of, read_tree
from stressreel.core.errors import InputError

from tests.support.compositional import roots

LENGTH = "Subtract(Query(end, action), Query(start, action))"
WRITTEN: dict[str, ask.Question] = {
    "Exists(phone, Iterate(video, Filter(frame, [objects])))": ask.Interaction(ask.INTERACTING, "phone"),
    "Exists(touching, Iterate(Localize(after, opening a door), Filter(frame, [relations])))": ask.RelationExists(
        "touching", ask.Window("after", ("opening a door",))
    ),
    "Exists(dish, Iterate(Localize(between, [opening a door, holding a phone]), Filter(frame, [relations, touching, "
    "objects])))": ask.Interaction("touching", "dish", ask.Window("between", ("opening a door", "holding a phone"))),
    "Query(class, OnlyItem(Iterate(video, Filter(frame, [objects]))))": ask.ObjectsOf(ask.INTERACTING),
    "Equals(phone, OnlyItem(IterateUntil(forward, video, Exists(touching, Filter(frame, [relations])), Filter(frame, "
    "[relations, touching, objects]))))": ask.ObjectEquals("phone", ask.EdgeObject("first", "touching")),
    f"Superlative(min, Filter(video, [actions]), {LENGTH})": ask.ExtremeAction("shortest"),
    "Compare([before, after], Exists(walking, Iterate(Localize(temporal tag, ToAction(taking, Query(class, OnlyItem("
    "Iterate(video, Filter(frame, [relations, holding, objects])))))), Filter(frame, [relations]))))": ask.OrderChoose(
        ask.RelationExists("walking"), ask.ToAction("taking", ask.ObjectsOf("holding"))
    ),
}
REFUSED = {
    "Exists(phone, Iterate(video, Filter(frame, [relations, interacting with, objects])))": "another relation",
    "Exists(Query(class, OnlyItem(Iterate(Localize(after, standing up), Filter(frame, [relations, in, objects])))), "
    "Iterate(video, Filter(frame, [objects])))": "a question about the whole video",
    "": "at character 0: there is no program",
    "phone": "at character 0: expected one of Exists",
    "Exists(phone))": "at character 13: this ) closes no bracket",
    "Exists(phone,, x)": "at character 13: something is missing before this comma",
    "Exists(a) Exists(b)": "at character 10: a comma is missing",
    "Exists(phone), x": "the program ends here",
    "Exists(phone, Iterate(film, Filter(frame, [objects])))": "at character 22: expected video, got 'film'",
    "Exists(phone, Iterate(video, Filter(frame, [things])))": "at character 44: expected one of objects,",
    "Exists(" * (DEEPEST + 2): f"nested more than {DEEPEST} deep",
    f"Superlative(max, Filter(video, [actions]), {LENGTH.replace('end', 'start')})": "at character 58: expected",
    f"Equals(a, Superlative(max, [Filter(video, [actions, b]), Filter(video, [actions, a])], {LENGTH}))": "first of",
    "Choose(a, b, IterateUntil(forward, video, XOR(Exists(a, Filter(frame, [relations, r, objects])), Exists(a, "
    "Filter(frame, [relations, r, objects]))), Filter(frame, [relations, r, objects])))": "expected 'b' again",
    "Compare([after, before], Exists(a, Iterate(Localize(temporal tag, b), Filter(frame, [actions]))))": (
        "expected before"
    ),
}


@pytest.mark.parametrize(("program", "question"), WRITTEN.items())
def test_programs_parse_and_format(program: str, question: ask.Question) -> None:
    assert parse_program(program) == question
    assert program_of(question) == program


@given(roots())
@settings(max_examples=60, deadline=None)
def test_every_question_survives_a_round_trip(question: ask.Question) -> None:
    program = program_of(question)
    assert parse_program(program) == question
    assert str(read_tree(program)) == program
    assert ask.template_of(question) in (*ask.TEMPLATES, "")


@given(st.lists(roots(), min_size=2, max_size=12, unique=True))
@settings(max_examples=50, deadline=None)
def test_notation_is_unique(questions: list[ask.Question]) -> None:
    assert len({ask.notation(question) for question in questions}) == len(questions)


@pytest.mark.parametrize(("program", "why"), REFUSED.items())
def test_invalid_program_error_names_position(program: str, why: str) -> None:
    with pytest.raises(InputError) as caught:
        parse_program(program)
    assert why in str(caught.value)


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


@pytest.mark.parametrize(
    "question",
    [
        ask.ActionHappens("opening a door"),
        ask.ObjectExists("phone"),
        ask.ObjectEquals("phone", ask.ObjectsOf("holding", ask.VIDEO)),
    ],
)
def test_sub_questions_have_no_program(question: ask.Question) -> None:
    with pytest.raises(ValueError, match="AGQA has no program"):
        program_of(question)


@pytest.mark.shared
def test_real_programs_survive_a_round_trip(shared: Path) -> None:
    lines = (shared / "data" / "agqa" / "programs.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    assert len(rows) > 150
    for row in rows:
        question = parse_program(row["program"])
        assert program_of(question) == row["program"]
        assert ask.template_of(question) == row.get("template", ask.template_of(question))
