"""Why a caption is not put into another tense: a word may be a verb that was read as none, or the other way round."""

from __future__ import annotations

from collections.abc import Collection

from .clauses import Clause, clauses
from .inflection import is_verb_form, readings, verb_lemma
from .lexicon import words
from .tense import told_clauses
from .verb_doubts import UNSURE, is_doubtful, is_lost, leaves_order, may_be_verb, runs_on
from .words import Caption

_INTRANSITIVE = words("no_passive") | words("motion")


def tense_obstacle(caption: Caption) -> str:
    """Return why a caption is not put into another tense; "" if it is."""
    tokens = caption.tokens
    told = told_clauses(caption)
    if any(token.lower == "let" and tokens[n + 1].lower in ("'s", "us") for n, token in enumerate(tokens[:-1])):
        return "an order has no past"
    if any(clause.finite and _opens_order(caption, clause) for clause in told):
        return "an order has no past"
    verbs = {number for clause in clauses(caption) for number in clause.verb.tokens}
    if any(may_be_verb(caption, number, verbs) for number in range(len(tokens))):
        return UNSURE
    if not told and any(is_lost(caption, number, verbs) for number in range(len(tokens))):
        return UNSURE
    if any(is_doubtful(caption, clause, len(told)) for clause in told):
        return UNSURE
    if runs_on(caption, told) or leaves_order(caption, told):
        return UNSURE
    return UNSURE if _is_slip(caption, told) else ""


def _opens_order(caption: Caption, clause: Clause) -> bool:
    """Return whether "don't touch it" or "do not" is an order."""
    verb = clause.verb
    return verb.tokens[0] == 0 and bool(verb.auxiliaries) and caption.tokens[0].lower == "do" and clause.subject is None


def _is_slip(caption: Caption, told: Collection[Clause]) -> bool:
    """Return whether a participle without an auxiliary is a past verb, or an order has a verb that was not read."""
    tokens = caption.tokens
    for clause in clauses(caption):
        verb = clause.verb
        if tokens[verb.main].tag == "VBN" and not verb.auxiliaries and verb.lemma in _INTRANSITIVE - {"run", "fall"}:
            return True  # "a person smiled at it and threw"
        bare = tokens[verb.main].tag == "VBN" and verb.tokens[0] == verb.main > 0
        if bare and is_verb_form(tokens[verb.main].lower, "VB") and tokens[verb.main - 1].tag in ("NNS", "PRP"):
            return True  # "the waiters run food"
    if not any(clause.verb.form == "order" for clause in told):
        return False
    orders = {number for clause in told for number in clause.verb.tokens}
    for number, token in enumerate(tokens):
        before = tokens[number - 1] if number else None
        starts = before is None or before.tag == "CC" or before.text in (",", ".") or before.lower == "then"
        starts = starts or number - 1 in orders
        if number in orders or not starts or token.lower not in words("order_verbs") or token.tag in ("VBG", "VBN"):
            continue
        after = tokens[number + 1] if number + 1 < len(tokens) else None
        nouns = token.lower in words("order_nouns")
        known = (
            set(readings(token.lower)) <= {"VERB", "AUX"}
            or (after is not None and after.tag in ("DT", "PRP", "PRP$", "CC", "IN", "NN", "NNS", "CD"))
            or (after is None and before is not None and before.tag == "CC")
        )
        if known and not nouns and verb_lemma(token.lower) == token.lower:
            return True
    return False
