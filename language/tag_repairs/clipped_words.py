"""Find the roles that a word in a clipped caption can have, from the dictionary, `clipped.yaml` and adjacent words."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, lru_cache
from typing import Literal

from ..inflection import readings
from ..lexicon import WordLists, read_lexicon, word_lists

Form = Literal["", "base", "s", "past", "ing"]


@lru_cache(maxsize=1 << 14)
def verb_form(word: str) -> Form:
    """Return which verb form a word can be, or "" if it cannot be a verb."""
    lists = word_lists("clipped")
    lemmas = readings(word).get("VERB", ())
    if not lemmas or word in lists.ing_nouns or word in lists.be | lists.modal:
        return ""
    if word in lemmas:
        return "base"
    return "ing" if word.endswith("ing") else "s" if word.endswith("s") and word != "was" else "past"


def lemma_of(word: str) -> str:
    """Return the base form of a verb form, or "" for other words."""
    form = verb_form(word)
    return word if form == "base" else readings(word)["VERB"][0] if form else ""


@lru_cache(maxsize=1 << 14)
def is_act(word: str) -> bool:
    """Return whether a word in the position of a verb is certainly a verb."""
    form = verb_form(word)
    if not form:
        return False
    known = readings(word)
    return form == "ing" or known["VERB"][0] in word_lists("clipped").verbs or not {"NOUN", "ADJ"} & set(known)


@lru_cache(maxsize=1 << 14)
def can_be_noun(word: str) -> bool:
    """Return whether a word can be a noun, which is assumed for unknown words."""
    lists = word_lists("clipped")
    closed = lists.determiners | lists.prepositions | lists.conjunctions | lists.pronouns | lists.subordinators
    if word in closed or word in lists.adverbs or not word[:1].isalpha():
        return False
    return "NOUN" in readings(word) or not readings(word)


def can_follow_verb(words: Sequence[str], number: int, lists: WordLists) -> bool:
    """Return whether a word can start the complement of a verb."""
    word = words[number]
    return word in lists.determiners or word in lists.prepositions or word in lists.pronouns or can_be_noun(word)


def is_noun(word: str) -> bool:
    """Return whether a word is a noun in the dictionary or in the table of synonyms."""
    return can_be_noun(word) or (word in folded("folds") and word[:1].isalpha())


@cache
def folded(table: str) -> dict[str, str]:
    """Return the word that represents each synonym in a table: "folds" for nouns, "verb_folds" for verbs."""
    return {word: name for name, words in read_lexicon("clipped")[table].items() for word in words.split()}


def is_attribute(words: Sequence[str], at: int, lists: WordLists) -> bool:
    """Return whether an -ing word modifies the next noun, as in "a drinking glass" and "living room"."""
    determined = words[at - 1] in lists.determiners and words[at - 1] not in ("both", "all", "each")
    return f"{words[at]}_{words[at + 1]}" in lists.ing_attributes or (words[at].endswith("ing") and determined)


def is_infinitive(words: Sequence[str], at: int, lists: WordLists) -> bool:
    """Return whether "to" and a verb follow, as in "to open" but not in "to work" or "to the door"."""
    verb = words[at + 1]
    acts = verb not in lists.noun_first or verb in lists.infinitives or words[at + 2] in lists.determiners
    return words[at] == "to" and (verb == "be" or (verb_form(verb) == "base" and is_act(verb) and acts))


def is_finite(words: Sequence[str], at: int, lists: WordLists) -> bool:
    """Return whether a verb form within a clause is the verb of another clause, and not a noun or participle."""
    word, before, after = words[at], words[at - 1], words[at + 1]
    form = verb_form(word)
    if (
        not form
        or form == "ing"
        or before == "to"
        or not is_act(word)
        or (at > 1 and is_attribute(words, at - 1, lists))
    ):
        return False
    known = readings(word)
    lemma = word if form == "base" else known["VERB"][0]
    if before in lists.quantities:
        return False
    if before in lists.determiners:
        return form == "s" and lemma in lists.certain
    governs = after in lists.determiners or after in lists.pronouns
    named = can_be_noun(before)
    object_ = can_be_noun(after) and not is_act(after)
    strong = lemma in lists.strong and word not in lists.noun_first
    if before in ("of", "from", "into", "onto", "with", "at") and "NOUN" in known:
        return False
    if lemma in lists.intransitive and named and not after:
        return True
    if form == "s":
        bare = "NOUN" not in known and word not in lists.noun_first
        if strong or bare or before in ("laughing", "sneezing", "smiling", "just"):
            return True
        if lemma in lists.infinitives and (named or (before in lists.prepositions and before in lists.adverbs)):
            object_ = can_be_noun(after) and words[at - 2] in lists.determiners
            return governs or after in lists.prepositions or object_
        return (named or not verb_form(before)) and (
            governs or (after in ("at", "to", "from", "through", "on") and word not in lists.noun_first)
        )
    if form == "base":
        if set(known) == {"VERB"} and len(known["VERB"]) == 1 and word not in lists.noun_first:
            return True
        if word in ("open", "close"):
            placed = words[at - 2] in lists.determiners or words[at - 2] in lists.prepositions
            named = named and (placed or (can_be_noun(words[at - 2]) and words[at - 2] not in lists.people))
            return (named and (governs or object_)) or (before in lists.adverbs and governs)
        particle = after in ("off", "out", "up", "down", "on", "in", "from", "to", "into", "through", "onto")
        return strong and word != "set" and (governs or particle or (named and object_))
    return word in lists.certain_past or (governs and lemma in lists.strong and named)


def after_openers(words: Sequence[str], at: int) -> int:
    """Return the position after words that carry no action, such as "all of a sudden" and "then"."""
    if at < len(words):
        for opener in openers().get(words[at], ()):
            if tuple(words[at : at + len(opener)]) == opener:
                return at + len(opener)
    return at


@cache
def openers() -> dict[str, list[tuple[str, ...]]]:
    """Return the openers by their first word, longest first."""
    rows = [tuple(row.strip().split("_")) for row in read_lexicon("clipped")["openers"].split("|")]
    found: dict[str, list[tuple[str, ...]]] = {}
    for row in sorted(rows, key=len, reverse=True):
        found.setdefault(row[0], []).append(row)
    return found
