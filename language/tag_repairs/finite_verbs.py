"""The finite verb that a tagger took for a noun."""

from __future__ import annotations

from collections.abc import Sequence

from ..closed_classes import AUXILIARIES, CLOSED, FINITE, PLURAL_SUBJECTS
from ..inflection import can_be_verb, is_verb_form
from ..lexicon import words as words_of
from .context import has_other_finite, is_coordinated, place_before, third_person

_NOMINAL = ("NN", "PRP", "CD", "EX", "WP", "WDT")


def repair_finite_verbs(words: Sequence[str], tags: list[str], start: int, stop: int) -> None:
    """Find the verb that a tagger took for a noun: "a man checks out a car", "two women exercise"."""
    noun_s, verb_s, people = words_of("noun_s"), words_of("verb_s"), words_of("people")
    lone = ("person", "someone", "somebody", "everyone", "everybody")  # never before a noun as part of it
    for number in range(start, stop):
        after = tags[number + 1] if number + 1 < stop else ""
        if tags[number] == "VBZ" and words[number] in noun_s and after not in ("DT", "PRP", "PRP$"):
            plural = number > start and tags[number - 1] in ("NN", "VB", "VBP") and can_be_verb(words[number - 1])
            if has_other_finite(words, tags, number) or plural:
                tags[number] = "NNS"
    for number in range(max(start, 1), stop):
        word, tag = words[number], tags[number]
        if not tag.startswith(("NN", "JJ", "VB", "RB", "IN")) or tag in FINITE or tag == "VBG" or not can_be_verb(word):
            continue
        if word in AUXILIARIES or word in CLOSED or tag in ("RB", "IN"):
            continue
        place = place_before(tags, number)
        before = tags[place] if place >= start else ""
        held = words[place] if place >= start else ""
        dressed = before == "JJ" and place > start + 1 and tags[place - 1] == "IN" and held in words_of("colours")
        dressed = dressed and words[place - 2] in people and word in verb_s | {"shows"}
        if dressed:
            before, held = "NN", words[place - 2]  # "a woman in blue shows"
        after = tags[number + 1] if number + 1 < stop else ""
        objects = after in ("DT", "PRP", "PRP$")
        ended = after in ("", ".", ",", "CC", ":")
        goes_on = objects or ended or after in ("IN", "TO", "RB", "RP", "VBG", "CD", "WRB")
        third = is_verb_form(word, "VBZ") and tag in ("NNS", "NN", "VB", "JJ")
        if before == "CC" and third and place > start:
            verbal = any(t in FINITE and words[n] not in AUXILIARIES for n, t in enumerate(tags[start:place], start))
            verbal = verbal or any(t in FINITE for t in tags[start:place])
            sure = word in verb_s and word not in noun_s and (goes_on or after.startswith("NN"))
            if verbal and ((objects and word not in noun_s) or (sure and after != "CC")):
                tags[number] = "VBZ"
            continue
        bare = before == "DT" and third and tag == "NNS" and objects and held in ("a", "the", "another")
        if bare and place + 1 == number and not has_other_finite(words, tags, number):
            tags[number] = "VBZ"  # a slip: "person a closes the door"
        if before == "PRP$" or not (before.startswith(_NOMINAL) or (before.startswith("VB") and before not in FINITE)):
            continue
        open_relative = (
            any(t in ("WP", "WDT") for t in tags[start:number])
            and sum(t in FINITE for t in tags[start:number]) == 1
            and tags[number - 1] not in ("DT", "JJ", "PRP$")
        )
        if before.startswith("VB") and not open_relative:
            continue  # "playing instruments"
        if has_other_finite(words, tags, number) and not (open_relative and third and word in verb_s):
            continue
        plural = (
            before in ("NNS", "NNPS")
            or held in PLURAL_SUBJECTS
            or (before.startswith("NN") and is_coordinated(tags, start, place))
        )
        if third and not (plural and before != "NN") and before.startswith(("NN", "PRP", "WP", "WDT", "VB", "EX")):
            person = held in people
            likely = (goes_on or after.startswith("NN")) and (person or word in verb_s)
            sure = objects or (held in lone and word not in ("faces", "hands", "voices"))
            if sure or (word not in noun_s and (likely or after in ("IN", "TO", "RP", "RB", "WRB"))):
                tags[number] = "VBZ"
        elif not plural and is_verb_form(word, "VB") and place + 1 == number and held in people and word not in people:
            # Charades has "person open the door", "person laugh at the television".
            acts = third_person(word) in verb_s and third_person(word) not in noun_s
            if objects or (acts and (goes_on or held in lone)):
                tags[number] = "VBP"
        elif plural and is_verb_form(word, "VB") and before.startswith(("NN", "PRP")):
            if goes_on or (after.startswith(("NN", "JJ")) and (held in people or tag in ("VB", "VBP"))):
                tags[number] = "VBP"
        elif tag == "VBN" and is_verb_form(word, "VBD") and objects and before.startswith(("NN", "PRP")):
            tags[number] = "VBD"
