"""Find words in a caption that reveal the gender of a person."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ...language.words import Caption
from .gender_words import (
    GenderWord,
    Role,
    gendered_adjectives,
    gendered_nouns,
    gendered_phrases,
    gendered_pronoun,
)
from .tables import read_table
from .word_classes import word_class

ARTICLES = ("a", "an")
NUMBERS = ("", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
_TITLES = ("mr", "mrs", "ms", "mister", "missus", "sir", "madam", "ma'am")
_PRONOUNS: dict[str, Role] = {
    **dict.fromkeys(("he", "she"), "subject"),
    **dict.fromkeys(("himself", "herself"), "reflexive"),
    **{"him": "object", "hers": "alone"},
}


@dataclass(frozen=True)
class Mention:
    """A gendered word or phrase for a person, from token `start` up to but not including `stop`."""

    start: int
    stop: int
    word: GenderWord
    role: Role


def find_mentions(caption: Caption) -> Iterator[Mention]:
    """Find the gendered mentions of people, from left to right."""
    number = 0
    while number < len(caption.tokens):
        number, mention = _phrase(caption, number) or (number + 1, _word(caption, number))
        if mention:
            yield mention


def _phrase(caption: Caption, number: int) -> tuple[int, Mention | None] | None:
    """Return where the phrase that starts at a token ends, and its mention, or None for a name, which never changes."""
    for phrase, word in gendered_phrases().get(caption.tokens[number].lower, ()):
        stop = number + len(phrase)
        if tuple(token.lower for token in caption.tokens[number:stop]) == phrase:
            return stop, Mention(number, stop, word, "noun") if word else None
    return None


def _word(caption: Caption, number: int) -> Mention | None:
    token = caption.tokens[number]
    role = _PRONOUNS.get(token.lower)
    if token.lower in ("his", "her"):
        dances = token.lower == "her" and caption.tokens[token.head].tag == "VBG"  # "watches her dancing"
        owner = token.arc == "poss" and not dances
        role = "possessive" if owner else "alone" if token.lower == "his" else "object"
    if role:
        gender = "male" if token.lower in ("he", "him", "his", "himself") else "female"
        return Mention(number, number + 1, gendered_pronoun(role, gender), role)
    if token.lower in gendered_adjectives():
        place = number
        while caption.tokens[place].arc == "conj":  # "male and female singers"
            place = caption.tokens[place].head
        described = caption.tokens[caption.tokens[place].head]
        if caption.tokens[place].arc in ("amod", "compound", "nmod") and caption.tokens[place].head > number:
            animal = described.lemma in read_table("bias")["animals"]["rows"]
            return None if animal else Mention(number, number + 1, gendered_adjectives()[token.lower], "adjective")
    noun = gendered_nouns().get(token.lower)
    fellow = token.lower == "fellow" and caption.tag_at(number + 1).startswith("NN")
    if noun is None or fellow or word_class(caption, number) == "verb" or _in_name(caption, number):
        return None
    return Mention(number, number + 1, noun, "noun")


def _in_name(caption: Caption, number: int) -> bool:
    """Return whether a capitalized word is next to another one, as in "Stephen King"."""
    word = caption.tokens[number].text
    if not word[:1].isupper() or caption.text.isupper() or word.lower().rstrip(".") in _TITLES:
        return False
    near = [n for n in (number - 1, number + 1) if caption.tag_at(n).startswith("NNP")]
    return any(caption.tokens[n].text[:1].isupper() for n in near)


def number_word(caption: Caption, number: int | None) -> int | None:
    """Return the value of an article or number word: 1 for "a", 2 for "two"."""
    if number is None:
        return None
    lower = caption.tokens[number].lower
    if lower in ARTICLES:
        return 1
    if lower.isdecimal() and lower.isascii():
        return int(lower)
    return NUMBERS.index(lower) if lower in NUMBERS else None


def phrase_of(caption: Caption, number: int) -> tuple[int | None, tuple[int, ...]]:
    """Return the article, possessive or number before a noun, or None, and the words between the two."""
    start = number
    while start and caption.tag_at(start - 1).startswith(("JJ", "NN", "VBN", "VBG")):
        start -= 1
    told = start and caption.tag_at(start - 1) in ("DT", "PRP$", "CD", "PDT")
    return (start - 1 if told else None), tuple(range(start, number))
