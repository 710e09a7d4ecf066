"""The time of a finite verb where its form leaves it open: "they put the dishes down and leave"."""

from __future__ import annotations

from .clauses import Clause, clauses
from .inflection import is_verb_form
from .words import Caption


def is_past(caption: Caption, clause: Clause) -> bool:
    """Return whether a clause is in the past; a verb whose past is its base form has the time of the other verbs."""
    if clause.verb.tense not in ("present", "past") or not _is_open(caption, clause):
        return clause.verb.tense == "past"
    others = [c.verb.tense for c in clauses(caption) if c.finite and not _is_open(caption, c)]
    if "present" in others or "past" in others:
        return "present" not in others
    return clause.verb.tense == "past"


def _is_open(caption: Caption, clause: Clause) -> bool:
    """Return whether the form of a verb is both its present and its past: "put"; "he put" is past."""
    word = caption.tokens[clause.verb.first].lower
    return not clause.verb.auxiliaries and is_verb_form(word, "VB") and is_verb_form(word, "VBD")
