"""Perturb characters: typing, spelling and OCR errors, prefixes, and punctuation.

The first four functions change n = clamp(int(p * tokens), 1, 10) words, sampled from the words that they can change,
but never stop words. "a" and "an" are not adapted to the changed word. Each function returns the new text, or the
reason why it is unchanged.

Source: Schiappa et al. 2022, appendix A.2, after TextFlint (Wang et al. 2021); word counts from the released code.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cache, lru_cache
from typing import Any

import numpy as np

from ...language.lexicon import readings
from ...language.words import Caption, like
from ..registry import Unchanged
from .lexical import draw_one, read_table, word_count

READINGS_OF_TAGS = {"NN": "NOUN", "VB": "VERB", "JJ": "ADJ", "RB": "ADV"}
SUFFIXES = ("s", "ed", "ing", "ly")
Draw = Callable[[str], str]


def keyboard(caption: Caption, rng: np.random.Generator) -> str | Unchanged:
    """Replace one letter with a neighbouring QWERTY key in a fifth of the words with four or more letters."""
    neighbours: dict[str, str] = _table("keyboard", "neighbours")

    def draw(word: str) -> str:
        position = draw_one([n for n, letter in enumerate(word) if letter.lower() in neighbours], rng)
        letter = like(draw_one(neighbours[word[position].lower()], rng), word[position])
        return word[:position] + letter + word[position + 1 :]

    def fits(word: str) -> bool:
        return sum(letter.lower() in neighbours for letter in word) >= 4

    return _respell(caption, rng, 0.2, fits, draw) or Unchanged("no word of four letters that is not a stop word")


def spelling_error(caption: Caption, rng: np.random.Generator) -> str | Unchanged:
    """Misspell three tenths of the words, using a table or rules such as doubled letters, but never as another word."""

    def draw(word: str) -> str:
        return like(draw_one(misspellings(word.lower()), rng), word)

    return _respell(caption, rng, 0.3, lambda word: bool(misspellings(word.lower())), draw) or Unchanged(
        "no word that is often misspelt"
    )


def typos(caption: Caption, rng: np.random.Generator) -> str | Unchanged:
    """Insert, delete, swap or replace one inner letter in three tenths of the words with three or more letters."""

    def draw(word: str) -> str:
        inner = [n for n in range(1, len(word) - 1) if word[n].isalpha()]
        swaps = [n for n in inner if n + 1 in inner and word[n].lower() != word[n + 1].lower()]
        kind = draw_one(["insert", "delete", "replace", *(["swap"] if swaps else [])], rng)
        position = draw_one(swaps if kind == "swap" else inner, rng)
        if kind == "swap":
            return word[:position] + word[position + 1] + word[position] + word[position + 2 :]
        letters = "abcdefghijklmnopqrstuvwxyz".replace(word[position].lower(), "")
        letter = "" if kind == "delete" else like(draw_one(letters, rng), word[position])
        return word[:position] + letter + word[position + (kind != "insert") :]

    def fits(word: str) -> bool:
        return sum(letter.isalpha() for letter in word) >= 3 and any(letter.isalpha() for letter in word[1:-1])

    return _respell(caption, rng, 0.3, fits, draw) or Unchanged("no word of three letters that is not a stop word")


def ocr(caption: Caption, rng: np.random.Generator) -> str | Unchanged:
    """Replace one or two characters with similar shapes, such as o with 0, in a fifth of the words and numbers."""
    alike: dict[str, list[str]] = _table("ocr", "alike")

    def matches(word: str) -> list[tuple[int, str]]:
        return [(n, shape) for shape in alike for n in range(len(word)) if word.startswith(shape, n)]

    def draw(word: str) -> str:
        position, shape = draw_one(matches(word), rng)
        return word[:position] + draw_one(alike[shape], rng) + word[position + len(shape) :]

    return _respell(caption, rng, 0.2, lambda word: len(word) > 1 and bool(matches(word)), draw) or Unchanged(
        "no word with a look-alike character that is not a stop word"
    )


def prefix_swap(caption: Caption, rng: np.random.Generator) -> str | Unchanged:
    """Replace the prefix of one word so that the result is another dictionary word with the same part of speech."""
    candidates = []
    for index in caption.words:
        token = caption.tokens[index]
        words = other_prefixes(token.lower, READINGS_OF_TAGS.get(token.tag[:2], ""))
        candidates += [(index, word) for word in words]
    if not candidates:
        return Unchanged("no word whose prefix can be exchanged")
    index, word = draw_one(candidates, rng)
    return caption.edit({index: like(word, caption.tokens[index].text)})


def punctuation(caption: Caption, rng: np.random.Generator) -> str | Unchanged:
    """Enclose the caption in brackets or quotation marks, replace its final punctuation mark, or both."""
    kind = draw_one(["pair", "end", "both"], rng)
    text = caption.text.strip()
    if kind != "pair":
        bare = re.sub(r"(?<![\s.,;:!?…-])[\s.,;:!?…-]+$", "", text)
        text = bare + draw_one([mark for mark in _table("punctuation", "ends") if bare + mark != text], rng)
    if kind != "end":
        first, last = draw_one(_table("punctuation", "pairs"), rng)
        text = first + text + last
    return text


@lru_cache(maxsize=1 << 14)
def misspellings(word: str) -> tuple[str, ...]:
    """Return misspellings of a lower-case word that are not words themselves.

    They are looked up in the table, for the word itself or its base form before a regular ending, or else formed by
    rules.
    """
    table: dict[str, list[str]] = _table("spelling", "words")
    if word in table:
        return tuple(table[word])
    if not (word.isascii() and word.isalpha()) or len(word) < 4:
        return ()
    for suffix in SUFFIXES:
        stem = word.removesuffix(suffix)
        if stem != word and stem in table:
            forms = [wrong + suffix for wrong in table[stem] if wrong[-1] == stem[-1]]
            if unknown := tuple(form for form in forms if _unknown(form)):
                return unknown
    return tuple(dict.fromkeys(wrong for wrong in _slips(word) if wrong != word and _unknown(wrong)))


DOUBLED = re.compile(r"(?<=[^aeiouy][aeiou])[lmnprst](?=[aeiouy])(?!e[sd]?$)")  # lemon, lemmon
VOWELS = {"a": "e", "e": "a", "i": "e"}  # unstressed vowels sound alike
INNER = re.compile(r"(?:(?<=[aeiouy][^aeiouy])|(?<=[^aeiouy]{2}))(?!ing|e[sd]$)[aei](?=[^aeiouy])(?![^aeiouy]e[sd]?$)")


@cache
def _rules() -> list[tuple[re.Pattern[str], str]]:
    return [(re.compile(pattern), wrong) for pattern, wrong in _table("spelling", "rules")]


def _slips(word: str) -> Iterator[str]:
    """Misspell a word by rule. Letters are doubled and unstressed vowels replaced only if no other rule applies."""
    slips = [
        word[: hit.start()] + hit.expand(wrong) + word[hit.end() :]
        for rule, wrong in _rules()
        for hit in rule.finditer(word)
    ]
    for lemma in readings(word).get("VERB", ()):
        if lemma.endswith("e") and word == f"{lemma[:-1]}ing":
            slips.append(f"{lemma}ing")  # makeing
        if lemma.endswith("y") and word == f"{lemma[:-1]}ied":
            slips.append(f"{lemma}ed")  # carryed
    if not any(_unknown(wrong) for wrong in slips):
        slips += [f"{word[: hit.end()]}{word[hit.start() :]}" for hit in DOUBLED.finditer(word)]
        inner = (hit for hit in INNER.finditer(word) if 2 < hit.start() < len(word) - 1)
        slips += [word[: hit.start()] + VOWELS[hit[0]] + word[hit.end() :] for hit in inner]
    yield from slips


def _unknown(word: str) -> bool:
    return not readings(word) and word not in stop_words()


@lru_cache(maxsize=1 << 14)
def other_prefixes(word: str, reading: str) -> tuple[str, ...]:
    """Return the words that differ only in their prefix. `reading` is "NOUN", "VERB", "ADJ" or "ADV"."""
    if not word.isalpha() or word in stop_words():
        return ()
    prefixes, refused = _table("prefixes", "words"), set(_table("not_prefixed", "words"))
    lemmas = set(readings(word).get(reading, ())) - refused
    words: dict[str, None] = {}
    for prefix in prefixes:
        rest = word.removeprefix(prefix)
        if rest == word or len(rest) < 3 or not readings(rest):
            continue
        stems = {lemma.removeprefix(prefix) for lemma in lemmas if lemma.startswith(prefix)}
        for new_prefix in prefixes:
            right = {new_prefix + stem for stem in stems} & set(readings(new_prefix + rest).get(reading, ())) - refused
            if new_prefix != prefix and right:
                words[new_prefix + rest] = None
    return tuple(words)


@cache
def stop_words() -> frozenset[str]:
    """Return the function words, which are never changed."""
    return frozenset(_table("stop_words", "words").split())


def _respell(caption: Caption, rng: np.random.Generator, share: float, fits: Callable[[str], bool], draw: Draw) -> str:
    """Change a share of the words. Return "" if no word can be changed."""
    tokens = caption.tokens
    free = [n for n in caption.words if tokens[n].text[0].isalnum() and tokens[n].lower not in stop_words()]
    eligible = [n for n in free if fits(tokens[n].text)]
    if not eligible:
        return ""
    count = min(word_count(caption, share), len(eligible))
    chosen = sorted(int(n) for n in rng.choice(eligible, count, replace=False))
    return caption.replace({index: draw(tokens[index].text) for index in chosen})


def _table(part: str, key: str) -> Any:
    return read_table("change_char")[part][key]
