"""Detect and change the tense of clauses without changing the rest of the sentence."""

from __future__ import annotations

from .agreement import OBJECTIVE, finite_form, full_form
from .clauses import Clause, clauses, main_clause
from .closed_classes import BE
from .inflection import inflect, is_verb_form, verb_lemma
from .lexicon import words
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


_BEFORE_INFINITIVES = ("see", "hear", "watch", "feel", "make", "let", "help")
_CUT = {"could": "ca", "would": "wo"}  # before "n't"


def other_tense(caption: Caption, clause: Clause) -> str | None:
    """Return the finite verb of a clause in the past or, if it is past, in the present. Return None if impossible."""
    verb, tokens = clause.verb, caption.tokens
    word = tokens[verb.first].lower
    if not clause.finite:
        return None
    if verb.tense == "modal" and word in _CUT and verb.negation is not None and _is_clitic(caption, verb.negation):
        return _CUT[word]
    if verb.tense == "modal":
        return PAST_MODALS.get(word) or PRESENT_MODALS.get(word)
    lemma = "be" if verb.first == verb.main and verb.copula else verb_lemma(full_form(word))
    if word == "'s" and verb.perfect:
        return "had"  # "it's been raining"
    if full_form(word) in BE:
        lemma = "be"
    if not is_past(caption, clause):
        if lemma == "be":
            return "were" if full_form(word) == "are" else "was"
        return inflect(lemma, "VBD")
    if lemma == "be":
        return "are" if word == "were" else finite_form("be", False, _singular(clause))
    place = verb.tokens[0] - 1
    if place >= 0 and tokens[place].lower in ("they", "we", "you", "i"):
        return lemma  # "after that they begin"
    return finite_form(lemma, False, clause.subject)


def _is_clitic(caption: Caption, number: int) -> bool:
    return caption.tokens[number].lower == "n't"


def _singular(clause: Clause) -> NounPhrase | None:
    return clause.subject if clause.subject and not clause.subject.plural else None


def change_tense(caption: Caption) -> str | None:
    """Put a present-tense caption into the past, or the other way round.

    All clauses in the tense of the main clause change, including subordinate ones, so that tenses do not mix: "is
    riding" becomes "was riding", "has eaten" becomes "had eaten", and "will eat" becomes "would eat". Imperatives
    become statements in the past. Quotations are unchanged.

    Returns:
        The caption, or None if no verb has another tense.
    """
    changes: dict[int, str] = {}
    tokens = caption.tokens
    for clause in _changing(caption):
        verb = clause.verb
        if verb.form == "order":
            new: str | None = inflect(verb.lemma, "VBD")
        else:
            new = other_tense(caption, clause)
        if new is None or new == full_form(tokens[verb.first].lower):
            continue
        if verb.first and tokens[verb.first].start == tokens[verb.first - 1].end:  # "it's", "he'll"
            new = f" {new}"
        changes[verb.first] = new
    return caption.edit(changes) if changes else None


def _changing(caption: Caption) -> list[Clause]:
    told = told_clauses(caption)
    orders = [clause for clause in told if clause.verb.form == "order" and not clause.verb.auxiliaries]
    finite = [clause for clause in told if clause.finite]
    main = main_clause(caption)
    if main is None or main not in finite:
        main = next((clause for clause in finite if clause.verb.tense != "modal"), None)
    past = not orders and main is not None and is_past(caption, main)
    if past:
        return [c for c in finite if is_past(caption, c) or _modal(caption, c) in PRESENT_MODALS]
    return [*orders, *(c for c in finite if not is_past(caption, c) and _modal(caption, c) not in PRESENT_MODALS)]


def _modal(caption: Caption, clause: Clause) -> str:
    return caption.tokens[clause.verb.first].lower if clause.verb.tense == "modal" else ""


def told_clauses(caption: Caption) -> list[Clause]:
    """Return the finite clauses and imperatives outside quotations. In "sees him go", "go" is not finite."""
    found = clauses(caption)
    quoted, told, inside, seen_acting = set(), [], False, False
    for number, token in enumerate(caption.tokens):
        if token.text in ('"', "“", "”"):
            inside = token.text == "“" or (token.text == '"' and not inside)
        elif inside:
            quoted.add(number)
    for number, clause in enumerate(found):
        if not (clause.finite or clause.verb.form == "order") or clause.verb.first in quoted:
            continue
        before = found[number - 1] if number else None
        causes = before is not None and before.verb.lemma in words("perception") | {"let", "make", "help", "have"}
        bare = caption.tokens[clause.verb.first].tag in ("VBP", "VB") and not clause.verb.auxiliaries
        seen = before is not None and before.verb.tense == "past" and before.verb.lemma in _BEFORE_INFINITIVES
        agrees = _agrees(caption, clause) and not seen  # "saw the dogs fall"
        causes = causes and clause.subject is not None and not agrees
        seen_acting = bare and (causes or (seen_acting and clause.subject is None))  # "see peter pan play"
        if not seen_acting:
            told.append(clause)
    return told


def _agrees(caption: Caption, clause: Clause) -> bool:
    """Return whether a base form agrees with its subject, as in "they go" but not in "Peter Pan go"."""
    subject = clause.subject
    if subject is None:
        return False
    objective = caption.tokens[subject.head].lower in OBJECTIVE.values() and caption.tokens[subject.head].tag == "PRP"
    return (subject.plural or subject.person != 3) and not objective


def is_past(caption: Caption, clause: Clause) -> bool:
    """Return whether a clause is in the past. An ambiguous verb such as "put" has the tense of the other verbs."""
    if clause.verb.tense not in ("present", "past") or not _is_open(caption, clause):
        return clause.verb.tense == "past"
    others = [c.verb.tense for c in clauses(caption) if c.finite and not _is_open(caption, c)]
    if "present" in others or "past" in others:
        return "present" not in others
    return clause.verb.tense == "past"


def _is_open(caption: Caption, clause: Clause) -> bool:
    """Return whether a verb form is both present and past, like "put" but unlike "saw"."""
    word = caption.tokens[clause.verb.first].lower
    return not clause.verb.auxiliaries and verb_lemma(word) == word and is_verb_form(word, "VBD")
