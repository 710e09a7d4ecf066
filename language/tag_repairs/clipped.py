"""Correct the tags of clipped captions about a person, which omit articles, subjects and conjunctions.

For example, in "person the open the door sits down", a word that can only be a verb is tagged as a verb.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..closed_classes import AUXILIARIES, BE, FINITE, SUBORDINATORS
from ..inflection import is_verb_form, readings
from ..lexicon import WordLists, word_lists
from .clipped_words import (
    Form,
    after_openers,
    can_be_noun,
    can_follow_verb,
    is_act,
    is_attribute,
    is_finite,
    is_infinitive,
    lemma_of,
    verb_form,
)

_TAGS: dict[Form, str] = {"base": "VBP", "s": "VBZ", "past": "VBD", "ing": "VBG"}


def repair_clipped(words: Sequence[str], tags: list[str]) -> None:
    """Tag the predicate after a person, and other verbs that no conjunction precedes."""
    lists = word_lists("clipped")
    padded = [*words, "", "", "", ""]
    _repair_possessives(padded, tags)
    predicate = _repair_predicate(padded, tags, lists)
    licensed = False  # whether a subordinate clause is waiting for its verb
    for number, word in enumerate(words):
        if word in AUXILIARIES or word in BE or word == "being" or not word[:1].isalpha():
            licensed = licensed and word not in AUXILIARIES
            continue
        if word == "that" and tags[number] == "DT" and padded[number + 1] in AUXILIARIES:
            tags[number] = "WDT"
        if (word in SUBORDINATORS and word != "than") or word in ("who", "which"):
            licensed = True
        elif number <= predicate:
            if number and words[number - 1] in SUBORDINATORS and verb_form(word) == "past":
                tags[number] = "VBN"  # "when finished they leave"
            licensed = licensed and number != predicate
        elif licensed and word == "the" and _is_clipped_they(padded, number, lists):
            tags[number] = "PRP"
        elif word == "than" and verb_form(padded[number + 1]) == "s":
            tags[number], tags[number + 1] = "CC", "VBZ"  # a typo for "then"
        else:
            awaited = licensed and bool(verb_form(word)) and _is_subject(padded, tags, number - 1, lists)
            finite = [n for n in range(number) if tags[n] in FINITE or n == predicate]
            if _is_joined_verb(padded, number, verb_form(padded[finite[-1]]) if finite else "", lists):
                tags[number] = _TAGS[verb_form(word)]
            else:
                tags[number] = _inner_tag(padded, tags, number, licensed, lists)
            licensed = licensed and not awaited and tags[number] not in FINITE


def _inner_tag(words: Sequence[str], tags: Sequence[str], number: int, licensed: bool, lists: WordLists) -> str:
    word, before, tag = words[number], words[number - 1] if number else "", tags[number]
    form = verb_form(word)
    thing = "NOUN" in readings(word)
    if form == "ing":
        if f"{word}_{words[number + 1]}" in lists.ing_attributes and before not in BE:
            return "NN"
        attribute = is_attribute(words, number, lists) and before not in BE
        taken = tag in ("NN", "JJ", "IN", "NNP") and not attribute and word not in lists.ing_nouns
        return "VBG" if taken else tag
    if before == "to" and is_infinitive(words, number - 1, lists):
        return "VB"
    if before == "to" and tag == "VB" and thing:
        return tag if lemma_of(words[number - 2]) in lists.aspect else "NN"  # "begins to dress", "goes to bed"
    if before in lists.do and word in lists.noun_first:
        return "NN"
    if form == "base":
        if before in lists.subjects and not licensed:
            return "VBP"
        if before in ("go", "come") and word not in lists.noun_first | lists.adverbs:
            return "VB"
        if before in BE and is_verb_form(word, "VBN"):
            return "VBN"
        if before in BE:
            slip = is_act(word) and can_follow_verb(words, number + 1, lists) and tag != "JJ"
            return "VBP" if slip else tag  # "is look at"
    if form == "past" and (before in ("being", "been") or (licensed and before in SUBORDINATORS)):
        return "VBN"  # "while curled up"
    if licensed and form and _is_subject(words, tags, number - 1, lists):
        return tag if tag in FINITE else _TAGS[form]
    if form == "base" and (tags[number - 1] == "MD" or _is_perceived(words, number, lists)):
        return "VB"
    if form == "s" and before in lists.people - lists.quantities and is_act(word) and tag != "POS":
        return "VBZ"
    if form and before not in ("and", "or", "then", "than", "to") and before not in lists.subjects:
        return _clause_tag(words, tags, number, licensed, lists)
    return tag


def _repair_possessives(words: Sequence[str], tags: list[str]) -> None:
    for number in range(1, len(tags) - 1):
        thing = tags[number + 1].startswith("NN") and not words[number + 1].endswith("ing")
        if thing and words[number] == "'s" and words[number - 1] == "it":
            tags[number] = "POS"


def _repair_predicate(words: Sequence[str], tags: list[str], lists: WordLists) -> int:
    """Tag the verb directly after the person or at the start. Return its index, or -1 if there is none."""
    person = next((n for n in range(len(tags)) if words[n] in lists.people or words[n] in lists.subjects), None)
    number = 0 if person is None else person + 1
    opens = is_act(words[0]) and (words[0] not in lists.noun_first or words[1] in ("at", "as"))
    if opens and person != 0 and not (words[1] in lists.people and verb_form(words[0]) in ("past", "ing")):
        number = 0
    elif person is None:
        return -1
    while number < len(tags):
        word, after = words[number], words[number + 1]
        label = word in lists.labels and verb_form(after) in ("s", "past", "ing")
        they = word == "the" and _is_they(words, number, lists)
        if they:
            tags[number] = "PRP"
        if word.endswith("ly") and not verb_form(word):
            tags[number] = "RB"
        opener = _after_opener(words, number)
        if opener > number and words[opener] and (opener - number > 1 or tags[number] != "VB"):
            number = opener
            continue
        again = word in lists.subject_pronouns | lists.people | lists.subjects | {"all"} or tags[number] == "RB"
        if label or they or again or (word == "the" and after in lists.subject_pronouns):
            number += 1
            continue
        break
    if number >= len(tags):
        return -1
    if tags[number] in ("VBZ", "VBD", "VBP", "MD", "VBG"):
        return number
    word, form = words[number], verb_form(words[number])
    participle = word in lists.state_participles or word in ("seen", "shown")
    if form and is_act(word) and not (form == "past" and participle) and word not in BE | set(AUXILIARIES):
        things = word in lists.noun_first and number and after and not can_follow_verb(words, number + 1, lists)
        if not things or form == "s":
            tags[number] = _TAGS[form]
            return number
    return -1


def _is_joined_verb(words: Sequence[str], number: int, first: Form, lists: WordLists) -> bool:
    """Return whether a conjunction joins a verb to a predicate of the given form, as in "sits down and laughs"."""
    word, after, form = words[number], words[number + 1], verb_form(words[number])
    place = number - 1
    while place > 0 and words[place].endswith("ly"):
        place -= 1
    joined = place >= 0 and (words[place] in lists.conjunctions or words[place] == ",")
    if not joined or not is_act(word) or form == "ing":
        return False
    if form == "base" and first != "base":
        return first == "past" and is_verb_form(word, "VBD")  # "walked in and put it down"
    if words[place] == "," and word in lists.state_participles:
        return False  # "sits there, wrapped in a blanket"
    lemma = lemma_of(word)
    if form == "past" or not ("NOUN" in readings(word) or word in lists.noun_first):
        return True
    if after in lists.determiners or after in lists.pronouns:
        return True
    if word in lists.noun_first and lemma not in lists.infinitives:
        return False
    ends = not after or after in lists.prepositions or can_be_noun(after) or after.endswith("ly")
    return lemma in lists.strong or (form == "s" and ends) or after in ("at", "to")


def _is_subject(words: Sequence[str], tags: Sequence[str], number: int, lists: WordLists) -> bool:
    word = words[number]
    labelled = word in lists.labels and number > 0 and words[number - 1] in lists.people
    return word in lists.subjects or word in lists.people or labelled or (word == "the" and tags[number] == "PRP")


def _is_they(words: Sequence[str], at: int, lists: WordLists) -> bool:
    """Return whether "the" is a typo for "they", as in "person the open the door"."""
    verb, after = words[at + 1], words[at + 2]
    if not at or verb in ("are", "were"):
        return at > 0
    governs = after in lists.determiners | lists.prepositions | lists.pronouns
    governs = governs or (is_act(after) and not verb.endswith("ing"))
    named = verb_form(after) != "s" or after in lists.noun_first
    takes = lemma_of(verb) in lists.strong and verb not in ("open", "close") and named
    they = (governs or (takes and can_be_noun(after))) and verb not in lists.noun_first and after not in lists.be
    return they and is_act(verb)


def _is_clipped_they(words: Sequence[str], at: int, lists: WordLists) -> bool:
    """Return whether "the" is a typo for "they" before a verb that cannot be a noun, as in "as the leave"."""
    verb, after = words[at + 1], words[at + 2]
    base = verb_form(verb) == "base" and is_act(verb) and verb not in lists.noun_first
    return bool(base and after and not is_act(after) and (verb != "open" or not can_be_noun(after)))


def _is_perceived(words: Sequence[str], number: int, lists: WordLists) -> bool:
    """Return whether a base form is the object of perception, as in "watches a person dance"."""
    seen = any(lemma_of(word) in lists.perception for word in words[:number] if verb_form(word))
    return seen and is_finite(words, number, lists)


def _after_opener(words: Sequence[str], at: int) -> int:
    """Return the position after an opener, or after a person mentioned twice, as in "two laughing people"."""
    place = after_openers(words, at)
    if place > at:
        return place
    lists, noun = word_lists("clipped"), at
    while words[noun:] and words[noun] in lists.subject_determiners | lists.subject_adjectives:
        noun += 1
    return noun + 1 if words[noun] in lists.people else at


def _clause_tag(words: Sequence[str], tags: Sequence[str], number: int, licensed: bool, lists: WordLists) -> str:
    word, tag = words[number], tags[number]
    form, known = verb_form(word), readings(word)
    object_ = tags[number - 1].startswith("VB") and word in lists.noun_first
    if not object_ and is_finite(words, number, lists):
        return tag if tag in FINITE else _TAGS[form]
    if tag not in FINITE or licensed or words[number - 1] == ",":
        return tag
    if form == "past" or (form == "base" and tag == "VBD"):
        return "VBN"
    if "NOUN" in known:
        return "NNS" if form == "s" else "NN"
    return "JJ" if "ADJ" in known else tag
