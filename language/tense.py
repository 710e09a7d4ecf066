"""Change the tense of a caption without changing the rest of the sentence."""

from __future__ import annotations

from .check import Refused, difference
from .closed_classes import FINITE
from .inflection import inflect, is_verb_form, verb_lemma
from .lexicon import words
from .parse import parse
from .verbs import (
    auxiliaries,
    be,
    finite,
    full_form,
    is_hidden_order,
    is_order,
    is_past,
    is_person,
    is_plural,
    lost_verb,
    own_subject,
    present,
    subject,
    verbs,
)
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
    told = _told(caption)
    hidden = [n for n in range(len(tokens)) if is_hidden_order(caption, n)]
    orders = [*hidden, *(n for n in verbs(caption) if is_order(caption, n))] if caption.style == "imperative" else []
    if lost_verb(caption) is not None or (caption.style == "imperative" and told and not orders):
        raise Refused("not sure what its verbs are")
    partial = all(tokens[n].arc in ("relcl", "advcl") for n in told) and any(
        tokens[n].arc == "acl" for n in verbs(caption)
    )
    if told and partial:
        raise Refused("its main verb has no tense")  # "a girl petting a dog that is sleeping"
    if not told and not orders:
        return _with_relative(caption)
    main = next((n for n in told if tokens[n].arc == "ROOT"), told[0] if told else -1)
    past = not orders and _is_past(caption, main)
    bare = (
        told and main == 1 and tokens[0].tag == "NN" and tokens[1].tag == "VBD" and is_verb_form(tokens[1].lower, "VBN")
    )
    if bare:
        raise Refused("not sure what its verbs are")  # "ship centered in frame"
    changes = {n: inflect(verb_lemma(tokens[n].lower), "VBD") for n in orders}
    for verb in told:
        if _is_past(caption, verb) == past and (first := finite(caption, verb)) is not None:
            changes[first] = _other(caption, verb, first, past)
    changes = {n: new for n, new in changes.items() if new != full_form(tokens[n].lower)}
    if not changes:
        raise Refused("no verb that looks different in another tense")
    for number, new in changes.items():
        attached = number and tokens[number].start == tokens[number - 1].end  # "it's", "he'll"
        changes[number] = f" {new}" if attached else new
    text = caption.edit(changes)
    _check(caption, text, changes, orders, hidden)
    return text


def _told(caption: Caption) -> list[int]:
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
            before[start] = f"{'who' if is_person(caption, doer) else 'that'} {was}"
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
    told = caption.style == "imperative"
    result = parse(f"They {text}" if told else text)
    if lost := difference(
        caption, result, gone=hidden, new=[0, *(n + 1 for n in hidden)] if told else (), renamed=names
    ):
        raise Refused(f'the parser does not read "{lost}" in the other tense')
    words_after = result.tokens[told:]
    if len(words_after) == len(caption.tokens):
        for number, (old, new) in enumerate(zip(caption.tokens, words_after, strict=True)):
            if number in hidden or (number in orders and number not in changes):
                continue  # "mix", "spread"
            past = number in changes
            if not (past and new.tag == "VBN") and (new.tag in FINITE) != (past or old.tag in FINITE):
                raise Refused(f'not sure what "{old.text}" is')
