"""Put a clause into the passive without changing the rest of the sentence."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

from .agent_place import agent_place
from .agreement import OBJECTIVE, SUBJECTIVE, finite_form, full_form
from .clauses import Clause, clauses
from .closed_classes import BE, DO, HAVE
from .inflection import inflect, is_plural_noun
from .lexicon import words
from .noun_phrases import NounPhrase, is_person
from .passive_obstacles import passive_obstacle
from .shared_subjects import joint_before, repeated_subject, sharing_clause
from .tense import is_past
from .words import Caption, without_capital

_ANIMALS = frozenset(("animal", "bird", "cat", "dog", "horse", "monkey"))


def to_passive(caption: Caption, clause: Clause) -> str | None:
    """Put a clause into the passive: "a man is riding a horse" becomes "a horse is being ridden by a man".

    Tense, aspect, negation, adverbs and particle are kept. The verb agrees with the new subject. The agent is the
    entire former subject, with objective pronouns. Verbs that shared that subject get a pronoun: "and waves" becomes
    "who waves". "man riding a horse" becomes "a horse being ridden by man".

    Returns:
        The caption, or None if `passive_obstacle` returns a reason.
    """
    if passive_obstacle(caption, clause) or clause.object is None or clause.subject is None:
        return None
    verb, tokens = clause.verb, caption.tokens
    subject, patient = clause.subject, clause.object
    changes: dict[int, str] = {}
    before: dict[int, str] = {}
    group = _passive_group(caption, clause)
    new_subject = _in_case(caption, patient, SUBJECTIVE)
    shared = clause.role == "coordinate"
    agent = _pronoun(caption, subject, OBJECTIVE) if shared else _in_case(caption, subject, OBJECTIVE)
    places = [n for n in verb.tokens if n < patient.first or n == verb.particle]
    if places[0] and tokens[places[0]].start == tokens[places[0] - 1].end:
        group = f" {group}"  # "they're watching"
    for number in places:
        changes[number] = ""
    if shared:
        changes[places[0]] = f"{new_subject} {group}"
    else:
        for number in range(subject.first, subject.stop):
            changes[number] = ""
        for number in range(subject.stop, verb.tokens[0]):
            if tokens[number].text == ",":  # "a man, who is tall, picks"
                changes[number] = ""
        changes[subject.first] = new_subject
        changes[places[0]] = group
    for number in range(patient.first, patient.stop):
        changes[number] = ""
    phrase = f"by {agent}"
    if clause.second_object is not None:
        for number in range(clause.second_object.first, clause.second_object.stop):
            changes.setdefault(number, tokens[number].text)
    place = agent_place(caption, clause)
    if place == patient.stop:
        changes[patient.first] = phrase
    else:
        before[place] = phrase
    introduced = _introduction(caption, clause)
    if introduced is not None:
        changes[introduced.verb.first] = finite_form("be", introduced.verb.tense == "past", _agreeing(caption, patient))
    if not shared:
        _give_back_subject(caption, clause, changes, before)
    return caption.edit(changes, before)


def _passive_group(caption: Caption, clause: Clause) -> str:
    verb, tokens = clause.verb, caption.tokens
    past = is_past(caption, clause)
    patient = _agreeing(caption, clause.object) if clause.object is not None else None
    chain = [full_form(tokens[n].lower) for n in verb.auxiliaries]
    leader = clauses(caption)[clause.previous] if clause.previous is not None else None
    if not chain and leader is not None and tokens[verb.main].tag == "VBG" and leader.finite:
        chain = [full_form(tokens[n].lower) for n in leader.verb.auxiliaries]  # "is sitting and playing"
        past = is_past(caption, leader)
    if chain and chain[0] in DO:
        past, chain = chain[0] == "did", []
        new = [finite_form("be", past, patient)]
    elif not chain and verb.form == "finite":
        new = [finite_form("be", past, patient)]
    elif not chain:
        new = ["being"]
    else:
        first = chain[0]
        if first in BE or first in HAVE:
            first = finite_form("be" if first in BE else "have", past, patient)
        form = {"VBG": "being", "VBN": "been"}.get(tokens[verb.main].tag, "be")
        new = [first, *chain[1:], form]
    if verb.negation is not None:
        word = "never" if tokens[verb.negation].lower == "never" else "not"
        new.insert(1 if verb.form == "finite" else 0, word)
    adverbs = [tokens[n].text for n in verb.adverbs]
    place = 1 + (verb.negation is not None) if chain else len(new) - (new[-1] == "being")
    new[place:place] = adverbs  # "is then being held"
    new.append(inflect(verb.lemma, "VBN"))
    if verb.particle is not None:
        new.append(tokens[verb.particle].text)
    return " ".join(new).replace("can not", "cannot")


def _introduction(caption: Caption, clause: Clause) -> Clause | None:
    """Return the clause "there is" before a participle, as its verb must agree with the new subject."""
    tokens = caption.tokens
    for other in clauses(caption):
        if clause.role == "modifier" and other.verb.copula and other.finite and not other.verb.auxiliaries:
            behind = clause.subject is not None and other.verb.main == clause.subject.first - 1
            if behind and tokens[other.verb.main - 1].tag == "EX" and tokens[other.verb.main].lower != "'s":
                return other
    return None


def _agreeing(caption: Caption, phrase: NounPhrase) -> NounPhrase:
    """Return an object with the number it has as a subject, as in "a cup of tea and a book are"."""
    tokens = caption.tokens
    inside = tokens[phrase.first : phrase.stop]
    head, first = tokens[phrase.heads[-1]], tokens[phrase.first]
    joined = any(one.lower == "and" and two.tag in ("DT", "PRP$") for one, two in pairwise(inside)) and not any(
        token.tag.startswith(("VB", "W")) for token in inside
    )
    if first.tag in ("DT", "PRP$") and joined:
        return replace(phrase, plural=True)
    if len(phrase.heads) == 1 and head.tag == "NN" and is_plural_noun(head.lower):
        return replace(phrase, plural=head.lower not in words("singular_s"))  # "stairs", whatever its tag
    if len(phrase.heads) > 1 or not phrase.plural or tokens[phrase.head].tag == "PRP":
        return phrase
    measured = head.lower in words("quantities") and first.lower in ("a", "an", "the") and head.tag == "NN"
    if measured and head.lower not in words("many"):
        return replace(phrase, plural=False)
    numbered = any(token.tag == "CD" for token in inside)
    shaped = head.lower.endswith("s") or head.lower in words("plural_words") or is_plural_noun(head.lower)
    return phrase if shaped or numbered or head.lower in words("quantities") else replace(phrase, plural=False)


def _in_case(caption: Caption, phrase: NounPhrase, case: dict[str, str]) -> str:
    tokens, written = caption.tokens, []
    for number in range(phrase.first, phrase.stop):
        token = tokens[number]
        text = without_capital(token) if number == phrase.first else token.text
        alone = phrase.stop == 1 or tokens[1].tag == "POS"
        if number == 0 and alone and token.tag == "NN" and token.lower not in words("people"):
            text = token.text  # "Lightning was mocking Tom", "Lightning's plan amused Tom"
        if number == 0 and token.lower in words("people"):
            text = token.lower  # "Person" is not a name
        if token.tag in ("PRP", "WP") and (number in phrase.heads):
            text = case.get(token.lower, text)
        gap = caption.text[tokens[number - 1].end : token.start] if number > phrase.first else ""
        written.append(gap + text)
    return "".join(written)


def _pronoun(caption: Caption, phrase: NounPhrase, case: dict[str, str]) -> str:
    """Return the pronoun that replaces a noun phrase, such as "him", "her", "them" or "it"."""
    token = caption.tokens[phrase.head]
    if len(phrase.heads) == 1 and token.tag == "PRP":
        return case.get(token.lower, token.lower)
    word = token.lower
    if phrase.plural or word in ("one", "another", "other"):
        found = "they"
    elif word in words("he"):
        found = "he"
    elif word in words("she"):
        found = "she"
    else:
        hers = {"she", "her", "hers"} & {other.lower for other in caption.tokens}
        his = {"he", "him", "his"} & {other.lower for other in caption.tokens}
        if (word in words("people") or hers or token.tag == "NNP") and bool(hers) != bool(his):
            return case.get("she" if hers else "he", "")  # "wipes her hands"
        if token.tag == "NNP" and word not in words("people"):
            return _in_case(caption, phrase, case)  # "and the rake was caused by Tom to hit him"
        found = "they" if is_person(caption, phrase) and word not in _ANIMALS else "it"
    return case.get(found, found)


def _give_back_subject(caption: Caption, clause: Clause, changes: dict[int, str], before: dict[int, str]) -> None:
    """Restore the subject of verbs that shared it, as in "who waves", "and he waves" and "adding oil"."""
    tokens = caption.tokens
    sharing = sharing_clause(caption, clause)
    if sharing is None or clause.subject is None:
        return
    start = sharing.verb.tokens[0]
    joint = joint_before(caption, sharing, clause.verb.main)
    auxiliary = ""
    if sharing.verb.form != "finite" and clause.verb.form == "finite":
        auxiliary = " ".join(full_form(tokens[n].lower) for n in clause.verb.auxiliaries)
    comma = tokens[joint - 1].text == ","
    if tokens[clause.subject.head].tag == "PRP" or agent_place(caption, clause) < joint - comma:
        subject = f"{repeated_subject(caption, clause.subject)} {auxiliary}".strip()
        before[start] = f"and {subject}" if tokens[joint].text == "," else subject
        return
    if clause.verb.form != "finite":
        changes[joint] = ""
    else:
        who = "who" if is_person(caption, clause.subject) else "that"
        gap = " " if tokens[joint].text == "," else ""
        changes[joint] = f"{gap}{who} {auxiliary}".rstrip()
        if joint + 1 < len(tokens) and tokens[joint].end == tokens[joint + 1].start:
            changes[joint] += " "  # "opens the refrigerator,removes food"
    if tokens[joint].tag == "CC" and comma:
        changes[joint - 1] = ""
        if tokens[joint].start == tokens[joint - 1].end:
            changes[joint] = f" {changes[joint]}"
