"""Propose questions about a video from its scene graph. `drop_rules` then decides which of them may be asked.

Yes/no questions are proposed with the answer "yes". `generation` finds another video with the answer "no".
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import TypeVar

from ...core.seeds import rekey, rng_for
from ...templates.agqa import load_agqa
from ...templates.agqa_making import load_rules
from . import questions as ask
from .drop_rules import View
from .questions import (
    INTERACTING,
    VIDEO,
    Action,
    Comparison,
    Conjunction,
    FirstOrLast,
    Object,
    Question,
    Window,
)

INDIRECT_OBJECT, INDIRECT_ACTION = 0.25, 0.15
"""Probability of an indirect reference to an object (by another relation) or an action (by length or object)."""
IN_VIDEO = 0.25
"""Probability that a question that could be about a part of the video is about the whole video."""
Item = TypeVar("Item")


class Proposer:
    """Samples questions about one video, and caches the candidates."""

    def __init__(self, view: View, seed: int) -> None:
        """Index what the video contains. `seed` is the seed of the dataset."""
        self.view, self.seed = view, seed
        self.rng = rng_for(seed)
        self.actions = list(view.single)
        self.changing = [name for name, objects in view.graph.relations.items() if len(objects) > 1]
        self.windows: dict[tuple[str, tuple[Action, ...]], Window] = {}
        self.held: dict[Window, list[tuple[str, str]]] = {}
        self.references: dict[tuple[str, str], list[ask.Reference]] = {}

    def propose(self, template: str, count: int) -> list[Question]:
        """Sample up to `count` different questions of a template. For object choices, sample open questions instead."""
        rekey(self.rng, self.seed, "decomp", "propose", self.view.graph.video_id, template)
        make = _MAKERS[template]
        drawn = [make(self) for _ in range(count)]
        return [question for question in dict.fromkeys(drawn) if question is not None]

    def pick(self, items: Sequence[Item]) -> Item | None:
        """Return a random item, or None if there are no items."""
        return items[int(self.rng.integers(len(items)))] if items else None

    def happens(self, share: float) -> bool:
        """Return True with probability `share`."""
        return bool(self.rng.random() < share)

    # --- parts of questions

    def window(self, *words: str) -> Window:
        """Sample a part of the video."""
        if not self.actions or self.happens(IN_VIDEO):
            return VIDEO
        word = self.pick(words or ("before", "after", "while", "between")) or "video"
        if word != "between":
            action = self.action()
            return self.part(word, action) if action else VIDEO
        pair = self.pick(self.apart)
        return self.part("between", *pair) if pair else VIDEO

    def part(self, word: str, *actions: Action) -> Window:
        """Return a part of the video. Equal parts are the same object, because they are often looked up."""
        found = self.windows.get((word, actions))
        if found is None:
            found = self.windows[word, actions] = Window(word, actions)  # type: ignore[arg-type]
        return found

    @cached_property
    def apart(self) -> list[tuple[str, str]]:
        """Return the ordered pairs of actions that are at least three seconds apart."""
        spans = self.view.single
        return [
            (one, other) for one in self.actions for other in self.actions if spans[one].end + 3 <= spans[other].start
        ]

    def action(self) -> Action | None:
        """Sample an action, identified by name or by reference."""
        phrase = self.pick(self.actions)
        if phrase is None or not self.happens(INDIRECT_ACTION):
            return phrase
        indirect = [extreme for extreme in _EXTREMES if self.view.answer(extreme).value == phrase]
        words = load_agqa().actions[phrase]
        # "turning the object that they were holding on or off" is hard to read.
        ends = bool(words.verb) and load_agqa().relation(words.verb or "").pattern.endswith("{o}")
        if ends and words.verb and words.object and not words.loose and words.verb in load_rules().referred:
            reference = self.reference(words.object, words.verb)
            if reference:
                indirect_to = ask.ToAction(words.verb, reference)
                return indirect_to if self.view.span(indirect_to) else phrase
        return self.pick(indirect) or phrase

    def thing(self, name: str, relation: str, window: Window) -> Object:
        """Return the name of an object, or a reference to it by another relation."""
        if window == VIDEO or not self.happens(INDIRECT_OBJECT):
            return name
        return self.reference(name, relation) or name

    def reference(self, name: str, relation: str) -> ask.Reference | None:
        """Sample a question whose answer is the object, using a different relation."""
        found = self.references.get((name, relation))
        if found is None:
            found = self.references[name, relation] = self._references(name, relation)
        return self.pick(found)

    def _references(self, name: str, relation: str) -> list[ask.Reference]:
        relations = self.view.graph.relations
        others = [verb for verb, objects in relations.items() if name in objects and verb != relation]
        asked: list[ask.Reference] = []
        for verb in others:
            if len(relations[verb]) == 1:
                asked.append(ask.ObjectsOf(verb))
            else:
                asked += [ask.EdgeObject("first", verb), ask.EdgeObject("last", verb)]
        return [each for each in asked if self.view.answer(each).value == name]

    def held_in(self, window: Window) -> list[tuple[str, str]]:
        """Return the relations and their objects that hold in a part of the video."""
        found = self.held.get(window)
        if found is None:
            part = self.view.part(window)
            relations = self.view.graph.relations.items() if part else ()
            seen = part[0] if part else 0
            found = [(relation, name) for relation, all_ in relations for name, bits in all_.items() if bits & seen]
            self.held[window] = found
        return found

    # --- templates

    def exists(self) -> Question | None:
        """Ask whether an object that the person touches exists."""
        window = self.window()
        name = self.pick(sorted(self.view.having(INTERACTING, (self.view.part(window) or (0, 0))[0])))
        return ask.Interaction(INTERACTING, self.thing(name, INTERACTING, window), window) if name else None

    def relation_exists(self) -> Question | None:
        """Ask whether a relation holds that does hold."""
        window = self.window()
        held = self.pick(self.held_in(window))
        return ask.RelationExists(held[0], window) if held else None

    def interaction(self, window: Window | None = None) -> ask.Interaction | None:
        """Ask about a relation to an object that holds."""
        window = window or self.window()
        held = self.pick(self.held_in(window))
        return ask.Interaction(held[0], self.thing(held[1], held[0], window), window) if held else None

    def both(self, word: Conjunction) -> Question | None:
        """Ask about two interactions. For "but not", the second may or may not hold."""
        first = self.interaction()
        second = self.interaction(first.window) if first and word == "and" else None
        if first and word == "xor":
            # The second interaction often holds at another time, so that videos differ in the answer.
            second = self.interaction(VIDEO)
            second = second and ask.Interaction(second.relation, second.object, first.window)
        return ask.Both(word, first, second) if first and second and first != second else None

    def objects_of(self) -> ask.ObjectsOf | None:
        """Ask which object has a given relation."""
        window = self.window()
        held = self.pick(self.held_in(window))
        return ask.ObjectsOf(held[0], window) if held else None

    def edge_object(self, edge: FirstOrLast) -> ask.EdgeObject | None:
        """Ask which object has a given relation first or last."""
        if not self.changing:
            return None
        window = self.window(*_EDGE_WINDOWS[edge])
        relation = self.pick(self.changing)
        return ask.EdgeObject(edge, relation, window) if relation else None

    def equals(self, edge: FirstOrLast) -> Question | None:
        """Ask whether an object, which is the correct answer, comes first or last."""
        asked = self.edge_object(edge)
        right = self.view.answer(asked).value if asked else None
        return ask.ObjectEquals(right, asked) if asked and right else None

    def actions_in(self, word: str) -> Question | None:
        """Ask what the person does before or after an action."""
        action = self.action()
        return ask.ActionsIn(self.part(word, action)) if action else None

    def edge_action(self, edge: FirstOrLast) -> Question:
        """Ask what the person does first or last."""
        words = _EDGE_WINDOWS[edge]
        return ask.EdgeAction(edge, VIDEO if self.happens(0.5) else self.window(words[0]))

    def compared(self, word: Comparison) -> ask.LengthChoose | None:
        """Ask which of two actions takes longer, or less time."""
        pair = self.pair()
        return ask.LengthChoose(word, *pair) if pair else None

    def pair(self) -> tuple[str, str] | None:
        """Sample two actions in random order."""
        count = len(self.actions)
        if count < 2:
            return None
        # Equals `rng.choice(count, 2, replace=False)` in half the time.
        one, other = int(self.rng.integers(count - 1)), int(self.rng.integers(count))
        places = (one, other if other != one else count - 1)
        first, second = places if self.rng.integers(2) else places[::-1]
        return self.actions[first], self.actions[second]

    def order(self, what: str) -> Question | None:
        """Ask whether an event happens before or after an action."""
        if what == "action":
            pair = self.pair()
            return ask.OrderChoose(ask.ActionHappens(pair[0]), pair[1]) if pair else None
        action = self.action()
        if action is None:
            return None
        names = list(self.view.graph.contacts) if what == "object" else list(self.view.graph.relations)
        name = self.pick(names)
        if name is None:
            return None
        return ask.OrderChoose(
            ask.Interaction(INTERACTING, name) if what == "object" else ask.RelationExists(name), action
        )


_EXTREMES = (ask.ExtremeAction("longest"), ask.ExtremeAction("shortest"))
_EDGE_WINDOWS: Mapping[FirstOrLast, tuple[str, ...]] = {
    "first": ("after", "while", "between"),
    "last": ("before", "while", "between"),
}


def _verified(comparison: Comparison) -> Callable[[Proposer], Question | None]:
    def make(proposer: Proposer) -> Question | None:
        compared = proposer.compared(comparison)
        return compared and ask.ActionEquals(compared.first, compared)

    return make


_MAKERS: Mapping[str, Callable[[Proposer], Question | None]] = {
    "objExists": Proposer.exists,
    "objRelExists": Proposer.interaction,
    "relExists": Proposer.relation_exists,
    "andObjRelExists": lambda of: of.both("and"),
    "xorObjRelExists": lambda of: of.both("xor"),
    "objWhatGeneral": lambda of: ask.ObjectsOf(INTERACTING, of.window()),
    "objWhat": Proposer.objects_of,
    "objWhatChoose": Proposer.objects_of,
    "actWhatBefore": lambda of: of.actions_in("before"),
    "actWhatAfterAll": lambda of: of.actions_in("after"),
    "objFirst": lambda of: of.edge_object("first"),
    "objLast": lambda of: of.edge_object("last"),
    "objFirstChoose": lambda of: of.edge_object("first"),
    "objLastChoose": lambda of: of.edge_object("last"),
    "objFirstVerify": lambda of: of.equals("first"),
    "objLastVerify": lambda of: of.equals("last"),
    "actFirst": lambda of: of.edge_action("first"),
    "actLast": lambda of: of.edge_action("last"),
    "actLengthLongerChoose": lambda of: of.compared("longer"),
    "actLengthShorterChoose": lambda of: of.compared("shorter"),
    "actLengthLongerVerify": _verified("longer"),
    "actLengthShorterVerify": _verified("shorter"),
    "actLongest": lambda of: ask.ExtremeAction("longest"),
    "actShortest": lambda of: ask.ExtremeAction("shortest"),
    "actTime": lambda of: of.order("action"),
    "relTime": lambda of: of.order("relation"),
    "objTime": lambda of: of.order("object"),
}
"""Samplers of questions by template; for a choice of objects, of the question that determines the correct one."""
