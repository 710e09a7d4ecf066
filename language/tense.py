"""Put clauses into another tense and keep the rest of the sentence."""

from __future__ import annotations

from collections.abc import Sequence

from .agreement import finite_form, full_form
from .clauses import Clause
from .closed_classes import BE
from .inflection import inflect, verb_lemma
from .noun_phrases import NounPhrase
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


def other_tense(caption: Caption, clause: Clause) -> str | None:
    """Return the finite verb of a clause in the past, or in the present if it is past; None if it has no other."""
    verb, tokens = clause.verb, caption.tokens
    word = tokens[verb.first].lower
    if not clause.finite:
        return None
    if verb.tense == "modal":
        return PAST_MODALS.get(word) or PRESENT_MODALS.get(word)
    lemma = "be" if verb.first == verb.main and verb.copula else verb_lemma(full_form(word))
    if word == "'s" and verb.perfect:
        return "had"  # "it's been raining"
    if full_form(word) in BE:
        lemma = "be"
    if verb.tense == "present":
        if lemma == "be":
            return "were" if full_form(word) == "are" else "was"
        return inflect(lemma, "VBD")
    if lemma == "be":
        return "are" if word == "were" else finite_form("be", False, _singular(clause))
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
        if new is None or new == full_form(tokens[verb.first].lower):
            continue
        if verb.first and tokens[verb.first].start == tokens[verb.first - 1].end:  # "it's", "he'll"
            new = f" {new}"
        changes[verb.first] = new
    return caption.edit(changes) if changes else None
