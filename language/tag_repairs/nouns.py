"""Tags of nouns that a tagger took for verbs or adjectives."""

from __future__ import annotations

from collections.abc import Sequence

from ..closed_classes import AUXILIARIES, CLOSED, COLOURS, PLURALS
from ..inflection import is_plural_noun, readings


def repair_nouns(words: Sequence[str], lower: Sequence[str], tags: list[str]) -> None:
    """Tag as nouns what the dictionary has as nouns only, and what stands behind an article or possessive as a verb."""
    for number, word in enumerate(lower):
        tag, before = tags[number], tags[number - 1] if number else ""
        if tag.startswith(("NN", "CD", "DT", "PRP", "W", "IN", "TO", "EX", "MD", "POS", "CC")) or word in AUXILIARIES:
            if tag == "NN" and word in PLURALS:
                tags[number] = "NNS"
            continue
        if word in PLURALS:
            tags[number] = "NNS"
            continue
        noun = "NNP" if words[number][:1].isupper() and number else "NNS" if is_plural_noun(word) else "NN"
        known = readings(word)
        if word in CLOSED or not word[:1].isalpha():
            continue
        follows = tags[number + 1][:2] if number + 1 < len(tags) else ""
        if tag == "JJ" and before in ("NN", "NNP") and "NOUN" in known and follows in ("", "IN", "VB", "."):
            tags[number] = noun if word not in COLOURS else tag  # "a photoshop tutorial"
            continue
        nothing_else = set(known) in ({"NOUN"}, {"NOUN", "PROPN"}, {"PROPN"}) and tag[:2] in ("VB", "JJ", "RB")
        base_after_article = (
            tag in ("VB", "VBP", "VBZ") and before in ("DT", "PRP$", "POS") and lower[number - 1] != "that"
        )
        unknown = not known and tag in ("VB", "VBP") and before != "TO"
        if nothing_else or unknown or (base_after_article and "NOUN" in known):
            tags[number] = noun
