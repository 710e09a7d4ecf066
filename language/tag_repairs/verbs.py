"""Correct the tags of verbs, based on their forms, auxiliaries and context."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from ..closed_classes import AUXILIARIES, BE, CLOSED, FINITE, PLURAL_SUBJECTS, PLURALS
from ..inflection import Tag, can_be_verb, is_plural_noun, is_verb_form, readings, verb_lemma
from ..lexicon import words as words_of
from .context import has_other_finite, is_coordinated, place_before, third_person


def repair_verb_forms(words: Sequence[str], tags: list[str], order: bool) -> None:
    """Make the tags of verbs consistent with their forms and auxiliaries."""
    for number, word in enumerate(words):
        tag, before = tags[number], place_before(tags, number)
        held = words[before] if before >= 0 else ""
        after = tags[number + 1] if number + 1 < len(tags) else ""
        if word in PLURALS:
            continue
        if word in AUXILIARIES or word in CLOSED or not word[:1].isalpha():
            infinitive = held and (tags[before] in ("TO", "MD") or held in ("do", "does", "did"))
            if infinitive and word in ("have", "do") and tags[number] == "VBP":
                tags[number] = "VB"
            elif held in ("have", "has", "had", "be", "is", "are", "was", "were", "being") and word == "had":
                tags[number] = "VBN"
            continue
        if before >= 0 and (tags[before] in ("TO", "MD") or held in ("do", "does", "did")) and is_verb_form(word, "VB"):
            goes_on = after in ("DT", "PRP", "PRP$", "IN", "RP", "TO", "RB") or not after
            bare = before + 1 == number and goes_on and word not in words_of("order_nouns")
            part = before and words[before - 1] in words_of("parts_to") and "NOUN" in readings(word)
            if part and third_person(word) not in words_of("verb_s") and after not in ("DT", "PRP", "PRP$"):
                tags[number] = "NN"  # "the door to closet"
            elif tags[before] != "TO" or tag.startswith("VB") or bare:
                tags[number] = "VB"
            continue
        if tag == "VBN" and before >= 0 and tags[before] == "CC" and is_verb_form(word, "VBD"):
            earlier = next((n for n in range(before, -1, -1) if tags[n].startswith("VB")), before)
            if tags[earlier] == "VBD" and words[earlier] not in AUXILIARIES:
                tags[number] = "VBD"  # "picked up the phone and called someone"
            continue
        if before >= 0 and held in ("have", "has", "had", "'ve") and _is_past(word, tag, after):
            tags[number] = "VBN"  # "had bit", and "had ran" although "ran" is not a participle
            continue
        be = held in BE and before >= 0
        have = held in ("have", "has", "had", "'ve", "having") and before >= 0
        if (be or have or held in ("get", "gets", "got", "getting")) and tag in ("VBD", "VB", "VBP", "JJ", "NN"):
            taken = tag in ("VBD", "VB", "VBP") or not {"ADJ", "NOUN"} & set(readings(word))
            if tag == "VBD" and word.endswith("ed") and not readings(word):
                tags[number] = "VBN"
                continue
            if taken and is_verb_form(word, "VBN") and (tag != "VB" or is_verb_form(word, "VBD")):
                tags[number] = "VBN"
                continue
        if tag.startswith("VB") and not _fits(word, tag):
            forms = ("VBD", "VBN", "VBZ", "VBP", "VBG") if tag != "VBZ" else ("VBD", "VBP", "VBN", "VBG")
            fitting = [form for form in forms if _fits(word, form)] if can_be_verb(word) else []
            if fitting:
                tags[number] = fitting[0]
            elif readings(word):
                known = readings(word)
                tags[number] = (
                    ("NNS" if is_plural_noun(word) else "NN") if "NOUN" in known else "JJ" if "ADJ" in known else tag
                )
            elif tag in ("VBZ", "VBP", "VB"):
                tags[number] = "NN"
        elif (
            tag in ("VBP", "VB")
            and before == number - 1 >= 0
            and tags[before] in ("CD", "DT", "JJ")
            and after[:2] == "NN"
        ):
            tags[number] = "JJ" if "ADJ" in readings(word) else "NN"
        elif (
            tag in ("VB", "VBP")
            and not order
            and tags[number - 1 : number] == ["NN"]
            and after[:2] == "NN"
            and ("NOUN" in readings(word) and not is_coordinated(tags, 0, number - 1))
        ):
            tags[number] = "NN"  # "a tv talk show"
        elif tag == "VB" and not order and before >= 0 and not _licensed(words, tags, number):
            tags[number] = "VBP" if tags[before].startswith(("NN", "PRP", "CC", "WDT", "WP")) else "NN"


def _is_past(word: str, tag: str, after: str) -> bool:
    """Return whether a word after "had" is a past form, because it is unambiguous or an object follows."""
    past = is_verb_form(word, "VBD") or is_verb_form(word, "VBN") or (word.endswith("ed") and can_be_verb(word))
    if not past or tag.startswith(("DT", "IN", "PRP", "NNP")):
        return False
    object_follows = after in ("DT", "PRP", "PRP$", "NNP", "NNPS")
    return object_follows or tag in ("VBD", "VBN") or set(readings(word)) == {"VERB"}


def _fits(word: str, tag: str) -> bool:
    if tag == "VBG" and not readings(word):
        return word.endswith("ing")
    if tag in ("VBD", "VBN") and word.endswith("ed") and not readings(word):
        return True
    return is_verb_form(word, "VB" if tag in ("VB", "VBP") else cast(Tag, tag))


def _licensed(words: Sequence[str], tags: Sequence[str], number: int) -> bool:
    """Return whether a base form is possible here: in an imperative, or after "to", "let" or "makes the girl"."""
    for back in range(number - 1, -1, -1):
        if tags[back] in ("TO", "MD") or words[back] in ("do", "does", "did"):
            return True
        if tags[back] == "VB":
            return True
        if tags[back].startswith("VB"):
            return verb_lemma(words[back]) in ("let", "make", "help", "see", "watch", "hear")
        if tags[back] in (",", "WP", "WDT", "WRB"):
            return False
    return number == 0


def repair_participles(words: Sequence[str], tags: list[str]) -> None:
    """Tag -ing forms as participles if they have an object, or if they follow "is", a person or an animal."""
    people = words_of("people")
    for number, word in enumerate(words):
        after = tags[number + 1] if number + 1 < len(tags) else ""
        before = place_before(tags, number)
        held = words[before] if before >= 0 else ""
        follows = words[number + 1] if number + 1 < len(words) else ""
        if tags[number] in ("NN", "JJ", "NNP", "IN") and word.endswith("ing") and can_be_verb(word):
            active = (held in BE or held in people) and after in ("DT", "PRP", "PRP$") and tags[number] == "NN"
            person = words[before - 1] if before > 0 else ""
            somebody = person in words_of("people") or (before > 0 and tags[before - 1] == "NNP")
            doing = held in BE and somebody and "ADJ" not in readings(word)
            started = number and verb_lemma(words[number - 1]) in ("begin", "start", "continue", "keep", "stop")
            if tags[number] != "IN" and (doing or (started and tags[number - 1].startswith("VB"))) and follows != "of":
                tags[number] = "VBG"  # "a person is dressing", "begins cooking"
                continue
            if (word in words_of("noun_ing") or tags[number] == "IN") and not active:
                continue
            if _stands_behind_phrase(words, tags, number):
                tags[number] = "VBG"  # "is standing in a doorway smiling"
                continue
            if before >= 0 and tags[before] == "CC" and "VBG" in tags[:before] and after in ("IN", "RB", "", ".", "CC"):
                tags[number] = "VBG"  # "playing guitar and singing on"
                continue
            beside = held in BE or held in words_of("people")
            behind = after in ("DT", "PRP", "PRP$", "TO", "RP", "IN") or follows in words_of("particles") or not after
            determined = before >= 0 and tags[before] in ("DT", "PRP$", "JJ", "POS")
            sure = word in words_of("participles") and after.startswith("NN") and not determined
            if sure or after in ("DT", "PRP", "PRP$") or (beside and (behind or after[:2] in ("NN", "JJ", "RB", "CC"))):
                tags[number] = tags[number] if determined and after not in ("DT", "PRP$", "PRP") else "VBG"
        elif tags[number][:2] in ("VB", "NN") and word in words_of("made_of_two") and number and after[:2] == "NN":
            if held != "had":  # "had skinned Tom"
                tags[number] = "JJ"  # "red haired woman"
        elif tags[number] == "VBD" and before >= 0 and tags[before].startswith(("NN", "IN", "JJ", "DT", "VB", "CC")):
            named = word in ("called", "named", "titled", "entitled", "based", "made", "filled", "dressed", "covered")
            named = named and (tags[before] != "CC" or after not in ("NN", "NNP", "DT", "PRP", "PRP$"))
            modifies = after.startswith("NN") and not tags[before].startswith("NN") and tags[before] != "CC"
            if is_verb_form(word, "VBN") and (follows == "by" or named or modifies):
                tags[number] = "VBN"
        elif tags[number] in ("VBZ", "VBP") and word not in AUXILIARIES and "NOUN" in readings(word):
            # "juggling sticks", "another persons face": a noun where a verb is impossible.
            loose = tags[number - 1 : number] == ["VBG"] and word not in words_of("verb_s")
            second = tags[number] == "VBP" and tags[number - 1 : number] in (["NNS"], ["NN"]) and held not in people
            if loose or (second and has_other_finite(words, tags, number)):
                tags[number] = "NNS" if is_plural_noun(word) else "NN"
        elif (
            tags[number] == "VBG"
            and word in words_of("noun_ing")
            and held in ("the", "a")
            and not after.startswith("NN")
        ):
            tags[number] = tags[number] if after in ("DT", "PRP") else "NN"
        else:
            cut = tags[number] == "NN" and after[:2] == "NN" and word.endswith("ed") and set(readings(word)) == {"VERB"}
            if cut or (tags[number] == "JJ" and follows == "by" and is_verb_form(word, "VBN")):
                tags[number] = "VBN"


def _stands_behind_phrase(words: Sequence[str], tags: Sequence[str], number: int) -> bool:
    """Return whether an -ing form follows a complete phrase, as in "at a table drinking coffee"."""
    start = number - 1
    if start < 1 or not tags[start].startswith("NN") or words[start] in words_of("people"):
        return False
    if words[number] in ("shooting", "training"):  # "a school shooting"
        return False
    while start > 0 and tags[start].startswith(("NN", "JJ", "PRP$", "DT", "CD")):
        start -= 1
    whole = tags[start] == "IN" or tags[start].startswith("VB")
    determined = any(tag in ("DT", "PRP$") for tag in tags[start + 1 : number])
    after = tags[number + 1] if number + 1 < len(tags) else ""
    last = tags[number + 2] if number + 2 < len(tags) else ""
    thing = (
        after.startswith("NN") and third_person(verb_lemma(words[number])) in words_of("verb_s") and last[:2] != "NN"
    )
    somebody = any(word in words_of("people") for word in words[:start])
    return whole and determined and somebody and (thing or after in ("", ".", ",", "IN", "CC", "RB", "TO"))


_NOMINAL = ("NN", "PRP", "CD", "EX", "WP", "WDT")
_OBJECTS = ("DT", "PRP", "PRP$")
_JOINING = words_of("joining")
_TO_AND_FRO = ["back", "and", "forth"]
_LONE_VERBS = words_of("no_passive") | (words_of("motion") - {"drop", "head", "march", "race", "roll"})
_LONE = ("person", "someone", "somebody", "everyone", "everybody")  # never modify a noun


def repair_finite_verbs(words: Sequence[str], tags: list[str], start: int, stop: int) -> None:
    """Tag finite verbs that were mistaken for nouns, as in "a man checks out a car" and "two women exercise"."""
    for number in range(start, stop):
        after = tags[number + 1] if number + 1 < stop else ""
        if tags[number] == "VBZ" and words[number] in words_of("noun_s") and after not in _OBJECTS:
            plural = number > start and tags[number - 1] in ("NN", "VB", "VBP") and can_be_verb(words[number - 1])
            if has_other_finite(words, tags, number) or plural:
                tags[number] = "NNS"
        elif tags[number] in ("VBP", "VB") and number > start and "NOUN" in readings(words[number]):
            before, held = tags[number - 1], words[number - 2 : number - 1]
            if before == "NNS" and after not in _OBJECTS and _opens_with_article(words, tags, number - 1):
                tags[number] = "NN"  # "a tan sports coat"
            elif before == "NNS" and held and held[0] in _LONE and is_verb_form(words[number - 1], "VBZ"):
                tags[number - 1 : number + 1] = ["VBZ", "NN"]  # "person fixes mistake"
    for number in range(max(start, 1), stop):
        word, tag = words[number], tags[number]
        fixed = tag in FINITE or tag in ("VBG", "RB", "IN") or word in AUXILIARIES or word in CLOSED
        if tag.startswith(("NN", "JJ", "VB", "RB", "IN")) and not fixed and can_be_verb(word):
            after = tags[number + 1] if number + 1 < stop else ""
            tags[number] = _finite_tag(words, tags, number, start, after) or tag


def _opens_with_article(words: Sequence[str], tags: Sequence[str], last: int) -> bool:
    """Return whether a singular noun phrase ends at a plural noun, as in "a tan sports" but not in "a few kids"."""
    first = last
    while first > 0 and tags[first].startswith(("NN", "JJ")):
        first -= 1
    counted = words_of("people") | words_of("quantities") | words_of("plural_words")
    return words[first] in ("a", "an") and counted.isdisjoint(words[first : last + 1])


def _finite_tag(words: Sequence[str], tags: Sequence[str], number: int, start: int, after: str) -> str:
    word, place = words[number], place_before(tags, number)
    before, held = (tags[place], words[place]) if place >= start else ("", "")
    people, verb_s, noun_s = words_of("people"), words_of("verb_s"), words_of("noun_s")
    dressed = before == "JJ" and place > start + 1 and tags[place - 1] == "IN" and held in words_of("colours")
    if dressed and words[place - 2] in people and word in verb_s | {"shows"}:
        before, held = "NN", words[place - 2]  # "a woman in blue shows"
    if before == "CD" and place > start and words[place - 1] in _LONE:
        before, held = "NN", words[place - 1]  # "person 1 runs"
    if held in ("both", "all") and place > start and words[place - 1] in ("they", "we"):
        before, held = "PRP", words[place - 1]  # "they both undress"
    third = is_verb_form(word, "VBZ") and tags[number] in ("NNS", "NN", "VB", "JJ")
    follows = words[number + 1] if number + 1 < len(words) else ""
    if tags[number] == "VBN" and number > start and tags[number - 1] in ("CC", ",") and after in (*_OBJECTS, "NNP"):
        told = "VBD" in tags[start:number] and "VBN" not in tags[start:number]
        return "VBD" if told and is_verb_form(word, "VBD") and follows != "by" else ""  # "opened a box, removed a bag"
    listed = before in ("CC", ",") and place > start
    told = third and number > start and "VBZ" in tags[start:number]
    if told and (words[number - 1] == "then" or (before == "CC" and [*words[number + 1 : number + 4]] == _TO_AND_FRO)):
        return "VBZ"  # "then waves goodbye", "and rocks back and forth"
    if before == "," and listed and third and "VBZ" in tags[start:place] and after in _OBJECTS:
        return "VBZ"  # "cleans it with a towel, places the laptop down"
    acts = is_verb_form(word, "VB") and third_person(word) in verb_s - noun_s
    if acts and listed and before == "CC" and "VBP" in tags[start:place] and after in (*_OBJECTS, "VBG"):
        return "VBP"  # "are getting ready and start running"
    opens = before.startswith("NN") and not any(tag in FINITE for tag in tags[start:number])
    if opens and third and word in verb_s and [*tags[number + 1 : number + 3]] == ["CC", "VBZ"]:
        return "VBZ"  # "in checkered shirts stands and looks"
    if before == "CC" and third and place > start:
        verbal = any(tag in FINITE for tag in tags[start:place])
        sure = word in verb_s and word not in noun_s and (_goes_on(after) or after.startswith("NN")) and after != "CC"
        contrast = held == "but" and not after.startswith(("NN", "JJ"))
        return "VBZ" if verbal and (sure or contrast or (after in _OBJECTS and word not in noun_s)) else ""
    if before == "DT" and place + 1 == number and held in ("a", "the", "another"):
        slip = third and tags[number] == "NNS" and after in _OBJECTS and not has_other_finite(words, tags, number)
        return "VBZ" if slip else ""  # "person a closes the door"
    if before == "PRP$" or not before.startswith((*_NOMINAL, "VB")) or before in ("VBZ", "VBP", "VBD"):
        return ""
    open_relative = (
        any(tag in ("WP", "WDT") for tag in tags[start:number])
        and sum(tag in FINITE for tag in tags[start:number]) == 1
        and tags[number - 1] not in ("DT", "JJ", "PRP$")
    )
    if before.startswith("VB") and not open_relative:
        return ""  # "playing instruments"
    if has_other_finite(words, tags, number) and not (open_relative and third and word in verb_s):
        return ""
    return _tag_after_subject(words, tags, number, start, after, before, held, third)


def _tag_after_subject(
    words: Sequence[str],
    tags: Sequence[str],
    number: int,
    start: int,
    after: str,
    before: str,
    held: str,
    third: bool,
) -> str:
    """Return the tag of a verb after the subject `held`, whose tag is `before`, or "" if the word is not its verb."""
    word, tag, place = words[number], tags[number], place_before(tags, number)
    people, verb_s, noun_s = words_of("people"), words_of("verb_s"), words_of("noun_s")
    objects, base = after in _OBJECTS, is_verb_form(word, "VB")
    plural = before in ("NNS", "NNPS") or held in PLURAL_SUBJECTS
    plural = plural or (before.startswith("NN") and is_coordinated(tags, start, place))
    if third and not (plural and before != "NN") and before.startswith(("NN", "PRP", "WP", "WDT", "VB", "EX")):
        likely = (_goes_on(after) or after.startswith("NN")) and (held in people or word in verb_s)
        pronoun = held in ("it", "he", "she") and before == "PRP" and (place == start or words[place - 1] in _JOINING)
        sure = objects or pronoun or (held in _LONE and word not in ("faces", "hands", "voices"))
        likely = word not in noun_s and (likely or after in ("IN", "TO", "RP", "RB", "WRB"))
        return "VBZ" if sure or likely else ""
    if not plural and base and place + 1 == number and held in people and word not in people:
        # Charades has "person open the door", "person laugh at the television".
        acts = third_person(word) in verb_s and third_person(word) not in noun_s
        return "VBP" if objects or (acts and (_goes_on(after) or held in _LONE)) else ""
    if plural and base and before.startswith(("NN", "PRP")):
        if before == "NNS" and not objects and _opens_with_article(words, tags, place):
            return ""  # "a tan sports coat"
        described = after.startswith(("NN", "JJ")) and (held in people or tag in ("VB", "VBP"))
        return "VBP" if _goes_on(after) or described else ""
    if tag == "JJ" and "ADJ" not in readings(word) and is_verb_form(word, "VBD") and not is_verb_form(word, "VBN"):
        return "VBD"  # "the person ate food"
    past = tag == "VBN" and is_verb_form(word, "VBD") and before.startswith(("NN", "PRP"))
    return "VBD" if past and (objects or _is_told(words, tags, number, start, after, before)) else ""


def _is_told(words: Sequence[str], tags: Sequence[str], number: int, start: int, after: str, before: str) -> bool:
    """Return whether a past form tagged as a participle is a finite verb, as in "the cat ambushed Jerry"."""
    held = words[place_before(tags, number)]
    follows = words[number + 1] if number + 1 < len(words) else ""
    if follows == "by" or words[number] in ("called", "named", "titled", "entitled"):
        return False
    possessor = after.startswith("NN") and tags[number + 2 : number + 3] == ["POS"]  # "jerry set tom's feet on fire"
    named = before == "NNP" or (before.startswith("NN") and not readings(held))
    lone = words[number].endswith("ed") and verb_lemma(words[number]) in _LONE_VERBS | {"spill", "leak", "explode"}
    return after in ("NNP", "NNPS") or possessor or named or lone or follows == "that" or words[start] in _JOINING


def _goes_on(after: str) -> bool:
    return after in (*_OBJECTS, "", ".", ",", "CC", ":", "IN", "TO", "RB", "RP", "VBG", "CD", "WRB")
