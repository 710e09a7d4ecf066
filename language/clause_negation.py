"""Negate clauses of the tagged answers of `negatives`, and detect and remove negation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from .agreement import full_form
from .clauses import Clause, clauses
from .closed_classes import DO, GET
from .inflection import inflect, is_verb_form, verb_lemma
from .lexicon import words
from .words import Caption, Token, like

POSITIVE = {"nobody": "somebody", "nothing": "something", "nowhere": "somewhere", "none": "some", "no": "some"}
POSITIVE |= {"no-one": "someone", "neither": ""}  # "" has no positive form of one word

_Edit = tuple[dict[int, str], dict[int, str]]  # replacements of words, and words to insert before tokens


def is_negated(caption: Caption, clause: Clause) -> bool:
    """Return whether a clause contains a negative word, such as "not", "never", "nothing" or "there is no"."""
    verb = clause.verb
    if verb.negation is not None or any(caption.tokens[n].lower == "cannot" for n in verb.auxiliaries):
        return True
    return bool(_negative_words(caption, clause))


def _negative_words(caption: Caption, clause: Clause) -> list[int]:
    """Return the negative words other than "not" in the subject ("nobody", "no cats") or directly after the verb."""
    tokens, verb = caption.tokens, clause.verb
    found = [n for n in verb.adverbs if tokens[n].lower in POSITIVE and tokens[n].lower != "no"]
    if clause.subject is not None and clause.subject.first < verb.first:
        first = clause.subject.first
        if _is_negative(tokens, first):
            found.append(first)
    for number in range(verb.first, verb.main + 1):
        if number + 2 <= clause.stop and [t.lower for t in tokens[number + 1 : number + 3]] == ["no", "longer"]:
            return [*found, number + 1]
    before = verb.tokens[0] - 2
    if before >= 0 and [t.lower for t in tokens[before : before + 2]] == ["no", "longer"]:
        return [*found, before]
    after = verb.main + 1
    if after < clause.stop and _is_negative(tokens, after):
        found.append(after)
    return found


def _is_negative(tokens: Sequence[Token], number: int) -> bool:
    return tokens[number].lower in POSITIVE


def negate(caption: Caption, clause: Clause, *joined: Clause, shared: Sequence[Clause] = ()) -> str | None:
    """Negate a clause and any clauses joined to it.

    "rides" becomes "does not ride", "is riding" becomes "is not riding", and "can ride" becomes "cannot ride". The
    imperative "add" becomes "do not add", the participle "riding" becomes "not riding", and "to ride" becomes "not to
    ride".

    Clauses in `joined` are negated separately ("does not ride and does not wave"). The verbs of clauses in `shared`
    share "does not" ("does not ride and wave").

    Returns:
        The negated caption, or None if a clause is already negated.
    """
    return _with_edits(caption, [_negation(caption, clause, shared), *(_negation(caption, one) for one in joined)])


def _with_edits(caption: Caption, edits: Sequence[_Edit | None]) -> str | None:
    changes: dict[int, str] = {}
    before: dict[int, str] = {}
    for edit in edits:
        if edit is None:
            return None
        changes |= edit[0]
        before |= edit[1]
    return caption.edit(changes, before)


def _negation(caption: Caption, clause: Clause, shared: Sequence[Clause] = ()) -> _Edit | None:
    if is_negated(caption, clause):
        return None
    verb, tokens = clause.verb, caption.tokens
    if verb.form == "order":
        return {}, {verb.tokens[0]: "do not"}
    if verb.form != "finite":
        place = verb.tokens[0] if verb.to is None else verb.to
        return {}, {place: "not"}
    first = tokens[verb.first]
    if first.lower == "can":
        return {verb.first: "cannot"}, {}
    gets = first.lower in GET and bool(verb.auxiliaries)
    if (verb.auxiliaries or verb.copula) and not gets:
        some = verb.copula and tokens[verb.first - 1].tag == "EX" and _opens_plural(tokens, verb.first + 1)
        return {}, {verb.first + 1: "no" if some else "not"}  # "there are no dogs"
    if first.lower in DO and not verb.auxiliaries and verb.lemma == "do" and verb.main + 1 >= clause.stop:
        return {}, {verb.main + 1: "not"}
    support = _support(caption, clause)
    opens = clause.subject is None and verb.adverbs[:1] == (0,)  # perhaps a name: "Jumbo wanted"
    before = [n for n in verb.adverbs if n < verb.main and not opens]
    if gets:
        return {verb.first: "get"}, {verb.first: f"{support} not"}
    together = {other.verb.main: other.verb.lemma for other in shared if not other.verb.auxiliaries and other.finite}
    return {verb.main: verb.lemma, **together}, {before[0] if before else verb.main: f"{support} not"}


def _support(caption: Caption, clause: Clause) -> str:
    first, subject = caption.tokens[clause.verb.first], clause.subject
    support = {"VBZ": "does", "VBD": "did"}.get(first.tag, "do")
    if support == "did" and not is_past(caption, clause):
        support = "do"  # "they put it down and leave"
    if support == "do" and subject is not None and not subject.plural:
        head = caption.tokens[subject.head]
        article = caption.tokens[subject.first].lower in ("a", "an")
        named = head.tag == "NNP" and len(subject.heads) == 1
        if article or named or (head.tag == "NN" and head.lower in words("people")):
            told = any(other.finite and is_past(caption, other) for other in clauses(caption))
            support = "did" if told else "does"  # "a man explain", "the person stand"
    if support != "did" and is_verb_form(first.lower, "VBD") and not is_verb_form(first.lower, "VB"):
        support = "did"  # "mistook", whatever its tag
    return support


_COUNTS = ("several", "many", "few", "numerous", "various", "multiple", "both", "more", "enough")


def _opens_plural(tokens: Sequence[Token], number: int) -> bool:
    """Return whether a plural without an article starts here, as in "dogs" and "bowling balls"."""
    if tokens[number : number + 1] and tokens[number].lower in _COUNTS:
        return False  # "there are not several men"
    while number < len(tokens) and tokens[number].tag in ("JJ", "NN", "VBG", "VBN"):
        number += 1
    return number < len(tokens) and tokens[number].tag == "NNS"


def remove_negation(caption: Caption, clause: Clause, *joined: Clause) -> str | None:
    """Remove the negation of a clause and of any clauses joined to it: "does not ride" becomes "rides".

    Returns:
        The caption, or None if a clause is not negated, is negated twice, or has no positive form ("nothing but").
    """
    return _with_edits(caption, [_positive_clause(caption, one) for one in (clause, *joined)])


def _positive_clause(caption: Caption, clause: Clause) -> _Edit | None:
    verb, tokens = clause.verb, caption.tokens
    changes: dict[int, str] = {}
    if not is_negated(caption, clause):
        return None
    for number in verb.auxiliaries:
        if tokens[number].lower == "cannot":
            changes[number] = "can"
    negative = _negative_words(caption, clause)
    if len(negative) + (verb.negation is not None or bool(changes)) != 1:
        return None  # "did not find nothing"
    for number in negative:
        positive = _positive(tokens, number, clause.stop)
        if positive is None:
            return None
        changes |= positive
    if verb.negation is not None:
        changes[verb.negation] = ""
        held = tokens[verb.first]
        if verb.auxiliaries and full_form(held.lower) in DO:
            changes[verb.first] = ""
            if verb.form == "finite":
                past = held.lower in ("did", "didn")
                single = clause.subject is not None and clause.subject.person == 3 and not clause.subject.plural
                third = held.lower == "does" or single  # "it don't come"
                tag: Literal["VBD", "VBZ", "VB"] = "VBD" if past else "VBZ" if third else "VB"
                changes[verb.main] = inflect(verb.lemma, tag)
        elif tokens[verb.negation].lower == "n't":
            changes[verb.first] = full_form(held.lower)
    return changes, {}


def _positive(tokens: Sequence[Token], number: int, stop: int) -> dict[int, str] | None:
    word = tokens[number].lower
    follows = tokens[number + 1] if number + 1 < len(tokens) else None
    rest = {token.lower for token in tokens[number + 1 : min(number + 5, stop)]}
    if not POSITIVE[word] or rest & {"but", "except"} or (follows is not None and follows.lower in ("matter", "way")):
        return None
    if word != "no":
        return {number: like(POSITIVE[word], tokens[number].text)}
    if follows is not None and follows.lower == "longer":
        return {number: "still", number + 1: ""}
    if follows is not None and follows.lower == "one":
        return {number: like("someone", tokens[number].text), number + 1: ""}
    one = follows is not None and follows.tag in ("NN", "JJ") and follows.lower not in words("uncounted") | {"other"}
    noun = next((t for t in tokens[number + 1 :] if not t.tag.startswith("JJ")), None)
    several = noun is None or noun.tag != "NN" or noun.lower in words("uncounted")
    return {number: like("a" if one and not several else "some", tokens[number].text)}


def is_past(caption: Caption, clause: Clause) -> bool:
    """Return whether a clause is in the past. An ambiguous verb such as "put" has the tense of the other verbs."""
    if clause.verb.tense not in ("present", "past") or not _is_open(caption, clause):
        return clause.verb.tense == "past"
    others = [c.verb.tense for c in clauses(caption) if c.finite and not _is_open(caption, c)]
    if "present" in others or "past" in others:
        return "present" not in others
    return clause.verb.tense == "past"


def _is_open(caption: Caption, clause: Clause) -> bool:
    """Return whether a verb form is both present and past, like "put" but unlike "saw"."""
    word = caption.tokens[clause.verb.first].lower
    return not clause.verb.auxiliaries and verb_lemma(word) == word and is_verb_form(word, "VBD")
