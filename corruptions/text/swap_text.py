"""Perturbations that swap words for others: of several parts of speech, synonyms, near words, what models suggest.

Source: Schiappa et al. 2022, appendix A.2, after TextFlint (Wang et al. 2021); word counts from the released code.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from itertools import islice
from typing import Any, cast

import numpy as np

from ...extras import import_extra
from ...language.closed_classes import AUXILIARIES
from ...language.inflection import Tag, inflect, is_plural_noun, is_verb_form, readings
from ...language.lexicon import phrasal_verbs
from ...language.wordnet import Pos, WordNet
from ...language.words import Caption, like, with_capital, without_capital
from .result import Unchanged
from .tables import read_table
from .tools import Tools

LEAST, MOST = 1, 10
MOST_MULTI = 2  # words that multi_pos_swap_* changes
COMMON_NOUN, COMMON_ADJECTIVE = 3, 1  # occurrences in WordNet's tagged texts that make a word common
NEAR, MUTUAL, DRAWN = 0.5, 20, 3  # least cosine, place of the word among a neighbour's own, neighbours to draw from
SUGGESTIONS, LIKELY = 100, 5  # words that the model is asked for, likeliest fitting ones to draw from
SAME_STEM = 4
POSES: dict[str, tuple[str, Pos]] = {
    **dict.fromkeys(("NN", "NNS"), ("NOUN", "n")),
    **dict.fromkeys(("VB", "VBZ", "VBP", "VBD", "VBN", "VBG"), ("VERB", "v")),
    "JJ": ("ADJ", "a"),
    "RB": ("ADV", "r"),
}
PARTS: dict[Pos, str] = {pos: part for part, pos in POSES.values()}
ARTICLES = ("DT", "PRP$", "POS", "WP$")
AFTER_ARTICLE = ("NN", "JJ", "RB", "VBG", "VBN", "CD")
LEMMAS = {"leaves": "leaf"}  # where the dictionary's first is not the captions'
FREE = ("about", "to", "with")  # prepositions that leave a verb its sense: "talk about"
PARTICLE_REACH = 6
OBJECT = ("DT", "PRP$", "PRP", "CD", "NN", "NNS", "NNP", "JJ", "VBN", "WP")  # what an object may begin with
MATTER = ("noun.food", "noun.substance", "noun.plant")


def multi_pos_swap_nn(caption: Caption, tools: Tools, rng: np.random.Generator) -> str | Unchanged:
    """Replace up to two words tagged exactly NN by nouns that can be another part of speech too.

    The paper's example: "a little output does gymnastics". The nouns are WordNet's: common, more often a noun than
    anything else; where no article or the like stands before the noun, only those that can do without one.
    """
    fixed = _names("multi_pos", "fixed_nouns")
    found = [n for n in caption.tagged("NN") if caption.tokens[n].tag == "NN" and caption.tokens[n].lower not in fixed]
    mass = _names("multi_pos", "mass_nouns")
    pool = multi_pos_words(tools.wordnet, "n")
    bare = tuple(word for word in pool if word in mass)
    pools = {number: pool if _has_article(caption, number) else bare for number in found}
    return _swap_multi(caption, pools, rng) or Unchanged("no noun in the singular")


def multi_pos_swap_jj(caption: Caption, tools: Tools, rng: np.random.Generator) -> str | Unchanged:
    """Replace up to two words tagged exactly JJ by adjectives that can be another part of speech too.

    The paper's example: "a anodyne girl does gymnastics". The adjectives are WordNet's: common, more often an adjective
    than anything else.
    """
    fixed = _names("multi_pos", "fixed_adjectives")
    pool = multi_pos_words(tools.wordnet, "a")
    pools = {}
    for number in caption.tagged("JJ"):
        token, after = caption.tokens[number], _lower(caption, number + 1)
        stays = token.lower in fixed or after in ("to", "of", "than") or _tells_how_much(caption, number, tools.wordnet)
        if token.tag == "JJ" and not stays:
            pools[number] = pool
    return _swap_multi(caption, pools, rng) or Unchanged("no adjective")


def swap_syn_wordnet(caption: Caption, tools: Tools, rng: np.random.Generator) -> str | Unchanged:
    """Replace a tenth of the words by synonyms of WordNet, inflected like them.

    The synonym is of the most frequent sense of the word, itself most often used in this sense, and occurs in WordNet's
    tagged texts. For common words of captions a table says which of WordNet's synonyms read well. Auxiliaries, words of
    set phrases ("hot dog", "put on") and names stay.
    """
    options = {n: _wordnet_options(caption, n, tools.wordnet) for n in _content_words(caption, tools.wordnet)}
    return _swap(caption, options, rng, 0.1) or Unchanged("no word with a common synonym in WordNet")


def swap_syn_word_embedding(caption: Caption, tools: Tools, rng: np.random.Generator) -> str | Unchanged:
    """Replace a tenth of the words by near words of an embedding, inflected like them.

    One of the nearest words that are mostly the same part of speech, of the same kind (WordNet's lexicographer files),
    no form or derivation of the word, no opposite of it, and near enough. Near words need not mean the same.
    """
    options = {number: _embedding_options(caption, number, tools) for number in _content_words(caption, tools.wordnet)}
    return _swap(caption, options, rng, 0.1) or Unchanged("no word with a near word in the embedding")


def mlm_suggestion(caption: Caption, tools: Tools, rng: np.random.Generator) -> str | Unchanged:
    """Replace a fifth of the words by what a masked language model suggests: whole words of the same form.

    One word after the other is masked, so that later suggestions fit earlier ones. Drawn among the likeliest that are
    no form of the word.
    """
    eligible = [
        n
        for n, token in enumerate(caption.tokens)
        if token.tag in POSES and token.lower not in AUXILIARIES and token.text.isalpha() and len(token.text) > 1
    ]
    wanted, changes = _count(caption, 0.2), dict[int, str]()
    for number in _shuffled(eligible, rng):
        token = caption.tokens[number]
        mask = "\0"
        before, _, after = caption.edit({**changes, number: mask}).partition(mask)
        suggested = tools.suggest(before, after, SUGGESTIONS)
        fitting = [word for word in suggested if _same_form(word, token.lower, token.tag)][:LIKELY]
        if fitting:
            changes[number] = like(_one(fitting, rng), token.text)
        if len(changes) == wanted:
            break
    return caption.edit(changes) if changes else Unchanged("no word for which the model suggests another of its form")


def back_trans(caption: Caption, tools: Tools) -> str | Unchanged:
    """Translate the caption into another language and back.

    The first letter is large, and the end has a full stop, only if the caption has it so.
    """
    text = caption.text.strip()
    found = tools.translate_back(text)
    if not found or not caption.tokens:
        return Unchanged("the translation is empty")
    if text[-1].isalnum():
        found = found.rstrip(" .")
    first = tools.tagger.analyse(found).tokens[0] if tools.tagger.analyse(found).tokens else None
    if text[:1].islower() and first is not None:
        found = without_capital(first) + found[first.end :]
    elif text[:1].isupper():
        found = with_capital(found)
    return found if found != text else Unchanged("the translation back gives the same words")


@cache
def multi_pos_words(wordnet: WordNet, pos: Pos) -> tuple[str, ...]:
    """Return the common nouns ("n") or adjectives ("a") that can be another part of speech too, in alphabetical order.

    Args:
        wordnet: WordNet.
        pos: "n" or "a".
    """
    part, least = PARTS[pos], COMMON_NOUN if pos == "n" else COMMON_ADJECTIVE
    left_out = _names("multi_pos", "no_nouns" if pos == "n" else "no_adjectives") | _names("sensitive")

    def serves(word: str) -> bool:
        count, others = wordnet.count(word, pos), [wordnet.count(word, other) for other in PARTS if other != pos]
        common = count >= least and any(others) and max(others) <= count
        known = word in readings(word).get(part, ()) and "AUX" not in readings(word)
        return common and known and _is_plain(word) and len(wordnet.parts(word)) > 1

    return tuple(word for word in wordnet.lemmas(pos) if word not in left_out and serves(word))


def _swap_multi(caption: Caption, pools: Mapping[int, Sequence[str]], rng: np.random.Generator) -> str | None:
    there = {token.lower for token in caption.tokens}
    changes: dict[int, str] = {}
    for number in sorted(_shuffled(list(pools), rng)[:MOST_MULTI]):
        fitting = [word for word in pools[number] if word not in there]
        there.add(word := _one(fitting, rng))
        changes[number] = like(word, caption.tokens[number].text)
    return caption.edit(changes) if changes else None


def _swap(caption: Caption, options: Mapping[int, Sequence[str]], rng: np.random.Generator, share: float) -> str | None:
    changes = {}
    for number in _shuffled([n for n, words in options.items() if words], rng)[: _count(caption, share)]:
        changes[number] = like(_one(options[number], rng), caption.tokens[number].text)
    return caption.edit(changes) if changes else None


def _content_words(caption: Caption, wordnet: WordNet) -> list[int]:
    """Return the numbers of the nouns, verbs, adjectives and adverbs that stand for themselves."""
    return [n for n, token in enumerate(caption.tokens) if token.tag in POSES and not _is_bound(caption, n, wordnet)]


def _is_bound(caption: Caption, number: int, wordnet: WordNet) -> bool:
    """Return whether a word is an auxiliary or part of a set phrase."""
    token = caption.tokens[number]
    pos = POSES[token.tag][1]
    lemma = _lemma(token.lower, token.tag)
    if not lemma or not token.text.isalpha() or lemma in _names("fixed"):
        return True
    before, after = _lower(caption, number - 1), _lower(caption, number + 1)
    if pos == "v":
        return _is_auxiliary(caption, number, lemma) or _has_particle(caption, number, lemma, wordnet)
    if pos == "r":
        return False
    followed = bool(after) and caption.tokens[number + 1].tag in ("NN", "NNS")
    if pos == "n" and followed:
        return True  # "sports car", "corn dog"
    phrases = []
    if pos == "n" and before:
        phrases.append(f"{before} {lemma}")
    if followed:
        phrases.append(f"{token.lower} {_lemma(after, caption.tokens[number + 1].tag) or after}")
    for phrase in phrases:
        person = wordnet.lexname(phrase, "n") == "noun.person" and phrase.split()[0] in ("little", "young", "old")
        if wordnet.has(phrase, "n") and not person:
            return True
    return False


def _is_auxiliary(caption: Caption, number: int, lemma: str) -> bool:
    if lemma in ("be", "have"):
        return True
    following = [token.tag for token in caption.tokens[number + 1 : number + 5]]
    if lemma == "do":
        return "VB" in following
    return lemma in ("go", "use") and following[:2] == ["TO", "VB"]


def _has_particle(caption: Caption, number: int, lemma: str, wordnet: WordNet) -> bool:
    for place in range(number + 1, min(number + PARTICLE_REACH, len(caption.tokens))):
        token = caption.tokens[place]
        if not token.is_word or token.tag in ("CC", "MD"):
            return False
        if token.tag == "RP" or (token.tag in ("RB", "IN") and (lemma, token.lower) in phrasal_verbs()):
            return True
        if place == number + 1 and token.lower not in FREE and wordnet.has(f"{lemma} {token.lower}", "v"):
            return True
    return False


def _wordnet_options(caption: Caption, number: int, wordnet: WordNet) -> tuple[str, ...]:
    token = caption.tokens[number]
    lemma, after = _lemma(token.lower, token.tag), number + 1
    if _tells_how_much(caption, number, wordnet):
        return ()
    behind = caption.tokens[after].tag if after < len(caption.tokens) else ""
    if token.tag.startswith("VB"):
        if lemma in _names("synonyms", "needs_object") and behind not in OBJECT:
            return ()
        if lemma in _names("synonyms", "needs_to") and behind != "TO":
            return ()
    found = wordnet_synonyms(wordnet, lemma, POSES[token.tag][1])
    before = caption.tokens[number - 1].tag if number else ""
    one_word = (  # not "chopped up onions", "dishing up plate", "turn over it", "sauce cooking pan"
        token.tag == "VBN"
        or (token.tag == "VBG" and behind in ("NN", "NNS"))
        or (token.tag.startswith("VB") and behind == "PRP")
        or (token.tag.startswith("NN") and before in ("NN", "NNS"))
    )
    if one_word:
        found = tuple(word for word in found if " " not in word)
    here = (_lower(caption, number - 1), _lower(caption, after))
    return tuple(_inflected(word, token.tag) for word in found if not set(word.split()) & set(here))


def _tells_how_much(caption: Caption, number: int, wordnet: WordNet) -> bool:
    """Return whether a word is the "little" of "a little oil"."""
    if caption.tokens[number].lower != "little" or number + 1 >= len(caption.tokens):
        return False
    following = caption.tokens[number + 1]
    return wordnet.lexname(_lemma(following.lower, following.tag), "n") in MATTER


@lru_cache(maxsize=1 << 14)
def wordnet_synonyms(wordnet: WordNet, lemma: str, pos: Pos) -> tuple[str, ...]:
    """Return the synonyms that `swap_syn_wordnet` draws from.

    Args:
        wordnet: WordNet.
        lemma: A word.
        pos: Its part of speech.
    """
    chosen: dict[str, str | None] = _table()["synonyms"]["chosen"][pos]
    if lemma in chosen:
        return tuple(name.replace("_", " ") for name in (chosen[lemma] or "").split())
    never = _names("synonyms", "never") | _names("sensitive")
    part = PARTS[pos]
    return tuple(
        synonym.name
        for synonym in wordnet.synonyms(lemma, pos)
        if synonym.count > 0
        and synonym.rank == 0
        and _is_plain(synonym.name)
        and synonym.name not in never
        and synonym.name in readings(synonym.name).get(part, ())
        and not _related(lemma, synonym.name)
    )


def _embedding_options(caption: Caption, number: int, tools: Tools) -> tuple[str, ...]:
    token = caption.tokens[number]
    lemma = _lemma(token.lower, token.tag)
    found = embedding_neighbours(tools, lemma, POSES[token.tag][1])
    return tuple(_inflected(word, token.tag) for word in found)


@lru_cache(maxsize=1 << 14)
def embedding_neighbours(tools: Tools, lemma: str, pos: Pos) -> tuple[str, ...]:
    """Return the near words that `swap_syn_word_embedding` draws from, the nearest first.

    Args:
        tools: Vectors and WordNet.
        lemma: A word.
        pos: Its part of speech.
    """
    wordnet = tools.wordnet
    unlike = str(_table()["embeddings"]["unlike"]["words"].get(lemma, "")).split()
    never = _names("embeddings", "never") | _names("sensitive") | frozenset(unlike)
    opposites = wordnet.antonyms(lemma, pos) | _other_gender(lemma)
    kinds = {wordnet.lexname(lemma, pos, sense) for sense in range(2)} - {""}

    def fits(word: str) -> bool:
        count = wordnet.count(word, pos)
        return (
            _is_plain(word)
            and word not in never
            and word not in opposites
            and not _related(lemma, word)
            and all(count >= wordnet.count(word, other) for other in PARTS)
            and word in readings(word).get(PARTS[pos], ())
            and lemma in [back for back, _ in tools.neighbours.of(word)[:MUTUAL]]
            and wordnet.lexname(word, pos) in kinds
            and lemma not in wordnet.antonyms(word, pos)
        )

    near = (word for word, cosine in tools.neighbours.of(lemma) if cosine >= NEAR and fits(word))
    return tuple(islice(near, DRAWN))


@cache
def _other_gender(lemma: str) -> frozenset[str]:
    genders = [frozenset(words.split()) for words in _table()["embeddings"]["genders"]["words"]]
    own = [words for words in genders if lemma in words]
    return frozenset[str]().union(*(words for words in genders if own and words not in own))


def _same_form(word: str, old: str, tag: str) -> bool:
    """Return whether a suggested word can stand in a place of a tag and is no form of the word that stood there."""
    part, pos = POSES[tag]
    word = word.lower()
    if word in _names("sensitive") or part not in readings(word) or word in AUXILIARIES or len(word) < 2:
        return False
    if pos == "v" and not is_verb_form(word, cast(Tag, tag)):
        return False
    if pos == "n" and is_plural_noun(word) != (tag == "NNS"):
        return False
    return word not in _names("fixed") and not _related(_lemma(old, tag) or old, _lemma(word, tag) or word)


def _related(word: str, other: str) -> bool:
    """Return whether two lemmas are the same word or derived from each other: "sing", "singer"."""
    short, long = sorted((word, other), key=len)
    stem = short[: max(SAME_STEM, len(short) - 2)] if len(short) >= SAME_STEM else short
    return word == other or (len(short) > 2 and long.startswith(stem))


def _is_plain(word: str) -> bool:
    return len(word) > 2 and word.isascii() and word.isalpha() and word.islower()


@lru_cache(maxsize=1 << 14)
def _lemma(word: str, tag: str) -> str:
    """Return the base of a word with a tag; empty for tags of no use here."""
    if tag not in POSES:
        return ""
    if tag in ("NN", "JJ", "RB"):
        return word
    lemminflect = import_extra("lemminflect")
    found: tuple[str, ...] = readings(word).get(POSES[tag][0]) or lemminflect.getLemma(word, POSES[tag][0])
    return LEMMAS.get(word) or (found[0] if found else "")


def _inflected(lemma: str, tag: str) -> str:
    """Return a lemma the form of a tag; of several words the first of a verb, the last of a noun."""
    if tag in ("JJ", "RB", "NN", "VB", "VBP"):
        return lemma
    if tag == "NNS":
        *others, head = lemma.split()
        return " ".join([*others, inflect(head, "NNS")])
    return inflect(lemma, cast(Tag, tag))


def _has_article(caption: Caption, number: int) -> bool:
    """Return whether an article or the like stands before a noun, adjectives and nouns between."""
    for place in range(number - 1, -1, -1):
        tag = caption.tokens[place].tag
        if tag in ARTICLES:
            return caption.tokens[place].lower not in ("some", "any", "all", "these", "those", "both")
        if tag == "CD":
            return caption.tokens[place].lower in ("one", "1")
        if not tag.startswith(AFTER_ARTICLE):
            return False
    return False


def _lower(caption: Caption, number: int) -> str:
    return caption.tokens[number].lower if 0 <= number < len(caption.tokens) else ""


def _count(caption: Caption, share: float) -> int:
    return min(max(int(share * len(caption.tokens)), LEAST), MOST)


def _shuffled(numbers: Sequence[int], rng: np.random.Generator) -> list[int]:
    return [numbers[place] for place in rng.permutation(len(numbers))]


def _one(values: Sequence[str], rng: np.random.Generator) -> str:
    return values[int(rng.integers(len(values)))]


@cache
def _names(*path: str) -> frozenset[str]:
    """Return a list of words of the table."""
    part: Any = _table()
    for name in path:
        part = part[name]
    return frozenset(str(part["words"]).split())


def _table() -> dict[str, Any]:
    return read_table("swap_text")
