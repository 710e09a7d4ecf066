"""Apply all tag corrections to a sentence, in their required order."""

from __future__ import annotations

from collections.abc import Sequence

from ..closed_classes import AUXILIARIES, CLOSED, FINITE
from ..words import Style, StyleOption
from .orders import clause_ranges, is_order, repair_things, tag_orders
from .other_words import repair_cans, repair_nouns, repair_small_words
from .verbs import repair_finite_verbs, repair_participles, repair_verb_forms


def repair_tags(words: Sequence[str], tags: Sequence[str], style: StyleOption) -> tuple[list[str], Style]:
    """Return the corrected tags of a sentence, and its style."""
    lower = [word.lower().replace("’", "'") for word in words]  # clitics with a straight apostrophe
    repaired = [CLOSED.get(word) or AUXILIARIES.get(word) or tag for word, tag in zip(lower, tags, strict=True)]
    repair_cans(lower, tags, repaired)
    repair_small_words(lower, repaired)
    repair_nouns(words, lower, repaired)
    order = is_order(lower, repaired, style)
    if order:
        tag_orders(lower, repaired)
    repair_verb_forms(lower, repaired, order)
    repair_participles(lower, repaired)
    if order:
        repair_things(lower, repaired)
        for start, stop in clause_ranges(lower, repaired):
            if start > 0:
                repair_finite_verbs(lower, repaired, start, stop)
    else:
        repair_finite_verbs(lower, repaired, 0, len(lower))
    for number, word in enumerate(lower):
        if word == "her":
            follows = repaired[number + 1][:2] if number + 1 < len(lower) else ""
            goes_on = follows in ("NN", "JJ", "CD", "VB") and lower[number + 1] not in AUXILIARIES
            verb = goes_on and repaired[number + 1] in ("VB", "VBG", "VBZ", "VBD") and follows != "NN"
            repaired[number] = "PRP$" if goes_on and not verb else "PRP"
    if order:
        return repaired, "imperative"
    return repaired, "declarative" if any(tag in FINITE for tag in repaired) else "noun_phrase"
