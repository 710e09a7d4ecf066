"""Add words that carry no new information: adverbs, an irrelevant opening, or a proverb.

Source: Schiappa et al. 2022 (arXiv 2207.02159), section 3.2, appendix A.2 and Table 6.
"""

from __future__ import annotations

import numpy as np

from ...language.inflection import is_verb_form, noun_lemma, verb_lemma
from ...language.lexicon import words
from ...language.words import Caption, without_capital
from .result import Unchanged
from .tables import read_table

GENERAL_SHARE = 0.4  # share of verbs that receive an adverb which is compatible with any verb
LONG = 10  # minimum number of tokens for appending a proverb
_BE = ("be", "is", "are", "was", "were", "been", "being", "am", "'s", "'re", "'m", "s", "re", "m")
_SKIPPED = ("RB", "RBR", "PRP", "EX")  # words between an auxiliary and its verb: "is not riding", "is she riding"
_LOST = ("isn", "aren", "wasn", "weren", "doesn", "don", "didn", "hasn", "haven", "hadn", "won", "couldn")  # "wasn t"
_NOT = ("not", "n't")
_LOOSE = (*_NOT, "then", "also", "now", "there", "here", "again", "later", "next", "soon", "once", "so", "too")
_NAMED = ("name", "call", "title", "entitle", "dub")  # "a lady named lizzy" has no description
_FRIED = ("deep", "pan", "stir", "shallow", "air")  # "deep fry" is one verb
_OPENERS = ("DT", "PRP$", "POS", "JJ", "CD", "IN", "CC", "TO", "VB", "VBG", "VBZ", "VBP", "VBD")  # before a noun phrase
_FUTURE = ("going", "used", "supposed", "able", "about")  # "is going to skin": one adverb, before "skin"


def insert_adv(caption: Caption, rng: np.random.Generator) -> str | Unchanged:
    """Insert an adverb before every verb: "a little girl specifically does gymnastics".

    Reference:
        Appendix A.2, "InsertAdv". Unlike there, adverbs follow auxiliaries ("is calmly riding") and the main verb "be"
        ("is clearly in the kitchen"). No adverb is added to verbs that are next to an adverb in -ly, or to participles
        that are part of a name ("frying pan") or precede their noun ("chopped onions").
    """
    table = read_table("add_text")
    general, action = list(table["general"]["rows"]), list(table["action"]["rows"])
    rng.shuffle(general)
    rng.shuffle(action)
    places: dict[int, str] = {}
    order = caption.style == "imperative"
    acting = order or _names_somebody(caption)
    for number, state in _verbs(caption):
        after_to = number > 0 and caption.tokens[number - 1].tag == "TO"
        purpose = order or after_to  # "to calmly eat", not "to clearly eat"
        drawn = general if state or (not purpose and (not acting or rng.random() < GENERAL_SHARE)) else action
        if not drawn:
            break
        places[number] = drawn.pop()
    if not places:
        return Unchanged("no verb" if not caption.tagged("VB") else "no verb that can take an adverb")
    return caption.edit({}, places)


def append_irr(caption: Caption, rng: np.random.Generator) -> str | Unchanged:
    """Prepend an irrelevant opening to a caption. If the caption has 10 or more tokens, also append a proverb.

    Reference:
        Appendix A.2, "AppendIrr"; "On this occasion, a little girl does gymnastics" in Table 6. As in the paper, the
        opening is capitalized even before a lower-case caption. The proverb is a separate sentence, so a missing full
        stop is added.
    """
    if not caption.words:
        return Unchanged("no word")
    table = read_table("add_text")
    openings, proverbs = table["openings"]["rows"], table["proverbs"]["rows"]
    opening = openings[int(rng.integers(len(openings)))]
    proverb = proverbs[int(rng.integers(len(proverbs)))]
    first = caption.tokens[0]
    text = f"{opening}, {without_capital(first)}{caption.text[first.end :]}".rstrip()
    if len(caption.tokens) < LONG:
        return text
    ended = text.rstrip("\"'”’)]").endswith((".", "!", "?", "…"))
    stopped = text if ended else text.rstrip(" ,;:-–—") + "."
    return f"{stopped} {proverb}."


def _names_somebody(caption: Caption) -> bool:
    """Return whether the caption mentions a person, as adverbs such as "calmly" only describe people."""
    somebody = words("people") - {"it"} | words("he") | words("she")
    return any(
        token.tag == "NNP" or token.lower in somebody or noun_lemma(token.lower) in somebody for token in caption.tokens
    )


def _verbs(caption: Caption) -> list[tuple[int, bool]]:
    tokens = caption.tokens
    states = frozenset(read_table("add_text")["states"]["rows"])
    order = caption.style == "imperative"
    found: list[tuple[int, bool]] = []
    for number, token in enumerate(tokens):
        if not token.tag.startswith("VB") or not token.text[:1].isalpha() or token.lower in _LOST:
            continue
        place, state = number, verb_lemma(token.lower) in states
        if token.lower in _BE:
            behind = _copula(caption, number)
            if behind is None:
                continue
            place, state = behind, True
        elif (
            _is_auxiliary(caption, number)
            or _disagrees(caption, number)
            or _is_name(caption, number)
            or _is_attribute(caption, number)
            or _is_description(caption, number)
        ):
            continue
        if token.lower in ("fry", "fried", "fries", "frying") and number and tokens[number - 1].lower in _FRIED:
            place = number - 1
        if token.tag in ("VBN", "VBD") and not (order and is_verb_form(token.lower, "VB")):  # "and put in a bowl"
            state = state or token.tag == "VBN"
        joined = number > 0 and tokens[number - 1].tag.startswith("VB") and tokens[number - 1].lower not in _BE
        chained = joined and any(other == number - 1 for other, _ in found)  # "enjoy eating": one adverb
        if not chained and not _has_adverb(caption, place) and all(place != other for other, _ in found):
            found.append((place, state))
    return found


def _disagrees(caption: Caption, number: int) -> bool:
    """Return whether a plural verb form after a singular noun is actually a noun: "their man cave"."""
    tokens = caption.tokens
    if number < 2 or tokens[number].tag not in ("VB", "VBP") or caption.style == "imperative":
        return False
    one = tokens[number - 2].lower in ("a", "an", "another", "one") and tokens[number - 1].tag == "NNS"
    lone = tokens[number - 1].tag == "NN" and tokens[number - 1].lower not in words("plural_words")
    return one or (lone and tokens[number - 2].tag in ("DT", "PRP$", "JJ", "CD"))


def _copula(caption: Caption, number: int) -> int | None:
    """Return the position after the main verb "be", or None if "be" is an auxiliary or the position is uncertain."""
    tokens = caption.tokens
    after = number + 1
    if tokens[number].tag not in ("VBZ", "VBP", "VBD") or (number and tokens[number - 1].tag in ("WRB", "WP", "MD")):
        return None
    while after < len(tokens) and (tokens[after].tag == "RB" or tokens[after].lower in _NOT):
        after += 1
    if after == len(tokens) or not tokens[after].is_word or tokens[after].tag.startswith(("VB", "PRP", "EX", "CC")):
        return None
    if tokens[after].tag.startswith(("IN", "DT", "JJ", "CD", "PRP$", "RP")):
        return after
    return after if tokens[after].tag in ("NN", "NNS") else None


def _is_auxiliary(caption: Caption, number: int) -> bool:
    """Return whether "have", "do" or "going to" is an auxiliary, as in "has eaten" and "is going to skin"."""
    tokens = caption.tokens
    lower = tokens[number].lower
    after = number + 1
    while after < len(tokens) and (tokens[after].tag in _SKIPPED or tokens[after].lower in _NOT):
        after += 1
    following = tokens[after] if after < len(tokens) else None
    if following is None:
        return False
    if lower in ("have", "has", "had", "having"):
        return following.tag in ("VBN", "VBD") or (following.tag == "TO" and after == number + 1)
    if lower in ("do", "does", "did"):
        return following.tag in ("VB", "VBP") and (after > number + 1 or tokens[number].tag != "VB")
    if lower == "let":
        return following.lower == "'s"
    return (
        lower in _FUTURE
        and following.tag == "TO"
        and after == number + 1
        and caption.tag_at(after + 1).startswith("VB")
    )


def _is_name(caption: Caption, number: int) -> bool:
    """Return whether a participle is part of a name, as in "frying pan" and "video gaming channel"."""
    tokens = caption.tokens
    following = tokens[number + 1].lower if number + 1 < len(tokens) else ""
    compounds, before = read_table("add_text")["compounds"], tokens[number - 1].lower if number else ""
    compound = tokens[number].lower in compounds["gerunds"] and following in compounds["heads"] and before not in _BE
    return compound or f"{tokens[number].lower} {following}" in read_table("add_text")["names"]["rows"]


def _is_attribute(caption: Caption, number: int) -> bool:
    tokens = caption.tokens
    tag = tokens[number].tag
    if tag not in ("VBG", "VBN", "VBD") and not (tag == "VB" and number and tokens[number - 1].tag in ("DT", "JJ")):
        return False
    before = tokens[number - 1].tag if number else ""
    after = number + 1
    while after < len(tokens) and tokens[after].tag in ("JJ", "VBN", "VBG"):
        after += 1
    noun = after < len(tokens) and tokens[after].tag.startswith("NN")
    if before in ("DT", "PRP$", "POS") or before.startswith("JJ"):
        return True  # "a talking", "her dancing": a noun, or followed by one
    if before.startswith("NN") and tag == "VBG" and tokens[number - 1].lower not in words("people"):
        followed = after == number + 1 and noun
        return followed and (number < 2 or tokens[number - 2].tag in _OPENERS)  # "an ill fitting suit"
    compound = tag == "VBN" and before.startswith("NN") and verb_lemma(tokens[number].lower) not in _NAMED
    if before == "CD" or compound:
        return noun  # "two running dogs", "snow covered ground", "oil chopped onion" in lists of recipes
    if tag == "VBG":
        return False
    joined = before in ("IN", "CC", "TO", "VB", "VBG", "VBZ", "VBP", ",") or not before
    helped = number > 0 and tokens[number - 1].lower in (*_BE, "have", "has", "had", "get", "gets", "getting", "got")
    return noun and joined and not helped


def _is_description(caption: Caption, number: int) -> bool:
    """Return whether a participle is used as an adjective, as in "too tired" and "any tea left"."""
    tokens = caption.tokens
    if tokens[number].tag not in ("VBN", "VBD") or not number:
        return False
    before = tokens[number - 1]
    rest = tokens[number].lower == "left" and number > 1 and tokens[number - 2].lower in ("any", "some", "no", "much")
    return before.lower in ("too", "so", "very", "how") or (rest and before.tag.startswith("NN"))


def _has_adverb(caption: Caption, place: int) -> bool:
    """Return whether the verb already has an adverb, as in "slowly walks" and "walks quickly"."""
    tokens = caption.tokens
    before = tokens[place - 1] if place else None
    if before is not None and before.tag.startswith("RB") and before.lower not in _LOOSE:
        return True
    near = tokens[place : place + 2]
    return any(token.lower.endswith("ly") and token.tag.startswith("RB") for token in near)
