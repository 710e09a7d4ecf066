"""Convert instructions to gerund phrases: "add the oil and stir" becomes "adding the oil and stirring".

The rules are designed for instructions, especially recipes, which omit commas and conjunctions: "add salt chopped
onions and pepper, stir". Using the lists in `orders.yaml`, commas are inserted between list items and "and" between
instructions. Time clauses ("after …", "before …", "when …") after the last instruction are removed. Clauses are parsed
by `language.clauses`; the tagger is the one that is always installed.

Uncertain cases are rejected with a code from `gerunds.REASONS`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import cache, lru_cache
from itertools import pairwise

from .clauses import Clause, clauses
from .closed_classes import BE, CLOSED, FINITE
from .gerund_wording import Gerund, PhraseWord, finished, fold_noun
from .inflection import inflect, is_verb_form, readings, verb_lemma
from .lexicon import WordLists, word_lists, words
from .noun_phrases import is_modifier
from .order_words import is_hidden_still, is_manner, is_purpose, opens_order, with_hidden_orders, without_openers
from .plain_captions import Refused
from .tag_repairs.clipped_words import folded
from .tagger import load_tagger
from .unmarked_lists import missing_marks
from .words import Caption, Token

_END = re.compile(r"[.!?;:…\n]+(?=\s|$)|\s/|/\s|[()\[\]\"“”]")
_FRIED = re.compile(r"\b(stir|deep|pan|air) (fried)\b")
_LONGEST = 80  # maximum number of words


@lru_cache(maxsize=1 << 14)
def order_phrase(text: str) -> Gerund | str:
    """Convert an instruction such as "spread margarine on two slices of bread" to a gerund phrase.

    Returns:
        The phrase with its lemmas or, if the instruction is rejected, a reason code.
    """
    try:
        caption = load_tagger("pattern").analyse(_plain(text), "imperative")
        return _turned(caption)
    except Refused as refusal:
        return str(refusal)


@cache
def _compounds() -> re.Pattern[str]:
    pairs = (pair.split("_") for pair in sorted(word_lists("orders").compounds))
    return re.compile(r"\b(" + "|".join(f"{one} {other}" for one, other in pairs) + r")\b")


@cache
def _slips() -> dict[str, str]:
    return dict(pair.split("_") for pair in sorted(word_lists("orders").slips))


def _plain(text: str) -> str:
    lower = " ".join(text.lower().replace("’", "'").replace("`", "'").replace("&", " and ").split())
    parts = [part for part in _END.split(lower) if any(character.isalnum() for character in part)]
    if not parts:
        raise Refused("empty")
    if len(parts) > 1 or len(parts[0].split()) > _LONGEST:
        raise Refused("several_sentences")
    spaced = parts[0].replace(",", " , ").split()
    once = [word for before, word in pairwise(["", *spaced]) if word != before]
    if not any(word != "," for word in once):
        raise Refused("empty")
    joined = _FRIED.sub(r"\1-\2", " ".join(once))
    return _compounds().sub(lambda match: match[0].replace(" ", "-"), joined).strip(" ,")


def _turned(caption: Caption) -> Gerund:
    tokens, lists = _place_last(_without_time(with_hidden_orders(caption))), word_lists("orders")
    start = without_openers([token.lower for token in tokens])
    told = clauses(Caption(caption.text, tuple(tokens), "imperative"))
    orders = [c.verb.main for c in told if c.verb.form == "order" and _is_known(c.verb.lemma)]
    if not orders or orders[0] != start:
        raise Refused("no_verb")
    stop = _stop(tokens, orders, lists)
    orders = [number for number in orders if number < stop and not is_purpose(tokens, number)]
    if any(is_hidden_still(tokens, number, lists) for number in range(orders[0] + 1, stop) if number not in orders):
        raise Refused("run_on")
    for number in range(orders[0] + 1, stop):
        token, before = tokens[number], tokens[number - 1]
        if token.tag == "VB" and number not in orders and before.lower in ("and", "or", "then"):
            raise Refused("run_on")  # "heat water to boil and add salt": "and" may join either verb
        if token.tag == "VBG" and number - 1 in orders and not is_modifier(tokens, number, 0, stop):
            raise Refused("run_on")  # "cook flipping midway"
    pairs = (tokens[order + 1 : order + 3] for order in orders[:-1])
    if any(len(two) == 2 and two[0].lower in lists.steps and two[1].lower in ("and", ",") for two in pairs):
        raise Refused("run_on")  # "peel slice and grate the cucumber"
    if any(tokens[n - 1].lower == "it" and tokens[n - 2].lower in lists.clause_openers for n in orders[1:]):
        raise Refused("run_on")  # "until it become soft"
    for order, later in pairwise(orders):
        opened = tokens[order].lower in ("cut", "split", "tear", "slice", "crack", "break", "pry", "slit")
        if opened and tokens[later].lower == "open" and tokens[later - 1].lower not in lists.joints:
            raise Refused("run_on")  # "cut the breads open and cut into triangles"
    if any(later == order + 1 for order, later in pairwise(orders)):
        raise Refused("run_on")  # "add cut pieces": either word may be the verb
    _check_clauses(tokens, told, orders, stop, lists)
    _check_objects(tokens, orders, lists)
    if any(token.lower in ("not", "n't", "never", "don't", "dont", "without") for token in tokens[: orders[-1]]):
        raise Refused("negated")
    parts = _parts(tokens, orders, start, stop, lists)
    found = finished(parts)
    if _leans(tokens[:stop], orders, lists):
        found = replace(found, anaphoric=True)
    manner = [token.lower for token in tokens[:start] if token.lower not in lists.openers]
    objects = frozenset(
        fold_noun(token.lower)
        for number, token in enumerate(tokens[:stop])
        if number not in orders
        and token.tag.startswith("NN")
        and token.is_word
        and not _is_measure(tokens, number, lists)
    )
    verbs = {folded("verb_folds").get(part.lemma, part.lemma) for part in parts if part.lemma}
    phrase = " ".join([*manner, found.phrase])
    return replace(found, phrase=phrase, objects=objects, words=objects | verbs)


def _is_known(lemma: str) -> bool:
    known = "VERB" in readings(lemma) or lemma in words("order_verbs") | word_lists("orders").more_orders
    return lemma != "be" and (known or lemma.replace("-", "_") in word_lists("orders").compounds)


def _stop(tokens: Sequence[Token], orders: Sequence[int], lists: WordLists) -> int:
    """Return where a phrase ends: at a clause of time after the last instruction.

    Raises:
        Refused: An instruction follows the clause of time, as in "when it boils add the rice".
    """
    for number in range(1, len(tokens)):
        if tokens[number].lower not in lists.time_openers:
            continue
        behind = tokens[number + 1 :]
        verbal = any(t.tag.startswith(("VB", "MD", "JJ")) for t in behind)
        verbal = verbal or any(is_verb_form(t.lower, "VBG") for t in behind[:1])
        if verbal:
            if any(order > number for order in orders):
                raise Refused("run_on")
            end = number
            while end > 1 and (tokens[end - 1].lower in lists.joints or tokens[end - 1].text == ","):
                end -= 1
            return end
    return len(tokens)


def _check_clauses(
    tokens: Sequence[Token], found: Sequence[Clause], orders: Sequence[int], stop: int, lists: WordLists
) -> None:
    """Reject a finite verb whose clause has no introducing word, as in "add the oil it sizzles"."""
    for clause in found:
        main = clause.verb.first
        if not clause.finite or main >= stop:
            continue
        last = max((order for order in orders if order < main), default=0)
        between = tokens[last + 1 : main]
        openers = sum(token.lower in lists.clause_openers for token in between)
        finite = [c for c in found if c.finite and last < c.verb.first <= main and c.role != "coordinate"]
        if len(finite) > openers:
            raise Refused("run_on")


def _check_objects(tokens: Sequence[Token], orders: Sequence[int], lists: WordLists) -> None:
    """Reject a first instruction that lacks its object, as in "place on a plate"."""
    for one, other in pairwise(tokens):
        if (one.lower, other.lower) == ("and", "of"):
            raise Refused("cut_off")
    for order in orders:
        joined = order + 2 < len(tokens) and tokens[order + 1].lower in ("and", "or") and order + 2 not in orders
        if joined and tokens[order + 2].tag.startswith(("NN", "JJ", "DT")):
            raise Refused("cut_off")  # "cover and pot"
    number, first = orders[0] + 1, tokens[orders[0]].lower
    if any(tokens[n].tag in ("VBN", "VBD") and tokens[n + 1].lower == "to" for n in (number,) if n + 1 < len(tokens)):
        raise Refused("cut_off")  # "add minced to the bowl"
    if first not in lists.movers:
        return
    if number + 1 >= len(tokens) and tokens[-1].lower in ("", "up", "down", first):
        raise Refused("cut_off")  # "roll up"
    if number + 1 >= len(tokens):
        return
    number += tokens[number].lower in ("up", "down", "out", "back")
    word = tokens[number].lower if number + 1 < len(tokens) else ""
    rest = {token.lower for token in tokens[number + 1 : number + 3]}
    moved = word in ("from", "into", "onto", "to")
    held = word in ("in", "on", "at") and first not in ("put", "press", "take", "roll", "bring")
    placed = first == "put" and ((word == "on" and rest & {"a", "the"}) or (word == "in" and rest & lists.places))
    if moved or held or placed:
        raise Refused("cut_off")


def _without_time(tokens: list[Token]) -> list[Token]:
    """Remove a clause of time from the start, as in "when bubbles form flip the pancake"."""
    lists = word_lists("orders")
    start = without_openers([token.lower for token in tokens])
    if start >= len(tokens) or tokens[start].lower not in lists.time_openers:
        return tokens
    for number in range(start + 2, len(tokens) - 1):
        before, after = tokens[number - 1], tokens[number + 1]
        bound = before.tag in ("DT", "TO", "MD", "CC", "PRP$", "IN", "CD") or after.lower == ","
        acts = tokens[number].lower in lists.hidden and after.tag.startswith(("DT", "NN", "JJ", "PRP", "CD", "VBN"))
        if acts and not bound:
            return [tokens[number].with_tag("VB"), *tokens[number + 1 :]]
    return tokens


def _place_last(tokens: list[Token]) -> list[Token]:
    """Move a place or tool at the start after the first instruction: "in a bowl combine flour and eggs and stir".

    Tokens are returned unchanged if the instruction already ends in a place, or contains a word that introduces a
    clause.
    """
    lists = word_lists("orders")
    start = without_openers([token.lower for token in tokens])
    if start >= len(tokens) or tokens[start].lower not in lists.fronted:
        return tokens
    behind = range(start + 2, len(tokens))
    verbs = [n for n in behind if tokens[n].tag in ("VB", "VBP") and opens_order(tokens[n].lower)]
    hidden = [n for n in behind if tokens[n].lower in lists.hidden and tokens[n - 1].tag.startswith(("NN", ","))]
    if not verbs and not hidden:
        return tokens
    first = min([*verbs, *hidden])
    tokens = [token.with_tag("VB") if n == first else token for n, token in enumerate(tokens)]
    verbs = [first, *(n for n in verbs if n > first)]
    place = tokens[start:first]
    if place[-1].text == ",":
        place = place[:-1]
    if len(place) > 8 or not place[-1].tag.startswith("NN") or not all(_names_place(token) for token in place[1:]):
        return tokens
    end = verbs[1] if len(verbs) > 1 else len(tokens)
    while end > first + 1 and (tokens[end - 1].lower in lists.joints or tokens[end - 1].text == ","):
        end -= 1
    stays = {token.lower for token in tokens[first + 1 : end]}
    if stays & (lists.fronted | lists.clause_openers | {"for"}) or any(t.tag.startswith("MD") for t in tokens):
        return tokens
    return [*tokens[:start], *tokens[first:end], *place, *tokens[end:]]


def _names_place(token: Token) -> bool:
    return token.tag.startswith(("NN", "JJ", "CD")) or token.tag in ("DT", "PRP$", "VBN", "VBG", "IN")


def _parts(tokens: Sequence[Token], orders: Sequence[int], start: int, stop: int, lists: WordLists) -> list[PhraseWord]:
    breaks = missing_marks(tokens, orders, start, stop, lists)
    joined = {order: _is_joined(tokens, order, lists) for order in orders}
    parts: list[PhraseWord] = []
    for number in range(start, stop):
        token = tokens[number]
        if number in orders:
            lemma = token.lower if is_verb_form(token.lower, "VB") else verb_lemma(token.text)
            only = number == orders[-1] and tokens[number - 1].text == ","
            if number != start and (not joined[number] or only):
                while parts and parts[-1].text == ",":
                    parts.pop()
                parts.append(PhraseWord("and" if number == orders[-1] else ","))
            elif parts and parts[-1].text == "then" and (len(parts) < 2 or parts[-2].text not in ("and", ",")):
                parts.insert(-1, PhraseWord("and"))
            lemma = _slips().get(lemma, lemma)
            parts.append(PhraseWord(inflect(lemma, "VBG"), lemma))
            continue
        if _lacks_article(tokens, number, lists):
            parts.append(PhraseWord("the"))
        if number in breaks:
            parts.append(PhraseWord(breaks[number]))
        elif [part.text for part in parts[-3:]] == ["a", "little", "bit"] and token.tag.startswith("NN"):
            parts.append(PhraseWord("of"))  # "a little bit salt"
        parts.append(PhraseWord(token.lower, _lemma(tokens, number), _is_close(tokens, number)))
    return parts


def _lacks_article(tokens: Sequence[Token], number: int, lists: WordLists) -> bool:
    """Return whether a bare noun of place follows a preposition, as in "on pan"."""
    after = tokens[number + 1].tag if number + 1 < len(tokens) else ""
    places = tokens[number].lower in lists.places and tokens[number].tag == "NN"
    return places and tokens[number - 1].tag in ("IN", "TO") and not after.startswith(("NN", "POS"))


def _is_measure(tokens: Sequence[Token], number: int, lists: WordLists) -> bool:
    """Return whether a noun is used as a measure, as in "a cup of" and "2 cups" but not in "a cup"."""
    word = tokens[number].lower
    of = number + 1 < len(tokens) and tokens[number + 1].lower == "of"
    vessel = word in ("cup", "cups") and not of and tokens[number - 1].tag != "CD"
    return word in lists.measures and not vessel


def _is_close(tokens: Sequence[Token], number: int) -> bool:
    return number > 0 and tokens[number - 1].end == tokens[number].start and tokens[number].text != ","


def _lemma(tokens: Sequence[Token], number: int) -> str:
    token = tokens[number]
    if token.tag not in ("VB", "VBG", *FINITE) or token.lower in CLOSED or token.lower in BE or token.tag == "MD":
        return ""
    if is_modifier(tokens, number, 0, len(tokens)) or "VERB" not in readings(token.text):
        return ""
    return token.lower if token.tag in ("VB", "VBP") else verb_lemma(token.text)


def _is_joined(tokens: Sequence[Token], order: int, lists: WordLists) -> bool:
    place = order - 1
    while place > 0 and (tokens[place].tag.startswith("RB") or is_manner(tokens[place].lower)):
        if tokens[place].lower in lists.joints:
            return True
        place -= 1
    return tokens[place].lower in lists.joints or (tokens[place].text == "," and place > 0)


def _leans(tokens: Sequence[Token], orders: Sequence[int], lists: WordLists) -> bool:
    """Return whether a pronoun refers to an earlier sentence, as in "pour some oil on it".

    The antecedent can be a noun of an earlier instruction or, after "until", any earlier noun. "them" needs several.
    """
    for number, token in enumerate(tokens):
        if token.lower in ("one", "ones") and number and tokens[number - 1].tag.startswith(("DT", "JJ", "NN")):
            return True  # "the bottom one"
        if token.lower not in ("it", "them", "they", "its", "their", "this", "these", "those"):
            continue
        if (
            token.lower in ("this", "these", "those")
            and number + 1 < len(tokens)
            and tokens[number + 1].tag[:2] in ("NN", "JJ")
        ):
            return True
        if token.lower in ("its", "their") or tokens[number - 1].lower in lists.clause_openers:
            limit = number
        else:
            limit = max((order for order in orders if order < number), default=0)
        nouns = [other for other in tokens[:limit] if other.tag.startswith("NN") and other.lower not in lists.measures]
        joined = any(other.lower in ("and", ",") for other in tokens[:limit]) and len(nouns) > 1
        several = joined or any(other.tag == "NNS" for other in nouns)
        if not nouns or (token.lower in ("them", "they", "their") and not several):
            return True
    return False
