"""Check a rewritten text against its source: parse it, and ask that every relation is still there.

A relation joins the lemmas of two content words. It is the same in the active and in the passive, whatever the tense,
so only what an operation declares may differ: words that go, words that come, words that are renamed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping

from .inflection import is_verb_form, verb_lemma
from .lexicon import words
from .words import Caption

Relation = tuple[str, str, str]  # head, label, dependent
FUNCTION = (
    "det",
    "punct",
    "aux",
    "auxpass",
    "neg",
    "cc",
    "case",
    "mark",
    "expl",
    "predet",
    "preconj",
    "prep",
    "prt",
    "agent",
)
_LABELS = {
    "nsubjpass": "dobj",
    "csubjpass": "dobj",
    "relcl": "acl",
    "attr": "acomp",
    "nmod": "amod",
    "compound": "amod",
    "npadvmod": "advmod",
    "dative": "dobj",
}
_PARTICLES = words("particles")
_PRONOUNS = {"me": "i", "him": "he", "her": "she", "us": "we", "them": "they", "whom": "who", "'s": "be"}
_PLURAL_PRONOUNS = ("they", "we", "you", "these", "those")
_SINGULAR_PRONOUNS = ("he", "she", "it", "this", "that")


class Refused(Exception):
    """Raised when a text cannot be rewritten. Its only argument is the reason."""


def relations(caption: Caption, without: Collection[int] = ()) -> Counter[Relation]:
    """Count the relations between the content words of a caption, except those of some tokens.

    A noun behind a preposition is joined to what the preposition depends on. The subject of a passive counts as an
    object, and its agent as a subject, and a noun before a participle as what the participle is said of. What a
    preposition, an adverb or another verb depends on does not count, as a parser often chooses another word for the
    same meaning. Determiners, auxiliaries, negation and punctuation don't count either.
    """
    found: Counter[Relation] = Counter()
    for number, token in enumerate(caption.tokens):
        if number in without or token.arc in FUNCTION or (token.arc == "advmod" and token.lower in _PARTICLES):
            continue
        label, head = joined(caption, number)
        verb = token.tag.startswith(("VB", "MD"))
        if verb or label == "advmod" or label.startswith("prep "):
            found["", label if label.startswith("prep ") and not verb else "", _word(caption, number)] += 1
        elif label != "ROOT" and not (label == "acomp" and caption.child(head, "expl") is not None):
            found["" if head in without else _word(caption, head), label, _word(caption, number)] += 1
        if token.arc == "acl" and token.tag in ("VBG", "VBN") and caption.child(number, "nsubj") is None:
            passive = token.tag == "VBN" or caption.child(number, "auxpass") is not None
            found[_word(caption, number), "dobj" if passive else "nsubj", _word(caption, head)] += head not in without
    return +found


def joined(caption: Caption, number: int) -> tuple[str, int]:
    """Return the label and the head of a token, past prepositions."""
    token = caption.tokens[number]
    label, head = _LABELS.get(token.arc, token.arc), token.head
    if token.tag in ("IN", "TO") and label == "dobj":
        return "ROOT", head  # "to" in "gives a ball to a boy"
    while caption.tokens[head].arc in ("prep", "agent") and head != number:
        link = caption.tokens[head]
        verbs = (link.head, caption.tokens[link.head].head)  # "is given a ring by a man"
        by = link.lower == "by" and any(caption.child(verb, "auxpass") is not None for verb in verbs)
        label = "nsubj" if by else f"prep {link.lower}"
        head = verbs[by and caption.child(link.head, "auxpass") is None]
    return label, head


def _word(caption: Caption, number: int) -> str:
    token = caption.tokens[number]
    if token.tag == "JJ" and is_verb_form(token.lower, "VBN"):
        return verb_lemma(token.lower)  # "is being drunk"
    return _PRONOUNS.get(token.lower, token.lemma or token.lower)


def difference(
    source: Caption,
    result: Caption,
    *,
    gone: Collection[int] = (),
    new: Collection[int] = (),
    renamed: Mapping[str, str] | None = None,
) -> str:
    """Return the first word that a rewritten text relates in another way than its source, or "" if there is none.

    Args:
        source: The source.
        result: The parsed result.
        gone: Tokens of the source that the operation removes.
        new: Tokens of the result that it adds.
        renamed: New lemmas by lemma, for words that it replaces.
    """
    names = renamed or {}
    before = Counter[Relation]()
    for (head, label, word), count in relations(source, gone).items():
        before[names.get(head, head), label, names.get(word, word)] += count
    after = relations(result, new)
    lost = (before - after) or (after - before)
    return min(lost)[2] if lost else ""


def disagreement(caption: Caption) -> str:
    """Return the first finite verb whose number is not that of its subject, as in "some mangos is cut", or ""."""
    for number, token in enumerate(caption.tokens):
        verb = token.head if token.arc in ("aux", "auxpass") else number
        subject = caption.child(verb, "nsubj", "nsubjpass")
        first = min(caption.children(verb, "aux", "auxpass"), default=verb)
        if subject is None or number != first or subject > number:
            continue
        plural = is_plural(caption, subject)
        form = {"was": "VBZ", "were": "VBP"}.get(token.lower, token.tag)
        if plural is not None and form in ("VBZ", "VBP") and (form == "VBP") != plural:
            return token.text
    return ""


def is_plural(caption: Caption, number: int) -> bool | None:
    """Return whether a subject is plural, or None if that is uncertain ("a group of men", "who")."""
    token = caption.tokens[number]
    if any(caption.tokens[n].tag[:2] in ("NN", "PR") for n in caption.children(number, "conj")):
        return True if any(caption.tokens[n].lower == "and" for n in caption.children(number, "cc")) else None
    if token.lower in _SINGULAR_PRONOUNS or token.lower in words("singular_s"):
        return False
    if token.lower in _PLURAL_PRONOUNS or token.tag in ("NNS", "NNPS"):
        return True
    counted = any(caption.tokens[n].lower == "of" for n in caption.children(number, "prep"))
    return None if counted or token.tag not in ("NN", "NNP") else False
