"""Check a rewritten text against its source: parse it, and ask that every relation is still there.

A relation joins the lemmas of two content words. It is the same in the active and in the passive, whatever the tense,
so only what an operation declares may differ: words that go, words that come, words that are renamed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping

from .lexicon import words
from .words import Caption

Relation = tuple[str, str, str]  # head, label, dependent
FUNCTION = frozenset("det punct aux auxpass neg cc case mark expl predet preconj prep agent dative".split())  # noqa: SIM905
_LABELS = {"nsubjpass": "dobj", "csubjpass": "dobj", "nmod": "compound"}
_LABELS |= dict.fromkeys(("prt", "acomp", "attr", "oprd", "npadvmod"), "advmod")
_LABELS |= dict.fromkeys(("acl", "relcl", "xcomp"), "advcl")
_PRONOUNS = {"me": "i", "him": "he", "her": "she", "us": "we", "them": "they", "whom": "who", "'s": "be"}
_PLURAL_PRONOUNS = ("they", "we", "you", "these", "those")
_SINGULAR_PRONOUNS = ("he", "she", "it", "this", "that")


def relations(caption: Caption, without: Collection[int] = ()) -> Counter[Relation]:
    """Count the relations between the content words of a caption, except those of some tokens.

    A noun behind a preposition is joined to what the preposition depends on. The subject of a passive counts as an
    object, and its agent as a subject. Determiners, auxiliaries, negation, particles and punctuation don't count.
    """
    found: Counter[Relation] = Counter()
    for number, token in enumerate(caption.tokens):
        if number not in without and token.arc not in FUNCTION and token.lower not in words("particles"):
            label, head = _joined(caption, number)
            found[
                ("" if head == number or head in without else _word(caption, head), label, _word(caption, number))
            ] += 1
    return found


def _joined(caption: Caption, number: int) -> tuple[str, int]:
    """Return the label and the head of a token, past prepositions. Modifiers are joined to the verb of their clause."""
    token, tokens = caption.tokens[number], caption.tokens
    label, head = _LABELS.get(token.arc, token.arc), token.head
    while (tokens[head].arc in ("prep", "agent", "dative") or label == "pobj") and tokens[head].head != head:
        link, at, head = tokens[head], head, tokens[head].head
        by = link.lower == "by" and caption.child(head, "auxpass") is not None
        # "turn on the light" is read with a particle or with a preposition
        close = at == head + 1 and tokens[head].tag[:2] == "VB" and link.lower in words("particles")
        label = "nsubj" if by else "dobj" if close else "prep"
    if label == "advmod" and token.tag[:2] == "NN":
        label = "dobj"  # "dives three times"
    if label == "conj" and token.tag == "VBG":
        label = "advcl"  # "walking in, sitting down"
    if label in ("advmod", "advcl", "prep"):  # which word of its clause it modifies is no loss
        while tokens[head].tag[:2] != "VB" and tokens[head].head != head:
            head = tokens[head].head
    while (
        label == "advcl" and tokens[head].arc in ("conj", "advcl", "acl") and tokens[tokens[head].head].tag[:2] == "VB"
    ):
        head = tokens[head].head
    return label, head


def _word(caption: Caption, number: int) -> str:
    token = caption.tokens[number]
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
        plural = _is_plural(caption, subject)
        form = {"was": "VBZ", "were": "VBP"}.get(token.lower, token.tag)
        if plural is not None and form in ("VBZ", "VBP") and (form == "VBP") != plural:
            return token.text
    return ""


def _is_plural(caption: Caption, number: int) -> bool | None:
    """Return whether a subject is plural, or None if that is uncertain ("a group of men", "who")."""
    token = caption.tokens[number]
    if caption.children(number, "conj"):
        return True if any(caption.tokens[n].lower == "and" for n in caption.children(number, "cc")) else None
    if token.lower in _PLURAL_PRONOUNS or token.tag in ("NNS", "NNPS"):
        return True
    if token.lower in _SINGULAR_PRONOUNS:
        return False
    counted = any(caption.tokens[n].lower == "of" for n in caption.children(number, "prep"))
    return None if counted or token.tag not in ("NN", "NNP") else False
