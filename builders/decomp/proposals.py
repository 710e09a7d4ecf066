"""Propose questions about a video from its scene graph. `drop_rules` then decides which of them may be asked.

Yes/no questions are proposed with the answer "yes". `generation` finds another video with the answer "no".
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import TypeVar

from ...core.numerics import rekey, rng_for
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
    Extreme,
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
        make, *arguments = _MAKERS[template]
        sampled = [make(self, *arguments) for _ in range(count)]
        return [question for question in dict.fromkeys(sampled) if question is not None]

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
        window = self.windows.get((word, actions))
        if window is None:
            window = self.windows[word, actions] = Window(word, actions)  # type: ignore[arg-type]
        return window

    @cached_property
    def apart(self) -> list[tuple[str, str]]:
        """Return the ordered pairs of actions that are at least three seconds apart."""
        spans = self.view.single
        return [
            (first, second)
            for first in self.actions
            for second in self.actions
            if spans[first].end + 3 <= spans[second].start
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
        references = self.references.get((name, relation))
        if references is None:
            references = self.references[name, relation] = self._references(name, relation)
        return self.pick(references)

    def _references(self, name: str, relation: str) -> list[ask.Reference]:
        relations = self.view.graph.relations
        others = [verb for verb, objects in relations.items() if name in objects and verb != relation]
        references: list[ask.Reference] = []
        for verb in others:
            if len(relations[verb]) == 1:
                references.append(ask.ObjectsOf(verb))
            else:
                references += [ask.EdgeObject("first", verb), ask.EdgeObject("last", verb)]
        return [reference for reference in references if self.view.answer(reference).value == name]

    def held_in(self, window: Window) -> list[tuple[str, str]]:
        """Return the relations and their objects that hold in a part of the video."""
        facts = self.held.get(window)
        if facts is None:
            part = self.view.part(window)
            relations = self.view.graph.relations.items() if part else ()
            seen = part[0] if part else 0
            facts = [(relation, name) for relation, all_ in relations for name, bits in all_.items() if bits & seen]
            self.held[window] = facts
        return facts

    # --- templates

    def exists(self) -> Question | None:
        """Ask whether an object that the person touches exists."""
        window = self.window()
        name = self.pick(sorted(self.view.having(INTERACTING, (self.view.part(window) or (0, 0))[0])))
        return ask.Interaction(INTERACTING, self.thing(name, INTERACTING, window), window) if name else None

    def relation_exists(self) -> Question | None:
        """Ask whether a relation holds that does hold."""
        window = self.window()
        fact = self.pick(self.held_in(window))
        return ask.RelationExists(fact[0], window) if fact else None

    def interaction(self, window: Window | None = None) -> ask.Interaction | None:
        """Ask about a relation to an object that holds."""
        window = window or self.window()
        fact = self.pick(self.held_in(window))
        return ask.Interaction(fact[0], self.thing(fact[1], fact[0], window), window) if fact else None

    def both(self, word: Conjunction) -> Question | None:
        """Ask about two interactions. For "but not", the second may or may not hold."""
        first = self.interaction()
        second = self.interaction(first.window) if first and word == "and" else None
        if first and word == "xor":
            # The second interaction often holds at another time, so that videos differ in the answer.
            second = self.interaction(VIDEO)
            second = second and ask.Interaction(second.relation, second.object, first.window)
        return ask.Both(word, first, second) if first and second and first != second else None

    def objects_of(self, relation: str = "") -> ask.ObjectsOf | None:
        """Ask which object has a relation, by default one that holds."""
        window = self.window()
        if relation:
            return ask.ObjectsOf(relation, window)
        fact = self.pick(self.held_in(window))
        return ask.ObjectsOf(fact[0], window) if fact else None

    def edge_object(self, edge: FirstOrLast) -> ask.EdgeObject | None:
        """Ask which object has a given relation first or last."""
        if not self.changing:
            return None
        window = self.window(*_EDGE_WINDOWS[edge])
        relation = self.pick(self.changing)
        return ask.EdgeObject(edge, relation, window) if relation else None

    def equals(self, edge: FirstOrLast) -> Question | None:
        """Ask whether an object, which is the correct answer, comes first or last."""
        reference = self.edge_object(edge)
        right = self.view.answer(reference).value if reference else None
        return ask.ObjectEquals(right, reference) if reference and right else None

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

    def verified(self, word: Comparison) -> ask.ActionEquals | None:
        """Ask whether an action takes longer, or less time, than another."""
        compared = self.compared(word)
        return ask.ActionEquals(compared.first, compared) if compared else None

    def extreme(self, word: Extreme) -> ask.ExtremeAction:
        """Ask which action takes the most or the least time."""
        return ask.ExtremeAction(word)

    def pair(self) -> tuple[str, str] | None:
        """Sample two actions in random order."""
        count = len(self.actions)
        if count < 2:
            return None
        # Equals `rng.choice(count, 2, replace=False)` in half the time.
        low, high = int(self.rng.integers(count - 1)), int(self.rng.integers(count))
        indices = (low, high if high != low else count - 1)
        first, second = indices if self.rng.integers(2) else indices[::-1]
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


_MAKERS: Mapping[str, tuple[Callable[..., Question | None], *tuple[str, ...]]] = {
    "objExists": (Proposer.exists,),
    "objRelExists": (Proposer.interaction,),
    "relExists": (Proposer.relation_exists,),
    "andObjRelExists": (Proposer.both, "and"),
    "xorObjRelExists": (Proposer.both, "xor"),
    "objWhatGeneral": (Proposer.objects_of, INTERACTING),
    "objWhat": (Proposer.objects_of,),
    "objWhatChoose": (Proposer.objects_of,),
    "actWhatBefore": (Proposer.actions_in, "before"),
    "actWhatAfterAll": (Proposer.actions_in, "after"),
    "objFirst": (Proposer.edge_object, "first"),
    "objLast": (Proposer.edge_object, "last"),
    "objFirstChoose": (Proposer.edge_object, "first"),
    "objLastChoose": (Proposer.edge_object, "last"),
    "objFirstVerify": (Proposer.equals, "first"),
    "objLastVerify": (Proposer.equals, "last"),
    "actFirst": (Proposer.edge_action, "first"),
    "actLast": (Proposer.edge_action, "last"),
    "actLengthLongerChoose": (Proposer.compared, "longer"),
    "actLengthShorterChoose": (Proposer.compared, "shorter"),
    "actLengthLongerVerify": (Proposer.verified, "longer"),
    "actLengthShorterVerify": (Proposer.verified, "shorter"),
    "actLongest": (Proposer.extreme, "longest"),
    "actShortest": (Proposer.extreme, "shortest"),
    "actTime": (Proposer.order, "action"),
    "relTime": (Proposer.order, "relation"),
    "objTime": (Proposer.order, "object"),
}
"""The method that samples questions of a template, with its arguments. For a choice of objects, it samples the question
that determines the correct one."""
