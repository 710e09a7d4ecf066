"""Answers that graphs give, why they give none, and what follows from answers."""

import random
from collections.abc import Mapping
from dataclasses import replace

import pytest
from stressreel.annotations.scene_graphs import ActionSpan, Frames, SceneGraph
from stressreel.builders.decomp.decomposition import Step, decompose
from stressreel.builders.decomp.graph_answers import Answer, GraphEvaluator
from stressreel.builders.decomp.inference import VideoAnswers, answer_all
from stressreel.builders.decomp.questions import (
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
    notation,
)
from stressreel.builders.decomp.tables import REASONS
from stressreel.builders.decomp.verification import contradiction
from stressreel.builders.decomp.video_graphs import options_of
from stressreel.templates.agqa import load_agqa

from .random_graphs import Asker, random_graph


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
    found = GraphEvaluator(graph(*arguments, **named)).answer(question)  # type: ignore[arg-type]
    assert (found.value is None) == bool(found.reason)
    assert found.reason in ("", *REASONS)
    return found.value or f"({found.reason})"


def during(word: str, *actions: Action) -> Window:
    return Window(word, actions)  # type: ignore[arg-type]


BEHIND = {"bag": "x"}
HELD = {"holding": {"phone": ".xx.......", "dish": "......xx.."}, "behind": {"mirror": "x.........", **BEHIND}}
ACTS = {SIT: "...xx....."}
LONG = {LAUGH: "xxxxxxxxx.", RUN: ".x........"}
NEXT = {LAUGH: "xxxxxxxx..", RUN: ".x........"}
TWICE = {SIT: ["..x.......", ".....x...."]}
BEFORE, AFTER, WHILE = (during(word, SIT) for word in ("before", "after", "while"))
# The box itself is taken once.
BOXES = {"taking a box from somewhere": "x.........", "taking something from a box": "...x......"}
TAKE, TAKING = "taking a phone from somewhere", ToAction("taking", ObjectsOf("above"))


@pytest.mark.parametrize(
    ("question", "acts", "expected"),
    [
        (ObjectExists("mirror"), ACTS, "yes"),
        (ActionHappens("juggling balls"), ACTS, "(unknown_word)"),
        (ObjectExists("chair", BEFORE), ACTS, "yes"),  # the action's first frame counts
        (ObjectExists("chair", AFTER), ACTS, "no"),
        (RelationExists("holding", during("before", RUN)), ACTS, "(no_such_action)"),
        (Both("and", Interaction("holding", "box"), Interaction("juggling", "dish")), ACTS, "no"),
        (Both("xor", Interaction("holding", "phone"), Interaction("holding", "dish")), ACTS, "no"),
        (ObjectsOf("holding"), ACTS, "(several_objects)"),
        (ObjectsOf("wiping"), ACTS, "(no_object)"),
        (ObjectsOf(INTERACTING, AFTER), ACTS, "dish"),
        (EdgeObject("last", "holding"), ACTS, "dish"),
        (EdgeObject("first", "behind"), ACTS, "(ambiguous_run)"),
        (ObjectEquals("box", ObjectsOf("holding")), ACTS, "no"),  # not even one of several
        (ObjectEquals("dish", ObjectsOf("holding")), ACTS, "(several_objects)"),
        (ObjectEquals("dish", ObjectsOf("wiping")), ACTS, "(no_object)"),
        (ObjectChoose("dish", "box", EdgeObject("first", "holding")), ACTS, "(neither_option)"),
        (ObjectChoose("dish", "phone", ObjectsOf("holding")), ACTS, "(both_options)"),
        (ObjectExists(ObjectsOf("holding")), ACTS, "(unresolved_reference)"),
        (OrderChoose(Interaction(INTERACTING, "phone"), SIT), ACTS, "before"),
        (OrderChoose(Interaction(INTERACTING, "chair"), SIT), ACTS, "(at_the_same_time)"),
        (OrderChoose(Interaction(INTERACTING, "mirror"), SIT), ACTS, "(neither_side)"),  # there, but without contact
        (OrderChoose(RelationExists("holding"), SIT), ACTS, "(both_sides)"),
        (OrderChoose(ActionHappens(TAKE), SIT), {**ACTS, TAKE: "x"}, "before"),
        (RelationExists("holding", BEFORE), {SIT: "x........."}, "(empty_window)"),
        (RelationExists("holding", AFTER), TWICE, "(several_instances)"),
        (Interaction("holding", "phone", WHILE), {SIT: ["x.........", ".x........"]}, "(several_instances)"),
        (Interaction("holding", "phone", WHILE), {SIT: "x.x......."}, "yes"),  # from its first frame to its last
        (RelationExists("holding", during("between", SIT, RUN)), {SIT: ".x", RUN: "..x"}, "(empty_window)"),
        (ExtremeAction("longest"), LONG, LAUGH),  # 9 s and 1 s
        (ExtremeAction("longest"), NEXT, "(ambiguous_margin)"),  # by 7 s
        (ExtremeAction("longest"), {LAUGH: "xxxxxxxxxx", RUN: ["xx"] * 9}, "(several_instances)"),
        (LengthChoose("shorter", LAUGH, RUN), LONG, RUN),
        (LengthChoose("longer", LAUGH, LAUGH), LONG, "(both_options)"),
        (LengthChoose("longer", LAUGH, RUN), NEXT, "(ambiguous_margin)"),
        (ActionEquals(RUN, LengthChoose("longer", RUN, LAUGH)), LONG, "no"),
        (EdgeAction("last"), {LAUGH: "x.........", RUN: "......x..."}, RUN),
        (EdgeAction("first"), {LAUGH: "x.........", RUN: ".....x...."}, "(ambiguous_margin)"),  # by 5 s
        (EdgeAction("first", AFTER), {SIT: "..xx......", LAUGH: ".xxxxxx..."}, "(no_action)"),  # it starts before
        (EdgeAction("last", BEFORE), {SIT: "......xx..", LAUGH: "....xxxx..", RUN: "x........."}, RUN),
        (ActionsIn(), LONG, "(several_actions)"),
        (ActionsIn(AFTER), {SIT: "...x......", RUN: "x........."}, "(no_action)"),
        (RelationExists("holding", during("after", ToAction("taking", "box"))), BOXES, "yes"),  # type: ignore[arg-type]
        (ActionHappens(TAKING), {}, "(unresolved_reference)"),
        (ActionHappens(RUN, during("after", ToAction("taking", ObjectsOf("above")))), {}, "(unresolved_reference)"),
    ],
)
def test_limits_and_reasons(question: Question, acts: dict[str, str | list[str]], expected: str) -> None:
    assert told(question, HELD, acts) == expected


def test_an_action_of_the_same_parts_on_the_other_side_leaves_its_order_open() -> None:
    asked = OrderChoose(ActionHappens("holding a phone"), SIT)
    acts = {SIT: "...x......", "holding a phone": "x........."}
    assert told(asked, None, acts) == "before"
    assert told(asked, {"holding": {"phone": ".....x...."}}, acts) == "(both_sides)"


def test_the_first_action_of_a_part_begins_in_it() -> None:
    of = graph(None, {SIT: "xx........", LAUGH: "..xxx.....", RUN: ".........x"})
    early = replace(of, actions=tuple(replace(one, start=1.5) if one.phrase == LAUGH else one for one in of.actions))
    parts = (AFTER, during("between", SIT, RUN))
    found = [[GraphEvaluator(one).answer(EdgeAction("first", part)).value for one in (of, early)] for part in parts]
    assert found == [[LAUGH, RUN], [LAUGH, None]]


THROW, STOOD = "throwing a pillow somewhere", "going from standing to sitting"
THROWN = {THROW: "....xx....", "holding a pillow": "x.........", STOOD: ".x........"}
PHONE = {"holding a phone": ".xx.......", **ACTS}


@pytest.mark.parametrize(
    ("question", "acts", "expected"),
    [
        (ObjectExists("bag"), PHONE, "(not_annotated)"),
        (RelationExists("washing"), PHONE, "no"),
        (RelationExists("touching"), PHONE, "(not_annotated)"),
        (RelationExists("holding", AFTER), PHONE, "no"),
        (Interaction("washing", "phone"), PHONE, "no"),
        (Interaction("holding", "bag"), PHONE, "(not_annotated)"),  # something is held
        (Interaction("holding", "bag", AFTER), PHONE, "no"),  # nothing is held then
        (Interaction("opening", "door"), PHONE, "(not_annotated)"),  # a doorknob is opened
        (ActionHappens(RUN), PHONE, "no"),
        (ActionHappens("standing up"), PHONE, "(not_annotated)"),  # who sat may have stood up
        (ActionHappens("holding a bag"), PHONE, "(not_annotated)"),
        (OrderChoose(RelationExists("touching"), SIT), PHONE, "(not_annotated)"),
        (RelationExists("holding", during("while", THROW)), THROWN, "(not_annotated)"),  # who throws it holds it
        (Interaction("holding", "broom", during("while", THROW)), THROWN, "no"),
        (ActionHappens("holding a pillow", during("while", THROW)), THROWN, "(not_annotated)"),
        (ActionHappens(THROW, during("before", STOOD)), THROWN, "no"),
        # Times are a second off.
        (Interaction("holding", "pillow", during("after", "holding a pillow")), THROWN, "(not_annotated)"),
    ],
)
def test_charades_denies_what_it_would_have_annotated(question: Question, acts: dict[str, str], expected: str) -> None:
    assert told(question, {"opening": {"doorknob": "x"}}, acts, provenance="charades") == expected


@pytest.mark.parametrize("asked", [ObjectsOf("putting down"), EdgeObject("first", "putting down")])
def test_no_object_is_told_apart_from_one_without_a_name(asked: ObjectsOf) -> None:
    held = {"putting down": {"something": "..x.....x.", "dish": "......x..."}, "holding": {"box": "x"}}
    for question in (asked, ObjectEquals("phone", asked), Interaction("holding", asked)):
        assert told(question, held, ACTS, provenance="charades").startswith("(")  # type: ignore[union-attr]


# What follows from other answers.


def filled(
    given: Mapping[Question, str], *more: Question, of: SceneGraph | None = None
) -> tuple[VideoAnswers, Mapping[Question, Answer]]:
    found = answer_all([step for root in [*given, *more] for step in decompose(root, given)], given, of)
    return found, found.answers


FIRST, SECOND = EdgeObject("first", "touching", AFTER), EdgeObject("last", "touching")
MORE = LengthChoose("longer", LAUGH, RUN)


HOLDS = [
    Interaction("holding", thing, window) for thing, window in (("phone", AFTER), ("phone", VIDEO), ("bag", VIDEO))
]


@pytest.mark.parametrize(
    ("root", "value", "follows"),
    [
        (
            HOLDS[0],
            "yes",
            "relExists(holding, AFTER) yes; objExists(phone, AFTER) yes; interaction(holding, phone) yes; "
            "relExists(holding) yes; objExists(phone) yes; happens(SIT) yes; relExists(sitting on) yes; "
            "objExists(chair) yes",
        ),
        (HOLDS[0], "no", "interaction(holding, phone) None; happens(SIT) yes; objExists(chair) yes"),
        (
            RelationExists("holding", during("between", SIT, RUN)),
            "yes",
            "relExists(holding, AFTER) yes; relExists(holding, before(RUN)) yes",
        ),
        (
            Both("xor", *HOLDS[1:]),
            "yes",
            "interaction(holding, phone) yes; interaction(holding, bag) no; objExists(bag) None",
        ),
        (Both("and", *HOLDS[1:]), "no", "interaction(holding, phone) None; interaction(holding, bag) None"),
        (ObjectEquals("phone", FIRST), "yes", "FIRST phone; objExists(phone) yes; happens(SIT) yes"),
        (ObjectEquals("phone", FIRST), "no", "FIRST None; objExists(phone) None"),
        (ObjectChoose("phone", "bag", FIRST), "bag", "equals(bag, FIRST) yes; equals(phone, FIRST) no; FIRST bag"),
        (
            ObjectChoose("phone", "bag", ObjectsOf("holding")),
            "bag",
            "equals(bag, object(holding)) None; equals(phone, object(holding)) no",
        ),
        (ObjectEquals(SECOND, FIRST), "yes", "FIRST None; lastObject(touching) None"),
        (MORE, LAUGH, "happens(LAUGH) yes; happens(RUN) yes"),
        (ActionEquals(LAUGH, MORE), "yes", "longer(LAUGH, RUN) LAUGH; happens(RUN) yes"),
        (ActionEquals(LAUGH, MORE), "no", "longer(LAUGH, RUN) RUN; happens(LAUGH) yes"),
        (
            OrderChoose(RelationExists("holding"), SIT),
            "after",
            "relExists(holding, before(SIT)) no; relExists(holding, AFTER) yes; relExists(holding) yes",
        ),
        (ObjectsOf("touching", AFTER), "bag", "relExists(touching, AFTER) yes; happens(SIT) yes"),
    ],
)
def test_what_a_roots_answer_implies(root: Question, value: str, follows: str) -> None:
    names = {"FIRST": notation(FIRST), "AFTER": notation(AFTER), "SIT": SIT, "RUN": RUN, "LAUGH": LAUGH}
    for name, said in names.items():
        follows = follows.replace(name, said.replace("; ", ""))
    found, answers = filled({root: value})
    told_of = {notation(question): one.value for question, one in answers.items()}
    for line in follows.split("; "):
        program = max((each for each in told_of if line.startswith(f"{each} ")), key=len)
        assert str(told_of[program]) == line.removeprefix(program).strip()
    assert answers[root] == Answer(value)
    assert found.sources[root] == "root"
    assert found.conflicts == ()
    assert {one.reason for one in answers.values()} <= {"", "no_graph"}


def test_roots_of_other_graphs_of_the_video_answer_too() -> None:
    more = ObjectEquals("bag", FIRST), Interaction("touching", "bag")
    _, answers = filled({ObjectsOf("touching", AFTER): "bag"}, *more)
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


def test_what_is_asked_before_an_action_says_that_it_happens_but_what_follows_of_it_does_not() -> None:
    window = Window("before", ("opening a door",))
    root, inner = Interaction(INTERACTING, "phone", window), Interaction("opening", "door")
    assert filled({root: "no"})[1][inner].value == "yes"  # asked as an interaction, in the same words
    _, answers = filled({Interaction(INTERACTING, "phone"): "no"}, root)
    assert (answers[root].value, answers[inner].value) == ("no", None)


def test_nothing_is_said_of_parts_that_are_not_there() -> None:
    root = Interaction("touching", "phone", during("before", RUN))
    assert filled({}, root, of=graph(HELD, ACTS))[1][root] == Answer(None, "no_such_action")
    near = Interaction(INTERACTING, "mirror")
    found, answers = filled({near: "no"}, Interaction("behind", "mirror"), of=graph(HELD, provenance="agqa"))
    assert (answers[near].value, answers[ObjectExists("mirror")].value) == ("no", "yes")
    assert (found.recomputed, found.conflicts) == ({near: "no"}, ())


def contradictions(steps: list[Step], answers: Mapping[Question, Answer]) -> list[str]:
    """Every parent whose answer its children's rule out, as `stressreel verify` finds them."""
    rows = {}
    for step in steps:
        options = options_of(step.question, load_agqa().kinds[step.kind].answer)
        row = {"kind": step.kind, "program": notation(step.question), "options": options}
        rows[step.question] = row | {"answer": answers[step.question].value}
    found = [
        contradiction(rule, rows[step.question], [rows[child] for child in children])
        for step in steps
        for rule, children in step.rules
        if len(set(children)) == len(children)
    ]
    return [each for each in found if each]


def some_of(rng: random.Random, of: SceneGraph) -> tuple[list[Question], list[Step]]:
    asked = [question for question in Asker(rng, of).questions() if rng.random() < 0.6]
    return asked, [step for root in asked for step in decompose(root, asked)]


@pytest.mark.parametrize("seed", range(8))
def test_an_exact_graph_contradicts_nothing_and_order_has_no_effect(seed: int) -> None:
    rng = random.Random(seed)
    of = random_graph(rng, "drawn")
    roots, steps = some_of(rng, of)
    whole = answer_all(steps, {}, of)
    assert whole.conflicts == ()
    assert contradictions(steps, whole.answers) == []
    by_graph = {question: GraphEvaluator(of).answer(question) for question in whole.answers}
    kept = {question: one for question, one in by_graph.items() if one.value is not None}
    assert whole.answers.items() >= kept.items()
    # The graph's own answers, given as AGQA's: all agree, and nothing else changes.
    given = {root: by_graph[root].value for root in roots if by_graph[root].value}
    again = answer_all(rng.sample(steps, len(steps)), given, of)  # type: ignore[arg-type]
    assert (again.conflicts, again.recomputed) == ((), given)
    assert again.answers.items() >= kept.items()
    # Without the graph, from the roots alone: what follows is what the graph says.
    alone = answer_all(steps, given, None)  # type: ignore[arg-type]
    shuffled = answer_all(rng.sample(steps, len(steps)), given, None)  # type: ignore[arg-type]
    assert (alone.conflicts, alone.answers) == ((), shuffled.answers)
    for question, one in alone.answers.items():
        assert one.value is None or by_graph[question].value in (one.value, None)


@pytest.mark.parametrize("seed", range(8))
def test_order_has_no_effect_where_answers_contradict_each_other(seed: int) -> None:
    rng = random.Random(seed)
    of = random_graph(rng, "drawn")
    roots, steps = some_of(rng, of)
    given = {root: rng.choice(("yes", "no")) for root in roots if load_agqa().kinds[kind_of(root)].answer == "yes/no"}
    for graph_of_video in (None, of):
        found = answer_all(steps, given, graph_of_video)
        again = answer_all(rng.sample(steps, len(steps)), dict(sorted(given.items(), key=repr)), graph_of_video)
        assert (found.answers, found.sources, found.conflicts) == (again.answers, again.sources, again.conflicts)
        assert {root: found.answers[root].value for root in given} == given
