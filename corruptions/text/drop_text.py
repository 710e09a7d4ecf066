"""Replace words with [UNK] according to their part of speech, so that the length of the caption does not change.

Nouns are the tags NN, NNS, NNP and NNPS; verbs are VB, VBD, VBG, VBN, VBP and VBZ. As in NLTK, auxiliaries ("is",
"does") are verbs, but modals ("can", "will": MD) are not. Numbers and clitics ("n't", "'s") count as words; punctuation
is kept. Unlike in the paper, "something" is tagged as a pronoun, and "boiling" in "boiling water" as an adjective.
Source: Schiappa et al. 2022, appendix A.2.
"""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from ...language.word_classes import with_classes
from ...language.words import Caption
from .result import Unchanged

UNKNOWN = "[UNK]"
NOUN = "NN"
VERB = "VB"


def no_nouns(caption: Caption) -> str | Unchanged:
    """Replace every noun with [UNK]."""
    return drop(caption, _words(caption, NOUN)) or Unchanged("no noun")


def no_verbs(caption: Caption) -> str | Unchanged:
    """Replace every verb with [UNK]."""
    return drop(caption, _words(caption, VERB)) or Unchanged("no verb")


def no_nouns_and_no_verbs(caption: Caption) -> str | Unchanged:
    """Replace every noun and verb with [UNK]."""
    return drop(caption, _words(caption, NOUN, VERB)) or Unchanged("no noun and no verb")


def only_nouns(caption: Caption) -> str | Unchanged:
    """Replace every word except nouns with [UNK]."""
    return drop(caption, _others(caption, NOUN)) or _kept(caption, "every word is a noun")


def only_verbs(caption: Caption) -> str | Unchanged:
    """Replace every word except verbs with [UNK]."""
    return drop(caption, _others(caption, VERB)) or _kept(caption, "every word is a verb")


def only_nouns_and_only_verbs(caption: Caption) -> str | Unchanged:
    """Replace every word except nouns and verbs with [UNK]."""
    return drop(caption, _others(caption, NOUN, VERB)) or _kept(caption, "every word is a noun or a verb")


def _kept(caption: Caption, reason: str) -> Unchanged:
    return Unchanged(reason if caption.words else "no word")


def random_noun(caption: Caption, rng: np.random.Generator) -> str | Unchanged:
    """Replace one randomly chosen noun with [UNK]."""
    return drop(caption, _one(_words(caption, NOUN), rng)) or Unchanged("no noun")


def random_verb(caption: Caption, rng: np.random.Generator) -> str | Unchanged:
    """Replace one randomly chosen verb with [UNK]."""
    return drop(caption, _one(_words(caption, VERB), rng)) or Unchanged("no verb")


def drop(caption: Caption, numbers: Collection[int]) -> str:
    """Replace words with [UNK], but keep their clitics ("does [UNK]"). Return "" if there is nothing to replace."""
    if not numbers:
        return ""
    changes = dict.fromkeys(numbers, UNKNOWN)
    for number in caption.words[1:]:
        token, previous = caption.tokens[number], caption.tokens[number - 1]
        if token.start == previous.end and previous.is_word and (number in numbers or number - 1 in numbers):
            changes[number] = f" {changes.get(number, token.text)}"
    return caption.replace(changes)


def _words(caption: Caption, *prefixes: str) -> tuple[int, ...]:
    tagged = set(with_classes(caption).tagged(*prefixes))
    return tuple(number for number in _droppable(caption) if number in tagged)


def _others(caption: Caption, *prefixes: str) -> tuple[int, ...]:
    tagged = set(with_classes(caption).tagged(*prefixes))
    return tuple(number for number in _droppable(caption) if number not in tagged)


def _droppable(caption: Caption) -> tuple[int, ...]:
    return tuple(number for number in caption.words if caption.tokens[number].text != UNKNOWN)


def _one(numbers: tuple[int, ...], rng: np.random.Generator) -> tuple[int, ...]:
    return (numbers[rng.integers(len(numbers))],) if numbers else ()
