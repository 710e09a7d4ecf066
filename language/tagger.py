"""Parts of speech: NLTK's tagger where its data is found, else Pattern's from the textblob wheel; repairs for captions.

Both are general taggers of running text. Captions are not that: small letters, no final stop, orders, headlines. The
repairs are rules on what the taggers get wrong there; they use which readings a word can have at all (`inflection`).
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Literal, cast

from ..errors import InputError
from ..extras import import_extra
from .inflection import Tag, can_be_verb, inflect, is_only_verb, is_plural_noun, is_verb_form, readings, verb_lemma
from .lexicon import words as words_of
from .words import Caption, Style, Token, sentence_ranges, tokenize

NLTK_DATA = "taggers/averaged_perceptron_tagger_eng"
AUXILIARIES = {
    **dict.fromkeys(("is", "'s", "has", "does"), "VBZ"),
    **dict.fromkeys(("are", "am", "have", "do", "'re", "'ve", "'m"), "VBP"),
    **dict.fromkeys(("was", "were", "had", "did"), "VBD"),
    **dict.fromkeys(
        ("will", "would", "can", "could", "shall", "should", "may", "might", "must", "ca", "wo", "'ll", "cannot"), "MD"
    ),
}
CLOSED = {
    **dict.fromkeys(("a", "an", "the", "this", "these", "those", "each", "every", "another", "some"), "DT"),
    **dict.fromkeys(("i", "you", "he", "she", "it", "we", "they", "me", "him", "us", "them"), "PRP"),
    **dict.fromkeys(("himself", "herself", "itself", "themselves", "yourself", "myself"), "PRP"),
    **dict.fromkeys(("my", "your", "his", "its", "our", "their"), "PRP$"),
    **dict.fromkeys(("and", "or", "but", "nor"), "CC"),
    **dict.fromkeys(
        ("of", "into", "onto", "with", "from", "at", "towards", "toward", "while", "during", "among"), "IN"
    ),
    **dict.fromkeys(("until", "till", "because", "if", "although", "unless", "whether"), "IN"),
    **dict.fromkeys(("when", "where", "why"), "WRB"),
    **dict.fromkeys(("who", "whom"), "WP"),
    "which": "WDT",
    **dict.fromkeys(("not", "n't", "n’t"), "RB"),
    "be": "VB",
    "been": "VBN",
    "being": "VBG",
    "to": "TO",
}
# Without the apostrophe: "wasn t".
NEGATED = {
    **dict.fromkeys(("isn", "doesn", "hasn"), "VBZ"),
    **dict.fromkeys(("aren", "don", "haven"), "VBP"),
    **dict.fromkeys(("wasn", "weren", "didn", "hadn"), "VBD"),
    **dict.fromkeys(("couldn", "wouldn", "shouldn", "won", "can", "mustn"), "MD"),
}
BE_FORMS = frozenset(("be", "is", "are", "am", "was", "were", "been", "being", "'re", "'m", "'s"))
PLURALS = frozenset(("people", "men", "women", "children", "feet", "teeth", "clothes", "pants", "jeans", "scissors"))
PLURAL_SUBJECTS = frozenset(("they", "we", "you", "i", "people", "men", "women", "children", "some", "many", "others"))
COLOURS = frozenset(("green", "red", "black", "white", "brown", "yellow", "orange", "half", "spring", "chili"))
FINITE = ("VBZ", "VBP", "VBD", "MD")
_NOMINAL = ("NN", "PRP", "CD", "EX", "WP", "WDT")
StyleOption = Literal["declarative", "imperative", "auto"]


@dataclass(frozen=True)
class Tagger:
    """Tags captions.

    Attributes:
        name: Which tagger and version, for records: equal names give equal tags.
        tag_words: Gives a tag for each word.
    """

    name: str
    tag_words: Callable[[Sequence[str]], list[str]]

    def analyse(self, text: str, style: StyleOption = "declarative") -> Caption:
        """Tokenise and tag a caption.

        Args:
            text: One sentence or more.
            style: What the data set's captions are. "declarative": statements, or noun phrases where there is no finite
                verb. "imperative": orders, unless a subject and its verb are found. "auto": an order only where it
                begins with a word that is nothing but a verb.
        """
        return _analysed(self, text, style)


@lru_cache(maxsize=1 << 15)
def _analysed(tagger: Tagger, text: str, style: StyleOption) -> Caption:
    tokens = tokenize(text)
    words = [token.text for token in tokens]
    found: list[Token] = []
    styles: list[Style] = []
    for sentence in sentence_ranges(tokens):
        part = words[sentence.start : sentence.stop]
        tags, kind = repaired(part, tagger.tag_words(part), style)
        found += [replace(tokens[number], tag=tag) for number, tag in zip(sentence, tags, strict=True)]
        styles.append(kind)
    first: Style = styles[0] if styles else "noun_phrase"
    return Caption(text, tuple(found), first)


def repaired(words: Sequence[str], tags: Sequence[str], style: StyleOption) -> tuple[list[str], Style]:
    """Mend the tags of one sentence and tell what it is."""
    lower = [word.lower().replace("’", "'") for word in words]
    mended = [CLOSED.get(word) or AUXILIARIES.get(word) or tag for word, tag in zip(lower, tags, strict=True)]
    _mend_cans(lower, tags, mended)
    _mend_closed(lower, mended)
    _mend_nouns(words, lower, mended)
    order = _is_order(lower, mended, style)
    if order:
        _tag_orders(lower, mended)
    _mend_verb_forms(lower, mended, order)
    _mend_participles(lower, mended)
    if order:
        _mend_things(lower, mended)
        for start, stop in _parts(lower, mended):
            if start > 0:
                _find_finite_verb(lower, mended, start, stop)
    else:
        _find_finite_verb(lower, mended, 0, len(lower))
    for number, word in enumerate(lower):
        if word == "her":
            follows = mended[number + 1][:2] if number + 1 < len(lower) else ""
            goes_on = follows in ("NN", "JJ", "CD", "VB") and lower[number + 1] not in AUXILIARIES
            verb = goes_on and mended[number + 1] in ("VB", "VBG", "VBZ", "VBD") and follows != "NN"
            mended[number] = "PRP$" if goes_on and not verb else "PRP"
    if order:
        return mended, "imperative"
    return mended, "declarative" if any(tag in FINITE for tag in mended) else "noun_phrase"


def _mend_closed(words: Sequence[str], tags: list[str]) -> None:
    """Tag clitics, "that", written-off apostrophes ("wasn t", "a man s hat"), marks, and what no closed class has."""
    acts = words_of("verb_s") - {"likes"}
    for number, word in enumerate(words):
        before = words[number - 1] if number else ""
        after = words[number + 1] if number + 1 < len(words) else ""
        if word in ("'s", "s") and before:  # "it's", but "the dog's bowl"
            pronoun = before in ("it", "he", "she", "that", "there", "what", "who", "here", "let")
            verb = (
                pronoun
                or (word == "s" and after.endswith("ing"))
                or (word == "'s" and after in ("a", "an", "the", "not", "being", "been"))
            )
            tags[number] = "VBZ" if verb else "POS"
        elif word == "t" and before in NEGATED:
            tags[number] = "RB"
        elif word in NEGATED and after == "t":
            tags[number] = NEGATED[word]
        elif word == "that":
            tags[number] = "WDT" if before and tags[number - 1].startswith("NN") else "IN"
            if tags[number] == "IN" and (not before or tags[number - 1] in ("IN", "TO", "CC") or not after):
                tags[number] = "DT"
        elif word == "like" and tags[number] not in ("VB", "VBP"):
            tags[number] = "IN"
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
        elif tags[number] in ("POS", "WRB", "WDT", "WP", "IN", "DT") and word not in CLOSED and _third(word) in acts:
            base = "NN" if number + 1 < len(tags) and tags[number + 1].startswith("NN") else "VB"
            tags[number] = "NNS" if word in acts else base  # no word of that class: "a person walks/WRB into"
        elif word[:1].isalnum() is False and len(word) == 1:
            tags[number] = "." if word in ".!?" else "," if word == "," else ":"


def _mend_cans(words: Sequence[str], tagged: Sequence[str], tags: list[str]) -> None:
    """Tag as a noun the "can" that things are in: behind an article or what cans are made of and for.

    "the trash can Jerry was on", "a metal can"; but "the metal can bend", "the cat can".
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


def _third(word: str) -> str:
    """Give the third person of a base form, and any other form as it is."""
    return inflect(word, "VBZ") if is_verb_form(word, "VB") else word


def _mend_nouns(words: Sequence[str], lower: Sequence[str], tags: list[str]) -> None:
    """Tag as nouns what the dictionary has as nouns only, and what stands behind an article or possessive as a verb."""
    for number, word in enumerate(lower):
        tag, before = tags[number], tags[number - 1] if number else ""
        if tag.startswith(("NN", "CD", "DT", "PRP", "W", "IN", "TO", "EX", "MD", "POS", "CC")) or word in AUXILIARIES:
            if tag == "NN" and word in PLURALS:
                tags[number] = "NNS"
            continue
        if word in PLURALS:
            tags[number] = "NNS"
            continue
        noun = "NNP" if words[number][:1].isupper() and number else "NNS" if is_plural_noun(word) else "NN"
        known = readings(word)
        if word in CLOSED or not word[:1].isalpha():
            continue
        follows = tags[number + 1][:2] if number + 1 < len(tags) else ""
        if tag == "JJ" and before in ("NN", "NNP") and "NOUN" in known and follows in ("", "IN", "VB", "."):
            tags[number] = noun if word not in COLOURS else tag  # "a photoshop tutorial"
            continue
        nothing_else = set(known) in ({"NOUN"}, {"NOUN", "PROPN"}, {"PROPN"}) and tag[:2] in ("VB", "JJ", "RB")
        base_after_article = (
            tag in ("VB", "VBP", "VBZ") and before in ("DT", "PRP$", "POS") and lower[number - 1] != "that"
        )
        unknown = not known and tag in ("VB", "VBP") and before != "TO"
        if nothing_else or unknown or (base_after_article and "NOUN" in known):
            tags[number] = noun


def _mend_verb_forms(words: Sequence[str], tags: list[str], order: bool) -> None:
    """Make the tags of verbs fit their forms and their auxiliaries."""
    for number, word in enumerate(words):
        tag, before = tags[number], _before(tags, number)
        held = words[before] if before >= 0 else ""
        after = tags[number + 1] if number + 1 < len(tags) else ""
        if word in PLURALS:
            continue
        if word in AUXILIARIES or word in CLOSED or not word[:1].isalpha() or (word in NEGATED and after == "RB"):
            if held and tags[before] in ("TO", "MD") and word in ("have", "do") and tags[number] == "VBP":
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
            and ("NOUN" in readings(word) and not _coordinated(tags, 0, number - 1))
        ):
            tags[number] = "NN"  # "a tv talk show"
        elif tag == "VB" and not order and before >= 0 and not _licensed(words, tags, number):
            tags[number] = "VBP" if tags[before].startswith(("NN", "PRP", "CC", "WDT", "WP")) else "NN"


def _is_past(word: str, tag: str, after: str) -> bool:
    """Tell whether a word behind "had" is a past form: one that is nothing else, or has what a verb has behind it."""
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


def _before(tags: Sequence[str], number: int) -> int:
    """Find the word before, adverbs left out; -1 if there is none."""
    number -= 1
    while number >= 0 and tags[number] == "RB":
        number -= 1
    return number


def _licensed(words: Sequence[str], tags: Sequence[str], number: int) -> bool:
    """Tell whether a base form can stand here: an order, or behind "to", "let", "makes the girl"."""
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


def _mend_participles(words: Sequence[str], tags: list[str]) -> None:
    """Tag forms in -ing that take an object or stand behind "is", a person or an animal as participles."""
    people = words_of("people")
    for number, word in enumerate(words):
        after = tags[number + 1] if number + 1 < len(tags) else ""
        before = _before(tags, number)
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
            if loose or (second and _has_finite(words, tags, number)):
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
    """Tell whether a form in -ing is what somebody does behind a whole phrase: "at a table drinking coffee"."""
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
    thing = after.startswith("NN") and _third(verb_lemma(words[number])) in words_of("verb_s") and last[:2] != "NN"
    somebody = any(word in words_of("people") for word in words[:start])
    return whole and determined and somebody and (thing or after in ("", ".", ",", "IN", "CC", "RB", "TO"))


def _is_order(words: Sequence[str], tags: Sequence[str], style: StyleOption) -> bool:
    start = _first_word(words, tags)
    if style == "declarative" or start is None:
        return False
    first = words[start]
    if (first in AUXILIARIES and first not in ("do", "have")) or not is_verb_form(first, "VB"):
        return (
            style == "imperative"
            and first in words_of("joining")
            and any(tags[n - 1] == "," and is_verb_form(words[n], "VB") for n in range(start + 2, len(words)))
        )
    return style == "imperative" or is_only_verb(first)


def _first_word(words: Sequence[str], tags: Sequence[str]) -> int | None:
    """Find the first word that is not an adverb such as "finely" or "then"; a mistagged verb is none."""
    for number, word in enumerate(words):
        if (
            not word[:1].isalpha()
            or tags[number] == "CC"
            or word in ("then", "next", "now", "lastly", "finally", "first")
        ):
            continue
        if tags[number] == "RB" and not (is_verb_form(word, "VB") and word in words_of("order_verbs") | {"add"}):
            continue
        if word in ("deep", "pan", "stir", "pressure") and words[number + 1 : number + 2] in (["fry"], ["cook"]):
            continue
        return number
    return None


def _tag_orders(words: Sequence[str], tags: list[str]) -> None:
    """Tag the verbs of orders.

    The first word; behind "and", a comma or "then" what is mostly a verb ("and mix"), or what has an object with an
    article or a pronoun ("and butter the bread"); with no joining word only where both hold ("in a pan add
    the onions").
    """
    verbs, things = words_of("order_verbs"), words_of("order_nouns")
    first = _first_word(words, tags)
    opening = True
    negated = False
    for number, word in enumerate(words):
        follows = tags[number + 1] if number + 1 < len(tags) else ""
        if tags[number] in (",", "CC", ":") or word in ("then", "to"):
            opening = word != "to"
            continue
        if word in ("do", "don") and number + 1 < len(words) and words[number + 1] in ("not", "n't", "t"):
            tags[number], negated = "VB", True
            continue
        if tags[number] == "RB" and number != first and word not in verbs:
            continue
        if word in words_of("joining") and number != first and tags[number] in ("IN", "WRB", "WDT", "WP"):
            opening = False
            continue
        if (
            word in ("deep", "pan", "stir", "pressure")
            and number + 1 < len(words)
            and words[number + 1] in ("fry", "cook")
            and opening
        ):
            tags[number] = {"deep": "RB", "stir": "VB"}.get(word, "NN")
            tags[number + 1] = "VB"
            continue
        base = is_verb_form(word, "VB") and word not in CLOSED and word not in AUXILIARIES
        objects = follows in ("DT", "PRP", "PRP$")
        if base and (opening or negated) and (tags[number] != "VBN" or number == first):
            strong = word in verbs and not (follows.startswith("NN") and word in ("ground", "dry", "chili", "paste"))
            modifier = word in ("dry", "top", "set") and follows.startswith(("NN", "JJ"))
            if number == first or (not modifier and (strong or is_only_verb(word) or objects)):
                tags[number] = "VB"
        elif (
            base
            and number
            and tags[number - 1] not in ("DT", "PRP$", "IN", "TO", "CD", "POS")
            and tags[number] != "VBN"
        ):
            if (objects and word in verbs and word not in things) or (is_only_verb(word) and word in verbs):
                tags[number] = "VB"
        elif tags[number] == "VB" and tags[number - 1] in ("IN", "DT", "JJ", "CD", "PRP$") and number:
            tags[number] = "NN"
        opening = negated = False


def _mend_things(words: Sequence[str], tags: list[str]) -> None:
    """Tag in orders what is no verb there: "chopped" before a noun, "ginger", "leaves"; not behind "until"."""
    inside = [number for start, stop in _parts(words, tags) if start == 0 for number in range(start, stop)]
    for number in inside:
        word, tag = words[number], tags[number]
        if word in AUXILIARIES or word in BE_FORMS or not word[:1].isalpha():
            continue
        before = _before(tags, number)
        subject = (
            before >= 0 and tags[before] == "PRP" and words[before] in ("you", "they", "we", "i", "it", "he", "she")
        )
        if tag == "VBD" and is_verb_form(word, "VBN") and not subject:
            tags[number] = "VBN"
        elif tag in ("VBZ", "VBP") and not subject and "NOUN" in readings(word):
            tags[number] = "NNS" if is_plural_noun(word) else "NN"
        elif tag == "JJ" and word in words_of("order_nouns") and word not in COLOURS and word != "ground":
            tags[number] = "NN"


def _parts(words: Sequence[str], tags: Sequence[str]) -> list[tuple[int, int]]:
    """Divide an order into itself and what stands behind "until", "when", "that" and the like."""
    starts = [
        number
        for number, word in enumerate(words)
        if word in ("until", "till", "when", "while", "if", "as", "that", "which", "because", "once", "so")
        and tags[number] in ("IN", "WRB", "WDT", "RB")
    ]
    edges = [0, *starts, len(words)] if 0 not in starts else [*starts, len(words)]
    return [(start, stop) for start, stop in pairwise(edges) if stop > start]


def _find_finite_verb(words: Sequence[str], tags: list[str], start: int, stop: int) -> None:
    """Find the verb that a tagger took for a noun: "a man checks out a car", "two women exercise"."""
    noun_s, verb_s, people = words_of("noun_s"), words_of("verb_s"), words_of("people")
    lone = ("person", "someone", "somebody", "everyone", "everybody")  # never before a noun as part of it
    for number in range(start, stop):
        after = tags[number + 1] if number + 1 < stop else ""
        if tags[number] == "VBZ" and words[number] in noun_s and after not in ("DT", "PRP", "PRP$"):
            plural = number > start and tags[number - 1] in ("NN", "VB", "VBP") and can_be_verb(words[number - 1])
            if _has_finite(words, tags, number) or plural:
                tags[number] = "NNS"
    for number in range(max(start, 1), stop):
        word, tag = words[number], tags[number]
        if not tag.startswith(("NN", "JJ", "VB", "RB", "IN")) or tag in FINITE or tag == "VBG" or not can_be_verb(word):
            continue
        if word in AUXILIARIES or word in CLOSED or tag in ("RB", "IN"):
            continue
        place = _before(tags, number)
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
        if bare and place + 1 == number and not _has_finite(words, tags, number):
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
        if _has_finite(words, tags, number) and not (open_relative and third and word in verb_s):
            continue
        plural = (
            before in ("NNS", "NNPS")
            or held in PLURAL_SUBJECTS
            or (before.startswith("NN") and _coordinated(tags, start, place))
        )
        if third and not (plural and before != "NN") and before.startswith(("NN", "PRP", "WP", "WDT", "VB", "EX")):
            person = held in people
            likely = (goes_on or after.startswith("NN")) and (person or word in verb_s)
            sure = objects or (held in lone and word not in ("faces", "hands", "voices"))
            if sure or (word not in noun_s and (likely or after in ("IN", "TO", "RP", "RB", "WRB"))):
                tags[number] = "VBZ"
        elif not plural and is_verb_form(word, "VB") and place + 1 == number and held in people and word not in people:
            # Charades has "person open the door", "person laugh at the television".
            acts = _third(word) in verb_s and _third(word) not in noun_s
            if objects or (acts and (goes_on or held in lone)):
                tags[number] = "VBP"
        elif plural and is_verb_form(word, "VB") and before.startswith(("NN", "PRP")):
            if goes_on or (after.startswith(("NN", "JJ")) and (held in people or tag in ("VB", "VBP"))):
                tags[number] = "VBP"
        elif tag == "VBN" and is_verb_form(word, "VBD") and objects and before.startswith(("NN", "PRP")):
            tags[number] = "VBD"


def _coordinated(tags: Sequence[str], start: int, place: int) -> bool:
    """Tell whether a subject that ends here joins two by "and": "a hairdresser and a client speak"."""
    between = tags[start:place]
    return "CC" in between and not any(tag in FINITE or tag in ("VBG", "VB") for tag in between)


def _has_finite(words: Sequence[str], tags: Sequence[str], number: int) -> bool:
    """Tell whether the clause of a word has another finite verb, before it or after, with no joining word between."""

    def joins(n: int) -> bool:
        return tags[n] in ("WP", "WDT", "WRB", ",", ":", ".") or words[n] in words_of("joining") or words[n] == "then"

    subjects = ("he", "she", "they", "we", "i")
    start = max((n + (words[n] not in subjects) for n in range(number) if joins(n) or words[n] in subjects), default=0)
    start = max(start, max((n for n in range(number) if tags[n] == "CC"), default=-1) + 1)
    if start and tags[start - 1] == "CC" and not any(tag in FINITE for tag in tags[:start]):
        start = max((n for n in range(start - 1) if joins(n)), default=-1) + 1
    stop = next((n for n in range(number + 1, len(tags)) if joins(n) or tags[n] == "CC"), len(tags))
    return any(tags[n] in FINITE for n in range(start, stop) if n != number)


@cache
def load_tagger(kind: Literal["auto", "nltk", "pattern"] = "auto") -> Tagger:
    """Load a tagger.

    Args:
        kind: "nltk" needs its data (`stressreel data download`, or NLTK_DATA); "pattern" is always there; "auto" takes
            NLTK's where its data is found.

    Raises:
        InputError: "nltk" was asked for and its data is not found.
    """
    if kind != "pattern":
        folder = _nltk_folder()
        if folder:
            return _nltk_tagger(folder)
        if kind == "nltk":
            raise InputError(
                "NLTK's tagger data is not found. Run `stressreel data download`, set NLTK_DATA to the folder that "
                "holds taggers/averaged_perceptron_tagger_eng, or take --tagger pattern."
            )
    return _pattern_tagger()


def _nltk_folder() -> Path | None:
    data = import_extra("nltk.data", what="tagging words")
    try:
        return Path(str(data.find(NLTK_DATA)))
    except LookupError:
        return None


def _nltk_tagger(folder: Path) -> Tagger:
    from ..records.files import sha256_file

    nltk = import_extra("nltk")
    model = import_extra("nltk.tag.perceptron").PerceptronTagger()
    weights = sha256_file(next(folder.glob("*.weights.json")))
    return Tagger(
        f"nltk {nltk.__version__} averaged_perceptron_tagger_eng {weights[:12]}",
        lambda words: [tag for _, tag in model.tag(list(words))],
    )


def _pattern_tagger() -> Tagger:
    from importlib.metadata import version

    tag = import_extra("textblob.en", what="Pattern's tagger").tag

    def tag_words(words: Sequence[str]) -> list[str]:
        safe = [word.replace("/", "-").replace("&", "+") for word in words]  # Pattern's own separators
        found = [part for _, part in tag(" ".join(safe), tokenize=False)]
        return found if len(found) == len(words) else [tag(word, tokenize=False)[0][1] for word in safe]

    with warnings.catch_warnings():  # textblob leaves the files open that its first use reads
        warnings.simplefilter("ignore", ResourceWarning)
        tag_words(["warm"])
    return Tagger(f"pattern, textblob {version('textblob')}", tag_words)
