"""Convert timed annotations to gerund phrases, whether they are gerunds, instructions or sentences about a person.

"Spread margarine on bread." and "a man is spreading margarine on bread" both become "spreading margarine on bread". The
first words determine the kind: an -ing form, the base form of a verb, or anything else. `orders.py` and `gerunds.py`
parse them. A gerund is parsed like the corresponding instruction, so that the same checks apply.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise

from . import gerunds
from .closed_classes import AUXILIARIES, CLOSED, HAVE
from .gerund_wording import Gerund, fold_noun
from .inflection import is_verb_form, readings, verb_lemma
from .lexicon import word_lists, words
from .order_words import opens_order, without_openers
from .orders import order_phrase
from .tag_repairs.clipped_words import folded
from .tagger import load_tagger
from .words import StyleOption, tokenize

REASONS = gerunds.REASONS | {
    "pronoun": "a pronoun without the noun that it stands for",
    "long": "more words than a question about two events can hold",
}
LONGEST = 24  # maximum number of words
LONGEST_TEXT = 2000  # maximum number of characters, above that of any real phrase
_SEEN = re.compile(r"^\s*(?:(?:we|you|i)(?: can| then)? see|the video shows|(?:the|this) clip shows)\s+", re.IGNORECASE)
_INSIDE = re.compile(r"\b(?:we|you|i)(?: can)? see\b", re.IGNORECASE)
_EXERCISE = re.compile(r"\b(push|pull|sit|chin|press|step) (ups)\b", re.IGNORECASE)


def phrase(text: str, *, as_is: bool = False) -> Gerund | str:
    """Convert an annotated phrase to a gerund phrase.

    Args:
        text: A gerund ("spreading margarine on bread"), an instruction ("spread margarine on bread; add the oil and
            stir") or a present-tense sentence about a person ("a man is opening the door").
        as_is: Whether to keep the words unchanged, except for spaces and the final period.

    Returns:
        The phrase with its lemmas or, if it is rejected, a reason code from `REASONS`.
    """
    if len(text) > LONGEST_TEXT:
        return "long"
    return _as_is(text) if as_is else accepted(_phrase(text))


def instruction(text: str) -> Gerund | str:
    """Convert an instruction to a gerund phrase; see `phrase`."""
    return "long" if len(text) > LONGEST_TEXT else accepted(order_phrase(text))


def accepted(found: Gerund | str) -> Gerund | str:
    """Reject a phrase that is anaphoric or too long."""
    if isinstance(found, str):
        return found
    if found.anaphoric:
        return "pronoun"
    return "long" if len(found.phrase.split()) > LONGEST else found


def phrase_identity() -> dict[str, str]:
    """Return everything besides the code that determines phrases: the hashes of the word lists, and the tagger."""
    return gerunds.phrase_identity("orders")


def _plain(text: str) -> str:
    """Remove "we see", and hyphenate exercises: "we see a man doing push ups" becomes "a man doing push-ups"."""
    return _EXERCISE.sub(r"\1-\2", _SEEN.sub("", text))


@lru_cache(maxsize=1 << 14)
def _phrase(text: str) -> Gerund | str:
    text = _plain(text)
    if _INSIDE.search(text):
        return "other_subject"  # "first time we see the bridge"
    tokens = [token.lower for token in tokenize(text) if token.is_word]
    at = without_openers(tokens)
    if at >= len(tokens):
        return "no_verb" if tokens else "empty"
    first, behind = tokens[at], tokens[at + 1] if at + 1 < len(tokens) else ""
    if first in ("to", "using") and _hides_order(tokens[at + 2 :]):
        return "run_on"  # "using a blow torch cook the meat"
    if _ing_lemma(first):
        found = order_phrase(_as_order(text))
        return gerunds.gerund(text) if isinstance(found, str) else found
    subject = first in words("order_nouns") and is_verb_form(behind, "VBZ")  # "water boils"
    if behind == "of" and "NOUN" in readings(first) and opens_order(first):
        return "other_subject"  # "view of a city"
    if opens_order(first) and behind in ("is", "are", "was", "were"):
        return "other_subject"  # "peter is washing the car"
    if opens_order(first) and behind not in word_lists("clipped").finite and not subject:
        return order_phrase(text)
    return gerunds.gerund(text)


def _hides_order(tokens: Sequence[str]) -> bool:
    """Return whether an imperative verb follows a noun, as in "blow torch cook the meat"."""
    verbs = words("order_verbs")
    return any(word in verbs and one not in CLOSED and "NOUN" in readings(one) for one, word in pairwise(tokens))


def _as_order(text: str) -> str:
    tokens = tokenize(text)
    pieces, place, opens, joint = [], 0, True, False
    for token, after in zip(tokens, [*tokens[1:], None], strict=True):
        word = token.lower
        thing = after is not None and f"{word}_{after.lower}" in word_lists("orders").openings  # "baking powder"
        lemma = "" if thing else _ing_lemma(word)
        pieces.append(text[place : token.start])
        pieces.append(lemma if lemma and (opens or joint) else token.text)
        opens = opens and not lemma
        joint = word in ("and", "then", "or", ",")
        place = token.end
    return "".join([*pieces, text[place:]])


def _ing_lemma(word: str) -> str:
    """Return the base form of an -ing form, such as "stir-fry" for "stir-frying", or "" for other words."""
    manner, dash, verb = word.rpartition("-")
    if not word.endswith("ing") or word in word_lists("clipped").ing_nouns or not is_verb_form(verb, "VBG"):
        return ""
    return f"{manner}{dash}{verb_lemma(verb)}"


@lru_cache(maxsize=1 << 14)
def _as_is(text: str) -> Gerund | str:
    plain = " ".join(text.split()).rstrip(" .!?;:,")
    if not any(character.isalnum() for character in plain):
        return "empty"
    verbs, nouns = _verbs(plain, "auto"), said(plain)[1]
    lemmas = frozenset(folded("verb_folds").get(verb, verb) for verb in verbs)
    first = next((token.lower for token in tokenize(plain) if token.is_word), plain.lower())
    return Gerund(plain, verbs[0] if verbs else first, nouns | lemmas, nouns, False)


def said(text: str, style: StyleOption = "auto") -> tuple[frozenset[str], frozenset[str]]:
    """Return the lemmas of the verbs and of the nouns in a text that could not be converted to a phrase.

    Both sets are empty if the text is too long for a phrase.
    """
    if len(text) > LONGEST_TEXT:
        return frozenset(), frozenset()
    tokens = load_tagger("pattern").analyse(text, style).tokens
    nouns = frozenset(fold_noun(token.lower) for token in tokens if token.tag.startswith("NN") and token.is_word)
    return frozenset(_verbs(text, style)), nouns


def lemmas_in(text: str) -> frozenset[str]:
    """Return every lemma that a word of the text may have as a noun or verb, except auxiliaries and function words.

    "the cut onions" yields "cut" and "onion".
    """
    found = set[str]()
    for word in {token.lower for token in tokenize(text) if token.is_word}:
        if word in CLOSED or (word in AUXILIARIES and word not in HAVE):
            continue
        found |= {word, fold_noun(word), verb_lemma(word)}
    return frozenset(found | {folded("verb_folds").get(word, word) for word in found})


def _verbs(text: str, style: StyleOption) -> list[str]:
    auxiliaries = word_lists("clipped").finite | word_lists("clipped").be
    tokens = load_tagger("pattern").analyse(text, style).tokens
    return [verb_lemma(t.text) for t in tokens if t.tag.startswith("VB") and t.lower not in auxiliaries]
