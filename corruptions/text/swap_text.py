"""Replace words with synonyms, embedding neighbours, suggestions of a language model, or ambiguous words.

Source: Schiappa et al. 2022, appendix A.2, after TextFlint (Wang et al. 2021); word counts from the released code.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import cast

import numpy as np

from ...language.lexicon import AUXILIARIES, Tag, is_plural_noun, is_verb_form, lemma, readings
from ...language.parse import parse
from ...language.wordnet import Pos, WordNet
from ...language.words import Caption, like, with_capital, without_capital
from ..registry import Unchanged
from .lexical import PARTS, POSES, draw_one, is_plain, names, related, shuffled, word_class, word_count
from .synonyms import content_words, embedding_options, in_phrase, tells_how_much, wordnet_options
from .tools import Tools

MOST_MULTI = 2  # maximum number of words that multi_pos_swap_* changes
SUGGESTIONS, LIKELY = 100, 5  # words requested from the model, and how many of those that fit to sample from


def multi_pos_swap_nn(caption: Caption, tools: Tools, rng: np.random.Generator) -> str | Unchanged:
    """Replace up to two words with the exact tag NN by nouns that can also be another part of speech.

    The paper's example is "a little output does gymnastics". Replacements are common WordNet words that are mostly
    nouns: countable after articles such as "a", uncountable without an article. Nouns of quantity ("a group of people
    are") do not change, since the verb agrees with the noun they quantify.
    """
    pools = _noun_pools(caption, tools.wordnet)
    return _swap_multi(caption, pools, rng) or Unchanged("no noun in the singular")


def multi_pos_swap_jj(caption: Caption, tools: Tools, rng: np.random.Generator) -> str | Unchanged:
    """Replace up to two words with the exact tag JJ by adjectives that can also be another part of speech.

    The paper's example is "a anodyne girl does gymnastics". Replacements are common WordNet words that are mostly
    adjectives. Only adjectives before a noun, or after a verb and without a complement (not "afraid that"), change.
    """
    pools = _adjective_pools(caption, tools.wordnet)
    return _swap_multi(caption, pools, rng) or Unchanged("no adjective")


def swap_syn_wordnet(caption: Caption, tools: Tools, rng: np.random.Generator) -> str | Unchanged:
    """Replace a tenth of the words with inflected synonyms from WordNet.

    The shared sense must be by far the most frequent one of both words in WordNet's tagged texts. For common caption
    words, a table selects idiomatic synonyms; stilted ones ("table salt") are a last resort. Auxiliaries, compounds,
    set phrases ("hot dog", "put on") and names do not change.
    """
    options = {n: wordnet_options(caption, n, tools.wordnet) for n in content_words(caption, tools.wordnet)}
    return _swap(caption, options, rng, 0.1) or Unchanged("no word with a common synonym in WordNet")


def swap_syn_word_embedding(caption: Caption, tools: Tools, rng: np.random.Generator) -> str | Unchanged:
    """Replace a tenth of the words with inflected neighbours in an embedding space.

    Neighbours may be antonyms or co-hyponyms ("cat", "dog"), so a replacement must mostly be used as the same part of
    speech and share a frequent WordNet sense with the word. It is never another form of the word itself.
    """
    options = {index: embedding_options(caption, index, tools) for index in content_words(caption, tools.wordnet)}
    return _swap(caption, options, rng, 0.1) or Unchanged("no word with a near word in the embedding")


def mlm_suggestion(caption: Caption, tools: Tools, rng: np.random.Generator) -> str | Unchanged:
    """Replace a fifth of the words with suggestions from a masked language model: whole words in the same form.

    Words are masked one after the other, so that each suggestion takes earlier ones into account.
    """
    eligible = [
        n
        for n, token in enumerate(caption.tokens)
        if token.tag in POSES and token.lower not in AUXILIARIES and token.text.isalpha() and len(token.text) > 1
    ]
    wanted, changes = word_count(caption, 0.2), dict[int, str]()
    for index in shuffled(eligible, rng):
        token = caption.tokens[index]
        mask = "\0"
        before, _, after = caption.edit({**changes, index: mask}).partition(mask)
        suggested = tools.suggest(before, after, SUGGESTIONS)
        fitting = [word for word in suggested if _same_form(word, token.lower, token.tag)][:LIKELY]
        if fitting:
            changes[index] = like(draw_one(fitting, rng), token.text)
        if len(changes) == wanted:
            break
    return caption.edit(changes) if changes else Unchanged("no word for which the model suggests another of its form")


def back_trans(caption: Caption, tools: Tools) -> str | Unchanged:
    """Translate the caption into another language and back. An initial capital and a final full stop are kept."""
    text = caption.text.strip()
    translation = tools.translate_back(text)
    if not translation or not caption.tokens:
        return Unchanged("the translation is empty")
    if text[-1].isalnum():
        translation = translation.rstrip(" .")
    first = next(iter(parse(translation).tokens), None)
    if text[:1].islower() and first is not None:
        translation = without_capital(first) + translation[first.end :]
    elif text[:1].isupper():
        translation = with_capital(translation)
    return translation if translation != text else Unchanged("the translation back gives the same words")


def _swap_multi(caption: Caption, pools: Mapping[int, Sequence[str]], rng: np.random.Generator) -> str | None:
    present = {token.lower for token in caption.tokens}
    changes: dict[int, str] = {}
    for index in sorted(shuffled(list(pools), rng)[:MOST_MULTI]):
        fitting = [word for word in pools[index] if word not in present]
        present.add(word := draw_one(fitting, rng))
        changes[index] = like(word, caption.tokens[index].text)
    return caption.edit(changes) if changes else None


def _swap(caption: Caption, options: Mapping[int, Sequence[str]], rng: np.random.Generator, share: float) -> str | None:
    changes, present = {}, {token.lower for token in caption.tokens}
    fresh = {n: [w for w in words if not _is_present(w, present)] for n, words in options.items()}
    for index in shuffled([n for n, words in fresh.items() if words], rng)[: word_count(caption, share)]:
        changes[index] = like(draw_one(fresh[index], rng), caption.tokens[index].text)
    return caption.edit(changes) if changes else None


def _is_present(new: str, present: set[str]) -> bool:
    return not present.isdisjoint((new, f"{new}s", new.removesuffix("s")))


def _same_form(word: str, old: str, tag: str) -> bool:
    """Return whether a suggestion fits the tag of the word it replaces and is not a form of the same word."""
    part, pos = POSES[tag]
    word = word.lower()
    if word in names("sensitive") or part not in readings(word) or word in AUXILIARIES or len(word) < 2:
        return False
    if pos == "v" and not is_verb_form(word, cast(Tag, tag)):
        return False
    if pos == "n" and is_plural_noun(word) != (tag == "NNS"):
        return False
    return word not in names("fixed") and not related(lemma(old, tag), lemma(word, tag))


# Nouns and adjectives with several parts of speech, and where they fit into a caption

COMMON_NOUN, COMMON_ADJECTIVE = 3, 1  # how often a word must occur in WordNet's tagged texts to be common
SINGLE = ("a", "an", "another", "each", "every", "either", "neither", "one", "1")
SEVERAL = ("some", "any", "all", "these", "those", "both")


@cache
def multi_pos_words(wordnet: WordNet, pos: Pos) -> tuple[str, ...]:
    """Return common nouns ("n") or adjectives ("a") that can also be another part of speech, in alphabetical order."""
    part, least = PARTS[pos], COMMON_NOUN if pos == "n" else COMMON_ADJECTIVE
    left_out = names("multi_pos", "no_nouns" if pos == "n" else "no_adjectives") | names("sensitive")

    def serves(word: str) -> bool:
        count = wordnet.count(word, pos)
        others = [wordnet.count(word, other) for other in PARTS if other != pos]
        common = count >= least and any(others) and max(others) <= count
        known = word in readings(word).get(part, ()) and "AUX" not in readings(word)
        return common and known and is_plain(word) and len(wordnet.parts(word)) > 1

    return tuple(word for word in wordnet.lemmas(pos) if word not in left_out and serves(word))


def _noun_pools(caption: Caption, wordnet: WordNet) -> dict[int, Sequence[str]]:
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
        index: by_use[_use(caption, index)]
        for index, token in enumerate(caption.tokens)
        if token.tag == "NN"
        and token.text.isalpha()
        and len(token.text) > 1
        and token.lower not in names("multi_pos", "fixed_nouns")
        and word_class(caption, index) == "noun"
        and not _counts(caption, index)
    }


def _adjective_pools(caption: Caption, wordnet: WordNet) -> dict[int, Sequence[str]]:
    """Return the possible replacements for each adjective before a noun or after "be", by token index."""
    fixed, pool = names("multi_pos", "fixed_adjectives"), multi_pos_words(wordnet, "a")
    pools: dict[int, Sequence[str]] = {}
    for index, token in enumerate(caption.tokens):
        attributive = token.arc == "amod" and token.head > index
        predicative = token.arc == "acomp" and not caption.children(index, "prep", "ccomp", "xcomp")  # not "fond of"
        adjective = token.tag == "JJ" and "ADJ" in readings(token.lower) and not token.rival.startswith("VB")
        if not adjective or token.lower in fixed or not (attributive or predicative):
            continue
        if not tells_how_much(caption, index, wordnet) and not in_phrase(caption, index, wordnet):
            pools[index] = pool
    return pools


def _counts(caption: Caption, index: int) -> bool:
    """Return whether a noun is followed by "of" and plural nouns, whose number its verb may have."""
    links = [n for n in caption.children(index, "prep") if caption.lower_at(n) == "of"]
    return any(caption.tag_at(n) == "NNS" for link in links for n in caption.children(link, "pobj"))


def _use(caption: Caption, index: int) -> str:
    """Return "one" after words such as "a", "any" after "the" or before a noun, and "bare" otherwise."""
    if caption.tokens[index].arc == "compound":
        return "any"  # "police officer"
    marks = [caption.tokens[n] for n in caption.children(index, "det", "poss", "nummod") if n < index]
    if not marks or any(token.lower in SEVERAL for token in marks):
        return "bare"
    return "one" if any(token.lower in SINGLE for token in marks) else "any"
