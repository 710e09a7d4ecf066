"""What timed annotations say is done, as gerund phrases: gerunds, orders and sentences about a person.

"Spread margarine on bread." and "a man is spreading margarine on bread" both give "spreading margarine on bread".
Which of the three a phrase is, its first words tell: an -ing form, the base form of a verb, anything else. Each has its
reader (`orders.py`, `gerunds.py`); a gerund is read as the order that it is the gerund of, so that it is checked alike.
"""

from __future__ import annotations

import re
from functools import lru_cache

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
LONGEST = 24  # words
LONGEST_TEXT = 2000  # characters; no phrase has as many
_SEEN = re.compile(r"^\s*(?:(?:we|you|i)(?: can| then)? see|the video shows|(?:the|this) clip shows)\s+", re.IGNORECASE)
_INSIDE = re.compile(r"\b(?:we|you|i)(?: can)? see\b", re.IGNORECASE)
_EXERCISE = re.compile(r"\b(push|pull|sit|chin|press|step) (ups)\b", re.IGNORECASE)


def phrase(text: str, *, as_is: bool = False) -> Gerund | str:
    """Turn a phrase of an annotation into a gerund phrase.

    Never raises; whatever is not certain is refused.

    Args:
        text: A gerund ("spreading margarine on bread"), an order ("spread margarine on bread; add the oil and stir") or
            a sentence in the present about a person ("a man is opening the door").
        as_is: Take the words as they stand, whatever they are; only spaces and the final stop go.

    Returns:
        The phrase with its lemmas, or a reason code, one of `REASONS`.
    """
    if len(text) > LONGEST_TEXT:
        return "long"
    return _as_is(text) if as_is else accepted(_phrase(text))


def instruction(text: str) -> Gerund | str:
    """Turn a phrase that is known to be an order; see `phrase`."""
    return "long" if len(text) > LONGEST_TEXT else accepted(order_phrase(text))


def accepted(found: Gerund | str) -> Gerund | str:
    """Refuse a phrase that leans on a sentence before it, or is too long."""
    if isinstance(found, str):
        return found
    if found.anaphoric:
        return "pronoun"
    return "long" if len(found.phrase.split()) > LONGEST else found


def phrase_identity() -> dict[str, str]:
    """Return what decides phrases besides the texts and the code: the word lists by hash, and the tagger."""
    return gerunds.phrase_identity("orders")


def _plain(text: str) -> str:
    """Leave out that it is seen, and write exercises as one word: "we see a man doing push ups"."""
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


def _as_order(text: str) -> str:
    """Write a gerund phrase as the order that it is the gerund of: its first verb, and those that "and" joins."""
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
    """Return the base form of an -ing form, "stir-fry" of "stir-frying"; "" for what is none."""
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
    """Return the verbs and nouns of a text that no phrase was made of, as far as they are read, as lemmas.

    Args:
        text: Any text; what is too long for a phrase is not read.
        style: What it is: see `Tagger.analyse`.
    """
    if len(text) > LONGEST_TEXT:
        return frozenset(), frozenset()
    tokens = load_tagger("pattern").analyse(text, style).tokens
    nouns = frozenset(fold_noun(token.lower) for token in tokens if token.tag.startswith("NN") and token.is_word)
    return frozenset(_verbs(text, style)), nouns


def lemmas_in(text: str) -> frozenset[str]:
    """Return what the words of any text may be forms of, nouns or verbs alike; auxiliaries and the like are none.

    "the cut onions" has "cut" and "onion": what no reader understood is about one of them at most.
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
