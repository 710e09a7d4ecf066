"""Parse noun phrases from tags: determiners, modifiers, head, "of ..." and relative clauses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from .closed_classes import FINITE, NEGATIONS, RELATIVES, SUBORDINATORS
from .lexicon import word_lists, words
from .words import Caption, Token

QUANTITIES = words("quantities")
MEDIA = words("media")
MODIFIERS = words("modifiers")
_PLURAL_WORDS = words("plural_words")


@dataclass(frozen=True)
class NounPhrase:
    """A noun phrase in a caption.

    Attributes:
        first: Index of the first token.
        stop: Index after the last token.
        heads: Index of the head noun or, if nouns are coordinated, of each head.
        plural: Whether a verb that agrees with the phrase is plural.
    """

    first: int
    stop: int
    heads: tuple[int, ...]
    person: Literal[1, 2, 3]
    plural: bool

    @property
    def head(self) -> int:
        """Return the index of the first head."""
        return self.heads[0]

    def text(self, caption: Caption) -> str:
        """Return the phrase as it is written in the caption."""
        return caption.text[caption.tokens[self.first].start : caption.tokens[self.stop - 1].end]


def is_person(caption: Caption, phrase: NounPhrase) -> bool:
    """Return whether a noun phrase is followed by the relative pronoun "who" rather than "that"."""
    inside = caption.tokens[phrase.first : phrase.stop]
    token = caption.tokens[phrase.head]
    if token.lower in words("quantities") or token.lower == "one":
        return any(t.lower in words("people") for t in inside)
    return (
        token.lower in words("people")
        or token.tag == "NNP"
        or (phrase.stop - phrase.first == 1 and token.text[:1].isupper() and not phrase.plural)  # "Lightning"
        or (phrase.stop - phrase.first == 1 and token.lower in word_lists("stories").given_names)
        or token.lower.endswith(("er", "or", "ist", "ian", "people", "man"))
    )


def read_noun_phrase(
    tokens: Sequence[Token], start: int, stop: int, joined: bool = True, tails: bool = True
) -> NounPhrase | None:
    """Parse the noun phrase that starts at the token `start` and ends before `stop`, or return None if there is none.

    `joined` includes "and another"; `tails` includes "of ...", "about ..." and relative clauses.
    """
    simple = read_simple(tokens, start, stop)
    if simple is None:
        return None
    end, head = simple
    heads = [head]
    word = tokens[head].lower
    plural = tokens[head].tag in ("NNS", "NNPS") or word in _PLURAL_WORDS
    numbered = any(t.tag == "CD" and t.lower not in ("1", "one") for t in tokens[start:head])
    plural = plural or (numbered and tokens[head].tag != "CD")
    if word in ("one", *words("singular_s")) or (
        tokens[head].tag in ("NN", "DT", "PRP") and word not in _PLURAL_WORDS and not numbered
    ):
        plural = False
    while (
        tails
        and end < stop
        and (
            tokens[end].lower in ("of", "between")
            or (tokens[end].lower == "about" and word in MEDIA)
            or (tokens[end].lower == "to" and word in words("parts_to"))
        )
    ):
        if end + 1 < stop and tokens[end + 1].tag in ("WRB", "WP"):
            end = stop
            break
        inner = read_noun_phrase(tokens, end + 1, stop, joined, False)
        if inner is None:
            break
        if tokens[end].lower == "of" and word in QUANTITIES:
            plural = inner.plural
            heads = [head]
        end = inner.stop
        if tokens[end - 1].tag in ("NNS", "NN") and end < stop and tokens[end].lower not in ("of", "about", "between"):
            break
    if tails and end + 1 < stop and tokens[end].lower in RELATIVES and tokens[end].tag in ("WP", "WDT", "IN", "DT"):
        end = _relative_stop(tokens, end, stop)
    if joined and end + 1 < stop and tokens[end].tag == "CC" and tokens[end].lower in ("and", "or", "&"):
        other = read_noun_phrase(tokens, end + 1, stop, True, tails)
        if other is not None and (_bare_second(tokens, start, other) or not _starts_clause(tokens, other.stop, stop)):
            heads += other.heads
            end = other.stop
            plural = plural or tokens[simple[0]].lower != "or"
    elif (
        joined
        and end + 1 < stop
        and tokens[end].text == ","
        and _list_goes_on(tokens, end, stop)
        and (other := read_noun_phrase(tokens, end + 1, stop, True, tails))
        and not _starts_clause(tokens, other.stop, stop)
        and len(other.heads) > 1
    ):
        heads += other.heads
        end, plural = other.stop, True
    person: Literal[1, 2, 3] = 3
    if len(heads) == 1 and tokens[head].tag == "PRP":
        person = 1 if word in ("i", "we", "me", "us") else 2 if word == "you" else 3
        plural = word in ("we", "they", "you", "us", "them")
    return NounPhrase(start, end, tuple(heads), person, plural)


def _bare_second(tokens: Sequence[Token], start: int, other: NounPhrase) -> bool:
    """Return whether two nouns share an article and so form one subject, as in "a purple shirt and white blazer is"."""
    bare = tokens[other.first].tag in ("NN", "JJ") and tokens[other.head].tag == "NN" and len(other.heads) == 1
    return bare and tokens[start].tag in ("DT", "PRP$")


def _list_goes_on(tokens: Sequence[Token], comma: int, stop: int) -> bool:
    return any(token.tag == "CC" for token in tokens[comma:stop])


def read_simple(tokens: Sequence[Token], start: int, stop: int) -> tuple[int, int] | None:
    """Parse determiners, modifiers and nouns. Return where the phrase ends and the index of its head."""
    number = start
    head = -1
    while number < stop:
        token, before = tokens[number], tokens[number - 1] if number > start else None
        after = tokens[number + 1] if number + 1 < stop else None
        tag = token.tag
        if tag in ("PRP", "EX", "WP"):
            return (number + 1, number) if head < 0 and number == start and tag != "WP" else _close(head, number)
        if tag in ("DT", "PDT", "PRP$", "CD", "WP$"):
            determined = head >= 0 and not (before and (before.tag == "POS" or tokens[head].lower in ("half",)))
            if determined and not (tag == "CD" and after is not None and not after.tag.startswith("NN")):
                break
            if tag in ("CD", "DT") and head < 0 and (after is None or not _may_continue(after)):
                head = number
        elif tag.startswith("NN"):
            head = number
        elif tag == "POS":
            if head < 0 or after is None or not _may_continue(after):
                break
        elif tag.startswith("JJ") or tag == "FW":
            if head >= 0 and not _noun_ahead(tokens, number, stop):
                break
            if tag == "FW":
                head = number
        elif tag in ("VBN", "VBG"):
            if not is_modifier(tokens, number, start, stop) or (
                head >= 0 and number > start and before is tokens[head]
            ):
                break
        elif (
            tag.startswith("RB")
            and token.lower not in NEGATIONS
            and token.lower not in ("here", "there", "now", "then")
        ):
            if head >= 0 or after is None or after.tag not in ("JJ", "VBN", "CD", "DT", "RB", "VBG"):
                break
        elif (token.text == "," or (tag == "CC" and token.lower == "and")) and before is not None and after is not None:
            adjectives = before.tag in ("JJ", "VBN", "CD") and after.tag in ("JJ", "VBN", "CD")
            if not (head < 0 and adjectives and _noun_ahead(tokens, number, stop)):
                break
        elif token.text in ('"', "“", "”", "-", "/", "#", "$") and after is not None and _may_continue(after):
            pass
        else:
            break
        number += 1
    if head >= 0 and number == head + 1 < stop and tokens[number].lower == "else":
        return number + 1, head
    return _close(head, number, tokens, start)


def _close(head: int, number: int, tokens: Sequence[Token] = (), start: int = 0) -> tuple[int, int] | None:
    if head >= 0:
        return max(head + 1, number if head + 1 == number else head + 1), head
    # After an article an adjective can denote people or things: "the young", "some red".
    if number - start >= 2 and tokens and tokens[start].tag in ("DT", "PRP$") and tokens[number - 1].tag[:2] == "JJ":
        return number, number - 1
    return None


def _may_continue(token: Token) -> bool:
    return token.tag.startswith(("NN", "JJ", "CD", "VBN", "VBG", "FW", "PRP$", "RB", "DT")) or token.text in ('"', "“")


def _noun_ahead(tokens: Sequence[Token], number: int, stop: int) -> bool:
    for token in tokens[number + 1 : stop]:
        if token.tag.startswith("NN"):
            return True
        if not (token.tag.startswith(("JJ", "VBN", "VBG", "CD", "CC")) or token.text == ","):
            return False
    return False


def is_modifier(tokens: Sequence[Token], number: int, start: int, stop: int) -> bool:
    """Return whether a participle modifies a noun, as in "a running man" and "add chopped onions"."""
    token = tokens[number]
    after = tokens[number + 1] if number + 1 < stop else None
    before = tokens[number - 1] if number > 0 else None
    if token.lower in ("being", "been", "having"):
        return False
    if after is None or not after.tag.startswith(("NN", "JJ", "VBN", "VBG", "CC")):
        return False
    if not _noun_ahead(tokens, number, stop):
        return False
    if after.tag == "CC" and not (number + 2 < stop and tokens[number + 2].tag in ("JJ", "VBN")):
        return False
    determined = before is not None and before.tag in ("DT", "PRP$", "JJ", "JJR", "JJS", "CD", "POS", "PDT")
    if token.tag == "VBN":
        return determined or before is None or not before.tag.startswith(("NN", "PRP")) or before.tag == "PRP$"
    return determined or (
        token.lower in MODIFIERS
        and after.tag.startswith(("NN", "VBN", "JJ"))
        and (before is None or not before.tag.startswith(("NN", "PRP", "VB", "RB")) or before.tag == "PRP$")
    )


def _relative_stop(tokens: Sequence[Token], start: int, stop: int) -> int:
    """Return where the relative clause that starts at "who" ends: at a comma, at "and", or at a second verb."""
    finite = 0
    for number in range(start + 1, stop):
        token = tokens[number]
        if token.text in (",", ".", "!", "?", ";") or token.lower in ("while", "as", "because", "when"):
            return number
        if token.tag == "CC" and finite and not _joins_nouns(tokens, number, stop):
            return number
        if token.tag in FINITE:
            joined = tokens[number - 1].tag in FINITE or tokens[number - 1].lower in NEGATIONS
            finite += not joined
            if finite > 1:
                return number
    return stop


def _joins_nouns(tokens: Sequence[Token], number: int, stop: int) -> bool:
    after = read_simple(tokens, number + 1, stop)
    return after is not None and not _starts_clause(tokens, after[0], stop)


def _starts_clause(tokens: Sequence[Token], number: int, stop: int) -> bool:
    while number < stop:
        token = tokens[number]
        if token.tag in FINITE or (token.tag in ("VBG", "VB") and token.lower != "including"):
            return True
        if token.tag.startswith("RB") or token.tag == "VBN":
            number += 1
            continue
        if token.tag == "IN" and token.lower not in SUBORDINATORS:
            inner = read_simple(tokens, number + 1, stop)
            if inner is None:
                return False
            # A verb after the phrase may belong to words further left, so only a finite one counts.
            number = inner[0]
            if number < stop and tokens[number].tag == "VBG":
                return False
            continue
        if token.lower in ("who", "which", "that") and token.tag in ("WP", "WDT"):
            number = _relative_stop(tokens, number, stop)
            continue
        return False
    return False
