"""Put a caption into another tense, or a clause into the passive, without changing the rest of the sentence."""

from __future__ import annotations

import re
from itertools import pairwise

from .grammar import (
    OBJECTIVE,
    SUBJECTIVE,
    Refused,
    auxiliaries,
    be,
    difference,
    disagreement,
    finite,
    full_form,
    inside_sentence,
    is_hidden_order,
    is_order,
    is_past,
    is_plural,
    leader,
    lost_verb,
    own_subject,
    present,
    subject,
    takes_who,
    verbs,
)
from .lexicon import BE, DO, FINITE, HAVE, inflect, is_verb_form, phrasal_verbs, verb_lemma, words
from .parse import parse
from .words import Caption

PAST_MODALS = {
    "cannot": "could not",
    "can": "could",
    "ca": "could",
    "will": "would",
    "wo": "would",
    "'ll": "would",
    "may": "might",
}
PRESENT_MODALS = {"could": "can", "would": "will", "might": "may"}
_CUT = {"could": "ca", "would": "wo"}  # before "n't"


def change_tense(caption: Caption) -> str:
    """Put a present-tense caption into the past, or the other way round.

    All verbs in the tense of the main verb change, including subordinate ones, so that tenses do not mix: "is riding"
    becomes "was riding", "has eaten" becomes "had eaten", and "will eat" becomes "would eat". Instructions become
    statements in the past. A participle behind its noun becomes a relative clause ("man who was riding a horse").

    Raises:
        Refused: No verb has another tense, or the parser is not sure of the sentence.
    """
    tokens = caption.tokens
    if not verbs(caption):
        raise Refused("no verb")
    finite_verbs = _finite_verbs(caption)
    hidden = [n for n in range(len(tokens)) if is_hidden_order(caption, n)]
    orders = [*hidden, *(n for n in verbs(caption) if is_order(caption, n))] if caption.style == "imperative" else []
    if lost_verb(caption) is not None or (caption.style == "imperative" and finite_verbs and not orders):
        raise Refused("not sure what its verbs are")
    partial = all(tokens[n].arc in ("relcl", "advcl") for n in finite_verbs) and any(
        tokens[n].arc == "acl" for n in verbs(caption)
    )
    if finite_verbs and partial:
        raise Refused("its main verb has no tense")  # "a girl petting a dog that is sleeping"
    if not finite_verbs and not orders:
        return _with_relative(caption)
    main = next((n for n in finite_verbs if tokens[n].arc == "ROOT"), finite_verbs[0] if finite_verbs else -1)
    past = not orders and _is_past(caption, main)
    bare = (
        finite_verbs
        and main == 1
        and tokens[0].tag == "NN"
        and tokens[1].tag == "VBD"
        and is_verb_form(tokens[1].lower, "VBN")
    )
    if bare:
        raise Refused("not sure what its verbs are")  # "ship centered in frame"
    changes = {n: inflect(verb_lemma(tokens[n].lower), "VBD") for n in orders}
    for verb in finite_verbs:
        if _is_past(caption, verb) == past and (first := finite(caption, verb)) is not None:
            changes[first] = _other(caption, verb, first, past)
    changes = {n: new for n, new in changes.items() if new != full_form(tokens[n].lower)}
    if not changes:
        raise Refused("no verb that looks different in another tense")
    for index, new in changes.items():
        attached = index and tokens[index].start == tokens[index - 1].end  # "it's", "he'll"
        changes[index] = f" {new}" if attached else new
    text = caption.edit(changes)
    _check(caption, text, changes, orders, hidden)
    return text


def _finite_verbs(caption: Caption) -> list[int]:
    """Return the finite verbs, with those that the parser takes for adjectives ("is stunned")."""
    tokens = caption.tokens
    helped = {n: tokens[n].head for n in caption.tagged(*FINITE) if tokens[n].arc in ("aux", "auxpass")}
    more = {head for head in helped.values() if not tokens[head].tag.startswith("VB")}
    return sorted(more | {n for n in verbs(caption) if finite(caption, n) is not None})


def _is_past(caption: Caption, verb: int) -> bool:
    first = finite(caption, verb)
    return is_past(caption, verb) or (first is not None and caption.tokens[first].lower in PRESENT_MODALS)


def _other(caption: Caption, verb: int, first: int, past: bool) -> str:
    """Return a finite verb in the past or, if it is past, in the present."""
    token = caption.tokens[first]
    word, doer = full_form(token.lower), subject(caption, verb)
    if token.tag == "MD" or token.lower == "cannot":
        new = PAST_MODALS.get(token.lower) or PRESENT_MODALS.get(token.lower, word)
        return _CUT.get(word, new) if caption.lower_at(first + 1) == "n't" and past else new
    lemma = verb_lemma(word)
    if not past:
        return inflect(lemma, "VBD") if lemma != "be" else "were" if word == "are" else "was"
    if lemma == "be":
        return "are" if word == "were" else "am" if doer is not None and caption.tokens[doer].lower == "i" else "is"
    plural = doer is not None and is_plural(caption, doer)
    return present(lemma, plural, caption.tokens[doer].lower if doer is not None else "")


def _with_relative(caption: Caption) -> str:
    """Put "who was" before the participles of a noun phrase."""
    before: dict[int, str] = {}
    tokens, doers = caption.tokens, set[int]()
    for verb in verbs(caption):
        doer, head = own_subject(caption, verb), tokens[verb].head
        if doer is None and tokens[verb].arc == "acl" and tokens[head].arc in ("ROOT", "conj"):
            doer = head
        if doer is not None and tokens[verb].tag in ("VBG", "VBN") and caption.child(verb, "mark") is None:
            group = (*auxiliaries(caption, verb), *caption.children(verb, "advmod", "neg"), verb)
            start = min(n for n in group if n > doer)
            if doer in doers:
                raise Refused("two participles of one noun")
            doers.add(doer)
            counted = tokens[doer].lower in words("quantities") and is_plural(caption, start - 1)  # "a group of men"
            top = tokens[doer].head if tokens[doer].arc == "conj" else doer  # "a dog and a child running"
            was = be(True, counted or is_plural(caption, top))
            before[start] = f"{'who' if takes_who(caption, doer) else 'that'} {was}"
    if not before:
        raise Refused("no verb with a tense")
    return caption.edit({}, before)


def _check(caption: Caption, text: str, changes: dict[int, str], orders: list[int], hidden: list[int]) -> None:
    """Raise Refused if the parser finds another verb in the result that should have changed."""
    names = {
        caption.tokens[n].lemma: verb_lemma(new.strip())
        for n, new in changes.items()
        if caption.tokens[n].arc[:3] != "aux"
    }
    is_order = caption.style == "imperative"
    result = parse(f"They {text}" if is_order else text)
    if lost := difference(
        caption, result, gone=hidden, new=[0, *(n + 1 for n in hidden)] if is_order else (), renamed=names
    ):
        raise Refused(f'the parser does not read "{lost}" in the other tense')
    words_after = result.tokens[is_order:]
    if len(words_after) == len(caption.tokens):
        for index, (old, new) in enumerate(zip(caption.tokens, words_after, strict=True)):
            if index in hidden or (index in orders and index not in changes):
                continue  # "mix", "spread"
            past = index in changes
            if not (past and new.tag == "VBN") and (new.tag in FINITE) != (past or old.tag in FINITE):
                raise Refused(f'not sure what "{old.text}" is')


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
    new_subject = new_subject or inside_sentence(caption, thing)
    by = OBJECTIVE.get(tokens[doer].lower) if len(agent) == 1 else ""
    by = by or inside_sentence(caption, agent)
    particles = _particles(caption, verb, thing)
    changes = dict.fromkeys((*range(agent[0], verb + 1), *particles, *thing), "")
    changes[agent[0]] = f"{new_subject} {_group(caption, verb, patient, agent[-1] + 1, particles)}"
    agent_start = _agent_place(caption, verb, doer, thing)
    joint, again = _shared(caption, verb, doer, agent_start)
    if again:
        changes[joint] = again
    behind = tokens[agent_start:]
    moved = bool(behind) and behind[0].tag == "IN" and behind[0].head in (verb, patient)
    if moved and any(tokens[n].arc in ("prep", "acl", "relcl") for n in agent):
        raise Refused(SUBJECT)  # "by a woman with long hair from her cheek"
    if any(before.tag == "CC" and is_verb_form(other.text, "VBG") for before, other in pairwise(behind)) and not again:
        raise Refused("verbs joined to it need its subject")  # "holding a mic and singing"
    text = caption.edit(changes, {agent_start: f"by {by}{',' * again.startswith('wh')}"})
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
    is_active = finite(caption, verb) is not None or (
        tokens[verb].tag == "VBG" and tokens[verb].arc in ("ROOT", "acl", "ccomp")
    )
    if tokens[verb].arc == "relcl":
        raise Refused(SUBJECT)  # "the products he uses to clean"
    if tokens[verb].arc == "ccomp" and doer is not None and not takes_who(caption, doer):
        raise Refused(SUBJECT)  # "opens the closet takes stuff out"
    if (
        doer is None
        or not is_active
        or not tokens[doer].tag.startswith(_NOUNS)
        or tokens[doer].lower in ("a", "an", "the")
    ):
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
    active = takes_who(caption, patient) and caption.tag_at(thing[-1] + 1) == "VBG"
    compound = caption.child(patient, "compound") is not None and is_verb_form(noun, "VB")
    if active or (compound and lemma in words("perception")):
        raise Refused("the object does something itself")  # "spots a boy running", "sees George crash"
    if noun in words("parts_to") and any(tokens[n].lower == "to" for n in caption.children(verb, "prep", "dative")):
        raise Refused(OBJECT)  # "closes the lid to the laptop"
    fed = lemma in words("giving") and any(takes_who(caption, n) for n in caption.children(patient, "compound"))
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
    agent = tuple(n for n in caption.subtree(doer) if n not in below)
    kept = {*agent, *auxiliaries(caption, verb), *caption.children(verb, "advmod", "neg")}
    strange = caption.tag_at(agent[0] - 1).startswith("NN") and tokens[agent[0] - 1].head == verb
    strange = strange or caption.tag_at(agent[-1]) in ("JJ", "DT", "IN")  # "a man with a very sweaty"
    strange = strange or (agent == (0,) and is_verb_form(tokens[0].lower, "VBZ"))  # "Walks to the counter sets …"
    strange = strange or (len(agent) > 1 and tokens[agent[0]].tag == "PRP")  # "they all"
    if strange or not caption.is_span(agent) or agent[-1] > verb or not kept.issuperset(range(agent[0], verb)):
        raise Refused(SUBJECT)  # "person they close the door"
    return agent


def _thing(caption: Caption, patient: int) -> tuple[int, ...]:
    """Return the tokens of an object without the place behind it, as in "rides a horse near a river"."""
    tokens, tokens_of_object = caption.tokens, caption.subtree(patient)
    behind = [n for n in caption.children(patient) if n > patient]
    places = [n for n in behind if tokens[n].arc == "prep" and tokens[n].lower in _PLACES]
    dressed = takes_who(caption, patient) and any(tokens[n].lower == "in" for n in places)  # "a child in pink"
    if places and (dressed or any(tokens[n].lower == "of" for n in behind)):
        raise Refused(OBJECT)  # "the flag of the boy in the red shirt"
    tokens_of_object = tuple(n for n in tokens_of_object if not places or n < places[0])
    while tokens[tokens_of_object[-1]].text in ",.;:":
        tokens_of_object = tokens_of_object[:-1]
    plain = all(
        tokens[n].lower == "of" or tokens[n].arc in ("cc", "conj", "punct", "case") for n in {*behind} - {*places}
    )
    doing = any(
        tokens[n].arc == "conj" and tokens[n].lower.endswith("ing") for n in behind
    )  # "holds a leaf and talking"
    inner = any(
        tokens[n].arc == "prep" and tokens[n].lower in _PLACES for n in tokens_of_object
    )  # "a piece of bread in the bag"
    if doing or inner or not plain or not caption.is_span(tokens_of_object):
        raise Refused(OBJECT)  # "uses a rod for the knife"
    return tokens_of_object


def _particles(caption: Caption, verb: int, thing: tuple[int, ...]) -> tuple[int, ...]:
    """Return what stands between a verb and its object and belongs to the verb, or is a particle behind the object."""
    particles = caption.children(verb, "prt")
    if any(n not in (verb + 1, thing[-1] + 1) for n in particles):
        raise Refused(OBJECT)  # "takes the tire behind it off"
    particles = tuple(sorted({*particles, *(n for n in caption.children(verb, "advmod") if verb < n < thing[0])}))
    if {*range(verb + 1, thing[0])} - {*particles}:
        raise Refused(OBJECT)
    return particles


def _group(caption: Caption, verb: int, patient: int, start: int, particles: tuple[int, ...]) -> str:
    """Return the passive of a verb with its auxiliaries, the adverbs among them, and its particle."""
    tokens, helpers, plural = caption.tokens, auxiliaries(caption, verb), is_plural(caption, patient)
    agreed = be(is_past(caption, verb), plural, tokens[patient].lower)
    chain = [agreed] if not helpers and finite(caption, verb) is not None else []
    for index in range(start, verb):
        word = "not" if tokens[index].lower == "n't" else full_form(tokens[index].lower)
        if index in helpers[:1] and (word in BE or word in DO):
            word = agreed
        elif index in helpers[:1] and word in HAVE:
            word = "had" if word == "had" else "have" if plural else "has"
        chain.append(word)
    form = {"VBG": "being", "VBN": "been"}.get(tokens[verb].tag, "be")
    if chain[:1] == [agreed] and form == "be":
        form = ""  # "does not ride"
    participle = inflect(verb_lemma(tokens[verb].lower), "VBN")
    return " ".join(filter(None, [*chain, form, participle, *(tokens[n].text for n in particles)]))


def _agent_place(caption: Caption, verb: int, doer: int, thing: tuple[int, ...]) -> int:
    """Return where the agent stands: behind short phrases that complete the verb, and before clauses."""
    tokens, end = caption.tokens, thing[-1] + 1
    never = ("VB", "W") if tokens[doer].tag == "PRP" else ("VB", "W", "PRP")
    patient = caption.child(verb, "dobj") or verb
    for child in (*caption.children(patient, "prep"), *caption.children(verb, "prt", "prep", "acomp", "advmod")):
        below = caption.subtree(child)
        inside = [tokens[n] for n in below]
        if below[0] != end or len(below) > _LIGHT or any(t.tag.startswith(never) or t.text == "," for t in inside):
            continue
        end = below[-1] + 1
    if end < len(tokens) and tokens[end].tag.startswith(("DT", "NN", "PRP", "JJ", "CD", "EX")):
        raise Refused(OBJECT)
    return end


def _shared(caption: Caption, verb: int, doer: int, end: int) -> tuple[int, str]:
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
    is_told = agrees and later[0] != verb and finite(caption, verb) is not None and finite(caption, later[0]) == start
    if is_told and tokens[joint].lower == "and" and subject(caption, later[0]) == doer:
        if tokens[doer].tag == "PRP":
            return joint, f"and {tokens[doer].lower}"
        if end == joint:
            return joint, "who" if takes_who(caption, doer) else "which"
    raise Refused("verbs joined to it need its subject")


def _shares(caption: Caption, other: int, verb: int) -> bool:
    before = leader(caption, other)
    return before is not None and (before == verb or subject(caption, before) is not None)
