"""Confusions of the right option in the place of wrong ones."""

from __future__ import annotations

from collections.abc import Mapping

from ..core.seeds import rng_for
from ..language.text_key import text_key
from .confuser import Confuser
from .confusion import KINDS, Confusion, Kind, Unconfused
from .mining import Negative, OptionSet


def confuse_options(
    right: str,
    choice: OptionSet,
    confuser: Confuser,
    *,
    count: int,
    seed: int,
    item_id: str,
    kind: str,
    made: Mapping[Kind, Confusion | Unconfused] | None = None,
) -> tuple[OptionSet, tuple[Confusion | Unconfused, ...]]:
    """Put confusions of the right option in the place of wrong ones.

    Args:
        right: The right option.
        choice: The options as mined.
        confuser: Makes the confusions.
        count: How many wrong options to replace at most, 1 or 2.
        seed: The dataset's seed.
        item_id: The question.
        kind: "answer" or "explanation".
        made: Confusions that were made elsewhere, by kind, in place of those of `confuser`.

    Returns:
        The options, the right one and the rest in their places, and what became of each way. A confusion that says the
        same as another option replaces nothing and is counted as not made.
    """
    found = made or {"negation": confuser.negation(right), "swap": confuser.swap(right)}
    rng = rng_for(seed, "confuse", item_id, kind)
    order = [KINDS[place] for place in rng.permutation(len(KINDS)).tolist()]
    wrong = [place for place in range(len(choice.options)) if place != choice.answer_index]
    places = [wrong[place] for place in rng.permutation(len(wrong)).tolist()]
    options, sources = list(choice.options), list(choice.sources)
    results: dict[Kind, Confusion | Unconfused] = {}
    taken = 0
    for way in order:
        result = found[way]
        if isinstance(result, Confusion) and text_key(result.text) in {text_key(option) for option in options}:
            result = Unconfused(way, "another option says the same")
        results[way] = result
        if isinstance(result, Confusion) and taken < min(count, len(places)):
            place = places[taken]
            options[place] = result.text
            sources[place] = Negative(item_id, result.text, 1.0, 0.0, 0.0, way)
            taken += 1
    return OptionSet(tuple(options), choice.answer_index, tuple(sources)), tuple(results[way] for way in KINDS)
