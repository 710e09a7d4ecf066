"""Find people and animals in a text: names and nouns for living beings, alone or joined by "and"."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from ..language.lexicon import FINITE, is_plural_noun, word_lists
from ..language.people import Cast
from ..language.words import Caption, Token, name_pattern
from .content_words import read_table

MODIFIERS = ("det", "predet", "poss", "amod", "nummod", "compound", "nmod")
_POSSESSIVE = frozenset({"'s", "’s", "'", "’"})


@dataclass(frozen=True)
class Entity:
    """A person or animal in a text, or several joined by "and".

    Attributes:
        first: Index of the first token.
        stop: Index after the last token.
        head: Index of the noun, the first one of several joined by "and".
        key: Names and nouns in lower case, sorted alphabetically.
        plural: Whether the entity is plural.
        gender: "female", "male", "plural" or "" (unknown).
        parts: Nested entities: those joined by "and", or "Tom" in "Tom's owner".
    """

    first: int
    stop: int
    head: int
    key: tuple[str, ...]
    plural: bool
    gender: str
    parts: tuple[Entity, ...] = ()


@cache
def confusion_table() -> dict[str, Any]:
    """Load the word lists for causal confusion, including those for stories, as sets."""
    own = {
        name: frozenset(value.split()) if isinstance(value, str) and name != "source" else value
        for name, value in read_table("confusion").items()
    }
    stories = word_lists("stories")
    return {"animate": stories.animate, "female": stories.female, "male": stories.male, **own}


def entities(caption: Caption, cast: Cast) -> Iterator[Entity]:
    """Find the entities in a text, from left to right. Entities joined by "and" or commas form one entity."""
    singles = _singles(caption, cast)
    joined = set[int]()
    for head, single in singles.items():
        if head in joined:
            continue
        group = [single, *_joined(caption, singles, single)]
        if len(group) == 1 or owns(caption.tokens, group[-1]):  # "Spike and Tyke's ball": the owner is uncertain
            yield single
            continue
        joined |= {entity.head for entity in group}
        key = tuple(sorted(part for entity in group for part in entity.key))
        yield Entity(single.first, group[-1].stop, head, key, True, "plural", tuple(group))


def _joined(caption: Caption, singles: dict[int, Entity], first: Entity) -> list[Entity]:
    """Return the entities that "and" joins to one, such as Jerry and Spike in "Tom, Jerry and Spike"."""
    joined, last = list[Entity](), first
    links = []
    for head, entity in singles.items():
        linked = caption.tokens[head].arc in ("conj", "appos") and caption.tokens[head].head in (first.head, last.head)
        between = [token.lower for token in caption.tokens[last.stop : entity.first]]
        if (
            not linked
            or acts(caption, entity)
            or between not in (["and"], [",", "and"], [","])
            or owns(caption.tokens, last)
        ):
            continue
        if entity.key in {first.key, *(entity_before.key for entity_before in joined)}:
            break
        joined.append(entity)
        links.append("and" in between)
        last = entity
    return joined[: max((n + 1 for n, link in enumerate(links) if link), default=0)]


def acts(caption: Caption, entity: Entity) -> bool:
    """Return whether an entity is the subject of a verb behind it although the parser joins it with another noun.

    In "Tom was chasing Jerry and Spike wanted to sleep", nothing else can be the subject of "wanted".
    """
    verb = entity.stop
    while caption.tag_at(verb).startswith("RB"):
        verb += 1
    if caption.tokens[entity.head].arc != "conj" or caption.tag_at(verb) not in FINITE:
        return False
    main = caption.tokens[verb].head if caption.tokens[verb].arc in ("aux", "auxpass") else verb
    return caption.child(main, "nsubj", "nsubjpass") is None


def owns(tokens: Sequence[Token], entity: Entity) -> bool:
    """Return whether "'s" follows an entity."""
    after = tokens[entity.stop] if entity.stop < len(tokens) else None
    return after is not None and after.text in _POSSESSIVE and after.start == tokens[entity.stop - 1].end


def is_named(tokens: Sequence[Token], entity: Entity) -> bool:
    """Return whether an entity is written as a name."""
    return tokens[entity.first].tag.startswith("NNP")


def _singles(caption: Caption, cast: Cast) -> dict[int, Entity]:
    """Return the entities that are not joined, by head, from left to right."""
    tokens = caption.tokens
    pattern = name_pattern(cast.names)
    singles: list[Entity] = []
    for match in pattern.finditer(caption.text) if pattern else ():
        words = [n for n, token in enumerate(tokens) if match.start() <= token.start and token.end <= match.end()]
        if not words:
            continue  # "Tom-like"
        head = next((n for n in words if tokens[n].head not in words), words[-1])
        if caption.tag_at(words[0] - 1) != "DT" or not _is_attribute(caption, head):
            singles.append(_entity(caption, cast, words[0], words[-1] + 1, head, " ".join(match[0].lower().split())))
    named = {n for entity in singles for n in range(entity.first, entity.stop)}
    for head in caption.tagged("NN"):
        if head not in named and tokens[head].tag != "NNP" and _is_somebody(caption, head):
            singles.append(_entity(caption, cast, head, head + 1, head, ""))
    singles.sort(key=lambda entity: (entity.first, -entity.stop))
    whole = [entity for entity in singles if not any(_holds(other, entity) for other in singles)]
    return {entity.head: _with_owner(entity, singles) for entity in whole}


def _holds(outer: Entity, inner: Entity) -> bool:
    return outer.first <= inner.first and inner.stop <= outer.stop and outer.head != inner.head


def _with_owner(entity: Entity, singles: Iterable[Entity]) -> Entity:
    """Add the owner in "Tom's owner" to an entity. Its key names both, unless it has a name of its own."""
    owners = (other for other in singles if _holds(entity, other) and entity.first == other.first)
    owner = next(owners, None)
    return entity if owner is None else replace(entity, parts=(owner,))


def _entity(caption: Caption, cast: Cast, first: int, stop: int, head: int, name: str) -> Entity:
    """Return the entity with a name or noun and what stands before it in its phrase, as in "the poor Butch"."""
    tokens, table = caption.tokens, confusion_table()
    start = first
    noun = tokens[head].head
    if name and tokens[head].arc == "appos" and noun == first - 1 and tokens[noun].lower in table["animate"]:
        head = noun  # "his friend Jerry"
    if not name and _is_drawing(caption, head):
        head, stop = stop, stop + 1
    modifiers = {n for child in caption.children(head, *MODIFIERS) for n in caption.subtree(child) if n < first} | {
        head
    }
    while start - 1 in modifiers:
        start -= 1
    if name:
        determined = any(tokens[n].tag in ("DT", "PRP$", "POS") for n in range(start, first))
        return Entity(
            start if determined or not start else first, stop, head, (name,), False, cast.genders.get(name, "")
        )
    of = tokens[head].head
    several = tokens[of].head
    group = tokens[head].arc == "pobj" and tokens[of].lower == "of" and tokens[several].lower in table["collectives"]
    words = [token.lower for token in tokens[start:stop] if token.lower not in table["determiners"]]
    plural = _is_plural(tokens, stop - 1)
    gender = next((sort for sort in ("female", "male") if tokens[head].lower in table[sort]), "")
    if group and tokens[start].lower not in ("a", "an"):  # "a swarm of bees"
        start, head, plural = caption.subtree(several)[0], several, True
    key = " ".join(words).replace(" 's", "'s")
    return Entity(start, stop, head, (key,), plural, "plural" if plural else gender)


def _is_attribute(caption: Caption, index: int) -> bool:
    """Return whether a noun modifies another one, as in "the mouse hole" and "the tiny bulldog"."""
    token = caption.tokens[index]
    return token.arc in ("compound", "amod", "nmod") and token.head > index


def _is_drawing(caption: Caption, index: int) -> bool:
    """Return whether a noun says of what a drawing or doll is one, as in "the cat drawing wanted"."""
    token = caption.tokens[index]
    return (
        token.arc == "compound"
        and token.head == index + 1
        and (caption.tokens[index + 1].lower in confusion_table()["figures"])
    )


def _is_somebody(caption: Caption, index: int) -> bool:
    """Return whether a noun denotes a living being that could act, and not food, a thing or a verb."""
    table, token = confusion_table(), caption.tokens[index]
    if token.lower not in table["animate"] or (_is_attribute(caption, index) and not _is_drawing(caption, index)):
        return False
    if f"{caption.lower_at(index - 1)}_{token.lower}" in table["things"] or _is_food(caption.tokens, token.lower):
        return False
    if token.lower in table["bare"] and not caption.children(index, "det", "poss", "nummod"):
        return False
    return not (token.lower in table["verbs_too"] and token.rival.startswith("VB"))


def _is_food(tokens: Sequence[Token], word: str) -> bool:
    """Return whether the text mentions an animal as food, as in "the roast chicken"."""
    dishes = [n for n, token in enumerate(tokens) if token.lower in confusion_table()["food"] and token.tag != "VBD"]
    return any(word == token.lower for n in dishes for token in tokens[n + 1 : n + 3])


def _is_plural(tokens: Sequence[Token], index: int) -> bool:
    """Return whether a noun is plural, judging by its form or its verb ("the fish were")."""
    after = tokens[index + 1].lower if index + 1 < len(tokens) else ""
    return tokens[index].tag in ("NNS", "NNPS") or is_plural_noun(tokens[index].lower) or after in ("were", "are")


def entity_of(head: int | None, characters: Sequence[Entity]) -> Entity | None:
    """Return the entity whose head, or that of one of whose members, a token is."""
    return next((e for e in characters if head in (e.head, *(part.head for part in e.parts if e.plural))), None)


def mentions(characters: Iterable[Entity], keys: tuple[tuple[str, ...], ...]) -> Iterator[Entity]:
    """Yield all mentions of some entities, including nested ones such as Tom in "Tom's owner"."""
    for entity in characters:
        if entity.key in keys:
            yield entity
        else:
            yield from mentions(entity.parts, keys)
