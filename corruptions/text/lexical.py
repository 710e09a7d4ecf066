"""Look up word tables, inflect words, and decide whether a word is a noun or a verb."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any, TypeVar, cast

import numpy as np

from ...core.documents import package_table
from ...language.lexicon import AUXILIARIES, SUBORDINATORS, Tag, inflect, is_verb_form, readings
from ...language.wordnet import Pos
from ...language.words import Caption

T = TypeVar("T")
LEAST, MOST = 1, 10
SAME_STEM = 4
POSES: dict[str, tuple[str, Pos]] = {
    **dict.fromkeys(("NN", "NNS"), ("NOUN", "n")),
    **dict.fromkeys(("VB", "VBZ", "VBP", "VBD", "VBN", "VBG"), ("VERB", "v")),
    "JJ": ("ADJ", "a"),
    "RB": ("ADV", "r"),
}
PARTS: dict[Pos, str] = {pos: part for part, pos in POSES.values()}


def related(word: str, other: str) -> bool:
    """Return whether two lemmas are equal or one is derived from the other, like "singer" from "sing"."""
    short, long = sorted((word, other), key=len)
    stem = short[: max(SAME_STEM, len(short) - 2)] if len(short) >= SAME_STEM else short
    return word == other or (len(short) > 2 and long.startswith(stem))


def is_plain(word: str) -> bool:
    """Return whether a word consists of at least three lower-case ASCII letters and nothing else."""
    return len(word) > 2 and word.isascii() and word.isalpha() and word.islower()


def inflected(lemma: str, tag: str) -> str:
    """Inflect a lemma for a tag. In a phrase, inflect the first word of a verb or the last word of a noun."""
    if tag in ("JJ", "RB", "NN", "VB", "VBP"):
        return lemma
    if tag == "NNS":
        *modifiers, head = lemma.split()
        return " ".join([*modifiers, inflect(head, "NNS")])
    return inflect(lemma, cast(Tag, tag))


def word_count(caption: Caption, share: float) -> int:
    """Return how many words of a caption to change for a given share, between 1 and 10."""
    return min(max(int(share * len(caption.tokens)), LEAST), MOST)


def shuffled(indices: Sequence[int], rng: np.random.Generator) -> list[int]:
    """Return the numbers in random order."""
    return [indices[position] for position in rng.permutation(len(indices))]


def draw_one(values: Sequence[T], rng: np.random.Generator) -> T:
    """Choose one of the values at random."""
    return values[int(rng.integers(len(values)))]


@cache
def names(*path: str) -> frozenset[str]:
    """Return a word list from `swap_text.yaml` as a set. `path` gives the keys that lead to it."""
    part: Any = read_table("swap_text")
    for name in path:
        part = part[name]
    return frozenset(str(part["words"]).split())


def read_table(name: str) -> dict[str, Any]:
    """Load `<name>.yaml` of this folder, which callers must not modify."""
    content: dict[str, Any] = package_table(Path(__file__).with_name(f"{name}.yaml"))
    return content


DOUBT = "doubt"
_INDEFINITE = {"one"} | {a + b for a in ("some", "any", "no", "every") for b in ("thing", "one", "body")}
_CLASSES = {"NN": "noun", "VB": "verb"}
_THINGS = ("dobj", "pobj", "nsubj", "nsubjpass", "attr")
_CLAUSES = ("ROOT", "xcomp", "ccomp", "advcl", "acl", "pcomp")


def word_class(caption: Caption, index: int) -> str:
    """Return the class of a token: "noun", "verb", `DOUBT` between them, or "".

    Unlike in the Penn Treebank, "something" and "everyone" are pronouns, and participles before a noun are adjectives.
    Without arcs, the tag decides.
    """
    token = caption.tokens[index]
    tagged, rival_class = _CLASSES.get(token.tag[:2], ""), _CLASSES.get(token.rival[:2], "")
    known = readings(token.lower).keys()
    if not token.arc or not token.text.isalpha() or token.lower in AUXILIARIES:
        return tagged
    if token.lower in _INDEFINITE:
        return ""
    if _is_doubtful(caption, index):
        return DOUBT
    modifies = token.arc in ("amod", "compound", "nmod") and token.head > index
    if modifies and token.tag == "VBN" and not {"NOUN", "VERB"} & known:
        return ""  # "a long sleeved shirt"
    if modifies and is_verb_form(token.lower, "VBN") and ("NOUN" not in known or token.rival == "VBN"):
        return ""
    if modifies and is_verb_form(token.lower, "VBG"):
        return "" if token.arc == "amod" else DOUBT if rival_class and not {"NOUN", "ADJ"} & known else "noun"
    if token.tag == "JJ" and token.rival and token.lower not in ("other", "half"):
        named = rival_class == "noun" and token.arc in _THINGS and caption.child(index, "det", "poss") is not None
        return "noun" if named or ("NOUN" in known and "ADJ" not in known) else ""
    if tagged == "noun" and known and not known & {"NOUN", "PROPN", "VERB"}:
        return ""  # "bouncy"
    if token.tag in ("JJ", "JJR") and token.arc == "pobj" and "NOUN" in known and token.lower not in ("other", "half"):
        return "noun"  # "a man in white"
    acts = token.arc == "conj" and caption.tag_at(token.head)[:2] == "VB" and "VERB" in known  # "sings and dances"
    clause = rival_class == "verb" and caption.tokens[token.head].lower in SUBORDINATORS  # "as smoke moves"
    if token.tag == "NNS" and (acts or clause or (known == {"VERB"} and token.arc not in ("dobj", "pobj"))):
        return "verb"  # "kneels"
    bare = caption.child(index, "aux", "dobj", "nsubj") is None
    thing = token.tag != "VBG" and token.arc in _THINGS
    if tagged == "verb" and bare and (thing or (known and "VERB" not in known)):
        return "" if modifies else "noun"  # "multicolored graffiti", "drills holes", "raises arm up"
    return _noun_or_verb(caption, index, tagged) if {tagged, rival_class} == {"noun", "verb"} else tagged


def _is_doubtful(caption: Caption, index: int) -> bool:
    """Return whether a word that the parser takes for a verb may be a noun."""
    token, known = caption.tokens[index], readings(caption.tokens[index].lower).keys()
    if token.tag[:2] != "VB":
        return False
    does = [n for n in caption.children(index, "aux") if caption.tokens[n].lemma == "do"]
    if does and caption.child(index, "neg") is None:
        return True  # "does hand gestures"
    odd = known and "VERB" not in known and token.tag != "VBG"
    if odd and caption.child(index, "nsubj", "dobj") is not None:
        return True  # "person cuts avocado"
    twice = caption.lower_at(index - 2) == token.lower  # "from side to side"
    if token.rival[:2] != "NN" or "NOUN" not in known or twice or caption.child(index, "dobj", "nsubj") is not None:
        return False
    to = any(caption.tokens[n].lower == "to" for n in caption.children(index, "aux"))
    goal = to and (token.arc == "advcl" or caption.tokens[token.head].lemma in ("go", "come", "get", "walk", "run"))
    inside = (
        token.tag in ("VB", "VBD", "VBN") and token.arc in ("acl", "advcl") and caption.tag_at(index - 1)[:2] == "NN"
    )
    return goal or inside  # "goes to class", "a play set"


def _noun_or_verb(caption: Caption, index: int, tagged: str) -> str:
    """Decide between noun and verb by what depends on the word and what it is joined to."""
    token = caption.tokens[index]
    order, joined = caption.style == "imperative", token.arc == "conj"
    if caption.lower_at(index - 2) == token.lower and caption.child(index, "dobj") is None:
        return "noun"  # "from side to side"
    if caption.child(index, "nsubj", "nsubjpass", "dobj", "aux", "auxpass", "mark") is not None:
        return "verb"
    named = caption.child(index, "det", "poss", "amod", "nummod", "compound") is not None
    if joined and not named:
        joined_class = word_class(caption, token.head)
        if tagged == "verb":
            return "noun" if joined_class == "noun" and token.tag != ("VB" if order else "VBG") else tagged
        counted = token.tag == "NNS" and caption.child(token.head, "det", "poss") is not None
        doing = token.tag == "NN" and (is_verb_form(token.lower, "VB") or token.rival == "VBG")
        follows = token.tag == "NNS" and caption.tag_at(index + 1) in ("RP", "DT", "PRP$")  # "and freaks out"
        doubtful = counted or doing or follows  # "touches her lips and smiles", "scares a man and yelling"
        return "verb" if joined_class == "verb" else DOUBT if doubtful else tagged
    if token.arc == "ROOT" and token.tag == "NNS" and caption.child(index, "compound") is not None:
        return DOUBT  # "race cars", "a man staggers"
    return "verb" if token.arc in _CLAUSES and is_verb_form(token.lower, "VBG") else tagged
