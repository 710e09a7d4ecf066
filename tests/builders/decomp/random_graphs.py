import random
from collections.abc import Iterator
from dataclasses import replace
from itertools import accumulate

from stressreel.annotations.scene_graphs import ActionSpan, Provenance, SceneGraph, frames_of, graph_of
from stressreel.builders.decomp import questions as ask
from stressreel.builders.decomp.questions import INTERACTING, VIDEO, Question, Window
from stressreel.templates.agqa import ANYTHING, load_agqa

OBJECTS = ("phone", "picture", "dish", "food", "table", "mirror", "window", "door")
RELATIONS = ("holding", "touching", "behind", "opening", "putting down", "watching", "taking")
PHRASES = (
    *("sitting in a chair", "running somewhere", "smiling at something", "standing up", "holding a phone"),
    *("opening a door", "taking a dish from somewhere", "putting something on a table", "washing a mirror"),
    *("putting a dish somewhere", "watching outside of a window", "watching a picture", "reading the clouds"),
)
VERBS = ("putting", "putting", "taking", "holding", "opening")
WINDOWS = (("video", 0), ("before", 1), ("after", 1), ("while", 1), *[("between", 2)] * 3)


def random_graph(rng: random.Random, provenance: Provenance) -> SceneGraph:
    times = tuple(accumulate(rng.choice((0.5, 1, 2, 4)) for _ in range(rng.randrange(4, 24))))
    spans = []
    for phrase in rng.sample(PHRASES[: -1 if provenance != "agqa" else None], rng.choice((1, 2, 2, 3, 4, 6))):
        for _ in range(rng.choice((1, 1, 1, 2))):
            start, length = rng.uniform(0, times[-1]), rng.choice((1, 3, 10, 20))
            frames = frames_of(times, start, start + length)
            if rng.random() < 0.2:  # AGQA's need not follow one another
                frames = frames & rng.getrandbits(len(times)) or frames
            spans.append(ActionSpan(phrase, start, start + length, frames))
    known = [span for span in spans if span.phrase in load_agqa().actions]
    graph = graph_of("V", times, known, provenance, rng.sample(OBJECTS, 1))
    relations, contacts = {name: dict(things) for name, things in graph.relations.items()}, dict(graph.contacts)
    for relation in rng.sample((*RELATIONS, *graph.relations), rng.randrange(5)):
        for thing in rng.sample((*OBJECTS, "cloth", ANYTHING, *graph.contacts), rng.choice((1, 1, 2))):
            begin = rng.uniform(0, times[-1])
            frames = frames_of(times, begin, begin + rng.choice((1, 4)))
            held = relations.setdefault(relation, {})
            held[thing] = held.get(thing, 0) | frames
            if relation != "behind" and thing != ANYTHING:
                contacts[thing] = contacts.get(thing, 0) | frames
    visible = {thing: rng.getrandbits(len(times)) for thing in rng.sample(OBJECTS, 2)}
    ordered = tuple(sorted(spans, key=lambda span: (span.start, span.end, span.phrase)))
    return replace(graph, relations=relations, contacts=contacts, actions=ordered, visible=visible)


class Asker:
    """Makes questions that have to do with a graph, one of each type and part of the video."""

    def __init__(self, rng: random.Random, graph: SceneGraph) -> None:
        self.rng = rng
        self.phrases = [span.phrase for span in graph.actions] * 4 + list(PHRASES)
        self.relations = [*graph.relations] * 2 + [*RELATIONS, INTERACTING, "juggling"]
        self.objects = [thing for things in graph.relations.values() for thing in things if thing != ANYTHING] * 2
        self.objects += [*OBJECTS, *OBJECTS, "person", "elephant"]

    def relation(self) -> str:
        return self.rng.choice(self.relations)

    def reference(self, window: Window = VIDEO) -> ask.ObjectsOf | ask.EdgeObject:
        edge = self.rng.choice(("first", "last", None))
        return ask.EdgeObject(edge, self.relation(), window) if edge else ask.ObjectsOf(self.relation(), window)  # type: ignore[arg-type]

    def thing(self) -> ask.Object:
        return self.reference() if self.rng.random() < 0.25 else self.rng.choice(self.objects)

    def action(self) -> ask.Action:
        match self.rng.randrange(12):
            case 0:
                return ask.ExtremeAction(self.rng.choice(("longest", "shortest")))
            case 1:
                return ask.ToAction(self.rng.choice(VERBS), self.reference())
        return self.rng.choice(self.phrases)

    def questions(self) -> Iterator[Question]:
        for word, count in WINDOWS:
            named = [self.action() for _ in range(count)]
            if self.rng.random() < 0.8:  # in the order in which they begin, for there is nothing between them otherwise
                named.sort(key=lambda action: self.phrases.index(action) if isinstance(action, str) else -1)
            when = Window(word, tuple(named))  # type: ignore[arg-type]
            yield from (ask.ObjectExists(self.thing(), when), ask.RelationExists(self.relation(), when))
            yield from (ask.ActionHappens(self.action(), when), ask.ActionsIn(when))
            yield from (ask.ObjectsOf(self.relation(), when), ask.ObjectsOf(INTERACTING, when))
            yield from (ask.EdgeObject("first", self.relation(), when), ask.EdgeObject("last", self.relation(), when))
            yield from (ask.EdgeAction("first", when), ask.EdgeAction("last", when))
            parts = [ask.Interaction(self.relation(), self.thing(), when) for _ in range(3)]
            yield from (parts[0], ask.Both("and", *parts[1:]), ask.Both("xor", *parts[1:]))
            asked = self.reference(when)
            yield from (ask.ObjectEquals(self.thing(), asked), ask.ObjectChoose(self.thing(), self.thing(), asked))
        for extreme, comparison in (("longest", "longer"), ("shortest", "shorter")):
            compared = ask.LengthChoose(comparison, self.action(), self.action())  # type: ignore[arg-type]
            yield from (ask.ExtremeAction(extreme), compared, ask.ActionEquals(compared.first, compared))  # type: ignore[arg-type]
            yield ask.ActionHappens(ask.ToAction(self.rng.choice(VERBS), self.reference()))
            yield ask.OrderChoose(ask.ActionHappens(self.rng.choice(self.phrases[:-1])), self.action())
        for timed in (
            ask.Interaction(self.relation(), self.thing()),
            ask.RelationExists(self.relation()),
            ask.ActionHappens(self.action()),
        ):
            yield ask.OrderChoose(timed, self.action())
