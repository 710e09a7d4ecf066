"""Find the subject and the predicate of a question, and where an answer restates it: "by chopping carrots"."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ..language.check import disagreement
from ..language.inflection import Tag, inflect, is_verb_form, verb_lemma
from ..language.parse import parse
from ..language.verbs import full_form, own_subject, verbs
from ..language.words import Caption, Token, name_pattern

DOING = frozenset(("do", "does", "did"))
BEING = frozenset(("is", "are", "was", "were"))
HELPING = DOING | BEING | {"has", "have", "had", "can", "could", "will", "would", "should"}
_NEGATIONS = ("n't", "not", "t", "'t")
_OPENING = 4  # words among which the auxiliary of a question is
BEGINS_ANEW = frozenset(("and", "by", "because", "as", "so", "when", "while", "but", "before", "after", "since"))
BEGINS_ANEW |= {"which", "causing", "making"}
PHRASES = frozenset((("in", "order"), ("in", "pain")))
ARTICLES = frozenset(("a", "an", "the", "his", "her", "their", "its", "this", "that", "these", "those", "some"))
FORMS: tuple[Tag, ...] = ("VB", "VBG", "VBD")


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
    before = [asked.caption.tokens[index] for index in range(place - 1)]
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
        statements = helper != "must" or verb == place + 1 or statement.tokens[place + 1].tag == "RB"
        if statements and statement.tokens[noun].tag.startswith(("NN", "PRP")):
            yield Asked(statement, noun, place + 1, tokens[0].lower, auxiliary)


def _may_act(word: str) -> bool:
    return is_verb_form(word, "VB") or word.endswith("ly")  # "Why did Tom suddenly stop?"


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
    words = [index for index in caption.words if index >= place]
    form: Tag = "VB" if asked.auxiliary in DOING else "VBG"
    plain = words and words[-1] - place + 1 == len(words)  # no punctuation in between
    if asked.asking != "why" or not plain or not is_verb_form(tokens[place].lower, form):
        return None  # "What did Tom say?" has no object
    lemma = verb_lemma(tokens[place].lower)
    if lemma in ("be", "do") or asked.auxiliary not in DOING | BEING:
        return None
    rest = caption.text[tokens[place].end : tokens[words[-1]].end].strip()
    words_of_rest = frozenset(tokens[index].lower for index in words[1:]) - ARTICLES
    return Predicate(lemma, rest, words_of_rest)


def find_restated(caption: Caption, predicate: Predicate, subject: str) -> Restated | None:
    """Return the part of an answer that restates its question completely and adds nothing."""
    tokens = caption.tokens
    for first in verbs(caption):
        if not first or verb_lemma(tokens[first].lower) != predicate.verb:
            continue
        doer, stop = own_subject(caption, first), first + 1
        if doer is not None and tokens[first].tag == "VB" and tokens[doer].lower != subject:
            continue  # "made Jerry jump"
        repeated: set[str] = set()
        while stop < len(tokens) and (tokens[stop].lower in predicate.words or tokens[stop].lower in ARTICLES):
            repeated.add(tokens[stop].lower)
            stop += 1
        form = next((form for form in FORMS if tokens[first].tag == form), None)
        if form is not None and predicate.words <= repeated and _ends(tokens, stop):
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
