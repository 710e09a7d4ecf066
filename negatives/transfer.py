"""Adapt an answer to another question by replacing the people and things that it mentions.

"Why did Tom hide?", "Tom was afraid of Spike." adapted to "Why did the duck cry?" is "The duck was afraid of Spike."
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import yaml

from ..language.cast import Cast
from ..language.inflection import is_verb_form
from ..language.words import Caption, with_capital
from .asked import read_question
from .content_words import function_words
from .entities import Entity, entities, entity_of, mentions, owns
from .predicates import ARTICLES, Predicate, Restated, read_predicate

PRONOUNS = frozenset(
    word
    for words in (
        ("he", "him", "his", "himself"),
        ("she", "her", "hers", "herself"),
        ("it", "its", "itself"),
        ("they", "them", "their", "theirs", "themselves"),
    )
    for word in words
)


@dataclass(frozen=True)
class Player:
    """A person or thing that a question mentions.

    Attributes:
        key: Names in lower case.
        written: Text in the middle of a sentence: "Tom", "the car".
        plural: Whether it is plural.
        gender: "female", "male", "plural", "" (unknown) or "thing".
    """

    key: tuple[str, ...]
    written: str
    plural: bool
    gender: str

    @property
    def is_thing(self) -> bool:
        """Return whether the player is a thing and not a person."""
        return self.gender == "thing"


@dataclass(frozen=True)
class Roles:
    """The roles that people and things have in a question.

    Attributes:
        subject: The subject; None if uncertain.
        others: The other people and things, in order of mention.
        predicate: The action of the subject; None if uncertain.
    """

    subject: Player | None
    others: tuple[Player, ...]
    predicate: Predicate | None = None

    @property
    def players(self) -> tuple[Player, ...]:
        """Return all people and things, the subject first."""
        return (*([self.subject] if self.subject else []), *self.others)


@cache
def no_things() -> frozenset[str]:
    """Return nouns that do not denote concrete objects, such as abstract nouns."""
    path = Path(__file__).parent / "tables" / "no_things.yaml"
    return frozenset(str(yaml.safe_load(path.read_text(encoding="utf-8"))["words"]).split())


def read_roles(caption: Caption, cast: Cast) -> Roles:
    """Determine the roles in a question."""
    asked = read_question(caption, cast.names)
    if asked is not None:
        caption = asked.caption
    found = tuple(entities(caption, cast))
    head = asked.subject if asked else next((n for n, token in enumerate(caption.tokens) if token.arc == "nsubj"), None)
    who = entity_of(head, found)
    owner = next((entity for entity in found if asked and not who and not entity.first), None)  # "Tom's eyes"
    named = who or owner
    subject = _somebody(caption, named) if named else _something(caption, head) if head is not None else None
    players = (*(player for entity in found if (player := _somebody(caption, entity))), *_things(caption, found, head))
    others = {player.key: player for player in reversed(players) if subject is None or player.key != subject.key}
    return Roles(subject, tuple(reversed(others.values())), read_predicate(asked) if asked and not owner else None)


def _somebody(caption: Caption, entity: Entity) -> Player | None:
    tokens = caption.tokens
    if entity.parts and not entity.plural:
        return None  # "Tom's owner" mentions two
    start = entity.first
    words = caption.text[tokens[start].start : tokens[entity.stop - 1].end]
    if tokens[start].lower in ARTICLES and entity.stop > start + 1:
        words = "the" + caption.text[tokens[start].end : tokens[entity.stop - 1].end]
    elif entity.parts:
        words = " and ".join(_name(caption, part) for part in entity.parts)
    elif tokens[start].tag.startswith("NNP"):
        words = _name(caption, entity)
    return Player(entity.key, words, entity.plural, entity.gender)


def _name(caption: Caption, entity: Entity) -> str:
    tokens = caption.tokens
    words = caption.text[tokens[entity.first].start : tokens[entity.stop - 1].end]
    return with_capital(words) if tokens[entity.first].tag.startswith("NNP") else words


def _something(caption: Caption, head: int) -> Player | None:
    tokens = caption.tokens
    token = tokens[head]
    if token.tag not in ("NN", "NNS") or token.lower in PRONOUNS | function_words() | no_things():
        return None
    if caption.lower_at(head + 1) in ("of", "'s", "'"):
        return None  # "a jar of ink"
    start = _described(caption, head)
    noun = caption.text[tokens[start].start : token.end].lower()
    return Player((token.lower,), f"the {noun}", token.tag == "NNS", "thing")


def _described(caption: Caption, head: int) -> int:
    """Return where a noun with the nouns and adjectives before it starts, as in "the [red vacuum cleaner]"."""
    held = {n for child in caption.children(head, "compound", "amod", "nmod") for n in caption.subtree(child)}
    start = head
    while start - 1 in held and caption.tokens[start - 1].lower not in ARTICLES:
        start -= 1
    return start


def _determiner(caption: Caption, head: int) -> int | None:
    """Return the article or number directly before a noun and its adjectives, or the pronoun that owns it."""
    before = _described(caption, head) - 1
    return before if caption.tag_at(before) in ("DT", "PRP$", "CD") else None


def _things(caption: Caption, found: Sequence[Entity], subject: int | None = None) -> Iterator[Player]:
    for head in caption.tagged("NN"):
        if head == subject or _is_part(caption, head) or any(e.first <= head < e.stop for e in found):
            continue
        before = _determiner(caption, head)
        if before is not None and caption.tokens[before].lower in ARTICLES and (player := _something(caption, head)):
            yield player


def _is_part(caption: Caption, number: int) -> bool:
    """Return whether a noun is the first part of another one, or owns something."""
    token = caption.tokens[number]
    return (token.arc in ("compound", "nmod", "poss") and token.head > number) or caption.tag_at(number + 1) == "POS"


def pairing(source: Roles, target: Roles) -> dict[tuple[str, ...], Player]:
    """Return what replaces each person and thing of the source. The result is empty if the subjects do not match."""
    if source.subject is None or target.subject is None or source.subject.plural != target.subject.plural:
        return {}
    found = {source.subject.key: target.subject}
    for things in (False, True):
        free = [p for p in target.others if p.is_thing == things]
        for player in source.others:
            if player.is_thing != things:
                continue
            place = next((n for n, p in enumerate(free) if p.plural == player.plural), None)
            if place is not None:
                found[player.key] = free.pop(place)
    return found


Move = tuple[tuple[str, ...], Player, Player | None]
"""The names that are replaced, the new player, and the old one if the question mentions it."""


Strangers = tuple[tuple[Player, ...], tuple[Player, ...]]
"""People and things of an answer, in order of mention."""


def strangers(caption: Caption, found: Sequence[Entity]) -> Strangers:
    """Return the people and things in an answer that can be replaced although the question does not mention them."""
    people = (_somebody(caption, entity) for entity in found if not entity.parts)
    return tuple(player for player in people if player), tuple(_things(caption, found))


def moves(source: Roles, target: Roles, mentioned: Strangers = ((), ())) -> tuple[Move, ...] | None:
    """Return the replacements that adapt an answer to another question, or None if that is impossible.

    Unused people and things of the other question replace those in `mentioned` that are not part of the source.
    """
    pairs = pairing(source, target)
    if not pairs:
        return None
    known = {p.key: p for p in source.players}
    moved = {key: player for key, player in pairs.items() if key != player.key}
    _inject(mentioned, pairs, moved, known, target)
    for key, player in list(moved.items()):  # a displaced one takes the free position
        if player.key not in pairs and key in known:
            moved[player.key] = known[key]
            pairs[player.key] = known[key]
    return tuple((key, player, known.get(key)) for key, player in moved.items())


def carry_over(
    caption: Caption,
    found: Sequence[Entity],
    source: Roles,
    target: Roles,
    *,
    inject: bool = False,
    restated: Restated | None = None,
) -> str | None:
    """Adapt an answer to another question.

    `found` are the people in the answer, and `source` and `target` the roles in its question and in the other one. With
    `inject`, unused people and things of the other question replace those that only the answer mentions. `restated` is
    the part of the answer that restates its question; the other question's predicate replaces it.

    Returns:
        The adapted answer, unchanged if it mentions none of them, or None if no grammatical text results.
    """
    moved = moves(source, target, strangers(caption, found)) if inject else moves(source, target)
    if moved is None:
        return None
    subject = target.subject.key if target.subject else ()
    return rewritten(caption, found, moved, subject, target.predicate, restated)


def rewritten(
    caption: Caption,
    found: Sequence[Entity],
    moved: Sequence[Move],
    subject: tuple[str, ...],
    predicate: Predicate | None = None,
    restated: Restated | None = None,
) -> str | None:
    """Return an answer after replacements, or None if no grammatical text results.

    `subject` and `predicate` are those of the other question; see `carry_over` for the other arguments.
    """
    tokens = caption.tokens
    changes: dict[int, str] = {}
    if restated is not None:
        if predicate is None:
            return None
        changes = dict.fromkeys(range(restated.first, restated.stop), "")
        changes[restated.first] = predicate.written(restated.form)
    if not moved:
        return caption.edit(changes)
    new = {key: player for key, player, _ in moved}
    known = {key: old for key, _, old in moved if old is not None}
    free = [token for number, token in enumerate(tokens) if number not in changes]
    used: list[tuple[Player, Player | None]] = []

    def put(first: int, stop: int, player: Player, old: Player | None) -> None:
        changes[first] = player.written
        for number in range(first + 1, stop):
            changes[number] = ""
        used.append((player, old))

    gone = frozenset(changes)
    for entity in mentions(found, tuple(new)):
        if entity.first in gone:
            continue
        if entity.parts and not entity.plural:
            return None
        if entity.first and tokens[entity.first - 1].lower == "to" and is_verb_form(tokens[entity.first].text, "VB"):
            return None  # "to cook" is not "to the cook"
        player = new[entity.key]
        if entity.plural != player.plural:
            return None
        if player.is_thing and owns(tokens, entity):
            return None
        put(entity.first, entity.stop, player, known.get(entity.key))
        if owns(tokens, entity):
            mark = tokens[entity.stop].text[0]
            changes[entity.stop] = mark if player.written.endswith("s") and player.plural else f"{mark}s"
    for entity in found:  # "Tom and Jerry" if only Tom is replaced
        if entity.first in gone:
            continue
        if entity.parts and entity.key not in new and any(part.key in new for part in entity.parts):
            return None
    if not _put_things(caption, new, known, subject, changes, put):
        return None
    if any(token.lower in PRONOUNS for token in free):
        for player, old in used:
            if old is None or old.gender != player.gender:
                return None
    return caption.edit(changes)


def _inject(
    mentioned: Strangers,
    pairs: dict[tuple[str, ...], Player],
    moved: dict[tuple[str, ...], Player],
    known: dict[tuple[str, ...], Player],
    target: Roles,
) -> None:
    placed = {player.key for player in pairs.values()}
    for player in target.others:
        if player.key in placed:
            continue
        for stranger in mentioned[player.is_thing]:
            if stranger.key in pairs or stranger.key in placed or stranger.plural != player.plural:
                continue
            pairs[stranger.key] = moved[stranger.key] = player
            known[stranger.key] = stranger
            placed.add(player.key)
            break


def _put_things(
    caption: Caption,
    moved: Mapping[tuple[str, ...], Player],
    known: Mapping[tuple[str, ...], Player],
    subject: tuple[str, ...],
    changes: Mapping[int, str],
    put: Callable[[int, int, Player, Player | None], None],
) -> bool:
    """Replace things with other things. Return False if that is impossible."""
    tokens = caption.tokens
    things = {key[0]: player for key, player in moved.items() if key in known and known[key].is_thing}
    for number, token in enumerate(tokens):
        if (
            token.lower not in things
            or token.tag not in ("NN", "NNS")
            or number in changes
            or _is_part(caption, number)
        ):
            continue
        player, before = things[token.lower], _determiner(caption, number)
        start = _described(caption, number) if before is None else before
        if player.plural != (token.tag == "NNS") or (start == 0 and player.key != subject):
            return False  # "The oar wanted to kick Tom"
        if before is None and (not player.plural or caption.tag_at(start - 1) == "POS"):
            return False
        if caption.tag_at(start - 1) in ("DT", "PDT"):
            return False  # "such a pot"
        put(start, number + 1, player, known[(token.lower,)])
    return True
