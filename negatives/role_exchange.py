"""Swap the agent and the patient of a text: "Tom was hitting Jerry" becomes "Jerry was hitting Tom"."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from ..language.cast import Cast
from ..language.check import disagreement
from ..language.inflection import verb_lemma
from ..language.parse import parse
from ..language.text_key import text_key
from ..language.words import Caption
from .cast import confusion_table
from .confusion import Confusion, Unconfused
from .entities import Entity, acts, entities, entity_of, is_named, mentions, owns
from .exchange_wording import exchanged, has_one_each, pronoun_is_open

SUBJECTS = ("nsubj", "nsubjpass")
RELATIVE = ("WDT", "WP", "WP$", "WRB")


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
    for verb, agent in _agents(caption, found):
        patient = next((e for e in found if _is_patient(caption, verb, agent, e)), None)
        if patient is None:
            continue
        reason = _obstacle(caption, verb, agent, patient, found)
        if reason:
            return Unconfused("swap", reason)
        swapped = exchanged(caption, cast, agent, patient, found)
        if text_key(swapped) == text_key(caption.text):
            return Unconfused("swap", "it gives the same words")
        if agent.plural != patient.plural and disagreement(parse(swapped, names=cast.names)):
            return Unconfused("swap", "a verb would not agree with its subject")
        return Confusion(swapped, "swap")
    return Unconfused("swap", "nobody does it to somebody")


def _agents(caption: Caption, found: Sequence[Entity]) -> Iterator[tuple[int, Entity]]:
    """Yield the verbs whose subject is an entity, those of main clauses first."""
    told = [(token.head, n) for n, token in enumerate(caption.tokens) if token.arc in SUBJECTS]
    for verb, subject in sorted(told, key=lambda each: (caption.tokens[each[0]].arc != "ROOT", each[0])):
        if agent := entity_of(subject, found):
            yield verb, agent


def _is_patient(caption: Caption, verb: int, agent: Entity, other: Entity) -> bool:
    tokens, table = caption.tokens, confusion_table()
    if other.first < verb or set(other.key) & set(agent.key):
        return False
    token, before = tokens[other.head], tokens[other.first - 1].lower
    lemma = tokens[token.head].lemma
    if owns(tokens, other):
        return agent.plural == other.plural or token.arc != "attr"
    if token.arc == "attr" or (before == "as" and token.arc == "pobj" and not is_named(tokens, other)):
        return False  # "he is supposed to be a baby", "disguised himself as the cat"
    indefinite, turns = tokens[other.first].lower in ("a", "an"), tokens[verb].lemma in ("turn", "transform")
    if indefinite and (before == "like" or (before == "into" and turns)):
        return False
    if token.arc == "dobj" and lemma == "have" and not is_named(tokens, other):
        return False  # "had a fish in his mouth"
    return not (before == "of" and tokens[other.first - 2].lower in table["images"])


def _obstacle(caption: Caption, verb: int, agent: Entity, patient: Entity, found: Sequence[Entity]) -> str:
    """Return why two entities cannot be swapped, or ""."""
    keys = (agent.key, patient.key)
    both = [entity for entity in found if entity.key in keys]
    if any(e.key[0] in side.key and len(e.key) < len(side.key) for side in (agent, patient) for e in found):
        return "somebody is named alone and with others"
    if any(_is_restricted(caption, entity) for entity in both):
        return "a clause behind says who is meant"
    if any(_has_stranger(caption, entity, found) for entity in both):
        return 'it is not certain who is joined by "and" or "or"'
    if _is_symmetric(caption, verb, patient):
        return "both sides do the same"
    if any(_modifies(caption, entity) for entity in both):
        return "somebody's name stands for a thing"
    if any(_is_explained(caption, entity) for entity in both):
        return "a name behind says who is meant"
    if agent.plural != patient.plural and _holds_of_several(caption):
        return "what is said holds of several only"
    if agent.plural != patient.plural and has_one_each(caption, mentions(found, keys)):
        return "one has one of what several have each"
    if pronoun_is_open(caption, agent, patient, found):
        return "a pronoun may stand for somebody else"
    return ""


def _is_restricted(caption: Caption, entity: Entity) -> bool:
    """Return whether a clause without "who" or "that" follows, as in "the fish he had". A name cannot precede one."""
    clauses = caption.children(entity.head, "relcl", "acl")
    bare = [n for n in clauses if not any(caption.tokens[w].tag in RELATIVE for w in caption.subtree(n))]
    return bool(bare) and not is_named(caption.tokens, entity) and any(caption.children(n, *SUBJECTS) for n in bare)


def _has_stranger(caption: Caption, entity: Entity, found: Sequence[Entity]) -> bool:
    """Return whether an entity is joined with something else, as in "Jerry and Lilli" and "the goldfish or canary"."""
    heads = [entity.head, *(part.head for part in entity.parts if entity.plural)]
    links = {n for head in heads for n in caption.children(head, "conj")}
    above = caption.tokens[entity.head]
    if above.arc == "conj" and not acts(caption, entity) and not caption.tokens[above.head].tag.startswith("VB"):
        links.add(above.head)
    apart = {e.head for e in found if e.key == entity.key or acts(caption, e)}
    return bool(links - {*heads, *apart})


def _is_explained(caption: Caption, entity: Entity) -> bool:
    """Return whether an apposition follows an entity, as in "his girlfriend, Toots"."""
    return caption.lower_at(entity.stop) == "," and caption.child(entity.head, "appos") is not None


def _modifies(caption: Caption, entity: Entity) -> bool:
    """Return whether a name modifies a noun, as in "Tom and Jerry cartoons"."""
    token = caption.tokens[entity.head]
    noun = caption.tokens[token.head]
    return token.arc in ("compound", "nmod") and noun.tag == "NNS" and not noun.rival.startswith("VB")


def _holds_of_several(caption: Caption) -> bool:
    """Return whether a word such as "between" or "getting along" requires several entities."""
    named = [token.lower for before, token in pairwise(caption.tokens) if before.tag != "NNS"]
    return bool(confusion_table()["of_several"] & set(named))


def _is_symmetric(caption: Caption, verb: int, patient: Entity) -> bool:
    """Return whether a verb is symmetric, as in "met Jerry" and "played chess with Jerry"."""
    tokens, table = caption.tokens, confusion_table()
    if owns(tokens, patient):
        return False
    inner = caption.child(verb, "xcomp")
    if inner is not None and tokens[verb].lemma in table["phases"]:
        verb = inner
    lemma = verb_lemma(tokens[verb].lower)
    between = [token.lower for token in tokens[verb + 1 : patient.first]]
    if not between:
        return lemma in table["symmetric"]
    if f"{lemma} {' '.join(between)}" in table["symmetric_phrases"]:
        return True
    if lemma in table["states"] and "_".join(between) in table["mutual_states"]:
        return True
    path = [token.tag[:2] for token in tokens[verb + 1 : patient.first - 1]]
    if between[-1] != "with" or ({"VB", "IN", "CC", "TO"} & set(path) and lemma != "be"):
        return False
    shared = len(between) > 1 and between[-2] in table["shared"] and lemma in table["sharing"]
    return lemma in table["symmetric_with"] or shared or between[-2:-1] == ["together"]
