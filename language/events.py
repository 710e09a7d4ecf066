"""Turn texts into events: statements in the past tense with their subject, and the yes/no questions about them.

"Why was Jerry running?" presupposes that "Jerry was running"; "A black dog jumps over the fence." tells that "the black
dog jumped over the fence". The parse of the statement gives the subject, the verb and the verbs joined to it. Clauses
of time or cause are cut off, because questions ask whether one event came before another. States, such as being happy
or having a scared expression, are no events at a time.

The statement is parsed again: its subject and verb must be those of the question or text. A text that yields no event
has a reason code from `REASONS`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import lru_cache

from .actions import VERBS
from .grammar import Refused, difference, disagreement, is_plural_subject
from .lexicon import BE, DO, FINITE, HAVE, Tag, inflect, is_noun, is_verb_form, lexicon_hashes, verb_lemma, word_lists
from .parse import parse
from .people import PRONOUNS, Cast, is_person, is_person_noun
from .phrases import LONGEST, LONGEST_TEXT, Gerund, fold_noun, folded, phrase, phrase_identity
from .words import Caption, name_pattern, with_capital

REASONS = {
    "not_why": "no why-question about something that happened",
    "quoted": "it contains a quotation",
    "no_subject": "no subject was recognised",
}
_CLAUSES = ("conj", "dep", "parataxis", "advcl")
_HELPERS = ("aux", "auxpass", "amod")
_OPENERS = ("DT", "POS", "PRP$", "CC")  # no subject ends with them
_SUBJECTS = ("nsubj", "nsubjpass")
_DOUBLED = re.compile(r"\b([a-z]+) \1\b(?<!that that)(?<!had had)(?<!on on)(?<!in in)", re.IGNORECASE)
_CLITIC = re.compile(r"(?<=[a-z]) s\b")
_DETERMINED = re.compile(r"\b(?:the|an?|his|her|its|their|this) $", re.IGNORECASE)
_TITLE = re.compile(r"\b(Mr|Mrs|Ms|Dr|St)\.(?= [A-Z])")
_QUOTES = re.compile(r"[\"“”«»()\[\]]|(?<!\w)['‘]|(?<![sS])'(?!\w)")
_WHY = re.compile(r"why (\w+)(n't)? (.*)", re.IGNORECASE)


@dataclass(frozen=True)
class Event:
    """Something that happened.

    Attributes:
        phrase: The statement, in lower case except names, without a period: "Tom dipped his fingers in the ink".
        question: The yes/no question: "Did Tom dip his fingers in the ink".
        subject: The subject as written in the phrase.
        verb: Lemma of the verb that names the action: "run" in "started to run".
        words: Lemmas of all verbs and nouns except names, with synonyms merged.
        objects: The nouns in `words` that are not in the subject.
    """

    phrase: str
    question: str
    subject: str
    verb: str
    words: frozenset[str]
    objects: frozenset[str]


def event(question: str, cast: Cast | None = None) -> Event | str:
    """Return the event that a why-question presupposes or, if it is uncertain, a reason code.

    The names in `cast` are matched case-insensitively.
    """
    return "long" if len(question) > LONGEST_TEXT else _event_of_question(question, cast.names if cast else ())


def free_phrase(text: str) -> Gerund | Event | str:
    """Return a gerund phrase if people act in a text, an event if a thing or a named person does, or a reason.

    `text` is anything that `phrases.phrase` accepts, or a sentence such as "the dog jumps over the fence". Reason codes
    are from `phrases.REASONS` or `events.REASONS`.
    """
    gerund = phrase(text)
    event_or_reason = _event_of_statement(text) if gerund in ("other_subject", "no_verb") else None
    return gerund if event_or_reason is None else event_or_reason


def event_identity() -> dict[str, str]:
    """Return everything besides the code that determines events: the hashes of the word lists, and the parser."""
    return {**phrase_identity(), **lexicon_hashes("events")}


@lru_cache(maxsize=1 << 14)
def _event_of_question(question: str, names: tuple[str, ...]) -> Event | str:
    try:
        return _written(_statement(_plain(question, names), names), names)
    except Refused as refusal:
        return str(refusal)


@lru_cache(maxsize=1 << 14)
def _event_of_statement(text: str) -> Event | str | None:
    """Return an event, or a reason, or None if people act."""
    try:
        plain = _plain(text, ())
        if not any(character.isalnum() for character in plain):
            raise Refused("empty")
        caption = parse(plain)
        first = caption.tokens[0]
        if first.arc == "compound" and caption.tokens[first.head].text.islower():
            caption = parse(plain[:1].lower() + plain[1:])  # "Tooth brushes" is no name
        if len(caption.sentences) != 1:
            raise Refused("several_sentences")
        if _QUOTES.search(caption.text):
            raise Refused("quoted")
        clause = _clause_of_statement(caption)
        return None if is_person(clause.caption, clause.subject) else _written(clause, ())
    except Refused as refusal:
        return str(refusal)


def _plain(text: str, names: tuple[str, ...]) -> str:
    """Return a text with plain marks, without words written twice, and with names as they are written in the cast."""
    plain = " ".join(text.replace("’", "'").replace("`", "'").replace("&", "and").split()).strip(" .?!…,;:")
    plain = _CLITIC.sub("'s", _DOUBLED.sub(r"\1", _TITLE.sub(r"\1", plain)))
    written = {name.lower(): name for name in names}
    pattern = name_pattern(names)

    def capitalised(match: re.Match[str]) -> str:
        common = match[0].islower() and _DETERMINED.search(plain[: match.start()])  # "the tiny mouse"
        return match[0] if common else written[match[0].lower()]

    return pattern.sub(capitalised, plain) if pattern else plain


@dataclass(frozen=True)
class _Clause:
    """A sentence with a subject and what it does.

    Attributes:
        caption: The parse, whose root is the verb that names what happens.
        who: The tokens of the subject.
        subject: The head of the subject.
        lead: The first verb that is kept: "got" in "got thrown", else the root.
        joined: The verbs that take the past tense: "Tom ran". None in "Tom was running" and "Tom was hit".
        many: Whether the subject is plural.
    """

    caption: Caption
    who: tuple[int, ...]
    subject: int
    lead: int
    joined: tuple[int, ...]
    many: bool


def _clause(c: Caption, lead: int, joined: tuple[int, ...]) -> _Clause:
    """Return what a sentence tells.

    Raises:
        Refused: It has no subject before its verb, or that is not certain.
    """
    tokens, verb = c.tokens, c.roots[0]
    subject = c.child(verb, *_SUBJECTS)
    if subject is None:
        raise Refused("no_subject")
    who = [n for n in c.subtree(subject) if n < verb]
    while who and not tokens[who[-1]].is_word:
        who.pop()
    if subject not in who or not c.is_span(who) or len(who) > LONGEST // 2:
        raise Refused("unclear")
    unknown = any(tokens[n].tag[:3] == "NNP" and tokens[n].text.islower() for n in who)
    unknown = unknown or (tokens[subject].text.islower() and not is_noun(tokens[subject].text))
    if unknown and c.child(subject, "det") is None:
        raise Refused("no_subject")  # a name or a noun
    return _Clause(c, tuple(who), subject, lead, joined, bool(is_plural_subject(c, subject)))


# Why-questions


def _statement(text: str, names: tuple[str, ...]) -> _Clause:
    """Return the statement of a why-question.

    Each word that can be the verb gives a statement: "Tom was dipping ..." for "did Tom dip ...", as -ing forms are
    hardly ever misread. It counts if its parse has that verb, and all words before it as the subject.
    """
    if not text:
        raise Refused("empty")
    match = _WHY.fullmatch(text)
    if match is None:
        raise Refused("several_sentences" if len(parse(text).sentences) > 1 else "not_why")
    auxiliary, rest = match[1].lower(), match[3]
    if _QUOTES.search(rest):
        raise Refused("quoted")
    if match[2] or auxiliary in word_lists("phrases").denied:
        raise Refused("negated")
    if auxiliary not in {*BE, *HAVE, *DO}:
        raise Refused("not_why")
    question = parse(f"Why {auxiliary} {rest}?", names=names)
    if len(question.sentences) > 1:
        raise Refused("several_sentences")
    tags: tuple[Tag, ...] = ("VB",) if auxiliary in DO else ("VBN",) if auxiliary in HAVE else ("VBG", "VBN")
    verbs = [
        n
        for n, token in enumerate(question.tokens)
        if n > 2 and token.text.islower() and any(is_verb_form(token.text, tag) for tag in tags)
    ]
    likely = [*question.roots, *(n for n in verbs if question.tokens[n].tag in VERBS)]
    likely += [n for n in verbs if question.tokens[n].rival in VERBS]
    for verb in sorted(verbs, key=lambda n: likely.index(n) if n in likely else len(likely)):
        with suppress(Refused):
            return _restated(question, verb, auxiliary, names)
    raise Refused("state" if auxiliary in BE else "unclear" if verbs else "no_verb")


def _restated(question: Caption, verb: int, auxiliary: str, names: tuple[str, ...]) -> _Clause:
    """Return the statement in which a word is the verb. Raise Refused if it is read in another way."""
    tokens, stop = question.tokens, verb
    while stop > 3 and (tokens[stop - 1].tag == "RB" or tokens[stop - 1].lower == "being"):
        stop -= 1
    moved = [] if auxiliary in BE else [*_joined(question, verb)]
    bases = (tokens[n].lower if auxiliary in DO else verb_lemma(tokens[n].text) for n in moved)
    forms = {n: inflect(base, "VBG") for n, base in zip(moved, bases, strict=True)}
    text = question.edit(forms | {0: "", 1: "", len(tokens) - 1: ""}, {stop: "was"})
    c = parse(text if tokens[2].tag[:3] == "NNP" else text[:1].lower() + text[1:], names=names)
    at, root = verb - 1, c.roots[0]
    clause = _clause(c, at, tuple(n - 1 for n in moved) if at == root else (at,) * bool(moved))
    leads = at == root or (c.tokens[at].head == root and c.tokens[at].arc in ("aux", "auxpass"))
    called = any(c.tokens[n].tag == "NNP" and c.tokens[n].arc == "compound" for n in clause.who)
    called = called and c.tokens[clause.subject].text.islower()  # "Jerry pour", which is no name
    if not leads or clause.who != tuple(range(stop - 2)) or c.tokens[stop - 3].tag in _OPENERS or called:
        raise Refused("unclear")
    return clause


# Statements


def _sentence(c: Caption) -> Caption:
    """Return "a dog is eating" for "a dog eating", "there is a dog eating", "we see a dog eating" and "is seen"."""
    lists, at = word_lists("phrases"), c.roots[0]
    subject, token = c.child(at, *_SUBJECTS), c.tokens[at]
    passive = c.child(at, "auxpass") is not None
    who = "" if subject is None else c.tokens[subject].lemma
    shown = token.lemma in lists.seen and (passive or who in lists.viewers | lists.camera)
    if shown and passive:
        if c.tag_at(at + 1) != "VBG":
            raise Refused("camera")
        return parse(c.edit({at: ""}))
    start = at + 1 if shown or c.child(at, "expl") is not None else 0
    if not start and subject is not None and c.style == "declarative":
        return c
    for index in range(start + 1, len(c.tokens)):
        doing = c.tokens[index].tag == "VBG" or is_verb_form(c.tokens[index].text, "VBG")
        if doing and c.tag_at(index - 1)[:2] == "NN":
            many = c.tag_at(index - 1) == "NNS" or c.tokens[index - 1].arc == "conj"
            sentence = parse(c.edit(dict.fromkeys(range(start), ""), {index: "are" if many else "is"}))
            before = sentence.tokens[index - start - 1]
            nearest = before.head if before.arc == "conj" else index - start - 1
            if sentence.child(sentence.roots[0], *_SUBJECTS) == nearest:
                return sentence
            break
    raise Refused("camera" if shown or token.lemma in lists.camera else "no_verb")


def _clause_of_statement(c: Caption) -> _Clause:
    """Return what a statement tells."""
    c = _sentence(c)
    verb = c.roots[0]
    passive = c.child(verb, "auxpass")
    lead = passive if passive is not None and c.tokens[passive].lemma == "get" else verb
    simple = c.tokens[lead].tag != "VBG" and (lead != verb or passive is None)
    joined = () if not simple else tuple(_joined(c, verb)) if lead == verb else (lead,)
    clause = _clause(c, lead, joined)
    if c.tokens[clause.subject].lemma in word_lists("phrases").camera:
        raise Refused("camera")
    helped = simple or any(c.tokens[n].lemma in ("be", "get") for n in c.children(verb, "aux", "auxpass"))
    doubtful = c.tokens[verb].rival[:2] == "NN" and simple and c.child(clause.subject, "det", "nummod", "poss") is None
    participle = c.tokens[verb].tag == "VBD" and c.tokens[verb].lower == inflect(c.tokens[verb].lemma, "VBN")
    quality = participle and c.tag_at(verb + 1)[:2] == "NN"  # "a foreign themed show"
    if doubtful or quality or not helped or disagreement(c):
        raise Refused("unclear")
    return clause


def _written(clause: _Clause, names: tuple[str, ...]) -> Event:
    c, verb, tokens, lists = clause.caption, clause.caption.roots[0], clause.caption.tokens, word_lists("events")
    lemma = _check_kind(clause)
    end = min([len(tokens), *(_start(c, n) for n in range(verb + 1, len(tokens)) if _is_cut(clause, n))])
    while tokens[end - 1].arc in ("cc", "punct") or tokens[end - 1].lower in lists.loose:
        end -= 1
    if tokens[end - 1].arc in ("det", "poss", "aux") or tokens[end - 1].lower in lists.unended:
        raise Refused("cut_off")
    rest = [n for n in range(clause.who[-1] + 1, end) if n >= clause.lead or _is_kept(c, n)]
    kept = [*clause.who, *rest]
    if len(kept) > LONGEST:
        raise Refused("long")
    if any(tokens[n].tag in ("VBZ", "VBP") and n not in clause.joined for n in rest):
        raise Refused("unclear")  # "the waves were rippling as the sun sets"
    _check_pronouns(clause, rest)
    bases = {n: lemma if n == verb else verb_lemma(tokens[n].text) for n in clause.joined if n < end}
    past, doing = ({n: inflect(base, tag) for n, base in bases.items()} for tag in ("VBD", "VBG"))
    subject, was = _definite(clause), "were" if clause.many else "was"
    statement = parse(f"{subject} {was} {_text(c, rest, doing)}", names=names)
    gone = [n for n in range(len(tokens)) if n not in kept]
    wanted = replace(c, tokens=tuple(t.copy(tag="VBG") if n in bases else t for n, t in enumerate(tokens)))
    if difference(wanted, statement, gone=gone) or disagreement(statement):
        raise Refused("unclear")
    does = bases.keys() | {n for n in kept if tokens[n].tag in VERBS and tokens[n].arc not in _HELPERS}
    verbs = {bases.get(n, tokens[n].lemma) for n in does} - {"be"}
    nouns = {n: fold_noun(tokens[n].lower) for n in kept if tokens[n].tag in ("NN", "NNS") and n not in bases}
    later = c.child(verb, "xcomp")
    shared = word_lists("phrases")
    return Event(
        f"{subject} {_text(c, rest, past)}" if bases else f"{subject} {was} {_text(c, rest, {})}",
        with_capital(f"{'did' if bases else was} {subject} {_text(c, rest, bases)}"),
        subject,
        tokens[later].lemma if later is not None and lemma in shared.aspect else lemma,
        frozenset({folded("verb_folds").get(v, v) for v in verbs} | set(nouns.values())) - shared.empty,
        frozenset(noun for n, noun in nouns.items() if n in rest) - shared.empty,
    )


def _check_kind(clause: _Clause) -> str:
    """Return the lemma of the verb. Raise Refused if it is a state, denied, or only intended."""
    c, verb, lists, more = clause.caption, clause.caption.roots[0], word_lists("phrases"), word_lists("events")
    token = c.tokens[verb]
    if any(other.lower in lists.denied | more.denied for other in c.tokens):
        raise Refused("negated")
    if token.lemma in lists.filmed:
        raise Refused("camera")  # "the water is zoomed in on"
    later = c.child(verb, "xcomp")
    if token.tag == "VBG" and token.lemma == "go" and later is not None and c.tokens[later].tag == "VB":
        raise Refused("negated")  # "was going to leave"
    objects = {c.tokens[n].lemma for n in c.children(verb, "dobj")}
    described = c.child(verb, "acomp", "oprd", "xcomp") is not None or c.tag_at(verb + 1) in ("JJ", "VBN", "VBD")
    passive = c.child(verb, "auxpass") is not None
    parked = passive and c.child(verb, "agent") is None and token.lemma in more.results
    idle = token.lemma in more.stative and not (token.lemma == "have" and objects & lists.events)
    if idle or parked or (token.lemma in more.looks and described) or token.tag not in VERBS:
        raise Refused("state")
    return "lie" if token.lemma == "lay" and not objects and not passive else token.lemma


def _is_cut(clause: _Clause, index: int) -> bool:
    """Return whether a clause of time or cause, or one with another subject, has its first word or its verb here."""
    c, verb, lists = clause.caption, clause.caption.roots[0], word_lists("events")
    token = c.tokens[index]
    if token.arc == "prep":  # "as the camera pans" is read like "as a gift"
        clause_like = c.child(index, "pcomp") is not None
        clause_like = clause_like or any(c.tokens[n].rival == "VBZ" for n in c.children(index, "pobj"))
        return token.lower in lists.times or (token.lower in lists.openers and clause_like)
    if token.arc in ("mark", "advmod") and token.lower in lists.openers:
        return token.head > verb
    if token.arc not in _CLAUSES or index in clause.joined:
        return False
    helped = any(c.tokens[n].tag in FINITE for n in c.children(index, "aux", "auxpass"))
    if helped and c.child(index, *_SUBJECTS, "expl") is None and token.arc in ("dep", "advcl"):
        raise Refused("run_on")  # "flies into the blue sky smoke is emerging"
    if token.arc == "conj" and token.head == verb and (clause.joined or token.tag not in ("VBG", c.tokens[verb].tag)):
        return True
    return token.tag in FINITE or helped


def _start(c: Caption, index: int) -> int:
    """Return where the clause of a token starts, with its mark."""
    token = c.tokens[index]
    top = token.head if token.arc in ("mark", "advmod") else index
    return min(n for n in c.subtree(top) if n > 0 and (n >= index or c.tokens[n].arc != "cc"))


def _is_kept(c: Caption, index: int) -> bool:
    """Return whether a word between the subject and the verb is kept: "quickly" and "being", not "then" and "is"."""
    token = c.tokens[index]
    helper = token.arc in ("aux", "auxpass") and token.lower != "being"
    return token.is_word and not helper and token.lower not in word_lists("events").dropped


def _joined(c: Caption, verb: int) -> Iterator[int]:
    """Yield a verb and the verbs without a subject or an auxiliary that are joined to it."""
    yield verb
    for index in c.children(verb, "conj"):
        doing = c.tokens[index].tag in VERBS or c.tokens[index].rival in VERBS
        if doing and not c.children(index, *_SUBJECTS, "aux", "auxpass", "expl", "det"):
            yield from _joined(c, index)


def _definite(clause: _Clause) -> str:
    """Return a subject as something known: "a black dog" as "the black dog"."""
    c, tokens = clause.caption, clause.caption.tokens
    forms, before = dict[int, str](), dict[int, str]()
    for index in clause.who:
        joined = tokens[index].arc == "conj" and tokens[index].head in clause.who
        if tokens[index].tag[:2] != "NN" or not (index == clause.subject or joined):
            continue
        start = min(n for n in c.subtree(index) if n in clause.who)
        named = any(tokens[n].tag[:3] == "NNP" for n in (index, *c.children(index, "compound")))
        quantified = {tokens[n].lower for n in c.children(index)} & word_lists("events").quantifiers
        if tokens[start].lower in ("a", "an", "some", "one", "1"):
            forms[start] = "the"
        elif not (named or quantified or c.children(index, "det", "poss", "predet")):
            before[start] = "the"
    return _text(c, clause.who, forms, before)


def _text(c: Caption, kept: Sequence[int], forms: Mapping[int, str], before: Mapping[int, str] | None = None) -> str:
    """Return some tokens as text, without a capital at the start unless a name begins it."""
    gone = dict.fromkeys((n for n in range(len(c.tokens)) if n not in kept), "")
    articles = {n: c.tokens[n].text for n in kept if c.tokens[n].lower in ("a", "an")}  # "an question"
    text = c.edit({**gone, **articles, **forms}, before).strip(" .;:,?!")
    return text if c.tokens[kept[0]].tag[:3] == "NNP" and not before else text[:1].lower() + text[1:]


def _check_pronouns(clause: _Clause, rest: list[int]) -> None:
    """Raise Refused if a pronoun has nothing before it in the phrase that it can stand for."""
    c, tokens = clause.caption, clause.caption.tokens
    if tokens[clause.subject].tag[:2] != "NN" or any(tokens[n].tag == "PRP$" for n in clause.who):
        raise Refused("pronoun")
    for index in rest:
        token, word = tokens[index], tokens[index].lower
        if token.tag not in ("PRP", "PRP$"):
            continue
        able = [n for n in rest if n < index and tokens[n].tag[:2] == "NN"]
        if word in PRONOUNS:
            able = [n for n in able if tokens[n].tag == "NNP" or is_person_noun(tokens[n].lower)]
        subjective = token.arc in _SUBJECTS and tokens[token.head].tag in FINITE
        if token.tag == "PRP$" or word.endswith(("self", "selves")) or subjective:
            able.append(clause.subject)
        if not any(bool(is_plural_subject(c, n)) == word.startswith("th") for n in able):
            raise Refused("pronoun")
