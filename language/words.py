"""Split texts into tokens with their positions, edit tokens without changing the rest, and compare texts."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import Any, Literal

Style = Literal["declarative", "imperative", "noun_phrase"]
StyleOption = Literal["declarative", "imperative", "auto"]  # style of the captions in a dataset

_NOT = r"n(?:['’]t|\ t(?![\ -]?shirt)|t)\b"
_LETTER = r"[\w\u0300-\u036f]"  # includes combining accents
TOKEN = re.compile(
    rf"""
    \[UNK\]                                   # the placeholder of a dropped word
  | [^\W\d_]+?(?=n['’]t\b)                    # does|n't, ca|n't
  | \b(?:do|does|did|is|are|was|were|has|have|had|ca|wo|could|would|should|must)(?={_NOT})
  | (?<=[^\W\d_]){_NOT}                        # does|n t, do|nt
  | \b(?:(?:you|they)(?=(?:re|ve|ll)\b)|(?:that|there|what|he|she)(?=s\b))  # they|re, that|s
  | ['’](?:s|re|ve|ll|d|m)\b                  # it|'s
  | (?:[^\W\d_]\.){{2,}}(?!\w)                # a.m.  U.S.
  | \d+(?:[.,:/]\d+)+\w*(?:-\w+)*             # 1,000  3.5oz  1/2-inch  9:30pm
  | {_LETTER}+(?:[-'’]{_LETTER}+)*?(?=['’](?:s|re|ve|ll|d|m)\b)
  | {_LETTER}+(?:[-'’]{_LETTER}+)*            # t-shirt, o'clock, 2nd
  | \.{{2,}}
  | [^\w\s]
    """,
    re.VERBOSE | re.IGNORECASE,
)
_PEOPLE = ("i", "you", "he", "she", "it", "we", "they")
_CLITICS = {  # clitics written without the apostrophe, with the words after which they occur
    "s": (),
    "m": ("i",),
    "re": ("you", "we", "they"),
    "ve": ("i", "you", "we", "they", "could", "would", "should"),
    "ll": _PEOPLE,
    "d": _PEOPLE,
}
_SENTENCE_END = frozenset({".", "!", "?", "…"})
_OPENING = frozenset({'"', "'", "“", "‘", "(", "[", "«"})
_CLOSING = frozenset({'"', "'", "”", "’", ")", "]", "»"})
ABBREVIATIONS = frozenset({"mr", "mrs", "ms", "dr", "prof", "st", "vs", "approx"})  # these never end a sentence
_CONSONANT_SOUND = re.compile(
    r"one\b|ones\b|onesie|once\b|eu|ewe|ouija|uni(?![nm]|dent|ron)|us[aeiu]|uk|ur[ai]n|ut[ei]|uto|u\b|uv\b|ufo|ubiq"
)
_VOWEL_SOUND = re.compile(
    r"[aeiou]|hour|honest|honou?r|heir|[fhlmnrsx]\b|8|1[18](?!\d)|18\d\d(?!\d)"
    r"|(?:fbi|fps|hdtv|hd|html|lcd|lgbt|mc|mma|mp[34]|mri|msn|mtv|nba|nfl|nhl|npc|rpg|rv|sms|suv|x-?box)s?\b"
)
_CAPITALS = re.compile(r"[A-Z]{2,5}s?\b")
_ARTICLE = re.compile(r"(?<![^\s])an?$", re.IGNORECASE)
# Capitals are pronounced letter by letter (NBA), or as a word if they start like one (NASA).
_SPELLED = re.compile(r"[AEFHILMNORSX]")
_SAID = re.compile(r"(?!SUV|HIV|SOS|SAT|LAX)(?:[FHLMNRX]|S[CHKLMNPTW]?|F[LR])[AEIOUY][A-Z]+\b|ONE\b|EURO?\b")


@dataclass(frozen=True)
class Token:
    """A word, a number, a clitic ("n't", "'s") or a punctuation mark.

    Attributes:
        start: Character offset of its start in the text.
        end: Character offset of its end in the text.
        tag: Penn Treebank part-of-speech tag; "" before parsing.
        lemma: The base form for its tag, in lower case; "" before parsing.
        head: Position of the token that it depends on; its own if it is the root of a sentence.
        rival: The next likely tag of another part of speech if the parser is in doubt, else "".
        arc: Relation to its head (ClearNLP labels such as "nsubj" and "dobj"; "ROOT"); "" before parsing.
        lower: The token in lower case with a straight apostrophe, which clitics have even if the text omits it ("it s",
            "don t", "they re"). The value is stored because it is read hundreds of times per token.
    """

    text: str
    start: int
    end: int
    tag: str = ""
    lemma: str = ""
    head: int = -1
    arc: str = ""
    rival: str = ""
    lower: str = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "lower", self.text.lower().replace("’", "'"))

    def copy(self, **changes: Any) -> Token:
        """Return a copy with other attributes. This is several times faster than `dataclasses.replace`."""
        token = object.__new__(Token)
        token.__dict__.update(self.__dict__, **changes)
        return token

    @property
    def lacks_apostrophe(self) -> bool:
        """Return whether the token is a clitic written without its apostrophe, like "s" in "it s"."""
        return "'" in self.lower and "'" not in self.text and "’" not in self.text

    @property
    def read(self) -> str:
        """Return the token as it is passed to a parser: clitics with their apostrophe, and "can" for "cannot"."""
        if self.lower == "cannot":
            return "can"
        return self.lower if self.lacks_apostrophe else self.text

    @property
    def is_word(self) -> bool:
        """Return whether the token is a word or number, not a punctuation mark."""
        return any(character.isalnum() for character in self.text)


@dataclass(frozen=True)
class Caption:
    """A parsed caption, with its text, tokens and style."""

    text: str
    tokens: tuple[Token, ...]
    style: Style

    @property
    def words(self) -> tuple[int, ...]:
        """Return the indices of the tokens that are words or numbers."""
        return tuple(index for index, token in enumerate(self.tokens) if token.is_word)

    @cached_property
    def sentences(self) -> tuple[range, ...]:
        """Return the range of tokens of each sentence, including its end marks."""
        return sentence_ranges(self.tokens)

    def tagged(self, *prefixes: str) -> tuple[int, ...]:
        """Return the indices of the tokens whose tag starts with one of the prefixes."""
        return tuple(index for index, token in enumerate(self.tokens) if token.tag.startswith(prefixes))

    @cached_property
    def roots(self) -> tuple[int, ...]:
        """Return the roots of the sentences."""
        return tuple(index for index, token in enumerate(self.tokens) if token.arc == "ROOT")

    @cached_property
    def _dependents(self) -> tuple[tuple[int, ...], ...]:
        dependents: list[list[int]] = [[] for _ in self.tokens]
        for index, token in enumerate(self.tokens):
            if token.head != index:
                dependents[token.head].append(index)
        return tuple(map(tuple, dependents))

    def children(self, index: int, *arcs: str) -> tuple[int, ...]:
        """Return the dependents of a token in order, all of them or those with one of the arcs."""
        dependents = self._dependents[index]
        return tuple(n for n in dependents if self.tokens[n].arc in arcs) if arcs else dependents

    def child(self, index: int, *arcs: str) -> int | None:
        """Return the first dependent of a token with one of the arcs, or None."""
        return next(iter(self.children(index, *arcs)), None)

    def subtree(self, index: int, without: Container[str] = ()) -> tuple[int, ...]:
        """Return a token and everything below it, in order; `without` are arcs from the token that are left out."""
        tokens_below = [index]
        for child in self._dependents[index]:
            if self.tokens[child].arc not in without:
                tokens_below += self.subtree(child)
        return tuple(sorted(tokens_below))

    def is_span(self, numbers: Sequence[int]) -> bool:
        """Return whether tokens are contiguous."""
        return bool(numbers) and numbers[-1] - numbers[0] + 1 == len(numbers)

    def slice(self, numbers: Sequence[int]) -> str:
        """Return the text from the first to the last of some tokens."""
        return self.text[self.tokens[numbers[0]].start : self.tokens[numbers[-1]].end]

    def tag_at(self, index: int) -> str:
        """Return the tag of a token, or "" outside the caption."""
        return self.tokens[index].tag if 0 <= index < len(self.tokens) else ""

    def lower_at(self, index: int) -> str:
        """Return a token in lower case, or "" outside the caption."""
        return self.tokens[index].lower if 0 <= index < len(self.tokens) else ""

    def edit(self, changes: Mapping[int, str], before: Mapping[int, str] | None = None) -> str:
        """Return the text with some tokens changed; see `edit`."""
        return edit(self.text, self.tokens, self.sentences, changes, before)

    def replace(self, changes: Mapping[int, str]) -> str:
        """Return the text with tokens replaced exactly as given, without adapting anything else."""
        parts, end = [], 0
        for index, token in enumerate(self.tokens):
            parts += [self.text[end : token.start], changes.get(index, token.text)]
            end = token.end
        return "".join(parts) + self.text[end:]


def tokenize(text: str) -> tuple[Token, ...]:
    """Split a text into tokens.

    Clitics are separate tokens, even without an apostrophe: "don t" and "dont" become "do" and "n't", "it s" becomes
    "it" and "'s", and "they re" becomes "they" and "'re".
    """
    tokens: list[Token] = []
    for match in TOKEN.finditer(text):
        token = Token(match[0], match.start(), match.end())
        clitic = _clitic(token, tokens[-1], text) if tokens else ""
        tokens.append(token.copy(lower=clitic) if clitic else token)
    return tuple(tokens)


def _clitic(token: Token, before: Token, text: str) -> str:
    if token.lower in ("n t", "nt"):
        return "n't"
    if token.lower not in _CLITICS or text[before.end : token.start] not in ("", " "):
        return ""
    if token.lower == "s":
        return "'s" if before.text[-1].isalpha() and before.lower not in ("letter", "letters") else ""
    return f"'{token.lower}" if before.lower in _CLITICS[token.lower] else ""


@cache
def name_pattern(names: tuple[str, ...]) -> re.Pattern[str] | None:
    """Return a case-insensitive pattern that matches any of the names, or None if there are none."""
    if not names:
        return None
    written = (re.escape(name).replace(r"\ ", r"\s+") for name in names)
    return re.compile(rf"\b(?:{'|'.join(written)})(?!\w)", re.IGNORECASE)


def sentence_ranges(tokens: Sequence[Token]) -> tuple[range, ...]:
    """Return the range of tokens of each sentence, including its end marks and closing quotes and brackets."""
    ranges, start, ended = [], 0, False
    for index in range(len(tokens)):
        ended = _ends(tokens, index) or (ended and _closes(tokens, index))
        following = index + 1
        if following == len(tokens) or (ended and not _ends(tokens, following) and not _closes(tokens, following)):
            ranges.append(range(start, following))
            start, ended = following, False
    return tuple(ranges)


def _ends(tokens: Sequence[Token], index: int) -> bool:
    text = tokens[index].text
    short = text == "." and index > 0 and tokens[index - 1].lower in ABBREVIATIONS
    return (text in _SENTENCE_END or set(text) == {"."}) and not short


def _closes(tokens: Sequence[Token], index: int) -> bool:
    return index > 0 and tokens[index].text in _CLOSING and tokens[index].start == tokens[index - 1].end


@dataclass
class _Piece:
    """A token of a text that is being edited."""

    gap: str
    text: str
    changed: bool  # whether the token changed, or a word before it was deleted
    first: bool = False  # whether it is the first word of its sentence
    capital: bool = False  # whether the sentence began with a capital


def edit(
    text: str,
    tokens: Sequence[Token],
    sentences: Sequence[range],
    changes: Mapping[int, str],
    before: Mapping[int, str] | None = None,
) -> str:
    """Change some tokens of a text without changing anything else, including spaces and marks.

    Capitalization follows position: the new first word of a sentence is capitalized like the former first word, which
    loses its capital unless it is a name or "I". "a" and "an" follow the sound of the next word if either of the two
    changed.

    `changes` contains new text by token index; "" deletes the token and the space before it. `before` contains text to
    insert before a token, followed by a space; the key len(tokens) stands for the end.
    """
    before = before or {}
    starts = {sentence.start: sentence for sentence in sentences}
    pieces: list[_Piece] = []
    end, opener, first, capital, gone = 0, -1, False, False, False
    kept_gap: str | None = None  # the gap of a deleted word that followed nothing or an opening mark
    for index, token in enumerate(tokens):
        gap, end = kept_gap if kept_gap is not None else text[end : token.start], token.end
        kept_gap = None
        if index in starts:
            opener = next((n for n in starts[index] if tokens[n].is_word), -1)
            first, capital = True, opener >= 0 and tokens[opener].text[:1].isupper()
        extra, new = before.get(index, ""), changes.get(index, token.text)
        if extra:
            pieces.append(_Piece(gap or " " * bool(pieces), extra, True, first, first and capital))
            closing = not token.is_word and index not in starts and token.start == tokens[index - 1].end
            gap, first = " " * (not closing or token.text in _OPENING - _CLOSING), False
        if not new:
            opened = bool(pieces) and pieces[-1].text in _OPENING and not gap and token.is_word
            kept_gap, gone = gap if first or opened else None, True
            continue
        if index == opener and not first and index not in changes:
            new = without_capital(token)
        begins = first and any(character.isalnum() for character in new)
        pieces.append(_Piece(gap, new, index in changes or gone, begins, begins and capital))
        first, gone = first and not begins, False
    if before.get(len(tokens)):
        pieces.append(_Piece(" " * bool(pieces), before[len(tokens)], True))
    _choose_articles(pieces, text.isupper() and len(text) > 1)
    for piece in pieces:
        if piece.capital:
            piece.text = with_capital(piece.text)
    return "".join(piece.gap + piece.text for piece in pieces) + text[end:]


def _choose_articles(pieces: Sequence[_Piece], all_capitals: bool) -> None:
    """Correct "a" and "an" if they or the next word changed. "A" inside a sentence is a letter ("vitamin A")."""
    for index, piece in enumerate(pieces):
        article = _ARTICLE.search(piece.text)
        if not article or (article[0] == "A" and not piece.first and not all_capitals):
            continue
        following = next((other for other in pieces[index + 1 :] if other.text not in _OPENING), None)
        if following and (piece.changed or following.changed) and following.text[:1].isalnum():
            right = indefinite_article(following.text.lower() if all_capitals else following.text)
            right = right.upper() if all_capitals else with_capital(right) if article[0][0].isupper() else right
            piece.text = piece.text[: article.start()] + right


def with_capital(text: str) -> str:
    """Capitalize the first letter."""
    return text[:1].upper() + text[1:]


def without_capital(token: Token) -> str:
    """Return a word as it is written inside a sentence. Names, "I" and words in capitals keep their capitals."""
    word = token.text
    keeps = token.tag.startswith("NNP") or word in ("I",) or (len(word) > 1 and word[1:] != word[1:].lower())
    return word if keeps else word[:1].lower() + word[1:]


def like(word: str, model: str) -> str:
    """Capitalize a word like a model: all letters, the first letter, or none."""
    if len(model) > 1 and model.isupper():
        return word.upper()
    return with_capital(word) if model[:1].isupper() else word


def indefinite_article(following: str) -> str:
    """Return "a" or "an", depending on the sound of the next word."""
    if _CAPITALS.match(following) and not _SAID.match(following):
        return "an" if _SPELLED.match(following) else "a"
    word = unicodedata.normalize("NFD", following.lower())  # éclair
    return "an" if not _CONSONANT_SOUND.match(word) and _VOWEL_SOUND.match(word) else "a"


APOSTROPHES = re.compile("['’‘`´]")
MARKS = re.compile(r"[^\w\s]|_")


def text_key(text: str) -> str:
    """Normalize case, punctuation, apostrophes and spaces, and remove "because" from the start."""
    words = MARKS.sub(" ", APOSTROPHES.sub("", text.casefold())).split()
    return " ".join(words[1:] if words[:1] == ["because"] and len(words) > 1 else words)
