"""Decide whether a missing annotation means that the answer is "no".

AGQA's graphs and those of animated videos are complete. Charades annotates actions; Action Genome adds the objects that
the person touches and their relative positions. Neither rules out that another object is present, as unused objects
were not annotated; only in a drawn world, all visible objects are. A relation is also not denied during an action that
implies or resembles it (`doubtful` in `agqa_making.yaml`: throwing a pillow implies holding it), nor between the
actions that begin and end it (`implied`: who takes a pillow holds it until they put it down). Annotated times may be
off by a second.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Mapping
from functools import cache, cached_property

from ...annotations.scene_graphs import Frames, SceneGraph
from ...templates.agqa import ANYTHING, load_agqa
from ...templates.agqa_making import ANY, load_rules

TIME_MARGIN = 1.0
"""Seconds by which annotated times may be off."""
COMPLETE = ("agqa", "drawn")
"""Provenances of graphs in which everything that is not annotated is false."""


class Denials:
    """Decides which relations and actions are denied by a scene graph, and caches look-ups."""

    def __init__(
        self, graph: SceneGraph, relations: Mapping[str, Mapping[str, Frames]], held: Mapping[str, Frames]
    ) -> None:
        """Index a graph, given the frames in which each relation holds to each object and to any object."""
        self.graph, self.relations, self.held = graph, relations, held
        self.complete = graph.provenance in COMPLETE
        # For each relation and object, the frames in which the relation holds or an action with its verb happens. An
        # action without an object is listed by its phrase.
        self.done: dict[str, dict[str, Frames]] = defaultdict(lambda: defaultdict(int))
        for relation, objects in graph.relations.items():
            for name, frames in objects.items():
                self.done[relation][name] |= frames
        for span in graph.actions:
            words = load_agqa().events.get(span.phrase)
            verb, thing = (words.verb, words.object) if words else (None, None)
            self.done[verb or span.phrase][thing or ANYTHING] |= span.frames
        self._widened: dict[Frames, Frames] = {}

    def allow(self, relation: str | None, thing: str | None, frames: Frames) -> bool:
        """Return whether a relation or an object that is not annotated can be assumed to be absent.

        If `relation` is None, the presence of the object is meant. `thing` is None for all objects and `ANYTHING` for
        an unnamed one.
        """
        if self.complete:
            return True
        part = self.widened(frames)
        if relation is None:
            return self.graph.provenance == "drawn_frames" and self.unseen(thing or "", part)
        if not self.are_looked_for(relation):
            return False
        objects = self.relations.get(relation, {})
        named = None if thing == ANYTHING else thing
        if self.likely(relation, part, named):
            return False
        of_any = self.held.get(relation, 0) & part
        if not of_any and (named is None or not self.likely(relation, part)):
            return True  # no object has the relation, so this one does not either
        alike = load_rules().alike.get(named, frozenset()) if named else frozenset()
        if named is None or any(objects.get(name, 0) & part for name in (named, ANYTHING, *alike)):
            return False
        # An object annotated at another time was searched for; one never annotated may have been missed beside another.
        return bool(objects.get(named)) or not (of_any or any(objects.get(name) for name in alike))

    def allow_action(self, phrase: str, frames: Frames) -> bool:
        """Return whether an action without an object can be assumed not to happen because it is not annotated."""
        others = load_rules().doubtful_actions.get(phrase, frozenset())
        part = self.widened(frames)
        return self.complete or not any(bits & part for verb in others for bits in self.done.get(verb, {}).values())

    def are_looked_for(self, relation: str) -> bool:
        """Return whether annotators looked for this relation."""
        if self.complete or relation in _charades_verbs():
            return True
        has_frames = self.graph.provenance in ("action_genome", "drawn_frames")
        return has_frames and load_agqa().relation(relation).family != "verb"

    def unseen(self, thing: str, part: Frames) -> bool:
        """Return whether neither an object nor a similar one is visible, given that all objects are annotated."""
        rules = load_rules()
        alike = {thing, *rules.alike.get(thing, frozenset())}
        return thing not in rules.unasked_objects and not any(self.graph.visible.get(name, 0) & part for name in alike)

    def widened(self, frames: Frames) -> Frames:
        """Add all frames that are within the time margin of the given frames."""
        wide = self._widened.get(frames)
        if wide is None:
            wide, left = 0, frames
            while left:
                lowest = left & -left
                wide |= self._near[lowest.bit_length() - 1]
                left ^= lowest
            self._widened[frames] = wide
        return wide

    @cached_property
    def implied(self) -> Mapping[str, Mapping[str, Frames]]:
        """Return the frames in which actions imply that each relation holds to an object, annotated or not."""
        frames_of: dict[str, dict[str, Frames]] = defaultdict(lambda: defaultdict(int))
        for relation, by in {}.items() if self.complete else load_rules().implied.items():
            acts = [(span, *_acted(span.phrase)) for span in self.graph.actions]
            begins = [(span, thing) for span, verb, thing in acts if verb in by.begins]
            ends = [(span, thing) for span, verb, thing in acts if verb in by.ends]
            parts = [(thing, span.start, span.end) for span, verb, thing in acts if verb in by.during]
            for span, thing in begins:
                later = (end.end for end, ended in ends if end.start >= span.start and thing in (ended, ANYTHING))
                parts.append((thing, span.start, min(later, default=math.inf)))
            for span, thing in ends:
                earlier = (end.end for end, ended in ends if end.start < span.start and thing in (ended, ANYTHING))
                parts.append((thing, max(earlier, default=0.0), span.end))
            for thing, start, end in parts:
                frames = self._frames(start, end)
                # An object without a name is the one that is annotated meanwhile.
                objects = self.relations.get(relation, {}).items() if thing == ANYTHING else ()
                for name in [name for name, annotated in objects if annotated & frames] or [thing]:
                    frames_of[relation][name] |= frames
        return frames_of

    def _frames(self, start: float, end: float) -> Frames:
        return max(0, (1 << bisect_right(self.graph.times, end)) - (1 << bisect_left(self.graph.times, start)))

    @cached_property
    def _near(self) -> list[Frames]:
        return [self._frames(time - TIME_MARGIN, time + TIME_MARGIN) for time in self.graph.times]

    def likely(self, relation: str, part: Frames, thing: str | None = None, besides: str = "") -> bool:
        """Return whether other annotations make it likely that an unannotated relation holds in a part of the video.

        Opening a bag implies holding it, but opening a door does not. Therefore only objects count that are the object
        of an action with this relation, and objects that look similar. If `thing` is set, only this object and similar
        ones count; `besides` is an object that does not count.
        """
        rules = load_rules()
        others = rules.doubtful.get(relation, frozenset())
        alike = frozenset((thing, ANYTHING)) | rules.alike.get(thing, frozenset()) if thing else None
        if ANY in others:
            touched = {name for name, frames in self.graph.contacts.items() if frames & part} - {besides}
            return bool(touched if alike is None else touched & alike)
        fitting = objects_of(relation) if alike is None else alike
        evidence = [*(self.done.get(verb, {}) for verb in others), self.implied.get(relation, {})]
        return any(
            frames & part
            for objects in evidence
            for name, frames in objects.items()
            if name != besides and (not fitting or name in fitting)
        )


def _acted(phrase: str) -> tuple[str, str]:
    """Return the verb of an action, or its phrase if it has none, and the object that it acts on, or `ANYTHING`."""
    words = load_agqa().events.get(phrase)
    if not words or not words.verb or not words.object:
        return phrase, ANYTHING
    return words.verb, ANYTHING if words.loose else words.object


@cache
def objects_of(relation: str) -> frozenset[str]:
    """Return the objects that actions relate to in this way, similar objects, and `ANYTHING`. The set may be empty."""
    known, alike = load_agqa().actions.values(), load_rules().alike
    objects = {words.object for words in known if words.verb == relation and words.object and not words.loose}
    return frozenset(objects).union({ANYTHING}, *(alike[name] for name in objects)) if objects else frozenset()


@cache
def _charades_verbs() -> frozenset[str]:
    return frozenset(words.verb for words in load_agqa().actions.values() if words.verb)
