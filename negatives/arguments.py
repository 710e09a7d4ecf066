"""Collect which people and things occur as arguments of verbs, adjectives and prepositions in the source texts.

"Jerry turned on the stove" shows that a stove can be turned on. A vase that no text turns on is not put in its place.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

from ..language.check import joined
from ..language.words import Caption
from .entities import Entity
from .predicates import Predicate

Slot = tuple[str, str]
"""The lemma of a governing word, with its particle, and the relation: ("turn on", "dobj"), ("afraid", "prep of")."""

SOMEBODY = 3  # different people that a slot has in the sources before it takes any others of their gender
_IDENTITY = "is"  # "Tom was a cat" is true of few
_WILLING = ("want", "try", "plan", "decide", "attempt", "intend")
_LIGHT = ("use", "have", "get", "take", "make", "do", "give", "put", "need", "be")  # what they mean is said elsewhere
_LINKS = ("conj", "appos")


def slot_of(caption: Caption, number: int) -> Slot | None:
    """Return the slot of a noun, or None if it has none, such as the root of a text without a verb."""
    while caption.tokens[number].arc in _LINKS and caption.tokens[number].head != number:
        number = caption.tokens[number].head
    if caption.tokens[number].arc in ("ROOT", "dep", "npadvmod", "meta"):
        return None
    label, head = joined(caption, number)
    word = caption.tokens[head].lemma or caption.tokens[head].lower
    if label == "nsubj" and word == "be":
        said = caption.child(head, "acomp", "attr")
        if said is not None:
            word = caption.tokens[said].lemma or caption.tokens[said].lower
            return word, _IDENTITY if caption.tokens[said].arc == "attr" else "nsubj"
    particle = caption.child(head, "prt")
    return word if particle is None else f"{word} {caption.tokens[particle].lower}", label


class Arguments:
    """The people and things that occur in each slot of a collection of texts, and the aims of actions."""

    def __init__(
        self, texts: Iterable[tuple[Caption, Sequence[Entity]]], reasons: Iterable[tuple[Predicate | None, Caption]]
    ):
        """Collect the arguments of parsed texts with their entities, and the aims in answers to predicates."""
        self._aims = {
            (predicate.verb, _whole_verb(answer, number))
            for predicate, answer in reasons
            if predicate
            for number in answer.tagged("VB")
            if _is_aim(answer, number)
        }
        self._people: dict[Slot, dict[tuple[str, ...], str]] = defaultdict(dict)  # names and genders
        self._things: dict[Slot, set[str]] = defaultdict(set)
        self._meant = set[str]()
        for caption, found in texts:
            self._add(caption, found)

    def _add(self, caption: Caption, found: Sequence[Entity]) -> None:
        people = {entity.head: entity for entity in _nested(found)}
        for number, token in enumerate(caption.tokens):
            if token.tag == "VB" and _is_aim(caption, number):
                self._meant.add(token.lemma)
            slot = slot_of(caption, number) if number in people or token.tag.startswith("NN") else None
            if slot and number in people:
                self._people[slot][people[number].key] = people[number].gender
            elif slot:
                self._things[slot].add(token.lemma)

    def take_thing(self, slot: Slot | None, lemma: str) -> bool:
        """Return whether a thing occurs in a slot."""
        return slot is not None and slot[0] not in _LIGHT and lemma in self._things.get(slot, ())

    def take_person(self, slot: Slot | None, key: tuple[str, ...], gender: str) -> bool:
        """Return whether a person occurs in a slot, or several others do and one of them has the same gender."""
        if slot is None:
            return False
        people = self._people.get(slot, {})
        several = len(people) >= SOMEBODY and slot[1] != _IDENTITY and (not gender or gender in people.values())
        return several or key in people

    def has_aim(self, verb: str, caption: Caption, number: int) -> bool:
        """Return whether an answer to a question with a verb names an aim, such as the verb of "ran to hide"."""
        return (verb, _whole_verb(caption, number)) in self._aims

    def is_meant(self, verb: str) -> bool:
        """Return whether a text shows that the action of a verb is intended, as in "wanted to run"."""
        return verb in self._meant


def _is_aim(caption: Caption, number: int) -> bool:
    token = caption.tokens[number]
    willing = token.arc == "xcomp" and caption.tokens[token.head].lemma in _WILLING
    return caption.lower_at(number - 1) == "to" and (willing or token.arc in ("advcl", "ROOT"))


def _whole_verb(caption: Caption, number: int) -> str:
    """Return a verb with what belongs to it, as in "run away", "avoid slipping" and "get hurt"."""
    after = caption.lower_at(number + 1) if caption.tag_at(number + 1).startswith(("RP", "RB", "VB", "JJ")) else ""
    return f"{caption.tokens[number].lemma} {after}".rstrip()


def _nested(found: Iterable[Entity]) -> Iterable[Entity]:
    for entity in found:
        yield entity
        yield from _nested(entity.parts)
