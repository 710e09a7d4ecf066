"""Load gendered words and their male, female and neutral forms from `bias.yaml`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal

from ...language.inflection import inflect
from .tables import read_table

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
