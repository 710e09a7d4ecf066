"""Recognize nouns for people, and make their wording gender-neutral: "the woman" becomes "the person"."""

from __future__ import annotations

from functools import cache

from .inflection import inflect, readings
from .lexicon import read_lexicon, word_lists
from .words import Caption, like

_ENDINGS = ("er", "or", "ist", "ian", "man", "woman")
_PRONOUNS = {
    "he": "they",
    "she": "they",
    "him": "them",
    "himself": "themselves",
    "herself": "themselves",
    "themself": "themselves",
    "his": "their",
    "hers": "theirs",
}


@cache
def neutral_nouns() -> dict[str, str]:
    """Return the gendered nouns, singular and plural, with the neutral nouns that stand for them."""
    singular = {str(noun): str(other) for noun, other in read_lexicon("people")["neutral"].items()}
    plural = {_plural(noun): _plural(other) for noun, other in singular.items()}
    return singular | plural


def _plural(noun: str) -> str:
    return "people" if noun == "person" else inflect(noun, "NNS")


def is_gendered(word: str) -> bool:
    """Return whether a word is a gendered pronoun or noun."""
    return word.lower() in {"her", *_PRONOUNS, *neutral_nouns()}


def neutral(caption: Caption, number: int) -> str:
    """Return the gender-neutral form of a token, or its text if it has no gender."""
    token = caption.tokens[number]
    if token.lower in ("he", "she") and caption.tag_at(number + 1)[:2] == "NN":
        return token.text  # "rinses he broccoli"
    if token.lower == "her":
        return "their" if token.tag == "PRP$" else "them"
    found = _PRONOUNS.get(token.lower) or (neutral_nouns().get(token.lower) if token.tag.startswith("NN") else "")
    little = any(caption.tokens[n].lower == "little" for n in caption.children(number, "amod"))
    if little and found in ("person", "people"):
        found = "child" if found == "person" else "children"
    return like(found, token.text) if found else token.text


@cache
def is_person_noun(word: str) -> bool:
    """Return whether a noun, singular or plural, stands for a person or for several, such as "crowd" and "skiers"."""
    lists, lower = word_lists("people"), word.lower()
    lemmas = {lower, *readings(lower).get("NOUN", ())}
    if lemmas & lists.things:
        return False
    return bool(lemmas & lists.people or lemmas & neutral_nouns().keys()) or any(
        len(lemma) > 4 and lemma.endswith(_ENDINGS) for lemma in lemmas
    )


def is_person(caption: Caption, number: int) -> bool:
    """Return whether a subject stands for people: "a group of friends" and "one of them" do, "a flock of birds" not."""
    token = caption.tokens[number]
    others = caption.children(number, "conj")
    if others and not all(is_person(caption, other) for other in others):
        return False
    counted = [caption.child(n, "pobj") for n in caption.children(number, "prep") if caption.tokens[n].lower == "of"]
    if counted and counted[0] is not None:
        inner = caption.tokens[counted[0]].lower
        return is_person(caption, counted[0]) or inner in ("them", "us", "these", "which")
    return token.lower in word_lists("people").pronouns or (
        token.tag.startswith("NN") and (is_person_noun(token.lower))
    )
