"""Find the statement in an answer: its main clause or the one after "because", with coordinated verbs."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from ..language.clauses import Clause, clauses, main_clause
from ..language.closed_classes import BE, GET, HAVE, RELATIVES
from ..language.inflection import is_verb_form
from ..language.words import Caption, Token
from .cast import confusion_table


def stated_clause(caption: Caption) -> Clause | None:
    """Return the main clause or, if the text starts with "because", the clause after that."""
    found = clauses(caption)
    if caption.tokens and caption.tokens[0].lower == "because":
        opened = next((clause for clause in found if clause.finite), None)
        if opened is not None and opened.role == "subordinate":
            return opened
    return main_clause(caption)


def joined_clauses(caption: Caption, main: Clause) -> list[Clause]:
    """Return the finite clauses that are coordinated with a clause and share its subject, from left to right.

    After a clause with another subject, a verb may belong to either. In "Tom knew that Jerry was there and wanted to
    catch him" it belongs to the main clause, if it is a mental verb (`joined_minds` of `confusion.yaml`) and only an
    object clause intervenes, or if a comma ends that clause. After a relative clause, or a clause of reason or time
    without a comma, the verb is left out. A clause that repeats the subject also counts: "Tom saw Spike and Tom ran".
    """
    found: list[Clause] = []
    if not main.finite:
        return found
    holder, inside = main, False  # last clause with this subject, and whether an object clause follows it
    for clause in clauses(caption):
        if not clause.finite or clause.verb.main <= main.verb.main:
            continue
        if _shares_subject(caption.tokens, holder, clause):
            if inside and not _has_in_mind(caption.tokens, clause):
                break
            if clause.verb.tense not in (main.verb.tense, "modal") and caption.tokens[main.verb.first].tag != "VBP":
                break
            found.append(clause)
            holder, inside = clause, False
        elif _ends_with_comma(caption.tokens, holder, clause):
            inside = False
        elif _opens_object_clause(caption.tokens, holder, clause):
            inside = True
        else:
            break
    return found


def _shares_subject(tokens: Sequence[Token], holder: Clause, clause: Clause) -> bool:
    """Return whether "and" adds a verb with the same subject, and not a participle as in "being chased and caught"."""
    joint = clause.verb.tokens[0] - 1
    if holder.subject is not None and clause.subject is not None and clause.role != "coordinate":
        again = [token.lower for token in tokens[clause.subject.first : clause.subject.stop]]
        named = [token.lower for token in tokens[holder.subject.first : holder.subject.stop]]
        if again == named or again in (["he"], ["she"], ["they"]):
            joint = clause.subject.first - 1  # "Tom saw Spike and Tom ran"
    while joint > holder.verb.main and (tokens[joint].tag.startswith("RB") or tokens[joint].lower == "then"):
        joint -= 1
    if joint <= holder.verb.main or tokens[joint].lower != "and":
        return False
    behind = tokens[holder.verb.first : joint]
    if any(one.tag in ("WDT", "WP") and two.tag[:2] in ("VB", "RB", "MD") for one, two in pairwise(behind)):
        return False  # "which hurt Tom and made him scream"
    named_again = joint != clause.verb.tokens[0] - 1 and clause.role != "coordinate"
    if named_again and any(token.lower in confusion_table()["reasons"] for token in behind):
        return False  # "while Tom and Jerry danced"
    place = clause.verb.first
    if clause.verb.auxiliaries or clause.verb.copula or not is_verb_form(tokens[place].lower, "VBN"):
        return True
    after = tokens[place + 1] if place + 1 < len(tokens) else None
    if after is not None and after.is_word and after.tag != "IN":
        return True
    passive = any(one.lower in BE | GET | HAVE and two.tag == "VBN" for one, two in pairwise(behind))
    return not passive or (after is not None and after.is_word and after.lower not in ("by", "with"))


def _ends_with_comma(tokens: Sequence[Token], holder: Clause, clause: Clause) -> bool:
    """Return whether ", and" ends an embedded clause, as in "Tom was scared after Spike barked, and ran"."""
    if clause.role == "relative" or clause.stop + 1 >= len(tokens) or clause.subject is None:
        return False
    opened = tokens[clause.subject.first - 1].lower in confusion_table()["reasons"]
    closed = tokens[clause.stop].text == "," and tokens[clause.stop + 1].lower == "and"
    return closed and (opened or _opens_object_clause(tokens, holder, clause))


def _has_in_mind(tokens: Sequence[Token], clause: Clause) -> bool:
    """Return whether a verb expresses a wish or feeling, as in "wanted to run" and "was afraid"."""
    minds = confusion_table()["joined_minds"]
    behind = [token.lower for token in tokens[clause.verb.main : clause.verb.main + 3]]
    return clause.verb.lemma in minds or (clause.verb.copula and any(word in minds for word in behind))


def _opens_object_clause(tokens: Sequence[Token], holder: Clause, clause: Clause) -> bool:
    """Return whether an object clause starts here, with or without a word such as "that" or "how"."""
    if clause.subject is None or clause.role == "relative":
        return False
    between = tokens[holder.verb.main + 1 : clause.subject.first]
    if any(token.lower in ("that", "how", "what", "where", "why") for token in between):
        return not any(token.tag == "WDT" or token.lower in confusion_table()["reasons"] for token in between)
    return len(between) < 2 and not any(token.lower in RELATIVES for token in between)
