"""Turn sentences and instructions into gerund phrases: "She puts on her shoes." becomes "putting on their shoes".

`actions.py` finds the action in the parse, and what is joined to it. The text from there on is kept, and words for
people become gender-neutral. Clauses of time are cut off, because questions ask whether one action came before another.

Each action is parsed again on its own and must have the same verbs. A text that yields no phrase has a reason code from
`REASONS`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import pairwise

from .actions import VERBS, Draft, find_action
from .grammar import Refused
from .lexicon import (
    AUXILIARIES,
    CLOSED,
    FINITE,
    HAVE,
    can_be_verb,
    inflect,
    is_plural_noun,
    is_verb_form,
    lexicon_hashes,
    noun_lemma,
    read_lexicon,
    verb_lemma,
    word_lists,
)
from .parse import load_parser, parse
from .people import is_gendered, is_person, neutral
from .words import Caption, StyleOption, Token, tokenize

REASONS = {
    "empty": "no words",
    "several_sentences": "more than one sentence",
    "camera": "it says what the camera or the video shows: nobody does anything",
    "other_subject": "the subject is not a person",
    "no_verb": "nothing that is certainly a verb follows the subject",
    "state": "a state or a passive: nobody does anything",
    "negated": "the action is denied, or only intended",
    "stopped": "the sentence says that the action ends",
    "run_on": "a list, or a second clause, without a comma or a connective",
    "cut_off": "the sentence breaks off, or a word or an apostrophe is missing",
    "unclear": "the phrase can be read in another way than the sentence",
    "pronoun": "a pronoun without the noun that it stands for",
    "long": "more words than a question about two events can hold",
}
LONGEST = 24  # maximum number of words
LONGEST_TEXT = 2000  # maximum number of characters, above that of any real phrase
_AFTER_NOUN = ("acl", "advcl", "xcomp", "conj", "dobj", "pobj")
_NO_VERBS = ("aux", "auxpass", "amod", "compound", "nmod", "det")
_DANGLING = ("of", "with", "from", "into", "onto", "at", "a", "an", "the")
_TOLD = "You can "  # read before an instruction that begins like a noun
_DOUBTFUL = ("no_verb", "other_subject", "state", "run_on", "unclear")
_NOMINAL = ("NN", "NNS", "NNP", "JJ", "VBN", "VBG", "CD", "DT", "PRP$", "RB")  # tags of the words of a list
_LABEL = re.compile(r"(?:an?|the|another) person |person ", re.IGNORECASE)
_GLUED = re.compile(r"\w+(?:[^\w\s'’-]+\w+)+")  # words joined by a sign, such as "him/her", may be one token


@dataclass(frozen=True)
class Gerund:
    """A gerund phrase and its lemmas.

    Attributes:
        phrase: Without a capital at the start or a final period: "putting a book on a shelf".
        verb: Lemma of the main verb, without merging of synonyms: "put".
        words: Lemmas of all verbs and nouns, with synonyms merged ("couch" counts as "sofa", "awaken" as "wake").
        objects: The nouns among `words`.
        anaphoric: Whether the phrase contains a pronoun without an antecedent, such as "it" or "them".
    """

    phrase: str
    verb: str
    words: frozenset[str]
    objects: frozenset[str]
    anaphoric: bool


def phrase(text: str, *, as_is: bool = False) -> Gerund | str:
    """Convert an annotated phrase to a gerund phrase.

    Args:
        text: A gerund ("spreading margarine on bread"), an instruction ("spread margarine on bread; add the oil and
            stir") or a sentence about people ("a man is opening the door").
        as_is: Whether to keep the words unchanged, except for spaces and the final period.

    Returns:
        The phrase with its lemmas or, if it is rejected, a reason code from `REASONS`.
    """
    return _as_is(text) if as_is else _accepted(_turned(text, "auto"))


def instruction(text: str) -> Gerund | str:
    """Convert an instruction to a gerund phrase; see `phrase`."""
    return _accepted(_turned(text, "imperative"))


def gerund(sentence: str) -> Gerund | str:
    """Convert a sentence about a person to a gerund phrase, which may be anaphoric; see `phrase`."""
    return _turned(sentence, "declarative")


def phrase_identity() -> dict[str, str]:
    """Return everything besides the code that determines phrases: the hashes of the word lists, and the parser."""
    return {**lexicon_hashes("people", "phrases", "lexicon"), "parser": load_parser().name}


def _accepted(gerund_or_reason: Gerund | str) -> Gerund | str:
    return "pronoun" if isinstance(gerund_or_reason, Gerund) and gerund_or_reason.anaphoric else gerund_or_reason


@lru_cache(maxsize=1 << 14)
def _turned(text: str, style: StyleOption) -> Gerund | str:
    if len(text) > LONGEST_TEXT:
        return "long"
    plain = _plain(text)
    gerund_or_reason = _read(plain, style)
    for frame in _frames(plain, style) if gerund_or_reason in _DOUBTFUL else ():
        again = _read(frame, "declarative")
        if isinstance(again, Gerund):
            return again
    return gerund_or_reason


def _frames(plain: str, style: StyleOption) -> Iterator[str]:
    """Yield wordings in which a verb that may have been read as a noun is a verb."""
    label = _LABEL.match(plain)
    start = label.end() if label else 0
    first = plain[start:].partition(" ")[0]
    order = style == "imperative"
    if first in CLOSED:
        return
    if label and not order and is_verb_form(first, "VBG"):
        yield f"{plain[:start]}is {plain[start:]}"
    elif label and not order and is_verb_form(first, "VB"):
        yield f"people {plain[start:]}"
    elif is_verb_form(first, "VBG"):
        yield f"They are {plain}"
    elif is_verb_form(first, "VB") and (order or _is_order(plain)):
        yield _TOLD + plain


def _is_order(plain: str) -> bool:
    """Return whether a text can be an order with an object, and nothing else: not "tower moves", nor "house"."""
    if " " not in plain:
        verb = parse(f"They {plain}").tokens[1]
        return verb.tag == "VBP" and not verb.rival
    order = parse(_TOLD + plain)
    if any("VBZ" in (token.tag, token.rival) for token in parse(plain).tokens[1:3]):
        return False
    return order.tokens[2].tag == "VB" and not order.tokens[2].rival and order.child(2, "dobj") is not None


def _read(plain: str, style: StyleOption) -> Gerund | str:
    try:
        caption = parse(plain, style)
        if not caption.words:
            raise Refused("empty")
        if len([part for part in caption.sentences if any(caption.tokens[n].is_word for n in part)]) > 1:
            raise Refused("several_sentences")
        is_order = (style == "imperative" and caption.style != "declarative") or caption.style == "imperative"
        is_order = is_order or caption.text.startswith(_TOLD)
        return _written(Draft(caption, is_order))
    except Refused as refusal:
        return str(refusal)


def _plain(text: str) -> str:
    """Repair what the parser stumbles over: spaces, marks, doubled words, and the labels of clipped sentences."""
    plain = " ".join(text.replace("’", "'").replace("`", "'").replace("&", " and ").replace(",", ", ").split())
    for pattern, better in read_lexicon("phrases")["repairs"].items():
        plain = re.sub(pattern, better, plain, flags=re.IGNORECASE)
    return plain.strip(" .;:,-")


# Generation


def _written(draft: Draft) -> Gerund:
    c, first = draft.caption, find_action(draft)
    _neutralise(draft)
    kept = draft.kept(first)
    while kept and (
        not c.tokens[kept[-1]].is_word or c.tokens[kept[-1]].arc in ("cc", "mark") or c.tokens[kept[-1]].lower == "then"
    ):
        draft.gone.add(kept.pop())
    if first not in kept:
        raise Refused("unclear")
    if len(kept) > LONGEST:
        raise Refused("long")
    last = c.tokens[kept[-1]]
    if (last.tag in ("DT", "PRP$", "TO") and last.arc in ("det", "poss", "aux", "prep")) or last.lower in _DANGLING:
        raise Refused("cut_off")
    if draft.is_instruction:
        _mark_lists(draft, kept)
    _add_articles(draft, kept)
    _check(draft, kept)
    text = c.edit(draft.forms | dict.fromkeys(draft.gone, ""), draft.inserted).replace(" ,", ",").strip(" .;:,")
    if any(is_gendered(word) for glued in _GLUED.findall(text) for word in re.findall(r"\w+", glued)):
        raise Refused("unclear")
    nouns = frozenset(_nouns(draft, kept))
    doing = {n for n in kept if c.tokens[n].tag in VERBS and c.tokens[n].arc not in ("aux", "auxpass", "amod")}
    verbs = {*draft.actions.values(), *(c.tokens[n].lemma for n in doing - draft.actions.keys())}
    folds, leans = folded("verb_folds"), _is_anaphoric(draft, kept)
    words = nouns | {folds.get(verb, verb) for verb in verbs}
    return Gerund(text[:1].lower() + text[1:], draft.actions[first], words, nouns, leans)


def _neutralise(draft: Draft) -> None:
    """Make words for people neutral, and give the verbs of "they" their plural form."""
    c = draft.caption
    for index in draft.kept():
        token, word = c.tokens[index], neutral(c, index)
        if token.tag == "JJ" and token.lower in ("male", "female"):
            draft.gone.add(index)
        if word == token.text or index in draft.actions:
            continue
        if token.tag == "NNS" and token.arc == "compound":
            raise Refused("cut_off")  # "the girls arm"
        if token.arc == "compound" and not is_person(c, token.head):
            raise Refused("unclear")  # "an iron man mask"
        draft.forms[index] = word
        det = c.child(index, "det")
        if word == "person" and det is not None:
            known = c.tokens[det].lower == "the" and token.arc in ("dobj", "pobj", "dative")
            known = known and not c.children(index, "amod", "prep", "relcl", "acl") and c.tag_at(index + 1) != "IN"
            if known or (token.arc == "conj" and draft.forms.get(token.head) == word):
                draft.forms[det] = "another"
        if word.lower() == "they" and token.arc in ("nsubj", "nsubjpass"):
            verbs = [token.head, *c.children(token.head, "conj")]
            for part in [n for verb in verbs for n in (verb, *c.children(verb, "aux", "auxpass"))]:
                if c.tokens[part].lower == "was":
                    draft.forms[part] = "were"
                elif c.tokens[part].tag == "VBZ" and not can_be_verb(c.tokens[part].text):
                    raise Refused("unclear")  # "rinses he broccoli"
                elif c.tokens[part].tag == "VBZ" and part not in draft.actions:
                    draft.forms[part] = inflect(verb_lemma(c.tokens[part].text), "VBP")


def _mark_lists(draft: Draft, kept: list[int]) -> None:
    """Add the commas that lists of instructions lack: "add salt chopped onions and pepper".

    A noun doesn't stand before the determiner, number or adjective of another one, nor a plural before another noun.

    Raises:
        Refused: The list has no "and", or where its things begin is uncertain.
    """
    c, lists = draft.caption, word_lists("phrases")
    marks: list[int] = []
    row, doubt = 1, False
    for before, index in pairwise(kept):
        first, second = c.tokens[before], c.tokens[index]
        if index in draft.actions or (second.tag not in _NOMINAL and second.lower not in lists.starters):
            listed = second.arc == "cc" and index + 1 not in draft.actions
            if doubt if listed else marks:
                raise Refused("run_on")
            draft.inserted |= dict.fromkeys(marks, ",")
            marks, row, doubt = [], 1, False
            continue
        if before in draft.actions or not _is_thing(first):
            continue
        noun = _is_thing(second)
        ends = first.tag == "NNS" or first.lower in lists.single
        begins = second.lower in lists.starters and first.lower in lists.starters | lists.foods | lists.single
        apart = begins or (noun and ends)
        inside = {second.arc, c.tokens[second.head].arc}.isdisjoint(("npadvmod", "nsubj")) and first.arc != "dative"
        opens = not noun and second.arc not in _AFTER_NOUN and c.tag_at(index + 1) in _NOMINAL
        row += noun
        if inside and (opens or apart) and second.lower not in lists.shapes:
            marks.append(index)
            row = 1
        doubt = doubt or row > 2


def _is_thing(token: Token) -> bool:
    return token.tag in ("NN", "NNS") or token.lower in word_lists("phrases").starters


def _add_articles(draft: Draft, kept: list[int]) -> None:
    """Add the article that clipped captions leave out, as in "opens door"."""
    c, lists = draft.caption, word_lists("phrases")
    for index in kept:
        token = c.tokens[index]
        if token.lower == "an" and is_verb_form(c.lower_at(index + 1), "VBZ") and c.tokens[token.head].tag == "NNS":
            raise Refused("run_on")  # "an rinses it"
        if token.lower in ("a", "an"):
            draft.forms.setdefault(index, token.text)  # so that it follows the next sound
        if token.tag != "NN" or token.arc not in ("dobj", "pobj") or c.children(index, "det", "poss", "nummod", "conj"):
            continue
        start = min([index, *c.children(index, "amod", "compound")])
        baked = c.tag_at(start - 1) == "VBG" and start - 1 not in draft.actions  # "baking dish"
        inside = baked or c.tag_at(index + 1)[:2] == "NN" or c.lower_at(start) in lists.ranks  # "cherry tomato box"
        if inside or any(token.lemma == other.lemma for other in c.tokens[:index]):
            continue
        fixed = f"{c.tokens[start - 1].lower}_{token.lower}" in lists.bare_refused
        fixed = fixed or token.lower in (c.lower_at(index - 2), c.lower_at(index + 2))  # "from chair to chair"
        article = "a" if token.lower in lists.bare_a else "the" if token.lower in lists.bare_the else ""
        if article and not fixed and start > kept[0] and c.tokens[start - 1].tag not in ("DT", "PRP$", "CD"):
            draft.inserted[start] = article


def _check(draft: Draft, kept: list[int]) -> None:
    """Raise Refused unless each action has the same verbs when it is parsed on its own."""
    c = draft.caption
    for first, stop in pairwise([*sorted(draft.actions), len(c.tokens)]):
        part = [index for index in kept if first <= index < stop]
        while part and (c.tokens[part[-1]].arc == "cc" or not c.tokens[part[-1]].is_word):
            part.pop()
        if len(part) < 4:
            continue  # "adding the oil" can only be read in one way
        changes = draft.forms | {n: "" for n in range(len(c.tokens)) if n not in part}
        added = {n: word for n, word in draft.inserted.items() if n in part and n != first}
        text = c.edit(changes, added).strip(" .;:,")
        again = parse(f"They are {text[:1].lower()}{text[1:]}.").tokens[2:]
        if again[0].tag == "VBG" and _verbal(again[1:]) != _verbal(c.tokens[n] for n in part[1:]):
            raise Refused("unclear")


def _verbal(tokens: Iterable[Token]) -> list[str]:
    """Return the lemmas of the verbs that are not in the -ing form, nor before a noun."""
    verbal = [token for token in tokens if token.tag in ("VB", *FINITE) and token.arc not in _NO_VERBS]
    return [token.lemma for token in verbal]


def _nouns(draft: Draft, kept: list[int]) -> Iterator[str]:
    empty = word_lists("phrases").empty
    for index in kept:
        token = draft.caption.tokens[index]
        counted = draft.caption.child(index, "nummod") is not None and token.lower in (
            "cup",
            "cups",
            "glass",
            "glasses",
        )
        attribute = token.arc == "compound" and token.lower.endswith("ing")
        if token.tag.startswith("NN") and index not in draft.actions and not counted and not attribute:
            noun = fold_noun(draft.forms.get(index, token.text).lower())
            if not {noun, token.lower} & empty:
                yield noun


def _is_anaphoric(draft: Draft, kept: list[int]) -> bool:
    """Return whether "it", "them" or "this" has no noun before it in the phrase that it can stand for."""
    c = draft.caption
    for index in kept:
        token, word = c.tokens[index], draft.forms.get(index, c.tokens[index].lower).lower()
        if word == "one" and token.arc == "dobj" and not c.children(index):
            return True
        alone = token.tag == "DT" and token.arc in ("dobj", "pobj", "nsubj")
        if not (
            word in ("it", "its", "them") or (alone and word in ("this", "that", "these", "those", "another", "some"))
        ):
            continue
        many = word in ("them", "these", "those")
        verb = _governor(c, index)
        close = word == "them" and c.tokens[token.head].lower in ("behind", "around", "with")
        if close and (c.tokens[verb].arc == "dobj" or c.child(verb, "dobj") is not None):
            continue  # "closing the door behind them"
        before = [n for n in kept if n < index and c.tokens[n].tag in ("NN", "NNS", "NNP") and n not in draft.actions]
        start = max(action for action in draft.actions if action < index)
        before = [n for n in before if n < start or (_governor(c, n) != verb and c.tokens[n].arc != "compound")]
        if not any(is_plural_noun(c.tokens[n].lower) == many or (many and c.children(n, "conj")) for n in before):
            return True
    return False


def _governor(c: Caption, index: int) -> int:
    """Return what a noun depends on, past prepositions and coordination."""
    while c.tokens[index].head != index:
        conjoined = c.tokens[index].arc == "conj"
        index = c.tokens[index].head
        if not conjoined and c.tokens[index].tag not in ("IN", "TO", "RB", "RP"):
            break
    return index


# Comparison


@cache
def folded(name: str) -> dict[str, str]:
    """Return the word that represents each synonym of a table in `phrases.yaml`."""
    return {word: noun for noun, row in read_lexicon("phrases")[name].items() for word in row.split()}


@cache
def fold_noun(noun: str) -> str:
    """Return the lemma of a noun, or the noun that represents its group of synonyms."""
    folds = folded("folds")
    singular = noun_lemma(noun)
    return folds.get(noun) or folds.get(singular, singular)


@lru_cache(maxsize=1 << 14)
def _as_is(text: str) -> Gerund | str:
    if len(text) > LONGEST_TEXT:
        return "long"
    plain = " ".join(text.split()).rstrip(" .!?;:,")
    if not any(character.isalnum() for character in plain):
        return "empty"
    verbs, nouns = _verbs(plain, "auto"), verbs_and_nouns(plain)[1]
    folds = folded("verb_folds")
    first = next((token.lower for token in tokenize(plain) if token.is_word), plain.lower())
    return Gerund(plain, verbs[0] if verbs else first, nouns | {folds.get(v, v) for v in verbs}, nouns, False)


def verbs_and_nouns(text: str, style: StyleOption = "auto") -> tuple[frozenset[str], frozenset[str]]:
    """Return the lemmas of the verbs and of the nouns in a text that could not be converted to a phrase.

    Both sets are empty if the text is too long for a phrase.
    """
    if len(text) > LONGEST_TEXT:
        return frozenset(), frozenset()
    nouns = (token.lower for token in parse(text, style).tokens if token.tag.startswith("NN") and token.is_word)
    return frozenset(_verbs(text, style)), frozenset(map(fold_noun, nouns))


def lemmas_in(text: str) -> frozenset[str]:
    """Return every lemma that a word of the text may have as a noun or verb, except auxiliaries and function words.

    "the cut onions" yields "cut" and "onion".
    """
    lemmas = set[str]()
    for word in {token.lower for token in tokenize(text) if token.is_word}:
        if word in CLOSED or (word in AUXILIARIES and word not in HAVE):
            continue
        lemmas |= {word, fold_noun(word), verb_lemma(word)}
    return frozenset(lemmas | {folded("verb_folds").get(word, word) for word in lemmas})


def _verbs(text: str, style: StyleOption) -> list[str]:
    tokens = parse(text, style).tokens
    return [t.lemma for t in tokens if t.tag.startswith("VB") and t.arc not in ("aux", "auxpass") and t.lemma != "be"]
