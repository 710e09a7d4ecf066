"""Tags of participles: forms in -ing and -ed that a tagger took for nouns, adjectives or past tenses."""

from __future__ import annotations

from collections.abc import Sequence

from ..closed_classes import AUXILIARIES, BE_FORMS
from ..inflection import can_be_verb, is_plural_noun, is_verb_form, readings, verb_lemma
from ..lexicon import words as words_of
from .context import has_other_finite, place_before, third_person


def repair_participles(words: Sequence[str], tags: list[str]) -> None:
    """Tag forms in -ing that take an object or stand behind "is", a person or an animal as participles."""
    people = words_of("people")
    for number, word in enumerate(words):
        after = tags[number + 1] if number + 1 < len(tags) else ""
        before = place_before(tags, number)
        held = words[before] if before >= 0 else ""
        follows = words[number + 1] if number + 1 < len(words) else ""
        if tags[number] in ("NN", "JJ", "NNP", "IN") and word.endswith("ing") and can_be_verb(word):
            active = held in BE_FORMS and after in ("DT", "PRP", "PRP$") and tags[number] == "NN"
            person = words[before - 1] if before > 0 else ""
            somebody = person in words_of("people") or (before > 0 and tags[before - 1] == "NNP")
            doing = held in BE_FORMS and somebody and "ADJ" not in readings(word)
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
            beside = held in BE_FORMS or held in words_of("people")
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
            modifies = after.startswith("NN") and not tags[before].startswith("NN") and tags[before] != "CC"
            if is_verb_form(word, "VBN") and (follows == "by" or named or modifies):
                tags[number] = "VBN"
        elif tags[number] in ("VBZ", "VBP") and word not in AUXILIARIES and "NOUN" in readings(word):
            # "juggling sticks", "another persons face": a thing where a verb has no place.
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
    """Return whether a form in -ing is what somebody does behind a whole phrase: "at a table drinking coffee"."""
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
