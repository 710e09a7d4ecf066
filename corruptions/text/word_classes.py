"""Tell nouns and verbs from tags and their rivals, arcs and a dictionary."""

from __future__ import annotations

from ...language.closed_classes import AUXILIARIES
from ...language.inflection import is_verb_form, readings
from ...language.words import Caption

DOUBT = "doubt"
_INDEFINITE = {"one"} | {a + b for a in ("some", "any", "no", "every") for b in ("thing", "one", "body")}
_CLASSES = {"NN": "noun", "VB": "verb"}
_THINGS = ("dobj", "pobj", "nsubj", "nsubjpass", "attr")
_CLAUSES = ("ROOT", "xcomp", "ccomp", "advcl", "acl", "pcomp")


def word_class(caption: Caption, number: int) -> str:
    """Return the class of a token: "noun", "verb", `DOUBT` between them, or "".

    Unlike in the Penn Treebank, "something" and "everyone" are pronouns, and participles before a noun are adjectives.
    Without arcs, the tag decides.
    """
    token = caption.tokens[number]
    found, rival = _CLASSES.get(token.tag[:2], ""), _CLASSES.get(token.rival[:2], "")
    known = readings(token.lower).keys()
    if not token.arc or not token.text.isalpha() or token.lower in AUXILIARIES:
        return found
    if token.lower in _INDEFINITE:
        return ""
    modifies = token.arc in ("amod", "compound", "nmod") and token.head > number
    if modifies and is_verb_form(token.lower, "VBN") and ("NOUN" not in known or token.rival == "VBN"):
        return ""
    if modifies and is_verb_form(token.lower, "VBG"):
        return "" if token.arc == "amod" else DOUBT if rival and not {"NOUN", "ADJ"} & known else "noun"
    if token.tag == "JJ" and token.rival and token.lower not in ("other", "half"):
        named = rival == "noun" and token.arc in _THINGS and caption.child(number, "det", "poss") is not None
        return "noun" if named or ("NOUN" in known and "ADJ" not in known) else ""
    if token.tag == "NNS" and known == {"VERB"} and token.arc not in ("dobj", "pobj"):
        return "verb"  # "kneels"
    bare = caption.child(number, "aux", "dobj", "nsubj") is None
    thing = token.tag != "VBG" and token.arc in _THINGS
    if found == "verb" and bare and (thing or (known and "VERB" not in known)):
        return "" if modifies else "noun"  # "multicolored graffiti", "drills holes", "raises arm up"
    return _noun_or_verb(caption, number, found) if {found, rival} == {"noun", "verb"} else found


def _noun_or_verb(caption: Caption, number: int, found: str) -> str:
    """Decide between noun and verb by what depends on the word and what it is joined to."""
    token, head = caption.tokens[number], caption.tokens[caption.tokens[number].head]
    order, joined = caption.style == "imperative", token.arc == "conj"
    if caption.lower_at(number - 2) == token.lower and caption.child(number, "dobj") is None:
        return "noun"  # "from side to side"
    if caption.child(number, "nsubj", "nsubjpass", "dobj", "aux", "auxpass", "mark") is not None:
        return "verb"
    named = caption.child(number, "det", "poss", "amod", "nummod", "compound") is not None
    if joined and not named:
        other = word_class(caption, token.head)
        if found == "verb":
            return "noun" if other == "noun" and token.tag != ("VB" if order else "VBG") else found
        counted = token.tag == "NNS" and head.tag == "NN" and caption.child(token.head, "det") is not None
        doubtful = counted or (token.tag == "NN" and is_verb_form(token.lower, "VB"))
        return "verb" if other == "verb" else DOUBT if doubtful else found
    return "verb" if token.arc in _CLAUSES and is_verb_form(token.lower, "VBG") else found
