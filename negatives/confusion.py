"""Causal confusion: the right answer turned into a wrong one, by negation or by exchange of who does it to whom.

Source: Parmar et al. 2024, "CausalChaos! Dataset for Comprehensive Causal Action Question Answering Over Longer Causal
Chains Grounded in Dynamic Visual Scenes" (arXiv 2404.01299), section 3.3: options with the opposite effect ("Tom was
hitting Jerry", "Tom was not hitting Jerry") or with swapped agents ("Jerry was hitting Tom"). Where we differ from the
released options: an option keeps the capitals, the apostrophes, the final stop and the "because" of the right answer,
so that none of these gives it away, and no option only reorders "Tom and Jerry", which is a second right answer.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise
from typing import Literal

from ..language.clauses import (
    BE,
    COPULAS,
    FINITE,
    GET,
    HAVE,
    NEGATIONS,
    SUBORDINATORS,
    Clause,
    NounPhrase,
    clauses,
    main_clause,
)
from ..language.inflection import is_verb_form, readings, verb_lemma
from ..language.rewrite import POSITIVE, finite_form, full_form, is_negated, negate, remove_negation
from ..language.tagger import Tagger
from ..language.words import Caption, Token, tokenize, with_capital, without_capital
from ..seeds import rng_for
from .cast import Cast, confusion_table, name_pattern
from .mining import Choice, Negative, text_key

Kind = Literal["negation", "swap"]
KINDS: tuple[Kind, ...] = ("negation", "swap")
_BEFORE_PARTICIPLES = BE | HAVE | GET | {"saw", "heard"}  # "was chased", "saw Tom chased"
_OBJECTS = ("DT", "NNP", "NNPS", "NNS", "PRP", "PRP$", "IN", "CD", "EX", ".", "RB", "RP")
_TELLING = frozenset(("tell", "show", "think", "inform", "remind", "convince", "trick", "warn", "teach", "promise"))
_POSSESSIVE = frozenset({"'s", "’s", "'", "’"})
_PRONOUNS = {
    "female": {"PRP$": "her", "subject": "she", "object": "her", "self": "herself"},
    "male": {"PRP$": "his", "subject": "he", "object": "him", "self": "himself"},
    "plural": {"PRP$": "their", "subject": "they", "object": "them", "self": "themselves"},
}


@dataclass(frozen=True)
class Confusion:
    """A wrong option made from the right one.

    Attributes:
        text: The option.
        kind: "negation" or "swap".
        ambiguous: Why it might be read as right or as another thing; empty if it is plain.
    """

    text: str
    kind: Kind
    ambiguous: str = ""


@dataclass(frozen=True)
class Unconfused:
    """A text that cannot be confused in one way.

    Attributes:
        kind: The way.
        reason: Why, in a few words.
    """

    kind: Kind
    reason: str


@dataclass(frozen=True)
class Entity:
    """Somebody in a text, or several joined by "and".

    Attributes:
        first: First token.
        stop: The token behind the last.
        key: Who it is: names and nouns in small letters, in alphabetical order.
        plural: Whether they are several.
        gender: "female", "male", "plural" or "" (not known).
        parts: Who is named in it: those joined by "and", Tom in "Tom's owner".
    """

    first: int
    stop: int
    key: tuple[str, ...]
    plural: bool
    gender: str
    parts: tuple[Entity, ...] = ()


@dataclass(frozen=True)
class Confuser:
    """Confuses texts about a cast.

    Attributes:
        tagger: See `language.tagger`.
        cast: The names.
    """

    tagger: Tagger
    cast: Cast

    def read(self, text: str) -> Caption:
        """Tag a text as if its names had their capitals; the text itself stays as it is."""
        pattern = name_pattern(self.cast)
        names = {name.lower(): name for name in self.cast.names}
        capital = pattern.sub(lambda match: names.get(match[0].lower(), match[0]), text) if pattern else text
        caption = self.tagger.analyse(capital)
        tokens = tokenize(text)
        if len(tokens) != len(caption.tokens):
            return self.tagger.analyse(text)
        spans = [match.span() for match in pattern.finditer(text)] if pattern else []
        tagged = [replace(token, tag=found.tag) for token, found in zip(tokens, caption.tokens, strict=True)]
        for number, token in enumerate(tagged):
            if any(start <= token.start and token.end <= end for start, end in spans) and token.is_word:
                tagged[number] = replace(token, tag="NNP")
        _tag_past_verbs(tagged)
        return Caption(text, tuple(tagged), caption.style)

    def negation(self, text: str) -> Confusion | Unconfused:
        """Negate what a text states, or remove its negation.

        The main clause is negated, and the clauses that "and" joins to it; behind "because" the clause that it opens.
        "not trying" and "trying not" are different things, so the negation of a complement is left where it is.
        """
        caption = self.read(text)
        main = _stated(caption)
        if main is None or (caption.tokens[0].lower == "to" and "," not in text):
            return _infinitive_negated(caption)
        reason = _double_negation(caption, main)
        if reason:
            return Unconfused("negation", reason)
        found = _negated(caption, main, self)
        if not found or text_key(found) == text_key(text):
            return Unconfused("negation", "no verb that can be negated")
        return Confusion(found, "negation", _ambiguity(caption, main))

    def swap(self, text: str) -> Confusion | Unconfused:
        """Exchange the agent with the patient: every mention of the one becomes the other.

        The agent is the subject of the main clause if somebody is; else that of the first clause that has one. The
        patient is the first other person behind the agent's verb, "by" phrases included. Words joined by "and" go
        together. Pronouns follow where the genders are known and differ, and verbs agree with their new subject.
        """
        caption = self.read(text)
        found = tuple(entities(caption, self.cast))
        if len({entity.key for entity in found}) < 2:
            return Unconfused("swap", "nobody to exchange with")
        words = " ".join(token.lower for token in caption.tokens)
        if any(f" {phrase}" in words for phrase in confusion_table()["mutual"]):
            return Unconfused("swap", "both sides do the same")
        if any(_joined(caption, one, two) is None for one, two in pairwise(_singles(caption, self.cast))):
            return Unconfused("swap", 'it is not certain who is joined by "and"')
        main = _stated(caption)
        ordered = sorted(clauses(caption), key=lambda clause: (clause != main, clause.verb.main))
        for clause in ordered:
            agent = _entity_of(clause.subject, found)
            if agent is None:
                continue
            patient = next((e for e in found if _is_patient(caption, clause, agent, e)), None)
            if patient is None:
                continue
            if any(e.key[0] in side.key and len(e.key) < len(side.key) for side in (agent, patient) for e in found):
                return Unconfused("swap", "somebody is named alone and with others")
            if any(_is_restricted(caption, e) for e in found if e.key in (agent.key, patient.key)):
                return Unconfused("swap", "a clause behind says who is meant")
            if agent.plural != patient.plural and {"both", "between", "among", "amongst"} & set(words.split()):
                return Unconfused("swap", "what is said holds of several only")
            if _with_stranger(caption, agent, found) or _with_stranger(caption, patient, found):
                return Unconfused("swap", 'it is not certain who is joined by "and"')
            if _is_symmetric(caption, clause, patient):
                return Unconfused("swap", "both sides do the same")
            swapped = _exchanged(caption, agent, patient, found)
            if text_key(swapped) == text_key(text):
                return Unconfused("swap", "it gives the same words")
            return Confusion(swapped, "swap")
        return Unconfused("swap", "nobody does it to somebody")


def _tag_past_verbs(tokens: list[Token]) -> None:
    """Tag past verbs that a tagger took for something else: "Tom heard noises", "saw Joan and overheard her"."""
    _tag_living(tokens)
    bare = not any(token.tag in FINITE for token in tokens)
    for number in range(1, len(tokens)):
        token, before = tokens[number], tokens[number - 1]
        if token.tag not in ("VBN", "NN", "VBP", "VB", "JJ", "JJR") or not is_verb_form(token.lower, "VBD"):
            continue
        follows = tokens[number + 1].tag if number + 1 < len(tokens) else "."
        living = before.tag == "NN" and before.lower in confusion_table()["animate"]
        somebody = before.tag == "NNP" or (living and (bare or follows in ("DT", "NNP", "PRP", "PRP$", "RP")))
        somebody = somebody or (bare and before.tag.startswith("NN") and not is_verb_form(token.lower, "VBN"))  # "ran"
        opens = max((n for n in range(number) if tokens[n].lower in SUBORDINATORS), default=0)
        finite = [earlier.lower for earlier in tokens[opens:number] if earlier.tag in FINITE]
        auxiliary = bool(finite) and finite[-1] in _BEFORE_PARTICIPLES
        verbs = [earlier for earlier in tokens[:number] if earlier.tag.startswith("VB")]
        joined = before.lower == "and" and bool(verbs) and verbs[-1].tag == "VBD"
        if follows in _OBJECTS and (somebody or joined) and not auxiliary:
            tokens[number] = replace(token, tag="VBD")
            bare = False
        elif number > 2 and before.tag in ("IN", "RP") and tokens[0].tag == "DT":
            stranded = tokens[number - 2].lower in BE and tokens[number - 3].tag == "NNP"
            if stranded and follows in ("NN", "VBG", *_OBJECTS):  # "the can Jerry was in started moving"
                tokens[number] = replace(token, tag="VBD")


def _tag_living(tokens: list[Token]) -> None:
    """Tag living beings and things that a tagger took for verbs: "the baby duck shook", "Tom heard noises"."""
    animate = confusion_table()["animate"]
    for number in range(1, len(tokens)):
        token, before = tokens[number], tokens[number - 1]
        follows = tokens[number + 1].lower if number + 1 < len(tokens) else ""
        acts = token.tag == "JJ" and token.lower in animate and is_verb_form(follows, "VBD")  # "the bear heard"
        if token.tag not in ("VB", "VBP", "VBZ") and not acts:
            continue
        held = before.tag in ("DT", "JJ", "PRP$") or (before.tag == "NN" and before.lower in animate)
        if held and token.lower in animate:
            tokens[number] = replace(token, tag="NN")
        elif number > 1 and before.tag not in FINITE and tokens[number - 2].tag.startswith("NN"):
            past = is_verb_form(before.lower, "VBD") and not is_verb_form(before.lower, "VB")
            if past and before.tag != "VBG" and "NOUN" in readings(token.lower):
                tokens[number] = replace(token, tag="NNS" if token.tag == "VBZ" else "NN")
                tokens[number - 1] = replace(before, tag="VBD")


def _stated(caption: Caption) -> Clause | None:
    """Give the clause that a text states; of "the can Jerry was in started moving" that is the second."""
    main, tokens = main_clause(caption), caption.tokens
    if main is None or main.subject is None or not main.finite:
        return main
    for clause in clauses(caption):
        place = clause.verb.tokens[0] - 1
        before = tokens[place - 1 if tokens[place].tag.startswith("RB") else place]
        stranded = before.tag in ("IN", "RP") and before.lower not in SUBORDINATORS
        if clause.finite and clause.verb.first > main.verb.main + 1 and stranded and tokens[0].tag in ("DT", "PRP$"):
            return clause
    return main


def _is_patient(caption: Caption, clause: Clause, agent: Entity, other: Entity) -> bool:
    """Tell whether something is done by the agent that has to do with another one: not what he is or is like."""
    tokens, table = caption.tokens, confusion_table()
    if other.first < clause.verb.main or set(other.key) & set(agent.key):
        return False
    is_one = any(c.verb.lemma in COPULAS and c.verb.main + 1 == other.first for c in clauses(caption))
    if is_one and not (_owns(tokens, other) and agent.plural == other.plural):
        return False  # "he is supposed to be a baby"
    before, indefinite = tokens[other.first - 1].lower, tokens[other.first].lower in ("a", "an")
    after = tokens[other.stop] if other.stop < len(tokens) else None
    if before == "as" and not _is_named(tokens, other) and (after is None or after.tag not in FINITE):
        return False  # "disguised himself as the cat"
    if indefinite and (before == "like" or (before == "into" and clause.verb.lemma in ("turn", "transform"))):
        return False
    has = clause.verb.lemma == "have" and clause.verb.main + 1 == other.first
    if has and not _is_named(tokens, other) and not _owns(tokens, other):
        return False  # "had a fish in his mouth"
    return not (before == "of" and tokens[other.first - 2].lower in table["images"])


def _with_stranger(caption: Caption, entity: Entity, found: Sequence[Entity]) -> bool:
    """Tell whether "and" joins a name that is not of the cast: "Jerry and Lilli"."""
    tokens, after = caption.tokens, entity.stop + 1
    if after >= len(tokens) or tokens[entity.stop].lower != "and" or any(e.first == after for e in found):
        return False
    return tokens[after].tag == "NNP" and tokens[after].text[:1].isupper()


def _is_restricted(caption: Caption, entity: Entity) -> bool:
    """Tell whether a clause without "that" stands behind a noun: "the fish he had", which no name can have."""
    tokens, after = caption.tokens, entity.stop
    if not entity.first or after + 1 >= len(tokens) or tokens[entity.first].tag not in ("DT", "PRP$"):
        return False
    before = tokens[entity.first - 1]
    subject = tokens[after].tag == "NNP" or tokens[after].lower in ("he", "she", "they", "it")
    object_of = before.tag in ("VB", "VBD", "VBG", "VBN", "IN") and verb_lemma(before.text) not in _TELLING
    return subject and object_of and before.lower not in SUBORDINATORS and tokens[after + 1].tag in FINITE


def _is_named(tokens: Sequence[Token], entity: Entity) -> bool:
    return tokens[entity.first].tag.startswith("NNP")


def _is_symmetric(caption: Caption, clause: Clause, patient: Entity) -> bool:
    """Tell whether a verb says the same of both sides: "met Jerry", "was next to Jerry", "played chess with Jerry"."""
    tokens, table = caption.tokens, confusion_table()
    if _owns(tokens, patient):
        return False
    verb, lemma = clause.verb.main, clause.verb.lemma
    for number in range(verb + 1, min(verb + 3, patient.first)):
        if lemma in table["phases"] and tokens[number].tag in ("VB", "VBG", "NN"):
            verb, lemma = number, verb_lemma(tokens[number].text)
    between = [token.lower for token in tokens[verb + 1 : patient.first]]
    if any(token.tag.startswith("VB") for token in tokens[verb + 1 : patient.first - 1]) and lemma != "be":
        return False
    if not between:
        return lemma in table["symmetric"]
    if f"{lemma} {' '.join(between)}" in table["symmetric_phrases"]:
        return True
    if lemma in table["states"] and "_".join(between) in table["mutual_states"]:
        return True
    if between[-1] != "with" or len(between) > 5:
        return False
    if any(token.tag in ("IN", "CC", "TO") for token in tokens[verb + 1 : patient.first - 1]) and lemma != "be":
        return False
    shared = len(between) > 1 and between[-2] in table["shared"] and lemma in table["sharing"]
    return lemma in table["symmetric_with"] or shared or between[-2:-1] == ["together"]


def _double_negation(caption: Caption, main: Clause) -> str:
    """Say why a clause that holds "nothing" or the like can neither be negated nor made positive."""
    inner = min((c.verb.tokens[0] for c in clauses(caption) if c.verb.main > main.verb.main), default=main.stop)
    behind = caption.tokens[main.verb.main + 1 : min(inner, main.stop)]
    words = [token.lower for token in behind]
    negative = {word for word in POSITIVE if word in words and word != "no"}
    if is_negated(caption, main):
        return "it is negated twice" if remove_negation(caption, main) is None else ""
    return f'it says "{min(negative)}"' if negative else ""


def _negated(caption: Caption, main: Clause, confuser: Confuser) -> str | None:
    """Negate a clause and those joined to it by "and"; all must stand as they do, negated or not."""
    negative = is_negated(caption, main)
    turned = remove_negation if negative else negate
    text = turned(*_with_polarity(caption, main, confuser, negative))
    if text is None:
        return None
    number = clauses(caption).index(main)
    follower = next((c for c in clauses(caption) if c.previous == number and c.finite), None)
    if follower is None or is_negated(caption, follower) != negative or follower.verb.tense != main.verb.tense:
        return text
    between = caption.text[caption.tokens[main.verb.main].end : caption.tokens[follower.verb.first].start].lower()
    if not re.search(r"\band\b", between):
        return text
    again = confuser.read(text)
    behind = [c for c in clauses(again) if c.finite and c.verb.lemma == follower.verb.lemma and c.role == "coordinate"]
    return (turned(again, behind[0]) if behind else None) or text


def _with_polarity(caption: Caption, main: Clause, confuser: Confuser, negative: bool) -> tuple[Caption, Clause]:
    """Write "any" for "some" and drop "finally" in what will be negated, and the other way round."""
    table = confusion_table()
    changes = {}
    for number in range(main.verb.first, main.stop):
        word = caption.tokens[number].lower
        if number + 1 < len(caption.tokens) and caption.tokens[number + 1].lower == "one":
            continue
        if word in ("without", "before", "if"):
            break  # "without making any noise"
        if negative and word in table["positive"]:
            changes[number] = table["positive"][word]
        elif not negative and word in table["negative"]:
            changes[number] = table["negative"][word]
    if not changes:
        return caption, main
    again = confuser.read(caption.edit(changes))
    return again, main_clause(again) or main


def _infinitive_negated(caption: Caption) -> Confusion | Unconfused:
    words = [token.lower for token in caption.tokens[:2]]
    if words[:1] in (["to"], ["for"]):
        if words[-1] in NEGATIONS:
            return Confusion(caption.edit({1: ""}), "negation")
        return Confusion(caption.edit({}, {0: "not"}), "negation")
    return Unconfused("negation", "no verb that can be negated")


def _ambiguity(caption: Caption, main: Clause) -> str:
    """Say why a negation can be read in two ways."""
    if any(token.lower in NEGATIONS or token.lower in POSITIVE for token in caption.tokens[main.verb.main + 1 :]):
        return "a negated complement"
    behind = [c for c in clauses(caption) if c.finite and c.start and c.verb.main > main.verb.main]
    if any(caption.tokens[c.start - 1].lower in confusion_table()["reasons"] for c in behind):
        return "a reason or time behind it, which may be what is denied"
    return ""


def entities(caption: Caption, cast: Cast) -> Iterator[Entity]:
    """Find everybody in a text, from left to right; those joined by "and" or commas as one."""
    singles = list(_singles(caption, cast))
    place = 0
    while place < len(singles):
        group = [singles[place]]
        while place + 1 < len(singles) and (
            _joined(caption, group[-1], singles[place + 1], group[0].first)
            or (place + 2 < len(singles) and _listed(caption, *singles[place : place + 3]))
        ):
            if singles[place + 1].key in {entity.key for entity in group}:
                break
            place += 1
            group.append(singles[place])
        place += 1
        if len(group) == 1 or _owns(caption.tokens, group[-1]):  # "Spike and Tyke's ball": who owns it is not certain
            yield from group
        else:
            key = tuple(sorted(part for entity in group for part in entity.key))
            yield Entity(group[0].first, group[-1].stop, key, True, "plural", tuple(group))


def _joined(caption: Caption, one: Entity, two: Entity, first: int | None = None) -> bool | None:
    """Tell whether "and" joins two, or the clauses that they stand in; None where it may be either.

    In "Tom was chasing Jerry and Spike wanted to sleep" Jerry is an object and Spike does something of his own. So
    nobody is joined with himself, or with whom a finite verb follows, if a verb or preposition has the first as object.
    """
    tokens = caption.tokens
    first = one.first if first is None else first
    if [token.lower for token in tokens[one.stop : two.first]] not in (["and"], [",", "and"]):
        return False
    if set(one.key) & set(two.key) or _owns(tokens, one):
        return False
    after = two.stop
    while after < len(tokens) and (tokens[after].tag.startswith("RB") or tokens[after].lower in ("both", "then")):
        after += 1
    verb = tokens[after] if after < len(tokens) else None
    acts = verb is not None and (verb.tag in FINITE or (verb.lower.endswith("ed") and is_verb_form(verb.lower, "VBD")))
    if verb is None or not acts or first == 0:
        return True
    before = tokens[first - 1]
    number = first - 2
    while number > 0 and tokens[number].tag.startswith("RB"):
        number -= 1
    goes = verb_lemma(tokens[max(number, 0)].text) in ("run", "chase", "go", "come")
    moves = goes and before.lower in ("after", "before")
    opens = before.lower in SUBORDINATORS or before.tag in ("CC", ",", "WRB", "WDT") or before.lower == "like"
    if (opens and not moves) or (before.lower == "with" and verb.tag == "VBN"):
        return True
    if before.tag.startswith("JJ") or before.lower == "with":  # "make sure Tom and Jerry were"
        return None
    if verb.lower in ("was", "is", "has", "wants") or verb.tag == "VBZ":
        return two.plural and None
    if verb.lower in ("were", "are", "have") or verb.tag == "VBP":
        return None if two.plural else True
    return None if _has_thought(tokens, before) else False


def _has_thought(tokens: Sequence[Token], before: Token) -> bool:
    """Tell whether a clause can stand behind a verb without "that": "knew Tom and Jerry were there"."""
    thoughts = ("know", "think", "believe", "realise", "realize", "see", "hear", "find", "say", "hope", "wish", "feel")
    return before.tag.startswith("VB") and verb_lemma(before.text) in thoughts


def _listed(caption: Caption, one: Entity, two: Entity, three: Entity) -> bool:
    """Tell whether commas join three: "Tom, Butch and Spike"."""
    marks = [token.lower for token in caption.tokens[two.stop : three.first]]
    comma = [token.lower for token in caption.tokens[one.stop : two.first]] == [","]
    return comma and marks in (["and"], [",", "and"], [","]) and not _owns(caption.tokens, one)


def _owns(tokens: Sequence[Token], entity: Entity) -> bool:
    after = tokens[entity.stop] if entity.stop < len(tokens) else None
    return after is not None and after.text in _POSSESSIVE and after.start == tokens[entity.stop - 1].end


@lru_cache
def _name_parts(names: tuple[str, ...]) -> tuple[tuple[int, frozenset[tuple[str, ...]]], ...]:
    """Give names in small letters, as words, by their number of words, most first."""
    found = defaultdict[int, set[tuple[str, ...]]](set)
    for name in names:
        parts = tuple(token.lower for token in tokenize(name))
        found[len(parts)].add(parts)
    return tuple((size, frozenset(found[size])) for size in sorted(found, reverse=True))


def _singles(caption: Caption, cast: Cast) -> Iterator[Entity]:
    """Find everybody in a text one by one: names with what is before them, and nouns for living beings."""
    tokens, table = caption.tokens, confusion_table()
    names = _name_parts(cast.names)
    lower = [token.lower for token in tokens]

    def named(number: int) -> int:
        return next((size for size, parts in names if tuple(lower[number : number + size]) in parts), 0)

    number = 0
    while number < len(tokens):
        size = named(number)
        if not size:
            if _is_somebody(tokens, number):
                start = _phrase_start(tokens, number)
                if not named(number + 1):  # "the cat Lightning": said with the name
                    words = [word for word in lower[start : number + 1] if word not in table["determiners"]]
                    plural = tokens[number].tag in ("NNS", "NNPS") or bool(set(words) & table["collectives"])
                    gender = "plural" if plural else _gender(lower[number])
                    figure = _is_drawing(tokens, number + 1)
                    words += lower[number + 1 : number + 1 + figure]
                    yield Entity(start, number + 1 + figure, (" ".join(words),), plural, gender)
            number += 1
            continue
        key, stop = " ".join(lower[number : number + size]), number + size
        if _is_adjective(tokens, number, stop):
            number = stop
            continue
        start = _name_start(tokens, number)
        single = Entity(start, stop, (key,), False, cast.genders.get(key, ""))
        number = stop
        noun = _owned(tokens, stop)
        if noun is not None:
            number = noun + 1
            own = (f"{key}'s {lower[noun]}",)
            end = noun + 1 + named(noun + 1)
            if end > noun + 1:  # "Spike's son Tyke"
                own, number = (" ".join(lower[noun + 1 : end]),), end
            several = tokens[noun].tag == "NNS"
            single = Entity(start, number, own, several, "plural" if several else _gender(lower[noun]), (single,))
        yield single


def _is_adjective(tokens: Sequence[Token], number: int, stop: int) -> bool:
    """Tell whether a name stands for no one, between an article and a noun: "the tiny bulldog", "a cuckoo clock"."""
    if not number or tokens[number - 1].tag != "DT" or not _is_modifier(tokens, stop - 1):
        return False
    return not (is_verb_form(tokens[stop].lower, "VBD") or tokens[stop].lower.endswith("ing"))


def _name_start(tokens: Sequence[Token], number: int) -> int:
    """Find where the phrase of a name begins: "the poor Butch", "the robot cat Mechano"; not bare adjectives."""
    table = confusion_table()
    if number and _is_somebody(tokens, number - 1, True):
        return _phrase_start(tokens, number - 1)
    start = number
    while start and tokens[start - 1].tag == "JJ" and tokens[start - 1].lower not in table["determiners"]:
        start -= 1
    if not start:
        return 0  # "Invisible Quacker used"
    return start - 1 if tokens[start - 1].lower in ("the", "a", "an") else number


def _owned(tokens: Sequence[Token], number: int) -> int | None:
    """Find the living being that a name owns: the noun of "'s beautiful girlfriend"."""
    if number >= len(tokens) or tokens[number].tag != "POS":
        return None
    noun = number + 1
    while noun < len(tokens) and tokens[noun].tag in ("JJ", "NN", "VBN"):
        if _is_somebody(tokens, noun):
            break
        noun += 1
    return noun if noun < len(tokens) and _is_somebody(tokens, noun) else None


def _is_somebody(tokens: Sequence[Token], number: int, before_name: bool = False) -> bool:
    """Tell whether a word is a noun for a living being that stands for itself."""
    table, token = confusion_table(), tokens[number]
    word, before = token.lower, tokens[number - 1] if number else None
    if word not in table["animate"] or not token.tag.startswith("NN"):
        return False
    if not before_name and _is_modifier(tokens, number):
        return False
    if before is None:
        return True
    start = _phrase_start(tokens, number)
    if f"{before.lower}_{word}" in table["things"] or _is_food(tokens, word):
        return False
    if word in table["bare"] and not any(p.tag in ("DT", "PRP$", "CD") for p in tokens[start:number]):
        return before.tag == "POS"
    nominal = before.tag.startswith(("NN", "PRP")) and before.tag != "PRP$"
    return not (word in table["verbs_too"] and nominal and before.lower not in table["animate"])


def _is_food(tokens: Sequence[Token], word: str) -> bool:
    """Tell whether an animal is a dish anywhere in a text: "the roast chicken ... put the chicken over his head"."""
    dishes = [n for n, token in enumerate(tokens) if token.lower in confusion_table()["food"] and token.tag[:2] != "VB"]
    dishes += [n for n, token in enumerate(tokens) if token.tag == "VBN" and token.lower in confusion_table()["food"]]
    return any(word == token.lower for n in dishes for token in tokens[n + 1 : n + 3])


def _phrase_start(tokens: Sequence[Token], number: int) -> int:
    """Find where the phrase of a noun begins: with modifiers, a determiner, "a swarm of"."""
    table, start = confusion_table(), number

    def determines(place: int) -> bool:
        return place >= 0 and (tokens[place].lower in table["determiners"] or tokens[place].tag == "PRP$")

    while start:
        before, tag = tokens[start - 1], tokens[start - 1].tag
        if tag in ("DT", "PDT", "PRP$"):
            break
        two = start > 1 and tokens[start - 2]
        if tag in ("VBN", "VBG") and not determines(start - 2):
            if not (two and two.tag.startswith("RB") and determines(start - 3)):
                break
            start -= 2
        elif tag in ("CC", ",") and tokens[start].tag == "JJ" and two and two.tag == "JJ" and determines(start - 3):
            start -= 2
        elif tag in ("NN", "JJ") and two and two.tag in ("CC", "TO") and is_verb_form(before.lower, "VB"):
            break  # "chase and catch mice"
        elif tag in ("JJ", "NN", "VBN", "VBG", "CD") or (tag == "NNP" and determines(start - 2)):  # "the Tiny bulldog"
            start -= 1
        else:
            break
    if determines(start - 1):
        start -= 1
    if start > 1 and tokens[start - 1].lower == "of" and tokens[start - 2].lower in table["collectives"]:
        start -= 2
        while start and tokens[start - 1].tag == "JJ":
            start -= 1
        start -= determines(start - 1)
    return start


def _is_modifier(tokens: Sequence[Token], number: int) -> bool:
    """Tell whether a noun stands before another one: "the mouse hole"."""
    after = tokens[number + 1] if number + 1 < len(tokens) else None
    if after is None or after.start != tokens[number].end + 1:
        return False
    return after.tag in ("NN", "NNS") and not _is_drawing(tokens, number + 1)


def _is_drawing(tokens: Sequence[Token], number: int) -> bool:
    """Tell whether a drawing or doll of somebody is named, which acts like him: "the cat drawing wanted"."""
    if number >= len(tokens) or tokens[number].lower not in confusion_table()["figures"]:
        return False
    after = tokens[number + 1] if number + 1 < len(tokens) else None
    return after is None or after.tag in (".", ",", "CC", "IN", "TO", "POS", "VBG", "RB", *FINITE)


def _gender(noun: str) -> str:
    table = confusion_table()
    return "female" if noun in table["female"] else "male" if noun in table["male"] else ""


def _entity_of(phrase: NounPhrase | None, found: Sequence[Entity]) -> Entity | None:
    """Find who a noun phrase is: the one that its head belongs to, unless that only owns something."""
    if phrase is None:
        return None
    inside = [e for e in found if e.first <= phrase.stop - 1 and e.stop > phrase.first]
    whole = [e for e in inside if any(e.first <= head < e.stop for head in phrase.heads)]
    return whole[0] if whole else None


def _exchanged(caption: Caption, agent: Entity, patient: Entity, found: Sequence[Entity]) -> str:
    """Write the text with every mention of the two exchanged."""
    tokens = caption.tokens
    changes: dict[int, str] = {}
    keys, written_once = (agent.key, patient.key), set[tuple[str, ...]]()
    for entity in _mentions(found, keys):
        other = patient if entity.key == agent.key else agent
        written = _in_place(caption, _moved(caption, other, found, other.key in written_once), entity, other)
        written_once.add(other.key)
        for number in range(entity.first + 1, entity.stop):
            changes[number] = ""
        changes[entity.first] = written
        if _owns(tokens, entity):
            mark = tokens[entity.stop].text[0]
            ends = written.lower().endswith("s")
            plain = tokens[entity.stop].text in ("'", "’")
            if ends != plain:
                changes[entity.stop] = mark if ends else f"{mark}s"
        if _is_relative(tokens, entity.stop) and _is_named(tokens, other) and not _is_named(tokens, entity):
            changes[entity.stop] = "who"  # "the fish that Tom held": no name goes with "that"
    _agree(caption, agent, patient, found, changes)
    _pronouns(caption, agent, patient, changes)
    return caption.edit(changes)


def _is_relative(tokens: Sequence[Token], number: int) -> bool:
    """Tell whether "that" opens a relative clause: "the fish that Tom held", not "told the cat that Tom was there"."""
    if number + 1 >= len(tokens) or tokens[number].lower != "that" or tokens[number].tag != "WDT":
        return False
    told = any(token.tag.startswith("VB") and verb_lemma(token.text) in _TELLING for token in tokens[:number])
    return not told and tokens[number + 1].tag != "DT"


def _mentions(found: Iterable[Entity], keys: tuple[tuple[str, ...], ...]) -> Iterator[Entity]:
    """Give all mentions of some, also inside others: Tom of "Tom's owner" and of "Tom and Butch"."""
    for entity in found:
        if entity.key in keys:
            yield entity
        else:
            yield from _mentions(entity.parts, keys)


def _moved(caption: Caption, entity: Entity, found: Sequence[Entity], again: bool) -> str:
    """Write somebody in the words of the first mention, as in the middle of a sentence; a second time with "the"."""
    tokens = caption.tokens
    entity = next(e for e in found if e.key == entity.key)
    first = tokens[entity.first]
    if again and first.lower in ("a", "an") and entity.stop > entity.first + 1:
        counted = tokens[entity.first + 1].lower in ("lot", "number", "couple", "dozen", "pair", "bunch")
        start = tokens[entity.first + 2] if counted and entity.stop > entity.first + 3 else first  # "the cats"
        return "the" + caption.text[start.end : tokens[entity.stop - 1].end]
    named = first.tag not in ("DT", "JJ", "PRP$", "NN", "NNS", "CD")
    return (first.text if named else without_capital(first)) + caption.text[first.end : tokens[entity.stop - 1].end]


def _in_place(caption: Caption, written: str, entity: Entity, other: Entity) -> str:
    """Give a name the capitals of the one whose place it takes, and the beginning of a text those that it had."""
    tokens = caption.tokens
    place = tokens[entity.first]
    if place.text[:1].islower() and (entity.first == 0 or (_is_named(tokens, entity) and _is_named(tokens, other))):
        return written.lower()
    if place.text[:1].isupper() and _is_named(tokens, entity) and _is_named(tokens, other) and written.islower():
        return written.title() if "'" not in written else with_capital(written)
    return written


def _agree(caption: Caption, agent: Entity, patient: Entity, found: Sequence[Entity], changes: dict[int, str]) -> None:
    """Make finite verbs agree with who is their subject now."""
    if agent.plural == patient.plural:
        return
    for clause in clauses(caption):
        subject = _entity_of(clause.subject, found)
        if subject is None or clause.subject is None or not clause.finite or clause.verb.tense == "modal":
            continue
        if subject.key not in (agent.key, patient.key):
            continue
        other = patient if subject.key == agent.key else agent
        word = full_form(caption.tokens[clause.verb.first].text)
        past = clause.verb.tense == "past"
        lemma = verb_lemma(word)
        before = caption.tokens[subject.first - 1]
        bare = subject.first and before.tag.startswith("VB")  # "saw them run"
        if lemma != "be" and (past or bare):
            continue
        phrase = replace(clause.subject, plural=other.plural, person=3)
        new = finite_form(lemma, past, phrase)
        if new != word:
            changes[clause.verb.first] = new


def _pronouns(caption: Caption, agent: Entity, patient: Entity, changes: dict[int, str]) -> None:
    """Exchange pronouns that can only mean one of the two."""
    genders = {agent.gender: patient.gender, patient.gender: agent.gender}
    if not agent.gender or not patient.gender or agent.gender == patient.gender:
        if "plural" not in genders:
            return
        genders = {agent.gender or "male": patient.gender or "male", patient.gender or "male": agent.gender or "male"}
    forms = {(form, word): gender for gender, table in _PRONOUNS.items() for form, word in table.items()}
    for number, token in enumerate(caption.tokens):
        if token.tag not in ("PRP", "PRP$") or number in changes:
            continue
        form = "PRP$" if token.tag == "PRP$" else "self" if token.lower.endswith(("self", "selves")) else ""
        for name in (form,) if form else ("subject", "object"):
            gender = forms.get((name, token.lower))
            if gender in genders:
                changes[number] = _PRONOUNS[genders[gender]][name]
                break


def confuse_options(
    right: str,
    choice: Choice,
    confuser: Confuser,
    *,
    count: int,
    seed: int,
    item_id: str,
    kind: str,
    made: Mapping[Kind, Confusion | Unconfused] | None = None,
) -> tuple[Choice, tuple[Confusion | Unconfused, ...]]:
    """Put confusions of the right option in the place of wrong ones.

    Args:
        right: The right option.
        choice: The options as mined.
        confuser: Makes the confusions.
        count: How many wrong options to replace at most, 1 or 2.
        seed: The dataset's seed.
        item_id: The question.
        kind: "answer" or "explanation".
        made: Confusions that were made elsewhere, by kind, in place of those of `confuser`.

    Returns:
        The options, the right one and the rest in their places, and what became of each way. A confusion that says the
        same as another option replaces nothing and is counted as not made.
    """
    found = made or {"negation": confuser.negation(right), "swap": confuser.swap(right)}
    rng = rng_for(seed, "confuse", item_id, kind)
    order = [KINDS[place] for place in rng.permutation(len(KINDS)).tolist()]
    wrong = [place for place in range(len(choice.options)) if place != choice.answer_index]
    places = [wrong[place] for place in rng.permutation(len(wrong)).tolist()]
    options, sources = list(choice.options), list(choice.sources)
    results: dict[Kind, Confusion | Unconfused] = {}
    taken = 0
    for way in order:
        result = found[way]
        if isinstance(result, Confusion) and text_key(result.text) in {text_key(option) for option in options}:
            result = Unconfused(way, "another option says the same")
        results[way] = result
        if isinstance(result, Confusion) and taken < min(count, len(places)):
            place = places[taken]
            options[place] = result.text
            sources[place] = Negative(item_id, result.text, 1.0, 0.0, 0.0, way)
            taken += 1
    return Choice(tuple(options), choice.answer_index, tuple(sources)), tuple(results[way] for way in KINDS)
