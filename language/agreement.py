"""Make verbs agree with their subjects, and expand clitics to full forms."""

from __future__ import annotations

from .inflection import inflect
from .noun_phrases import NounPhrase

OBJECTIVE = {"i": "me", "he": "him", "she": "her", "we": "us", "they": "them", "who": "whom"}
SUBJECTIVE = {"me": "I", "him": "he", "her": "she", "us": "we", "them": "they", "whom": "who"}
FULL = {"'s": "is", "'re": "are", "'m": "am", "'ve": "have", "ca": "can", "wo": "will", "'d": "would", "'ll": "will"}


def full_form(word: str) -> str:
    """Return the full form of a clitic or shortened auxiliary: "is" for "'s", or "will" for the "wo" of "won't"."""
    return FULL.get(word.lower(), word.lower())


def finite_form(lemma: str, past: bool, phrase: NounPhrase | None) -> str:
    """Return the finite form of a verb that agrees with `phrase`, or with a singular noun if that is None."""
    plural, person = (phrase.plural, phrase.person) if phrase else (False, 3)
    if lemma == "be":
        if past:
            return "were" if plural or person == 2 else "was"
        return "are" if plural or person == 2 else "am" if person == 1 else "is"
    if past:
        return inflect(lemma, "VBD")
    return inflect(lemma, "VBZ") if person == 3 and not plural else lemma
