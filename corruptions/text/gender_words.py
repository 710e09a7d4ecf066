"""Find gendered words in a caption, with their male, female and neutral forms from `bias.yaml`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal

from ...language.lexicon import inflect
from ...language.words import Caption
from .lexical import read_table, word_class

Target = Literal["female", "male", "neutral", "swap"]
Role = Literal["noun", "adjective", "subject", "object", "possessive", "alone", "reflexive"]
Triple = tuple[str, str, str]  # male, female and neutral form
_OTHER = {"male": "female", "female": "male"}


@dataclass(frozen=True)
class GenderWord:
    """A gendered word, with its singular and plural forms."""

    gender: str
    one: Triple  # male, female and neutral form
    many: Triple
    plural: bool = False

    def become(self, target: Target, plural: bool | None = None) -> str:
        """Return the form for the target gender. "swap" selects the opposite gender."""
        side = _OTHER[self.gender] if target == "swap" else target
        forms = self.many if (self.plural if plural is None else plural) else self.one
        return forms[("male", "female", "neutral").index(side)]


@cache
def gendered_nouns() -> dict[str, GenderWord]:
    """Return all gendered nouns, keyed by their singular and plural forms."""
    table = read_table("bias")
    nouns: dict[str, GenderWord] = {}

    def add(singular: Triple, plural: Triple, sides: Sequence[str] = ("male", "female")) -> None:
        for side, gender in enumerate(("male", "female")):
            if gender in sides:
                nouns.setdefault(singular[side], GenderWord(gender, singular, plural))
                if plural != singular:
                    nouns.setdefault(plural[side], GenderWord(gender, singular, plural, plural=True))

    for male, female, neutral in table["nouns"]["rows"]:
        add((male, female, neutral), (_plural(male), _plural(female), _plural(neutral)))
    for female, neutral in table["derived"]["rows"].items():
        add((neutral, female, neutral), (_plural(neutral), _plural(female), _plural(neutral)), ("female",))
    for male, female, neutral in table["fixed"]["rows"]:
        add((male, female, neutral), (male, female, neutral))
    return nouns


@cache
def gendered_adjectives() -> dict[str, GenderWord]:
    """Return all gendered adjectives."""
    rows: list[Triple] = [tuple(row) for row in read_table("bias")["adjectives"]["rows"]]
    return {row[side]: GenderWord(gender, row, row) for row in rows for side, gender in enumerate(("male", "female"))}


@cache
def gendered_pronoun(role: Role, gender: str) -> GenderWord:
    """Return the pronoun for a gender and a grammatical role."""
    male, female, neutral = read_table("bias")["pronouns"]["rows"][role]
    return GenderWord(gender, (male, female, neutral), (male, female, neutral))


@cache
def gendered_phrases() -> dict[str, list[tuple[tuple[str, ...], GenderWord | None]]]:
    """Return gendered phrases by their first word, longest first. The value is None for phrases that never change."""
    phrases: dict[str, list[tuple[tuple[str, ...], GenderWord | None]]] = {}
    table = read_table("bias")
    for phrase in table["protected"]["rows"]:
        words = tuple(phrase.split())
        phrases.setdefault(words[0], []).append((words, None))
    for male, female, neutral in table["phrases"]["rows"]:
        for gender, phrase in (("male", male), ("female", female)):
            words = tuple(phrase.split())
            triple = (male.replace(" 's", "'s"), female.replace(" 's", "'s"), neutral)
            phrases.setdefault(words[0], []).append((words, GenderWord(gender, triple, triple)))
    return {first: sorted(rows, key=lambda row: -len(row[0])) for first, rows in phrases.items()}


@cache
def _plural(noun: str) -> str:
    """Return the plural of a noun. In a noun of several words, the last word changes."""
    for singular, plural in (("human", "humans"), ("man", "men"), ("person", "people"), ("child", "children")):
        if noun.endswith(singular):
            return noun.removesuffix(singular) + plural
    head, space, last = noun.rpartition(" ")
    return head + space + inflect(last, "NNS")


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
    index = 0
    while index < len(caption.tokens):
        index, mention = _phrase(caption, index) or (index + 1, _word(caption, index))
        if mention:
            yield mention


def _phrase(caption: Caption, index: int) -> tuple[int, Mention | None] | None:
    """Return where the phrase that starts at a token ends, and its mention, or None for a name, which never changes."""
    for phrase, word in gendered_phrases().get(caption.tokens[index].lower, ()):
        stop = index + len(phrase)
        if tuple(token.lower for token in caption.tokens[index:stop]) == phrase:
            return stop, Mention(index, stop, word, "noun") if word else None
    return None


def _word(caption: Caption, index: int) -> Mention | None:
    token = caption.tokens[index]
    role = _PRONOUNS.get(token.lower)
    if token.lower in ("his", "her"):
        dances = token.lower == "her" and caption.tokens[token.head].tag == "VBG"  # "watches her dancing"
        owner = token.arc == "poss" and not dances
        role = "possessive" if owner else "alone" if token.lower == "his" else "object"
    if role:
        gender = "male" if token.lower in ("he", "him", "his", "himself") else "female"
        return Mention(index, index + 1, gendered_pronoun(role, gender), role)
    if token.lower in gendered_adjectives():
        first = index
        while caption.tokens[first].arc == "conj":  # "male and female singers"
            first = caption.tokens[first].head
        described = caption.tokens[caption.tokens[first].head]
        if caption.tokens[first].arc in ("amod", "compound", "nmod") and caption.tokens[first].head > index:
            animal = described.lemma in read_table("bias")["animals"]["rows"]
            return None if animal else Mention(index, index + 1, gendered_adjectives()[token.lower], "adjective")
    noun = gendered_nouns().get(token.lower)
    fellow = token.lower == "fellow" and caption.tag_at(index + 1).startswith("NN")
    if noun is None or fellow or word_class(caption, index) == "verb" or _in_name(caption, index):
        return None
    return Mention(index, index + 1, noun, "noun")


def _in_name(caption: Caption, index: int) -> bool:
    """Return whether a capitalized word is next to another one, as in "Stephen King"."""
    word = caption.tokens[index].text
    if not word[:1].isupper() or caption.text.isupper() or word.lower().rstrip(".") in _TITLES:
        return False
    near = [n for n in (index - 1, index + 1) if caption.tag_at(n).startswith("NNP")]
    return any(caption.tokens[n].text[:1].isupper() for n in near)


def number_word(caption: Caption, index: int | None) -> int | None:
    """Return the value of an article or number word: 1 for "a", 2 for "two"."""
    if index is None:
        return None
    lower = caption.tokens[index].lower
    if lower in ARTICLES:
        return 1
    if lower.isdecimal() and lower.isascii():
        return int(lower)
    return NUMBERS.index(lower) if lower in NUMBERS else None


def phrase_of(caption: Caption, index: int) -> tuple[int | None, tuple[int, ...]]:
    """Return the article, possessive or number before a noun, or None, and the words between the two."""
    start = index
    while start and caption.tag_at(start - 1).startswith(("JJ", "NN", "VBN", "VBG")):
        start -= 1
    has_determiner = start and caption.tag_at(start - 1) in ("DT", "PRP$", "CD", "PDT")
    return (start - 1 if has_determiner else None), tuple(range(start, index))
