"""Answers that graphs give, and what follows from answers: `builders/decomp/answers.py`, `graph_answers.py`."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import replace

import pytest
from stressreel.annotations.scene_graphs import ActionSpan, Frames, SceneGraph
from stressreel.builders.decomp.answers import Answer, Filled, answer, fill
from stressreel.builders.decomp.graph_answers import REASONS
from stressreel.builders.decomp.programs.decomposition import Step, decompose
from stressreel.builders.decomp.programs.parsing import parse_program
from stressreel.builders.decomp.programs.questions import (
    INTERACTING,
    VIDEO,
    Action,
    ActionEquals,
    ActionHappens,
    ActionsIn,
    Both,
    EdgeAction,
    EdgeObject,
    ExtremeAction,
    Interaction,
    LengthChoose,
    ObjectChoose,
    ObjectEquals,
    ObjectExists,
    ObjectsOf,
    OrderChoose,
    Question,
    RelationExists,
    ToAction,
    Window,
    kind_of,
)
from stressreel.templates.agqa import load_agqa


def frames(text: str) -> Frames:
    """Read a set of frames: "..xx" are frames 2 and 3."""
    return sum(1 << number for number, mark in enumerate(text) if mark == "x")


def graph(
    relations: Mapping[str, Mapping[str, str]] | None = None,
    actions: Mapping[str, str | list[str]] | None = None,
    provenance: str = "drawn",
    seconds: float = 1,
) -> SceneGraph:
    """Make a graph of ten frames, a second apart, from pictures of when things hold; relations of actions are added."""
    held: dict[str, dict[str, Frames]] = {}
    contacts: dict[str, Frames] = {}
    spans = []

    def note(relation: str, thing: str, when: Frames) -> None:
        held.setdefault(relation, {})
        held[relation][thing] = held[relation].get(thing, 0) | when
        if load_agqa().relation(relation).family in ("contact", "verb") and relation != "not contacting":
            contacts[thing] = contacts.get(thing, 0) | when

    for relation, objects in (relations or {}).items():
        for thing, picture in objects.items():
            note(relation, thing, frames(picture))
    for phrase, pictures in (actions or {}).items():
        words = load_agqa().actions.get(phrase)
        for picture in [pictures] if isinstance(pictures, str) else pictures:
            when = frames(picture)
            first, end = (when & -when).bit_length() - 1, when.bit_length()
            spans.append(ActionSpan(phrase, first * seconds, end * seconds, when))
            if words and words.verb and words.object:
                note(words.verb, words.object, when)
    times = tuple(number * seconds for number in range(10))
    return SceneGraph("ABC12", times, held, contacts, tuple(sorted(spans, key=lambda one: one.start)), provenance)  # type: ignore[arg-type]


SIT, RUN, LAUGH = "sitting in a chair", "running somewhere", "laughing at something"


def told(question: Question, *arguments: object, **named: object) -> str | None:
    """The answer, or in brackets why there is none."""
    found = answer(question, graph(*arguments, **named))  # type: ignore[arg-type]
    assert (found.value is None) == bool(found.reason)
    assert found.reason in ("", *REASONS)
    return found.value or f"({found.reason})"


def during(word: str, *actions: Action) -> Window:
    return Window(word, actions)  # type: ignore[arg-type]


HELD = {"holding": {"phone": ".xx.......", "dish": "......xx.."}, "behind": {"mirror": "x........."}}
ACTS = {SIT: "...xx....."}


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        (ObjectExists("phone"), "yes"),
        (ObjectExists("mirror"), "yes"),
        (ObjectExists("bag"), "no"),
        (ObjectExists("elephant"), "(unknown_word)"),
        (RelationExists("holding"), "yes"),
        (RelationExists("wiping"), "no"),
        (RelationExists("juggling"), "(unknown_word)"),
        (Interaction("holding", "phone"), "yes"),
        (Interaction("behind", "phone"), "no"),
        (Interaction("holding", "phone", during("before", SIT)), "yes"),
        (Interaction("holding", "phone", during("after", SIT)), "no"),
        (Interaction("holding", "dish", during("after", SIT)), "yes"),
        (Interaction("holding", "dish", during("while", SIT)), "no"),
        (ObjectExists("chair", during("while", SIT)), "yes"),
        (ObjectExists("chair", during("before", SIT)), "yes"),  # the action's first frame counts
        (ObjectExists("chair", during("after", SIT)), "no"),
        (RelationExists("holding", during("before", RUN)), "(no_such_action)"),
        (RelationExists("holding", during("before", "juggling balls")), "(unknown_word)"),
        (ActionHappens(SIT), "yes"),
        (ActionHappens(RUN), "no"),
        (ActionHappens("juggling balls"), "(unknown_word)"),
        (Both("and", Interaction("holding", "phone"), Interaction("behind", "mirror")), "yes"),
        (Both("and", Interaction("holding", "phone"), Interaction("behind", "dish")), "no"),
        (Both("xor", Interaction("holding", "phone"), Interaction("behind", "dish")), "yes"),
        (Both("xor", Interaction("holding", "phone"), Interaction("holding", "dish")), "no"),
        (Both("xor", Interaction("holding", "bag"), Interaction("holding", "dish")), "no"),
        (Both("and", Interaction("holding", "phone"), Interaction("juggling", "dish")), "(unknown_word)"),
        (Both("and", Interaction("holding", "bag"), Interaction("juggling", "dish")), "no"),
        (ObjectsOf("behind"), "mirror"),
        (ObjectsOf("holding"), "(several_objects)"),
        (ObjectsOf("wiping"), "(no_object)"),
        (ObjectsOf("holding", during("after", SIT)), "dish"),
        (ObjectsOf(INTERACTING, during("after", SIT)), "dish"),
        (ObjectsOf(INTERACTING), "(several_objects)"),
        (EdgeObject("first", "holding"), "phone"),
        (EdgeObject("last", "holding"), "dish"),
        (EdgeObject("first", "holding", during("after", SIT)), "dish"),
        (EdgeObject("last", "wiping"), "(no_object)"),
        (ObjectEquals("phone", EdgeObject("first", "holding")), "yes"),
        (ObjectEquals("dish", EdgeObject("first", "holding")), "no"),
        (ObjectEquals("dish", EdgeObject("first", "wiping")), "(no_object)"),
        (ObjectEquals("bag", ObjectsOf("holding")), "no"),
        (ObjectEquals("dish", ObjectsOf("holding")), "(several_objects)"),
        (ObjectEquals(ObjectsOf("behind"), EdgeObject("first", "holding")), "no"),
        (ObjectChoose("dish", "phone", EdgeObject("first", "holding")), "phone"),
        (ObjectChoose("dish", "bag", EdgeObject("first", "holding")), "(neither_option)"),
        (ObjectChoose("dish", "bag", ObjectsOf("holding")), "dish"),
        (ObjectChoose("dish", "phone", ObjectsOf("holding")), "(both_options)"),
        (ObjectChoose("box", "bag", ObjectsOf("holding")), "(neither_option)"),
        (ObjectExists(ObjectsOf("behind")), "yes"),
        (ObjectExists(ObjectsOf("holding")), "(unresolved_reference)"),
        (Interaction("holding", EdgeObject("first", "holding"), during("after", SIT)), "no"),
        (OrderChoose(Interaction(INTERACTING, "phone"), SIT), "before"),
        (OrderChoose(Interaction(INTERACTING, "dish"), SIT), "after"),
        (OrderChoose(Interaction(INTERACTING, "chair"), SIT), "(at_the_same_time)"),
        (OrderChoose(Interaction(INTERACTING, "mirror"), SIT), "(neither_side)"),  # there, but without contact
        (OrderChoose(RelationExists("holding"), SIT), "(both_sides)"),
        (OrderChoose(RelationExists("behind"), SIT), "before"),
    ],
)
def test_objects_and_relations(question: Question, expected: str) -> None:
    assert told(question, HELD, ACTS) == expected


@pytest.mark.parametrize(
    ("word", "acts", "expected"),
    [
        ("before", {SIT: "x........."}, "(empty_window)"),
        ("after", {SIT: ".........x"}, "(empty_window)"),
        ("before", {SIT: ["..x.......", ".....x...."]}, "(several_instances)"),
        ("after", {SIT: ["..x.......", ".....x...."]}, "(several_instances)"),
        ("before", {SIT: ".x........"}, "yes"),
        ("while", {SIT: [".x........", ".......x.."]}, "yes"),
        ("while", {SIT: ["....x.....", ".x........"]}, "yes"),
        ("while", {SIT: ["..x.......", ".......x.."]}, "no"),
        ("while", {SIT: ["....x.....", ".......x.."]}, "no"),
        ("while", {SIT: ["x.........", ".x........"]}, "(several_instances)"),
        ("while", {SIT: "x.x......."}, "yes"),  # from its first frame to its last
    ],
)
def test_windows_of_one_action(word: str, acts: dict[str, str | list[str]], expected: str) -> None:
    held = {"holding": {"phone": ".x........"}}
    assert told(Interaction("holding", "phone", during(word, SIT)), held, acts) == expected


@pytest.mark.parametrize(
    ("acts", "expected"),
    [
        ({SIT: "x.........", RUN: "..x......."}, "yes"),
        ({SIT: ".x........", RUN: "..x......."}, "(empty_window)"),
        ({SIT: "xx........", RUN: "...x......"}, "no"),
        ({SIT: "....x.....", RUN: "..x......."}, "(empty_window)"),
        ({SIT: ["x.........", "...x......"], RUN: ["......x...", "........x."]}, "no"),
        ({SIT: "x........."}, "(no_such_action)"),
    ],
)
def test_the_window_between_two_actions(acts: dict[str, str | list[str]], expected: str) -> None:
    held = {"holding": {"phone": ".x........"}}
    assert told(Interaction("holding", "phone", during("between", SIT, RUN)), held, acts) == expected


@pytest.mark.parametrize(
    ("pictures", "first", "last"),
    [
        ({"phone": "xx........", "dish": "...xx....."}, "phone", "dish"),
        ({"phone": "xx........", "dish": "..xx......"}, "(ambiguous_run)", "(ambiguous_run)"),  # without a gap
        ({"phone": "xx......x.", "dish": ".x........"}, "(ambiguous_run)", "phone"),
        ({"phone": "xxxxxxxxxx"}, "phone", "phone"),
        ({"phone": "x........x", "dish": "....x....."}, "phone", "phone"),
    ],
)
def test_first_and_last_runs(pictures: dict[str, str], first: str, last: str) -> None:
    held = {"holding": pictures}
    assert told(EdgeObject("first", "holding"), held) == first
    assert told(EdgeObject("last", "holding"), held) == last


LONG = {LAUGH: "xxxxxxxxx.", RUN: ".x........"}


@pytest.mark.parametrize(
    ("question", "acts", "expected"),
    [
        (ExtremeAction("longest"), LONG, LAUGH),  # 9 s and 1 s
        (ExtremeAction("shortest"), LONG, RUN),
        (ExtremeAction("longest"), {LAUGH: "xxxxxxxx..", RUN: ".x........"}, "(ambiguous_margin)"),  # by 7 s
        (ExtremeAction("longest"), {}, "(no_action)"),
        (ExtremeAction("longest"), {LAUGH: ["xxxxxxxxx.", ".........x"]}, LAUGH),
        (ExtremeAction("shortest"), {LAUGH: "xxxxxxxxx.", RUN: ["x.........", "..x......."]}, "(ambiguous_margin)"),
        (ExtremeAction("longest"), {LAUGH: "xxxxxxxxxx", RUN: ["xx"] * 9}, "(several_instances)"),
        (LengthChoose("longer", LAUGH, RUN), LONG, LAUGH),
        (LengthChoose("shorter", LAUGH, RUN), LONG, RUN),
        (LengthChoose("longer", LAUGH, SIT), LONG, "(no_such_action)"),
        (LengthChoose("longer", LAUGH, LAUGH), LONG, "(both_options)"),
        (LengthChoose("longer", LAUGH, RUN), {LAUGH: "xxxxxxxx..", RUN: ".x........"}, "(ambiguous_margin)"),
        (LengthChoose("longer", LAUGH, RUN), {LAUGH: "xxxxxxxxx.", RUN: ["x.", ".x"]}, "(several_instances)"),
        (LengthChoose("longer", ExtremeAction("longest"), RUN), LONG, LAUGH),
        (ActionEquals(LAUGH, LengthChoose("longer", LAUGH, RUN)), LONG, "yes"),
        (ActionEquals(RUN, LengthChoose("longer", RUN, LAUGH)), LONG, "no"),
        (EdgeAction("first"), {LAUGH: "x.........", RUN: "......x..."}, LAUGH),
        (EdgeAction("last"), {LAUGH: "x.........", RUN: "......x..."}, RUN),
        (EdgeAction("first"), {LAUGH: "x.........", RUN: ".....x...."}, "(ambiguous_margin)"),  # by 5 s
        (EdgeAction("first"), {LAUGH: ["x.........", "..x......."]}, LAUGH),
        (EdgeAction("first"), {}, "(no_action)"),
        (ActionsIn(), {LAUGH: "x........."}, LAUGH),
        (ActionsIn(), LONG, "(several_actions)"),
        (ActionsIn(during("before", SIT)), {SIT: "...x......", RUN: "x........."}, RUN),
        (ActionsIn(during("after", SIT)), {SIT: "...x......", RUN: "x........."}, "(no_action)"),
        (OrderChoose(ActionHappens(RUN), SIT), {SIT: "...x......", RUN: "x........."}, "before"),
        (OrderChoose(ActionHappens(RUN), SIT), {SIT: "...x......", RUN: ".....x...."}, "after"),
        (OrderChoose(ActionHappens(RUN), SIT), {SIT: "...x......", RUN: "xxxx......"}, "(at_the_same_time)"),
        (OrderChoose(ActionHappens(RUN), SIT), {SIT: "...x......", RUN: ["x...", "....x"]}, "(several_instances)"),
        (ActionHappens(ToAction("taking", ObjectsOf("behind"))), {"taking a bag from somewhere": "x"}, "yes"),
        (ActionHappens(ToAction("taking", ObjectsOf("behind"))), {"taking a phone from somewhere": "x"}, "no"),
        (ActionHappens(ToAction("taking", ObjectsOf("above"))), {}, "(unresolved_reference)"),
        (ActionHappens(RUN, during("after", ToAction("taking", ObjectsOf("behind")))), {RUN: "xx"}, "(no_such_action)"),
    ],
)
def test_actions(question: Question, acts: dict[str, str | list[str]], expected: str) -> None:
    assert told(question, {"behind": {"bag": "x"}}, acts) == expected


def test_an_action_of_the_same_parts_on_the_other_side_leaves_its_order_open() -> None:
    asked = OrderChoose(ActionHappens("holding a phone"), SIT)
    acts = {SIT: "...x......", "holding a phone": "x........."}
    assert told(asked, None, acts) == "before"
    assert told(asked, {"holding": {"phone": ".....x...."}}, acts) == "(both_sides)"


PHONE = {"holding a phone": ".xx......."}


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        (ObjectExists("phone"), "yes"),
        (ObjectExists("bag"), "(not_annotated)"),
        (ObjectExists("phone", during("after", SIT)), "(not_annotated)"),
        (RelationExists("holding"), "yes"),
        (RelationExists("washing"), "no"),
        (RelationExists("touching"), "(not_annotated)"),
        (RelationExists("behind"), "(not_annotated)"),
        (RelationExists("holding", during("after", SIT)), "no"),
        (Interaction("washing", "phone"), "no"),
        (Interaction("holding", "bag"), "(not_annotated)"),  # something is held
        (Interaction("holding", "bag", during("after", SIT)), "no"),  # nothing is held then
        (Interaction("holding", "phone", during("after", SIT)), "no"),
        (Interaction("opening", "door"), "(not_annotated)"),  # a doorknob is opened
        (Interaction("touching", "phone"), "(not_annotated)"),
        (ActionHappens(RUN), "no"),
        (ActionHappens("standing up"), "(not_annotated)"),  # who sat may have stood up
        (ActionHappens("holding a bag"), "(not_annotated)"),
        (ActionHappens("holding a phone", during("after", SIT)), "no"),
        (ObjectsOf("holding"), "phone"),
        (ObjectsOf("touching"), "(not_annotated)"),
        (EdgeObject("first", "above"), "(not_annotated)"),
        (OrderChoose(RelationExists("holding"), SIT), "before"),
        (OrderChoose(RelationExists("touching"), SIT), "(not_annotated)"),
    ],
)
def test_charades_denies_what_it_would_have_annotated(question: Question, expected: str) -> None:
    held = {"opening": {"doorknob": "x"}}
    assert told(question, held, {**PHONE, **ACTS}, provenance="charades") == expected


THROW = "throwing a pillow somewhere"
THROWN = {
    THROW: "....xx....",
    "holding a pillow": "x.........",
    "going from standing to sitting": ".x........",
}


@pytest.mark.parametrize("provenance", ["charades", "action_genome"])
@pytest.mark.parametrize(
    ("question", "expected"),
    [
        (RelationExists("holding", during("while", THROW)), "(not_annotated)"),  # who throws it holds it
        (Interaction("holding", "pillow", during("while", THROW)), "(not_annotated)"),
        (Interaction("holding", "broom", during("while", THROW)), "no"),
        (ActionHappens("holding a pillow", during("while", THROW)), "(not_annotated)"),
        (ActionHappens(THROW, during("before", "going from standing to sitting")), "no"),
        # Times are a second off.
        (Interaction("holding", "pillow", during("after", "holding a pillow")), "(not_annotated)"),
        (ObjectExists("broom"), "(not_annotated)"),
        (ObjectExists("person", during("while", THROW)), "yes"),
        (Both("xor", Interaction("throwing", "pillow"), Interaction("holding", "bed")), "(not_annotated)"),
    ],
)
def test_what_the_annotations_leave_open_is_not_denied(question: Question, expected: str, provenance: str) -> None:
    assert told(question, None, THROWN, provenance=provenance) == expected


def test_an_action_that_is_spoken_of_is_denied_as_by_its_name() -> None:
    acts = {"holding a pillow": "xxxxx.....", THROW: "........x.", SIT: "......x..."}
    for action in ("holding a pillow", ExtremeAction("longest")):
        asked = ActionHappens(action, during("after", SIT))
        assert told(asked, None, acts, provenance="charades", seconds=4) == "(not_annotated)"
        assert told(asked, None, acts, seconds=4) == "no"


@pytest.mark.parametrize("provenance", ["charades", "drawn"])
@pytest.mark.parametrize(
    "question",
    [
        ObjectsOf("putting down"),
        EdgeObject("first", "putting down"),
        ObjectEquals("phone", ObjectsOf("putting down")),
        ObjectEquals("phone", EdgeObject("first", "putting down")),
        ObjectChoose("phone", "dish", ObjectsOf("putting down", during("after", SIT))),
        Interaction("holding", ObjectsOf("putting down")),
    ],
)
def test_no_object_is_told_apart_from_one_without_a_name(question: Question, provenance: str) -> None:
    held = {"putting down": {"something": "..x.....x.", "dish": "......x..."}, "holding": {"box": "x"}}
    assert told(question, held, ACTS, provenance=provenance).startswith("(")


def test_before_or_after_denies_the_other_side_and_nothing_else_does() -> None:
    action, thrown = ActionHappens("holding a pillow"), during("after", THROW)
    asked = OrderChoose(action, THROW)
    for provenance in ("charades", "drawn"):
        of = graph(None, {"holding a pillow": "x.........", THROW: "....xx...."}, provenance)
        of = replace(of, relations={**of.relations, "taking": {"pillow": frames(".........x")}})
        answers = filled({asked: "before"}, ActionHappens("holding a pillow", thrown), of=of)[1]
        assert answers[Interaction("holding", "pillow", thrown)].value == "no"
    never = {RelationExists("holding", thrown): "no"}
    of = graph(None, {"holding a pillow": "x.........", THROW: "....xx...."}, "charades")
    answers = filled(never, Interaction("holding", "bag", thrown), Interaction("holding", "pillow", thrown), of=of)[1]
    assert answers[Interaction("holding", "pillow", thrown)].reason == "not_annotated"


@pytest.mark.parametrize(
    ("acts", "question", "expected"),
    [
        # Started before the part began, or ended after it was over.
        ({SIT: "..xx......", LAUGH: ".xxxxxx..."}, EdgeAction("first", during("after", SIT)), "(no_action)"),
        ({SIT: "..xx......", LAUGH: ".xxx......", RUN: "......x..."}, EdgeAction("first", during("after", SIT)), RUN),
        ({SIT: "......xx..", LAUGH: ".xxxxxx..."}, EdgeAction("last", during("before", SIT)), "(no_action)"),
        ({SIT: "......xx..", LAUGH: "....xxxx..", RUN: "x........."}, EdgeAction("last", during("before", SIT)), RUN),
        ({SIT: "..xxxxx...", LAUGH: "xxxx......", RUN: "....x....."}, EdgeAction("first", during("while", SIT)), RUN),
    ],
)
def test_the_first_action_of_a_part_starts_in_it_and_the_last_ends_in_it(
    acts: dict[str, str], question: Question, expected: str
) -> None:
    assert told(question, None, acts) == expected


# What follows from other answers.


def filled(
    given: Mapping[Question, str], *more: Question, of: SceneGraph | None = None
) -> tuple[Filled, Mapping[Question, Answer]]:
    steps = [step for root in [*given, *more] for step in decompose(root)]
    found = fill(steps, given, of)
    return found, found.answers


AFTER = during("after", SIT)
FIRST = EdgeObject("first", "touching", AFTER)
MORE, SECOND = LengthChoose("longer", LAUGH, RUN), EdgeObject("last", "touching")


@pytest.mark.parametrize(
    ("root", "value", "follows"),
    [
        (
            Interaction("holding", "phone", AFTER),
            "yes",
            {
                RelationExists("holding", AFTER): "yes",
                ObjectExists("phone", AFTER): "yes",
                Interaction("holding", "phone"): "yes",
                RelationExists("holding"): "yes",
                ObjectExists("phone"): "yes",
                ActionHappens(SIT): "yes",
                RelationExists("sitting on"): "yes",
                ObjectExists("chair"): "yes",
            },
        ),
        (
            Interaction("holding", "phone", AFTER),
            "no",
            {Interaction("holding", "phone"): None, ActionHappens(SIT): "yes", ObjectExists("chair"): "yes"},
        ),
        (
            RelationExists("holding", during("between", SIT, RUN)),
            "yes",
            {RelationExists("holding", AFTER): "yes", RelationExists("holding", during("before", RUN)): "yes"},
        ),
        (
            Both("xor", Interaction("holding", "phone"), Interaction("holding", "bag")),
            "yes",
            {Interaction("holding", "phone"): "yes", Interaction("holding", "bag"): "no", ObjectExists("bag"): None},
        ),
        (
            Both("and", Interaction("holding", "phone"), Interaction("holding", "bag")),
            "no",
            {Interaction("holding", "phone"): None, Interaction("holding", "bag"): None},
        ),
        (
            ObjectEquals("phone", FIRST),
            "yes",
            {FIRST: "phone", ObjectExists("phone"): "yes", ActionHappens(SIT): "yes"},
        ),
        (ObjectEquals("phone", FIRST), "no", {FIRST: None, ObjectExists("phone"): None}),
        (
            ObjectChoose("phone", "bag", FIRST),
            "bag",
            {ObjectEquals("bag", FIRST): "yes", ObjectEquals("phone", FIRST): "no", FIRST: "bag"},
        ),
        (
            ObjectChoose("phone", "bag", ObjectsOf("holding")),
            "bag",
            {ObjectEquals("bag", ObjectsOf("holding")): None, ObjectEquals("phone", ObjectsOf("holding")): "no"},
        ),
        (ObjectEquals(SECOND, FIRST), "yes", {SECOND: None, FIRST: None}),
        (MORE, LAUGH, {ActionHappens(LAUGH): "yes", ActionHappens(RUN): "yes"}),
        (ActionEquals(LAUGH, MORE), "yes", {MORE: LAUGH, ActionHappens(RUN): "yes"}),
        (ActionEquals(LAUGH, MORE), "no", {MORE: RUN, ActionHappens(LAUGH): "yes"}),
        (
            OrderChoose(RelationExists("holding"), SIT),
            "after",
            {
                RelationExists("holding", during("before", SIT)): "no",
                RelationExists("holding", AFTER): "yes",
                RelationExists("holding"): "yes",
                ActionHappens(SIT): "yes",
            },
        ),
        (ObjectsOf("touching", AFTER), "bag", {RelationExists("touching", AFTER): "yes", ActionHappens(SIT): "yes"}),
    ],
)
def test_what_a_roots_answer_implies(root: Question, value: str, follows: Mapping[Question, str | None]) -> None:
    found, answers = filled({root: value})
    assert {question: answers[question].value for question in follows} == follows
    assert answers[root] == Answer(value)
    assert found.sources[root] == "root"
    assert found.conflicts == ()
    assert {one.reason for one in answers.values()} <= {"", "no_graph"}


def test_roots_of_other_graphs_of_the_video_answer_too() -> None:
    _, answers = filled(
        {ObjectsOf("touching", AFTER): "bag"}, ObjectEquals("bag", FIRST), Interaction("touching", "bag")
    )
    assert answers[FIRST].value == "bag"  # the only object is the first one
    assert answers[ObjectEquals("bag", FIRST)].value == "yes"
    assert answers[Interaction("touching", "bag")].value == "yes"
    reference = ObjectsOf("behind")
    asked = Interaction("holding", reference)
    _, answers = filled({reference: "bag", Interaction("holding", "bag"): "no"}, asked)
    assert answers[asked].value == "no"
    _, answers = filled({SECOND: "bag"}, ObjectEquals(SECOND, FIRST), FIRST)
    assert answers[FIRST].value is None
    _, answers = filled({SECOND: "bag", ObjectEquals(SECOND, FIRST): "yes"})
    assert answers[FIRST].value == "bag"


def test_conflicts_are_named_and_roots_stay() -> None:
    root, child = Interaction("touching", "phone", AFTER), Interaction("touching", "phone")
    found, answers = filled({root: "yes", child: "no"})
    assert (answers[root].value, answers[child].value) == ("yes", "no")
    kinds = {(one.question, one.kind, one.sources, one.values) for one in found.conflicts}
    assert (child, "against_root", ("root", "After"), ("no", "yes")) in kinds
    assert (root, "against_root", ("root", "After"), ("yes", "no")) in kinds
    found, answers = filled({root: "yes"}, of=graph(HELD, ACTS))
    assert answers[root] == Answer("yes")
    assert answers[child] == Answer(None, "conflict")
    assert found.recomputed == {root: "no"}
    kinds = {(one.question, one.kind, one.sources, one.values) for one in found.conflicts}
    assert (root, "recomputed", ("root", "graph"), ("yes", "no")) in kinds
    assert (child, "against_graph", ("graph", "After"), ("no", "yes")) in kinds
    assert child not in found.sources


def test_a_root_about_interacting_does_not_deny_that_the_object_is_there() -> None:
    root, near = Interaction(INTERACTING, "mirror"), Interaction("behind", "mirror")
    found, answers = filled({root: "no"}, near, of=graph(HELD, provenance="agqa"))
    assert [answers[asked].value for asked in (root, near, ObjectExists("mirror"))] == ["no", "yes", "yes"]
    assert found.recomputed == {root: "no"}
    assert found.conflicts == ()


def test_nothing_is_said_of_parts_that_are_not_there() -> None:
    root = Interaction("touching", "phone", during("before", RUN))
    _, answers = filled({}, root, of=graph(HELD, ACTS))
    assert answers[root] == Answer(None, "no_such_action")


# Properties, on graphs and questions by chance.

OBJECTS, RELATIONS = ("phone", "bag", "dish", "mirror"), ("holding", "touching", "behind", "opening")
PHRASES = (SIT, RUN, LAUGH, "holding a phone", "opening a bag", "taking a dish from somewhere")


def random_graph(rng: random.Random) -> SceneGraph:
    def picture(share: float) -> str:
        begins = rng.randrange(10)
        return "".join("x" if begins <= at < begins + 3 and rng.random() < share else "." for at in range(10))

    held = {relation: {thing: picture(0.7) for thing in rng.sample(OBJECTS, 2)} for relation in RELATIONS}
    held = {
        relation: {thing: shape for thing, shape in rest.items() if "x" in shape} for relation, rest in held.items()
    }
    acts = {phrase: [shape for _ in range(rng.choice((1, 1, 2))) if "x" in (shape := picture(1))] for phrase in PHRASES}
    return graph(held, acts, seconds=4)  # type: ignore[arg-type]


def random_question(rng: random.Random) -> Question:
    def action() -> Action:
        return ExtremeAction("longest") if rng.random() < 0.1 else rng.choice(PHRASES)

    def window(words: tuple[str, ...] = ("video", "video", "before", "after", "while", "between")) -> Window:
        word = rng.choice(words)
        return Window(word, tuple(action() for _ in range({"video": 0, "between": 2}.get(word, 1))))  # type: ignore[arg-type]

    def thing() -> object:
        return rng.choice((*OBJECTS, *OBJECTS, ObjectsOf("behind"), EdgeObject("first", "holding")))

    relation, edge = rng.choice(RELATIONS), rng.choice(("first", "last"))
    asked = rng.choice((EdgeObject(edge, relation, window()), ObjectsOf(relation, window())))  # type: ignore[arg-type]
    when = window()
    compared = LengthChoose("longer", action(), action())
    first, second = Interaction(relation, thing(), when), Interaction(rng.choice(RELATIONS), thing(), when)  # type: ignore[arg-type]
    found: list[Question] = [
        *(ObjectExists(thing(), when), RelationExists(relation, when), first, ActionHappens(action(), when)),  # type: ignore[arg-type]
        *(Both("and", first, second), Both("xor", first, second), asked, ActionsIn(when), EdgeAction(edge, when)),  # type: ignore[arg-type]
        *(ExtremeAction("longest"), ObjectEquals(thing(), asked), ObjectChoose("phone", "bag", asked), compared),  # type: ignore[arg-type]
        *(ActionEquals(compared.first, compared), OrderChoose(RelationExists(relation), action())),
        *(
            OrderChoose(ActionHappens(action()), action()),
            OrderChoose(Interaction(INTERACTING, rng.choice(OBJECTS)), action()),
        ),
    ]
    return rng.choice(found)


def contradictions(steps: list[Step], answers: Mapping[Question, Answer]) -> list[tuple[Step, str]]:
    """Every parent whose answer its children's rule out."""
    found = []
    for step in steps:
        parent = answers[step.question].value
        for rule, children in step.rules:
            values = [answers[child].value for child in children]
            wrong = False
            if rule in ("Interaction", "After", "Before", "While", "Between"):
                wrong = parent == "yes" and "no" in values
            elif rule == "And":
                wrong = (parent == "yes" and values != ["yes", "yes"]) or (parent == "no" and values == ["yes", "yes"])
            elif rule == "Xor" and children[0] != children[1]:
                wrong = (parent == "yes") != (values == ["yes", "no"])
            elif rule == "Equals" and isinstance(step.question, ObjectEquals):
                thing = step.question.object
                name = thing if isinstance(thing, str) else values[0]
                wrong = None not in (parent, name, values[1]) and (parent == "yes") != (name == values[1])
            elif rule == "Choose" and parent in ("before", "after"):
                wrong = None not in values and values != (["yes", "no"] if parent == "before" else ["no", "yes"])
            elif rule in ("First", "Last"):
                wrong = None not in (parent, values[0]) and parent != values[0]
            if wrong:
                found.append((step, rule))
    return found


@pytest.mark.parametrize("seed", range(40))
def test_an_exact_graph_contradicts_nothing_and_order_has_no_effect(seed: int) -> None:
    rng = random.Random(seed)
    of = random_graph(rng)
    roots = [random_question(rng) for _ in range(60)]
    steps = [step for root in roots for step in decompose(root)]
    whole = fill(steps, {}, of)
    assert whole.conflicts == ()
    assert contradictions(steps, whole.answers) == []
    assert {one.reason for one in whole.answers.values()} <= {"", *REASONS}
    told_by_graph = {question: answer(question, of) for question in whole.answers}
    kept = {question: one for question, one in told_by_graph.items() if one.value is not None}
    assert {question: whole.answers[question] for question in kept} == kept
    # The graph's own answers, given as AGQA's: all agree, and nothing else changes.
    given = {root: told_by_graph[root].value for root in roots if told_by_graph[root].value}
    again = fill(rng.sample(steps, len(steps)), given, of)  # type: ignore[arg-type]
    assert again.conflicts == ()
    assert again.answers.items() >= kept.items()
    assert again.recomputed == given
    # Without the graph, from the roots alone: what follows is what the graph says.
    alone = fill(steps, given, None)  # type: ignore[arg-type]
    shuffled = fill(rng.sample(steps, len(steps)), given, None)  # type: ignore[arg-type]
    assert alone.conflicts == shuffled.conflicts == ()
    assert alone.answers == shuffled.answers
    for question, one in alone.answers.items():
        assert one.value is None or told_by_graph[question].value in (one.value, None)


@pytest.mark.parametrize("seed", range(30))
def test_order_has_no_effect_where_answers_contradict_each_other(seed: int) -> None:
    rng = random.Random(seed)
    of = rng.choice((None, random_graph(rng)))
    roots = [random_question(rng) for _ in range(40)]
    given = {
        root: "yes" if rng.random() < 0.5 else "no" for root in roots if kind_of(root)[:4] in ("Inte", "Exis", "Xor")
    }
    steps = [step for root in roots for step in decompose(root)]
    found = fill(steps, given, of)
    again = fill(rng.sample(steps, len(steps)), dict(sorted(given.items(), key=repr)), of)
    assert (found.answers, found.sources, found.conflicts) == (again.answers, again.sources, again.conflicts)
    for root, value in given.items():
        assert found.answers[root].value == value


def test_programs_that_agqa_has_are_answered() -> None:
    program = (
        "Exists(phone, Iterate(Localize(before, sitting in a chair), Filter(frame, [relations, holding, objects])))"
    )
    assert told(parse_program(program), HELD, ACTS) == "yes"
    assert told(replace(parse_program(program), window=VIDEO), HELD, ACTS) == "yes"  # type: ignore[type-var]
