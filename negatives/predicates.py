"""Find the predicate of a question, and where an answer restates it: "chop up carrots", "by chopping carrots"."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..language.inflection import Tag, inflect, is_verb_form, verb_lemma
from ..language.verbs import own_subject, verbs
from ..language.words import Caption, Token
from .asked import BEING, DOING, Asked

BEGINS_ANEW = frozenset(("and", "by", "because", "as", "so", "when", "while", "but", "before", "after", "since"))
BEGINS_ANEW |= {"which", "causing", "making"}
PHRASES = frozenset((("in", "order"), ("in", "pain")))
ARTICLES = frozenset(("a", "an", "the", "his", "her", "their", "its", "this", "that", "these", "those", "some"))
FORMS: tuple[Tag, ...] = ("VB", "VBG", "VBD")


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
    for first in verbs(caption):
        if not first or verb_lemma(tokens[first].lower) != predicate.verb:
            continue
        doer, stop = own_subject(caption, first), first + 1
        if doer is not None and tokens[first].tag == "VB" and tokens[doer].lower != subject:
            continue  # "made Jerry jump"
        said: set[str] = set()
        while stop < len(tokens) and (tokens[stop].lower in predicate.words or tokens[stop].lower in ARTICLES):
            said.add(tokens[stop].lower)
            stop += 1
        form = next((form for form in FORMS if tokens[first].tag == form), None)
        if form is not None and predicate.words <= said and _ends(tokens, stop):
            return Restated(first, stop, form)
    return None


def _ends(tokens: Sequence[Token], stop: int) -> bool:
    """Return whether the predicate ends at a token. It does not end before "to the door" or "for Jerry"."""
    if stop == len(tokens) or not tokens[stop].is_word:
        return True
    after = tokens[stop + 1].lower if stop + 1 < len(tokens) else ""
    if tokens[stop].lower == "to":
        return is_verb_form(after, "VB")
    return tokens[stop].lower in BEGINS_ANEW or (tokens[stop].lower, after) in PHRASES
