"""Causal confusion: the right answer turned into a wrong one, by negation or by exchange of who does it to whom.

Source: Parmar et al. 2024, "CausalChaos! Dataset for Comprehensive Causal Action Question Answering Over Longer Causal
Chains Grounded in Dynamic Visual Scenes" (arXiv 2404.01299), section 3.3: options with the opposite effect ("Tom was
hitting Jerry", "Tom was not hitting Jerry") or with swapped agents ("Jerry was hitting Tom"). Where we differ from the
released options: an option keeps the capitals, the apostrophes, the final stop and the "because" of the right answer,
so that none of these gives it away, and no option only reorders "Tom and Jerry", which is a second right answer.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from ..language.clauses import NEGATIONS, Clause, NounPhrase, clauses, main_clause
from ..language.inflection import is_verb_form, verb_lemma
from ..language.rewrite import finite_form, full_form, is_negated, negate, remove_negation
from ..language.tagger import Tagger
from ..language.words import Caption, Token, tokenize, without_capital
from ..seeds import rng_for
from .cast import Cast, confusion_table, name_pattern
from .mining import Choice, Negative, text_key

Kind = Literal["negation", "swap"]
KINDS: tuple[Kind, ...] = ("negation", "swap")
_AUXILIARIES = frozenset(
    ("was", "were", "is", "are", "had", "has", "have", "been", "being", "got", "get", "saw", "heard")
)
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
    """

    first: int
    stop: int
    key: tuple[str, ...]
    plural: bool
    gender: str


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
        main = main_clause(caption)
        if main is None:
            return _infinitive_negated(caption)
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
        table = confusion_table()
        words = {token.lower for token in caption.tokens}
        if "each" in words and "other" in words:
            return Unconfused("swap", "they do it to each other")
        main = main_clause(caption)
        ordered = sorted(clauses(caption), key=lambda clause: (clause != main, clause.verb.main))
        for clause in ordered:
            agent = _entity_of(clause.subject, found)
            if agent is None:
                continue
            behind = [
                e
                for e in found
                if e.first >= clause.verb.main and not set(e.key) & set(agent.key) and not _is_said_of(caption, e)
            ]
            if not behind:
                continue
            patient = behind[0]
            follows = caption.tokens[clause.verb.main + 1].lower if clause.verb.main + 1 < len(caption.tokens) else ""
            lemma = clause.verb.lemma
            if (lemma in table["symmetric"] and clause.object is not None) or (
                lemma in table["symmetric_with"] and follows == "with"
            ):
                return Unconfused("swap", "both sides do the same")
            swapped = _exchanged(caption, agent, patient, found)
            if text_key(swapped) == text_key(text):
                return Unconfused("swap", "it gives the same words")
            return Confusion(swapped, "swap")
        return Unconfused("swap", "nobody does it to somebody")


def _tag_past_verbs(tokens: list[Token]) -> None:
    """Tag past verbs that a tagger took for something else: "Tom heard noises", "saw Joan and overheard her"."""
    for number in range(1, len(tokens)):
        token, before = tokens[number], tokens[number - 1]
        if token.tag not in ("VBN", "NN", "VBP", "VB", "JJ") or not is_verb_form(token.lower, "VBD"):
            continue
        follows = tokens[number + 1].tag if number + 1 < len(tokens) else "."
        object_follows = follows in ("DT", "NNP", "NNPS", "NNS", "PRP", "PRP$", "IN", "CD", "EX", ".", "RB", "RP")
        finite = [earlier for earlier in tokens[:number] if earlier.tag in ("VBD", "VBZ", "VBP", "MD")]
        acts = before.tag == "NNP" and not (finite and finite[-1].lower in _AUXILIARIES)
        verbs = [earlier for earlier in tokens[:number] if earlier.tag.startswith("VB")]
        joined = before.lower == "and" and bool(verbs) and verbs[-1].tag == "VBD"
        if object_follows and (acts or (joined and finite[-1].lower not in _AUXILIARIES)):
            tokens[number] = replace(token, tag="VBD")


def _is_said_of(caption: Caption, entity: Entity) -> bool:
    """Tell whether somebody is what another one is said to be: "he is supposed to be a baby"."""
    return any(c.verb.copula and c.verb.main + 1 == entity.first for c in clauses(caption))


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
        if negative and word in table["positive"]:
            changes[number] = table["positive"][word]
        elif not negative and word in table["negative"]:
            changes[number] = table["negative"][word]
    if not changes:
        return caption, main
    again = confuser.read(caption.edit(changes))
    return again, main_clause(again) or main


def _infinitive_negated(caption: Caption) -> Confusion | Unconfused:
    first = caption.tokens[0] if caption.tokens else None
    if first is not None and first.lower in ("to", "for"):
        return Confusion(caption.edit({}, {0: "not"}), "negation")
    return Unconfused("negation", "no verb that can be negated")


def _ambiguity(caption: Caption, main: Clause) -> str:
    """Say why a negation can be read in two ways."""
    if any(token.lower in NEGATIONS for token in caption.tokens[main.verb.main + 1 :]):
        return "a negated complement"
    behind = [c for c in clauses(caption) if c.finite and c.start and c.verb.main > main.verb.main]
    if any(caption.tokens[c.start - 1].lower in confusion_table()["reasons"] for c in behind):
        return "a reason or time behind it, which may be what is denied"
    return ""


def entities(caption: Caption, cast: Cast) -> Iterator[Entity]:
    """Find everybody in a text, from left to right; those joined by "and" or commas as one."""
    singles = list(_singles(caption, cast))
    tokens = caption.tokens
    place = 0
    while place < len(singles):
        group = [singles[place]]
        while place + 1 < len(singles):
            between = [token.lower for token in tokens[group[-1].stop : singles[place + 1].first]]
            more = singles[place + 1 : place + 3]
            joined = between in (["and"], [",", "and"]) or (
                between == [","]
                and len(more) == 2
                and [t.lower for t in tokens[more[0].stop : more[1].first]] in (["and"], [",", "and"], [","])
            )
            if not joined or _owns(tokens, group[-1]):
                break
            place += 1
            group.append(singles[place])
        place += 1
        if len(group) == 1 or _owns(tokens, group[-1]):  # "Spike and Tyke's ball": who owns it is not certain
            yield from group
        else:
            key = tuple(sorted(part for entity in group for part in entity.key))
            yield Entity(group[0].first, group[-1].stop, key, True, "plural")


def _owns(tokens: Sequence[Token], entity: Entity) -> bool:
    after = tokens[entity.stop] if entity.stop < len(tokens) else None
    return after is not None and after.text in _POSSESSIVE and after.start == tokens[entity.stop - 1].end


def _singles(caption: Caption, cast: Cast) -> Iterator[Entity]:
    tokens = caption.tokens
    names = {tuple(token.lower for token in tokenize(name)): name for name in cast.names}
    longest = max(map(len, names), default=0)
    table = confusion_table()
    lower = [token.lower for token in tokens]
    number = 0
    while number < len(tokens):
        size = next(
            (n for n in range(longest, 0, -1) if len(part := tuple(lower[number : number + n])) == n and part in names),
            0,
        )
        if size:
            key = " ".join(lower[number : number + size])
            start = number
            while (
                start
                and tokens[start - 1].tag == "JJ"
                and tokens[start - 1].lower not in confusion_table()["determiners"]
            ):
                start -= 1
            if start and lower[start - 1] in ("the", "a", "an"):
                start -= 1
            owned = number + size
            noun = owned + 1
            if (
                owned < len(tokens)
                and tokens[owned].tag == "POS"
                and noun < len(tokens)
                and lower[noun] in table["animate"]
            ):
                yield Entity(
                    start, noun + 1, (f"{key}'s {lower[noun]}",), tokens[noun].tag == "NNS", _gender(lower[noun])
                )
                number = noun + 1
                continue
            yield Entity(start, number + size, (key,), False, cast.genders.get(key, ""))
            number += size
            continue
        if (
            lower[number] in table["animate"]
            and tokens[number].tag.startswith("NN")
            and not _is_modifier(tokens, number)
        ):
            start = number
            while (
                start
                and tokens[start - 1].tag in ("JJ", "NN", "VBN", "VBG", "CD", "NNP")
                and _describes(tokens, start - 1)
            ):
                start -= 1
            if start and (lower[start - 1] in confusion_table()["determiners"] or tokens[start - 1].tag == "PRP$"):
                start -= 1
            key = " ".join(word for word in lower[start : number + 1] if word not in confusion_table()["determiners"])
            plural = tokens[number].tag in ("NNS", "NNPS")
            yield Entity(start, number + 1, (key,), plural, "plural" if plural else _gender(lower[number]))
        number += 1


def _is_modifier(tokens: Sequence[Token], number: int) -> bool:
    """Tell whether a noun stands before another one: "the mouse hole"."""
    after = tokens[number + 1] if number + 1 < len(tokens) else None
    return after is not None and after.tag in ("NN", "NNS") and after.start == tokens[number].end + 1


def _describes(tokens: Sequence[Token], number: int) -> bool:
    verbal = tokens[number].tag in ("VBN", "VBG")
    return not verbal or (number > 0 and tokens[number - 1].lower in confusion_table()["determiners"])


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
    for entity in found:
        if entity.key not in (agent.key, patient.key):
            continue
        other = patient if entity.key == agent.key else agent
        source = _mention(other, found)
        written = _moved(caption, source)
        for number in range(entity.first + 1, entity.stop):
            changes[number] = ""
        changes[entity.first] = written
        if _owns(tokens, entity):
            mark = tokens[entity.stop].text[0]
            ends = written.lower().endswith("s")
            plain = tokens[entity.stop].text in ("'", "’")
            if ends != plain:
                changes[entity.stop] = mark if ends else f"{mark}s"
    _agree(caption, agent, patient, found, changes)
    _pronouns(caption, agent, patient, changes)
    return caption.edit(changes)


def _mention(entity: Entity, found: Sequence[Entity]) -> Entity:
    """The first mention of somebody, which has the fullest words."""
    return next(e for e in found if e.key == entity.key)


def _moved(caption: Caption, entity: Entity) -> str:
    """Write somebody as in the middle of a sentence."""
    tokens = caption.tokens
    first = tokens[entity.first]
    start = without_capital(first) if first.tag in ("DT", "JJ", "PRP$", "NN", "NNS", "CD") else first.text
    return start + caption.text[first.end : tokens[entity.stop - 1].end]


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
        if past and lemma != "be":
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
