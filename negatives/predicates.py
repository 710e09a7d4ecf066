"""Find the predicate of a question, and where an answer restates it: "chop up carrots", "by chopping carrots"."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import yaml

from ..language.inflection import Tag, can_be_verb, inflect, is_verb_form, verb_lemma
from ..language.words import Caption, Token
from .asked import BEING, DOING, Asked

PHRASES = frozenset((("in", "order"), ("in", "pain")))
ARTICLES = frozenset(("a", "an", "the", "his", "her", "their", "its", "this", "that", "these", "those", "some"))
NEAR = 5  # words before a base form that may require it


@dataclass(frozen=True)
class Predicate:
    """The predicate of a question.

    Attributes:
        verb: Base form of the verb.
        rest: Text after the verb.
        words: Words of the rest in lower case, without articles.
    """

    verb: str
    rest: str
    words: frozenset[str]

    def written(self, form: Tag) -> str:
        """Return the predicate as text, with another form of the verb."""
        return f"{inflect(self.verb, form)} {self.rest}".rstrip()


@dataclass(frozen=True)
class Restated:
    """The part of an answer that restates its question.

    Attributes:
        first: Index of the verb.
        stop: Index after the last token.
        form: Form of the verb.
    """

    first: int
    stop: int
    form: Tag


@cache
def around(name: str) -> frozenset[str]:
    """Return one of the lists of words that occur before or after a verb."""
    lists = yaml.safe_load((Path(__file__).parent / "tables" / "restating.yaml").read_text(encoding="utf-8"))
    return frozenset(str(lists[name]).split())


def read_predicate(asked: Asked) -> Predicate | None:
    """Return the predicate of a question.

    Returns:
        The predicate, or None if it is not a plain verb, as in "Why was Tom hit?", "Why was Tom so angry?" and "What
        did Tom say?".
    """
    caption, tokens, place = asked.caption, asked.caption.tokens, asked.place
    if tokens[place].tag == "RB":
        place += 1  # "Why did Tom suddenly stop?"
    words = [number for number in caption.words if number >= place]
    form: Tag = "VB" if asked.auxiliary in DOING else "VBG"
    plain = words and words[-1] - place + 1 == len(words)  # no punctuation in between
    if asked.asking != "why" or not plain or not is_verb_form(tokens[place].lower, form):
        return None  # "What did Tom say?" has no object
    lemma = verb_lemma(tokens[place].lower)
    if lemma in ("be", "do") or asked.auxiliary not in DOING | BEING:
        return None
    rest = caption.text[tokens[place].end : tokens[words[-1]].end].strip()
    said = frozenset(tokens[number].lower for number in words[1:]) - ARTICLES
    return Predicate(lemma, rest, said)


def find_restated(caption: Caption, predicate: Predicate, subject: str) -> Restated | None:
    """Return the part of an answer that restates its question completely and adds nothing."""
    tokens = caption.tokens
    for first in range(1, len(tokens)):
        word = tokens[first].lower
        if not can_be_verb(word) or verb_lemma(word) != predicate.verb:
            continue
        stop = first + 1
        said: set[str] = set()
        while stop < len(tokens) and (tokens[stop].lower in predicate.words or tokens[stop].lower in ARTICLES):
            said.add(tokens[stop].lower)
            stop += 1
        form = _form(tokens, first, subject)
        if form is None or not predicate.words <= said or not _ends(tokens, stop):
            continue
        return Restated(first, stop, form)
    return None


def _ends(tokens: Sequence[Token], stop: int) -> bool:
    """Return whether the predicate ends at a token. It does not end before "to the door" or "for Jerry"."""
    if stop == len(tokens) or not tokens[stop].is_word:
        return True
    after = tokens[stop + 1].lower if stop + 1 < len(tokens) else ""
    if tokens[stop].lower == "to":
        return is_verb_form(after, "VB")
    return tokens[stop].lower in around("begins_anew") or (tokens[stop].lower, after) in PHRASES


def _form(tokens: Sequence[Token], place: int, subject: str) -> Tag | None:
    word, before = tokens[place].lower, tokens[place - 1].lower
    if before in ARTICLES:
        return None  # "their barking"
    if is_verb_form(word, "VBG"):
        return "VBG"
    earlier = {token.lower for token in tokens[max(0, place - NEAR) : place]}
    if is_verb_form(word, "VB"):
        if before in around("asks_base") or (before == subject and earlier & around("asks_base_of_somebody")):
            return "VB"
        if earlier & around("holds_participle") or "to" in earlier:
            return None
    held = before in around("holds_participle") | around("asks_base")
    return "VBD" if is_verb_form(word, "VBD") and not held else None
