"""Rewrite a text with two entities swapped, adapting names, possessives, capitals, pronouns and verbs."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import replace

from ..language.cast import Cast
from ..language.closed_classes import FINITE, SUBORDINATORS
from ..language.inflection import is_verb_form, verb_lemma
from ..language.verbs import be, full_form, present
from ..language.words import Caption, name_pattern, without_capital
from .cast import confusion_table
from .entities import Entity, acts, entity_of, is_named, mentions, owns

_PRONOUNS = {
    "female": {"PRP$": "her", "subject": "she", "object": "her", "self": "herself"},
    "male": {"PRP$": "his", "subject": "he", "object": "him", "self": "himself"},
    "plural": {"PRP$": "their", "subject": "they", "object": "them", "self": "themselves"},
}
_FORMS = {(form, word): gender for gender, table in _PRONOUNS.items() for form, word in table.items()}
_GENDER_OF = {word: gender for (_, word), gender in _FORMS.items()}


def exchanged(caption: Caption, cast: Cast, agent: Entity, patient: Entity, found: Sequence[Entity]) -> str:
    """Swap two entities in every mention."""
    tokens = caption.tokens
    changes: dict[int, str] = {}
    keys, written_once = (agent.key, patient.key), set[tuple[str, ...]]()
    for entity in mentions(found, keys):
        other = patient if entity.key == agent.key else agent
        written = _in_place(caption, cast, _moved(caption, other, found, other.key in written_once), entity, other)
        written_once.add(other.key)
        for number in range(entity.first + 1, entity.stop):
            changes[number] = ""
        changes[entity.first] = written
        if owns(tokens, entity):
            mark = tokens[entity.stop].text[0]
            ends = written.lower().endswith("s")
            plain = tokens[entity.stop].text in ("'", "’")
            if ends != plain:
                changes[entity.stop] = mark if ends else f"{mark}s"
        relative = any(entity.stop in caption.subtree(n)[:1] for n in caption.children(entity.head, "relcl"))
        that = relative and tokens[entity.stop].lower == "that"
        if that and is_named(tokens, other) and not is_named(tokens, entity):
            changes[entity.stop] = "who"  # "the fish that Tom held": "that" cannot follow a name
    changes |= _pronouns(caption, agent, patient, changes)
    changes |= _agreements(caption, agent, patient, found, changes)
    return caption.edit(changes)


def _moved(caption: Caption, entity: Entity, found: Sequence[Entity], again: bool) -> str:
    """Return the words of an entity's first mention as written inside a sentence, with "the" for "a" if `again`."""
    tokens = caption.tokens
    entity = next(e for e in found if e.key == entity.key)
    first = tokens[entity.first]
    if again and first.lower in ("a", "an") and entity.stop > entity.first + 1:
        counted = tokens[entity.first + 1].lower in ("lot", "number", "couple", "dozen", "pair", "bunch")
        start = tokens[entity.first + 2] if counted and entity.stop > entity.first + 3 else first  # "the cats"
        return "the" + caption.text[start.end : tokens[entity.stop - 1].end]
    named = first.tag not in ("DT", "JJ", "PRP$", "NN", "NNS", "CD")
    return (first.text if named else without_capital(first)) + caption.text[first.end : tokens[entity.stop - 1].end]


def _in_place(caption: Caption, cast: Cast, written: str, entity: Entity, other: Entity) -> str:
    """Return a name with the capitals for its new position: as in the cast, or none if the text has none."""
    tokens = caption.tokens
    place = tokens[entity.first]
    named = is_named(tokens, other)
    if place.text[:1].islower() and (entity.first == 0 or (not tokens[0].text[:1].isupper() and named)):
        return written.lower() if entity.first == 0 or is_named(tokens, entity) else written
    pattern = name_pattern(cast.names)
    if not named or pattern is None:
        return written
    as_given = {name.lower(): name for name in cast.names}
    return pattern.sub(lambda match: as_given.get(match[0].lower(), match[0]), written)


def has_one_each(caption: Caption, owners: Iterable[Entity]) -> bool:
    """Return whether an entity owns something of which each owner has only one, as in "Tom's tail"."""
    tokens, parts = caption.tokens, confusion_table()["one_each"]
    owned = [owner.stop for owner in owners if owns(tokens, owner)]
    owned += [n for n, token in enumerate(tokens) if token.tag == "PRP$"]
    return any(token.lower in parts for number in owned for token in tokens[number + 1 : number + 3])


def pronoun_is_open(caption: Caption, agent: Entity, patient: Entity, found: Sequence[Entity]) -> bool:
    """Return whether a pronoun that the swap changes may refer to something other than the two entities."""
    tokens = caption.tokens
    changed = _pronouns(caption, agent, patient, {})
    for one, other in ((agent, patient), (patient, agent)):
        if not one.gender and not is_named(tokens, one) and _loses_it(caption, one, other, found):
            return True
    for number in changed:
        gender = _GENDER_OF[tokens[number].lower]
        inside = set[int]()
        for entity in found:
            if entity.key in (agent.key, patient.key):
                inside |= set(range(entity.first, entity.stop))
            elif entity.first < number and entity.gender in (gender, ""):
                return True
        things = any(tokens[n].tag == "NNS" and n not in inside for n in range(number))
        if gender == "plural" and things:
            return True
    return False


def _loses_it(caption: Caption, one: Entity, other: Entity, found: Sequence[Entity]) -> bool:
    """Return whether "it" would precede its noun or refer to the agent, as in "the shark hit Tom and hurt it"."""
    tokens = caption.tokens
    place = min(entity.first for entity in found if entity.key == other.key)  # where the noun will be
    for number in range(one.first, len(tokens)):
        if tokens[number].lower not in ("it", "its", "itself"):
            continue
        before = tokens[number - 1]
        acted = before.tag[:2] in ("VB", "IN", "TO", "RP") and before.lower not in SUBORDINATORS
        if number < place or (tokens[number].lower != "its" and acted):
            return True
    return False


def _agreements(
    caption: Caption, agent: Entity, patient: Entity, found: Sequence[Entity], changes: Mapping[int, str]
) -> dict[int, str]:
    """Return new forms of the finite verbs that must agree with a new subject, by token index."""
    if agent.plural == patient.plural:
        return {}
    agreed = dict[int, str]()
    for number, token in enumerate(caption.tokens):
        verb = token.head if token.arc in ("aux", "auxpass") else number
        subject = _subject(caption, verb, found)
        if token.tag not in FINITE or token.tag == "MD" or subject is None:
            continue
        entity = entity_of(subject, found)
        pronoun = changes.get(subject, "") if entity is None else ""
        if pronoun in ("they", "he", "she"):
            plural = pronoun == "they"
        elif entity is not None and entity.key in (agent.key, patient.key):
            plural = (patient if entity.key == agent.key else agent).plural
        else:
            continue
        first = subject if entity is None else entity.first
        bare = first and caption.tokens[first - 1].tag.startswith("VB")  # "saw them run"
        word, past = full_form(token.lower), token.tag == "VBD"
        new = (
            be(past, plural)
            if verb_lemma(word) == "be"
            else word
            if past or bare
            else present(verb_lemma(word), plural)
        )
        if new != word:
            agreed[number] = new
    return agreed


def _subject(caption: Caption, verb: int, found: Sequence[Entity]) -> int | None:
    """Return the subject of a verb: for "who" what it stands for, and for a verb behind "and" that of the first one."""
    subject, token = caption.child(verb, "nsubj", "nsubjpass"), caption.tokens[verb]
    if subject is not None:
        return token.head if token.arc == "relcl" and caption.tokens[subject].tag in ("WP", "WDT") else subject
    first = min((verb, *caption.children(verb, "aux", "auxpass")))
    acting = next((entity.head for entity in found if entity.stop == first and acts(caption, entity)), None)
    return _subject(caption, token.head, found) if acting is None and token.arc == "conj" else acting


def _pronouns(caption: Caption, agent: Entity, patient: Entity, taken: Container[int]) -> dict[int, str]:
    """Swap pronouns that can only refer to one of the two entities. "her" refers to the one whose gender is unknown."""
    agent, patient = _with_gender(caption, agent, patient), _with_gender(caption, patient, agent)
    genders = {agent.gender: patient.gender, patient.gender: agent.gender}
    if not agent.gender or not patient.gender or agent.gender == patient.gender:
        if "plural" not in genders or agent.plural == patient.plural:
            return {}
        genders = {agent.gender or "male": patient.gender or "male", patient.gender or "male": agent.gender or "male"}
    changes = dict[int, str]()
    for number, token in enumerate(caption.tokens):
        if token.tag not in ("PRP", "PRP$") or number in taken:
            continue
        made = caption.tokens[number - 1].lemma in ("make", "let") and is_verb_form(caption.lower_at(number + 1), "VB")
        owning = token.tag == "PRP$" and not made  # "made her sneeze"
        form = "PRP$" if owning else "self" if token.lower.endswith(("self", "selves")) else ""
        for name in (form,) if form else ("subject", "object"):
            gender = _FORMS.get((name, token.lower))
            if gender in genders:
                changes[number] = _PRONOUNS[genders[gender]][name]
                break
    return changes


def _with_gender(caption: Caption, one: Entity, other: Entity) -> Entity:
    """Infer the unknown gender of an entity from pronouns that cannot refer to the other one."""
    if one.gender or other.gender not in ("female", "male"):
        return one
    used = {gender for token in caption.tokens if (gender := _GENDER_OF.get(token.lower)) in ("female", "male")}
    left = used - {other.gender}
    return replace(one, gender=left.pop()) if left else one
