"""Answers that graphs give, and why they give none; those from Charades against all of its 157 classes."""

import random
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from stressreel.annotations.actions import AnnotatedVideo, Segment
from stressreel.annotations.charades import class_actions, read_charades
from stressreel.annotations.scene_graphs import ActionSpan, Frames, SceneGraph, charades_graph
from stressreel.builders.decomp import questions as ask
from stressreel.builders.decomp.graph_answers import GraphEvaluator
from stressreel.builders.decomp.tables import REASONS
from stressreel.templates import load_classes
from stressreel.templates.agqa import load_agqa


def frames(text: str) -> Frames:
    """Read a set of frames: "..xx" are frames 2 and 3."""
    return sum(1 << number for number, mark in enumerate(text) if mark == "x")


def graph(
    relations: Mapping[str, Mapping[str, str]] | None = None,
    actions: Mapping[str, str | list[str]] | None = None,
    provenance: str = "drawn",
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
            spans.append(ActionSpan(phrase, first, end, when))
            if words and words.verb and words.object:
                note(words.verb, words.object, when)
    spans.sort(key=lambda one: one.start)
    return SceneGraph("ABC12", (*map(float, range(10)),), held, contacts, tuple(spans), provenance)  # type: ignore[arg-type]


SIT, RUN, LAUGH = "sitting in a chair", "running somewhere", "laughing at something"


def told(question: ask.Question, *arguments: object, **named: object) -> str | None:
    """The answer, or in brackets why there is none."""
    found = GraphEvaluator(graph(*arguments, **named)).answer(question)  # type: ignore[arg-type]
    assert (found.value is None) == bool(found.reason)
    assert found.reason in ("", *REASONS)
    return found.value or f"({found.reason})"


def during(word: str, *actions: ask.Action) -> ask.Window:
    return ask.Window(word, actions)  # type: ignore[arg-type]


HELD = {"holding": {"phone": ".xx.......", "dish": "......xx.."}, "behind": {"mirror": "x.........", "bag": "x"}}
ACTS = {SIT: "...xx....."}
LONG = {LAUGH: "xxxxxxxxx.", RUN: ".x........"}
NEXT = {LAUGH: "xxxxxxxx..", RUN: ".x........"}
BEFORE, AFTER, WHILE = (during(word, SIT) for word in ("before", "after", "while"))
BOXES = {"taking a box from somewhere": "x.........", "taking something from a box": "...x......"}  # it is taken once
FROM_BOX, HOLDING = during("after", ask.ToAction("taking", "box")), ask.ObjectsOf("holding")
MIRROR = ask.Interaction(ask.INTERACTING, "mirror")


@pytest.mark.parametrize(
    ("question", "acts", "expected"),
    [
        (ask.ObjectExists("mirror"), ACTS, "yes"),
        (ask.ActionHappens("juggling balls"), ACTS, "(unknown_word)"),
        (ask.ObjectExists("chair", BEFORE), ACTS, "yes"),  # the action's first frame counts
        (ask.ObjectExists("chair", AFTER), ACTS, "no"),
        (ask.RelationExists("holding", during("before", RUN)), ACTS, "(no_such_action)"),
        (ask.Both("and", ask.Interaction("holding", "box"), ask.Interaction("juggling", "dish")), ACTS, "no"),
        (ask.Both("xor", ask.Interaction("holding", "phone"), ask.Interaction("holding", "dish")), ACTS, "no"),
        (HOLDING, ACTS, "(several_objects)"),
        (ask.ObjectsOf("wiping"), ACTS, "(no_object)"),
        (ask.ObjectsOf(ask.INTERACTING, AFTER), ACTS, "dish"),
        (ask.EdgeObject("last", "holding"), ACTS, "dish"),
        (ask.EdgeObject("first", "behind"), ACTS, "(ambiguous_run)"),
        (ask.ObjectEquals("box", HOLDING), ACTS, "no"),  # not even one of several
        (ask.ObjectEquals("dish", HOLDING), ACTS, "(several_objects)"),
        (ask.ObjectChoose("dish", "box", ask.EdgeObject("first", "holding")), ACTS, "(neither_option)"),
        (ask.ObjectChoose("dish", "phone", HOLDING), ACTS, "(both_options)"),
        (ask.ObjectExists(HOLDING), ACTS, "(unresolved_reference)"),
        (ask.OrderChoose(ask.Interaction(ask.INTERACTING, "phone"), SIT), ACTS, "before"),
        (ask.OrderChoose(ask.Interaction(ask.INTERACTING, "chair"), SIT), ACTS, "(at_the_same_time)"),
        (ask.OrderChoose(MIRROR, SIT), ACTS, "(neither_side)"),  # it is there, but without contact
        (ask.OrderChoose(ask.RelationExists("holding"), SIT), ACTS, "(both_sides)"),
        (ask.RelationExists("holding", BEFORE), {SIT: "x........."}, "(empty_window)"),
        (ask.Interaction("holding", "phone", WHILE), {SIT: ["x.........", ".x........"]}, "(several_instances)"),
        (ask.Interaction("holding", "phone", WHILE), {SIT: "x.x......."}, "yes"),  # from its first frame to its last
        (ask.RelationExists("holding", during("between", SIT, RUN)), {SIT: ".x", RUN: "..x"}, "(empty_window)"),
        (ask.ExtremeAction("longest"), LONG, LAUGH),  # 9 s and 1 s
        (ask.ExtremeAction("longest"), NEXT, "(ambiguous_margin)"),  # by 7 s
        (ask.LengthChoose("shorter", LAUGH, RUN), LONG, RUN),
        (ask.LengthChoose("longer", LAUGH, RUN), NEXT, "(ambiguous_margin)"),
        (ask.ActionEquals(RUN, ask.LengthChoose("longer", RUN, LAUGH)), LONG, "no"),
        (ask.EdgeAction("first"), {LAUGH: "x.........", RUN: ".....x...."}, "(ambiguous_margin)"),  # by 5 s
        (ask.EdgeAction("first", AFTER), {SIT: "..xx......", LAUGH: ".xxxxxx..."}, "(no_action)"),  # it starts before
        (ask.EdgeAction("last", BEFORE), {SIT: "......xx..", LAUGH: "....xxxx..", RUN: "x........."}, RUN),
        (ask.ActionsIn(), LONG, "(several_actions)"),
        (ask.RelationExists("holding", FROM_BOX), BOXES, "yes"),
    ],
)
def test_answers_and_reasons(question: ask.Question, acts: dict[str, str | list[str]], expected: str) -> None:
    assert told(question, HELD, acts) == expected


def test_same_relation_elsewhere_leaves_order_open() -> None:
    asked = ask.OrderChoose(ask.ActionHappens("holding a phone"), SIT)
    acts = {SIT: "...x......", "holding a phone": "x........."}
    assert told(asked, None, acts) == "before"
    assert told(asked, {"holding": {"phone": ".....x...."}}, acts) == "(both_sides)"


def test_first_action_begins_in_its_window() -> None:
    of = graph(None, {SIT: "xx........", LAUGH: "..xxx.....", RUN: ".........x"})
    early = replace(of, actions=tuple(replace(one, start=1.5) if one.phrase == LAUGH else one for one in of.actions))
    assert [GraphEvaluator(one).answer(ask.EdgeAction("first", AFTER)).value for one in (of, early)] == [LAUGH, RUN]


THROW, STOOD = "throwing a pillow somewhere", "going from standing to sitting"
THROWN = {THROW: "....xx....", "holding a pillow": "x.........", STOOD: ".x........"}
PHONE = {"holding a phone": ".xx.......", **ACTS}
NO, OPEN = "no", "(not_annotated)"


@pytest.mark.parametrize(
    ("question", "acts", "expected"),
    [
        (ask.ObjectExists("bag"), PHONE, OPEN),
        (ask.RelationExists("washing"), PHONE, NO),
        (ask.RelationExists("touching"), PHONE, OPEN),
        (ask.Interaction("holding", "bag"), PHONE, OPEN),  # something is held
        (ask.Interaction("holding", "bag", AFTER), PHONE, NO),  # nothing is held then
        (ask.Interaction("opening", "door"), PHONE, OPEN),  # a doorknob is opened
        (ask.ActionHappens(RUN), PHONE, NO),
        (ask.ActionHappens("standing up"), PHONE, OPEN),  # who sat may have stood up
        (ask.RelationExists("holding", during("while", THROW)), THROWN, OPEN),  # who throws it holds it
        (ask.Interaction("holding", "broom", during("while", THROW)), THROWN, NO),
        (ask.ActionHappens(THROW, during("before", STOOD)), THROWN, NO),
        (ask.Interaction("holding", "pillow", during("after", "holding a pillow")), THROWN, OPEN),  # a second later
    ],
)
def test_denials_for_charades(question: ask.Question, acts: dict[str, str], expected: str) -> None:
    assert told(question, {"opening": {"doorknob": "x"}}, acts, provenance="charades") == expected


CLASSES = class_actions(load_classes())
LENGTH = 32.0


def video(segments: Sequence[tuple[str, float, float]]) -> AnnotatedVideo:
    parts = tuple(Segment(CLASSES[key], start, end) for key, start, end in segments)
    return AnnotatedVideo("V", "train", "S", LENGTH, parts, frozenset(), frozenset(), {})


SOFA, BED, TOWEL, BLANKET = ("c123", 2, 20), ("c134", 25, 30), ("c033", 4, 8), ("c070", 12, 16)
DOWN, UP, PHONED, TAKEN, SANDWICH = ("c151", 3, 6), ("c154", 20, 23), ("c019", 10, 14), ("c018", 1, 3), ("c067", 0, 30)
HELD_FIRST, LONGEST = ask.EdgeObject("first", "holding"), ask.ExtremeAction("longest")
PHONING = during("while", "talking on a phone")
SAT_ON, SAT_PHONING = ask.RelationExists("sitting on"), ask.RelationExists("sitting on", PHONING)
SAT_BEFORE = ask.RelationExists("sitting on", during("before", "going from standing to sitting"))
UNNAMED = "(unnamed)"


@pytest.mark.parametrize(
    ("question", "segments", "expected"),
    [
        (SAT_ON, [SOFA], "yes"),  # a sofa has no name, but who sits on it sits on something
        (ask.Interaction("sitting on", "bed"), [SOFA], OPEN),
        (ask.ObjectExists("bed"), [SOFA], OPEN),
        (ask.ObjectEquals("bed", ask.ObjectsOf("sitting on")), [SOFA], UNNAMED),
        (LONGEST, [SOFA, PHONED], UNNAMED),
        (LONGEST, [PHONED, ("c106", 0, 1), SANDWICH], "holding some food"),
        (ask.EdgeAction("first"), [SOFA, PHONED], UNNAMED),
        (ask.ActionsIn(PHONING), [SOFA, PHONED], UNNAMED),
        (ask.ActionsIn(PHONING), [SOFA, PHONED, ("c152", 9, 13)], "(several_actions)"),
        (ask.EdgeAction("last"), [SOFA, PHONED, BED], "lying on a bed"),
        (ask.ActionHappens("holding a blanket"), [TOWEL], OPEN),
        (ask.RelationExists("holding", during("after", "holding a blanket")), [TOWEL, BLANKET], UNNAMED),
        (HELD_FIRST, [TOWEL, BLANKET], UNNAMED),
        (ask.EdgeObject("last", "holding"), [TOWEL, BLANKET], "blanket"),
        (ask.Interaction("tidying", "table"), [("c082", 1, 4)], OPEN),
        (ask.ObjectsOf(ask.INTERACTING), [("c081", 1, 4)], OPEN),
        (SAT_BEFORE, [DOWN], OPEN),
        (SAT_PHONING, [DOWN, UP, PHONED], OPEN),
        (SAT_PHONING, [DOWN, ("c154", 6, 8), PHONED], NO),
        (SAT_PHONING, [UP, PHONED], OPEN),
        (ask.ObjectsOf("sitting on"), [DOWN, ("c059", 5, 20)], "chair"),  # that is what they sat down on
        (ask.RelationExists("washing"), [("c139", 1, 4)], OPEN),
        (ask.RelationExists("holding", during("after", "taking a phone from somewhere")), [TAKEN], OPEN),
        (HELD_FIRST, [TAKEN, BLANKET], OPEN),  # the phone that was taken
        (HELD_FIRST, [TAKEN, ("c015", 2, 9), BLANKET], "phone"),
    ],
)
def test_answers_from_charades_classes(
    question: ask.Question, segments: list[tuple[str, float, float]], expected: str
) -> None:
    found = GraphEvaluator(charades_graph(video(segments))).answer(question)
    assert (found.value or f"({found.reason})") == expected


def charades_verbs() -> Mapping[str, set[str]]:
    """The relations of Charades' verbs, from the classes that AGQA keeps."""
    found: dict[str, set[str]] = defaultdict(set)
    for key, entry in load_classes().classes.items():
        words = load_agqa().by_class.get(key)
        if words and words.verb:
            found[entry.verb].add(words.verb)
    found["cook"] = {"making"}
    return found


def wrong(of: AnnotatedVideo) -> Iterator[tuple[ask.Question, str]]:
    """Yield every answer that an annotated interval contradicts, by Charades' own verbs and objects."""
    verbs, classes, joint = charades_verbs(), load_classes().classes, load_agqa().of_charades
    parts = [each for each in of.segments if each.end_s > each.start_s]
    graph = charades_graph(of)
    evaluator = GraphEvaluator(graph)
    windows = {ask.VIDEO: (0.0, of.length_s)}
    for span in graph.actions:
        limits = {"before": (0.0, span.start), "while": (span.start, span.end), "after": (span.end, of.length_s)}
        windows |= {during(word, span.phrase): part for word, part in limits.items()}
    for window, (start, end) in windows.items():
        within = [each for each in parts if each.start_s < end - 0.5 and each.end_s > start + 0.5]
        for relation in sorted({name for names in verbs.values() for name in names}):
            having = [classes[each.action.key] for each in within if relation in verbs[classes[each.action.key].verb]]
            named = {joint.get(entry.object, entry.object) for entry in having if entry.object != "None"}
            if relation == "photographing":
                named = {"picture"} if having else set()  # as in the paper's Figure 1; Charades names the camera
            question: ask.Question = ask.RelationExists(relation, window)
            if evaluator.answer(question).value == "no" and having:
                yield question, str(having)
            for name in named & load_agqa().objects.keys():
                question = ask.Interaction(relation, name, window)
                if evaluator.answer(question).value == "no":
                    yield question, str(having)
            question = ask.ObjectsOf(relation, window)
            if (value := evaluator.answer(question).value) and not named <= {value, "hands", "hair"}:
                yield question, f"{value}, but {named}"
    for asked, first in (
        (ask.ExtremeAction("longest"), lambda part: part.start_s - part.end_s),
        (ask.EdgeAction("first"), lambda part: part.start_s),
        (ask.EdgeAction("last"), lambda part: -part.end_s),
    ):
        found = evaluator.answer(asked).value
        spans = [Segment(parts[0].action, span.start, span.end) for span in graph.actions if span.phrase == found]
        if found and min(map(first, parts)) < min(map(first, spans)):
            yield asked, found


@pytest.mark.parametrize("seed", range(40))
def test_no_random_interval_contradicts_an_answer(seed: int) -> None:
    rng = random.Random(seed)
    keys = [*rng.sample(sorted(load_agqa().replaced), 2), *rng.sample(sorted(CLASSES), 4)]
    starts = [rng.uniform(0, LENGTH - 4) for _ in keys]
    ends = [rng.uniform(start + 1, LENGTH) for start in starts]
    assert list(wrong(video(list(zip(keys, starts, ends, strict=True))))) == []


@pytest.mark.shared
def test_no_charades_interval_contradicts_an_answer(shared: Path) -> None:
    videos = read_charades(shared / "data" / "charades", ("test",)).videos[:40]
    assert [found for each in videos if each.segments for found in wrong(each)] == []
