"""Orders as gerund phrases: "add the oil and stir" -> "adding the oil and stirring".

Made for instructions, above all of recipes, which leave out commas and joining words: "add salt chopped onions and
pepper, stir". What begins a new thing of a list gets its comma, an order that nothing joins its "and", by the rules
that stand at each function and the lists of `orders.yaml`. Clauses that tell when ("after …", "before …", "when …") are
cut off behind the last order. The clauses are those of `language.clauses`, the wording is finished as that of all
gerund phrases; the tags are those of the tagger that is always there.

What cannot be turned with confidence is refused with a code of `gerunds.REASONS`, never guessed.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import cache, lru_cache
from itertools import pairwise

from .clauses import Clause, clauses
from .closed_classes import BE, CLOSED, FINITE
from .gerund_wording import Gerund, Part, finished, fold_noun
from .inflection import inflect, is_plural_noun, is_verb_form, readings, verb_lemma
from .lexicon import WordLists, word_lists, words
from .noun_phrases import is_modifier
from .plain_captions import Refused
from .tag_repairs.clipped_words import folded
from .tagger import load_tagger
from .words import Caption, Token

_END = re.compile(r"[.!?;:…\n]+(?=\s|$)|\s/|/\s|[()\[\]\"“”]")
_LONGEST = 80  # words


@lru_cache(maxsize=1 << 14)
def order_phrase(text: str) -> Gerund | str:
    """Turn an order into a gerund phrase.

    Never raises; whatever is not certain is refused.

    Args:
        text: One order, such as "spread margarine on two slices of bread".

    Returns:
        The phrase ("spreading margarine on two slices of bread") with its lemmas, or a reason code.
    """
    try:
        caption = load_tagger("pattern").analyse(_plain(text), "imperative")
        return _turned(caption)
    except Refused as refusal:
        return str(refusal)


def opens_order(word: str) -> bool:
    """Return whether a word that begins a phrase can be the verb of an order."""
    known = readings(word)
    lists = word_lists("clipped")
    if not is_verb_form(word, "VB") or word in CLOSED or word in BE:
        return False
    return set(known) <= {"VERB", "AUX"} or word in words("order_verbs") or verb_lemma(word) in lists.verbs


def without_openers(texts: Sequence[str]) -> int:
    """Return how many words in front say nothing of what is done: "then"; or only how: "finely"."""
    at = 0
    while at < len(texts) and (texts[at] in word_lists("orders").openers or _is_manner(texts[at])):
        at += 1
    return at


def _is_manner(word: str) -> bool:
    known = readings(word)
    return word.endswith("ly") and "ADV" in known and "VERB" not in known


@cache
def _compounds() -> re.Pattern[str]:
    pairs = (pair.split("_") for pair in sorted(word_lists("orders").compounds))
    return re.compile(r"\b(" + "|".join(f"{one} {other}" for one, other in pairs) + r")\b")


def _plain(text: str) -> str:
    """Return the only sentence in small letters, words that are written twice once, two-word verbs as one."""
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
    return _compounds().sub(lambda match: match[0].replace(" ", "-"), " ".join(once)).strip(" ,")


def _turned(caption: Caption) -> Gerund:
    tokens, lists = _with_hidden_orders(caption), word_lists("orders")
    start = without_openers([token.lower for token in tokens])
    told = clauses(Caption(caption.text, tuple(tokens), "imperative"))
    orders = [c.verb.main for c in told if c.verb.form == "order" and _is_known(c.verb.lemma)]
    if not orders or orders[0] != start:
        raise Refused("no_verb")
    stop = _stop(tokens, orders, lists)
    orders = [number for number in orders if number < stop]
    if any(_is_hidden_still(tokens, number, lists) for number in range(orders[0] + 1, stop) if number not in orders):
        raise Refused("run_on")
    for number in range(orders[0] + 1, stop):
        token, before = tokens[number], tokens[number - 1]
        if token.tag == "VB" and number not in orders and before.lower in ("and", "or", "then"):
            raise Refused("run_on")  # "heat water to boil and add salt": joined to which verb?
        if token.tag == "VBG" and number - 1 in orders and not is_modifier(tokens, number, 0, stop):
            raise Refused("run_on")  # "cook flipping midway"
    if any(later == order + 1 for order, later in pairwise(orders)):
        raise Refused("run_on")  # "add cut pieces": which of them is the verb?
    _check_clauses(tokens, told, orders, stop, lists)
    if any(token.lower in ("not", "n't", "never", "don't", "without") for token in tokens[: orders[-1]]):
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


@cache
def _suspects() -> tuple[frozenset[str], frozenset[str]]:
    """Return the words that are orders wherever they can be, and all that may be taken for something else."""
    lists = word_lists("orders")
    certain = (words("order_verbs") - words("order_nouns") - lists.no_orders) | lists.more_orders
    return certain, certain | lists.hidden | lists.no_orders | {"cling", "top", "dice", "brown"}


def _with_hidden_orders(caption: Caption) -> list[Token]:
    """Tag as verbs the orders that were taken for nouns or adjectives: "… in the oven flip and bake"."""
    tokens, lists = list(caption.tokens), word_lists("orders")
    certain, suspicious = _suspects()
    for number, token in enumerate(tokens):
        before = tokens[number - 1] if number else None
        behind = before.lower if before else ""
        after_lower = tokens[number + 1].lower if number + 1 < len(tokens) else ""
        if (
            before
            and token.tag == "VB"
            and before.tag in ("DT", "JJ", "PRP$", "VBG")
            and "NOUN" in readings(token.text)
        ):
            tokens[number] = replace(token, tag="NN")  # "on a baking plate"
            continue
        if token.lower == "heat" and behind in ("medium", "high", "low", "moderate"):
            tokens[number] = replace(token, tag="NN")
            continue
        if token.tag in ("VBN", "VBD") and behind in ("and", "then") and after_lower in ("aside", "it", "them", "the"):
            tokens[number] = replace(token, tag="VB") if is_verb_form(token.lower, "VB") else token  # "and set aside"
            continue
        plain = token.lower not in suspicious and behind not in lists.joints and behind not in lists.materials
        if plain and "-" not in token.lower:
            continue
        after = tokens[number + 1] if number + 1 < len(tokens) else None
        follows = after.tag if after else ""
        acts = follows in ("DT", "PRP", "PRP$") and token.lower in words("order_verbs") | {"dice", "brown"}
        if acts and behind in lists.joints:
            tokens[number] = replace(token, tag="VB")
            continue
        if token.lower in lists.no_orders:
            thing = bool(before) and token.tag in ("VB", "VBP", "VBN", "MD", "NN")
            described = token.lower == "ground" and follows.startswith(("NN", "JJ"))
            if thing and token.lower != "can":
                tokens[number] = replace(token, tag="JJ" if described else "NN")
            elif token.lower == "can" and (
                after is None or after.lower == "of" or (before and before.tag in ("DT", "CD", "JJ"))
            ):
                tokens[number] = replace(token, tag="NN")
            continue
        if token.lower.replace("-", "_") in lists.compounds:
            opens = not before or behind in lists.joints or before.tag.startswith(("NN", "RB"))
            tokens[number] = replace(token, tag="VB") if opens else token
            continue
        if token.lower == "cling" and after and after.lower in ("wrap", "film"):
            tokens[number] = replace(token, tag="NN")
            tokens[number + 1] = replace(after, tag="NN")
            continue
        if before and behind in lists.materials and token.tag == "VB" and follows not in ("DT", "PRP", "PRP$"):
            tokens[number] = replace(token, tag="NN")  # "plastic wrap"
            continue
        if before is None or not token.tag.startswith(("NN", "JJ", "VBP")):
            continue
        if not is_verb_form(token.lower, "VB") and token.lower not in lists.more_orders:
            continue
        joint = behind in ("and", "then") or (behind == "," and token.lower in lists.hidden)
        later = tokens[number + 2].tag if number + 2 < len(tokens) else ""
        governs = follows in ("DT", "PRP", "PRP$") or (after is not None and after.lower == "and" and later == "VB")
        adverbial = after is None or follows.startswith("RB") or after.lower in ("with", "until", "for", "till")
        act = token.lower in certain or (opens_order(token.lower) and token.lower not in words("order_nouns"))
        thing = before.tag.startswith(("NN", "RB", "RP")) or behind == "it"
        well = after is not None and after.lower in ("well", "together", "thoroughly")
        topped = token.lower == "top" and after is not None and after.lower == "with" and behind not in ("on", "work")
        object_ = follows in ("DT", "PRP", "PRP$")
        if (joint and (object_ or (act and (governs or adverbial)))) or (
            thing
            and (
                (token.lower in certain and (governs or well))
                or (token.lower in lists.hidden and adverbial and after)
                or topped
            )
        ):
            tokens[number] = replace(token, tag="VB")
    return tokens


def _is_hidden_still(tokens: Sequence[Token], number: int, lists: WordLists) -> bool:
    """Return whether a word is an order after all, though nothing tells so for certain: "the lid on simmer …"."""
    token, before = tokens[number], tokens[number - 1]
    if not token.tag.startswith(("NN", "JJ", "VB")):
        return False
    if token.lower in lists.hidden and token.tag.startswith(("NN", "JJ", "VBP")):
        return not (before.tag.startswith(("DT", "JJ", "CD", "PRP$", "VB")) and number > 1) and token.lower != "fry"
    after = tokens[number + 1].lower if number + 1 < len(tokens) else ""
    if token.lower in ("do", "does") or (token.lower in _suspects()[0] and after == "with" and token.tag == "NN"):
        return True
    if before.lower not in ("and", "then") or not token.tag.startswith(("NN", "VBP")) or number + 1 >= len(tokens):
        return False
    verbal = is_verb_form(token.lower, "VB") and token.lower not in words("order_nouns")
    return verbal and tokens[number + 1].lower in ("using", "with", "until", "over", "it", "them", "again", "well")


def _is_known(lemma: str) -> bool:
    known = "VERB" in readings(lemma) or lemma in words("order_verbs") | word_lists("orders").more_orders
    return lemma != "be" and (known or lemma.replace("-", "_") in word_lists("orders").compounds)


def _stop(tokens: Sequence[Token], orders: Sequence[int], lists: WordLists) -> int:
    """Return where a phrase ends: before what tells when, behind the last order.

    Raises:
        Refused: An order follows what tells when: "when it boils add the rice".
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
    """Refuse a finite verb that nothing opens a clause for: "add the oil it sizzles"."""
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


def _parts(tokens: Sequence[Token], orders: Sequence[int], start: int, stop: int, lists: WordLists) -> list[Part]:
    """Write the tokens with their orders in -ing, and what joins them."""
    breaks = _breaks(tokens, orders, start, stop, lists)
    joined = {order: _is_joined(tokens, order, lists) for order in orders}
    parts: list[Part] = []
    for number in range(start, stop):
        token = tokens[number]
        if number in orders:
            lemma = token.lower if is_verb_form(token.lower, "VB") else verb_lemma(token.text)
            only = number == orders[-1] and tokens[number - 1].text == ","
            if number != start and (not joined[number] or only):
                while parts and parts[-1].text == ",":
                    parts.pop()
                parts.append(Part("and" if number == orders[-1] else ","))
            elif parts and parts[-1].text == "then" and (len(parts) < 2 or parts[-2].text not in ("and", ",")):
                parts.insert(-1, Part("and"))
            parts.append(Part(inflect(lemma, "VBG"), lemma))
            continue
        if _lacks_article(tokens, number, lists):
            parts.append(Part("the"))
        if number in breaks:
            parts.append(Part(breaks[number]))
        elif [part.text for part in parts[-3:]] == ["a", "little", "bit"] and token.tag.startswith("NN"):
            parts.append(Part("of"))  # "a little bit salt"
        parts.append(Part(token.lower, _lemma(tokens, number), _is_close(tokens, number)))
    return parts


def _lacks_article(tokens: Sequence[Token], number: int, lists: WordLists) -> bool:
    """Return whether a bare place stands behind a preposition: "on pan"."""
    after = tokens[number + 1].tag if number + 1 < len(tokens) else ""
    places = tokens[number].lower in lists.places and tokens[number].tag == "NN"
    return places and tokens[number - 1].tag in ("IN", "TO") and not after.startswith(("NN", "POS"))


def _is_measure(tokens: Sequence[Token], number: int, lists: WordLists) -> bool:
    """Return whether a noun only says how much: "a cup of", "2 cups"; not "a cup"."""
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
    """Return whether a comma or a connective stands before an order, adverbs left out."""
    place = order - 1
    while place > 0 and (tokens[place].tag.startswith("RB") or _is_manner(tokens[place].lower)):
        if tokens[place].lower in lists.joints:
            return True
        place -= 1
    return tokens[place].lower in lists.joints or (tokens[place].text == "," and place > 0)


def _leans(tokens: Sequence[Token], orders: Sequence[int], lists: WordLists) -> bool:
    """Return whether a pronoun stands for what only a sentence before can tell: "pour some oil on it".

    It can stand for a noun of an order before its own, or, behind "until", for any noun before it; "them" for several.
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


# Lists without commas


def _breaks(tokens: Sequence[Token], orders: Sequence[int], start: int, stop: int, lists: WordLists) -> dict[int, str]:
    """Return what is missing before tokens: a comma where a thing of a list begins, or an "and" before the last one."""
    found: dict[int, str] = {}
    number = start
    while number < stop:
        end = number
        while end < stop and end not in orders and _is_nominal(tokens, end):
            end += 1
        begins = [n for n in range(number + 1, end) if _begins_thing(tokens, n, end, lists)]
        listed = end + 1 < stop and tokens[end].lower in ("and", "or", ",") and end + 1 not in orders
        listed = listed and not _verb_follows(tokens, end + 1, orders)
        _check_rows(tokens, begins, number, end, listed, lists)
        leads = number - 1 in orders or tokens[number - 1].tag in ("RP", "DT", "RB", ",")
        if begins and (tokens[number - 1].lower in ("and", "or") or not (listed or leads)):
            raise Refused("run_on")
        for place in begins:
            found[place] = ","
        if begins and not listed:
            found[begins[-1]] = "and"
            things = lists.starters | lists.alone
            if len(begins) == 1 and _is_loose(tokens, begins[0], end):
                if tokens[begins[0] - 1].lower in lists.alone:
                    raise Refused("run_on")  # "a cup of water tomato puree"
                del found[begins[0]]
            elif any(not {tokens[n].lower, tokens[n - 1].lower} <= things and tokens[n].tag != "DT" for n in begins):
                raise Refused("run_on")  # "the short cut bacon" is one thing, "milk minced garlic" two
        number = max(end, number) + 1
    return found


def _verb_follows(tokens: Sequence[Token], number: int, orders: Sequence[int]) -> bool:
    while number < len(tokens) and tokens[number].tag.startswith("RB"):
        number += 1
    return number in orders


def _is_nominal(tokens: Sequence[Token], number: int) -> bool:
    tag = tokens[number].tag
    if tag in ("VBN", "VBG"):
        return is_modifier(tokens, number, 0, len(tokens)) or _noun_next(tokens, number)
    if tag == "RB":  # "freshly chopped cilantro"
        return _is_manner(tokens[number].lower) and number + 1 < len(tokens) and tokens[number + 1].tag in ("VBN", "JJ")
    return tag.startswith(("NN", "JJ", "CD", "FW")) or tag in ("DT", "POS")


def _noun_next(tokens: Sequence[Token], number: int) -> bool:
    return number + 1 < len(tokens) and tokens[number + 1].tag.startswith(("NN", "JJ"))


def _begins_thing(tokens: Sequence[Token], number: int, end: int, lists: WordLists) -> bool:
    """Return whether a new thing of a list begins inside a row of nouns and adjectives.

    It does behind a noun: with an article or a number ("the flour | a pinch"), with an adjective or participle that a
    noun follows ("garlic | chopped onions"), with what begins a thing by `starters` ("salt | garlic"), and behind what
    ends one by `breakers` ("soy sauce | rice vinegar").
    """
    token, before = tokens[number], tokens[number - 1]
    if not before.tag.startswith("NN") or tokens[number].text in ("'s", "'"):
        return False
    rest = tokens[number + 1 : end]
    nouns = [other for other in rest if other.tag.startswith("NN")]
    if before.lower in ("many", "few", "several", "more"):
        return False
    if token.tag in ("DT", "CD"):
        unit = rest[0].lower if rest else ""
        return bool(nouns) and unit not in lists.units and token.lower not in ("each", "all", "both", "half")
    if f"{before.lower}_{token.lower}" in lists.pairs or token.tag == "VBG":
        return False
    if token.tag.startswith(("JJ", "VB", "RB")) and before.lower not in lists.origins:
        return bool(nouns) and before.lower not in lists.welded and token.lower not in lists.halves
    if before.lower in lists.welded:
        return False
    if before.lower in lists.origins:
        return False
    measured = number + 1 == end and end < len(tokens) and tokens[end].lower == "of" and before.tag == "NNS"
    if token.lower in lists.starters or (measured and token.lower in lists.measures | {"cubes", "slices", "cloves"}):
        return True
    if before.tag == "NNS" and before.lower.endswith("s") and before.lower not in lists.units:
        return bool(nouns) or token.lower not in lists.heads
    if before.lower in ("sugar", "salt", "flour", "water") and token.lower in ("sauce", "vinegar", "oil", "wine"):
        return True
    if token.lower in lists.fluids and before.lower in lists.foods:
        return True
    behind = token.lower not in lists.heads or token.lower in lists.alone
    return before.lower in lists.breakers and behind


def _is_loose(tokens: Sequence[Token], number: int, end: int) -> bool:
    """Return whether a single break before a noun that another one follows is doubtful: "chili | garlic sauce"."""
    compound = any(token.tag.startswith("NN") for token in tokens[number + 1 : end])
    return compound and tokens[number].tag.startswith("NN") and tokens[number - 1].tag == "NN"


def _check_rows(
    tokens: Sequence[Token], begins: Sequence[int], start: int, end: int, listed: bool, lists: WordLists
) -> None:
    """Refuse a row of nouns that may be a list all the same: "onion sumac allspice"."""
    for first, stop in pairwise([start, *begins, end]):
        row = [token.lower for token in tokens[first:stop]]
        if (listed or begins) and row and (row[-1] in lists.halves_of_things):
            raise Refused("run_on")  # "oil sesame ginger powder": which of them is with which?
        nouns = [token.lower for token in tokens[first:stop] if token.tag.startswith("NN")]
        if len(nouns) >= 4 or (len(nouns) == 3 and nouns[-1] not in lists.heads):
            raise Refused("run_on")
        if len(nouns) == 3 and (listed or begins) and nouns[-1] not in lists.breakers | {"mixture", "mix"}:
            raise Refused("run_on")
        plural = stop > first + 1 and tokens[stop - 1].tag == "NNS" and len(nouns) == 2
        mixed = (
            len(nouns) == 2 and nouns[0].endswith("s") and is_plural_noun(nouns[0]) and nouns[1] not in lists.breakers
        )
        mixed = mixed or (len(nouns) == 2 and nouns[0] in lists.lone and f"{nouns[0]}_{nouns[1]}" not in lists.pairs)
        if listed and mixed and nouns[1] not in ("mixture", "mix", "powder", "wine", "vinegar", "oil", "sauce"):
            raise Refused("run_on")  # "tomatoes meat and …"
        if listed and plural and nouns[-1] not in lists.heads | lists.starters:
            raise Refused("run_on")  # "onion chilies and …"
        inner = [noun for noun in nouns[:-1] if noun in lists.breakers]
        if len(nouns) > 1 and inner and nouns[-1] not in lists.heads:
            raise Refused("run_on")
