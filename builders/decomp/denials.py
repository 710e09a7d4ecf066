"""What a video's graph denies: where it has no annotation of something, whether that means that it is not so.

AGQA's graphs and drawn videos are complete. Charades annotates actions, Action Genome besides what the person touches
and where they are to it. Neither says that an object is not there, for nobody annotated what merely stands in the room;
nor is a relation denied while something goes on that brings it along (`doubtful` in `agqa_making.yaml`: who throws a
pillow holds it), or that it may be taken for. All that within a second, for times may be off by as much.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Mapping
from functools import cache, cached_property

from ...annotations.scene_graphs import Frames, SceneGraph
from ...templates.agqa import ANYTHING, load_agqa
from ...templates.agqa_making import ANY, load_rules

TIME_MARGIN = 1.0
"""Seconds by which times that people annotated may be off."""
COMPLETE = ("agqa", "drawn")
"""Provenances of graphs in which what is not there is not so."""


class Denials:
    """Tells what one graph denies; keeps what it has looked up."""

    def __init__(
        self, graph: SceneGraph, relations: Mapping[str, Mapping[str, Frames]], held: Mapping[str, Frames]
    ) -> None:
        """Take a video's graph, and the frames in which each relation holds to each object and to anything."""
        self.graph, self.relations, self.held = graph, relations, held
        self.complete = graph.provenance in COMPLETE
        self.done: dict[str, dict[str, Frames]] = defaultdict(lambda: defaultdict(int))
        """For each relation the frames in which it holds, or is done however loosely, with each object."""
        for relation, objects in graph.relations.items():
            for name, frames in objects.items():
                self.done[relation][name] |= frames
        for span in graph.actions:
            words = load_agqa().actions.get(span.phrase)
            if words and words.verb and words.object:
                self.done[words.verb][words.object] |= span.frames
        self._widened: dict[Frames, Frames] = {}

    def allow(self, relation: str | None, thing: str | None, frames: Frames) -> bool:
        """Return whether something that is not annotated is not so.

        Args:
            relation: What is denied; None for an object being there at all.
            thing: Of which object; `ANYTHING` for one that the annotation does not name; None for all of them.
            frames: When.
        """
        if self.complete:
            return True
        if relation is None or not self.are_looked_for(relation):
            return False
        part, objects = self.widened(frames), self.relations.get(relation, {})
        named = None if thing == ANYTHING else thing
        if self.likely(relation, part, named):
            return False
        held = self.held.get(relation, 0) & part
        if not held and (named is None or not self.likely(relation, part)):
            return True  # to nothing, and so not to this object
        alike = load_rules().alike.get(named, frozenset()) if named else frozenset()
        if named is None or any(objects.get(name, 0) & part for name in (named, ANYTHING, *alike)):
            return False
        # What is annotated at another time was looked for. What never is may have gone unnoticed beside another object.
        return bool(objects.get(named)) or not (held or any(objects.get(name) for name in alike))

    def allow_action(self, phrase: str, frames: Frames) -> bool:
        """Return whether an action without an object that is not annotated is not done."""
        others = load_rules().doubtful_actions.get(phrase, frozenset())
        part = self.widened(frames)
        return self.complete or not any(bits & part for verb in others for bits in self.done.get(verb, {}).values())

    def are_looked_for(self, relation: str) -> bool:
        """Return whether annotators looked for a relation."""
        if self.complete or relation in _charades_verbs():
            return True
        return self.graph.provenance == "action_genome" and load_agqa().relation(relation).family != "verb"

    def widened(self, frames: Frames) -> Frames:
        """Return frames and those that are not further from one of them than times may be off."""
        found = self._widened.get(frames)
        if found is None:
            found, left = 0, frames
            while left:
                lowest = left & -left
                found |= self._near[lowest.bit_length() - 1]
                left ^= lowest
            self._widened[frames] = found
        return found

    @cached_property
    def _near(self) -> list[Frames]:
        """For each frame those that are not further from it than times may be off."""
        times, off = self.graph.times, TIME_MARGIN
        return [(1 << bisect_right(times, time + off)) - (1 << bisect_left(times, time - off)) for time in times]

    def likely(self, relation: str, part: Frames, thing: str | None = None, besides: str = "") -> bool:
        """Return whether what is annotated in a part makes a relation likely that is not annotated.

        Who opens a bag may hold it, who opens a door does not: of all objects only those count that an action has the
        relation to, or that are taken for such a one.

        Args:
            relation: The relation.
            part: When.
            thing: To which object, or to one that is taken for it; None for any.
            besides: An object that does not count.
        """
        rules = load_rules()
        others = rules.doubtful.get(relation, frozenset())
        alike = frozenset((thing, ANYTHING)) | rules.alike.get(thing, frozenset()) if thing else None
        if ANY in others:
            touched = {name for name, frames in self.graph.contacts.items() if frames & part} - {besides}
            return bool(touched if alike is None else touched & alike)
        fitting = objects_of(relation) if alike is None else alike
        return any(
            frames & part
            for verb in others
            for name, frames in self.done.get(verb, {}).items()
            if name != besides and (not fitting or name in fitting)
        )


@cache
def objects_of(relation: str) -> frozenset[str]:
    """Return the objects that actions have a relation to, what they are taken for, and what is not named.

    There is none if no action has it.
    """
    known, alike = load_agqa().actions.values(), load_rules().alike
    found = {words.object for words in known if words.verb == relation and words.object and not words.loose}
    return frozenset(found).union({ANYTHING}, *(alike[name] for name in found)) if found else frozenset()


@cache
def _charades_verbs() -> frozenset[str]:
    """Return the relations that Charades' classes bring."""
    return frozenset(words.verb for words in load_agqa().actions.values() if words.verb)
