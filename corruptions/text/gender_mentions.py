"""Find words in a caption that reveal the gender of a person."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from ...language.inflection import can_be_verb, is_only_verb, is_verb_form, readings, verb_lemma
from ...language.lexicon import words
from ...language.words import Caption
from .gender_words import (
    GenderWord,
    Role,
    gendered_adjectives,
    gendered_nouns,
    gendered_phrases,
    gendered_pronoun,
    read_compound,
    titles,
)
from .tables import read_table

ARTICLES = ("a", "an")
NUMBERS = ("", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
_SEVERAL = ("few", "couple", "lot", "group", "bunch", "pair", "dozen", "hundred", "dozens", "hundreds", "many")
_TITLES = ("mr", "mrs", "ms", "mister", "missus", "sir", "madam", "ma'am")
_PERCEPTION = ("see", "watch", "film", "hear", "show", "record", "catch", "find", "keep", "leave", "get", "have")
_QUOTES = ('"', "'", "“", "‘")
_PLACES = ("beside", "behind", "near", "opposite")
_CAUSATIVE = ("let", "make", "help", "see", "watch", "hear", "have", "to")


@dataclass(frozen=True)
class Mention:
    """A gendered word or phrase for a person, from token `start` up to but not including `stop`."""

    start: int
    stop: int
    word: GenderWord
    role: Role
    slip: str = ""  # agreement errors: "one" in "a women is talking", "own" in "a girls hair", "many" in "three woman"


def find_mentions(caption: Caption) -> Iterator[Mention]:
    """Find the gendered mentions of people, from left to right."""
    number = 0
    while number < len(caption.tokens):
        found = _mention(caption, number)
        if isinstance(found, Mention):
            yield found
        number = found.stop if isinstance(found, Mention) else found


def _mention(caption: Caption, number: int) -> Mention | int:
    """Return the mention that starts at a token. If there is none, return the next token to examine."""
    tokens = caption.tokens
    lower = tokens[number].lower
    for phrase, word in gendered_phrases().get(lower, ()):
        stop = number + len(phrase)
        if tuple(token.lower for token in tokens[number:stop]) == phrase:
            if word is None:
                return stop
            return Mention(number, stop, word, "noun")
    title = _title_stop(caption, number)
    if title:
        return title
    role = _pronoun_role(caption, number)
    if role == "object" and _is_animal(caption, number):
        return number + 1
    if role:
        gender = "male" if lower in ("he", "him", "his", "himself") else "female"
        return Mention(number, number + 1, gendered_pronoun(role, gender), role)
    if lower in gendered_adjectives():
        kind = _adjective_use(caption, number)
        if kind == "adjective":
            return Mention(number, number + 1, gendered_adjectives()[lower], "adjective")
        if kind == "animal" or lower not in ("male", "female"):
            return number + 1
    noun = gendered_nouns().get(lower) or read_compound(lower)
    if noun is None or not _is_noun(caption, number) or _in_name(caption, number) or _is_fellow(caption, number):
        return number + 1
    return Mention(number, number + 1, noun, "noun", _slip(caption, number, noun))


def _title_stop(caption: Caption, number: int) -> int:
    """Return where a known title ends that follows a word such as "movie", or 0 if there is no such title."""
    tokens = caption.tokens
    if not number or tokens[number - 1].lower not in read_table("bias")["titles"]["before"]:
        return 0
    for title in titles().get(tokens[number].lower, ()):
        if tuple(token.lower for token in tokens[number : number + len(title)]) == title:
            return number + len(title)
    return 0


def _is_fellow(caption: Caption, number: int) -> bool:
    """Return whether "fellow" modifies a noun, as in "his fellow soldiers"."""
    following = caption.tokens[number + 1].tag if number + 1 < len(caption.tokens) else ""
    return caption.tokens[number].lower == "fellow" and following.startswith("NN")


def _slip(caption: Caption, number: int, noun: GenderWord) -> str:
    """Return the agreement error between a noun and its determiner, or "" if they agree."""
    start, determiner = phrase_start(caption, number)
    count = number_word(caption, determiner)
    if any(token.lower in _SEVERAL for token in caption.tokens[start:number]):
        return ""
    if not noun.plural:
        return "many" if count and count > 1 and noun.one != noun.many else ""
    if count != 1:
        return ""
    following = caption.tokens[number + 1].tag if number + 1 < len(caption.tokens) else ""
    return "one" if caption.tokens[number].lower in ("men", "women") else "own" if following.startswith("NN") else ""


def _pronoun_role(caption: Caption, number: int) -> Role | None:
    lower = caption.tokens[number].lower
    if lower in ("he", "she"):
        return "subject"
    if lower in ("himself", "herself"):
        return "reflexive"
    if lower == "him":
        return "object"
    if lower == "hers":
        return "alone"
    if lower == "his":
        return "possessive" if _before_noun(caption, number) else "alone"
    if lower == "her":
        return "possessive" if _before_noun(caption, number) else "object"
    return None


def _is_animal(caption: Caption, number: int) -> bool:
    """Return whether "her" or "him" refers to an animal, as in "a girl rides a horse and pats her"."""
    place, animals = number - 1, read_table("bias")["animals"]["rows"]
    while place >= 0 and caption.tokens[place].lower not in gendered_nouns():
        place -= 1
    between = [token.lower for token in caption.tokens[place + 1 : number]]
    if place < 0 or not set(between) & set(animals) or "and" not in between:
        return False
    female = caption.tokens[number].lower == "her"
    return gendered_nouns()[caption.tokens[place].lower].gender == ("female" if female else "male")


def _before_noun(caption: Caption, number: int) -> bool:
    """Return whether "his" or "her" modifies a noun that follows: "her new car", but not "helps her cook"."""
    tokens = caption.tokens
    following = tokens[number + 1 :]
    if len(following) > 1 and following[0].text in _QUOTES and following[0].start > tokens[number].end:
        following = following[1:]
    if len(following) > 1 and following[0].lower in ("or", "and", "/") and following[1].lower in ("his", "her"):
        return _before_noun(caption, number + 2)
    while len(following) > 1 and following[0].tag == "RB" and following[1].tag.startswith(("JJ", "VBN")):
        following = following[1:]
    if not following or not following[0].is_word:
        return False
    word, tag = following[0].lower, following[0].tag
    his = tokens[number].lower == "his"
    verb = verb_lemma(tokens[number - 1].lower) if number else ""
    if verb == "let" and not his:
        return False
    before = tokens[number - 1].lower if number else ""
    doing = tag in ("VBG", "NN") and is_verb_form(word, "VBG")
    alone = len(following) == 1 or not following[1].tag.startswith("NN")
    if not his and before in _PLACES and doing and alone:
        return False  # "somebody is beside her eating"
    if tag.startswith(("NN", "JJ", "CD")):
        return not (verb == "help" and is_only_verb(word))
    if tag in ("VBG", "VBN", "VBD"):  # "her dancing shoes", "her dancing", but "watches her dancing"
        named = len(following) > 1 and following[1].tag.startswith("NN")
        return his or named or (tag != "VBD" and verb not in _PERCEPTION)
    if tag.startswith("VB"):  # taggers mistake "her look", "her dance" for verbs
        return his or (verb not in _CAUSATIVE and "NOUN" in readings(word))
    return his and tag in ("RB", "FW")


def _adjective_use(caption: Caption, number: int) -> Literal["adjective", "noun", "animal"]:
    """Return whether a word such as "male" is used as an adjective, as a noun, or to describe an animal."""
    tokens = caption.tokens
    following = tokens[number + 1 : number + 4]
    if following and following[0].tag == "CC" and len(following) > 1 and following[1].lower in gendered_adjectives():
        return _adjective_use(caption, number + 2)
    animals = read_table("bias")["animals"]["rows"]
    _, determiner = phrase_start(caption, number)
    for place, token in enumerate(following):
        last = place + 1 == len(following) or not following[place + 1].tag.startswith("NN")
        if token.tag == "NNS" and last and number_word(caption, determiner) == 1 and is_verb_form(token.lower, "VBZ"):
            return "noun"  # "a white male raps": "raps" is a verb here, as "a" cannot precede a plural noun
        doing = token.tag == "NN" and is_verb_form(token.lower, "VBG") and token.lower not in words("noun_ing")
        if doing and last:
            return "noun"  # "a female singing on stage"
        if token.tag.startswith("NN"):
            named = {token.lower, token.lower.removesuffix("s"), token.lower.removesuffix("es")}
            return "animal" if named & set(animals) else "adjective"
        if not token.tag.startswith(("JJ", "VBG", "VBN", "CD")):
            break
    return "noun"


def _is_noun(caption: Caption, number: int) -> bool:
    """Return whether a word is a noun and not a verb, as in "to man the grill" and "she mothers them"."""
    token = caption.tokens[number]
    if not token.tag.startswith(("VB", "MD")) or not can_be_verb(token.lower):
        return True
    before = caption.tokens[number - 1].tag if number else ""
    return before.startswith(("DT", "JJ", "PRP$", "CD", "IN", "VB", "CC")) or not before


def _in_name(caption: Caption, number: int) -> bool:
    """Return whether a capitalized word is next to another one, as in "Stephen King"."""
    tokens = caption.tokens
    word = tokens[number].text
    if not word[:1].isupper() or caption.text.isupper() or word.lower().rstrip(".") in _TITLES:
        return False
    starts = {sentence.start for sentence in caption.sentences}
    near = [tokens[n] for n in (number - 1, number + 1) if 0 <= n < len(tokens) and n not in starts]
    small = any(token.text[:1].islower() for token in tokens if len(token.text) > 3)  # else all is in capitals
    return small and any(token.text[:1].isupper() for token in near)


def phrase_start(caption: Caption, number: int) -> tuple[int, int | None]:
    """Return where the modifiers of a noun start, and the position of its determiner or None."""
    start = number
    while start and caption.tokens[start - 1].tag.startswith(("JJ", "NN", "VBN")) and caption.tokens[start - 1].is_word:
        start -= 1
    return start, start - 1 if start and is_determiner(caption, start - 1) else None


def is_determiner(caption: Caption, number: int) -> bool:
    """Return whether a token is an article, a possessive or a number."""
    token = caption.tokens[number]
    return token.tag in ("DT", "PRP$", "CD", "PDT") or number_word(caption, number) is not None


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
