"""Group verbs with their auxiliaries, negation, adverbs and particles, based on tags."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from .closed_classes import BE, DO, FINITE, GET, HAVE, NEGATIONS
from .inflection import readings, verb_lemma
from .lexicon import phrasal_verbs, words
from .noun_phrases import is_modifier, read_simple
from .words import Token

Form = Literal["finite", "order", "participle", "gerund", "infinitive"]
Tense = Literal["present", "past", "modal", "none"]
PARTICLES = words("particles")
PHRASAL = phrasal_verbs()


@dataclass(frozen=True)
class VerbGroup:
    """A main verb and the words that belong to it, such as "is not slowly picking up".

    Attributes:
        auxiliaries: Indices of the auxiliaries, in order. "can't" counts as auxiliary and negation.
        negation: Index of "not", "n't" or "never".
        adverbs: Indices of adverbs between the first and the main verb, or directly before a verb without auxiliaries.
        main: Index of the main verb, which is "is" in "a man is happy".
        particle: Index of a particle after the verb or a short object, such as "up" in "picks up".
        lemma: Base form of the main verb.
        form: "finite", "order", "participle" ("man riding"), "gerund" ("by riding"), "infinitive" ("to ride").
        tense: Tense of the first verb, "modal", or "none" for a form that is not finite.
        progressive: True for "is riding".
        perfect: True for "has ridden".
        passive: True for "is ridden" and for a bare "ridden".
        to: Index of the "to" of an infinitive.
    """

    auxiliaries: tuple[int, ...]
    negation: int | None
    adverbs: tuple[int, ...]
    main: int
    particle: int | None
    lemma: str
    form: Form
    tense: Tense
    progressive: bool = False
    perfect: bool = False
    passive: bool = False
    to: int | None = None

    @cached_property
    def tokens(self) -> tuple[int, ...]:
        """Return the indices of all words in the group, in order."""
        rest = (self.negation, self.particle, self.to)
        found = {self.main, *self.auxiliaries, *self.adverbs, *(number for number in rest if number is not None)}
        return tuple(sorted(found))

    @property
    def first(self) -> int:
        """Return the index of the first verb, which is finite if the group is."""
        return self.auxiliaries[0] if self.auxiliaries else self.main

    @property
    def copula(self) -> bool:
        """Return whether the main verb is a form of "be"."""
        return self.lemma == "be"


def verb_groups(tokens: Sequence[Token], start: int, stop: int) -> list[VerbGroup]:
    """Return the verb groups of a sentence, from left to right."""
    found: list[VerbGroup] = []
    number = start
    while number < stop:
        tag = tokens[number].tag
        verb = tag in FINITE or tag in ("VB", "VBG", "VBN")
        if verb and not (tag in ("VBN", "VBG") and is_modifier(tokens, number, start, stop)):
            group = _verb_group(tokens, number, start, stop)
            found.append(group)
            number = group.main + 1
        else:
            number += 1
    return found


def _verb_group(tokens: Sequence[Token], number: int, start: int, stop: int) -> VerbGroup:
    chain, adverbs, negation = [number], [], None
    ahead = number + 1
    while ahead < stop:
        token, last = tokens[ahead], tokens[chain[-1]]
        if token.lower in NEGATIONS:
            negation = ahead if negation is None else negation
            ahead += 1
            continue
        if token.tag.startswith("RB") and _verb_after(tokens, ahead, stop, last):
            adverbs.append(ahead)
            ahead += 1
            continue
        if _takes(last, token) and not (
            token.tag in ("VBN", "VBG")
            and is_modifier(tokens, ahead, start, stop)
            and last.lower not in BE
            and not _is_perfect(tokens, ahead)
        ):
            chain.append(ahead)
            ahead += 1
            continue
        break
    main, auxiliaries = chain[-1], chain[:-1]
    adverbs = [n for n in adverbs if n < main]
    if negation is not None and negation > main and verb_lemma(tokens[main].text) != "be":
        negation = None
    # Adverbs and "not" right before a verb that stands alone.
    back = number - 1
    while back >= start and tokens[back].tag.startswith("RB") and _before_verb(tokens, back, start):
        if tokens[back].lower in NEGATIONS:
            negation = back
        else:
            adverbs.insert(0, back)
        back -= 1
    to = back if back >= start and tokens[back].tag == "TO" and tokens[number].tag == "VB" else None
    first = tokens[number]
    lemma = "be" if tokens[main].lower in BE else verb_lemma(tokens[main].text)
    form = _form(tokens, number, start, to)
    tense: Tense = "none"
    if form == "finite":
        tense = "modal" if first.tag == "MD" else "past" if first.tag == "VBD" else "present"
    chained = [tokens[n].lower for n in chain]
    last_aux = chained[-2] if auxiliaries else ""
    return VerbGroup(
        auxiliaries=tuple(auxiliaries),
        negation=negation,
        adverbs=tuple(adverbs),
        main=main,
        particle=_particle(tokens, main, stop, lemma),
        lemma=lemma,
        form=form,
        tense=tense,
        progressive=any(w in BE and tokens[n].tag == "VBG" for w, n in zip(chained, chain[1:], strict=False)),
        perfect=any(
            w in HAVE and w != "having" and tokens[n].tag == "VBN" for w, n in zip(chained, chain[1:], strict=False)
        ),
        passive=tokens[main].tag == "VBN" and (last_aux in BE or last_aux in GET or not auxiliaries),
        to=to,
    )


def _is_perfect(tokens: Sequence[Token], number: int) -> bool:
    """Return whether a participle after "have" forms the perfect, as in "had told Jerry" but not in "has dyed hair"."""
    if tokens[number + 1].tag in ("NNP", "NNPS"):
        return True
    back = number - 1
    while back > 0 and tokens[back].tag.startswith("RB"):
        back -= 1
    things = tokens[number + 1].tag == "NNS" and "ADJ" in readings(tokens[number].text)  # "had broken wings"
    return tokens[back].lower == "had" and not things


def _verb_after(tokens: Sequence[Token], number: int, stop: int, last: Token) -> bool:
    while number < stop and tokens[number].tag.startswith("RB"):
        number += 1
    return number < stop and _takes(last, tokens[number])


def _takes(last: Token, token: Token) -> bool:
    word, tag = last.lower, token.tag
    if last.tag == "MD":
        return tag == "VB"
    if word in BE and tag == "VBG":
        return True
    if word in BE and tag == "VBN":
        return True
    if word in HAVE and tag == "VBN":
        return True
    if word in GET and tag == "VBN":
        return True
    return word in DO and tag == "VB"


def _before_verb(tokens: Sequence[Token], number: int, start: int) -> bool:
    token = tokens[number]
    if token.lower in PARTICLES or token.tag == "RP":
        return False
    if token.lower in NEGATIONS or token.lower.endswith("ly"):
        return True
    if number == start:
        return token.lower not in ("here", "there", "now", "then")
    return token.lower in (
        "also",
        "just",
        "then",
        "still",
        "often",
        "always",
        "first",
        "even",
        "finally",
        "well",
        "now",
    )


def _form(tokens: Sequence[Token], number: int, start: int, to: int | None) -> Form:
    tag = tokens[number].tag
    if tag in FINITE:
        return "finite"
    if tag == "VB":
        return "infinitive" if to is not None or _bare_infinitive(tokens, number, start) else "order"
    back = number - 1
    while back >= start and (tokens[back].tag.startswith("RB")):
        back -= 1
    if tag == "VBN":
        return "participle"
    before = tokens[back] if back >= start else None
    if before is None or before.tag in ("IN", "TO", "WRB") or before.tag.startswith("VB"):
        return "gerund"
    return "participle"


def _bare_infinitive(tokens: Sequence[Token], number: int, start: int) -> bool:
    """Return whether a base form is used without "to", as after "let it" and "makes the girl"."""
    back = number - 1
    while back >= start and tokens[back].tag.startswith("RB"):
        back -= 1
    if back >= start and tokens[back].tag == "CC":
        for token in reversed(tokens[start:back]):
            if token.tag == "VB":
                place = next(n for n in range(back - 1, start - 1, -1) if tokens[n] is token)
                return place > start and tokens[place - 1].tag == "TO"
            if token.tag in FINITE:
                return False
        return False
    causes = ("let", "make", "help", "have", "see", "watch", "hear", "feel")
    if back >= start and tokens[back].tag.startswith(("NN", "PRP")):
        for place in range(back, start - 1, -1):
            if tokens[place].tag.startswith("VB"):
                return verb_lemma(tokens[place].text) in causes
            if tokens[place].tag in ("CC", ",", "IN", "TO"):
                return False
    leads = back >= start and tokens[back].tag.startswith("VB")
    return leads and verb_lemma(tokens[back].text) in ("help", "let", "go")


def _particle(tokens: Sequence[Token], main: int, stop: int, lemma: str) -> int | None:
    """Return the particle of a verb, such as "up" in "picks it up" but not "on" in "walks on the road".

    Directly after the verb, a word is a particle if the two form a phrasal verb, or if it is tagged as a particle and
    no noun phrase follows.
    """
    if lemma == "be" or main + 1 >= stop:
        return None
    after = tokens[main + 1]
    if main + 2 < stop and tokens[main + 2].lower == "of" and after.lower == "out":
        return None  # "takes out of a box"
    follows = tokens[main + 2] if main + 2 < stop else None
    if after.lower in PARTICLES and after.tag in ("RP", "RB", "IN"):
        if (lemma, after.lower) in PHRASAL:
            return main + 1
        loose = after.lower in ("up", "out", "off") and after.tag == "RP" and lemma not in words("no_passive")
        if loose and lemma not in words("motion"):
            return main + 1
        if after.lower in ("away", "back", "together", "apart", "aside") and after.tag in ("RB", "RP"):
            return main + 1
        if follows is None or follows.tag in ("IN", "CC", "TO", "RB", ",", "."):
            return main + 1
        return None
    # Behind a short object: "picks it up", "takes the bacon out".
    short = read_simple(tokens, main + 1, stop)
    if short is None or short[0] >= stop or short[0] - main > 4:
        return None
    token = tokens[short[0]]
    if token.lower in PARTICLES and (lemma, token.lower) in PHRASAL:
        follows = tokens[short[0] + 1] if short[0] + 1 < stop else None
        if follows is not None and follows.lower == "of":
            return None  # "takes things out of a box"
        if follows is None or follows.tag in ("IN", "CC", "TO", "RB", ",", ".", "VBG"):
            return short[0]
    return None
