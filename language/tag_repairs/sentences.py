"""All repairs of the tags of one sentence, in their order."""

from __future__ import annotations

from collections.abc import Sequence

from ..closed_classes import AUXILIARIES, CLOSED, FINITE
from ..words import Style
from .finite_verbs import repair_finite_verbs
from .nouns import repair_nouns
from .orders import StyleOption, clause_ranges, is_order, repair_things, tag_orders
from .participles import repair_participles
from .small_words import repair_cans, repair_small_words
from .verb_forms import repair_verb_forms


def repair_tags(words: Sequence[str], tags: Sequence[str], style: StyleOption) -> tuple[list[str], Style]:
    """Mend the tags of one sentence and tell what it is."""
    lower = [word.lower().replace("’", "'") for word in words]
    mended = [CLOSED.get(word) or AUXILIARIES.get(word) or tag for word, tag in zip(lower, tags, strict=True)]
    repair_cans(lower, tags, mended)
    repair_small_words(lower, mended)
    repair_nouns(words, lower, mended)
    order = is_order(lower, mended, style)
    if order:
        tag_orders(lower, mended)
    repair_verb_forms(lower, mended, order)
    repair_participles(lower, mended)
    if order:
        repair_things(lower, mended)
        for start, stop in clause_ranges(lower, mended):
            if start > 0:
                repair_finite_verbs(lower, mended, start, stop)
    else:
        repair_finite_verbs(lower, mended, 0, len(lower))
    for number, word in enumerate(lower):
        if word == "her":
            follows = mended[number + 1][:2] if number + 1 < len(lower) else ""
            goes_on = follows in ("NN", "JJ", "CD", "VB") and lower[number + 1] not in AUXILIARIES
            verb = goes_on and mended[number + 1] in ("VB", "VBG", "VBZ", "VBD") and follows != "NN"
            mended[number] = "PRP$" if goes_on and not verb else "PRP"
    if order:
        return mended, "imperative"
    return mended, "declarative" if any(tag in FINITE for tag in mended) else "noun_phrase"
