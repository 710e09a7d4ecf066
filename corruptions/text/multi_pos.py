"""Find nouns and adjectives with several parts of speech, and the places where they fit into a caption."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from ...language.inflection import readings
from ...language.wordnet import Pos, WordNet
from ...language.words import Caption
from .lexical import PARTS, is_plain, names
from .synonyms import in_phrase, tells_how_much
from .word_classes import word_class

COMMON_NOUN, COMMON_ADJECTIVE = 3, 1  # how often a word must occur in WordNet's tagged texts to be common
SINGLE = ("a", "an", "another", "each", "every", "either", "neither", "one", "1")
SEVERAL = ("some", "any", "all", "these", "those", "both")


@cache
def multi_pos_words(wordnet: WordNet, pos: Pos) -> tuple[str, ...]:
    """Return common nouns ("n") or adjectives ("a") that can also be another part of speech, in alphabetical order."""
    part, least = PARTS[pos], COMMON_NOUN if pos == "n" else COMMON_ADJECTIVE
    left_out = names("multi_pos", "no_nouns" if pos == "n" else "no_adjectives") | names("sensitive")

    def serves(word: str) -> bool:
        count, others = wordnet.count(word, pos), [wordnet.count(word, other) for other in PARTS if other != pos]
        common = count >= least and any(others) and max(others) <= count
        known = word in readings(word).get(part, ()) and "AUX" not in readings(word)
        return common and known and is_plain(word) and len(wordnet.parts(word)) > 1

    return tuple(word for word in wordnet.lemmas(pos) if word not in left_out and serves(word))


def noun_pools(caption: Caption, wordnet: WordNet) -> dict[int, Sequence[str]]:
    """Return the possible replacements for each singular noun, by token index.

    Nouns of quantity ("a group of people") and nouns that may be verbs have none.
    """
    pool, mass = multi_pos_words(wordnet, "n"), names("multi_pos", "mass_nouns")
    uncounted = names("multi_pos", "uncounted") | (mass - names("multi_pos", "counted_too"))
    by_use = {
        "any": pool,
        "one": tuple(word for word in pool if word not in uncounted),
        "bare": tuple(word for word in pool if word in mass),
    }
    return {
        number: by_use[_use(caption, number)]
        for number, token in enumerate(caption.tokens)
        if token.tag == "NN"
        and token.text.isalpha()
        and len(token.text) > 1
        and token.lower not in names("multi_pos", "fixed_nouns")
        and word_class(caption, number) == "noun"
        and not _counts(caption, number)
    }


def adjective_pools(caption: Caption, wordnet: WordNet) -> dict[int, Sequence[str]]:
    """Return the possible replacements for each adjective before a noun or after "be", by token index."""
    fixed, pool = names("multi_pos", "fixed_adjectives"), multi_pos_words(wordnet, "a")
    found: dict[int, Sequence[str]] = {}
    for number, token in enumerate(caption.tokens):
        before = token.arc == "amod" and token.head > number
        said = token.arc == "acomp" and not caption.children(number, "prep", "ccomp", "xcomp")  # not "fond of"
        adjective = token.tag == "JJ" and "ADJ" in readings(token.lower) and not token.rival.startswith("VB")
        if not adjective or token.lower in fixed or not (before or said):
            continue
        if not tells_how_much(caption, number, wordnet) and not in_phrase(caption, number, wordnet):
            found[number] = pool
    return found


def _counts(caption: Caption, number: int) -> bool:
    """Return whether a noun is followed by "of" and plural nouns, whose number its verb may have."""
    links = [n for n in caption.children(number, "prep") if caption.lower_at(n) == "of"]
    return any(caption.tag_at(n) == "NNS" for link in links for n in caption.children(link, "pobj"))


def _use(caption: Caption, number: int) -> str:
    """Return "one" after words such as "a", "any" after "the" or before a noun, and "bare" otherwise."""
    if caption.tokens[number].arc == "compound":
        return "any"  # "police officer"
    marks = [caption.tokens[n] for n in caption.children(number, "det", "poss", "nummod") if n < number]
    if not marks or any(token.lower in SEVERAL for token in marks):
        return "bare"
    return "one" if any(token.lower in SINGLE for token in marks) else "any"
