"""Exchange the agent of a text with its patient: "Tom was hitting Jerry" gives "Jerry was hitting Tom"."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from ..language.agreement import finite_form, full_form
from ..language.cast import Cast
from ..language.clauses import Clause, clauses, main_clause
from ..language.closed_classes import FINITE, SUBORDINATORS
from ..language.inflection import verb_lemma
from ..language.objects import COPULAS
from ..language.words import Caption, Token, with_capital, without_capital
from .cast import confusion_table
from .confusion import Confusion, Unconfused
from .entities import Entity, entities, entity_of, is_joined, is_named, mentions, owns, single_entities
from .mining import text_key

_TELLING = frozenset(("tell", "show", "think", "inform", "remind", "convince", "trick", "warn", "teach", "promise"))
_PRONOUNS = {
    "female": {"PRP$": "her", "subject": "she", "object": "her", "self": "herself"},
    "male": {"PRP$": "his", "subject": "he", "object": "him", "self": "himself"},
    "plural": {"PRP$": "their", "subject": "they", "object": "them", "self": "themselves"},
}


def exchange_roles(caption: Caption, cast: Cast) -> Confusion | Unconfused:
    """Exchange the agent with the patient: every mention of the one becomes the other.

    The agent is the subject of the main clause if somebody is; else that of the first clause that has one. The
    patient is the first other person behind the agent's verb, "by" phrases included. Words joined by "and" go
    together. Pronouns follow where the genders are known and differ, and verbs agree with their new subject.
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
        if agent.plural != patient.plural and {"both", "between", "among", "amongst"} & set(words.split()):
            return Unconfused("swap", "what is said holds of several only")
        if _with_stranger(caption, agent, found) or _with_stranger(caption, patient, found):
            return Unconfused("swap", 'it is not certain who is joined by "and"')
        if _is_symmetric(caption, clause, patient):
            return Unconfused("swap", "both sides do the same")
        swapped = _exchanged(caption, agent, patient, found)
        if text_key(swapped) == text_key(caption.text):
            return Unconfused("swap", "it gives the same words")
        return Confusion(swapped, "swap")
    return Unconfused("swap", "nobody does it to somebody")


def _is_patient(caption: Caption, clause: Clause, agent: Entity, other: Entity) -> bool:
    """Return whether something is done by the agent that has to do with another one: not what he is or is like."""
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
    """Return whether "and" joins a name that is not of the cast: "Jerry and Lilli"."""
    tokens, after = caption.tokens, entity.stop + 1
    if after >= len(tokens) or tokens[entity.stop].lower != "and" or any(e.first == after for e in found):
        return False
    return tokens[after].tag == "NNP" and tokens[after].text[:1].isupper()


def _is_restricted(caption: Caption, entity: Entity) -> bool:
    """Return whether a clause without "that" stands behind a noun: "the fish he had", which no name can have."""
    tokens, after = caption.tokens, entity.stop
    if not entity.first or after + 1 >= len(tokens) or tokens[entity.first].tag not in ("DT", "PRP$"):
        return False
    before = tokens[entity.first - 1]
    subject = tokens[after].tag == "NNP" or tokens[after].lower in ("he", "she", "they", "it")
    object_of = before.tag in ("VB", "VBD", "VBG", "VBN", "IN") and verb_lemma(before.text) not in _TELLING
    return subject and object_of and before.lower not in SUBORDINATORS and tokens[after + 1].tag in FINITE


def _is_symmetric(caption: Caption, clause: Clause, patient: Entity) -> bool:
    """Return whether a verb says the same of both sides: "met Jerry", "played chess with Jerry"."""
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


def _exchanged(caption: Caption, agent: Entity, patient: Entity, found: Sequence[Entity]) -> str:
    """Write the text with every mention of the two exchanged."""
    tokens = caption.tokens
    changes: dict[int, str] = {}
    keys, written_once = (agent.key, patient.key), set[tuple[str, ...]]()
    for entity in mentions(found, keys):
        other = patient if entity.key == agent.key else agent
        written = _in_place(caption, _moved(caption, other, found, other.key in written_once), entity, other)
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
        if _is_relative(tokens, entity.stop) and is_named(tokens, other) and not is_named(tokens, entity):
            changes[entity.stop] = "who"  # "the fish that Tom held": no name goes with "that"
    _agree(caption, agent, patient, found, changes)
    _pronouns(caption, agent, patient, changes)
    return caption.edit(changes)


def _is_relative(tokens: Sequence[Token], number: int) -> bool:
    """Return whether "that" opens a relative clause: "the fish that Tom held", not "told him that"."""
    if number + 1 >= len(tokens) or tokens[number].lower != "that" or tokens[number].tag != "WDT":
        return False
    told = any(token.tag.startswith("VB") and verb_lemma(token.text) in _TELLING for token in tokens[:number])
    return not told and tokens[number + 1].tag != "DT"


def _moved(caption: Caption, entity: Entity, found: Sequence[Entity], again: bool) -> str:
    """Write somebody in the words of the first mention, as in the middle of a sentence; a second time with "the"."""
    tokens = caption.tokens
    entity = next(e for e in found if e.key == entity.key)
    first = tokens[entity.first]
    if again and first.lower in ("a", "an") and entity.stop > entity.first + 1:
        counted = tokens[entity.first + 1].lower in ("lot", "number", "couple", "dozen", "pair", "bunch")
        start = tokens[entity.first + 2] if counted and entity.stop > entity.first + 3 else first  # "the cats"
        return "the" + caption.text[start.end : tokens[entity.stop - 1].end]
    named = first.tag not in ("DT", "JJ", "PRP$", "NN", "NNS", "CD")
    return (first.text if named else without_capital(first)) + caption.text[first.end : tokens[entity.stop - 1].end]


def _in_place(caption: Caption, written: str, entity: Entity, other: Entity) -> str:
    """Return a name the capitals of the one whose place it takes, and the beginning of a text those that it had."""
    tokens = caption.tokens
    place = tokens[entity.first]
    if place.text[:1].islower() and (entity.first == 0 or (is_named(tokens, entity) and is_named(tokens, other))):
        return written.lower()
    if place.text[:1].isupper() and is_named(tokens, entity) and is_named(tokens, other) and written.islower():
        return written.title() if "'" not in written else with_capital(written)
    return written


def _agree(caption: Caption, agent: Entity, patient: Entity, found: Sequence[Entity], changes: dict[int, str]) -> None:
    """Make finite verbs agree with who is their subject now."""
    if agent.plural == patient.plural:
        return
    for clause in clauses(caption):
        subject = entity_of(clause.subject, found)
        if subject is None or clause.subject is None or not clause.finite or clause.verb.tense == "modal":
            continue
        if subject.key not in (agent.key, patient.key):
            continue
        other = patient if subject.key == agent.key else agent
        word = full_form(caption.tokens[clause.verb.first].lower)
        past = clause.verb.tense == "past"
        lemma = verb_lemma(word)
        before = caption.tokens[subject.first - 1]
        bare = subject.first and before.tag.startswith("VB")  # "saw them run"
        if lemma != "be" and (past or bare):
            continue
        phrase = replace(clause.subject, plural=other.plural, person=3)
        new = finite_form(lemma, past, phrase)
        if new != word:
            changes[clause.verb.first] = new


def _pronouns(caption: Caption, agent: Entity, patient: Entity, changes: dict[int, str]) -> None:
    """Exchange pronouns that can only mean one of the two."""
    genders = {agent.gender: patient.gender, patient.gender: agent.gender}
    if not agent.gender or not patient.gender or agent.gender == patient.gender:
        if "plural" not in genders:
            return
        genders = {agent.gender or "male": patient.gender or "male", patient.gender or "male": agent.gender or "male"}
    forms = {(form, word): gender for gender, table in _PRONOUNS.items() for form, word in table.items()}
    for number, token in enumerate(caption.tokens):
        if token.tag not in ("PRP", "PRP$") or number in changes:
            continue
        form = "PRP$" if token.tag == "PRP$" else "self" if token.lower.endswith(("self", "selves")) else ""
        for name in (form,) if form else ("subject", "object"):
            gender = forms.get((name, token.lower))
            if gender in genders:
                changes[number] = _PRONOUNS[genders[gender]][name]
                break
