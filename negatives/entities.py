"""Find people and animals in a text: names and nouns for living beings, alone or joined by "and"."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from ..language.cast import Cast
from ..language.closed_classes import FINITE, SUBORDINATORS
from ..language.inflection import is_plural_noun, is_verb_form, verb_lemma
from ..language.noun_phrases import NounPhrase
from ..language.words import Caption, Token, tokenize
from .cast import confusion_table

_POSSESSIVE = frozenset({"'s", "’s", "'", "’"})


@dataclass(frozen=True)
class Entity:
    """A person or animal in a text, or several joined by "and".

    Attributes:
        first: Index of the first token.
        stop: Index after the last token.
        key: Names and nouns in lower case, sorted alphabetically.
        plural: Whether the entity is plural.
        gender: "female", "male", "plural" or "" (unknown).
        parts: Nested entities: those joined by "and", or "Tom" in "Tom's owner".
    """

    first: int
    stop: int
    key: tuple[str, ...]
    plural: bool
    gender: str
    parts: tuple[Entity, ...] = ()


def entities(caption: Caption, cast: Cast) -> Iterator[Entity]:
    """Find the entities in a text, from left to right. Entities joined by "and" or commas form one entity."""
    singles = list(single_entities(caption, cast))
    place = 0
    while place < len(singles):
        group = [singles[place]]
        while place + 1 < len(singles) and (
            is_joined(caption, group[-1], singles[place + 1], group[0].first)
            or (place + 2 < len(singles) and _listed(caption, *singles[place : place + 3]))
        ):
            if singles[place + 1].key in {entity.key for entity in group}:
                break
            place += 1
            group.append(singles[place])
        place += 1
        if len(group) == 1 or owns(caption.tokens, group[-1]):  # "Spike and Tyke's ball": the owner is uncertain
            yield from group
        else:
            key = tuple(sorted(part for entity in group for part in entity.key))
            yield Entity(group[0].first, group[-1].stop, key, True, "plural", tuple(group))


def is_joined(caption: Caption, one: Entity, two: Entity, first: int | None = None) -> bool | None:
    """Return whether "and" joins two entities (True) or the clauses that contain them (False); None if it is unclear.

    In "Tom was chasing Jerry and Spike wanted to sleep", Jerry is an object and Spike a subject. Therefore an entity is
    not joined with itself, nor with one before a finite verb if the first is the object of a verb or preposition.
    """
    tokens = caption.tokens
    first = one.first if first is None else first
    if [token.lower for token in tokens[one.stop : two.first]] not in (["and"], [",", "and"]):
        return False
    if set(one.key) & set(two.key) or owns(tokens, one):
        return False
    after = two.stop
    while after < len(tokens) and (tokens[after].tag.startswith("RB") or tokens[after].lower in ("both", "then")):
        after += 1
    verb = tokens[after] if after < len(tokens) else None
    acts = verb is not None and (verb.tag in FINITE or (verb.lower.endswith("ed") and is_verb_form(verb.lower, "VBD")))
    if verb is None or not acts or first == 0:
        return True
    before = tokens[first - 1]
    number = first - 2
    while number > 0 and tokens[number].tag.startswith("RB"):
        number -= 1
    goes = verb_lemma(tokens[max(number, 0)].text) in ("run", "chase", "go", "come")
    moves = goes and before.lower in ("after", "before")
    opens = before.lower in SUBORDINATORS or before.tag in ("CC", ",", "WRB", "WDT") or before.lower == "like"
    if (opens and not moves) or (before.lower == "with" and verb.tag == "VBN"):
        return True
    if before.tag.startswith("JJ") or before.lower == "with":  # "make sure Tom and Jerry were"
        return None
    if verb.lower in ("was", "is", "has", "wants") or verb.tag == "VBZ":
        return two.plural and None
    if verb.lower in ("were", "are", "have") or verb.tag == "VBP":
        return None if two.plural else True
    return None if _has_thought(tokens, before) else False


def _has_thought(tokens: Sequence[Token], before: Token) -> bool:
    """Return whether a verb is followed by a clause without "that", as in "knew Tom and Jerry were there"."""
    thoughts = ("know", "think", "believe", "realise", "realize", "see", "hear", "find", "say", "hope", "wish", "feel")
    return before.tag.startswith("VB") and verb_lemma(before.text) in thoughts


def _listed(caption: Caption, one: Entity, two: Entity, three: Entity) -> bool:
    """Return whether commas join three entities, as in "Tom, Butch and Spike"."""
    marks = [token.lower for token in caption.tokens[two.stop : three.first]]
    comma = [token.lower for token in caption.tokens[one.stop : two.first]] == [","]
    return comma and marks in (["and"], [",", "and"], [","]) and not owns(caption.tokens, one)


def owns(tokens: Sequence[Token], entity: Entity) -> bool:
    """Return whether "'s" follows an entity."""
    after = tokens[entity.stop] if entity.stop < len(tokens) else None
    return after is not None and after.text in _POSSESSIVE and after.start == tokens[entity.stop - 1].end


def is_named(tokens: Sequence[Token], entity: Entity) -> bool:
    """Return whether an entity is written as a name."""
    return tokens[entity.first].tag.startswith("NNP")


@lru_cache
def _name_parts(names: tuple[str, ...]) -> tuple[tuple[int, frozenset[tuple[str, ...]]], ...]:
    found = defaultdict[int, set[tuple[str, ...]]](set)
    for name in names:
        parts = tuple(token.lower for token in tokenize(name))
        found[len(parts)].add(parts)
    return tuple((size, frozenset(found[size])) for size in sorted(found, reverse=True))


def single_entities(caption: Caption, cast: Cast) -> Iterator[Entity]:
    """Find individual entities: names with their modifiers, and nouns for living beings."""
    tokens, table = caption.tokens, confusion_table()
    names = _name_parts(cast.names)
    lower = [token.lower for token in tokens]

    def named(number: int) -> int:
        return next((size for size, parts in names if tuple(lower[number : number + size]) in parts), 0)

    number = 0
    while number < len(tokens):
        size = named(number)
        if not size:
            if _is_somebody(tokens, number):
                start = _phrase_start(tokens, number)
                if not named(number + 1):  # "the cat Lightning": it is yielded with the name
                    words = [word for word in lower[start : number + 1] if word not in table["determiners"]]
                    plural = _is_plural(tokens, number) or bool(set(words) & table["collectives"])
                    gender = "plural" if plural else _gender(lower[number])
                    figure = _is_drawing(tokens, number + 1)
                    words += lower[number + 1 : number + 1 + figure]
                    yield Entity(start, number + 1 + figure, (" ".join(words),), plural, gender)
            number += 1
            continue
        key, stop = " ".join(lower[number : number + size]), number + size
        if _is_adjective(tokens, number, stop):
            number = stop
            continue
        start = _name_start(tokens, number)
        single = Entity(start, stop, (key,), False, cast.genders.get(key, ""))
        number = stop
        noun = _owned(tokens, stop)
        if noun is not None:
            number = noun + 1
            own = (f"{key}'s {lower[noun]}",)
            end = noun + 1 + named(noun + 1)
            if end > noun + 1:  # "Spike's son Tyke"
                own, number = (" ".join(lower[noun + 1 : end]),), end
            several = _is_plural(tokens, noun)
            single = Entity(start, number, own, several, "plural" if several else _gender(lower[noun]), (single,))
        yield single


def _is_adjective(tokens: Sequence[Token], number: int, stop: int) -> bool:
    """Return whether a name modifies a noun after an article, as in "the tiny bulldog" and "a cuckoo clock"."""
    if not number or tokens[number - 1].tag != "DT" or not _is_modifier(tokens, stop - 1):
        return False
    return not (is_verb_form(tokens[stop].lower, "VBD") or tokens[stop].lower.endswith("ing"))


def _name_start(tokens: Sequence[Token], number: int) -> int:
    """Return where the phrase of a name starts, as in "the poor Butch". Bare adjectives do not belong to it."""
    table = confusion_table()
    if number and _is_somebody(tokens, number - 1, True):
        return _phrase_start(tokens, number - 1)
    start = number
    while start and tokens[start - 1].tag == "JJ" and tokens[start - 1].lower not in table["determiners"]:
        start -= 1
    if not start:
        return 0  # "Invisible Quacker used"
    return start - 1 if tokens[start - 1].lower in ("the", "a", "an") else number


def _owned(tokens: Sequence[Token], number: int) -> int | None:
    """Return the noun for a living being after a possessive name, as in "Tom's beautiful girlfriend"."""
    if number >= len(tokens) or tokens[number].tag != "POS":
        return None
    noun = number + 1
    while noun < len(tokens) and tokens[noun].tag in ("JJ", "NN", "VBN"):
        if _is_somebody(tokens, noun):
            break
        noun += 1
    return noun if noun < len(tokens) and _is_somebody(tokens, noun) else None


def _is_somebody(tokens: Sequence[Token], number: int, before_name: bool = False) -> bool:
    table, token = confusion_table(), tokens[number]
    word, before = token.lower, tokens[number - 1] if number else None
    if word not in table["animate"] or not token.tag.startswith("NN"):
        return False
    if not before_name and _is_modifier(tokens, number):
        return False
    if before is None:
        return True
    start = _phrase_start(tokens, number)
    if f"{before.lower}_{word}" in table["things"] or _is_food(tokens, word):
        return False
    if word in table["bare"] and not any(p.tag in ("DT", "PRP$", "CD") for p in tokens[start:number]):
        return before.tag == "POS"
    nominal = before.tag.startswith(("NN", "PRP")) and before.tag != "PRP$"
    return not (word in table["verbs_too"] and nominal and before.lower not in table["animate"])


def _is_food(tokens: Sequence[Token], word: str) -> bool:
    """Return whether the text mentions an animal as food, as in "the roast chicken"."""
    dishes = [n for n, token in enumerate(tokens) if token.lower in confusion_table()["food"] and token.tag[:2] != "VB"]
    dishes += [n for n, token in enumerate(tokens) if token.tag == "VBN" and token.lower in confusion_table()["food"]]
    return any(word == token.lower for n in dishes for token in tokens[n + 1 : n + 3])


def _phrase_start(tokens: Sequence[Token], number: int) -> int:
    """Return where the phrase of a noun starts, including modifiers and a determiner or "a swarm of"."""
    table, start = confusion_table(), number

    def determines(place: int) -> bool:
        return place >= 0 and (tokens[place].lower in table["determiners"] or tokens[place].tag == "PRP$")

    while start:
        before, tag = tokens[start - 1], tokens[start - 1].tag
        if tag in ("DT", "PDT", "PRP$"):
            break
        two = start > 1 and tokens[start - 2]
        if tag in ("VBN", "VBG") and not determines(start - 2):
            if not (two and two.tag.startswith("RB") and determines(start - 3)):
                break
            start -= 2
        elif tag in ("CC", ",") and tokens[start].tag == "JJ" and two and two.tag == "JJ" and determines(start - 3):
            start -= 2
        elif tag in ("NN", "JJ") and two and two.tag in ("CC", "TO") and is_verb_form(before.lower, "VB"):
            break  # "chase and catch mice"
        elif tag in ("JJ", "NN", "VBN", "VBG", "CD") or (tag == "NNP" and determines(start - 2)):  # "the Tiny bulldog"
            start -= 1
        else:
            break
    if determines(start - 1):
        start -= 1
    several = tokens[start].lower not in ("a", "an")  # not "the number of an exterminator"
    if start > 1 and several and tokens[start - 1].lower == "of" and tokens[start - 2].lower in table["collectives"]:
        start -= 2
        while start and tokens[start - 1].tag == "JJ":
            start -= 1
        start -= determines(start - 1)
    return start


def _is_modifier(tokens: Sequence[Token], number: int) -> bool:
    """Return whether a noun modifies another noun, as in "the mouse hole"."""
    after = tokens[number + 1] if number + 1 < len(tokens) else None
    if after is None or after.start != tokens[number].end + 1:
        return False
    return after.tag in ("NN", "NNS") and not _is_drawing(tokens, number + 1)


def _is_plural(tokens: Sequence[Token], number: int) -> bool:
    """Return whether a noun is plural, judging by its form or its verb ("the fish were")."""
    after = tokens[number + 1].lower if number + 1 < len(tokens) else ""
    return tokens[number].tag in ("NNS", "NNPS") or is_plural_noun(tokens[number].lower) or after in ("were", "are")


def _is_drawing(tokens: Sequence[Token], number: int) -> bool:
    """Return whether a noun denotes a drawing or doll that acts like a person, as in "the cat drawing wanted"."""
    if number >= len(tokens) or tokens[number].lower not in confusion_table()["figures"]:
        return False
    after = tokens[number + 1] if number + 1 < len(tokens) else None
    return after is None or after.tag in (".", ",", "CC", "IN", "TO", "POS", "VBG", "RB", *FINITE)


def _gender(noun: str) -> str:
    table = confusion_table()
    return "female" if noun in table["female"] else "male" if noun in table["male"] else ""


def entity_of(phrase: NounPhrase | None, found: Sequence[Entity]) -> Entity | None:
    """Return the entity that contains the head of a noun phrase, unless it is only a possessor."""
    if phrase is None:
        return None
    inside = [e for e in found if e.first <= phrase.stop - 1 and e.stop > phrase.first]
    whole = [e for e in inside if any(e.first <= head < e.stop for head in phrase.heads)]
    return whole[0] if whole else None


def mentions(found: Iterable[Entity], keys: tuple[tuple[str, ...], ...]) -> Iterator[Entity]:
    """Yield all mentions of some entities, including nested ones such as Tom in "Tom's owner"."""
    for entity in found:
        if entity.key in keys:
            yield entity
        else:
            yield from mentions(entity.parts, keys)
