"""Find words that can be replaced on their own, and synonyms that can replace them.

A WordNet synonym (Fellbaum 1998) must share a sense that is by far the most frequent one of both words. An embedding
neighbour must share a frequent WordNet sense, which excludes antonyms and co-hyponyms (cat and dog).
"""

from __future__ import annotations

from functools import cache, lru_cache
from itertools import islice

from ...language.inflection import readings
from ...language.lexicon import phrasal_verbs
from ...language.wordnet import Pos, WordNet
from ...language.words import Caption
from .lexical import PARTS, POSES, inflected, is_plain, lemma_of, names, related, swap_table
from .tables import read_table
from .tools import Tools

PEOPLE = ("man", "woman", "guy", "lady", "person")
RARER = 0.05  # minimum occurrences of a neighbour in WordNet's tagged texts, relative to those of the word
SHORTEST = 3  # minimum number of letters; shorter words are units and abbreviations
NEAR, MUTUAL, DRAWN = (
    0.5,
    20,
    3,
)  # minimum cosine, maximum rank among the neighbour's own neighbours, number to sample from
OWN_SHARE, OTHER_SHARE = 0.7, 0.6  # minimum share of the common sense among the uses of a word and of its synonym
FREE = ("about", "to", "with")  # prepositions that do not change the sense of a verb: "talk about"
PARTICLE_REACH = 6
OBJECT = ("DT", "PRP$", "PRP", "CD", "NN", "NNS", "NNP", "JJ", "VBN", "WP")  # words that can begin an object
MATTER = ("noun.food", "noun.substance", "noun.plant")


def content_words(caption: Caption, wordnet: WordNet) -> list[int]:
    """Return the indices of nouns, verbs, adjectives and adverbs that are not in set phrases."""
    return [n for n, token in enumerate(caption.tokens) if token.tag in POSES and not _is_bound(caption, n, wordnet)]


def _is_bound(caption: Caption, number: int, wordnet: WordNet) -> bool:
    token = caption.tokens[number]
    pos = POSES[token.tag][1]
    lemma = lemma_of(token.lower, token.tag)
    if len(lemma) < SHORTEST or not token.text.isalpha() or lemma in names("fixed") or _is_named(caption, number):
        return True
    if pos == "v" and not _is_title(caption, number):
        return _is_auxiliary(caption, number, lemma) or _has_particle(caption, number, lemma, wordnet)
    if pos == "r":
        return False
    followed = number + 1 < len(caption.tokens) and caption.tokens[number + 1].tag.startswith(("NN", "VBN"))
    if pos == "n" and (followed or _is_compound_head(caption, number, lemma)):
        return True  # "sports car", "computer generated"
    if _is_title(caption, number):
        return True
    return in_phrase(caption, number, wordnet)


def in_phrase(caption: Caption, number: int, wordnet: WordNet) -> bool:
    """Return whether a word belongs to a WordNet phrase ("hot dog") that is not literal ("little girl")."""
    token = caption.tokens[number]
    lemma = lemma_of(token.lower, token.tag)
    before, after = caption.lower_at(number - 1), caption.lower_at(number + 1)
    phrases = []
    if token.tag in ("NN", "NNS") and before:
        phrases.append(f"{before} {lemma}")
    if number + 1 < len(caption.tokens) and caption.tokens[number + 1].tag.startswith("NN"):
        phrases.append(f"{token.lower} {lemma_of(after, caption.tokens[number + 1].tag) or after}")
    for phrase in phrases:
        person = wordnet.lexname(phrase, "n") == "noun.person" and phrase.split()[0] in ("little", "young", "old")
        if wordnet.has(phrase, "n") and not person:
            return True
    return False


def _is_title(caption: Caption, number: int) -> bool:
    """Return whether a participle is part of a name, as in "cooking show"."""
    phrase = f"{caption.tokens[number].lower} {caption.lower_at(number + 1)}"
    return phrase in read_table("add_text")["names"]["rows"]


def _is_compound_head(caption: Caption, number: int, lemma: str) -> bool:
    """Return whether a word is the head of a compound. Words for people do not count ("cartoon man")."""
    behind = number > 0 and caption.tokens[number - 1].tag.startswith("NN")
    return behind and lemma not in PEOPLE


def _is_named(caption: Caption, number: int) -> bool:
    """Return whether a word is capitalized although it does not start a sentence."""
    if not caption.tokens[number].text[:1].isupper() or caption.text.isupper():
        return False
    return number not in {sentence.start for sentence in caption.sentences}


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
        if (
            token.tag == "RP"
            or token.lower == "back"
            or (token.tag in ("RB", "IN") and (lemma, token.lower) in phrasal_verbs())
        ):
            return True
        if place == number + 1 and token.lower not in FREE and wordnet.has(f"{lemma} {token.lower}", "v"):
            return True
    return False


def wordnet_options(caption: Caption, number: int, wordnet: WordNet) -> tuple[str, ...]:
    """Return the WordNet synonyms that can replace a token, inflected like it."""
    token = caption.tokens[number]
    lemma, after = lemma_of(token.lower, token.tag), number + 1
    if not _fits_place(caption, number, lemma, wordnet):
        return ()
    behind = caption.tag_at(after)
    found = wordnet_synonyms(wordnet, lemma, POSES[token.tag][1])
    before = caption.tag_at(number - 1)
    one_word = (  # not "chopped up onions", "dishing up plate", "turn over it", "sauce cooking pan"
        token.tag == "VBN"
        or (token.tag == "VBG" and behind in ("NN", "NNS"))
        or (token.tag.startswith("VB") and behind == "PRP")
        or (token.tag.startswith("NN") and before in ("NN", "NNS"))
    )
    if one_word:
        found = tuple(word for word in found if " " not in word)
    here = (caption.lower_at(number - 1), caption.lower_at(after))
    return tuple(inflected(word, token.tag) for word in found if not set(word.split()) & set(here))


def _fits_place(caption: Caption, number: int, lemma: str, wordnet: WordNet) -> bool:
    """Return whether synonyms can replace a word in its construction, such as a verb with an object."""
    token = caption.tokens[number]
    if tells_how_much(caption, number, wordnet):
        return False
    if not token.tag.startswith("VB"):
        return True
    behind = caption.tag_at(number + 1)
    if lemma in names("synonyms", "needs_object") and behind not in OBJECT:
        return False
    if lemma in names("synonyms", "needs_verb") and behind not in ("TO", "VBG"):
        return False
    if lemma in names("synonyms", "needs_no_object") and behind in (*OBJECT, "VB", "VBG", "FW"):
        return False
    return lemma not in names("synonyms", "needs_to") or behind == "TO"


def tells_how_much(caption: Caption, number: int, wordnet: WordNet) -> bool:
    """Return whether a word expresses a quantity, like "little" in "a little oil"."""
    if caption.tokens[number].lower != "little" or number + 1 >= len(caption.tokens):
        return False
    following = caption.tokens[number + 1]
    if following.lower == "bit":
        return True
    return wordnet.lexname(lemma_of(following.lower, following.tag), "n") in MATTER


@lru_cache(maxsize=1 << 14)
def wordnet_synonyms(wordnet: WordNet, lemma: str, pos: Pos) -> tuple[str, ...]:
    """Return the synonyms from which `swap_syn_wordnet` samples."""
    chosen: dict[str, str | None] = swap_table()["synonyms"]["chosen"][pos]
    if lemma in chosen:
        return tuple(name.replace("_", " ") for name in (chosen[lemma] or "").split())
    never = names("synonyms", "never") | names("sensitive")
    part = PARTS[pos]
    rival = max(wordnet.count(lemma, other) for other in PARTS) > wordnet.count(lemma, pos)
    if rival or lemma in names("synonyms", "ambiguous") or wordnet.first_share(lemma, pos) < OWN_SHARE:
        return ()
    return tuple(
        synonym.name
        for synonym in wordnet.synonyms(lemma, pos)
        if synonym.count > 0
        and synonym.rank == 0
        and is_plain(synonym.name)
        and synonym.name not in never
        and synonym.name in readings(synonym.name).get(part, ())
        and not related(lemma, synonym.name)
        and wordnet.first_share(synonym.name, pos) >= OTHER_SHARE
    )


def embedding_options(caption: Caption, number: int, tools: Tools) -> tuple[str, ...]:
    """Return the embedding neighbours that can replace a token, inflected like it."""
    token = caption.tokens[number]
    lemma = lemma_of(token.lower, token.tag)
    if not _fits_place(caption, number, lemma, tools.wordnet):
        return ()
    found = embedding_neighbours(tools, lemma, POSES[token.tag][1])
    return tuple(inflected(word, token.tag) for word in found)


@lru_cache(maxsize=1 << 14)
def embedding_neighbours(tools: Tools, lemma: str, pos: Pos) -> tuple[str, ...]:
    """Return the neighbours from which `swap_syn_word_embedding` samples, nearest first."""
    wordnet = tools.wordnet
    never = names("embeddings", "never") | names("sensitive")
    opposites = wordnet.antonyms(lemma, pos) | _other_gender(lemma)
    alike = str(swap_table()["embeddings"]["alike"]["words"][pos].get(lemma, "")).split()
    clear = lemma not in names("embeddings", "ambiguous")
    least = wordnet.count(lemma, pos) * RARER - 1

    def fits(word: str) -> bool:
        count = wordnet.count(word, pos)
        return (
            is_plain(word)
            and word not in never
            and word not in opposites
            and not related(lemma, word)
            and (word in alike or all(count >= wordnet.count(word, other) for other in PARTS))
            and word in readings(word).get(PARTS[pos], ())
            and lemma in [back for back, _ in tools.neighbours.of(word)[:MUTUAL]]
            and (word in alike or (clear and count >= least and wordnet.share_sense(lemma, word, pos)))
            and lemma not in wordnet.antonyms(word, pos)
        )

    near = (word for word, cosine in tools.neighbours.of(lemma) if cosine >= NEAR and fits(word))
    return tuple(islice(near, DRAWN))


@cache
def _other_gender(lemma: str) -> frozenset[str]:
    genders = [frozenset(words.split()) for words in swap_table()["embeddings"]["genders"]["words"]]
    own = [words for words in genders if lemma in words]
    return frozenset[str]().union(*(words for words in genders if own and words not in own))
