"""Finish gerund phrases: insert articles and "another", merge synonyms, and reject phrases that are incomplete."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from itertools import pairwise

from .inflection import is_only_verb, is_plural_noun, is_verb_form, readings, verb_lemma
from .lexicon import word_lists
from .plain_captions import Refused
from .tag_repairs.clipped_words import folded, is_noun, verb_form

_PAD = [""] * 4  # appended to the words, so that looking ahead needs no bounds checks


@dataclass(frozen=True)
class Gerund:
    """A gerund phrase and its lemmas.

    Attributes:
        phrase: Lower case, without a final period: "putting a book on a shelf".
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


@dataclass(frozen=True)
class PhraseWord:
    """A word of a phrase, with its lemma if it is used as a verb."""

    text: str
    lemma: str = ""
    joined: bool = False


@cache
def fold_noun(noun: str) -> str:
    """Return the lemma of a noun, or the noun that represents its group of synonyms."""
    folds = folded("folds")
    if noun in folds:
        return folds[noun]
    lemma = readings(noun).get("NOUN", (noun,))[0]
    return folds.get(lemma, lemma)


def finished(phrase: list[PhraseWord]) -> Gerund:
    """Correct the words of a phrase, check it, and extract its lemmas."""
    table = word_lists("clipped")
    phrase = _merged(phrase)
    while phrase[-1].text in table.conjunctions or phrase[-1].text == ",":
        phrase = phrase[:-1]
    texts = [word.text for word in phrase] + _PAD
    main = phrase[0].lemma
    if not texts[0].endswith("ing"):
        raise Refused("no_verb")
    event = table.events & {f"{main}_{text}" for text in texts[1:5]}
    if (main, texts[1]) == ("look", "like") or (main in table.stative and not event):
        raise Refused("state")
    if main in table.intransitive and texts[1] in table.determiners and not table.quantities & set(texts[2:4]):
        raise Refused("run_on")
    phrase = list(_without_labels(phrase))
    for noun, article, after in zip(phrase, phrase[1:], [*phrase[2:], PhraseWord("")], strict=False):
        if (
            article.text in table.articles
            and after.text not in table.quantities
            and not noun.lemma
            and is_noun(noun.text)
        ):
            raise Refused("run_on")
    phrase = list(_with_articles(phrase))
    last = phrase[-1].text
    if last in table.dangling or (last in table.stranded and not table.stranders & {word.text for word in phrase}):
        raise Refused("cut_off")
    texts = [word.text for word in phrase]
    nouns = _nouns(phrase)
    objects = frozenset(noun for _, noun in nouns)
    verbs = {folded("verb_folds").get(word.lemma, word.lemma) for word in phrase if word.lemma}
    leaning = texts[1 : nouns[0][0]] if nouns else texts[1:]
    anaphoric = any(text in table.anaphors for text in leaning)
    return Gerund(" ".join(texts).replace(" ,", ","), main, objects | verbs, objects, anaphoric)


def _merged(phrase: list[PhraseWord]) -> list[PhraseWord]:
    merged: list[PhraseWord] = []
    for part in phrase:
        if part.joined and merged and part.text != ",":
            merged[-1] = PhraseWord(merged[-1].text + part.text, merged[-1].lemma)
        else:
            merged.append(part)
    return merged


def _without_labels(phrase: list[PhraseWord]) -> Iterator[PhraseWord]:
    """Replace labels such as "person #2" and "the second person" with "another person"."""
    table, texts, at = word_lists("clipped"), [word.text for word in phrase] + _PAD, 0
    while at < len(phrase):
        if texts[at] == "the" and texts[at + 1] in table.ordinals and texts[at + 2] == "person":
            yield PhraseWord("another")
            at += 2
        elif texts[at] == "person" and texts[at + 1] in table.labels:
            yield from (PhraseWord("another"), phrase[at])
            at += 2
        else:
            yield phrase[at]
            at += 1


def _with_articles(phrase: Iterable[PhraseWord]) -> Iterator[PhraseWord]:
    table, parts = word_lists("clipped"), list(phrase)
    texts = [part.text for part in parts] + _PAD
    for at, part in enumerate(parts):
        text, before = part.text, texts[at - 1] if at else ""
        place = before in table.prepositions and (before != "of" or texts[at - 2] in ("out", "off", "front"))
        opens = at and not part.lemma and (parts[at - 1].lemma or place)
        if opens and (text in table.bare_a or text in table.bare_the or is_noun(text)):
            end = at
            while texts[end + 1] and is_noun(texts[end + 1]) and not parts[end + 1].lemma:
                end += 1
            named = f"{before}_{text}" not in table.bare_refused
            if named and texts[end] in table.bare_the:
                yield PhraseWord("the")
            elif named and texts[end] in table.bare_a:
                yield PhraseWord("an" if text[0] in "aeiou" else "a")
        if text in ("a", "an") and texts[at + 1]:
            vowel = texts[at + 1][0] in "aeiou" and not re.match(r"(one|uni|use|eu)", texts[at + 1])
            text = "an" if vowel or texts[at + 1].startswith("hour") else "a"
        yield PhraseWord(text, part.lemma)


def _nouns(phrase: list[PhraseWord]) -> list[tuple[int, str]]:
    table, folds, nouns = word_lists("clipped"), folded("folds"), []
    for at, (word, after) in enumerate(pairwise([*phrase, PhraseWord("")])):
        for text in word.text.removesuffix("'s").split("/"):
            if word.lemma or not text or text in table.empty_nouns or text in table.finite or not is_noun(text):
                continue
            known, before = readings(text), phrase[at - 1]
            lemma = text if text in folds else known.get("NOUN", (text,))[0]
            placed = before.lemma or before.text in table.determiners or before.text in table.prepositions
            adjective = "ADJ" in known and (not placed or (after.text and is_noun(after.text)))
            if lemma in folds or lemma in folded("folds").values() or not (adjective or (verb_form(text) == "ing")):
                nouns.append((at, folds.get(lemma, lemma)))
    return nouns


def nouns_of(phrase: list[PhraseWord]) -> frozenset[str]:
    """Return the lemmas of the nouns in a phrase that begins with its verb, with synonyms merged."""
    return frozenset(noun for _, noun in _nouns(phrase))


def without_slips(found: Gerund) -> Gerund:
    """Reject a phrase that lacks a word, and mark a phrase that has a pronoun without an antecedent.

    Phrases are rejected if they contain an intransitive verb with an object ("looking a picture"), "put" with a place
    but no object ("putting on the table"), or "a" before a verb or a plural ("a kitchen tables"). They are marked as
    anaphoric if the only noun before "it" cannot be its antecedent ("putting a blanket on it"), or if they end in "in
    there", "does so" or "the other".

    Raises:
        Refused: A word is missing. The message is "slip", one of `phrases.REASONS`.
    """
    words = found.phrase.replace(",", " ,").split()
    faults = (_lacks_preposition, _lacks_object, _breaks_number)
    if any(fault(words, at) for at in range(len(words)) for fault in faults):
        raise Refused("slip")
    return replace(found, anaphoric=True) if _leans(words) else found


def _lacks_preposition(words: list[str], at: int) -> bool:
    """Return whether an intransitive verb has an object, as in "looking a picture" but not in "laughing a lot"."""
    table = word_lists("clipped")
    if words[at : at + 2] == ["running", "place"]:
        return True
    if not is_verb_form(words[at], "VBG") or verb_lemma(words[at]) not in table.objectless:
        return False
    behind = words[at + 1 : at + 4]
    return bool(behind) and behind[0] in table.determiners and not (table.quantities | {"time"}) & set(behind)


def _lacks_object(words: list[str], at: int) -> bool:
    """Return whether "put" has a place but no object, as in "putting back on the table"."""
    table = word_lists("clipped")
    if not is_verb_form(words[at], "VBG") or verb_lemma(words[at]) not in ("put", "place"):
        return False
    behind = words[at + 1 :]
    behind = behind[behind[:1] == ["back"] :]
    if len(behind) < 2 or behind[0] not in ("on", "onto", "in", "into", "at", "under"):
        return False
    noun = next((word for word in behind[1:] if word not in table.determiners), "")
    return noun in table.put_places


def _leans(words: list[str]) -> bool:
    if words[-2:] in (["in", "there"], ["does", "so"], ["there", "instead"], ["the", "other"]):
        return True
    if "it" not in words:
        return False
    at = words.index("it")
    before = words[:at]
    verbs = [word for word in before if is_verb_form(word, "VBG") or word == "to"]
    nouns = [n for n in range(1, at) if is_noun(words[n]) and not is_noun(words[n + 1])]
    leans = before[-1] in word_lists("clipped").prepositions and "with" not in before[:-1]
    return leans and len(verbs) == 1 and len(nouns) < 2


def _breaks_number(words: list[str], at: int) -> bool:
    """Return whether "a" precedes a verb or a plural, as in "a kitchen tables" but not in "a few clothes"."""
    table = word_lists("clipped")
    if words[at] not in ("a", "an") or at + 1 == len(words) or words[at + 1] in table.quantities:
        return False
    if at and words[at - 1] in ("how", "why", "when", "where", "what", "that"):
        return False  # "how a satellite works"
    if is_only_verb(words[at + 1]) and words[at + 1] not in table.known_nouns:
        return True
    stop = at + 1
    while (
        stop < len(words) and is_noun(words[stop]) and not words[stop].endswith("ing") and words[stop - 1] != "person"
    ):
        stop += 1
    last = words[stop - 1]
    return stop > at + 1 and is_plural_noun(last) and last not in table.plural_things
