"""Read a question as the statement that it asks about: "Why did Tom bark?" as "Tom must bark"."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ..language.check import disagreement
from ..language.inflection import is_verb_form
from ..language.parse import parse
from ..language.verbs import full_form
from ..language.words import Caption, name_pattern

DOING = frozenset(("do", "does", "did"))
BEING = frozenset(("is", "are", "was", "were"))
HELPING = DOING | BEING | {"has", "have", "had", "can", "could", "will", "would", "should"}
_NEGATIONS = ("n't", "not", "t", "'t")
_OPENING = 4  # words among which the auxiliary of a question is


@dataclass(frozen=True)
class Asked:
    """A question as a statement.

    Attributes:
        caption: The statement. Questions with "do" have "must" instead, so that a verb follows.
        subject: Index of the subject's head.
        place: Index of the word after the auxiliary.
        asking: The question's first word, in lower case.
        auxiliary: The question's auxiliary, in full and in lower case.
    """

    caption: Caption
    subject: int
    place: int
    asking: str
    auxiliary: str


def read_question(caption: Caption, names: tuple[str, ...]) -> Asked | None:
    """Turn a question into a statement, or return None if the text is no question or its subject is uncertain.

    The subject ends where the parser reads everything before the auxiliary as the subject of the verb behind it. Of
    several such places, it is the one with the fewest words whose part of speech is uncertain.
    """
    return min(_readings(caption, names), key=_doubt, default=None)


def _doubt(asked: Asked) -> tuple[bool, bool, int]:
    """Return how unlikely a reading is: no verb follows the auxiliary, a name only describes the subject, rivals."""
    tokens, place = asked.caption.tokens, asked.place
    acting = tokens[place].tag[:2] in ("VB", "RB") or (tokens[place].tag[:2] == "JJ" and asked.auxiliary in BEING)
    before = [asked.caption.tokens[number] for number in range(place - 1)]
    named = any(token.tag == "NNP" and token.arc in ("compound", "nmod") for token in before[: asked.subject])
    rivals = sum(token.rival[:2] in ("NN", "VB") for token in tokens) + bool(tokens[place].rival)
    return bool(disagreement(asked.caption)) or not acting, named, rivals


def _readings(caption: Caption, names: tuple[str, ...]) -> Iterator[Asked]:
    tokens, words = caption.tokens, caption.words
    asking = next((n for n in words[:_OPENING] if full_form(tokens[n].text) in HELPING), None)
    if asking is None:
        return
    auxiliary, pattern = full_form(tokens[asking].text), name_pattern(names)
    inside = [match.span() for match in pattern.finditer(caption.text)] if pattern else []
    first = next((n for n in words if n > asking and tokens[n].lower not in _NEGATIONS), words[-1])
    for end in words:
        named = any(start < tokens[end].start < stop for start, stop in inside)
        joined = tokens[end].lower in ("and", "or") or not tokens[end - 1].is_word
        if end <= first or named or joined or (auxiliary in DOING and not _may_act(tokens[end].lower)):
            continue
        helper = "must" if auxiliary in DOING else auxiliary
        subject, rest = caption.slice((first, end - 1)), caption.slice((end, words[-1]))
        statement, place = parse(f"{subject} {helper} {rest}", names=names), end - first
        token = statement.tokens[place]
        verb = token.head if token.arc in ("aux", "auxpass") else place
        noun = statement.child(verb, "nsubj", "nsubjpass")
        if noun is None or statement.subtree(noun) != tuple(range(place)):
            continue
        told = helper != "must" or verb == place + 1 or statement.tokens[place + 1].tag == "RB"
        if told and statement.tokens[noun].tag.startswith(("NN", "PRP")):
            yield Asked(statement, noun, place + 1, tokens[0].lower, auxiliary)


def _may_act(word: str) -> bool:
    return is_verb_form(word, "VB") or word.endswith("ly")  # "Why did Tom suddenly stop?"
