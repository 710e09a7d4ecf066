"""Replace words with formal or casual ones, as listed in `text_style.yaml`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from ...language.inflection import Tag, inflect, is_plural_noun, noun_lemma, verb_lemma
from ...language.lexicon import phrasal_verbs, words
from ...language.words import Caption, like, with_capital
from .tables import read_table

_PREPOSITIONS = frozenset(("on", "off", "up", "out", "over", "about", "at", "for", "in", "to"))
PARTICLES, PARTICLE_REACH = ("on", "off", "away", "up", "out", "together"), 7
_VERBS = ("VB", "VBZ", "VBP", "VBD", "VBN", "VBG")


def exchange(caption: Caption, register: str) -> dict[int, str]:
    """Return the changes that make a caption "formal" or "casual", by token index.

    Phrases are replaced first, longest first, then inflected single words. Phrases in the list `keep` ("motion
    picture", "as well") and nouns in compounds ("photo shop") do not change.
    """
    table = read_table("text_style")[register]
    lower = [token.lower for token in caption.tokens]
    kept = {
        n for phrase in _kept(register) for start in _places(phrase, lower) for n in range(start, start + len(phrase))
    }
    changes: dict[int, str] = {}
    for phrase, condition, new in _phrases(register):
        for start in _places(phrase, lower):
            stop = start + len(phrase)
            free = (kept | changes.keys()).isdisjoint(range(start, stop))
            if free and _phrase_fits(caption, start, stop, condition):
                changes[start] = _written(caption, start, new)
                changes.update(dict.fromkeys(range(start + 1, stop), ""))
    for number, token in enumerate(caption.tokens):
        if number in changes or number in kept or not token.is_word:
            continue
        found = _exchanged(caption, number, table)
        if found is not None and kept.isdisjoint(range(number, number + found[1])):
            changes[number], length = _written(caption, number, found[0]), found[1]
            changes.update(dict.fromkeys(range(number + 1, number + length), ""))
    return changes


def _written(caption: Caption, number: int, new: str) -> str:
    text = caption.tokens[number].text
    short = text.isupper() and not caption.text.isupper()
    first = any(number == sentence.start for sentence in caption.sentences)
    return (with_capital(new) if first else new) if short else like(new, text)


@cache
def _kept(register: str) -> tuple[tuple[str, ...], ...]:
    return tuple(tuple(phrase.split()) for phrase in read_table("text_style")[register]["keep"])


@cache
def _phrases(register: str) -> tuple[tuple[tuple[str, ...], str, str], ...]:
    """Return the phrases of a register, longest first. Each has a condition on its context and a replacement."""
    rows = []
    for phrase, new in read_table("text_style")[register]["phrases"].items():
        parts, _, condition = str(phrase).partition(" +")
        rows.append((tuple(parts.split()), condition, str(new)))
    return tuple(sorted(rows, key=lambda row: -len(row[0])))


def _places(phrase: Sequence[str], lower: Sequence[str]) -> list[int]:
    size = len(phrase)
    return [n for n, word in enumerate(lower) if word == phrase[0] and tuple(lower[n : n + size]) == tuple(phrase)]


def _phrase_fits(caption: Caption, start: int, stop: int, condition: str) -> bool:
    """Return whether the context of a phrase satisfies the condition for replacing it.

    "THE" requires an article or possessive after the phrase. "VERB" requires a verb before and an adjective after it
    ("is kind of funny"). "END" requires that no noun, adjective or "else" follows, "CLAUSE" that no article precedes,
    and "NOUN" that a noun phrase without an article follows. A tag must be that of the next word.
    """
    before, after = caption.tag_at(start - 1), caption.tag_at(stop)
    if condition == "THE":
        return after in ("DT", "PRP$") and before != "CC"
    if condition == "VERB":
        return before.startswith(("VB", "RB")) and after.startswith(("JJ", "VBN"))
    if condition == "END":
        return not after.startswith(("NN", "JJ")) and caption.lower_at(stop) != "else" and not before.startswith("DT")
    if condition == "CLAUSE":
        return not before.startswith(("DT", "JJ"))
    if condition == "NOUN":
        return before not in ("DT", "PRP$", "CD", "WRB", "RB", "JJ", "POS") and after.startswith(("NN", "JJ"))
    return not condition or after == condition


def _exchanged(caption: Caption, number: int, table: Mapping[str, Any]) -> tuple[str, int] | None:
    """Return the inflected replacement for a word and how many tokens it replaces, or None if it does not change."""
    token = caption.tokens[number]
    if token.tag in _VERBS:
        return _exchanged_verb(caption, number, table)
    if token.tag in ("NN", "NNS"):
        new = _exchanged_noun(caption, number, table)
        return (new, 1) if new else None
    kind = "adjectives" if token.tag.startswith("JJ") else "adverbs" if token.tag == "RB" else ""
    found = table[kind].get(token.lower) if kind else None
    if found is None or (kind == "adverbs" and not _adverb_fits(caption, number, found, table)):
        return None
    if kind == "adjectives" and not caption.tag_at(number + 1).startswith("NN"):
        described = caption.tag_at(number - 1).startswith(("VB", "RB")) and number + 1 == len(caption.tokens)
        return (found, 1) if described and token.lower not in table["before_nouns"] else None
    return found, 1


def _exchanged_verb(caption: Caption, number: int, table: Mapping[str, Any]) -> tuple[str, int] | None:
    token, tag = caption.tokens[number], _tag(caption.tokens[number].tag)
    lemma, after = verb_lemma(token.lower), caption.tag_at(number + 1)
    phrase = f"{lemma} {caption.lower_at(number + 1)}"
    relative = caption.lower_at(number - 2) in ("that", "which") and caption.tag_at(number - 1).startswith(
        ("PRP", "NN")
    )
    if phrase in table["verbs"] and not relative:  # not "the picture that they take off a table"
        new = table["verbs"][phrase]
        if begins_phrase(caption.tag_at(number + 2)) or (new.endswith(" to") and number + 2 < len(caption.tokens)):
            return inflect(new, tag), 2
    new = table["verbs"].get(lemma, "")
    if not new or (lemma in table["orders_only"] and caption.style != "imperative"):
        return None
    if lemma in table["before_verbs"] and after not in ("TO", "VBG"):
        return None
    if lemma in table["no_objects"] and begins_phrase(after):
        return None
    if lemma in table["no_particles"] and _has_particle(caption, number):
        return None
    if new.split()[-1] in _PREPOSITIONS and " " in new:
        if token.tag == "VBN" or not begins_phrase(after) or after == "PRP":
            return None
    else:
        phrasal = after == "RP" or (lemma, caption.lower_at(number + 1)) in phrasal_verbs()
        if phrasal or (not begins_phrase(after) and new in table["objects"] and token.tag != "VBN"):
            return None
    return inflect(new, tag), 1


def _has_particle(caption: Caption, number: int) -> bool:
    """Return whether a particle follows the object of a verb, as in "puts his shoes on"."""
    for place in range(number + 1, min(number + PARTICLE_REACH, len(caption.tokens))):
        token = caption.tokens[place]
        if not token.is_word or token.tag == "CC":
            return False
        if token.tag == "RP" or (token.lower in PARTICLES and not begins_phrase(caption.tag_at(place + 1))):
            return True
    return False


def _exchanged_noun(caption: Caption, number: int, table: Mapping[str, Any]) -> str:
    token, before = caption.tokens[number], caption.tokens[number - 1] if number else None
    if before is not None and before.lower in ("more", "extra", "additional") and number > 1:
        before = caption.tokens[number - 2]  # "30 more min"
    lemma = noun_lemma(token.lower)
    new: str = table["nouns"].get(token.lower) or table["nouns"].get(lemma, "")
    if not new or in_compound(caption, number) or (before is not None and before.tag in ("TO", "MD")):
        return ""  # "to film": a verb
    counted = before is not None and (before.tag == "CD" or before.text[0].isdigit())
    several = before is not None and counted and before.lower not in ("1", "one") and "/" not in before.text
    if several and token.lower in ("tsp", "tbsp", "min"):
        return _plural(new)
    plural = (token.tag == "NNS" or token.lower in words("plural_words")) and not is_plural_noun(new)
    return _plural(new) if plural and token.lower not in table["nouns"] and lemma != token.lower else new


def in_compound(caption: Caption, number: int) -> bool:
    """Return whether a noun is next to another noun, as in "photo shop". "man" in "cartoon man" does not count."""
    person = noun_lemma(caption.tokens[number].lower) in words("people")
    behind = caption.tag_at(number - 1).startswith("NN") and not person
    return behind or caption.tag_at(number + 1).startswith("NN")


def _adverb_fits(caption: Caption, number: int, new: str, table: Mapping[str, Any]) -> bool:
    """Return whether an adverb sounds natural: "real quick" after a verb, "very" before an adjective."""
    before, after = caption.tag_at(number - 1), caption.tag_at(number + 1)
    if caption.tokens[number].lower in table["orders_only"] and caption.style != "imperative":
        return False
    if new in table["behind"]:
        return number > 0 and not after.startswith(("VB", "JJ", "RB", "NN", "DT", "PRP"))
    if new in table["degrees"]:
        return after == "JJ" or (after.startswith(("JJ", "RB")) and before != "DT")
    return True


def begins_phrase(tag: str) -> bool:
    """Return whether a word with this tag can be the first word of an object."""
    return tag.startswith(("DT", "NN", "PRP", "CD", "JJ", "WRB", "WP"))


def _tag(tag: str) -> Tag:
    forms: dict[str, Tag] = {"VBZ": "VBZ", "VBD": "VBD", "VBN": "VBN", "VBG": "VBG"}
    return forms.get(tag, "VB")


def _plural(phrase: str) -> str:
    head, _, last = phrase.rpartition(" ")
    return f"{head} {inflect(last, 'NNS')}".strip()
