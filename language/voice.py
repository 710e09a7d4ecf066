"""Put a clause into the passive without changing the rest of the sentence."""

from __future__ import annotations

from .check import Refused, difference, disagreement
from .closed_classes import BE, DO, HAVE
from .inflection import inflect, verb_lemma
from .lexicon import words
from .parse import parse
from .verbs import (
    ANIMALS,
    OBJECTIVE,
    SUBJECTIVE,
    auxiliaries,
    be,
    finite,
    followers,
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
SHARED = "verbs joined to it need its subject"
_NOBODY = words("media") | {"we", "you", "i", "camera", "credits", "text", "title", "titles", "words", "logo"}
_NOUNS = ("NN", "PRP", "DT", "CD")
_PUTTING = ("put", "place", "set", "lay", "pour")  # a preposition behind their object says where it is put
_GOALS = ("into", "onto", "toward", "towards", "at", "off", "across", "through")  # so do these behind other verbs
_LIGHT = 6  # largest number of tokens of a phrase that stands before the agent
_PLAIN = 3  # largest number of tokens of a subject to which a pronoun as its object cannot refer
_OWN = frozenset(
    ("he", "she", "it", "they", "him", "her", "them", "his", "its", "hers", "their", "theirs", "there", "own")
)


def to_passive(caption: Caption, verb: int) -> str:
    """Put the clause of a verb into the passive: "a man is riding a horse" becomes "a horse is being ridden by a man".

    Tense, aspect, negation, adverbs and particle are kept, and the agent is the entire former subject. Later verbs that
    shared it get it back: "and waves" becomes "who waves". A verb that shares the subject of an earlier one gets a
    pronoun: "a man sits and plays a guitar" becomes "a man sits and a guitar is played by him". "man riding a horse"
    becomes "a horse being ridden by man".

    Raises:
        Refused: It has no passive, or the parser is not sure of the sentence.
    """
    tokens = caption.tokens
    doer, patient = _roles(caption, verb)
    _check_object(caption, verb, doer, patient)
    agent, thing = _span(caption, doer, SUBJECT), _span(caption, patient, OBJECT)
    if tokens[patient].lower in {tokens[n].lower for n in agent if n != doer}:
        raise Refused(OWN)  # "a man carrying a box puts the box down"
    shared = leader(caption, verb) is not None
    joint = next((n for n in range(verb - 1, -1, -1) if tokens[n].tag == "CC" or not tokens[n].is_word), 0)
    if shared and tokens[joint].tag != "CC":
        raise Refused(SHARED)
    first = min((*auxiliaries(caption, verb), *_adverbs(caption, verb, doer), verb))
    strange = agent[0] and tokens[agent[0] - 1].head == verb and tokens[agent[0] - 1].tag.startswith("NN")
    if not shared and (agent[-1] + 1 < first or strange):
        raise Refused(SUBJECT)  # "person they close the door"
    group = _group(caption, verb, patient, [n for n in range(first, verb) if n > agent[-1]])
    if tokens[first].start == tokens[first - 1].end:
        group = f" {group}"  # "they're watching"
    changes = dict.fromkeys((*range(first, verb + 1), *thing, *_particles(caption, verb)), "")
    word = tokens[patient].lower
    subject_text = SUBJECTIVE.get(word, word) if tokens[patient].tag == "PRP" else phrase(caption, thing)
    if shared:
        changes[first] = f"{subject_text} {group}"
        by = _pronoun(caption, doer)
    else:
        changes |= dict.fromkeys(agent, "") | {agent[0]: subject_text, first: group}
        by = OBJECTIVE.get(tokens[doer].lower, "") if len(agent) == 1 else ""
        by = by or phrase(caption, agent)
    place = _agent_place(caption, verb, thing)
    before = {} if place == thing[-1] + 1 else {place: f"by {by}"}
    if not before:
        changes[thing[0]] = f"by {by}"
    again = (tokens[verb].lemma, by) if shared else _return_subject(caption, verb, place, changes)
    if tokens[verb].arc == "acl" and tokens[doer].arc == "attr":  # "there is"
        there = tokens[doer].head
        changes[there] = be(tokens[there].tag == "VBD", is_plural(caption, patient))
    text = caption.edit(changes, before)
    result = parse(text)
    new = _inserted(result, *again) if again else ()
    if lost := difference(caption, result, new=new) or disagreement(result):
        raise Refused(f'the parser does not read "{lost}" in the passive as in the active')
    return text


def _inserted(result: Caption, lemma: str, word: str) -> tuple[int, ...]:
    """Return where a pronoun was inserted as the subject or agent of a verb."""
    return tuple(
        n
        for n, token in enumerate(result.tokens)
        if token.lower == word
        and lemma in (result.tokens[token.head].lemma, result.tokens[result.tokens[token.head].head].lemma)
    )[-1:]


def passive(caption: Caption) -> str:
    """Put the main clause into the passive or, if that is impossible, the first clause that allows it.

    Raises:
        Refused: No clause allows it. The reason is that of the main clause.
    """
    if caption.style == "imperative":
        raise Refused("an order has no passive")
    found = verbs(caption)
    if not found:
        raise Refused("no verb")
    main = next((n for n in found if caption.tokens[n].arc == "ROOT"), found[0])
    reasons = []
    for verb in (main, *(n for n in found if n != main)):
        try:
            return to_passive(caption, verb)
        except Refused as refusal:
            reasons.append(str(refusal))
    raise Refused(next((reason for reason in reasons if not reason.startswith("no verb")), reasons[0]))


def _noun(caption: Caption, verb: int) -> int | None:
    """Return the noun that a participle describes, if the caption is about it: "(there is) a man riding a horse"."""
    head = caption.tokens[verb].head
    if caption.tokens[verb].arc != "acl" or caption.tokens[verb].tag != "VBG" or auxiliaries(caption, verb):
        return None
    above = caption.tokens[caption.tokens[head].head]
    told = caption.tokens[head].arc == "ROOT" or (caption.tokens[head].arc == "attr" and above.lemma == "be")
    told = told or (above.lower == "of" and caption.tokens[above.head].arc == "ROOT")  # "video of a man riding a horse"
    return head if told and not caption.children(verb, "nsubj", "mark") else None


def _roles(caption: Caption, verb: int) -> tuple[int, int]:
    """Return the subject and the object of a verb in the active."""
    tokens = caption.tokens
    if caption.child(verb, "auxpass") is not None:
        raise Refused("it is passive already")
    things = [n for n in caption.children(verb, "dative", "dobj") if n > verb and tokens[n].tag not in ("IN", "TO")]
    if not things:
        raise Refused("no verb with an object")
    before, noun, doing = leader(caption, verb), _noun(caption, verb), tokens[verb].tag == "VBG"
    doer = subject(caption, verb)
    doer = noun if doer is None else doer
    told = finite(caption, verb) is not None or (doing and doer == noun)
    told = told or (
        doing and (tokens[verb].arc in ("ROOT", "ccomp") or (before is not None and tokens[before].tag == "VBG"))
    )
    if doer is None or not told or not tokens[doer].tag.startswith(_NOUNS) or tokens[doer].lower in ("a", "an", "the"):
        raise Refused("no verb with a subject and an object of its own")
    if tokens[doer].lower in _NOBODY:
        raise Refused("nobody in the video does it")
    return doer, things[0]


def _check_object(caption: Caption, verb: int, doer: int, patient: int) -> None:
    """Raise Refused if a verb has no passive with its object, or if it is not sure what the object is."""
    tokens, lemma, noun = caption.tokens, caption.tokens[verb].lemma, caption.tokens[patient].lower
    if lemma in words("no_passive"):
        raise Refused(f'"{lemma}" has no passive')
    if f"{lemma}_{noun}" in words("idioms") or noun in words("times"):
        raise Refused(f'"{lemma} {noun}" has no passive')
    inside = {tokens[n].lower for n in caption.subtree(patient)}
    if any(word.endswith(("self", "selves")) for word in inside) or inside & {"each", "any", "anything", "anyone"}:
        raise Refused("what is done is done to the doer")
    alone = len(inside) == 1 and leader(caption, verb) is None and len(caption.subtree(doer)) <= _PLAIN
    if not alone and inside & _OWN:
        raise Refused(OWN)
    if any(n > verb for n in caption.children(verb, "ccomp", "oprd")) or _opens_with_participle(caption, verb):
        raise Refused("the object does something itself")
    if noun in words("parts_to") and any(tokens[n].lower == "to" for n in caption.children(verb, "prep", "dative")):
        raise Refused(OBJECT)  # "closes the lid to the laptop"
    between = {*range(verb + 1, min(caption.subtree(patient)))} - {*caption.children(verb, "prt", "advmod", "dative")}
    fed = lemma in words("giving") and any(is_person(caption, n) for n in caption.children(patient, "compound"))
    climbed = lemma in words("motion") and caption.child(verb, "prt") is not None
    if between or fed or climbed or not tokens[patient].tag.startswith(_NOUNS):
        raise Refused(OBJECT)  # "feeds a man food", "climbs up a wall"
    does = any(tokens[n].lemma == "do" for n in auxiliaries(caption, verb)) and not caption.children(verb, "neg")
    given = tokens[patient].arc != "dative" or lemma in words("giving")
    if does or not given:
        raise Refused(OBJECT)  # "does card tricks", "cleans the horses hooves"
    if lost_verb(caption) is not None:
        raise Refused("not sure what its verbs are")


def _opens_with_participle(caption: Caption, verb: int) -> bool:
    doer = subject(caption, verb)
    return any(n < (doer or 0) and own_subject(caption, n) is None for n in caption.children(verb, "advcl"))


def _span(caption: Caption, head: int, doubt: str) -> tuple[int, ...]:
    """Return the tokens of a noun phrase, without an infinitive of purpose behind it."""
    tokens = caption.tokens
    numbers = set(caption.subtree(head))
    put = tokens[tokens[head].head].lemma in _PUTTING
    places = [
        n
        for n in caption.children(head, "prep")
        if (n > head and tokens[n].lower in _GOALS) or (put and tokens[n].lower != "of")
    ]
    if tokens[head].arc == "dobj" and any(tokens[n].lower in ("to", "with") for n in caption.children(head, "prep")):
        raise Refused(OBJECT)  # "connects something to a system"
    if tokens[head].arc == "dobj" and places:
        if put and len(places) > 1:
            raise Refused(OBJECT)
        numbers = {n for n in numbers if n < places[0]}
    for child in caption.children(head, "acl", "relcl", "advcl"):
        purpose = any(tokens[n].tag == "TO" for n in caption.children(child, "aux")) and caption.child(child, "dobj")
        told = tokens[head].arc == "ROOT" or tokens[head].arc == "attr" or child < head
        if (purpose or told) and child > head:
            numbers = {n for n in numbers if n < min(caption.subtree(child))}
    found = tuple(sorted(numbers))
    if len(found) > 1 and tokens[found[0]].tag == "PRP" and tokens[found[1]].tag != "CC":
        raise Refused(doubt)
    if not caption.is_span(found):
        raise Refused(doubt)
    while tokens[found[-1]].text in ",.;:":
        found = found[:-1]
    return found


def _adverbs(caption: Caption, verb: int, doer: int) -> list[int]:
    """Return the adverbs and the negation between the subject and a verb."""
    start = doer if own_subject(caption, verb) is not None else min(auxiliaries(caption, verb), default=verb)
    return [n for n in caption.children(verb, "advmod", "neg") if start < n < verb]


def _particles(caption: Caption, verb: int) -> tuple[int, ...]:
    found = caption.children(verb, "prt")
    behind = caption.subtree(caption.child(verb, "dobj") or verb)[-1] + 1
    if any(n > verb + 1 and n != behind for n in found):
        raise Refused(OBJECT)  # "takes the tire behind it off"
    return found + tuple(n for n in caption.children(verb, "advmod") if n == verb + 1 and n < behind)


def _group(caption: Caption, verb: int, patient: int, inside: list[int]) -> str:
    """Return the passive of a verb with its auxiliaries and the adverbs among them."""
    tokens, helpers = caption.tokens, auxiliaries(caption, verb)
    if set(inside) - {*helpers, *caption.children(verb, "advmod", "neg")}:
        raise Refused(SUBJECT)
    carrier = verb
    if not helpers and (before := leader(caption, verb)) is not None and tokens[verb].tag == "VBG":
        carrier = before  # "is sitting and playing"
    past, plural = is_past(caption, carrier), is_plural(caption, patient)
    agreed = be(past, plural, tokens[patient].lower)
    chain: list[str] = []
    for number in inside:
        word = full_form(tokens[number].lower) if number in helpers else tokens[number].text
        word = "not" if word == "n't" else word
        if number in helpers[:1]:
            if word in BE or word in DO:
                word = agreed
            elif word in HAVE:
                word = "had" if word == "had" else "have" if plural else "has"
        chain.append(word)
    form = {"VBG": "being", "VBN": "been"}.get(
        tokens[verb].tag, "" if helpers and tokens[helpers[0]].lemma == "do" else "be"
    )
    if not helpers:
        if carrier != verb:
            form = "being" if auxiliaries(caption, carrier) else ""
            chain.insert(0, agreed)
        elif finite(caption, verb) is not None:
            chain.insert(0, agreed)
            form = ""
        else:
            late = [word for word in chain if word.endswith("ly")]  # "being slowly ridden", but "still being ridden"
            chain, form = [*(word for word in chain if word not in late), form, *late], ""
    particles = [tokens[n].text for n in _particles(caption, verb)]
    return " ".join(filter(None, [*chain, form, inflect(verb_lemma(tokens[verb].lower), "VBN"), *particles])).replace(
        "can not", "cannot"
    )


def _pronoun(caption: Caption, doer: int) -> str:
    """Return the pronoun for a subject as an object: "him", "her", "them" or "it"."""
    token = caption.tokens[doer]
    if token.tag == "PRP":
        return OBJECTIVE.get(token.lower, token.lower)
    if is_plural(caption, doer):
        return "them"
    if token.lemma in words("he"):
        return "him"
    if token.lemma in words("she"):
        return "her"
    if token.tag.startswith("NNP") or not (is_person(caption, doer) or caption.children(doer, "det", "poss", "nummod")):
        raise Refused(SHARED)
    if token.lemma in ANIMALS:
        return "it"
    if not is_person(caption, doer):
        raise Refused(SHARED)  # "a juggler", "a computer"
    return "them"


def _agent_place(caption: Caption, verb: int, thing: tuple[int, ...]) -> int:
    """Return where the agent stands: behind short phrases that complete the verb, and before clauses."""
    tokens, place = caption.tokens, thing[-1] + 1
    doer = subject(caption, verb)
    never = ("VB", "W") if doer is not None and tokens[doer].tag == "PRP" else ("VB", "W", "PRP")
    for child in caption.children(verb):
        if child <= thing[-1]:
            continue
        below = caption.subtree(child)
        arc, inside = tokens[child].arc, [tokens[n] for n in below]
        fits = (
            arc in ("prt", "prep", "acomp", "advmod", "dobj", "dative") and below[0] == place and caption.is_span(below)
        )
        if not fits or len(below) > _LIGHT or any(t.tag.startswith(never) or t.text == "," for t in inside):
            break
        place = below[-1] + 1
    if place < len(tokens) and tokens[place].tag.startswith(("DT", "NN", "PRP", "JJ", "CD", "EX")):
        raise Refused(OBJECT)
    return place


def _return_subject(caption: Caption, verb: int, place: int, changes: dict[int, str]) -> tuple[str, str] | None:
    """Restore the subject of verbs that shared it, as in "who waves" and "and he waves".

    Returns:
        The lemma of the first of these verbs and its new subject, or None if there is no such verb.
    """
    tokens, later = caption.tokens, followers(caption, verb)
    below = [
        n for n in caption.subtree(verb) if n > verb and n not in later and leader(caption, n) not in (None, *later)
    ]
    if any(finite(caption, n) is not None for n in below):
        raise Refused(SHARED)  # "asks if it hurts and stops"
    if not later:
        return None
    start, doer = later[0], subject(caption, verb)
    joint = next((n for n in range(start - 1, verb, -1) if tokens[n].tag == "CC" or tokens[n].text == ","), -1)
    between = range(joint + 1, min((start, *auxiliaries(caption, start))))
    if (
        joint < 0
        or doer is None
        or tokens[joint].lower not in ("and", ",")
        or any(tokens[n].tag != "RB" for n in between)
    ):
        raise Refused(SHARED)
    helpers = auxiliaries(caption, verb) if tokens[start].tag == "VBG" and not auxiliaries(caption, start) else ()
    if tokens[start].tag == "VB" and auxiliaries(caption, verb):
        raise Refused(SHARED)  # "cannot play the violin and use the recorder"
    comma = tokens[joint].tag == "CC" and tokens[joint - 1].text == ","
    pronoun = tokens[doer].tag == "PRP" or place < joint - comma
    if pronoun:
        again = tokens[doer].lower if tokens[doer].tag == "PRP" else SUBJECTIVE.get(_pronoun(caption, doer), "it")
        if again == "they" and tokens[start].tag == "VBZ":
            raise Refused(SHARED)
        opening = "and" if tokens[joint].tag == "CC" else ", and"
    else:
        again, opening = "who" if is_person(caption, doer) else "that", ""
        if comma:
            changes[joint - 1] = ""
    restored = [full_form(tokens[n].lower) for n in helpers]
    changes[joint] = " ".join(filter(None, [opening, again, *restored]))
    if not pronoun and finite(caption, verb) is None:
        again = changes[joint] = ""
    return tokens[start].lemma, again
