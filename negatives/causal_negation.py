"""Negate a statement, or remove its negation, as in "Tom was hitting Jerry" and "Tom was not hitting Jerry"."""

from __future__ import annotations

from collections.abc import Callable

from ..language.clause_negation import POSITIVE, is_negated, negate, remove_negation
from ..language.clauses import Clause, clauses
from ..language.closed_classes import NEGATIONS
from ..language.text_key import text_key
from ..language.words import Caption
from .cast import confusion_table
from .confusion import Confusion, Unconfused
from .stated_clauses import joined_clauses, stated_clause


def negate_statement(caption: Caption, read: Callable[[str], Caption]) -> Confusion | Unconfused:
    """Negate the statement in a text, or remove its negation.

    The main clause is negated together with the clauses coordinated with it. After "because", the next clause counts as
    the main clause. "not trying" and "trying not" differ in meaning, so the negation of a complement keeps its
    position.
    """
    main = stated_clause(caption)
    if main is None or (caption.tokens[0].lower == "to" and "," not in caption.text):
        return _infinitive_negated(caption)
    reason = _double_negation(caption, main)
    if reason:
        return Unconfused("negation", reason)
    found = _negated(caption, main, read)
    if not found or text_key(found) == text_key(caption.text):
        return Unconfused("negation", "no verb that can be negated")
    return Confusion(found, "negation", _ambiguity(caption, main))


def _double_negation(caption: Caption, main: Clause) -> str:
    """Return why a clause with a word such as "nothing" can be neither negated nor made positive."""
    inner = min((c.verb.tokens[0] for c in clauses(caption) if c.verb.main > main.verb.main), default=main.stop)
    behind = caption.tokens[main.verb.main + 1 : min(inner, main.stop)]
    words = [token.lower for token in behind]
    negative = {word for word in POSITIVE if word in words and word != "no"}
    if is_negated(caption, main):
        return "it is negated twice" if remove_negation(caption, main) is None else ""
    return f'it says "{min(negative)}"' if negative else ""


def _negated(caption: Caption, main: Clause, read: Callable[[str], Caption]) -> str | None:
    negative = is_negated(caption, main)
    caption, main = _with_polarity(caption, main, read, negative)
    joined = [clause for clause in joined_clauses(caption, main) if is_negated(caption, clause) == negative]
    turned = remove_negation if negative else negate
    return turned(caption, main, *joined) or turned(caption, main)


def _with_polarity(
    caption: Caption, main: Clause, read: Callable[[str], Caption], negative: bool
) -> tuple[Caption, Clause]:
    """Replace "some" with "any" and drop "finally" before negating a clause, or do the reverse."""
    table = confusion_table()
    changes = {}
    for number in range(main.verb.first, main.stop):
        word = caption.tokens[number].lower
        if number + 1 < len(caption.tokens) and caption.tokens[number + 1].lower == "one":
            continue
        if word in ("without", "before", "if"):
            break  # "without making any noise"
        if negative and word in table["positive"]:
            changes[number] = table["positive"][word]
        elif not negative and word in table["negative"]:
            changes[number] = table["negative"][word]
    if not changes:
        return caption, main
    again = read(caption.edit(changes))
    return again, stated_clause(again) or main


def _infinitive_negated(caption: Caption) -> Confusion | Unconfused:
    words = [token.lower for token in caption.tokens[:2]]
    if words[:1] in (["to"], ["for"]):
        if words[-1] in NEGATIONS:
            return Confusion(caption.edit({1: ""}), "negation")
        return Confusion(caption.edit({}, {0: "not"}), "negation")
    return Unconfused("negation", "no verb that can be negated")


def _ambiguity(caption: Caption, main: Clause) -> str:
    if any(token.lower in NEGATIONS or token.lower in POSITIVE for token in caption.tokens[main.verb.main + 1 :]):
        return "a negated complement"
    behind = [c for c in clauses(caption) if c.finite and c.start and c.verb.main > main.verb.main]
    if any(caption.tokens[c.start - 1].lower in confusion_table()["reasons"] for c in behind):
        return "a reason or time behind it, which may be what is denied"
    return ""
