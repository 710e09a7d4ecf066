"""Change the style of a caption: voice, negation, tense, or a formal or casual register.

The functions for voice, negation and tense raise `Refused` if they cannot change a caption.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np

from ...language.conjugation import change_tense, passive
from ...language.grammar import full_form
from ...language.lexicon import is_plural_noun, noun_lemma, phrasal_verbs, words
from ...language.negation import reverse_negation
from ...language.words import Caption, like, sentence_ranges, tokenize, with_capital
from ..registry import Unchanged
from .add_text import opened
from .lexical import draw_one, inflected, read_table, word_class


def active_to_passive(caption: Caption) -> str:
    """Convert one clause to the passive: the main clause or, if that is impossible, the first clause that allows it.

    Tense and aspect are preserved, pronouns change case, and the agent is the entire noun phrase. "man riding a horse"
    becomes "a horse being ridden by man". Imperatives do not change.

    Reference:
        Schiappa et al. 2022, appendix A.2 and Table 6 ("Passive"). The released code returns None on failure.
    """
    return passive(caption)


def reverse_neg(caption: Caption) -> str:
    """Negate the main verb, or remove an existing negation.

    "does gymnastics" becomes "does not do gymnastics", and "man riding a horse" becomes "man not riding a horse". Verbs
    joined by "and" are negated together ("does not ride and wave"). "without" becomes "with". In captions without a
    verb, "with" becomes "without".

    Reference:
        Schiappa et al. 2022, appendix A.2 and Table 6 ("Neg").
    """
    return reverse_negation(caption)


def tense(caption: Caption) -> str:
    """Change the tense of a caption from present to past, or from past to present.

    All verbs in the tense of the main clause change: "a man sings while a boy plays" becomes "a man sang while a boy
    played". An imperative becomes a statement ("added the oil"), and a participle after a noun becomes a relative
    clause in the past ("man who was riding a horse").

    Reference:
        Schiappa et al. 2022, appendix A.2 and Table 6 ("Tense"). The released code changes only
        clamp(int(.1 x words), 1, 10) verbs, which mixes tenses.
    """
    return change_tense(caption)


# Formal and casual register


def formal(caption: Caption) -> str | Unchanged:
    """Make a caption formal: full forms, formal words, capitals, a full stop, and "Please" before an imperative.

    Reference:
        Schiappa et al. 2022, appendix A.2 and Table 6 ("Formal"). The paper uses a model instead of rules.
    """
    changes, before = _exchange(caption, "formal"), dict[int, str]()
    tokens = caption.tokens
    for index, token in enumerate(tokens):
        word, after = token.lower, caption.lower_at(index + 1)
        if after == "n't" and token.tag in ("MD", "VBZ", "VBP", "VBD", "VB"):
            changes[index] = like(full_form(word), token.text)
        elif word == "n't":
            changes[index] = " not"
        elif word == "'s" and caption.lower_at(index - 1) == "let":
            changes[index] = " us"
        elif word == "'s" and token.tag == "VBZ" and after in ("been", "got"):
            changes[index] = " has"
        elif word in ("'s", "'re", "'m", "'ve", "'ll") and token.tag in ("VBZ", "VBP", "MD"):
            changes[index] = " " + full_form(word)
        elif word == "i" and token.tag == "PRP":
            changes[index] = "I"
    for index, token in enumerate(tokens):
        if changes.get(index, "").startswith(" ") and caption.text[token.start - 1 : token.start].isspace():
            changes[index] = changes[index].strip()
    if not caption.words:
        return Unchanged("no word")
    start = caption.words[0]
    if caption.style == "imperative" and tokens[start].lower != "please":
        before[start] = f"please {before.get(start, '')}".strip()
    elif _bare_noun(caption, start):
        before[start] = "a" if changes.get(start, tokens[start].text)[0].lower() not in "aeiou" else "an"
    text = _finished(caption.edit(changes, before).replace("can not", "cannot"))
    return text if text != caption.text else Unchanged("formal already")


def _bare_noun(caption: Caption, start: int) -> bool:
    """Return whether a caption starts with a single person without an article, as in "man riding a horse"."""
    while caption.tag_at(start) == "JJ":
        start += 1
    word, after = caption.lower_at(start), caption.tag_at(start + 1)
    single = word in words("people") - {"someone", "somebody", "people"} and not is_plural_noun(word)
    return single and caption.tag_at(start) == "NN" and not after.startswith(("NN", "POS"))


def _finished(text: str) -> str:
    text = text.rstrip()
    tokens = tokenize(text)
    starts = [sentence.start for sentence in sentence_ranges(tokens)]
    for token in (tokens[n] for n in starts if n == 0 or tokens[n - 1].end < tokens[n].start):  # not inside "x.com"
        text = text[: token.start] + with_capital(token.text) + text[token.end :]
    ended = text[-1:] in (".", "!", "?", '"', "”", ")")
    return text if ended else text.rstrip(" ,;:-") + "."


def casual(caption: Caption, rng: np.random.Generator) -> str | Unchanged:
    """Make a caption casual: contractions and casual words or, if there are none, an opening such as "ok, so".

    Reference:
        Schiappa et al. 2022, appendix A.2 and Table 6 ("Casual"). The paper uses a model instead of rules.
    """
    changes = _exchange(caption, "casual") | {
        n: "can't" for n, token in enumerate(caption.tokens) if token.lower == "cannot"
    }
    for index, clitic in list(_contractions(caption, changes)):
        changes[index - 1] = changes.get(index - 1, caption.tokens[index - 1].text) + clitic
        changes[index] = ""
    if changes:
        return caption.edit(changes)
    if not caption.words:
        return Unchanged("no word")
    openings = read_table("text_style")["casual"]["openings"][caption.style]
    return opened(caption, draw_one(openings, rng))


def _contractions(caption: Caption, changes: Mapping[int, str]) -> Iterator[tuple[int, str]]:
    """Find contractions such as "isn't", "they're" and "a guy's riding"."""
    tokens = caption.tokens
    negative = ("is", "are", "was", "were", "do", "does", "did", "has", "have", "had", "could", "would", "should")
    clitics = {"is": "'s", "are": "'re", "am": "'m", "have": "'ve", "will": "'ll"}
    for index, token in list(enumerate(tokens))[1:]:
        before, after = tokens[index - 1], caption.tag_at(index + 1)
        joined = caption.text[before.end : token.start] == " " and changes.get(index - 1) != ""
        if index in changes or not joined:
            continue
        if token.lower == "not" and before.lower in negative:
            yield index, "n't"
        elif token.lower in clitics and after[:1].isalpha() and caption.lower_at(index + 1) != "not":
            pronoun = before.lower in ("it", "he", "she", "they", "we", "you", "i", "there", "that", "who")
            pronoun = pronoun and (token.lower == "is" or before.lower not in ("there", "that", "who"))
            noun = token.lower == "is" and before.tag == "NN" and after == "VBG" and index >= 2
            noun = noun and before.lower in words("people") and not before.lower.endswith("s")
            if (pronoun or noun) and (token.lower != "have" or after == "VBN"):
                yield index, clitics[token.lower]


_PREPOSITIONS = frozenset(("on", "off", "up", "out", "over", "about", "at", "for", "in", "to"))


def _exchange(caption: Caption, register: str) -> dict[int, str]:
    """Return the changes that make a caption "formal" or "casual", by token index.

    Phrases are replaced first, longest first, then inflected single words. Phrases in the list `keep` ("motion
    picture", "as well") and nouns in compounds ("photo shop") do not change.
    """
    table = read_table("text_style")[register]
    lower = [token.lower for token in caption.tokens]
    used: set[int] = set()
    changes: dict[int, str] = {}

    def write(span: range, new: str) -> None:
        used.update(span)
        changes.update(dict.fromkeys(span, "") | {span.start: like(new, caption.tokens[span.start].text)})

    for kept in table["keep"]:
        for span in _places(kept.split(), lower):
            used.update(span)
    for phrase, condition, new in _phrases(register):
        for span in _places(phrase, lower):
            if used.isdisjoint(span) and _phrase_fits(caption, span.start, span.stop, condition):
                write(span, new)
    for index, token in enumerate(caption.tokens):
        replacement = _exchanged(caption, index, table) if token.is_word else None
        if replacement is not None and used.isdisjoint(range(index, index + replacement[1])):
            write(range(index, index + replacement[1]), replacement[0])
    return changes


@cache
def _phrases(register: str) -> list[tuple[list[str], str, str]]:
    """Return the phrases of a register, longest first. Each has a condition on its context and a replacement."""
    rows = []
    for phrase, new in read_table("text_style")[register]["phrases"].items():
        parts, _, condition = str(phrase).partition(" +")
        rows.append((parts.split(), condition, str(new)))
    return sorted(rows, key=lambda row: -len(row[0]))


def _places(phrase: Sequence[str], lower: Sequence[str]) -> list[range]:
    """Return the places of a phrase among words in lower case."""
    spans = (range(start, start + len(phrase)) for start, word in enumerate(lower) if word == phrase[0])
    return [span for span in spans if list(lower[span.start : span.stop]) == list(phrase)]


def _phrase_fits(caption: Caption, start: int, stop: int, condition: str) -> bool:
    """Return whether the context of a phrase satisfies the condition for replacing it.

    "THE" requires an article or possessive after the phrase. "VERB" requires an adjective after it ("is kind of
    funny"). "END" requires that no noun, adjective or "else" follows, and "NOUN" that a noun phrase without an article
    follows. A tag must be that of the next word.
    """
    before, after = caption.tag_at(start - 1), caption.tag_at(stop)
    if condition == "THE":
        return after in ("DT", "PRP$")
    if condition == "VERB":
        return after.startswith(("JJ", "VBN"))
    if condition == "END":
        return not after.startswith(("NN", "JJ")) and caption.lower_at(stop) != "else"
    if condition == "NOUN":
        return before not in ("DT", "PRP$", "CD", "JJ") and after.startswith(("NN", "JJ"))
    return not condition or after == condition


def _exchanged(caption: Caption, index: int, table: Mapping[str, Any]) -> tuple[str, int] | None:
    """Return the inflected replacement for a word and how many tokens it replaces, or None if it does not change."""
    token = caption.tokens[index]
    if token.tag.startswith("VB"):
        return _exchanged_verb(caption, index, table)
    new = ""
    if token.tag in ("NN", "NNS"):
        new = _exchanged_noun(caption, index, table)
    elif token.tag.startswith("JJ") and (token.arc == "amod" or token.lower not in table["before_nouns"]):
        new = table["adjectives"].get(token.lower, "") if token.arc in ("amod", "acomp") else ""
    elif token.tag == "RB" and _adverb_fits(caption, index, table):
        new = table["adverbs"].get(token.lower, "")
    return (new, 1) if new else None


def _exchanged_verb(caption: Caption, index: int, table: Mapping[str, Any]) -> tuple[str, int] | None:
    token, after = caption.tokens[index], caption.tag_at(index + 1)
    lemma = token.lemma
    bare = [n for n in caption.children(index, "prep", "prt") if not caption.children(n)]  # "puts his shoes on"
    phrase = f"{lemma} {caption.lower_at(index + 1)}"
    if phrase in table["verbs"] and _completes(caption, index):
        return inflected(table["verbs"][phrase], token.tag), 2
    new = table["verbs"].get(lemma, "")
    if not new or (lemma in table["orders_only"] and caption.style != "imperative"):
        return None
    if lemma in table["before_verbs"] and after not in ("TO", "VBG"):
        return None
    if (lemma in table["no_objects"] and _begins_phrase(after)) or (lemma in table["no_particles"] and bare):
        return None
    if new.split()[-1] in _PREPOSITIONS and " " in new:
        if token.tag == "VBN" or not _begins_phrase(after) or after == "PRP":
            return None
    else:
        phrasal = caption.child(index, "prt") == index + 1 or (lemma, caption.lower_at(index + 1)) in phrasal_verbs()
        if phrasal or (not _begins_phrase(after) and new in table["objects"] and token.tag != "VBN"):
            return None
    return inflected(new, token.tag), 1


def _completes(caption: Caption, index: int) -> bool:
    """Return whether the word after a verb belongs to it, and an object or another verb follows: "looks at a dog"."""
    link = index + 1
    if caption.tokens[link].arc == "prep":
        return caption.lower_at(link) in ("about", "at", "for") and caption.child(link, "pobj", "pcomp") is not None
    if caption.tokens[link].arc == "prt":
        return any(object_ > link for object_ in caption.children(index, "dobj"))
    return caption.tokens[link].arc == "aux"  # "wants to"


def _exchanged_noun(caption: Caption, index: int, table: Mapping[str, Any]) -> str:
    token, count = caption.tokens[index], caption.child(index, "nummod")
    lemma = noun_lemma(token.lower)
    new: str = table["nouns"].get(token.lower) or table["nouns"].get(lemma, "")
    if not new or _in_compound(caption, index) or word_class(caption, index) != "noun":
        return ""
    several = count is not None and caption.lower_at(count) not in ("1", "one") and "/" not in caption.lower_at(count)
    measured = token.lower in ("tsp", "tbsp", "min")
    plural = (
        several if measured else lemma != token.lower and token.lower not in table["nouns"] and not is_plural_noun(new)
    )
    return inflected(new, "NNS" if plural else "NN")


def _in_compound(caption: Caption, index: int) -> bool:
    """Return whether a noun is joined to another noun, as in "photo shop". "man" in "cartoon man" does not count."""
    person = noun_lemma(caption.tokens[index].lower) in words("people")
    joined = caption.tokens[index].arc in ("compound", "nmod")
    return joined or (not person and caption.child(index, "compound", "nmod") is not None)


def _adverb_fits(caption: Caption, index: int, table: Mapping[str, Any]) -> bool:
    """Return whether an adverb sounds natural: "real quick" after a verb, "very" before an adjective."""
    token = caption.tokens[index]
    new = table["adverbs"].get(token.lower)
    if token.lower in table["orders_only"] and caption.style != "imperative":
        return False
    if token.lower in table["with_subject"] and caption.child(token.head, "nsubj", "nsubjpass") is None:
        return False
    if new in table["degrees"]:
        return caption.tag_at(token.head) in ("JJ", "RB") and token.head > index
    return new not in table["behind"] or token.head < index


def _begins_phrase(tag: str) -> bool:
    """Return whether a word with this tag can be the first word of an object."""
    return tag.startswith(("DT", "NN", "PRP", "CD", "JJ", "WRB", "WP"))
