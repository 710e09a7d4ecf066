"""The words of a why-question, names among them, and what each can be."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from .closed_classes import CLOSED, PLURALS
from .inflection import is_plural_noun, is_verb_form, readings
from .lexicon import word_lists
from .words import Token, indefinite_article, name_pattern, tokenize, with_capital

MODALS = frozenset(("will", "would", "can", "could", "shall", "should", "may", "might", "must", "cannot"))


@dataclass(frozen=True)
class Word:
    """A word of the question: as it is to be written, and whether it is a name, or a part of one."""

    text: str
    name: bool = False
    joined: bool = False  # to the word before: "'s"

    @property
    def lower(self) -> str:
        """In small letters."""
        return self.text.lower()


def with_names(text: str, tokens: Sequence[Token], names: tuple[str, ...]) -> list[Word]:
    """Write names with their capitals and all else in small letters.

    A name that is a word too ("Lightning") must have its capital, or no article or adjective before it. A word that no
    dictionary has is a name where it stands without an article at the beginning, or has a capital.
    """
    lists = word_lists("stories")
    pattern, written = name_pattern(names), {name.lower(): name for name in names}
    canonical: dict[int, str] = {}
    for match in pattern.finditer(text) if pattern else ():
        name = written.get(match[0].lower(), match[0])
        inside = [n for n, token in enumerate(tokens) if match.start() <= token.start and token.end <= match.end()]
        common = len(inside) == 1 and bool(readings(match[0])) and match[0][:1].islower() and inside != [1]
        before = tokens[inside[0] - 1].lower if common else ""
        if not common or not (before in lists.subject_determiners or "ADJ" in readings(before)):
            canonical.update(zip(inside, [token.text for token in tokenize(name)], strict=False))
    words: list[Word] = []
    for number, token in enumerate(tokens):
        joined = number > 0 and tokens[number - 1].end == token.start
        strange = token.text.isalpha() and not readings(token.text) and token.lower not in CLOSED
        strange = strange and token.lower not in lists.subject_determiners
        if number in canonical:
            words.append(Word(canonical[number], True, joined))
        elif strange and token.lower not in MODALS and (token.text[:1].isupper() or number == 1):
            words.append(Word(with_capital(token.text), True, joined))
        elif token.lower in lists.proper:
            words.append(Word(with_capital(token.lower), joined=joined))
        else:
            words.append(Word(token.lower, joined=joined))
    return words


def is_adverb(word: Word) -> bool:
    """Return whether a word can stand before a verb and says how, when or how often."""
    if word.lower in word_lists("stories").loose_adverbs:
        return not word.name
    known = readings(word.text)
    return not word.name and word.lower.endswith("ly") and "ADV" in known and "NOUN" not in known


def is_pronoun(word: Word) -> bool:
    """Return whether a word stands for somebody or something."""
    return CLOSED.get(word.lower) == "PRP" or word.lower in ("this", "that", "these", "those", "one", "both", "all")


def is_base(word: Word) -> bool:
    """Return whether a word can be the base form of a verb."""
    return not word.name and word.lower not in CLOSED and is_verb_form(word.text, "VB")


def is_plural(word: Word) -> bool:
    """Return whether a word is a noun in plural."""
    return not word.name and (is_plural_noun(word.text) or word.lower in PLURALS or word.lower == "mice")


def written(words: Sequence[Word]) -> str:
    """Write words with the spaces between them, and "a" or "an" as they sound."""
    text = ""
    for place, word in enumerate(words):
        if word.lower in ("a", "an") and place + 1 < len(words):
            word = replace(word, text=indefinite_article(words[place + 1].text))
        text += word.text if word.joined or not text else f" {word.text}"
    return text
