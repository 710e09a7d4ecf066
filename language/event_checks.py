"""Reject clauses that describe a state, are incomplete, or contain a pronoun without an antecedent."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from .event_subjects import Word, is_plural
from .inflection import readings
from .lexicon import WordLists, word_lists
from .plain_captions import Refused
from .words import Token

_SINGULAR = {"he": "male", "him": "male", "his": "male", "himself": "male"} | {
    "she": "female",
    "her": "female",
    "hers": "female",
    "herself": "female",
}
_THINGS = frozenset(("it", "its", "itself"))
_SEVERAL = frozenset(("they", "them", "their", "theirs", "themselves"))
_NEVER = frozenset(("i", "me", "my", "you", "your", "we", "us", "our", "mine", "yours", "ours", "myself", "yourself"))
_REFLEXIVE = frozenset(("himself", "herself", "itself", "themselves"))
_POSSESSIVE = frozenset(("his", "her", "its", "their"))


def main_end(tokens: Sequence[Token], place: int, lists: WordLists) -> int:
    """Return where the main clause ends, which is where a clause of time or cause starts."""
    for number in range(place + 1, len(tokens)):
        word, after = tokens[number].lower, tokens[number + 1].lower if number + 1 < len(tokens) else ""
        if word in lists.time_openers:
            return number
        if word in lists.loose_openers and after not in ("if", "though", "much"):
            later = pairwise(tokens[number:])
            finite = [t for b, t in later if t.tag.startswith(("VB", "MD")) and (t.tag != "VB" or b.lower != "to")]
            if finite and not (word == "so" and tokens[number + 1].tag.startswith(("JJ", "RB"))):
                return number
    return len(tokens)


def check_state(tokens: Sequence[Token], place: int, end: int, lemma: str, auxiliary: str, lists: WordLists) -> None:
    """Raise Refused if a clause describes a state instead of an event."""
    behind = [token.lower for token in tokens[place + 1 : end]]
    events = word_lists("clipped").events
    if lemma in lists.states and not any(f"{lemma}_{word}" in events for word in behind[:4]):
        raise Refused("state")
    follows = tokens[place + 1] if place + 1 < end else None
    if lemma in lists.looks and follows is not None:
        known = readings(follows.text)
        described = follows.tag.startswith(("JJ", "VBN", "VBD")) or ("ADJ" in known and not {"ADV", "ADP"} & set(known))
        if described or follows.lower in ("like", "so", "very", "as", "really", "quite"):
            raise Refused("state")


def check_end(stated: Sequence[Word], place: int, end: int, lemma: str, lists: WordLists) -> None:
    """Raise Refused if the clause is incomplete."""
    last = stated[end - 1]
    if last.lower in lists.unended and not last.name:
        raise Refused("cut_off")
    if end == place + 1 and lemma in lists.transitive:
        raise Refused("cut_off")


def check_pronouns(stated: Sequence[Word], tokens: Sequence[Token], subject: int, genders: dict[str, str]) -> None:
    """Raise Refused if a pronoun has no antecedent earlier in the phrase.

    "His" and "himself" may refer to the subject. "Him", "it" and "them" need another antecedent, such as "the cup" in
    "grabbed the cup and threw it".
    """
    lists = word_lists("stories")
    single = not is_plural(stated[subject - 1]) and not any(word.lower == "and" for word in stated[:subject])
    head = stated[subject - 1]
    common = not head.name and head.lower not in lists.male | lists.female
    for number, word in enumerate(stated):
        lower = word.lower
        if word.name:
            continue
        if lower in _NEVER:
            raise Refused("pronoun")
        if lower not in {*_SINGULAR, *_THINGS, *_SEVERAL}:
            continue
        owner = lower in _REFLEXIVE or (lower in _POSSESSIVE and tokens[number].tag != "PRP")
        if owner and single and lower not in _SEVERAL and (common or lower in _THINGS):
            continue
        if number < subject and lower in _POSSESSIVE:
            raise Refused("pronoun")
        clause = lower in ("he", "she", "they")  # starts a separate clause: "what Tom thought he saw"
        begins = 0 if owner or clause else subject
        before = range(begins, number)
        if lower in _SEVERAL:
            joined = any(stated[n].lower in ("and", "both") for n in before)
            fits = joined or any(is_plural(stated[n]) for n in before)
        elif lower in _THINGS:
            fits = any(_is_thing(stated[n], tokens[n]) for n in before)
        else:
            gender = _SINGULAR[lower]
            fits = any(_is_somebody(stated[n], gender, genders, lists) for n in before)
        if not fits:
            raise Refused("pronoun")


def _is_thing(word: Word, token: Token) -> bool:
    return not word.name and token.tag in ("NN", "NNS", "JJ", "VB") and "NOUN" in readings(word.text)


def _is_somebody(word: Word, gender: str, genders: dict[str, str], lists: WordLists) -> bool:
    if word.name:
        known = next((g for name, g in genders.items() if word.lower in name.split()), gender)
        return known == gender
    other = lists.male if gender == "female" else lists.female
    return word.lower in lists.animate and word.lower not in other and not is_plural(word)
