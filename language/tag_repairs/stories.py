"""Correct the tags of past verbs and living beings in stories, such as "Tom heard noises"."""

from __future__ import annotations

from collections.abc import Container

from ..closed_classes import BE, DO, FINITE, GET, HAVE, NEGATIONS, SUBORDINATORS
from ..inflection import is_verb_form, readings
from ..words import Token

_BEFORE_PARTICIPLES = BE | HAVE | GET | {"saw", "heard"}  # "was chased", "saw Tom chased"
_OBJECTS = ("DT", "NNP", "NNPS", "NNS", "PRP", "PRP$", "IN", "CD", "EX", ".", "RB", "RP")


def repair_story(tokens: list[Token], living: Container[str]) -> None:
    """Correct the tags of past verbs, as in "Tom heard noises" and "saw Joan and overheard her"."""
    _repair_living(tokens, living)
    bare = not any(token.tag in FINITE for token in tokens)
    for number in range(1, len(tokens)):
        token, before = tokens[number], tokens[number - 1]
        supported = number > 1 and before.lower in NEGATIONS and tokens[number - 2].lower in DO
        if supported and token.tag in ("VBD", "VBN"):
            tokens[number] = token.with_tag("VB")  # "didn't wanted"
            continue
        if token.tag not in ("VBN", "NN", "VBP", "VB", "JJ", "JJR") or not is_verb_form(token.lower, "VBD"):
            continue
        follows = tokens[number + 1].tag if number + 1 < len(tokens) else "."
        living_noun = before.tag == "NN" and before.lower in living
        opening = (
            living_noun and tokens[0].tag == "DT" and all(t.tag.startswith(("JJ", "NN")) for t in tokens[1:number])
        )
        somebody = before.tag == "NNP" or (living_noun and (bare or follows in ("DT", "NNP", "PRP", "PRP$", "RP")))
        only_past = not is_verb_form(token.lower, "VBN") and set(readings(token.lower)) == {"VERB"}  # "mistook"
        somebody = somebody or (only_past and before.tag.startswith("NN"))
        somebody = somebody or (bare and before.tag.startswith("NN") and not is_verb_form(token.lower, "VBN"))  # "ran"
        opens = max((n for n in range(number) if tokens[n].lower in SUBORDINATORS), default=0)
        finite = [earlier.lower for earlier in tokens[opens:number] if earlier.tag in FINITE]
        auxiliary = bool(finite) and finite[-1] in _BEFORE_PARTICIPLES
        verbs = [earlier for earlier in tokens[:number] if earlier.tag.startswith("VB")]
        joined = before.lower == "and" and bool(verbs) and verbs[-1].tag == "VBD"
        somebody = somebody or (opening and token.tag != "NN")  # "The robot sprayed oil"
        objects = ("NN", *_OBJECTS) if opening else _OBJECTS
        if follows in objects and (somebody or joined) and not auxiliary:
            tokens[number] = token.with_tag("VBD")
            bare = False
        elif number > 2 and before.tag in ("IN", "RP") and tokens[0].tag == "DT":
            stranded = tokens[number - 2].lower in BE and tokens[number - 3].tag == "NNP"
            if stranded and follows in ("NN", "VBG", *_OBJECTS):  # "the can Jerry was in started moving"
                tokens[number] = token.with_tag("VBD")


def _repair_living(tokens: list[Token], living: Container[str]) -> None:
    """Tag living beings as nouns if they were mistaken for verbs, as in "the baby duck shook"."""
    for number in range(1, len(tokens)):
        token, before = tokens[number], tokens[number - 1]
        follows = tokens[number + 1].lower if number + 1 < len(tokens) else ""
        acts = token.tag == "JJ" and token.lower in living and is_verb_form(follows, "VBD")  # "the bear heard"
        if token.tag not in ("VB", "VBP", "VBZ") and not acts:
            continue
        held = before.tag in ("DT", "JJ", "PRP$") or (before.tag == "NN" and before.lower in living)
        if held and token.lower in living:
            tokens[number] = token.with_tag("NN")
        elif number > 1 and before.tag not in FINITE and tokens[number - 2].tag.startswith("NN"):
            past = is_verb_form(before.lower, "VBD") and not is_verb_form(before.lower, "VB")
            if past and before.tag != "VBG" and "NOUN" in readings(token.lower):
                tokens[number] = token.with_tag("NNS" if token.tag == "VBZ" else "NN")
                tokens[number - 1] = before.with_tag("VBD")
