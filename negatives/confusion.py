"""Confuse texts: make a correct answer incorrect by negation or by swapping agent and patient.

Source: Parmar et al. 2024, "CausalChaos! Dataset for Comprehensive Causal Action Question Answering Over Longer Causal
Chains Grounded in Dynamic Visual Scenes" (arXiv 2404.01299), section 3.3: options with the opposite effect ("Tom was
hitting Jerry", "Tom was not hitting Jerry") or with swapped agents ("Jerry was hitting Tom"). Unlike the released
options, an option keeps the capitals, apostrophes, final stop and "because" of the correct answer, so that none of
these reveal it. No option merely reorders "Tom and Jerry", which would be a second correct answer.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ..language.grammar import Refused, finite, own_subject, verbs
from ..language.negation import NEGATIVES, POLAR, main_verb, negation_of, with_negation, without_negation
from ..language.parse import parse
from ..language.people import Cast
from ..language.words import Caption
from .entities import confusion_table
from .role_exchange import exchange_roles

ConfusionKind = Literal["negation", "swap"]
KINDS: tuple[ConfusionKind, ...] = ("negation", "swap")


@dataclass(frozen=True)
class Confusion:
    """A distractor made by confusing the correct option.

    Attributes:
        kind: "negation" or "swap".
        ambiguous: Reason why it may be understood as correct or in another way; "" if it is unambiguous.
    """

    text: str
    kind: ConfusionKind
    ambiguous: str = ""


@dataclass(frozen=True)
class Unconfused:
    """The reason why a text cannot be confused in a given way.

    Attributes:
        kind: "negation" or "swap".
    """

    kind: ConfusionKind
    reason: str


_ANY = {positive: negative for negative, positive in POLAR.items()}


def negate_statement(caption: Caption) -> Confusion | Unconfused:
    """Negate the statement in a text, or remove its negation.

    The main verb is negated together with the verbs that "and" joins to it. After "because", the next clause counts as
    the main clause. "not trying" and "trying not" differ in meaning, so the negation of a complement keeps its
    position.
    """
    opening = next(iter(caption.tokens), None)
    because = opening is not None and opening.lower == "because" and opening.arc == "mark"
    main = opening.head if opening is not None and because else main_verb(caption)
    if main is None:
        return Unconfused("negation", "no verb that can be negated")
    try:
        return Confusion(_turned(caption, main), "negation", _ambiguity(caption, main))
    except Refused as refused:
        return Unconfused("negation", str(refused))


def _turned(caption: Caption, main: int) -> str:
    """Negate a verb and those joined to it, or remove their negation.

    Raises:
        Refused: The verb is negated twice, or what it says cannot be turned.
    """
    tokens, negative = caption.tokens, negation_of(caption, main)
    others = [n for n in _negatives(caption) if n != negative and _verb_above(caption, n) == main]
    if others:
        raise Refused(f'it says "{tokens[others[0]].lower}"' if negative is None else "it is negated twice")
    changes: dict[int, str] = {}
    before: dict[int, str] = {}
    for verb in _joined(caption, main):
        index = negation_of(caption, verb)
        if (index is None) != (negative is None):
            continue
        new, inserted = with_negation(caption, verb) if index is None else without_negation(caption, index)
        if index is None:
            words = caption.subtree(verb, without=("nsubj", "nsubjpass", "advcl", "conj"))
            some = [n for n in words if tokens[n].lower in _ANY and caption.lower_at(n + 1) != "one"]
            changes |= {n: _ANY[tokens[n].lower] for n in some}
            changes |= {n: "" for n in caption.children(verb, "advmod") if tokens[n].lower == "finally"}
        changes |= new
        before |= inserted
    return caption.edit(changes, before)


def _negatives(caption: Caption) -> list[int]:
    return [n for n, token in enumerate(caption.tokens) if token.lower in NEGATIVES - {"without"}]


def _verb_above(caption: Caption, index: int) -> int:
    """Return the verb that a token belongs to, or else the root of its sentence."""
    head = caption.tokens[index].head
    return head if head in verbs(caption) or caption.tokens[head].arc == "ROOT" else _verb_above(caption, head)


def _joined(caption: Caption, main: int) -> list[int]:
    """Return a verb and the finite verbs that "and" joins to it, with the same subject or one that repeats it.

    A finite verb that is joined to an infinitive, or behind a comma to a verb with another subject, belongs to the verb
    above that.
    """
    verbs_joined, tokens = [main], caption.tokens
    for verb in verbs(caption) if finite(caption, main) is not None else ():
        first, doer, head = finite(caption, verb), own_subject(caption, verb), tokens[verb].head
        if first is None or verb < main or tokens[verb].arc != "conj":
            continue
        if any(token.lower == "but" for token in tokens[main:verb]):
            break
        start = caption.subtree(doer if doer is not None else verb, without=("prep", "dobj"))[0] - 1
        joint = start - 1 if tokens[start].tag == "RB" else start
        bare = tokens[first].lower == tokens[first].lemma  # "wanted it to fall and hit Tom"
        if tokens[joint].lower != "and" or (bare and (head not in verbs_joined or tokens[first].tag == "VB")):
            continue
        comma = doer is None and tokens[joint - 1].text == ","
        while head not in verbs_joined and tokens[head].arc != "ROOT" and (comma or finite(caption, head) is None):
            head = tokens[head].head
        if head in verbs_joined and (doer is None or _repeats(caption, main, verb)):
            verbs_joined.append(verb)
    return verbs_joined


def _repeats(caption: Caption, main: int, verb: int) -> bool:
    """Return whether the subject of a verb is that of another, or a pronoun for it: "Tom saw Spike and he ran"."""
    first, second = own_subject(caption, main), own_subject(caption, verb)
    if first is None or second is None:
        return False
    named, again = (caption.slice(caption.subtree(n)).lower() for n in (first, second))
    return again in (named, "he", "she", "they")


def _ambiguity(caption: Caption, main: int) -> str:
    if any(n > main and caption.tokens[n].head != main for n in _negatives(caption)):
        return "a negated complement"
    opened = (token for token in caption.tokens[main + 1 :] if token.lower in confusion_table()["reasons"])
    if any(token.arc in ("mark", "advmod") and finite(caption, token.head) is not None for token in opened):
        return "a reason or time behind it, which may be what is denied"
    return ""


@dataclass(frozen=True)
class Confuser:
    """Confuses texts about the characters in a cast."""

    cast: Cast

    def read(self, text: str) -> Caption:
        """Parse a text as if its names were capitalized."""
        return parse(text, names=self.cast.names)

    def negation(self, text: str) -> Confusion | Unconfused:
        """Negate a text, or remove its negation; see `negate_statement`."""
        return negate_statement(self.read(text))

    def swap(self, text: str) -> Confusion | Unconfused:
        """Swap the agent and the patient; see `role_exchange.exchange_roles`."""
        try:
            return Confusion(exchange_roles(self.read(text), self.cast), "swap")
        except Refused as refused:
            return Unconfused("swap", str(refused))
