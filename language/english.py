"""Recognize captions that are not in English."""

from __future__ import annotations

import unicodedata
from functools import lru_cache

from .closed_classes import AUXILIARIES, CLOSED
from .inflection import readings
from .lexicon import words
from .words import tokenize

LEAST_WORDS = 3  # minimum number of words; names and typos in shorter texts look like another language
LATIN_SHARE = 0.5  # share of the letters
DOUBTFUL_SHARE = 0.7  # share required if a foreign word occurs
KNOWN_SHARE = 0.4  # share of the words; captions contain many names and misspellings
ADDRESSES = ("http://", "https://", "www.")  # these are not words in any language
ENGLISH = frozenset((*CLOSED, *AUXILIARIES)) | words("joining") | words("particles")


@lru_cache(maxsize=1 << 15)
def is_english(text: str) -> bool:
    """Return False if a text is certainly not English.

    That is the case if most of its letters are not Latin. A text of three or more words is also not English if it
    contains at least two function words of other languages ("de", "und", "que") and fewer of English, or if fewer than
    40% of its words are in the English dictionary (70% if it contains a foreign function word; one of three words
    suffices). Texts of one or two words, and texts without letters, count as English.
    """
    letters = [character for character in text if character.isalpha()]
    if not letters:
        return True
    latin = sum("LATIN" in unicodedata.name(character, "") for character in letters)
    if latin < LATIN_SHARE * len(letters):
        return False
    spoken = " ".join(part for part in text.split() if not part.startswith(ADDRESSES))
    found = [token.lower for token in tokenize(spoken) if any(character.isalpha() for character in token.text)]
    if len(found) < LEAST_WORDS:
        return True
    english = sum(word in ENGLISH for word in found)
    foreign = len({word for word in found if word in words("foreign") and word not in ENGLISH})
    if foreign >= 2 and foreign > english:
        return False
    known = sum(word in ENGLISH or bool(readings(word)) for word in found)
    if len(found) == LEAST_WORDS:
        return known > 0
    return known >= (DOUBTFUL_SHARE if foreign and foreign >= english else KNOWN_SHARE) * len(found)
