"""Tags of verbs that fit their forms and their auxiliaries."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from ..closed_classes import AUXILIARIES, BE_FORMS, CLOSED, PLURALS
from ..inflection import Tag, can_be_verb, is_plural_noun, is_verb_form, readings, verb_lemma
from ..lexicon import words as words_of
from .context import is_coordinated, place_before


def repair_verb_forms(words: Sequence[str], tags: list[str], order: bool) -> None:
    """Make the tags of verbs fit their forms and their auxiliaries."""
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
            if tags[before] != "TO" or tag.startswith("VB") or bare:
                tags[number] = "VB"
            continue
        if before >= 0 and held in ("have", "has", "had", "'ve") and _is_past(word, tag, after):
            tags[number] = "VBN"  # "had bit", and what is no participle: "had ran"
            continue
        be = held in BE_FORMS and before >= 0
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
    """Return whether a word behind "had" is a past form: one that is nothing else, or has what a verb has behind it."""
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
    """Return whether a base form can stand here: an order, or behind "to", "let", "makes the girl"."""
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
