"""Adapt an answer to another question by replacing the people and things that it mentions.

"Why did Tom hide?", "Tom was afraid of Spike." adapted to "Why did the duck cry?" is "The duck was afraid of Spike."
An answer is adapted only if its parse, and what occurs elsewhere in the sources, show that the result makes sense:
"Jerry turned on the stove" shows that a stove can be turned on. A vase that no text turns on is not put in its place.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from ..language.grammar import disagreement, joined, own_subject
from ..language.lexicon import is_verb_form, lemma
from ..language.words import Caption
from .entities import Entity, mentions, owns
from .roles import (
    ANY,
    NUMBERS,
    OUTSIDE,
    PRONOUNS,
    Move,
    Player,
    Predicate,
    Referent,
    Restated,
    described,
    determiner,
    is_part,
)

Slot = tuple[str, str]
"""The lemma of a governing word, with its particle, and the relation: ("turn on", "dobj"), ("afraid", "prep of")."""

SOMEBODY = 3  # different people that a slot has in the sources before it takes any others of their gender
_IDENTITY = "is"  # "Tom was a cat" is true of few
_WILLING = ("want", "try", "plan", "decide", "attempt", "intend")
_LIGHT = ("use", "have", "get", "take", "make", "do", "give", "put", "need", "be")  # what they mean is said elsewhere
_LINKS = ("conj", "appos")
COUNTING = frozenset(("both", "either", "neither", "between", *NUMBERS))
QUOTES = frozenset("\"“”‘'")
CAUSING = ("cause", "make", "let", "force")
AIMS = (("so", "that"), ("in", "order"))  # before what is intended
IMPLYING = ("other", "another", "different", "same")
POINTING = frozenset(("this", "that", "these", "those"))


def slot_of(caption: Caption, index: int) -> Slot | None:
    """Return the slot of a noun, or None if it has none, such as the root of a text without a verb."""
    while caption.tokens[index].arc in _LINKS and caption.tokens[index].head != index:
        index = caption.tokens[index].head
    if caption.tokens[index].arc in ("ROOT", "dep", "npadvmod", "meta"):
        return None
    label, head = joined(caption, index)
    word = caption.tokens[head].lemma or caption.tokens[head].lower
    if label == "nsubj" and word == "be":
        governor = caption.child(head, "acomp", "attr")
        if governor is not None:
            word = caption.tokens[governor].lemma or caption.tokens[governor].lower
            return word, _IDENTITY if caption.tokens[governor].arc == "attr" else "nsubj"
    particle = caption.child(head, "prt")
    return word if particle is None else f"{word} {caption.tokens[particle].lower}", label


class Arguments:
    """The people and things that occur in each slot of a collection of texts, and the aims of actions."""

    def __init__(
        self, texts: Iterable[tuple[Caption, Sequence[Entity]]], reasons: Iterable[tuple[Predicate | None, Caption]]
    ):
        """Collect the arguments of parsed texts with their entities, and the aims in answers to predicates."""
        self._aims = {
            (predicate.verb, _whole_verb(answer, index))
            for predicate, answer in reasons
            if predicate
            for index in answer.tagged("VB")
            if _is_aim(answer, index)
        }
        self._people: dict[Slot, dict[tuple[str, ...], str]] = defaultdict(dict)  # names and genders
        self._things: dict[Slot, set[str]] = defaultdict(set)
        self._meant = set[str]()
        for caption, characters in texts:
            self._add(caption, characters)

    def _add(self, caption: Caption, characters: Sequence[Entity]) -> None:
        people = {entity.head: entity for entity in _nested(characters)}
        for index, token in enumerate(caption.tokens):
            if token.tag == "VB" and _is_aim(caption, index):
                self._meant.add(token.lemma)
            slot = slot_of(caption, index) if index in people or token.tag.startswith("NN") else None
            if slot and index in people:
                self._people[slot][people[index].key] = people[index].gender
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

    def has_aim(self, verb: str, caption: Caption, index: int) -> bool:
        """Return whether an answer to a question with a verb names an aim, such as the verb of "ran to hide"."""
        return (verb, _whole_verb(caption, index)) in self._aims

    def is_meant(self, verb: str) -> bool:
        """Return whether a text shows that the action of a verb is intended, as in "wanted to run"."""
        return verb in self._meant


def _is_aim(caption: Caption, index: int) -> bool:
    token = caption.tokens[index]
    willing = token.arc == "xcomp" and caption.tokens[token.head].lemma in _WILLING
    return caption.lower_at(index - 1) == "to" and (willing or token.arc in ("advcl", "ROOT"))


def _whole_verb(caption: Caption, index: int) -> str:
    """Return a verb with what belongs to it, as in "run away", "avoid slipping" and "get hurt"."""
    after = caption.lower_at(index + 1) if caption.tag_at(index + 1).startswith(("RP", "RB", "VB", "JJ")) else ""
    return f"{caption.tokens[index].lemma} {after}".rstrip()


def _nested(characters: Iterable[Entity]) -> Iterable[Entity]:
    for entity in characters:
        yield entity
        yield from _nested(entity.parts)


@dataclass(frozen=True)
class _Exchange:
    """The tokens of an answer from `first` to `stop` with the noun `head`, the new player, and the old one."""

    first: int
    stop: int
    head: int
    new: Player
    old: Player


def has_pronouns(caption: Caption) -> bool:
    """Return whether a text has a pronoun of the third person."""
    return any(token.lower in PRONOUNS for token in caption.tokens)


def adapt(
    caption: Caption,
    characters: Sequence[Entity],
    moved: Sequence[Move],
    arguments: Arguments,
    *,
    referents: Sequence[Referent] = (),
    predicate: Predicate | None = None,
    restated: Restated | None = None,
) -> str | None:
    """Adapt an answer to another question.

    Args:
        caption: The answer.
        characters: Its entities.
        moved: What replaces them.
        arguments: The arguments in the sources.
        referents: What its pronouns may refer to.
        predicate: The predicate of the other question; None if uncertain.
        restated: The part of the answer that restates its question, if it is to be replaced with `predicate`.

    Returns:
        The adapted answer, unchanged if it mentions nothing that is replaced, or None if it would be ungrammatical or
        make no sense.
    """
    gone = frozenset(range(restated.first, restated.stop)) if restated else frozenset[int]()
    if disagreement(caption) or _lacks_verb(caption):
        return None  # the annotator's mistake would be copied
    aiming = caption.lower_at(0) == "to" or (caption.lower_at(0), caption.lower_at(1)) in AIMS
    if aiming and (predicate is None or not arguments.is_meant(predicate.verb)):
        return None  # "To catch Tom" is no reason to look shocked
    if restated and (predicate is None or not _suits(caption, restated, predicate, gone, arguments)):
        return None
    exchanges = [*_people(caption, characters, moved, gone), *_things(caption, moved, gone)]
    if None in exchanges or _parts_a_pair(characters, moved, gone):
        return None
    done = [exchange for exchange in exchanges if exchange]
    inside = gone.union(*(range(exchange.first, exchange.stop) for exchange in done))
    left = [index for index in range(len(caption.tokens)) if index not in inside]
    if not _refers(caption, characters, left, done, referents) or _mixes(caption, left, done):
        return None
    if not all(_fits(caption, exchange, gone, arguments) for exchange in done):
        return None
    changes = dict.fromkeys(inside, "")
    if restated and predicate:
        changes[restated.first] = predicate.written(restated.form)
    for exchange in done:
        changes[exchange.first] = exchange.new.written
        if exchange.stop < len(caption.tokens) and caption.tag_at(exchange.stop) == "POS":
            mark = caption.tokens[exchange.stop].text[0]
            bare = exchange.new.plural and exchange.new.written.endswith("s")
            changes[exchange.stop] = mark if bare else f"{mark}s"
    return caption.edit(changes)


def _lacks_verb(caption: Caption) -> bool:
    """Return whether a sentence has a subject but no finite verb, as in "Tom running as he was afraid"."""
    return any(
        caption.tag_at(root) in ("VBG", "VBN")
        and caption.child(root, "nsubj") is not None
        and caption.child(root, "aux", "auxpass") is None
        for root in caption.roots
    )


def _people(
    caption: Caption, characters: Sequence[Entity], moved: Sequence[Move], gone: frozenset[int]
) -> Iterator[_Exchange | None]:
    """Yield the exchanges of people, or None for one that is impossible."""
    tokens = caption.tokens
    new = {key: (player, old) for key, player, old in moved}
    for entity in mentions(characters, tuple(new)):
        if entity.first in gone:
            continue
        player, old = new[entity.key]
        acting = caption.lower_at(entity.first - 1) == "to" and is_verb_form(tokens[entity.first].text, "VB")
        shared = entity.parts and not entity.plural  # "Tom's owner"
        if acting or shared or entity.plural != player.plural or (player.is_thing and owns(tokens, entity)):
            yield None
        else:
            yield _Exchange(entity.first, entity.stop, entity.head, player, old)


def _parts_a_pair(characters: Sequence[Entity], moved: Sequence[Move], gone: frozenset[int]) -> bool:
    """Return whether only one of "Tom and Jerry" would be replaced."""
    new = {key for key, _, _ in moved}
    return any(
        entity.key not in new and any(part.key in new for part in entity.parts)
        for entity in characters
        if entity.parts and entity.first not in gone
    )


def _things(caption: Caption, moved: Sequence[Move], gone: frozenset[int]) -> Iterator[_Exchange | None]:
    """Yield the exchanges of things, or None for one that is impossible."""
    things = {key[0]: (player, old) for key, player, old in moved if old.is_thing}
    for index in caption.tagged("NN"):
        token = caption.tokens[index]
        if token.lower not in things or token.tag.startswith("NNP") or index in gone or is_part(caption, index):
            continue
        (player, old), before = things[token.lower], determiner(caption, index)
        first = described(caption, index) if before is None else before
        bare = before is None and (not player.plural or caption.tag_at(first - 1) == "POS")
        yield (
            None if bare or player.plural != (token.tag == "NNS") else _Exchange(first, index + 1, index, player, old)
        )


def _fits(caption: Caption, exchange: _Exchange, gone: frozenset[int], arguments: Arguments) -> bool:
    """Return whether the new player can stand in the place of the old one."""
    head, player, before = exchange.head, exchange.new, exchange.first - 1
    if caption.tag_at(before) in ("DT", "PDT", "PRP$", "POS") or caption.lower_at(before) in OUTSIDE:
        return False  # "such a pot"
    if any(
        caption.tokens[n].lower == "of" or caption.tokens[n].arc in ("relcl", "appos") for n in caption.children(head)
    ):
        return False  # "a friend of his"
    if gone & {caption.tokens[head].head, caption.tokens[caption.tokens[head].head].head}:
        return True  # the other question has it in the same place
    slot = slot_of(caption, head)
    if player.is_thing:
        return arguments.take_thing(slot, lemma(player.key[0], "NNS" if player.plural else "NN"))
    return arguments.take_person(slot, player.key, player.gender)


def _mixes(caption: Caption, left: Sequence[int], done: Sequence[_Exchange]) -> bool:
    """Return whether different people or things would get the same name, or as many as there are not."""
    words = {caption.tokens[index].lower for index in left}
    names = {exchange.old.key: _names(exchange.new) for exchange in done}
    if any(words & _names(player) for exchange in done for player in (exchange.new, exchange.old)):
        return True
    if sum(map(len, names.values())) != len(frozenset[str]().union(*names.values())):
        return True
    kinds = [child for n in caption.tagged("NN") for child in caption.children(n, "amod", "det")]
    if any(caption.lower_at(n) in IMPLYING for n in kinds) and any(not e.old.is_thing for e in done):
        return True  # "swim with other ducklings" is said of a duckling
    several = [exchange for exchange in done if exchange.old.plural]
    return bool(words & COUNTING) and any(not e.old.count or e.old.count != e.new.count for e in several)


def _names(player: Player) -> frozenset[str]:
    return frozenset(name.split()[-1] for name in player.key)


def _refers(
    caption: Caption,
    characters: Iterable[Entity],
    left: Sequence[int],
    done: Sequence[_Exchange],
    referents: Sequence[Referent],
) -> bool:
    """Return whether every pronoun still refers to something of its gender, and nothing is quoted or pointed at."""
    tokens = [caption.tokens[index] for index in left]
    pointing = (token.lower in POINTING and token.tag == "DT" and token.arc != "det" for token in tokens)
    if any(pointing) or any(token.text in QUOTES and token.tag != "POS" for token in tokens):
        return False
    used = {PRONOUNS[token.lower] for token in tokens if token.lower in PRONOUNS and token.arc != "expl"}
    if used and any(exchange.old.pronoun != exchange.new.pronoun for exchange in done):
        return False
    in_text = {"plural" if entity.plural else entity.gender for entity in characters}
    for gender in used:
        meant = {new for old, new in referents if old in (gender, "")}
        several = gender == "plural" and any(token.tag == "NNS" for token in tokens)
        if not meant <= {gender, ANY} or not (meant or several or in_text & {gender, ""} or gender == "thing"):
            return False
    return True


def _suits(
    caption: Caption, restated: Restated, predicate: Predicate, gone: frozenset[int], arguments: Arguments
) -> bool:
    """Return whether a predicate suits the words around the part that it replaces."""
    if caption.lower_at(restated.first - 1) in ("to", "by") and not arguments.is_meant(predicate.verb):
        return False  # "wanted to frown"
    verb = restated.first
    while caption.tokens[verb].arc in ("conj", "xcomp", "ccomp"):
        joined, verb = caption.tokens[verb].arc == "conj", caption.tokens[verb].head
        has_own_subject = caption.tag_at(verb) == "VB" and own_subject(caption, verb) is not None
        if caption.tokens[verb].lemma in CAUSING or (joined and has_own_subject):
            return False  # "causing Tom to trip and climb", "wanted Tom to follow him and climb"
    order = caption.lower_at(restated.stop + 1) == "order"
    aim = restated.stop + 1 + 2 * order
    if caption.lower_at(aim - 1) == "to" and not arguments.has_aim(predicate.verb, caption, aim):
        return False  # "frowned to get away"
    for index in caption.children(restated.first, "prep"):
        noun = caption.child(index, "pobj")
        if index in gone or noun is None or order:
            continue
        slot = (predicate.verb, f"prep {caption.lower_at(index)}")
        if not arguments.take_thing(slot, caption.tokens[noun].lemma):
            return False  # "smiled in pain"
    return True


def parsed_alike(source: Caption, result: Caption) -> bool:
    """Return whether the words that two texts share have the same tags and relations in both.

    A span of other words must depend on the same word, in the same relation, as the span that it replaces.
    """
    if disagreement(result):
        return False
    pairs = dict(_shared(source, result))
    back = {new: old for old, new in pairs.items()}
    own_span, back_span = _spans(len(source.tokens), pairs), _spans(len(result.tokens), back)
    for old, new in pairs.items():
        old_token, new_token = source.tokens[old], result.tokens[new]
        if (old_token.tag, old_token.arc) != (new_token.tag, new_token.arc):
            return False
        if pairs.get(old_token.head) != (new_token.head if new_token.head in back else None):
            return False
        if old_token.head not in pairs and own_span[old_token.head] != back_span[new_token.head]:
            return False
    return _links(source, pairs, own_span) == {
        (span, back.get(head, -1), arc) for span, head, arc in _links(result, back, back_span)
    }


def _shared(source: Caption, result: Caption) -> Iterator[tuple[int, int]]:
    """Yield the positions of the words that two texts share, in order."""
    source_words, result_words = ([token.lower for token in caption.tokens] for caption in (source, result))
    for first, second, size in SequenceMatcher(None, source_words, result_words, autojunk=False).get_matching_blocks():
        yield from ((first + n, second + n) for n in range(size))


def _spans(length: int, pairs: Mapping[int, int]) -> list[int]:
    """Return, for each position, how many shared words precede it."""
    spans, count = [], 0
    for index in range(length):
        spans.append(count)
        count += index in pairs
    return spans


def _links(caption: Caption, shared: Mapping[int, int], spans: Sequence[int]) -> set[tuple[int, int, str]]:
    """Return the relations of replaced spans with words outside them: the span, the head and the relation."""
    return {
        (spans[index], token.head if token.head != index else -1, token.arc)
        for index, token in enumerate(caption.tokens)
        if index not in shared and (token.head in shared or token.head == index)
    }
