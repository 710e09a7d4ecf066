"""Find gendered words in a caption, with their male, female and neutral forms from `bias.yaml`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal

from ...language.inflection import inflect
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
    found: dict[str, GenderWord] = {}

    def add(one: Triple, many: Triple, sides: Sequence[str] = ("male", "female")) -> None:
        for index, gender in enumerate(("male", "female")):
            if gender in sides:
                found.setdefault(one[index], GenderWord(gender, one, many))
                if many != one:
                    found.setdefault(many[index], GenderWord(gender, one, many, plural=True))

    for male, female, neutral in table["nouns"]["rows"]:
        add((male, female, neutral), (_plural(male), _plural(female), _plural(neutral)))
    for female, other in table["derived"]["rows"].items():
        add((other, female, other), (_plural(other), _plural(female), _plural(other)), ("female",))
    for male, female, neutral in table["fixed"]["rows"]:
        add((male, female, neutral), (male, female, neutral))
    return found


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
    found: dict[str, list[tuple[tuple[str, ...], GenderWord | None]]] = {}
    table = read_table("bias")
    for phrase in table["protected"]["rows"]:
        words = tuple(phrase.split())
        found.setdefault(words[0], []).append((words, None))
    for male, female, neutral in table["phrases"]["rows"]:
        for gender, phrase in (("male", male), ("female", female)):
            words = tuple(phrase.split())
            triple = (male.replace(" 's", "'s"), female.replace(" 's", "'s"), neutral)
            found.setdefault(words[0], []).append((words, GenderWord(gender, triple, triple)))
    return {first: sorted(rows, key=lambda row: -len(row[0])) for first, rows in found.items()}


@cache
def _plural(noun: str) -> str:
    """Return the plural of a noun. In a noun of several words, the last word changes."""
    for one, many in (("human", "humans"), ("man", "men"), ("person", "people"), ("child", "children")):
        if noun.endswith(one):
            return noun.removesuffix(one) + many
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
