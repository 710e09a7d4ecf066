"""Find words that can be replaced on their own, and synonyms that can replace them.

A WordNet synonym (Fellbaum 1998) must share a sense that is by far the most frequent one of both words. An embedding
neighbour must share a frequent WordNet sense, which excludes antonyms and co-hyponyms (cat and dog).
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache, lru_cache
from itertools import islice

from ...language.lexicon import readings
from ...language.wordnet import Pos, WordNet
from ...language.words import Caption
from .lexical import PARTS, POSES, inflected, is_plain, names, read_table, related, word_class
from .tools import Tools

PEOPLE = ("man", "woman", "guy", "lady", "person")
RARER = 0.05  # minimum occurrences of a neighbour in WordNet's tagged texts, relative to those of the word
LEAST_COUNT, LEAST_SHARE = 3, 0.2  # minimum occurrences of a synonym there, and relative to those of the word
SHORTEST = 3  # minimum number of letters; shorter words are units and abbreviations
NEAR, MUTUAL, DRAWN = 0.5, 20, 3  # minimum cosine, maximum rank among the neighbour's neighbours, number to draw from
OWN_SHARE, OTHER_SHARE = 0.7, 0.6  # minimum share of the common sense among the uses of a word and of its synonym
MATTER = ("noun.food", "noun.substance", "noun.plant")
CLASSES: dict[Pos, str] = {"n": "noun", "v": "verb", "a": "", "r": ""}


def content_words(caption: Caption, wordnet: WordNet) -> list[int]:
    """Return the indices of nouns, verbs, adjectives and adverbs that are not in set phrases."""
    return [n for n, token in enumerate(caption.tokens) if token.tag in POSES and not _is_bound(caption, n, wordnet)]


def _is_bound(caption: Caption, index: int, wordnet: WordNet) -> bool:
    token, pos = caption.tokens[index], POSES[caption.tokens[index].tag][1]
    starts = {sentence.start for sentence in caption.sentences}
    lower = token.text.islower() or caption.text.isupper() or index in starts
    if len(token.lemma) < SHORTEST or not token.text.isalpha() or token.lemma in names("fixed") or not lower:
        return True
    if word_class(caption, index) != CLASSES[pos] or (token.rival and pos in "ar"):
        return True
    if pos == "v":
        helps = token.lemma in ("be", "have") or token.arc in ("aux", "auxpass")
        return helps or _has_particle(caption, index, wordnet)
    if pos == "r":
        return False
    compound = token.arc in ("compound", "nmod") or caption.child(index, "compound", "nmod") is not None
    if pos == "n" and compound and (token.arc == "compound" or token.lemma not in PEOPLE):
        return True  # "sports car", but not "cartoon man"
    return in_phrase(caption, index, wordnet)


def in_phrase(caption: Caption, index: int, wordnet: WordNet) -> bool:
    """Return whether a word belongs to a WordNet phrase ("hot dog") that is not literal ("little girl")."""
    token, after = caption.tokens[index], caption.tokens[index + 1 : index + 2]
    phrases = []
    if token.tag in ("NN", "NNS") and index:
        phrases.append(f"{caption.lower_at(index - 1)} {token.lemma}")
    if after and after[0].tag.startswith("NN"):
        phrases.append(f"{token.lower} {after[0].lemma}")
    for phrase in phrases:
        person = wordnet.lexname(phrase, "n") == "noun.person" and phrase.split()[0] in ("little", "young", "old")
        if wordnet.has(phrase, "n") and not person:
            return True
    return False


def _has_particle(caption: Caption, index: int, wordnet: WordNet) -> bool:
    """Return whether a verb and a particle or preposition are one word, such as "put on" and "look for"."""
    lemma = caption.tokens[index].lemma
    near = [caption.tokens[n].lower for n in caption.children(index, "prep", "advmod") if n == index + 1]
    return caption.child(index, "prt") is not None or any(
        word not in ("about", "to", "with") and wordnet.has(f"{lemma} {word}", "v") for word in near
    )


def wordnet_options(caption: Caption, index: int, wordnet: WordNet) -> tuple[str, ...]:
    """Return the WordNet synonyms that can replace a token, inflected like it."""
    token = caption.tokens[index]
    if not _fits_place(caption, index, wordnet):
        return ()
    synonyms = wordnet_synonyms(wordnet, token.lemma, POSES[token.tag][1])
    object_ = caption.child(index, "dobj")
    directed = any(follower.tag in ("RB", "RP") for follower in caption.tokens[index:])
    if directed or (object_ is not None and caption.tokens[object_].tag == "PRP"):
        synonyms = tuple(word for word in synonyms if " " not in word)  # not "turn over it", "wrap up it back up"
    return _inflected(synonyms, token.tag)


def _inflected(lemmas: Iterable[str], tag: str) -> tuple[str, ...]:
    """Inflect lemmas for a tag, without those that have no plural where one is needed."""
    forms = {lemma: inflected(lemma, tag) for lemma in lemmas}
    return tuple(form for lemma, form in forms.items() if tag != "NNS" or form != lemma)


def _fits_place(caption: Caption, index: int, wordnet: WordNet) -> bool:
    """Return whether synonyms can replace a word in its construction, such as a verb with an object."""
    token = caption.tokens[index]
    if not token.tag.startswith("VB"):
        return not tells_how_much(caption, index, wordnet)
    has_object = caption.child(index, "dobj", "nsubjpass", "dative") is not None
    verb = caption.child(index, "xcomp")
    if token.lemma in names("synonyms", "needs_place"):
        return any(caption.tokens[n].tag in ("IN", "RB", "RP") and n > index for n in caption.subtree(index))
    if token.lemma in names("synonyms", "needs_object"):
        return has_object
    if token.lemma in names("synonyms", "needs_verb"):
        return verb is not None
    return token.lemma not in names("synonyms", "needs_no_object") or not (has_object or verb is not None)


def tells_how_much(caption: Caption, index: int, wordnet: WordNet) -> bool:
    """Return whether a word expresses a quantity, like "little" in "a little oil"."""
    noun = caption.tokens[caption.tokens[index].head]
    if caption.tokens[index].lower != "little":
        return False
    return noun.lower in ("bit", "while") or wordnet.lexname(noun.lemma, "n") in MATTER


@lru_cache(maxsize=1 << 14)
def wordnet_synonyms(wordnet: WordNet, lemma: str, pos: Pos) -> tuple[str, ...]:
    """Return the synonyms from which `swap_syn_wordnet` samples."""
    chosen: dict[str, str | None] = read_table("swap_text")["synonyms"]["chosen"][pos]
    if lemma in chosen:
        return tuple(name.replace("_", " ") for name in (chosen[lemma] or "").split())
    never = names("synonyms", "never") | names("sensitive")
    part, count = PARTS[pos], wordnet.count(lemma, pos)
    rival = max(wordnet.count(lemma, other_pos) for other_pos in PARTS) > count
    if rival or lemma in names("synonyms", "ambiguous") or wordnet.first_share(lemma, pos) < OWN_SHARE:
        return ()
    return tuple(
        synonym.name
        for synonym in wordnet.synonyms(lemma, pos)
        if synonym.rank == 0
        and is_plain(synonym.name)
        and wordnet.count(synonym.name, pos) >= max(LEAST_COUNT, LEAST_SHARE * count)
        and synonym.name not in never
        and synonym.name in readings(synonym.name).get(part, ())
        and not related(lemma, synonym.name)
        and wordnet.first_share(synonym.name, pos) >= OTHER_SHARE
    )


def embedding_options(caption: Caption, index: int, tools: Tools) -> tuple[str, ...]:
    """Return the embedding neighbours that can replace a token, inflected like it."""
    token = caption.tokens[index]
    if not _fits_place(caption, index, tools.wordnet):
        return ()
    return _inflected(embedding_neighbours(tools, token.lemma, POSES[token.tag][1]), token.tag)


@lru_cache(maxsize=1 << 14)
def embedding_neighbours(tools: Tools, lemma: str, pos: Pos) -> tuple[str, ...]:
    """Return the neighbours from which `swap_syn_word_embedding` samples, nearest first."""
    wordnet = tools.wordnet
    never = names("embeddings", "never") | names("sensitive")
    opposites = wordnet.antonyms(lemma, pos) | _other_gender(lemma)
    alike = str(read_table("swap_text")["embeddings"]["alike"]["words"][pos].get(lemma, "")).split()
    clear = lemma not in names("embeddings", "ambiguous")
    least = wordnet.count(lemma, pos) * RARER - 1

    def fits(word: str) -> bool:
        count = wordnet.count(word, pos)
        return (
            is_plain(word)
            and word not in never
            and word not in opposites
            and not related(lemma, word)
            and (word in alike or all(count >= wordnet.count(word, other_pos) for other_pos in PARTS))
            and word in readings(word).get(PARTS[pos], ())
            and lemma in [back for back, _ in tools.neighbours.of(word)[:MUTUAL]]
            and (word in alike or (clear and count >= least and wordnet.share_sense(lemma, word, pos)))
            and lemma not in wordnet.antonyms(word, pos)
        )

    near = (word for word, cosine in tools.neighbours.of(lemma) if cosine >= NEAR and fits(word))
    return tuple(islice(near, DRAWN))


@cache
def _other_gender(lemma: str) -> frozenset[str]:
    genders = [frozenset(words.split()) for words in read_table("swap_text")["embeddings"]["genders"]["words"]]
    own = [words for words in genders if lemma in words]
    return frozenset[str]().union(*(words for words in genders if own and words not in own))
