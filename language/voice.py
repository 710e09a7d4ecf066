"""Put a clause into the passive without changing the rest of the sentence."""

from __future__ import annotations

import re
from itertools import pairwise

from .check import Refused, difference, disagreement
from .closed_classes import BE, DO, HAVE
from .inflection import inflect, is_verb_form, verb_lemma
from .lexicon import phrasal_verbs, words
from .parse import parse
from .verbs import (
    OBJECTIVE,
    SUBJECTIVE,
    auxiliaries,
    be,
    finite,
    full_form,
    is_past,
    is_person,
    is_plural,
    leader,
    lost_verb,
    own_subject,
    phrase,
    subject,
    verbs,
)
from .words import Caption

SUBJECT, OBJECT = "not sure what its subject is", "not sure where its object begins or ends"
OWN = "the object is the doer's own"
_NOBODY = words("media") | {"we", "you", "i", "camera", "credits", "text", "title", "titles", "words", "logo"}
_MEANS = ("hand", "foot", "car", "bus", "train", "boat", "bike", "air", "mouth")
_NOUNS = ("NN", "PRP", "DT", "CD")
# Prepositions that mostly say where something is done, not which thing it is.
_PLACES = ("on", "in", "at", "from", "near", "over", "into", "onto", "off", "across", "through", "around", "under")
_LIGHT = 6  # largest number of tokens of a phrase that stands before the agent
_OWN = frozenset(
    ("he", "she", "it", "they", "him", "her", "them", "his", "its", "hers", "their", "theirs", "there", "own")
)


def passive(caption: Caption) -> str:
    """Put the main clause into the passive or, if that is impossible, the first clause that allows it.

    Raises:
        Refused: No clause allows it. The reason is that of the main clause.
    """
    if caption.style == "imperative":
        raise Refused("an order has no passive")
    reasons = []
    for verb in sorted(verbs(caption), key=lambda n: caption.tokens[n].arc != "ROOT"):
        try:
            return to_passive(caption, verb)
        except Refused as refusal:
            reasons.append(str(refusal))
    raise Refused(reasons[0] if reasons else "no verb")


def to_passive(caption: Caption, verb: int) -> str:
    """Put the clause of a verb into the passive: "a man is riding a horse" becomes "a horse is being ridden by a man".

    Tense, aspect, negation, adverbs and particle are kept, and the agent is the entire former subject. "man riding a
    horse" becomes "a horse being ridden by man".

    Raises:
        Refused: It has no passive, or the parser is not sure of the sentence.
    """
    tokens = caption.tokens
    doer, patient = _roles(caption, verb)
    agent, thing = _agent(caption, verb, doer), _thing(caption, patient)
    _check_object(caption, verb, doer, patient, thing)
    new_subject = SUBJECTIVE.get(tokens[patient].lower) if len(thing) == 1 else ""
    new_subject = new_subject or phrase(caption, thing)
    by = OBJECTIVE.get(tokens[doer].lower) if len(agent) == 1 else ""
    by = by or phrase(caption, agent)
    particles = _particles(caption, verb, thing)
    changes = dict.fromkeys((*range(agent[0], verb + 1), *particles, *thing), "")
    changes[agent[0]] = f"{new_subject} {_group(caption, verb, patient, agent[-1] + 1, particles)}"
    place = _agent_place(caption, verb, doer, thing)
    joint, again = _shared(caption, verb, doer, place)
    if again:
        changes[joint] = again
    behind = tokens[place:]
    moved = bool(behind) and behind[0].tag == "IN" and behind[0].head in (verb, patient)
    if moved and any(tokens[n].arc in ("prep", "acl", "relcl") for n in agent):
        raise Refused(SUBJECT)  # "by a woman with long hair from her cheek"
    if any(one.tag == "CC" and is_verb_form(other.text, "VBG") for one, other in pairwise(behind)) and not again:
        raise Refused("verbs joined to it need its subject")  # "holding a mic and singing"
    text = caption.edit(changes, {place: f"by {by}{',' * again.startswith('wh')}"})
    if re.search(r"\b(\w+) \1\b", text):
        raise Refused(OBJECT)  # "is being put on on"
    result = parse(text)
    new = [n for n, token in enumerate(result.tokens) if token.lower == again.split()[-1]][-1:] if again else ()
    if lost := difference(caption, result, new=new) or disagreement(result):
        raise Refused(f'the parser does not read "{lost}" in the passive as in the active')
    return text


def _roles(caption: Caption, verb: int) -> tuple[int, int]:
    """Return the subject and the object of a verb in the active. "man" is the subject in "man riding a horse"."""
    tokens = caption.tokens
    if caption.child(verb, "auxpass") is not None:
        raise Refused("it is passive already")
    patient = caption.child(verb, "dobj")
    if patient is None or patient < verb:
        raise Refused("no verb with an object")
    doer, head = own_subject(caption, verb), tokens[verb].head
    if doer is None and tokens[verb].arc == "acl" and tokens[head].arc == "ROOT":
        doer = head
    told = finite(caption, verb) is not None or (
        tokens[verb].tag == "VBG" and tokens[verb].arc in ("ROOT", "acl", "ccomp")
    )
    if tokens[verb].arc == "relcl":
        raise Refused(SUBJECT)  # "the products he uses to clean"
    if tokens[verb].arc == "ccomp" and doer is not None and not is_person(caption, doer):
        raise Refused(SUBJECT)  # "opens the closet takes stuff out"
    if doer is None or not told or not tokens[doer].tag.startswith(_NOUNS) or tokens[doer].lower in ("a", "an", "the"):
        raise Refused("no verb with a subject and an object of its own")
    if tokens[doer].lower in _MEANS and caption.child(doer, "det", "poss", "amod") is None:
        raise Refused(SUBJECT)  # "by hand"
    if tokens[doer].lower in _NOBODY:
        raise Refused("nobody in the video does it")
    return doer, patient


def _check_object(caption: Caption, verb: int, doer: int, patient: int, thing: tuple[int, ...]) -> None:
    """Raise Refused if a verb has no passive with its object, or if it is not sure what the object is."""
    tokens, lemma, noun = caption.tokens, caption.tokens[verb].lemma, caption.tokens[patient].lower
    if lemma in words("no_passive"):
        raise Refused(f'"{lemma}" has no passive')
    if f"{lemma}_{noun}" in words("idioms"):
        raise Refused(f'"{lemma} {noun}" has no passive')
    inside = {tokens[n].lower for n in thing}
    beside = {*caption.children(verb, "advcl")}
    beside |= {n for link in caption.children(verb, "prep") for n in caption.children(link, "pcomp")}
    if any(tokens[n].tag in ("VBG", "VBN") and own_subject(caption, n) is None for n in beside):
        raise Refused("a clause beside it has the same doer")  # "while smiling"
    if any(word.endswith(("self", "selves")) for word in inside) or inside & {"any", "anything", "anyone"}:
        raise Refused("what is done is done to the doer")
    if any(tokens[n].lower == "each" for n in caption.subtree(verb)):
        raise Refused("what is done is done to the doer")  # "at each other"
    if inside & _OWN and not (len(inside) == 1 and tokens[doer].tag == "PRP"):
        raise Refused(OWN)
    active = is_person(caption, patient) and caption.tag_at(thing[-1] + 1) == "VBG"
    compound = caption.child(patient, "compound") is not None and is_verb_form(noun, "VB")
    if active or (compound and lemma in words("perception")):
        raise Refused("the object does something itself")  # "spots a boy running", "sees George crash"
    if noun in words("parts_to") and any(tokens[n].lower == "to" for n in caption.children(verb, "prep", "dative")):
        raise Refused(OBJECT)  # "closes the lid to the laptop"
    fed = lemma in words("giving") and any(is_person(caption, n) for n in caption.children(patient, "compound"))
    particle = caption.child(verb, "prt")
    climbed = particle is not None and (lemma, tokens[particle].lower) not in phrasal_verbs()
    if fed or climbed or not tokens[patient].tag.startswith(_NOUNS):
        raise Refused(OBJECT)  # "feeds a man food", "climbs up a wall"
    if lost_verb(caption) is not None:
        raise Refused("not sure what its verbs are")


def _agent(caption: Caption, verb: int, doer: int) -> tuple[int, ...]:
    """Return the tokens of a subject."""
    tokens = caption.tokens
    below = caption.subtree(verb) if doer == tokens[verb].head else ()
    found = tuple(n for n in caption.subtree(doer) if n not in below)
    kept = {*found, *auxiliaries(caption, verb), *caption.children(verb, "advmod", "neg")}
    strange = caption.tag_at(found[0] - 1).startswith("NN") and tokens[found[0] - 1].head == verb
    strange = strange or caption.tag_at(found[-1]) in ("JJ", "DT", "IN")  # "a man with a very sweaty"
    strange = strange or (found == (0,) and is_verb_form(tokens[0].lower, "VBZ"))  # "Walks to the counter sets …"
    strange = strange or (len(found) > 1 and tokens[found[0]].tag == "PRP")  # "they all"
    if strange or not caption.is_span(found) or found[-1] > verb or not kept.issuperset(range(found[0], verb)):
        raise Refused(SUBJECT)  # "person they close the door"
    return found


def _thing(caption: Caption, patient: int) -> tuple[int, ...]:
    """Return the tokens of an object without the place behind it, as in "rides a horse near a river"."""
    tokens, found = caption.tokens, caption.subtree(patient)
    behind = [n for n in caption.children(patient) if n > patient]
    places = [n for n in behind if tokens[n].arc == "prep" and tokens[n].lower in _PLACES]
    dressed = is_person(caption, patient) and any(tokens[n].lower == "in" for n in places)  # "a child in pink"
    if places and (dressed or any(tokens[n].lower == "of" for n in behind)):
        raise Refused(OBJECT)  # "the flag of the boy in the red shirt"
    found = tuple(n for n in found if not places or n < places[0])
    while tokens[found[-1]].text in ",.;:":
        found = found[:-1]
    plain = all(
        tokens[n].lower == "of" or tokens[n].arc in ("cc", "conj", "punct", "case") for n in {*behind} - {*places}
    )
    doing = any(
        tokens[n].arc == "conj" and tokens[n].lower.endswith("ing") for n in behind
    )  # "holds a leaf and talking"
    inner = any(tokens[n].arc == "prep" and tokens[n].lower in _PLACES for n in found)  # "a piece of bread in the bag"
    if doing or inner or not plain or not caption.is_span(found):
        raise Refused(OBJECT)  # "uses a rod for the knife"
    return found


def _particles(caption: Caption, verb: int, thing: tuple[int, ...]) -> tuple[int, ...]:
    """Return what stands between a verb and its object and belongs to the verb, or is a particle behind the object."""
    found = caption.children(verb, "prt")
    if any(n not in (verb + 1, thing[-1] + 1) for n in found):
        raise Refused(OBJECT)  # "takes the tire behind it off"
    found = tuple(sorted({*found, *(n for n in caption.children(verb, "advmod") if verb < n < thing[0])}))
    if {*range(verb + 1, thing[0])} - {*found}:
        raise Refused(OBJECT)
    return found


def _group(caption: Caption, verb: int, patient: int, start: int, particles: tuple[int, ...]) -> str:
    """Return the passive of a verb with its auxiliaries, the adverbs among them, and its particle."""
    tokens, helpers, plural = caption.tokens, auxiliaries(caption, verb), is_plural(caption, patient)
    agreed = be(is_past(caption, verb), plural, tokens[patient].lower)
    chain = [agreed] if not helpers and finite(caption, verb) is not None else []
    for number in range(start, verb):
        word = "not" if tokens[number].lower == "n't" else full_form(tokens[number].lower)
        if number in helpers[:1] and (word in BE or word in DO):
            word = agreed
        elif number in helpers[:1] and word in HAVE:
            word = "had" if word == "had" else "have" if plural else "has"
        chain.append(word)
    form = {"VBG": "being", "VBN": "been"}.get(tokens[verb].tag, "be")
    if chain[:1] == [agreed] and form == "be":
        form = ""  # "does not ride"
    participle = inflect(verb_lemma(tokens[verb].lower), "VBN")
    return " ".join(filter(None, [*chain, form, participle, *(tokens[n].text for n in particles)]))


def _agent_place(caption: Caption, verb: int, doer: int, thing: tuple[int, ...]) -> int:
    """Return where the agent stands: behind short phrases that complete the verb, and before clauses."""
    tokens, place = caption.tokens, thing[-1] + 1
    never = ("VB", "W") if tokens[doer].tag == "PRP" else ("VB", "W", "PRP")
    patient = caption.child(verb, "dobj") or verb
    for child in (*caption.children(patient, "prep"), *caption.children(verb, "prt", "prep", "acomp", "advmod")):
        below = caption.subtree(child)
        inside = [tokens[n] for n in below]
        if below[0] != place or len(below) > _LIGHT or any(t.tag.startswith(never) or t.text == "," for t in inside):
            continue
        place = below[-1] + 1
    if place < len(tokens) and tokens[place].tag.startswith(("DT", "NN", "PRP", "JJ", "CD", "EX")):
        raise Refused(OBJECT)
    return place


def _shared(caption: Caption, verb: int, doer: int, place: int) -> tuple[int, str]:
    """Return an "and" and what stands for it if a later verb shares the subject: "and he waves" or ", who waves"."""
    tokens = caption.tokens
    later = [n for n in verbs(caption) if n >= verb and _shares(caption, n, verb)]
    if not later:
        return -1, ""
    start = min((later[0], *auxiliaries(caption, later[0])))
    joint = start - 1
    while tokens[joint].tag == "RB":
        joint -= 1
    agrees = tokens[start].tag not in ("VB", "VBP") or is_plural(caption, doer)
    told = agrees and later[0] != verb and finite(caption, verb) is not None and finite(caption, later[0]) == start
    if told and tokens[joint].lower == "and" and subject(caption, later[0]) == doer:
        if tokens[doer].tag == "PRP":
            return joint, f"and {tokens[doer].lower}"
        if place == joint:
            return joint, "who" if is_person(caption, doer) else "which"
    raise Refused("verbs joined to it need its subject")


def _shares(caption: Caption, other: int, verb: int) -> bool:
    before = leader(caption, other)
    return before is not None and (before == verb or subject(caption, before) is not None)
