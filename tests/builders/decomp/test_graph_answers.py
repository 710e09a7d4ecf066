import random
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from stressreel.annotations.actions import AnnotatedVideo, Segment
from stressreel.annotations.charades import class_actions, read_charades
from stressreel.annotations.scene_graphs import ActionSpan, Frames, Provenance, SceneGraph, charades_graph
from stressreel.builders.decomp import questions as ask
from stressreel.builders.decomp.graph_answers import GraphEvaluator
from stressreel.builders.decomp.tables import REASONS
from stressreel.templates import load_classes
from stressreel.templates.agqa import load_agqa

from .notation import cases, read, timed

Acts = Mapping[str, str | list[str]]


def frames(text: str) -> Frames:
    """Read a set of frames: "..xx" are frames 2 and 3."""
    return sum(1 << number for number, mark in enumerate(text) if mark == "x")


def graph(
    relations: Mapping[str, Mapping[str, str]] | None, actions: Acts, provenance: Provenance = "drawn"
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
    for phrase, pictures in actions.items():
        words = load_agqa().actions.get(phrase)
        for picture in [pictures] if isinstance(pictures, str) else pictures:
            when = frames(picture)
            first, end = (when & -when).bit_length() - 1, when.bit_length()
            spans.append(ActionSpan(phrase, first, end, when))
            if words and words.verb and words.object:
                note(words.verb, words.object, when)
    spans.sort(key=lambda one: one.start)
    return SceneGraph("ABC12", (*map(float, range(10)),), held, contacts, tuple(spans), provenance)


HELD = {"holding": {"phone": ".xx.......", "dish": "......xx.."}, "behind": {"mirror": "x", "bag": "x"}}
CLASSES = class_actions(load_classes())
LENGTH = 32.0


def told(of: SceneGraph, question: ask.Question) -> str:
    """The answer, or in brackets why there is none."""
    found = GraphEvaluator(of).answer(question)
    assert found.reason in (REASONS if found.value is None else [""])
    return found.value or f"({found.reason})"


def video(segments: Iterable[tuple[str, float, float]]) -> AnnotatedVideo:
    parts = tuple(Segment(CLASSES[key], start, end) for key, start, end in segments)
    return AnnotatedVideo("V", "train", "S", LENGTH, parts, frozenset(), frozenset(), {})


@pytest.mark.parametrize(("acts", "question", "expected"), cases("answers"))
def test_answers_and_reasons(acts: Acts, question: ask.Question, expected: str) -> None:
    assert told(graph(HELD, acts), question) == expected


@pytest.mark.parametrize(("acts", "question", "expected"), cases("denials"))
def test_denials_for_charades(acts: Acts, question: ask.Question, expected: str) -> None:
    assert told(graph({"opening": {"doorknob": "x"}}, acts, "charades"), question) == expected


@pytest.mark.parametrize(("segments", "question", "expected"), cases("charades_classes"))
def test_answers_from_charades_classes(segments: list[str], question: ask.Question, expected: str) -> None:
    assert told(charades_graph(video(map(timed, segments))), question) == expected


def test_same_relation_elsewhere_leaves_order_open() -> None:
    asked = read("beforeOrAfter(happens(holding a phone), sitting in a chair)")
    acts: Acts = {"sitting in a chair": "...x......", "holding a phone": "x........."}
    assert told(graph(None, acts), asked) == "before"
    assert told(graph({"holding": {"phone": ".....x...."}}, acts), asked) == "(both_sides)"


def test_first_action_begins_in_its_window() -> None:
    laugh = "laughing at something"
    of = graph(None, {"sitting in a chair": "xx", laugh: "..xxx", "running somewhere": ".........x"})
    early = replace(of, actions=tuple(replace(one, start=1.5) if one.phrase == laugh else one for one in of.actions))
    asked = read("firstAction(after(sitting in a chair))")
    assert [told(one, asked) for one in (of, early)] == [laugh, "running somewhere"]


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
        windows |= {ask.Window(word, (span.phrase,)): part for word, part in limits.items()}
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
