"""Find nouns and adjectives with several parts of speech, and the places where they fit into a caption."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from ...language.inflection import is_verb_form, readings
from ...language.noun_phrases import QUANTITIES
from ...language.word_classes import with_classes
from ...language.wordnet import Pos, WordNet
from ...language.words import Caption
from .lexical import PARTS, is_plain, names
from .synonyms import in_phrase, tells_how_much

COMMON_NOUN, COMMON_ADJECTIVE = 3, 1  # how often a word must occur in WordNet's tagged texts to be common
ARTICLES = ("DT", "PRP$", "POS", "WP$")
BE = ("is", "are", "was", "were", "be", "been", "being")
SINGLE = ("a", "an", "another", "each", "every", "either", "neither")
SEVERAL = ("some", "any", "all", "these", "those", "both")
AFTER_ARTICLE = ("NN", "JJ", "RB", "VBG", "VBN", "CD")


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
    """Return the possible replacements for each singular noun, by token index."""
    caption = with_classes(caption)
    pool, fixed = multi_pos_words(wordnet, "n"), names("multi_pos", "fixed_nouns") | QUANTITIES
    mass = names("multi_pos", "mass_nouns")
    uncounted = names("multi_pos", "uncounted") | (mass - names("multi_pos", "counted_too"))
    by_use = {
        "any": pool,
        "one": tuple(word for word in pool if word not in uncounted),
        "bare": tuple(word for word in pool if word in mass),
    }
    found: dict[int, Sequence[str]] = {}
    for number in caption.tagged("NN"):
        token = caption.tokens[number]
        verb = caption.tag_at(number - 1) in ("TO", "MD")  # "to film": a verb
        if token.tag == "NN" and token.lower not in fixed and token.text.isalpha() and not verb:
            found[number] = by_use[_use(caption, number)]
    return found


def adjective_pools(caption: Caption, wordnet: WordNet) -> dict[int, Sequence[str]]:
    """Return the possible replacements for each adjective, by token index."""
    caption = with_classes(caption)
    fixed, pool = names("multi_pos", "fixed_adjectives"), multi_pos_words(wordnet, "a")
    found: dict[int, Sequence[str]] = {}
    for number in caption.tagged("JJ"):
        token, before, after = caption.tokens[number], caption.tag_at(number - 1), caption.tag_at(number + 1)
        last = not after or after == "CC" or not caption.tokens[number + 1].is_word
        # "is very big", not "is fond of"
        said = last and (before.startswith("RB") or caption.lower_at(number - 1) in BE)
        stays = token.lower in fixed or tells_how_much(caption, number, wordnet) or in_phrase(caption, number, wordnet)
        stays = stays or not _is_adjective(caption, number)
        if token.tag == "JJ" and not stays and (said or _is_before_noun(caption, number)):
            found[number] = pool
    return found


def _is_adjective(caption: Caption, number: int) -> bool:
    """Return whether the dictionary lists a word as an adjective and it is not in a compound such as "fast moving"."""
    word, before = caption.tokens[number].lower, caption.tag_at(number - 1)
    participle = is_verb_form(word, "VBG") or is_verb_form(word, "VBN") or word.endswith("ed")
    passive = caption.lower_at(number - 1) in BE and participle
    return "ADJ" in readings(word) and not passive and not (participle and before.startswith(("RB", "JJ", "NN")))


def _is_before_noun(caption: Caption, number: int) -> bool:
    place = number + 1
    while caption.tag_at(place) == "JJ":
        place += 1
    return caption.tag_at(place).startswith("NN")


def _use(caption: Caption, number: int) -> str:
    """Return "one" after words such as "a", "any" after "the" or before a noun, and "bare" otherwise."""
    if caption.tag_at(number + 1).startswith("NN"):
        return "any"  # "police officer"
    for place in range(number - 1, -1, -1):
        tag, lower = caption.tokens[place].tag, caption.tokens[place].lower
        if tag in ARTICLES:
            if lower in SEVERAL:
                return "bare"
            return "one" if lower in SINGLE else "any"
        if tag == "CD":
            return "one" if lower in ("one", "1") else "bare"
        if not tag.startswith(AFTER_ARTICLE):
            break
    return "bare"
