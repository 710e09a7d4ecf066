"""Replace words with [UNK] according to their part of speech, so that the length of the caption does not change.

As in NLTK, auxiliaries ("is", "does") are verbs, but modals ("can", "will") are not. Numbers and clitics ("n't", "'s")
count as words; punctuation is kept. Unlike in the paper, "something" is a pronoun, "boiling" in "boiling water" an
adjective, and a caption with a word that may be either is left unchanged.
Source: Schiappa et al. 2022, appendix A.2.
"""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from ...language.words import Caption
from ..registry import Unchanged
from .lexical import DOUBT, word_class

UNKNOWN = "[UNK]"


def no_nouns(caption: Caption) -> str | Unchanged:
    """Replace every noun with [UNK]."""
    return _drop_all(caption, ("noun",), "no noun")


def no_verbs(caption: Caption) -> str | Unchanged:
    """Replace every verb with [UNK]."""
    return _drop_all(caption, ("verb",), "no verb")


def no_nouns_and_no_verbs(caption: Caption) -> str | Unchanged:
    """Replace every noun and verb with [UNK]."""
    return _drop_all(caption, ("noun", "verb"), "no noun and no verb")


def only_nouns(caption: Caption) -> str | Unchanged:
    """Replace every word except nouns with [UNK]."""
    return _drop_all(caption, ("verb", ""), "every word is a noun")


def only_verbs(caption: Caption) -> str | Unchanged:
    """Replace every word except verbs with [UNK]."""
    return _drop_all(caption, ("noun", ""), "every word is a verb")


def only_nouns_and_only_verbs(caption: Caption) -> str | Unchanged:
    """Replace every word except nouns and verbs with [UNK]."""
    return _drop_all(caption, ("",), "every word is a noun or a verb")


def random_noun(caption: Caption, rng: np.random.Generator) -> str | Unchanged:
    """Replace one randomly chosen noun with [UNK]."""
    return _drop_one(caption, "noun", rng)


def random_verb(caption: Caption, rng: np.random.Generator) -> str | Unchanged:
    """Replace one randomly chosen verb with [UNK]."""
    return _drop_one(caption, "verb", rng)


def _drop_all(caption: Caption, dropped: Collection[str], otherwise: str) -> str | Unchanged:
    classes_by_index = _classes(caption)
    doubtful = next((caption.tokens[index].text for index, kind in classes_by_index.items() if kind == DOUBT), None)
    if doubtful:
        return Unchanged(f"not sure what part of speech {doubtful!r} is")
    chosen = [index for index, kind in classes_by_index.items() if kind in dropped]
    return drop(caption, chosen) if chosen else Unchanged(otherwise if caption.words else "no word")


def _drop_one(caption: Caption, kind: str, rng: np.random.Generator) -> str | Unchanged:
    indices = [index for index, word_kind in _classes(caption).items() if word_kind == kind]
    return drop(caption, (indices[rng.integers(len(indices))],)) if indices else Unchanged(f"no {kind}")


def _classes(caption: Caption) -> dict[int, str]:
    return {n: word_class(caption, n) for n in caption.words if caption.tokens[n].text != UNKNOWN}


def drop(caption: Caption, indices: Collection[int]) -> str:
    """Replace words with [UNK], but keep their clitics ("does [UNK]").

    If "was" is dropped from "wasn t", "nt" remains, so that the length does not change.
    """
    changes = dict.fromkeys(indices, UNKNOWN)
    for index in caption.words[1:]:
        token, previous = caption.tokens[index], caption.tokens[index - 1]
        if token.start == previous.end and previous.is_word and (index in indices or index - 1 in indices):
            changes[index] = f" {changes.get(index, token.text.replace(' ', ''))}"
    return caption.replace(changes)
