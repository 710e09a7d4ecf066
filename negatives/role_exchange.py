"""Swap the agent and the patient of a text: "Tom was hitting Jerry" becomes "Jerry was hitting Tom"."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from ..language.cast import Cast
from ..language.clauses import Clause, clauses, main_clause
from ..language.closed_classes import FINITE, SUBORDINATORS
from ..language.inflection import can_be_verb, verb_lemma
from ..language.objects import COPULAS
from ..language.text_key import text_key
from ..language.words import Caption
from .cast import confusion_table
from .confusion import Confusion, Unconfused
from .entities import Entity, entities, entity_of, is_joined, is_named, mentions, owns, single_entities
from .exchange_wording import TELLING, exchanged, has_one_each, pronoun_is_open


def exchange_roles(caption: Caption, cast: Cast) -> Confusion | Unconfused:
    """Swap agent and patient in every mention.

    The agent is the subject of the main clause if it is an entity, else that of the first clause with such a subject.
    The patient is the next other entity after the agent's verb, including "by" phrases. Coordinated entities are moved
    together. Pronouns are changed if the genders are known and differ, and verbs agree with their new subject.
    """
    found = tuple(entities(caption, cast))
    if len({entity.key for entity in found}) < 2:
        return Unconfused("swap", "nobody to exchange with")
    words = " ".join(token.lower for token in caption.tokens)
    if any(f" {phrase}" in words for phrase in confusion_table()["mutual"]):
        return Unconfused("swap", "both sides do the same")
    if any(is_joined(caption, one, two) is None for one, two in pairwise(single_entities(caption, cast))):
        return Unconfused("swap", 'it is not certain who is joined by "and"')
    main = main_clause(caption)
    ordered = sorted(clauses(caption), key=lambda clause: (clause != main, clause.verb.main))
    for clause in ordered:
        agent = entity_of(clause.subject, found)
        if agent is None:
            continue
        patient = next((e for e in found if _is_patient(caption, clause, agent, e)), None)
        if patient is None:
            continue
        if any(e.key[0] in side.key and len(e.key) < len(side.key) for side in (agent, patient) for e in found):
            return Unconfused("swap", "somebody is named alone and with others")
        if any(_is_restricted(caption, e) for e in found if e.key in (agent.key, patient.key)):
            return Unconfused("swap", "a clause behind says who is meant")
        if agent.plural != patient.plural and _holds_of_several(caption):
            return Unconfused("swap", "what is said holds of several only")
        if _with_stranger(caption, agent, found) or _with_stranger(caption, patient, found):
            return Unconfused("swap", 'it is not certain who is joined by "and"')
        if _is_symmetric(caption, clause, patient):
            return Unconfused("swap", "both sides do the same")
        if any(_is_alternative(caption, e) for e in found if e.key in (agent.key, patient.key)):
            return Unconfused("swap", 'it is not certain who is joined by "or"')
        if any(_modifies(caption, e) for e in found if e.key in (agent.key, patient.key)):
            return Unconfused("swap", "somebody's name stands for a thing")
        if any(_is_explained(caption, e) for e in found if e.key in (agent.key, patient.key)):
            return Unconfused("swap", "a name behind says who is meant")
        if agent.plural != patient.plural and has_one_each(caption, mentions(found, (agent.key, patient.key))):
            return Unconfused("swap", "one has one of what several have each")
        if pronoun_is_open(caption, agent, patient, found):
            return Unconfused("swap", "a pronoun may stand for somebody else")
        swapped = exchanged(caption, cast, agent, patient, found)
        if text_key(swapped) == text_key(caption.text):
            return Unconfused("swap", "it gives the same words")
        return Confusion(swapped, "swap")
    return Unconfused("swap", "nobody does it to somebody")


def _is_patient(caption: Caption, clause: Clause, agent: Entity, other: Entity) -> bool:
    tokens, table = caption.tokens, confusion_table()
    if other.first < clause.verb.main or set(other.key) & set(agent.key):
        return False
    is_one = any(c.verb.lemma in COPULAS and c.verb.main + 1 == other.first for c in clauses(caption))
    if is_one and not (owns(tokens, other) and agent.plural == other.plural):
        return False  # "he is supposed to be a baby"
    before, indefinite = tokens[other.first - 1].lower, tokens[other.first].lower in ("a", "an")
    after = tokens[other.stop] if other.stop < len(tokens) else None
    if before == "as" and not is_named(tokens, other) and (after is None or after.tag not in FINITE):
        return False  # "disguised himself as the cat"
    if indefinite and (before == "like" or (before == "into" and clause.verb.lemma in ("turn", "transform"))):
        return False
    has = clause.verb.lemma == "have" and clause.verb.main + 1 == other.first
    if has and not is_named(tokens, other) and not owns(tokens, other):
        return False  # "had a fish in his mouth"
    return not (before == "of" and tokens[other.first - 2].lower in table["images"])


def _with_stranger(caption: Caption, entity: Entity, found: Sequence[Entity]) -> bool:
    """Return whether "and" joins an entity with a name outside the cast, as in "Jerry and Lilli"."""
    tokens, after = caption.tokens, entity.stop + 1
    if after >= len(tokens) or tokens[entity.stop].lower != "and" or any(e.first == after for e in found):
        return False
    return tokens[after].tag == "NNP" and tokens[after].text[:1].isupper()


def _is_alternative(caption: Caption, entity: Entity) -> bool:
    """Return whether "or" presents an entity as an alternative, as in "the goldfish or canary"."""
    around = [caption.tokens[n].lower for n in (entity.first - 1, entity.stop) if 0 <= n < len(caption.tokens)]
    return bool({"or", "nor"} & set(around))


def _holds_of_several(caption: Caption) -> bool:
    """Return whether a word such as "between" or "getting along" requires several entities."""
    named = [token.lower for before, token in pairwise(caption.tokens) if before.tag != "NNS"]
    return bool(confusion_table()["of_several"] & set(named))


def _is_explained(caption: Caption, entity: Entity) -> bool:
    """Return whether an apposition follows an entity, as in "his girlfriend, Toots"."""
    tokens, after = caption.tokens, entity.stop
    if after + 1 >= len(tokens) or tokens[after].text != "," or tokens[after + 1].tag != "NNP":
        return False
    behind = next((token for token in tokens[after + 1 :] if token.tag != "NNP"), None)
    return behind is None or not behind.is_word


def _modifies(caption: Caption, entity: Entity) -> bool:
    """Return whether a name modifies a noun, as in "Tom and Jerry cartoons"."""
    tokens = caption.tokens
    after = tokens[entity.stop] if entity.stop < len(tokens) else None
    return after is not None and after.tag == "NNS" and is_named(tokens, entity) and not can_be_verb(after.lower)


def _is_restricted(caption: Caption, entity: Entity) -> bool:
    """Return whether a relative clause without "that" follows, as in "the fish he had". A name cannot precede one."""
    tokens, after = caption.tokens, entity.stop
    if after + 1 >= len(tokens) or is_named(tokens, entity):
        return False
    # "the fish Tom" may be a name like "the cat Butch"
    apposed = tokens[after - 1].tag == "NNP" and tokens[after - 2].tag in ("NN", "NNS")
    if apposed and tokens[after].tag in FINITE:
        before = tokens[entity.first - 1]
        joins = before.lower in SUBORDINATORS or before.tag in ("CC", ",")
        return not joins if entity.first else tokens[after + 1].tag in FINITE  # "saw the fish Tom had"
    if tokens[after].tag != "NNP" and tokens[after].lower not in ("he", "she", "they", "it"):
        return False
    behind = next(
        (token for token in tokens[after + 1 :] if token.tag != "NNP" and not token.tag.startswith("RB")), None
    )
    if behind is None or behind.tag not in FINITE:
        return False
    if not entity.first:
        return True  # "The fish Tom saw was"
    before = tokens[entity.first - 1]
    object_of = before.tag in ("VB", "VBD", "VBG", "VBN", "IN") and verb_lemma(before.text) not in TELLING
    return object_of and (before.lower not in SUBORDINATORS or before.lower == "that")


def _is_symmetric(caption: Caption, clause: Clause, patient: Entity) -> bool:
    """Return whether a verb is symmetric, as in "met Jerry" and "played chess with Jerry"."""
    tokens, table = caption.tokens, confusion_table()
    if owns(tokens, patient):
        return False
    verb, lemma = clause.verb.main, clause.verb.lemma
    for number in range(verb + 1, min(verb + 3, patient.first)):
        if lemma in table["phases"] and tokens[number].tag in ("VB", "VBG", "NN"):
            verb, lemma = number, verb_lemma(tokens[number].text)
    between = [token.lower for token in tokens[verb + 1 : patient.first]]
    if any(token.tag.startswith("VB") for token in tokens[verb + 1 : patient.first - 1]) and lemma != "be":
        return False
    if not between:
        return lemma in table["symmetric"]
    if f"{lemma} {' '.join(between)}" in table["symmetric_phrases"]:
        return True
    if lemma in table["states"] and "_".join(between) in table["mutual_states"]:
        return True
    if between[-1] != "with" or len(between) > 5:
        return False
    if any(token.tag in ("IN", "CC", "TO") for token in tokens[verb + 1 : patient.first - 1]) and lemma != "be":
        return False
    shared = len(between) > 1 and between[-2] in table["shared"] and lemma in table["sharing"]
    return lemma in table["symmetric_with"] or shared or between[-2:-1] == ["together"]
