"""Rewrite one clause of a caption and keep the rest of the sentence: negation, voice, tense, who does it to whom."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from .clauses import BE, DO, GET, HAVE, Clause, NounPhrase, clauses, read_noun_phrase
from .inflection import inflect, is_verb_form, verb_lemma
from .lexicon import words
from .words import Caption, Token, like, without_capital

OBJECTIVE = {"i": "me", "he": "him", "she": "her", "we": "us", "they": "them", "who": "whom"}
SUBJECTIVE = {"me": "I", "him": "he", "her": "she", "us": "we", "them": "they", "whom": "who"}
FULL = {"'s": "is", "'re": "are", "'m": "am", "'ve": "have", "ca": "can", "wo": "will", "'d": "would", "'ll": "will"}
FULL |= {"isn": "is", "aren": "are", "wasn": "was", "weren": "were", "don": "do", "doesn": "does", "didn": "did"}
FULL |= {"hasn": "has", "haven": "have", "hadn": "had", "couldn": "could", "wouldn": "would", "shouldn": "should"}
PAST_MODALS = {
    "cannot": "could not",
    "can": "could",
    "ca": "could",
    "will": "would",
    "wo": "would",
    "'ll": "would",
    "may": "might",
}
POSITIVE = {"nobody": "somebody", "nothing": "something", "nowhere": "somewhere", "none": "some", "no": "some"}
POSITIVE |= {"no-one": "someone", "neither": ""}  # "" has no positive of one word
PRESENT_MODALS = {"could": "can", "would": "will", "might": "may"}


def full_form(word: str) -> str:
    """Write a clitic or cut auxiliary in full: "'s" is "is", "wo" of "won't" is "will"."""
    lower = word.lower().replace("’", "'")
    return FULL.get(lower, lower)


def finite_form(lemma: str, past: bool, phrase: NounPhrase | None) -> str:
    """Give the finite form of a verb that agrees with a subject; None is a singular thing."""
    plural, person = (phrase.plural, phrase.person) if phrase else (False, 3)
    if lemma == "be":
        if past:
            return "were" if plural or person == 2 else "was"
        return "are" if plural or person == 2 else "am" if person == 1 else "is"
    if past:
        return inflect(lemma, "VBD")
    return inflect(lemma, "VBZ") if person == 3 and not plural else lemma


# --- negation ---


def is_negated(caption: Caption, clause: Clause) -> bool:
    """Tell whether a clause is negated: "not", "n't", "never", "cannot", "no longer", "nothing", "there is no ..."."""
    verb = clause.verb
    if verb.negation is not None or any(caption.tokens[n].lower == "cannot" for n in verb.auxiliaries):
        return True
    return bool(_negative_words(caption, clause))


def _negative_words(caption: Caption, clause: Clause) -> list[int]:
    """Find what negates a clause without "not": in its subject ("nobody", "no cats"), or right behind its verb."""
    tokens, verb = caption.tokens, clause.verb
    found = [n for n in verb.adverbs if tokens[n].lower in POSITIVE and tokens[n].lower != "no"]
    if clause.subject is not None and clause.subject.first < verb.first:
        first = clause.subject.first
        if _is_negative(tokens, first):
            found.append(first)
    for number in range(verb.first, verb.main + 1):
        if number + 2 <= clause.stop and [t.lower for t in tokens[number + 1 : number + 3]] == ["no", "longer"]:
            return [*found, number + 1]
    before = verb.tokens[0] - 2
    if before >= 0 and [t.lower for t in tokens[before : before + 2]] == ["no", "longer"]:
        return [*found, before]
    after = verb.main + 1
    if after < clause.stop and _is_negative(tokens, after):
        found.append(after)
    return found


def _is_negative(tokens: Sequence[Token], number: int) -> bool:
    return tokens[number].lower in POSITIVE


def negate(caption: Caption, clause: Clause) -> str | None:
    """Negate a clause.

    "is not riding", "does not ride", "cannot ride"; orders "do not add"; participles "not riding"; "not to ride".

    Returns:
        The caption, or None if the clause is negated already.
    """
    if is_negated(caption, clause):
        return None
    verb, tokens = clause.verb, caption.tokens
    if verb.form == "order":
        return caption.edit({}, {verb.tokens[0]: "do not"})
    if verb.form != "finite":
        place = verb.tokens[0] if verb.to is None else verb.to
        return caption.edit({}, {place: "not"})
    first = tokens[verb.first]
    if first.lower == "can":
        return caption.edit({verb.first: "cannot"})
    gets = first.lower in GET and bool(verb.auxiliaries)
    if (verb.auxiliaries or verb.copula) and not gets:
        after = tokens[verb.first + 1] if verb.first + 1 < len(tokens) else None
        some = verb.copula and after is not None and after.tag == "NNS" and tokens[verb.first - 1].tag == "EX"
        return caption.edit({}, {verb.first + 1: "no" if some else "not"})  # "there are no dogs"
    if first.lower in DO and not verb.auxiliaries and verb.lemma == "do" and verb.main + 1 >= clause.stop:
        return caption.edit({}, {verb.main + 1: "not"})
    support = {"VBZ": "does", "VBD": "did"}.get(first.tag, "do")
    article = clause.subject is not None and tokens[clause.subject.first].lower in ("a", "an")
    named = clause.subject is not None and tokens[clause.subject.head].tag == "NNP" and len(clause.subject.heads) == 1
    if (article or named) and clause.subject is not None and not clause.subject.plural and support == "do":
        support = "does"  # "a man explain"
    if support != "did" and is_verb_form(first.lower, "VBD") and not is_verb_form(first.lower, "VB"):
        support = "did"  # "mistook", whatever its tag
    opens = clause.subject is None and verb.adverbs[:1] == (0,)  # perhaps a name: "Jumbo wanted"
    before = [n for n in verb.adverbs if n < verb.main and not opens]
    if gets:
        return caption.edit({verb.first: "get"}, {verb.first: f"{support} not"})
    return caption.edit({verb.main: verb.lemma}, {before[0] if before else verb.main: f"{support} not"})


def remove_negation(caption: Caption, clause: Clause) -> str | None:
    """Remove the negation of a clause: "does not ride" gives "rides".

    Returns:
        The caption, or None if the clause is not negated, is negated twice, or has no positive ("nothing but").
    """
    verb, tokens = clause.verb, caption.tokens
    changes: dict[int, str] = {}
    if not is_negated(caption, clause):
        return None
    for number in verb.auxiliaries:
        if tokens[number].lower == "cannot":
            changes[number] = "can"
    negative = _negative_words(caption, clause)
    if len(negative) + (verb.negation is not None or bool(changes)) != 1:
        return None  # "did not find nothing"
    for number in negative:
        positive = _positive(tokens, number, clause.stop)
        if positive is None:
            return None
        changes |= positive
    if verb.negation is not None:
        changes[verb.negation] = ""
        held = tokens[verb.first]
        if verb.auxiliaries and full_form(held.text) in DO:
            changes[verb.first] = ""
            if verb.form == "finite":
                past = held.lower in ("did", "didn")
                third = full_form(held.text) == "does"
                tag: Literal["VBD", "VBZ", "VB"] = "VBD" if past else "VBZ" if third else "VB"
                changes[verb.main] = inflect(verb.lemma, tag)
        elif tokens[verb.negation].lower in ("n't", "n’t", "t"):
            changes[verb.first] = full_form(held.text)
    return caption.edit(changes)


def _positive(tokens: Sequence[Token], number: int, stop: int) -> dict[int, str] | None:
    """Change a negative word into its positive: "nothing" to "something", "no food" to "some food"."""
    word = tokens[number].lower
    follows = tokens[number + 1] if number + 1 < len(tokens) else None
    rest = {token.lower for token in tokens[number + 1 : min(number + 5, stop)]}
    if not POSITIVE[word] or rest & {"but", "except"} or (follows is not None and follows.lower in ("matter", "way")):
        return None
    if word != "no":
        return {number: like(POSITIVE[word], tokens[number].text)}
    if follows is not None and follows.lower == "longer":
        return {number: "still", number + 1: ""}
    if follows is not None and follows.lower == "one":
        return {number: like("someone", tokens[number].text), number + 1: ""}
    one = follows is not None and follows.tag in ("NN", "JJ") and follows.lower not in words("uncounted") | {"other"}
    noun = next((t for t in tokens[number + 1 :] if not t.tag.startswith("JJ")), None)
    several = noun is None or noun.tag != "NN" or noun.lower in words("uncounted")
    return {number: like("a" if one and not several else "some", tokens[number].text)}


# --- voice ---


def passive_obstacle(caption: Caption, clause: Clause) -> str:
    """Say why a clause has no passive; "" if it has one."""
    verb, tokens = clause.verb, caption.tokens
    if verb.passive:
        return "it is passive already"
    if verb.form == "order":
        return "an order has no passive"
    if clause.object is None or clause.object.first <= verb.main:
        return "no verb with an object"
    if verb.form in ("infinitive", "gerund") or clause.subject is None or clause.role == "relative":
        return "no verb with a subject and an object of its own"
    if clause.subject.stop > verb.tokens[0] and clause.role != "coordinate":
        return "no verb with a subject and an object of its own"
    if clause.role == "modifier" and _held_elsewhere(caption, clause):
        return "no verb with a subject and an object of its own"
    inside = tokens[clause.object.first : clause.object.stop]
    if clause.role == "coordinate" and tokens[clause.object.head].tag == "PRP":
        return "no verb with a subject and an object of its own"
    if verb.lemma in words("no_passive") or tokens[clause.subject.head].tag == "EX":
        return f'"{verb.lemma}" has no passive'
    if any(t.lower.endswith(("self", "selves")) for t in inside) or inside[0].lower == "each":
        return "what is done is done to the doer"
    if clause.object.stop < len(tokens) and tokens[clause.object.stop].tag in ("VB", "VBP"):
        return "the object does something itself"
    return ""


def _held_elsewhere(caption: Caption, clause: Clause) -> bool:
    """Tell whether a participle may belong to a subject further left: "people walk down a street holding signs"."""
    subject = clause.subject
    earlier = [c for c in clauses(caption) if c.finite and subject is not None and c.verb.main < subject.first]
    allowed = words("perception") | {"be", "have"}
    return bool(earlier) and earlier[-1].verb.lemma not in allowed


def to_passive(caption: Caption, clause: Clause) -> str | None:
    """Put a clause into the passive: "a man is riding a horse" gives "a horse is being ridden by a man".

    Tense, aspect, negation, adverbs and particle are kept; the verb agrees with the new subject; the agent is the whole
    old subject, its pronoun in the objective. Verbs that shared the subject get it back: "and waves" becomes "who
    waves". "man riding a horse" gives "a horse being ridden by man".

    Returns:
        The caption, or None where `passive_obstacle` has a reason.
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
    stop = patient.stop
    for number in range(patient.first, patient.stop):
        changes[number] = ""
    phrase = f"by {agent}"
    if clause.second_object is not None:
        stop = clause.second_object.stop
        for number in range(clause.second_object.first, stop):
            changes.setdefault(number, tokens[number].text)
    place = _goal_stop(caption, clause, stop) if verb.lemma in words("placing") else stop
    if place == patient.stop:
        changes[patient.first] = phrase
    else:
        before[place] = phrase
    if not shared:
        _give_back_subject(caption, clause, changes, before)
    return caption.edit(changes, before)


def _passive_group(caption: Caption, clause: Clause) -> str:
    """Write the verb group in the passive, agreeing with the object."""
    verb, tokens = clause.verb, caption.tokens
    past = verb.tense == "past"
    chain = [full_form(tokens[n].text) for n in verb.auxiliaries]
    leader = clauses(caption)[clause.previous] if clause.previous is not None else None
    if not chain and leader is not None and tokens[verb.main].tag == "VBG" and leader.finite:
        chain = [full_form(tokens[n].text) for n in leader.verb.auxiliaries]  # "is sitting and playing"
        past = leader.verb.tense == "past"
    if chain and chain[0] in DO:
        past, chain = chain[0] == "did", []
        new = [finite_form("be", past, clause.object)]
    elif not chain and verb.form == "finite":
        new = [finite_form("be", past, clause.object)]
    elif not chain:
        new = ["being"]
    else:
        first = chain[0]
        if first in BE or first in HAVE:
            first = finite_form("be" if first in BE else "have", past, clause.object)
        form = {"VBG": "being", "VBN": "been"}.get(tokens[verb.main].tag, "be")
        new = [first, *chain[1:], form]
    if verb.negation is not None:
        word = "never" if tokens[verb.negation].lower == "never" else "not"
        new.insert(1 if verb.form == "finite" else 0, word)
    new += [tokens[n].text for n in verb.adverbs]
    new.append(inflect(verb.lemma, "VBN"))
    if verb.particle is not None:
        new.append(tokens[verb.particle].text)
    return " ".join(new).replace("can not", "cannot")


def _in_case(caption: Caption, phrase: NounPhrase, case: dict[str, str]) -> str:
    """Write a noun phrase as it stands inside a sentence, with pronouns, coordinated ones too, in a case."""
    tokens, written = caption.tokens, []
    for number in range(phrase.first, phrase.stop):
        token = tokens[number]
        text = without_capital(token) if number == phrase.first else token.text
        if token.tag in ("PRP", "WP") and (number in phrase.heads):
            text = case.get(token.lower, text)
        gap = caption.text[tokens[number - 1].end : token.start] if number > phrase.first else ""
        written.append(gap + text)
    return "".join(written)


def _pronoun(caption: Caption, phrase: NounPhrase, case: dict[str, str]) -> str:
    """Give the pronoun for a noun phrase: "him", "her", "them", "it"."""
    token = caption.tokens[phrase.head]
    if len(phrase.heads) == 1 and token.tag == "PRP":
        return case.get(token.lower, token.lower)
    word = token.lower
    if phrase.plural:
        found = "they"
    elif word in words("he"):
        found = "he"
    elif word in words("she"):
        found = "she"
    else:
        found = "they" if word in words("people") or token.tag == "NNP" else "it"
    return case.get(found, found)


def _goal_stop(caption: Caption, clause: Clause, stop: int) -> int:
    """Find the end of "on a dog" in "puts a sweater on a dog", behind which the agent stands."""
    tokens = caption.tokens
    if stop + 1 < len(tokens) and tokens[stop].tag in ("IN", "TO", "RP") and tokens[stop].lower in words("goals"):
        phrase = read_noun_phrase(tokens, stop + 1, clause.stop, joined=False)
        if phrase is not None:
            return phrase.stop
    return stop


def _give_back_subject(caption: Caption, clause: Clause, changes: dict[int, str], before: dict[int, str]) -> None:
    """Let verbs that shared the subject have one: "who waves", "and he waves", "adding oil"."""
    tokens, found = caption.tokens, clauses(caption)
    own = next(n for n, other in enumerate(found) if other == clause)
    sharing = next((c for c in found[own + 1 :] if c.role == "coordinate" and _leads(found, c, own)), None)
    if sharing is None or clause.subject is None:
        return
    start = sharing.verb.tokens[0]
    joint = start - 1
    while joint > clause.verb.main and tokens[joint].tag.startswith("RB"):
        joint -= 1
    verb = sharing.verb
    auxiliary = ""
    if verb.form != "finite" and clause.verb.form == "finite":
        auxiliary = " ".join(full_form(tokens[n].text) for n in clause.verb.auxiliaries)
    if tokens[clause.subject.head].tag == "PRP":
        words_before = f"{_in_case(caption, clause.subject, {})} {auxiliary}".strip()
        if tokens[joint].text == ",":
            words_before = f"and {words_before}"
        before[start] = words_before
        return
    if clause.verb.form != "finite":
        changes[joint] = ""
    else:
        who = "who" if _is_person(caption, clause.subject) else "that"
        gap = " " if tokens[joint].text == "," else ""
        changes[joint] = f"{gap}{who} {auxiliary}".rstrip()
    if tokens[joint].tag == "CC" and tokens[joint - 1].text == ",":
        changes[joint - 1] = ""


def _leads(found: Sequence[Clause], clause: Clause, leader: int) -> bool:
    place = clause.previous
    while place is not None and place > leader:
        place = found[place].previous
    return place == leader


def _is_person(caption: Caption, phrase: NounPhrase) -> bool:
    inside = caption.tokens[phrase.first : phrase.stop]
    token = caption.tokens[phrase.head]
    if token.lower in words("quantities"):
        return any(t.lower in words("people") for t in inside)
    return token.lower in words("people") or token.tag == "NNP" or token.lower.endswith(("er", "or", "ist", "ian"))


# --- tense ---


def other_tense(caption: Caption, clause: Clause) -> str | None:
    """Give the finite verb of a clause in the past, or in the present if it is past; None if it has no other."""
    verb, tokens = clause.verb, caption.tokens
    word = tokens[verb.first].lower.replace("’", "'")
    if not clause.finite:
        return None
    if verb.tense == "modal":
        return PAST_MODALS.get(word) or PRESENT_MODALS.get(word)
    lemma = "be" if verb.first == verb.main and verb.copula else verb_lemma(full_form(word))
    if full_form(word) in BE:
        lemma = "be"
    if verb.tense == "present":
        if lemma == "be":
            return "were" if full_form(word) == "are" else "was"
        return inflect(lemma, "VBD")
    if lemma == "be":
        return "are" if word in ("were", "weren") else finite_form("be", False, _singular(clause))
    return finite_form(lemma, False, clause.subject)


def _singular(clause: Clause) -> NounPhrase | None:
    return clause.subject if clause.subject and not clause.subject.plural else None


def change_tense(caption: Caption, chain: Sequence[Clause]) -> str | None:
    """Put clauses from the present into the past, and the other way round.

    The finite verb changes, and with it its whole group: "is riding" gives "was riding", "has eaten" gives "had eaten",
    "will eat" gives "would eat".

    Returns:
        The caption, or None if none of the clauses has another tense.
    """
    changes: dict[int, str] = {}
    tokens = caption.tokens
    for clause in chain:
        new = other_tense(caption, clause)
        verb = clause.verb
        if new is None or new == full_form(tokens[verb.first].text):
            continue
        if tokens[verb.first].text[:1] in "'’":
            new = f" {new}"
        if verb.negation is not None and tokens[verb.negation].lower in ("n't", "n’t") and new == "would":
            new = "would"
        if verb.negation is not None and tokens[verb.negation].lower == "t":
            new = f"{new}n"
        changes[verb.first] = new
    return caption.edit(changes) if changes else None


# --- roles ---
