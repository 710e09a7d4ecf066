"""Slips of annotators that gerund phrases take over: a missing object or preposition, a word that leans on nothing."""

from __future__ import annotations

from dataclasses import replace

from .gerund_wording import Gerund
from .inflection import is_only_verb, is_plural_noun, is_verb_form, verb_lemma
from .lexicon import word_lists
from .plain_captions import Refused
from .tag_repairs.clipped_words import is_noun


def without_slips(found: Gerund) -> Gerund:
    """Refuse a phrase that lacks a word, and mark one that leans on a sentence before it.

    Refused are verbs that take no object and have one ("looking a picture"), "put" with a place and nothing that is put
    there ("putting on the table"), and "a" before a verb or a plural ("a kitchen tables"). Marked as anaphoric are an
    "it" that the only noun before it cannot be ("putting a blanket on it"), and "in there", "does so" and "the other"
    at the end.

    Raises:
        Refused: A word is missing; the message is "slip", one of `gerunds.REASONS`.
    """
    words = found.phrase.replace(",", " ,").split()
    faults = (_lacks_preposition, _lacks_object, _breaks_number)
    if any(fault(words, at) for at in range(len(words)) for fault in faults):
        raise Refused("slip")
    return replace(found, anaphoric=True) if _leans(words) else found


def _lacks_preposition(words: list[str], at: int) -> bool:
    """Return whether a verb without objects has one: "looking a picture"; not "laughing a lot", "the whole time"."""
    table = word_lists("clipped")
    if words[at : at + 2] == ["running", "place"]:
        return True
    if not is_verb_form(words[at], "VBG") or verb_lemma(words[at]) not in table.objectless:
        return False
    behind = words[at + 1 : at + 4]
    return bool(behind) and behind[0] in table.determiners and not (table.quantities | {"time"}) & set(behind)


def _lacks_object(words: list[str], at: int) -> bool:
    """Return whether something is put somewhere that is not named: "putting back on the table"."""
    table = word_lists("clipped")
    if not is_verb_form(words[at], "VBG") or verb_lemma(words[at]) not in ("put", "place"):
        return False
    behind = words[at + 1 :]
    behind = behind[behind[:1] == ["back"] :]
    if len(behind) < 2 or behind[0] not in ("on", "onto", "in", "into", "at", "under"):
        return False
    noun = next((word for word in behind[1:] if word not in table.determiners), "")
    return noun in table.put_places


def _leans(words: list[str]) -> bool:
    """Return whether the end of a phrase leans on a sentence before it."""
    if words[-2:] in (["in", "there"], ["does", "so"], ["there", "instead"], ["the", "other"]):
        return True
    if "it" not in words:
        return False
    at = words.index("it")
    before = words[:at]
    verbs = [word for word in before if is_verb_form(word, "VBG") or word == "to"]
    nouns = [n for n in range(1, at) if is_noun(words[n]) and not is_noun(words[n + 1])]
    leans = before[-1] in word_lists("clipped").prepositions and "with" not in before[:-1]
    return leans and len(verbs) == 1 and len(nouns) < 2


def _breaks_number(words: list[str], at: int) -> bool:
    """Return whether "a" stands before a verb or a plural: "an eat", "a kitchen tables"; not "a few clothes"."""
    table = word_lists("clipped")
    if words[at] not in ("a", "an") or at + 1 == len(words) or words[at + 1] in table.quantities:
        return False
    if is_only_verb(words[at + 1]) and words[at + 1] not in table.known_nouns:
        return True
    stop = at + 1
    while (
        stop < len(words) and is_noun(words[stop]) and not words[stop].endswith("ing") and words[stop - 1] != "person"
    ):
        stop += 1
    last = words[stop - 1]
    return stop > at + 1 and is_plural_noun(last) and last not in table.plural_things
