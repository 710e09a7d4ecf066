"""Sentences as tokens that know their place, and edits of them that keep everything else as it was."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

Style = Literal["declarative", "imperative", "noun_phrase"]

TOKEN = re.compile(
    r"""
    \[UNK\]                                   # the placeholder of a dropped word
  | [^\W\d_]+?(?=n['’]t\b)                    # does|n't, ca|n't
  | n['’]t\b
  | ['’](?:s|re|ve|ll|d|m)\b                  # it|'s
  | \d+(?:[.,:/]\d+)*(?:st|nd|rd|th|s)?(?![-\w])  # 1,000  3.5  1/2  2nd
  | \w+(?:[-'’]\w+)*?(?=['’](?:s|re|ve|ll|d|m)\b)
  | \w+(?:[-'’]\w+)*                          # t-shirt, o'clock
  | \.{2,}
  | [^\w\s]
    """,
    re.VERBOSE | re.IGNORECASE,
)
_SENTENCE_END = frozenset({".", "!", "?"})
_CONSONANT_SOUND = re.compile(r"one\b|once\b|eu|ewe|ouija|uni(?![nm])|us[aeiu]|uk|ur[ai]n|ut[ei]|u\b|uv\b|ubiq")
_VOWEL_SOUND = re.compile(r"[aeiou]|hours?\b|hourly|honest|honou?r|heir|[fhlmnrsx]\b|8|1[18]\b")
_SPELLED = re.compile(r"[AEFHILMNORSX][A-Z]{1,4}\b")  # FBI, NBA: said letter by letter


@dataclass(frozen=True)
class Token:
    """A word, a number, a clitic ("n't", "'s") or a mark.

    Attributes:
        text: As written.
        start: Where it starts in its text.
        end: Where it ends.
        tag: Its part of speech in the tags of the Penn Treebank; "" before tagging.
    """

    text: str
    start: int
    end: int
    tag: str = ""

    @property
    def lower(self) -> str:
        """In small letters."""
        return self.text.lower()

    @property
    def is_word(self) -> bool:
        """Whether it is a word or number, not a mark."""
        return any(character.isalnum() for character in self.text)


@dataclass(frozen=True)
class Caption:
    """A caption whose words are tagged.

    Attributes:
        text: As given.
        tokens: Its tokens, in order.
        style: What its sentences are.
    """

    text: str
    tokens: tuple[Token, ...]
    style: Style

    @property
    def words(self) -> tuple[int, ...]:
        """Numbers of the tokens that are words or numbers."""
        return tuple(number for number, token in enumerate(self.tokens) if token.is_word)

    @property
    def sentences(self) -> tuple[range, ...]:
        """The token numbers of each sentence, its end marks included."""
        return sentence_ranges(self.tokens)

    def tagged(self, *prefixes: str) -> tuple[int, ...]:
        """Numbers of the tokens whose tag begins with one of the prefixes."""
        return tuple(number for number, token in enumerate(self.tokens) if token.tag.startswith(prefixes))

    def edit(self, changes: Mapping[int, str], before: Mapping[int, str] | None = None) -> str:
        """Write the caption with other words; see `edit`."""
        return edit(self.text, self.tokens, changes, before)


def tokenize(text: str) -> tuple[Token, ...]:
    """Split a text into tokens; what is between them is space."""
    return tuple(Token(found[0], found.start(), found.end()) for found in TOKEN.finditer(text))


def sentence_ranges(tokens: Sequence[Token]) -> tuple[range, ...]:
    """Divide tokens into sentences, each with the marks that end it."""
    found, start = [], 0
    for number, token in enumerate(tokens):
        last = number + 1 == len(tokens)
        ends = (token.text in _SENTENCE_END or set(token.text) == {"."}) and (
            last or tokens[number + 1].text not in _SENTENCE_END | {'"', "'", "”", ")"}
        )
        if ends or last:
            found.append(range(start, number + 1))
            start = number + 1
    return tuple(found)


@dataclass
class _Piece:
    """A token on its way into a text."""

    gap: str
    text: str
    changed: bool
    first: bool = False  # of its sentence, which begins with a capital


def edit(
    text: str, tokens: Sequence[Token], changes: Mapping[int, str], before: Mapping[int, str] | None = None
) -> str:
    """Write a text with some tokens changed; the rest, spaces and marks included, stays as it was.

    Capitals go with the place: what now begins a sentence gets the capital that the old first word had, and that word
    loses it if it stands elsewhere, unless it is a name or "I". "a" and "an" follow the sound of what comes after them
    where one of the two was changed.

    Args:
        text: The text.
        tokens: Its tokens.
        changes: New text by token number; "" deletes the token and the space before it.
        before: Text put before a token, with a space between; the number of tokens stands for the end.

    Returns:
        The new text.
    """
    before = before or {}
    starts = {sentence.start for sentence in sentence_ranges(tokens)}
    pieces: list[_Piece] = []
    place, first, capital = 0, False, False
    held: str | None = None  # the gap of a deleted first word
    for number, token in enumerate(tokens):
        gap, place = held if held is not None else text[place : token.start], token.end
        held = None
        if number in starts:
            first = True
            capital = token.text[:1].isupper()
        extra, new = before.get(number, ""), changes.get(number, token.text)
        if extra:
            pieces.append(_Piece(gap or " " * bool(pieces), extra, True, first and capital))
            gap, first = " ", False
        if not new:
            held = gap if first else None
            continue
        if number in starts and not first and number not in changes:
            new = without_capital(token)
        if extra and not (new[0].isalnum() or new[0] in "[(“"):
            gap = ""
        pieces.append(_Piece(gap, new, number in changes, first and capital))
        first = False
    if before.get(len(tokens)):
        pieces.append(_Piece(" " * bool(pieces), before[len(tokens)], True))
    for piece, following in pairwise(pieces):
        if piece.text.lower() in ("a", "an") and (piece.changed or following.changed) and following.text[:1].isalnum():
            article = indefinite_article(following.text)
            piece.text = article.capitalize() if piece.text[0].isupper() else article
    for piece in pieces:
        if piece.first:
            piece.text = with_capital(piece.text)
    return "".join(piece.gap + piece.text for piece in pieces) + text[place:]


def with_capital(text: str) -> str:
    """Write the first letter large."""
    return text[:1].upper() + text[1:]


def without_capital(token: Token) -> str:
    """Write a word as it stands inside a sentence: names, "I" and words in capitals keep theirs."""
    word = token.text
    keeps = token.tag.startswith("NNP") or word in ("I",) or (len(word) > 1 and word[1:] != word[1:].lower())
    return word if keeps else word[:1].lower() + word[1:]


def like(word: str, model: str) -> str:
    """Write a word with the capitals of another: all, the first, or as it is."""
    if len(model) > 1 and model.isupper():
        return word.upper()
    return with_capital(word) if model[:1].isupper() else word


def indefinite_article(following: str) -> str:
    """Choose "a" or "an" by the sound of the next word."""
    if following.isupper() and len(following) > 1:
        return "an" if _SPELLED.match(following) else "a"
    word = following.lower()
    return "an" if not _CONSONANT_SOUND.match(word) and _VOWEL_SOUND.match(word) else "a"
