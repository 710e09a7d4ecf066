"""Parse what follows a verb group: its objects, or the agent of a passive."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from .closed_classes import FINITE, SUBORDINATORS
from .inflection import is_verb_form
from .lexicon import words
from .noun_phrases import QUANTITIES, NounPhrase, is_modifier, read_noun_phrase
from .verb_groups import VerbGroup
from .words import Token

COPULAS = words("copulas")
GIVING = words("giving")
TIMES = words("times")
PERCEPTION = words("perception")


def read_objects(tokens: Sequence[Token], group: VerbGroup, stop: int) -> tuple[NounPhrase | None, NounPhrase | None]:
    """Return the object of a verb group and the second object after a recipient. Each is None if there is none."""
    if group.lemma in COPULAS and group.lemma not in ("turn",):
        return None, None
    at = group.main + 1
    if group.particle == at:
        at += 1
    while at < stop and tokens[at].text in ('"', "“"):
        at += 1
    if at >= stop:
        return None, None
    first = tokens[at]
    if first.tag.startswith("RB") and not (at + 1 < stop and tokens[at + 1].tag in ("JJ", "CD")):
        return None, None
    limit = group.particle if group.particle is not None and group.particle > at else stop
    phrase = read_noun_phrase(tokens, at, limit)
    if phrase is None or tokens[phrase.first].tag == "EX":
        return None, None
    numbered = phrase.stop < limit and tokens[phrase.stop].tag == "CD" and tokens[phrase.stop].text.isdigit()
    if numbered and not (phrase.stop + 1 < limit and tokens[phrase.stop + 1].tag.startswith("NN")):
        phrase = replace(phrase, stop=phrase.stop + 1)  # "grand theft auto 5"
    phrase = _with_place(tokens, phrase, group, limit)
    phrase = _with_infinitive(tokens, phrase, limit)
    phrase = _with_participle(tokens, phrase, group, limit)
    if _is_adverbial(tokens, phrase):
        return None, None
    second = None
    if group.lemma in GIVING and phrase.stop < stop:
        after = tokens[phrase.stop]
        pronoun = tokens[phrase.head].tag == "PRP" and len(phrase.heads) == 1
        if after.tag in ("DT", "PRP$", "CD") or (pronoun and after.tag.startswith(("NN", "JJ"))):
            second = read_noun_phrase(tokens, phrase.stop, stop)
            if second is not None and _is_adverbial(tokens, second):
                second = None
    return phrase, second


def _with_place(tokens: Sequence[Token], phrase: NounPhrase, group: VerbGroup, stop: int) -> NounPhrase:
    """Extend an object by the place of something fixed: "an opening" becomes "an opening in the floor"."""
    if phrase.stop + 1 >= stop or tokens[phrase.stop].lower not in ("in", "on", "under", "within"):
        return phrase
    place = read_noun_phrase(tokens, phrase.stop + 1, stop, joined=False)
    if place is None:
        return phrase
    fixed = group.lemma in words("fixing") and tokens[phrase.head].lower in words("fixtures")
    served = group.lemma == "eat" and tokens[place.head].lower in ("plate", "plates")
    reviewed = tokens[phrase.head].lower == "review" and tokens[phrase.stop].lower == "on"
    return replace(phrase, stop=place.stop) if fixed or served or reviewed else phrase


def _with_infinitive(tokens: Sequence[Token], phrase: NounPhrase, stop: int) -> NounPhrase:
    """Extend "something" by the infinitive that ends its clause, as in "something to drink"."""
    end = phrase.stop + 2
    things = ("something", "anything", "nothing", "food", "clothes")
    if phrase.stop - phrase.first > 1 or tokens[phrase.head].lower not in things or end > stop:
        return phrase
    last = end == stop or tokens[end].tag in ("CC", ",", ".")
    infinitive = tokens[end - 2].tag == "TO" and is_verb_form(tokens[end - 1].lower, "VB")
    return replace(phrase, stop=end) if last and infinitive else phrase


def _with_participle(tokens: Sequence[Token], phrase: NounPhrase, group: VerbGroup, stop: int) -> NounPhrase:
    """Extend an object by a participle such as "tied to a tree" or, after a verb of perception, "dancing"."""
    if phrase.stop >= stop or tokens[phrase.stop].tag not in ("VBN", "VBG"):
        return phrase
    takes = tokens[phrase.stop].tag == "VBN" or group.lemma in PERCEPTION
    if not takes or (tokens[phrase.stop].tag == "VBN" and is_modifier(tokens, phrase.stop, phrase.first, stop)):
        return phrase
    end = phrase.stop + 1
    while (
        end < stop
        and tokens[end].tag not in ("CC", ",", ":", "VBG", *FINITE)
        and tokens[end].lower not in SUBORDINATORS
    ):
        end += 1
    if end < stop and tokens[end].tag in FINITE:
        return phrase
    return replace(phrase, stop=end)


def _is_adverbial(tokens: Sequence[Token], phrase: NounPhrase) -> bool:
    """Return whether a noun phrase is an adverbial of time or extent, as in "sleeps all day"."""
    head = tokens[phrase.head]
    if tokens[phrase.stop - 1].lower == "times" and head.lower in QUANTITIES:
        return True  # "a couple of times"
    if len(phrase.heads) > 1 or phrase.stop - phrase.first > 3:
        return False
    if head.lower in ("way", "time", "bit", "lot", "little", "day", "night", "second", "year", "evening"):
        return phrase.stop - phrase.first >= 2 and tokens[phrase.first].lower not in ("the", "some")
    return head.lower in TIMES


def read_agent(tokens: Sequence[Token], group: VerbGroup, limit: int) -> NounPhrase | None:
    """Return the noun phrase after "by", or None if there is none."""
    for number in range(group.main + 1, limit):
        if tokens[number].lower == "by":
            return read_noun_phrase(tokens, number + 1, limit)
        if tokens[number].tag in ("CC", ",") or tokens[number].lower in SUBORDINATORS:
            break
    return None
