"""Recognize people in texts: nouns for them, which can be made gender-neutral, and the names of the characters."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from ..core.errors import InputError
from ..core.files import regular
from .lexicon import CLOSED, inflect, read_lexicon, readings, word_lists
from .words import ABBREVIATIONS, TOKEN, Caption, like, name_pattern

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


def neutral(caption: Caption, index: int) -> str:
    """Return the gender-neutral form of a token, or its text if it has no gender."""
    token = caption.tokens[index]
    if token.lower in ("he", "she") and caption.tag_at(index + 1)[:2] == "NN":
        return token.text  # "rinses he broccoli"
    if token.lower == "her":
        return "their" if token.tag == "PRP$" else "them"
    replacement = _PRONOUNS.get(token.lower) or (neutral_nouns().get(token.lower) if token.tag.startswith("NN") else "")
    little = any(caption.tokens[n].lower == "little" for n in caption.children(index, "amod"))
    if little and replacement in ("person", "people"):
        replacement = "child" if replacement == "person" else "children"
    return like(replacement, token.text) if replacement else token.text


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


def is_person(caption: Caption, index: int) -> bool:
    """Return whether a subject stands for people: "a group of friends" and "one of them" do, "a flock of birds" not."""
    token = caption.tokens[index]
    others = caption.children(index, "conj")
    if others and not all(is_person(caption, other) for other in others):
        return False
    counted = [caption.child(n, "pobj") for n in caption.children(index, "prep") if caption.tokens[n].lower == "of"]
    if counted and counted[0] is not None:
        inner = caption.tokens[counted[0]].lower
        return is_person(caption, counted[0]) or inner in ("them", "us", "these", "which")
    return token.lower in word_lists("people").pronouns or (
        token.tag.startswith("NN") and (is_person_noun(token.lower))
    )


OFTEN = 3
SHARE = 0.3
ALWAYS = 8  # minimum number of occurrences, nearly all of them capitalized
_DETERMINERS = {"a", "an", "the", "his", "her", "its", "their", "another", "one", "two", "three", "some", "any", "no"}
_DETERMINERS |= {"every", "each", "'s", "’s"}
_PLACES = frozenset(("in", "at", "on", "inside", "near"))
PRONOUNS = {"she": "female", "her": "female", "hers": "female", "herself": "female"} | {
    word: "male" for word in ("he", "him", "his", "himself")
}
_VERB = re.compile(
    r"is|was|has|had|does|did|will|would|can|could|saw|went|got|ran|took|threw|hit|fell|knew|\w+ed|wants?"
)


@dataclass(frozen=True)
class Cast:
    """The names of the characters in a collection of texts.

    Attributes:
        names: Names as written with capitals, such as "Mammy Two Shoes".
        genders: "female" or "male" by lower-case name, where known.
    """

    names: tuple[str, ...] = ()
    genders: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "names", tuple(sorted(set(self.names), key=lambda name: (-len(name.split()), name))))


def derive_cast(texts: Iterable[str]) -> Cast:
    """Find the names in a collection: words or sequences that are capitalized within sentences often enough.

    The first word of a sentence does not count. A word is a name if it precedes a verb at least twice (which excludes
    places and days) and is capitalized at least three times and in 30% of cases, since annotators often omit capitals.
    Fewer capitals suffice for a word that precedes a verb three times and never follows an article ("meathead saw
    Tom"). A word that precedes no verb is a name if it is nearly always capitalized, at least eight times, and is not a
    place ("in Paris"). Up to three such words that nearly always occur together form one name; "St." keeps its period.
    The gender is that of the pronouns in texts without other names.
    """
    texts, small_words = list(texts), word_lists("stories").small
    uses = _Uses()
    for text in texts:
        uses.add(_words(text), small_words)
    large, joined_often = uses.large, uses.rows
    single = {word for word in large if uses.is_name(word)} - word_lists("stories").no_names - set(CLOSED)
    joined = {
        row
        for row, n in joined_often.items()
        if n >= OFTEN and row[0].lower() not in small_words and any(n >= 0.5 * large[word.lower()] for word in row)
    }
    parts = {word.lower() for row in joined for word in row if joined_often[row] >= 0.5 * large[word.lower()]}
    names = [" ".join(row) for row in joined] + [word[:1].upper() + word[1:] for word in sorted(single - parts)]
    cast = Cast(tuple(names))
    return Cast(cast.names, _genders(texts, cast))


def _words(text: str) -> list[str]:
    words = list[str]()
    for match in TOKEN.finditer(text):
        if match[0] == "." and words and words[-1].lower() in ABBREVIATIONS:
            words[-1] += "."
        else:
            words.append(match[0])
    return words


@dataclass
class _Uses:
    """Counts how each word, in lower case, is used within sentences unless stated otherwise.

    Attributes:
        large: Capitalized occurrences.
        small: Lower-case occurrences.
        acting: Occurrences before a verb, including at the start of a sentence.
        determined: Occurrences after an article or possessive.
        placed: Occurrences after a preposition of place.
        rows: Sequences of capitalized words.
    """

    large: Counter[str] = field(default_factory=Counter)
    small: Counter[str] = field(default_factory=Counter)
    acting: Counter[str] = field(default_factory=Counter)
    determined: Counter[str] = field(default_factory=Counter)
    placed: Counter[str] = field(default_factory=Counter)
    rows: Counter[tuple[str, ...]] = field(default_factory=Counter)

    def add(self, words: Sequence[str], small_words: Container[str]) -> None:
        run: list[str] = []
        for index, word in enumerate([*words, "."]):
            before = words[index - 1].lower() if index else "."
            inside = before not in {".", "!", "?"}
            own = word[:1].isupper() and word[1:] == word[1:].lower()
            capital = own and word.lower() not in small_words and len(word) > 1
            if word[:1].isalpha() and inside:
                (self.large if capital else self.small)[word.lower()] += 1
                self.determined[word.lower()] += before in _DETERMINERS
                self.placed[word.lower()] += before in _PLACES
            if index and _VERB.fullmatch(word):
                self.acting[before] += 1
            if capital:
                run.append(word)
            else:
                if len(run) in (2, 3):
                    self.rows[tuple(run)] += 1
                run = []

    def is_name(self, word: str) -> bool:
        large, mentions = self.large[word], self.large[word] + self.small[word]
        bare = self.determined[word] <= 0.1 * mentions
        if large >= OFTEN and large >= SHARE * mentions and self.acting[word] >= OFTEN - 1:
            return True
        if large >= ALWAYS and large >= 0.9 * mentions and bare and not self.placed[word]:
            return True
        return bare and self.acting[word] >= OFTEN and mentions > 2 * OFTEN


def _genders(texts: Iterable[str], cast: Cast) -> dict[str, str]:
    counts_by_name: dict[str, Counter[str]] = defaultdict(Counter)
    pattern = name_pattern(cast.names)
    if pattern is None:
        return {}
    for text in texts:
        names = {match[0].lower() for match in pattern.finditer(text)}
        if len(names) == 1:
            pronouns = {PRONOUNS[word] for word in re.findall(r"\w+", text.lower()) if word in PRONOUNS}
            if len(pronouns) == 1:
                counts_by_name[names.pop()][pronouns.pop()] += 1
    return {name: counts.most_common(1)[0][0] for name, counts in sorted(counts_by_name.items())}


def read_cast(path: Path) -> Cast:
    """Read a cast file: one name per line, optionally followed by a comma and "female" or "male". "#" starts a comment.

    Raises:
        InputError: The file cannot be read, or a line is malformed.
    """
    try:
        lines = regular(path).read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(
            f"the cast file {path} cannot be read ({error}). It must contain one name per line."
        ) from error
    names, genders = [], {}
    for line_number, line in enumerate(lines, 1):
        name, _, gender = (part.strip() for part in line.split("#")[0].partition(","))
        if not name:
            continue
        if gender not in ("", "female", "male"):
            raise InputError(
                f"{path.name}, line {line_number}: gender must be female, male or omitted; got {gender!r}."
            )
        names.append(name)
        if gender:
            genders[name.lower()] = gender
    return Cast(tuple(names), genders)


def join_casts(first: Cast, second: Cast) -> Cast:
    """Merge two casts. If they disagree about a gender, the second takes precedence."""
    return Cast((*first.names, *second.names), {**first.genders, **second.genders})
