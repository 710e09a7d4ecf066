"""Insert missing commas into lists: "salt chopped onions and pepper" means "salt, chopped onions and pepper"."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from .inflection import is_plural_noun
from .lexicon import WordLists
from .noun_phrases import is_modifier
from .order_words import is_manner
from .plain_captions import Refused
from .words import Token


def missing_marks(
    tokens: Sequence[Token], orders: Sequence[int], start: int, stop: int, lists: WordLists
) -> dict[int, str]:
    """Return the missing marks by token: a comma before an item of a list, or "and" before the last one.

    Only tokens from `start` up to but not including `stop` are considered.

    Raises:
        Refused: It is uncertain where an item starts.
    """
    found: dict[int, str] = {}
    number = start
    while number < stop:
        end = number
        while end < stop and end not in orders and _is_nominal(tokens, end):
            end += 1
        listed = end + 1 < stop and tokens[end].lower in ("and", "or", ",") and end + 1 not in orders
        listed = listed and not _verb_follows(tokens, end + 1, orders)
        pairs = lists.pairs if listed else lists.pairs | lists.lone_pairs
        begins = [n for n in range(number + 1, end) if _begins_thing(tokens, n, end, pairs, lists)]
        if tokens[number - 1].lower == "give":
            begins = [n for n in begins if tokens[n].tag != "DT"]  # "give the patties a turn"
        _check_rows(tokens, begins, number, end, listed, lists)
        leads = number - 1 in orders or tokens[number - 1].tag in ("RP", "DT", "RB", ",")
        if begins and (tokens[number - 1].lower in ("and", "or") or not (listed or leads)):
            raise Refused("run_on")
        for place in begins:
            found[place] = ","
        if begins and not listed:
            found[begins[-1]] = "and"
            things = lists.starters | lists.alone
            if any(_opens_pair(tokens, place, lists) for place in begins):
                pass
            elif len(begins) == 1 and _is_loose(tokens, begins[0], end):
                if tokens[begins[0] - 1].lower in lists.alone or tokens[end - 1].lower not in lists.dishes:
                    raise Refused("run_on")  # "a cup of water tomato puree", "coriander lemon juice"
                del found[begins[0]]
            elif any(not {tokens[n].lower, tokens[n - 1].lower} <= things and tokens[n].tag != "DT" for n in begins):
                raise Refused("run_on")  # "the short cut bacon" is one item, "milk minced garlic" two
        number = max(end, number) + 1
    return found


def _verb_follows(tokens: Sequence[Token], number: int, orders: Sequence[int]) -> bool:
    while number < len(tokens) and tokens[number].tag.startswith("RB"):
        number += 1
    return number in orders


def _is_nominal(tokens: Sequence[Token], number: int) -> bool:
    tag = tokens[number].tag
    if tag in ("VBN", "VBG"):
        return is_modifier(tokens, number, 0, len(tokens)) or _noun_next(tokens, number)
    if tag == "RB":  # "freshly chopped cilantro"
        return is_manner(tokens[number].lower) and number + 1 < len(tokens) and tokens[number + 1].tag in ("VBN", "JJ")
    return tag.startswith(("NN", "JJ", "CD", "FW")) or tag in ("DT", "POS")


def _noun_next(tokens: Sequence[Token], number: int) -> bool:
    later = number + 1
    while later < len(tokens) and tokens[later].tag in ("VBN", "JJ"):
        later += 1  # "diced boiled egg"
    return later < len(tokens) and tokens[later].tag.startswith(("NN", "JJ"))


def _begins_thing(tokens: Sequence[Token], number: int, end: int, pairs: frozenset[str], lists: WordLists) -> bool:
    """Return whether a new item starts within a sequence of nouns and adjectives.

    After a noun, a new item starts with an article or number ("the flour | a pinch"), with an adjective or participle
    before another noun ("garlic | chopped onions"), with a word of `starters` ("salt | garlic"), or after a word of
    `breakers` ("soy sauce | rice vinegar").
    """
    token, before = tokens[number], tokens[number - 1]
    if not before.tag.startswith("NN") or tokens[number].text in ("'s", "'"):
        return False
    rest = tokens[number + 1 : end]
    if _opens_pair(tokens, number, lists) and before.lower not in lists.unopened | lists.welded | lists.origins:
        return True
    nouns = [other for other in rest if other.tag.startswith("NN")]
    if before.lower in ("many", "few", "several", "more"):
        return False
    if token.tag in ("DT", "CD"):
        unit = rest[0].lower if rest else ""
        return bool(nouns) and unit not in lists.units and token.lower not in ("each", "all", "both", "half")
    sauce = number + 1 < end and tokens[number + 1].lower in ("sauce", "paste")
    if sauce and f"{before.lower}_{token.lower}" in lists.named:
        return False
    apart = before.lower in ("garlic", "ginger", "tomato") and number > 1 and tokens[number - 2].lower in lists.cut_up
    if (f"{before.lower}_{token.lower}" in pairs and not apart) or token.tag == "VBG":
        return False
    if token.lower in lists.colours and number + 2 < len(tokens) and tokens[number + 1].lower == "and":
        return tokens[number + 2].tag.startswith("JJ")  # "celery | red and green bell peppers"
    if token.tag.startswith(("JJ", "VB", "RB")) and before.lower not in lists.origins:
        return bool(nouns) and before.lower not in lists.welded and token.lower not in lists.halves
    if before.lower in lists.welded:
        return False
    if before.lower in lists.origins:
        return False
    measured = number + 1 == end and end < len(tokens) and tokens[end].lower == "of" and before.tag == "NNS"
    if token.lower in lists.starters or (measured and token.lower in lists.measures | {"cubes", "slices", "cloves"}):
        return True
    if before.tag == "NNS" and before.lower.endswith("s") and before.lower not in lists.units:
        return bool(nouns) or token.lower not in lists.heads or token.lower in lists.alone
    if before.lower in ("sugar", "salt", "flour", "water") and token.lower in ("sauce", "vinegar", "oil", "wine"):
        return True
    if token.lower in lists.fluids and before.lower in lists.foods:
        return True
    behind = token.lower not in lists.heads or token.lower in lists.alone
    return before.lower in lists.breakers and behind


def _opens_pair(tokens: Sequence[Token], number: int, lists: WordLists) -> bool:
    return number + 1 < len(tokens) and f"{tokens[number].lower}_{tokens[number + 1].lower}" in lists.openings


def _is_loose(tokens: Sequence[Token], number: int, end: int) -> bool:
    """Return whether a single boundary before a noun-noun sequence is uncertain, as in "chili | garlic sauce"."""
    compound = any(token.tag.startswith("NN") for token in tokens[number + 1 : end])
    return compound and tokens[number].tag.startswith("NN") and tokens[number - 1].tag == "NN"


def _check_rows(
    tokens: Sequence[Token], begins: Sequence[int], start: int, end: int, listed: bool, lists: WordLists
) -> None:
    """Reject a sequence of nouns that may be a list, such as "onion sumac allspice"."""
    for first, stop in pairwise([start, *begins, end]):
        row = [token.lower for token in tokens[first:stop]]
        if (listed or begins) and row and (row[-1] in lists.halves_of_things):
            raise Refused("run_on")  # "oil sesame ginger powder": the boundaries are ambiguous
        nouns = [token.lower for token in tokens[first:stop] if token.tag.startswith("NN")]
        if len(nouns) >= 4 or (len(nouns) == 3 and nouns[-1] not in lists.heads):
            raise Refused("run_on")
        if len(nouns) == 3 and (listed or begins) and nouns[-1] not in lists.breakers | {"mixture", "mix"}:
            raise Refused("run_on")
        plural = stop > first + 1 and tokens[stop - 1].tag == "NNS" and len(nouns) == 2
        mixed = (
            len(nouns) == 2 and nouns[0].endswith("s") and is_plural_noun(nouns[0]) and nouns[1] not in lists.breakers
        )
        mixed = mixed or (len(nouns) == 2 and nouns[0] in lists.lone and f"{nouns[0]}_{nouns[1]}" not in lists.pairs)
        if listed and mixed and nouns[1] not in ("mixture", "mix", "powder", "wine", "vinegar", "oil", "sauce"):
            raise Refused("run_on")  # "tomatoes meat and …"
        if listed and plural and nouns[-1] not in lists.heads | lists.starters:
            raise Refused("run_on")  # "onion chilies and …"
        inner = [noun for noun in nouns[:-1] if noun in lists.breakers]
        if len(nouns) > 1 and inner and nouns[-1] not in lists.heads:
            raise Refused("run_on")
