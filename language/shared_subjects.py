"""Handle coordinated verbs that share a subject, as in "opens the door and leaves"."""

from __future__ import annotations

from .clauses import Clause, clauses
from .lexicon import words
from .noun_phrases import NounPhrase
from .words import Caption


def sharing_clause(caption: Caption, clause: Clause) -> Clause | None:
    """Return the first later clause that shares the subject of a clause, such as "and waves"."""
    found = clauses(caption)
    own, root = found.index(clause), root_clause(caption, clause)
    return next((c for c in found[own + 1 :] if c.role == "coordinate" and root_clause(caption, c) == root), None)


def joint_before(caption: Caption, clause: Clause, first: int) -> int:
    """Return the token that joins a coordinate clause to the previous one, not counting adverbs."""
    joint = clause.verb.tokens[0] - 1
    while joint > first and caption.tokens[joint].tag.startswith("RB"):
        joint -= 1
    return joint


def root_clause(caption: Caption, clause: Clause) -> int:
    """Return the index of the clause that states the subject which later clauses share."""
    found = clauses(caption)
    place = found.index(clause)
    while (previous := found[place].previous) is not None:
        place = previous
    return place


def is_lone_then(caption: Caption, number: int, alone: bool = False) -> bool:
    """Return whether "then" joins a verb whose subject was not found, as in "throws a book then starts"."""
    tokens = caption.tokens
    if not 0 < number < len(tokens):
        return False
    before, after = tokens[number - 1], tokens[number + 1] if number + 1 < len(tokens) else None
    joined = before.tag in ("CC", "PRP") or (not before.is_word and not (alone and before.text == ","))
    return tokens[number].lower == "then" and not joined and after is not None and after.tag not in ("PRP", "DT", "EX")


def repeated_subject(caption: Caption, subject: NounPhrase) -> str:
    """Return a short form of a subject, such as "the man", "they" or "Tom", or "" if it is uncertain."""
    tokens, head = caption.tokens, caption.tokens[subject.head]
    if head.tag == "PRP" and len(subject.heads) == 1:
        return head.text if head.lower == "i" else head.lower
    if subject.plural or len(subject.heads) > 1:
        return "they"
    inside = tokens[subject.first : subject.stop]
    if inside[-1] is not head or len(inside) > 3:
        return ""
    if inside[0].lower in ("a", "an", "the"):
        return " ".join(["the", *(t.text for t in inside[1:])])
    return (
        " ".join(t.text for t in inside)
        if all(t.tag == "NNP" for t in inside) and head.lower not in words("people")
        else ""
    )
