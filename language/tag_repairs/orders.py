"""Correct the tags of imperatives, such as recipe steps."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from ..closed_classes import AUXILIARIES, BE, CLOSED, COLOURS
from ..inflection import is_only_verb, is_plural_noun, is_verb_form, readings
from ..lexicon import words as words_of
from ..words import StyleOption
from .context import place_before


def is_order(words: Sequence[str], tags: Sequence[str], style: StyleOption) -> bool:
    """Return whether a sentence is an imperative."""
    start = _first_word(words, tags)
    if style == "declarative" or start is None:
        return False
    first = words[start]
    if (first in AUXILIARIES and first not in ("do", "have")) or not is_verb_form(first, "VB"):
        return (
            style == "imperative"
            and first in words_of("joining")
            and any(tags[n - 1] == "," and is_verb_form(words[n], "VB") for n in range(start + 2, len(words)))
        )
    return style == "imperative" or is_only_verb(first)


def _first_word(words: Sequence[str], tags: Sequence[str]) -> int | None:
    """Return the first word that is not an adverb such as "finely" or "then". Mistagged verbs are not skipped."""
    for number, word in enumerate(words):
        if (
            not word[:1].isalpha()
            or tags[number] == "CC"
            or word in ("then", "next", "now", "lastly", "finally", "first")
        ):
            continue
        if tags[number] == "RB" and not (is_verb_form(word, "VB") and word in words_of("order_verbs") | {"add"}):
            continue
        if word in ("deep", "pan", "stir", "pressure") and words[number + 1 : number + 2] in (["fry"], ["cook"]):
            continue
        return number
    return None


def tag_orders(words: Sequence[str], tags: list[str]) -> None:
    """Tag imperative verbs.

    The first word is a verb. After "and", a comma or "then", a word is a verb if it is mostly used as one ("and mix"),
    or if its object has an article or pronoun ("and butter the bread"). Without a conjunction, both must hold ("in a
    pan add the onions").
    """
    verbs, things = words_of("order_verbs"), words_of("order_nouns")
    first = _first_word(words, tags)
    opening = True
    negated = False
    for number, word in enumerate(words):
        follows = tags[number + 1] if number + 1 < len(tags) else ""
        if tags[number] in (",", "CC", ":") or word in ("then", "to"):
            opening = word != "to"
            continue
        if word == "do" and number + 1 < len(words) and words[number + 1] in ("not", "n't"):
            tags[number], negated = "VB", True
            continue
        if tags[number] == "RB" and number != first and word not in verbs:
            continue
        if word in words_of("joining") and number != first and tags[number] in ("IN", "WRB", "WDT", "WP"):
            opening = False
            continue
        if (
            word in ("deep", "pan", "stir", "pressure")
            and number + 1 < len(words)
            and words[number + 1] in ("fry", "cook")
            and opening
        ):
            tags[number] = {"deep": "RB", "stir": "RB"}.get(word, "NN")
            tags[number + 1] = "VB"
            continue
        behind = number > 0 and tags[number - 1] in ("NN", "NNS", "RB", "CD", "VB")
        step = word in ("stir", "simmer", "saute", "pour", "sprinkle") and words[number + 1 : number + 2] != ["fry"]
        if behind and step and "a" not in words[max(number - 2, 0) : number]:
            tags[number] = "NN" if follows.startswith("NN") and word in ("simmer", "saute") else "VB"
            opening = negated = False
            continue
        base = is_verb_form(word, "VB") and word not in CLOSED and word not in AUXILIARIES
        objects = follows in ("DT", "PRP", "PRP$")
        if base and (opening or negated) and (tags[number] != "VBN" or number == first):
            strong = word in verbs and not (follows.startswith("NN") and word in ("ground", "dry", "chili", "paste"))
            modifier = word in ("dry", "top", "set", "warm") and follows.startswith(("NN", "JJ"))
            if number == first or (not modifier and (strong or is_only_verb(word) or objects)):
                tags[number] = "VB"
            elif tags[number].startswith("VB") and "NOUN" in readings(word) and follows.startswith("NN"):
                tags[number] = "NN"  # "and bell pepper"
        elif (
            base
            and number
            and tags[number - 1] not in ("DT", "PRP$", "IN", "TO", "CD", "POS")
            and tags[number] != "VBN"
        ):
            if (objects and word in verbs and word not in things) or (is_only_verb(word) and word in verbs):
                tags[number] = "VB"
            elif tags[number].startswith("VB") and word in things and not objects:
                tags[number] = "NN"  # "apply flour to the dough"
        elif tags[number] == "VB" and tags[number - 1] in ("IN", "DT", "JJ", "CD", "PRP$") and number:
            tags[number] = "NN"
        opening = negated = False


def repair_things(words: Sequence[str], tags: list[str]) -> None:
    """Tag the nouns and adjectives of an imperative, such as "chopped" before a noun, except after "until"."""
    inside = [number for start, stop in clause_ranges(words, tags) if start == 0 for number in range(start, stop)]
    for number in inside:
        word, tag = words[number], tags[number]
        if word in AUXILIARIES or word in BE or not word[:1].isalpha():
            continue
        before = place_before(tags, number)
        subject = (
            before >= 0 and tags[before] == "PRP" and words[before] in ("you", "they", "we", "i", "it", "he", "she")
        )
        if tag == "VBD" and is_verb_form(word, "VBN") and not subject:
            tags[number] = "VBN"
        elif tag in ("VBZ", "VBP") and not subject and "NOUN" in readings(word):
            tags[number] = "NNS" if is_plural_noun(word) else "NN"
        elif tag == "JJ" and word in words_of("order_nouns") and word not in COLOURS and word != "ground":
            tags[number] = "NN"


def clause_ranges(words: Sequence[str], tags: Sequence[str]) -> list[tuple[int, int]]:
    """Split an imperative into its main part and the clauses after words such as "until", "when" and "that"."""
    starts = [
        number
        for number, word in enumerate(words)
        if word in ("until", "till", "when", "while", "if", "as", "that", "which", "because", "once", "so")
        and tags[number] in ("IN", "WRB", "WDT", "RB")
    ]
    edges = [0, *starts, len(words)] if 0 not in starts else [*starts, len(words)]
    return [(start, stop) for start, stop in pairwise(edges) if stop > start]
