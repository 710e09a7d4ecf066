"""Recognize imperatives: words that can start one, and verbs inside one that have the wrong tag.

Recipes omit commas, so taggers mistake imperative verbs for nouns: "bake in the oven flip and serve".
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from .closed_classes import BE, CLOSED
from .inflection import is_verb_form, readings, verb_lemma
from .lexicon import WordLists, word_lists, words
from .words import Caption, Token


def opens_order(word: str) -> bool:
    """Return whether a word at the start of a phrase can be an imperative verb."""
    known = readings(word)
    lists = word_lists("clipped")
    if not is_verb_form(word, "VB") or word in CLOSED or word in BE:
        return False
    return set(known) <= {"VERB", "AUX"} or word in words("order_verbs") or verb_lemma(word) in lists.verbs


def without_openers(texts: Sequence[str]) -> int:
    """Count the leading words that carry no action, such as "then" or the adverb "finely"."""
    at = 0
    while at < len(texts) and (texts[at] in word_lists("orders").openers or is_manner(texts[at])):
        at += 1
    return at


def is_manner(word: str) -> bool:
    """Return whether a word is an adverb of manner, such as "finely"."""
    known = readings(word)
    return word.endswith("ly") and "ADV" in known and "VERB" not in known


@cache
def _suspects() -> tuple[frozenset[str], frozenset[str]]:
    lists = word_lists("orders")
    certain = (words("order_verbs") - words("order_nouns") - lists.no_orders) | lists.more_orders
    return certain, certain | lists.hidden | lists.no_orders | {"cling", "top", "dice", "brown"}


def with_hidden_orders(caption: Caption) -> list[Token]:
    """Tag imperative verbs that were mistaken for nouns or adjectives, as in "… in the oven flip and bake"."""
    tokens, lists = list(caption.tokens), word_lists("orders")
    certain, suspicious = _suspects()
    for number, token in enumerate(tokens):
        before = tokens[number - 1] if number else None
        behind = before.lower if before else ""
        after_lower = tokens[number + 1].lower if number + 1 < len(tokens) else ""
        follows = tokens[number + 1].tag if number + 1 < len(tokens) else ""
        if (
            before
            and token.tag == "VB"
            and before.tag in ("DT", "JJ", "PRP$", "VBG")
            and "NOUN" in readings(token.text)
        ):
            tokens[number] = token.with_tag("NN")  # "on a baking plate"
            continue
        if told := _tag_by_place(tokens, number, lists):
            tokens[number] = token.with_tag(told)
            continue
        if token.lower == "heat" and behind in ("medium", "high", "low", "moderate"):
            tokens[number] = token.with_tag("NN")
            continue
        if token.tag in ("VBN", "VBD") and behind in ("and", "then") and after_lower in ("aside", "it", "them", "the"):
            tokens[number] = token.with_tag("VB") if is_verb_form(token.lower, "VB") else token  # "and set aside"
            continue
        plain = token.lower not in suspicious and behind not in lists.joints and behind not in lists.materials
        if plain and "-" not in token.lower:
            continue
        after = tokens[number + 1] if number + 1 < len(tokens) else None
        acts = follows in ("DT", "PRP", "PRP$") and token.lower in words("order_verbs") | {"dice", "brown"}
        if acts and behind in lists.joints:
            tokens[number] = token.with_tag("VB")
            continue
        sticks = token.lower == "stick" and behind in lists.joints and after_lower == "in"
        if token.lower in lists.no_orders and not sticks:
            thing = bool(before) and token.tag in ("VB", "VBP", "VBN", "MD", "NN")
            described = token.lower in ("ground", "black") and follows.startswith(("NN", "JJ"))
            if thing and token.lower != "can":
                tokens[number] = token.with_tag("JJ" if described else "NN")
            elif token.lower == "can" and (
                after is None or after.lower == "of" or (before and before.tag in ("DT", "CD", "JJ"))
            ):
                tokens[number] = token.with_tag("NN")
            continue
        if token.lower.replace("-", "_") in lists.compounds:
            opens = not before or behind in lists.joints or before.tag.startswith(("NN", "RB"))
            tokens[number] = token.with_tag("VB") if opens else token
            continue
        if token.lower == "cling" and after and after.lower in ("wrap", "film"):
            tokens[number] = token.with_tag("NN")
            tokens[number + 1] = after.with_tag("NN")
            continue
        if before and behind in lists.materials and token.tag == "VB" and follows not in ("DT", "PRP", "PRP$"):
            tokens[number] = token.with_tag("NN")  # "plastic wrap"
            continue
        if before is None or not token.tag.startswith(("NN", "JJ", "VBP")):
            continue
        if not is_verb_form(token.lower, "VB") and token.lower not in lists.more_orders:
            continue
        joint = behind in ("and", "then") or (behind == "," and token.lower in lists.hidden)
        later = tokens[number + 2].tag if number + 2 < len(tokens) else ""
        governs = follows in ("DT", "PRP", "PRP$") or (after is not None and after.lower == "and" and later == "VB")
        adverbial = (
            after is None or follows.startswith("RB") or after.lower in ("with", "until", "for", "till", "further")
        )
        act = token.lower in certain or (opens_order(token.lower) and token.lower not in words("order_nouns"))
        thing = before.tag.startswith(("NN", "RB", "RP")) or behind == "it"
        well = after is not None and after.lower in ("well", "together", "thoroughly")
        topped = token.lower == "top" and after is not None and after.lower == "with" and behind not in ("on", "work")
        object_ = follows in ("DT", "PRP", "PRP$")
        if (joint and (object_ or (act and (governs or adverbial)))) or (
            thing
            and (
                (token.lower in certain and (governs or well))
                or (token.lower in lists.hidden and adverbial and after)
                or topped
            )
        ):
            tokens[number] = token.with_tag("VB")
    return tokens


def _tag_by_place(tokens: Sequence[Token], number: int, lists: WordLists) -> str:
    """Return the tag that follows from the surrounding words, or "" if they leave it open."""
    token, behind = tokens[number], tokens[number - 1].lower if number else ""
    after = tokens[number + 1] if number + 1 < len(tokens) else None
    next_word, next_tag = (after.lower, after.tag) if after else ("", "")
    earlier = tokens[number - 2] if number > 1 else None
    if (token.lower == "puree" and behind in lists.foods) or (token.lower == "top" and behind == "on"):
        return "NN"
    if token.lower in lists.starters and token.tag.startswith("JJ"):
        return "NN"
    if earlier is None:
        return ""
    if token.lower == "brown" and behind in ("and", "then") and next_word in ("", "on", "the", "it"):
        described = "ADJ" in readings(earlier.text) or not earlier.tag.startswith(("NN", "PRP"))
        return "JJ" if described else "VB"  # "until golden and brown", "add the meat and brown"
    if token.lower == "seasoning" and tokens[number - 1].tag.startswith("NN") and next_word in ("and", ",", ""):
        return "NN"  # "oils seasoning and beef"
    if token.lower in lists.never_nouns and behind in ("and", "then"):
        return token.tag if next_tag.startswith(("NN", "JJ", "CC", "VB")) else "VB"
    used = behind in ("baking", "cooking", "serving", "cutting", "mixing", "frying") and token.tag in ("VB", "NN")
    if used and earlier.tag in ("DT", "JJ", "IN") and "NOUN" in readings(token.text):
        return "NN"  # "on a baking plate"
    return ""


def is_purpose(tokens: Sequence[Token], number: int) -> bool:
    """Return whether "to" introduces a verb, as in "roll over to completely cover the stuffing"."""
    place = number - 1
    while place > 0 and is_manner(tokens[place].lower):
        place -= 1
    return place > 0 and tokens[place].lower == "to"


def is_hidden_still(tokens: Sequence[Token], number: int, lists: WordLists) -> bool:
    """Return whether a word may be an imperative verb without the right tag, as in "the lid on simmer …"."""
    token, before = tokens[number], tokens[number - 1]
    if not token.tag.startswith(("NN", "JJ", "VB")):
        return False
    if token.lower in lists.hidden and token.tag.startswith(("NN", "JJ", "VBP")):
        return not (before.tag.startswith(("DT", "JJ", "CD", "PRP$", "VB")) and number > 1) and token.lower != "fry"
    after = tokens[number + 1].lower if number + 1 < len(tokens) else ""
    if not is_purpose(tokens, number):
        thing = before.lower in lists.materials or f"{before.lower}_{token.lower}" in lists.pairs
        governs = before.tag.startswith(("NN", "RB", "RP", "CC")) and after in lists.governed and not thing
        if token.lower in lists.never_nouns or (token.lower in lists.phrasal and governs):
            return True
    if token.lower in ("do", "does") or (token.lower in _suspects()[0] and after == "with" and token.tag == "NN"):
        return True
    if before.lower not in ("and", "then") or not token.tag.startswith(("NN", "VBP")) or number + 1 >= len(tokens):
        return False
    verbal = is_verb_form(token.lower, "VB") and token.lower not in words("order_nouns")
    return verbal and tokens[number + 1].lower in ("using", "with", "until", "over", "it", "them", "again", "well")
