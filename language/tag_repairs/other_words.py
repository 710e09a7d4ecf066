"""Correct the tags of nouns, clitics, marks, function words, and "can"."""

from __future__ import annotations

from collections.abc import Sequence

from ..closed_classes import AUXILIARIES, CLOSED, COLOURS, NOT_NOUNS, PLURALS
from ..inflection import is_plural_noun, is_verb_form, readings
from ..lexicon import words as words_of
from .context import third_person

_ONE_PERSON = ("man", "woman", "boy", "girl", "guy", "lady", "person", "child", "kid", "baby")


def repair_small_words(words: Sequence[str], tags: list[str]) -> None:
    """Tag clitics, "that", marks, and words that were mistaken for function words."""
    acts = words_of("verb_s") - {"likes"}
    for number, word in enumerate(words):
        before = words[number - 1] if number else ""
        after = words[number + 1] if number + 1 < len(words) else ""
        if word == "'s" and before:  # "it's", but "the dog's bowl"
            pronoun = before in ("it", "he", "she", "that", "there", "what", "who", "here")
            verb = (
                pronoun
                or (after.endswith("ing") and after not in words_of("noun_ing") and not _before_noun(tags, number + 1))
                or after in ("a", "an", "the", "not", "being", "been")
            )
            tags[number] = "PRP" if before == "let" else "VBZ" if verb else "POS"
        elif word == "that":
            tags[number] = "WDT" if before and tags[number - 1].startswith("NN") else "IN"
            if tags[number] == "IN" and (not before or tags[number - 1] in ("IN", "TO", "CC") or not after):
                tags[number] = "DT"
        elif word == "like" and tags[number] not in ("VB", "VBP"):
            tags[number] = "IN"
        elif word in ("off", "out") and tags[number].startswith(("NN", "JJ")) and after == "of":
            tags[number] = "IN"  # "takes a laptop off of a desk"
        elif word == "a" and before == "person" and (not after or after in AUXILIARIES or is_verb_form(after, "VBZ")):
            tags[number] = "NNP"  # "person A walks"
        elif word == "overhead" and before != "the" and (not after or tags[number + 1] in (".", ",", "CC")):
            tags[number] = "RB"  # "touching a light overhead"
        elif word == "no" and after:
            tags[number] = "DT"
        elif word.isdigit():
            tags[number] = "CD"
        elif word in ("regarding", "concerning") and tags[number - 1 : number] != ["VBZ"] and before:
            tags[number] = "IN"  # "talking to the press regarding a movie"
        elif word == "make" and after == "up" and before not in ("to", "and", "who", "they", "people") and before:
            article = tags[number - 1].startswith(("DT", "PRP$", "JJ", "VB", "IN"))
            if article:
                tags[number] = tags[number + 1] = "NN"  # "apply make up"
        elif (
            (tags[number] in ("POS", "WRB", "WDT", "WP", "IN", "DT") or (tags[number] == "RB" and word in acts))
            and word not in CLOSED
            and not {"ADV", "ADP"} & set(readings(word))
            and third_person(word) in acts
        ):
            base = "NN" if number + 1 < len(tags) and tags[number + 1].startswith("NN") else "VB"
            tags[number] = "NNS" if word in acts else base  # not a function word: "a person walks/WRB into"
        elif word[:1].isalnum() is False and len(word) == 1:
            tags[number] = "." if word in ".!?" else "," if word == "," else ":"


def _before_noun(tags: Sequence[str], number: int) -> bool:
    return number + 1 < len(tags) and tags[number + 1].startswith(("NN", "JJ"))


def repair_cans(words: Sequence[str], tagged: Sequence[str], tags: list[str]) -> None:
    """Tag "can" as a noun if it means the container: after an article, or after its material or content.

    It is a noun in "the trash can Jerry was on" and "a metal can", but not in "the metal can bend" or "the cat can".
    """
    for number in range(1, len(words)):
        if words[number] != "can":
            continue
        before, place = words[number - 1], number + 1
        while place < len(words) and tagged[place].startswith("RB"):
            place += 1
        follows = words[place] if place < len(words) else ""
        modal = is_verb_form(follows, "VB") or follows in ("be", "have", "do", "not", "n't") or before == "that"
        determined = tags[number - 1] in ("DT", "PRP$", "POS") and before != "that"
        if determined or before in ("trash", "garbage", "rubbish") or (before in words_of("cans") and not modal):
            tags[number] = "NN"


def repair_nouns(words: Sequence[str], lower: Sequence[str], tags: list[str]) -> None:
    """Tag as nouns words that can only be nouns, and words after an article that were mistaken for verbs."""
    for number, word in enumerate(lower):
        tag, before = tags[number], tags[number - 1] if number else ""
        if tag.startswith(("NN", "CD", "DT", "PRP", "W", "IN", "TO", "EX", "MD", "POS", "CC")) or word in AUXILIARIES:
            if tag == "NN" and word in PLURALS:
                tags[number] = "NNS"
            elif tag == "NNS" and word in _ONE_PERSON:
                tags[number] = "NN"
            elif tag in ("NN", "NNS") and word.endswith("wards"):
                tags[number] = "RB"  # "pulls it backwards"
            elif tag in ("NN", "NNS", "NNPS") and words[number][:1].isupper() and not readings(word):
                tags[number] = "NNP"  # "Toodles wanted"
            continue
        if word in PLURALS:
            tags[number] = "NNS"
            continue
        noun = "NNP" if words[number][:1].isupper() and number else "NNS" if is_plural_noun(word) else "NN"
        known = readings(word)
        if word in CLOSED or word in NOT_NOUNS or not word[:1].isalpha():
            continue
        follows = tags[number + 1][:2] if number + 1 < len(tags) else ""
        if tag == "JJ" and before in ("NN", "NNP") and "NOUN" in known and follows in ("", "IN", "VB", "."):
            tags[number] = noun if word not in COLOURS else tag  # "a photoshop tutorial"
            continue
        if tag == "JJ" and "NOUN" in known and "ADJ" not in known and not word.endswith(("ing", "ed")):
            tags[number] = noun if word not in ("like", "bit", "ground") else tag  # "a pillow", "wearing uniforms"
            continue
        nothing_else = set(known) in ({"NOUN"}, {"NOUN", "PROPN"}, {"PROPN"}) and tag[:2] in ("VB", "JJ", "RB")
        base_after_article = (
            tag in ("VB", "VBP", "VBZ") and before in ("DT", "PRP$", "POS") and lower[number - 1] != "that"
        )
        unknown = not known and tag in ("VB", "VBP") and before != "TO"
        if nothing_else or unknown or (base_after_article and "NOUN" in known):
            tags[number] = noun
