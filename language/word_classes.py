"""Word classes for perturbations that need the class of each word but no clause structure.

The clause rules (passive, tense) leave a doubtful word as a noun, so that they do not rewrite it. The corrections here
classify such words by form and context.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from .closed_classes import AUXILIARIES, BE, CLOSED, NOT_NOUNS
from .inflection import is_plural_noun, is_verb_form, readings, verb_lemma
from .lexicon import word_lists
from .lexicon import words as words_of
from .tag_repairs.context import third_person
from .words import Caption

LISTS = word_lists("word_classes")
_DETERMINED = ("DT", "PRP$", "POS")
_OBJECTS = ("DT", "PRP", "PRP$")
_GOES_ON = (*_OBJECTS, "IN", "RP", "RB", "TO", "CC", "CD", ".", ",", "")


@lru_cache(maxsize=1 << 14)
def with_classes(caption: Caption) -> Caption:
    """Return the caption with corrected word classes."""
    words, tags = [token.lower for token in caption.tokens], [token.tag for token in caption.tokens]
    order = caption.style == "imperative"
    for number, token in enumerate(caption.tokens):
        named = tags[number].startswith("NNP") and token.text[:1].isupper()
        fixed = words[number] in AUXILIARIES or words[number] in CLOSED or not token.text.isalpha()
        if fixed or (named and (not token.text.isupper() or len(token.text) == 1)):
            continue
        if tags[number].startswith("NN"):
            tags[number] = _class_of_noun(words, tags, number, order) or tags[number]
        elif tags[number].startswith("VB"):
            if _is_thing(words, tags, number):
                tags[number] = "NNS" if tags[number] == "VBZ" else "NN"
            elif not {"VERB", "AUX"} & set(readings(words[number])) and words[number] in ("else", "quite"):
                tags[number] = "RB"
        elif tags[number].startswith(("JJ", "RB", "IN")):
            tags[number] = _class_of_modifier(words, tags, number, order) or tags[number]
    tokens = tuple(token.with_tag(tag) for token, tag in zip(caption.tokens, tags, strict=True))
    return Caption(caption.text, tokens, caption.style)


def _class_of_noun(words: Sequence[str], tags: Sequence[str], number: int, order: bool) -> str:
    """Return the tag of a word that is mistagged as a noun; "" if it is a noun."""
    word, known = words[number], readings(words[number])
    before, held = (tags[number - 1], words[number - 1]) if number else ("", "")
    after, follows = (tags[number + 1], words[number + 1]) if number + 1 < len(words) else ("", "")
    noun_follows = after.startswith("NN")
    if word in LISTS.peoples and noun_follows:
        return "JJ"
    if word == "ground" and (noun_follows or held == "freshly"):
        return "VBN"
    if not known or word in LISTS.nouns_too:
        return ""
    if is_verb_form(word, "VBG") and _is_doing(words, tags, number, before, held, after):
        return "VBG"
    if not {"NOUN", "PROPN"} & set(known):
        if "VERB" in known:
            return _class_of_verb(word, before, held, after)
        if before in _DETERMINED and not noun_follows and after != "JJ":
            return ""
        return "JJ" if "ADJ" in known and (noun_follows or "ADV" not in known or held in BE) else "RB"
    if (word in words_of("colours") or word in ("sweet", "dark")) and noun_follows:
        return "JJ"
    if word in LISTS.states and not noun_follows and "ADJ" in known and before not in _DETERMINED:
        verbs = [verb_lemma(words[place]) for place in range(max(number - 3, 0), number)]
        if verbs and (verbs[-1] in LISTS.linking or held in ("until", "till", "very", "so", "too")):
            return "JJ"
        return "JJ" if before.startswith("NN") and {"keep", "make"} & set(verbs) else ""
    if word == "full" and follows == "of":
        return "JJ"
    if word == "left" and held in ("and", "then", ",") and after in (".", ""):
        return "VBD"
    return _class_of_action(words, tags, number, order)


def _class_of_modifier(words: Sequence[str], tags: Sequence[str], number: int, order: bool) -> str:
    """Return the tag of a noun or verb that is mistagged as an adjective, adverb or preposition; "" for other words."""
    word, known = words[number], set(readings(words[number]))
    before, held = (tags[number - 1], words[number - 1]) if number else ("", "")
    after = tags[number + 1] if number + 1 < len(words) else ""
    follows = _follows(words, number)
    if (word == "cleaner" and held == "vacuum") or (word == "top" and before.startswith("NN")) or word == "google":
        return "NN"
    if word == "light" and follows in ("switch", "switches", "bulb", "bulbs", "fixture", "fixtures"):
        return "NN"
    if word in ("interior", "back", "outside", "exterior", "opposite") and held in ("the", "its") and follows == "of":
        return "NN"
    if word in LISTS.alone:
        alone = before in ("DT", "PRP$") and not after.startswith(("NN", "JJ", "CD", "VBG"))
        return "NN" if alone and (after != "CC" or word in ("remote", "net", "commercial")) else ""
    if not known or not known <= {"NOUN", "VERB"} or word in ("like", "bit", "till", "that") or word in NOT_NOUNS:
        return ""
    if word.endswith(("ing", "ed")):
        return ""
    if known == {"VERB"}:
        return "VB" if is_verb_form(word, "VB") and before not in (*_DETERMINED, "VB", "VBZ") else ""
    if order and word in LISTS.cooking and follows in LISTS.after_cooking:
        return "VB"
    if "VERB" in known and is_verb_form(word, "VBZ") and held in words_of("people") and after in _OBJECTS:
        return "VBZ"
    if third_person(word) in words_of("verb_s") and after in ("VBG", *_OBJECTS) and is_verb_form(word, "VB"):
        return "VB"  # "and start running"
    return "NNS" if is_plural_noun(word) else "NN"


def _follows(words: Sequence[str], number: int) -> str:
    return words[number + 1] if number + 1 < len(words) else ""


def _class_of_verb(word: str, before: str, held: str, after: str) -> str:
    """Return the tag of a word that the dictionary lists as a verb or adjective but not as a noun."""
    noun_follows, acts = after.startswith("NN"), third_person(word) in words_of("verb_s")
    if is_verb_form(word, "VBG"):
        joined = before.startswith("NN") or before in ("PRP", ",", "CC", "RB")
        joined = joined or verb_lemma(held) in ("start", "begin", "stop", "keep", "continue")
        return "VBG" if joined and not noun_follows else ""
    if before in _DETERMINED:
        return "JJ" if noun_follows and "ADJ" in readings(word) else ""
    if ("ADJ" in readings(word) or word == "shut") and after not in _OBJECTS:
        return "JJ"
    if is_verb_form(word, "VB"):
        return "" if not acts and (before == "JJ" or noun_follows) else "VB"
    if is_verb_form(word, "VBZ"):
        return "VBZ" if before != "IN" or held == "as" else ""
    passive = held in BE or held in ("have", "has", "had") or not is_verb_form(word, "VBD")
    return "VBN" if passive or noun_follows else "VBD"


def _class_of_action(words: Sequence[str], tags: Sequence[str], number: int, order: bool) -> str:
    """Return the tag of a noun or verb in a position where only a verb is possible; "" if it is a noun."""
    word = words[number]
    third = third_person(word)
    before, held = (tags[number - 1], words[number - 1]) if number else ("", "")
    after, follows = (tags[number + 1], words[number + 1]) if number + 1 < len(words) else ("", "")
    if held == "then" and after in _OBJECTS and is_verb_form(word, "VBZ"):
        return "VBZ"  # "then places it on a desk"
    if before == "TO" and after == "CC" and not order and is_verb_form(word, "VB"):
        return "" if word in words_of("order_nouns") else "VB"  # "to trap and catch it"
    listed = third in words_of("verb_s") and third not in words_of("noun_s")
    verbal = any(tag.startswith(("VB", "MD")) for tag in tags[:number])
    joined = before in (",", ":") or held in ("then", "they") or (before == "CC" and verbal)
    if is_verb_form(word, "VB") and _is_base(words, tags, number, order):
        return "VB"
    if "VERB" not in readings(word) or not (listed or word in LISTS.leaves or word in LISTS.cooking):
        return ""
    if is_verb_form(word, "VB"):
        if (
            order
            and word in LISTS.cooking
            and follows in LISTS.after_cooking
            and before not in (*_DETERMINED, "IN", "CC")
        ):
            return "VB"
        if joined and (after in _OBJECTS or after == "RP" or follows in words_of("particles")):
            return "VB"
        if joined and word in LISTS.leaves and after in ("IN", "TO", ".", "", "CC", ","):
            return "VB"
        somebody = before in ("NNP", "PRP")
        led = number > 1 and verb_lemma(words[number - 2]) in LISTS.with_verb
        return "VB" if somebody and led and after in _GOES_ON else ""
    if not is_verb_form(word, "VBZ") or follows == "of" or after not in _GOES_ON:
        return ""
    subject = held in words_of("people") and before == "NN"
    opening = not number and (after in ("IN", "RP", "TO", *_OBJECTS) or follows in words_of("particles"))
    return "VBZ" if joined or subject or opening or held in ("that", "who", "which", "another") else ""


def _is_doing(words: Sequence[str], tags: Sequence[str], number: int, before: str, held: str, after: str) -> bool:
    """Return whether an -ing form tagged as a noun is a participle: "is opening up a box", "while cleaning"."""
    if held in BE and after in (*_OBJECTS, "RP"):
        return True
    if after in _OBJECTS and (before == "IN" or before.startswith("VB")):
        return True  # "talking about opening a box", "tries opening a box"
    acts = third_person(verb_lemma(words[number])) in words_of("verb_s") - {"bakes", "cooks"} | {"cleans"}
    return acts and after.startswith("NN") and (held == "while" or (before == "CC" and "VBG" in tags[:number]))


def _is_base(words: Sequence[str], tags: Sequence[str], number: int, order: bool) -> bool:
    """Return whether the context requires a base form to be a verb, regardless of its meaning."""
    word, third = words[number], third_person(words[number])
    before, held = (tags[number - 1], words[number - 1]) if number else ("", "")
    after, follows = (tags[number + 1] if number + 1 < len(tags) else ""), _follows(words, number)
    if order and follows in ("it", "them") and before not in _DETERMINED:
        return True  # "take the mixture roll it"
    if order and before == "CC" and (follows == "the" or (after == "TO" and third in words_of("verb_s"))):
        return True
    if before == "TO" and after.startswith("NNP"):
        return True  # "to spray Jerry"
    if held in ("go", "come") and follows in words_of("particles"):
        return True  # "they go turn off the light"
    if before == "," and word in LISTS.handling and after.startswith("NN"):
        return True
    verbs = {verb_lemma(words[place]) for place in range(max(number - 4, 0), number)}
    named = number > 1 and verb_lemma(words[number - 2]) in LISTS.with_verb and third in words_of("verb_s")
    if before.startswith("NN") and named and after.startswith("NN") and held not in words_of("people"):
        return True  # "made tom bite tom's tail"
    led = before.startswith("NN") and bool(verbs & LISTS.with_verb) and word in LISTS.motions
    return led and after in ("IN", "RP", ".", "", "CC", "RB")


def _is_thing(words: Sequence[str], tags: Sequence[str], number: int) -> bool:
    """Return whether an apparent verb is a noun: "transfer to bowl", "garlic powder and pepper"."""
    word, tag = words[number], tags[number]
    before = tags[number - 1] if number else ""
    after = tags[number + 1] if number + 1 < len(words) else ""
    if word == "lightning":
        return True
    if (
        tag == "VBZ"
        and before in ("VB", "VBD", "VBG", "VBP")
        and is_plural_noun(word)
        and words[number - 1] not in AUXILIARIES
    ):
        return True  # "heard plates crashing"
    if (
        tag == "VBG"
        and before.startswith("NN")
        and word in LISTS.works
        and after in ("VBD", "VBZ", "MD", "TO", "VBG", "CC")
    ):
        return True  # "the cat drawing saw"
    if tag == "VBG" and before == "DT" and _follows(words, number) == "of":
        return True  # "the making of a film"
    determined = before in _DETERMINED or (before == "IN" and after not in ("DT", "PRP", "PRP$"))
    determined = determined or (before == "JJ" and after in ("CC", ".", ""))  # "in plastic wrap and chill"
    if determined and tag in ("VB", "VBP") and "NOUN" in readings(word) and words[number - 1] != "that":
        return True  # "the king heard", "into bed under"
    between = before.startswith("NN") and after.startswith("NN") and third_person(word) not in words_of("verb_s")
    if between and tag == "VBP" and "NOUN" in readings(word):
        return True  # "sports vine clips"
    thing = word in words_of("order_nouns") or word in ("closet", "plate", "skillet", "fridge")
    if not thing or tag not in ("VB", "VBP") or after in _OBJECTS or "NOUN" not in readings(word):
        return False
    return before == "TO" or (before.startswith("NN") and tag == "VBP")
