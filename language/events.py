"""Turn texts into events: statements in the past tense with their subject, and the yes/no questions about them.

"Why was Jerry running?" presupposes that "Jerry was running"; "A black dog jumps over the fence." tells that "the black
dog jumped over the fence". The parse of the statement gives the subject, the verb and the verbs joined to it. Clauses
of time or cause are cut off, because questions ask whether one event came before another. States, such as being happy
or having a scared expression, are no events at a time.

The statement of a why-question must be read like the question, and a written event like its text. What fails has a
reason code from `REASONS`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise

from .cast import Cast
from .check import Refused, difference, disagreement
from .closed_classes import BE, DO, HAVE
from .inflection import Tag, inflect, is_plural_noun, is_verb_form, readings, verb_lemma
from .lexicon import lexicon_hashes, word_lists
from .parse import parse
from .people import is_person, is_person_noun
from .phrases import LONGEST, LONGEST_TEXT, Gerund, fold_noun, folded, phrase, phrase_identity
from .words import Caption, Token, name_pattern, tokenize, with_capital

REASONS = {
    "not_why": "no why-question about something that happened",
    "quoted": "it contains a quotation",
    "no_subject": "no subject was recognised",
}
_VERBS = ("VB", "VBZ", "VBP", "VBD", "VBG", "VBN")
_FINITE = ("VBZ", "VBP", "VBD")
_SUBJECTS = ("nsubj", "nsubjpass")
_DOUBLED = re.compile(r"\b([a-z]+) \1\b(?<!that that)(?<!had had)(?<!on on)(?<!in in)", re.IGNORECASE)
_ONE_WORD = re.compile(r"\binfront\b", re.IGNORECASE)
_DETERMINED = re.compile(r"\b(?:the|an?|his|her|its|their|this) $", re.IGNORECASE)
_TITLE = re.compile(r"\b(Mr|Mrs|Ms|Dr|St)\.(?= [A-Z])")
_QUOTES = re.compile(r"[\"“”«»()\[\]]|(?<!\w)['‘]|(?<![sS])'(?!\w)")
_WHY = re.compile(r"(?:so |and |but )?why(?: exactly)? (\w+)(n't)? (.*)", re.IGNORECASE)
_SINGULAR = {"him": "male", "his": "male", "himself": "male", "her": "female", "hers": "female", "herself": "female"}


@dataclass(frozen=True)
class Event:
    """Something that happened.

    Attributes:
        phrase: The statement, in lower case except names, without a period: "Tom dipped his fingers in the ink".
        asked: The yes/no question: "Did Tom dip his fingers in the ink".
        subject: The subject as written in the phrase.
        verb: Lemma of the verb that names the action: "run" in "started to run".
        words: Lemmas of all verbs and nouns except names, with synonyms merged.
        objects: The nouns in `words` that are not in the subject.
    """

    phrase: str
    asked: str
    subject: str
    verb: str
    words: frozenset[str]
    objects: frozenset[str]


def event(question: str, cast: Cast | None = None) -> Event | str:
    """Return the event that a why-question presupposes or, if it is uncertain, a reason code.

    The names in `cast` are matched case-insensitively.
    """
    cast = cast or Cast()
    return "long" if len(question) > LONGEST_TEXT else _asked(question, cast.names, tuple(sorted(cast.genders.items())))


def free_phrase(text: str) -> Gerund | Event | str:
    """Return a gerund phrase if people act in a text, an event if something or somebody with a name does, or a reason.

    `text` is anything that `phrases.phrase` accepts, or a sentence such as "the dog jumps over the fence". Reason codes
    are from `phrases.REASONS` or `events.REASONS`.
    """
    found = phrase(text)
    told = _told(text) if found in ("other_subject", "no_verb") else None
    return found if told is None else told


def event_identity() -> dict[str, str]:
    """Return everything besides the code that determines events: the hashes of the word lists, and the parser."""
    return {**phrase_identity(), **lexicon_hashes("events")}


@lru_cache(maxsize=1 << 14)
def _asked(question: str, names: tuple[str, ...], genders: tuple[tuple[str, str], ...]) -> Event | str:
    try:
        return _written(_statement(_plain(question, names), names), names, dict(genders))
    except Refused as refusal:
        return str(refusal)


@lru_cache(maxsize=1 << 14)
def _told(text: str) -> Event | str | None:
    """Return an event, or a reason, or None if people act."""
    try:
        plain = _plain(text, ())
        if not any(character.isalnum() for character in plain):
            raise Refused("empty")
        common = is_plural_noun(plain.partition(" ")[0])  # "Shingles" is no name
        caption = _read(plain[:1].lower() + plain[1:] if common else plain, ())
        if len(caption.sentences) != 1:
            raise Refused("several_sentences")
        if _QUOTES.search(caption.text):
            raise Refused("quoted")
        clause = _acting(_with_verb(caption))
        return None if is_person(caption, clause.subject) else _written(clause, (), {})
    except Refused as refusal:
        return str(refusal)


def _plain(text: str, names: tuple[str, ...]) -> str:
    """Return a text with plain marks, without words written twice, and with names as they are written in the cast."""
    plain = " ".join(text.replace("’", "'").replace("`", "'").replace("&", "and").split()).strip(" .?!…,;:")
    plain = _TITLE.sub(r"\1", plain)
    plain = _ONE_WORD.sub("in front", _DOUBLED.sub(r"\1", plain))
    tokens = tokenize(plain)
    for before, token in reversed([*pairwise(tokens)]):
        if token.lacks_apostrophe:
            plain = f"{plain[: before.end]}{token.lower}{plain[token.end :]}"
    written = {name.lower(): name for name in names}
    pattern = name_pattern(names)

    def capitalised(match: re.Match[str]) -> str:
        common = match[0].islower() and _DETERMINED.search(plain[: match.start()])  # "the tiny mouse"
        return match[0] if common else written[match[0].lower()]

    return pattern.sub(capitalised, plain) if pattern else plain


@dataclass(frozen=True)
class _Clause:
    """A subject and what it does.

    Attributes:
        who: The tokens of the subject.
        subject: The head of the subject.
        verb: The verb that names what happens.
        lead: The first verb that is kept: "got" in "got thrown", else the verb.
        joined: The verbs that are put into the past tense with the verb; none unless `simple`.
        simple: Whether it is told in the simple past: "Tom ran", not "Tom was running".
        bare: Whether the verb has no auxiliary, as in "a dog running".
    """

    caption: Caption
    who: tuple[int, ...]
    subject: int
    verb: int
    lead: int
    joined: tuple[int, ...] = ()
    simple: bool = False
    bare: bool = False

    @property
    def is_many(self) -> bool:
        """Return whether the subject is plural."""
        c, token = self.caption, self.caption.tokens[self.subject]
        listed = any(c.tokens[n].tag[:2] == "NN" for n in c.children(self.subject, "conj")) or any(
            c.tokens[n].lower == "and" and _are_names(c, self.who) for n in self.who
        )
        helpers = {c.tokens[n].lower for n in (self.verb, *c.children(self.verb, "aux", "auxpass"))}
        if helpers & {"are", "were", "have"} and c.tokens[self.who[0]].lower not in (
            "a",
            "an",
            "one",
            "this",
            "that",
            "each",
        ):
            return True  # "some fish are"
        several = token.tag == "NNPS" and (c.child(self.subject, "det") is not None or token.text.islower())
        counted = any(c.tokens[n].lower not in ("one", "1") for n in c.children(self.subject, "nummod"))
        counted = counted and token.tag != "NNP"
        return bool(listed) or several or counted or token.tag == "NNS" or token.lower in ("people", "both")


def _are_names(c: Caption, who: Sequence[int]) -> bool:
    return all(c.tokens[n].tag in ("NNP", "NNPS", "CC", ",", "DT") for n in who)


def _read(text: str, names: tuple[str, ...]) -> Caption:
    """Parse a text. "Was whispering" is always an action, not a quality."""
    c = parse(text, names=names)
    root = c.roots[0]
    doing = next((n for n in c.children(root, "acomp", "attr") if c.tokens[n].tag == "VBG"), None)
    if doing is None or c.tokens[root].lemma != "be" or doing not in (root + 1, root + 2):
        return c
    tokens = list(c.tokens)
    for number in (root, doing, *c.children(root)):
        token = tokens[number]
        arc = "aux" if number == root else "ROOT" if number == doing else token.arc
        tokens[number] = token.read_as(token.tag, token.lemma, doing, arc, token.rival)
    return replace(c, tokens=tuple(tokens))


# Why-questions


def _statement(text: str, names: tuple[str, ...]) -> _Clause:
    """Return the statement of a why-question.

    Each word that can be the verb gives a statement: "Tom was dipping ..." for "did Tom dip ...", as -ing forms are
    hardly ever misread. It counts if its parse has that verb, and all words before it as the subject.
    """
    match = _WHY.fullmatch(text)
    if not text:
        raise Refused("empty")
    if match is None:
        raise Refused("several_sentences" if len(parse(text).sentences) > 1 else "not_why")
    auxiliary, rest = match[1].lower(), match[3]
    if _QUOTES.search(rest):
        raise Refused("quoted")
    if match[2] or rest.startswith("n't") or auxiliary in word_lists("phrases").denied:
        raise Refused("negated")
    if auxiliary not in {*BE, *HAVE, *DO}:
        raise Refused("not_why")
    question = parse(f"Why {auxiliary} {rest}?", names=names)
    if len(question.sentences) > 1:
        raise Refused("several_sentences")
    tokens = question.tokens
    tags: tuple[Tag, ...] = ("VB",) if auxiliary in DO else ("VBN",) if auxiliary in HAVE else ("VBG", "VBN")
    places = [n for n in range(3, len(tokens)) if any(is_verb_form(tokens[n].text, tag) for tag in tags)]
    places = [
        n
        for n in places
        if tokens[n].tag not in ("DT", "IN", "CC", "POS") and tokens[n - 1].lower != "to" and tokens[n].lower != "being"
    ]
    places = [n for n in places if not tokens[n].text[0].isupper()]
    found = {n: told for n in places[:5] if (told := _restated(question, n, auxiliary, names)) is not None}
    if not found:
        raise Refused("state" if auxiliary in BE else "unclear" if places else "no_verb")
    alone = {n: told for n, told in found.items() if tokens[n].arc != "compound" or tokens[n - 1].text[0].isupper()}
    found = alone or found
    first, verbs = min(found), [n for n in found if _may_be_verb(tokens[n])]
    if question.roots[0] in verbs:
        return found[question.roots[0]]
    if tokens[first - 1].text[0].isupper() or len(found) == 1:
        return found[first]
    if len(verbs) != 1:
        raise Refused("unclear")
    return found[verbs[0]]


def _restated(question: Caption, verb: int, auxiliary: str, names: tuple[str, ...]) -> _Clause | None:
    """Return the statement in which a word is the verb, or None if it is read in another way."""
    tokens, stop, simple = question.tokens, verb, auxiliary in {*DO, *HAVE}
    while stop > 3 and (tokens[stop - 1].tag == "RB" or tokens[stop - 1].lower == "being"):
        stop -= 1
    base: Tag = "VB" if auxiliary in DO else "VBN"
    moved = [n for n in _joined(question, verb) if n == verb or is_verb_form(tokens[n].text, base)] if simple else []
    forms = {n: inflect(tokens[n].lower if auxiliary in DO else verb_lemma(tokens[n].text), "VBG") for n in moved}
    subject = range(2, stop)
    was = "were" if any(tokens[n].lower == "and" for n in subject) else "was"
    text = question.edit(forms | {0: "", 1: "", len(tokens) - 1: ""}, {stop: was})
    c, at = _read(text if tokens[2].tag[:3] == "NNP" else text[:1].lower() + text[1:], names), verb - 1
    root, who = c.roots[0], tuple(range(stop - 2))
    head = c.child(root, *_SUBJECTS)
    leads = at == root or (c.tokens[at].head == root and c.tokens[at].arc in ("aux", "auxpass"))
    if len(c.tokens) != len(tokens) - 2 or not leads or head is None or head not in who:
        return None
    alike = [n for n in c.subtree(head) if n < at] == [*who] or _are_names(c, who)
    ended = c.tokens[who[-1]].tag[:2] in ("NN", "RB") or c.tokens[who[-1]].arc in ("advmod", "prep", *_SUBJECTS)
    bare = any(
        c.tokens[n].tag == "NNP" and c.tokens[n].arc == "compound" and c.tokens[c.tokens[n].head].text.islower()
        for n in who
    )
    if not alike or not ended or c.tokens[who[-1]].tag == "DT" or (bare and c.tokens[0].tag == "NNP"):
        return None
    return _Clause(c, who, head, root, at, tuple(n - 1 for n in moved) if at == root else (at,) * simple, simple)


# Statements


def _with_verb(c: Caption) -> Caption:
    """Read "a cat playing" again as "a cat is playing", unless a verb was found."""
    root = c.tokens[c.roots[0]]
    if c.style == "noun_phrase" and (
        root.tag[:2] != "NN" or not any(c.tokens[n].tag == "VBG" for n in c.children(c.roots[0], "acl"))
    ):
        for number, token in enumerate(c.tokens[1:], 1):
            if is_verb_form(token.text, "VBG") and c.tokens[number - 1].tag[:2] == "NN":
                return _read(c.edit({}, {number: "is"}), ())
    return c


def _acting(c: Caption) -> _Clause:
    """Find who acts: past "we see", "there is" and "is seen", which are followed to the action."""
    lists, at = word_lists("phrases"), c.roots[0]
    subject = c.child(at, *_SUBJECTS)
    who = c.tokens[subject].lemma.lower() if subject is not None else ""
    seen, passive = c.tokens[at].lemma in lists.seen, c.child(at, "auxpass")
    shown = seen and (who in lists.viewers or who in lists.camera) and passive is None
    if shown or c.child(at, "expl") is not None:
        inner = c.child(at, "ccomp")
        thing = c.child(at, "dobj", "attr") if inner is None else c.child(inner, *_SUBJECTS)
        if thing is None:
            raise Refused("camera")
        if inner is not None:
            return _clause(c, thing, inner, bare=True)
        at, subject = thing, None
    if c.tokens[at].tag.startswith("NN") and subject is None:
        does = next((n for n in c.children(at, "acl") if c.tokens[n].tag == "VBG"), None)
        if does is None:
            raise Refused("camera" if shown or c.tokens[at].lemma in lists.camera else "no_verb")
        return _clause(c, at, does, bare=True)
    if subject is None:
        raise Refused("no_subject")
    if seen and passive is not None:
        later = c.child(at, "xcomp", "advcl", "oprd")
        if later is None or c.tokens[later].tag != "VBG" or c.children(later, "mark"):
            raise Refused("camera")
        return _clause(c, subject, later, bare=True)
    return _clause(c, subject, at)


def _clause(c: Caption, subject: int, verb: int, *, bare: bool = False) -> _Clause:
    tokens = c.tokens
    counted = [c.child(n, "pobj") for n in c.children(subject, "prep") if tokens[n].lower == "of"]
    if any(tokens[n].lemma in word_lists("phrases").camera for n in (subject, *counted) if n is not None):
        raise Refused("camera")
    who = [n for n in c.subtree(subject) if n < verb]
    while who and (tokens[who[-1]].text == "," or (bare and tokens[who[-1]].tag == "RB")):
        who.pop()
    if subject not in who or not c.is_span(who) or len(who) > LONGEST // 2:
        raise Refused("unclear")
    unknown = [n for n in who if tokens[n].tag[:3] == "NNP" and tokens[n].text.islower()]
    if c.child(subject, "det") is None and any("NOUN" not in readings(tokens[n].text) for n in unknown):
        raise Refused("no_subject")  # a name or a noun
    passive = c.child(verb, "auxpass")
    gets = passive if passive is not None and tokens[passive].lemma == "get" else verb
    simple = gets != verb or (passive is None and tokens[verb].tag != "VBG")
    joined = () if not simple else tuple(_joined(c, verb)) if gets == verb else (gets,)
    return _Clause(c, tuple(who), subject, verb, gets, joined, simple, bare)


def _written(clause: _Clause, names: tuple[str, ...], genders: Mapping[str, str]) -> Event:
    c, verb, who = clause.caption, clause.verb, clause.who
    tokens, lists = c.tokens, word_lists("events")
    lemma = _check_kind(clause)
    end = min([len(tokens), *(_start(c, n) for n in range(verb + 1, len(tokens)) if _is_cut(c, n, clause))])
    while tokens[end - 1].arc in ("cc", "punct") or tokens[end - 1].lower in lists.loose:
        end -= 1
    between = [n for n in range(who[-1] + 1, clause.lead) if tokens[n].lower not in lists.dropped and tokens[n].is_word]
    between = [n for n in between if tokens[n].arc not in ("aux", "auxpass") or tokens[n].lower == "being"]
    rest = [*between, *range(clause.lead, end)]
    kept = [*who, *rest]
    bases = {n: lemma if n == verb else verb_lemma(tokens[n].text) for n in clause.joined if n < end}
    past, doing = ({n: inflect(base, tag) for n, base in bases.items()} for tag in ("VBD", "VBG"))
    subject_text, was = _definite(clause), "were" if clause.is_many else "was"
    phrase_text = (
        f"{subject_text} {_text(c, rest, past)}" if clause.simple else f"{subject_text} {was} {_text(c, rest)}"
    )
    asked = f"{'did' if clause.simple else was} {subject_text} {_text(c, rest, bases)}"
    if (
        tokens[kept[-1]].tag in ("PRP$", "TO")
        or tokens[kept[-1]].arc == "det"
        or tokens[kept[-1]].lower in lists.unended
    ):
        raise Refused("cut_off")
    if len(kept) > LONGEST:
        raise Refused("long")
    _check_pronouns(clause, rest, genders)
    _check(clause, kept, f"{subject_text} {was} {_text(c, rest, doing)}", names)
    verbs, nouns, about = set[str](), set[str](), set[str]()
    for number in kept:
        token = tokens[number]
        if number in bases:
            verbs.add(folded("verb_folds").get(bases[number], bases[number]))
        elif token.tag in _VERBS and token.arc not in ("aux", "auxpass", "amod") and token.lemma != "be":
            verbs.add(folded("verb_folds").get(token.lemma, token.lemma))
        elif token.tag in ("NN", "NNS"):
            (about if number in who else nouns).add(fold_noun(token.lower))
    later = c.child(verb, "xcomp")
    action = tokens[later].lemma if later is not None and lemma in word_lists("phrases").aspect else lemma
    empty = word_lists("phrases").empty
    return Event(
        phrase_text,
        with_capital(asked),
        subject_text,
        action,
        frozenset((verbs | nouns | about) - empty),
        frozenset(nouns - empty),
    )


def _check_kind(clause: _Clause) -> str:
    """Return the lemma of the verb. Raise Refused if it is a state, denied, or only intended."""
    c, verb, lists, more = clause.caption, clause.verb, word_lists("phrases"), word_lists("events")
    token = c.tokens[verb]
    before = {c.tokens[n].lower for n in range(verb) if c.tokens[n].head == verb and c.tokens[n].arc not in _SUBJECTS}
    if c.child(verb, "neg") is not None or before & (lists.denied | more.denied):
        raise Refused("negated")
    if any(c.tokens[n].lower in more.denied for n in range(len(c.tokens))):
        raise Refused("negated")
    later = c.child(verb, "xcomp")
    if token.tag == "VBG" and token.lemma == "go" and later is not None and c.tokens[later].tag == "VB":
        raise Refused("negated")  # "was going to leave"
    if token.tag not in _VERBS:
        raise Refused("state" if c.child(verb, "cop") is not None else "no_verb")
    if token.lemma == "be":
        raise Refused("state")
    objects = {c.tokens[n].lemma for n in c.children(verb, "dobj")}
    if token.lemma in more.stative and not (token.lemma == "have" and objects & lists.events):
        raise Refused("state")
    described = (
        c.child(verb, "acomp", "oprd", "xcomp") is not None
        or c.tokens[min(verb + 1, len(c.tokens) - 1)].lower == "like"
    )
    being = bool(before & {"being", "got", "getting", "gets"}) or c.child(verb, "agent") is not None
    parked = c.child(verb, "auxpass") is not None and not being and token.lemma in more.results
    following = c.tokens[verb + 1] if verb + 1 < len(c.tokens) else token
    described = described or following.tag[:2] == "JJ" or (following.tag in ("VBN", "VBD") and following.head == verb)
    if (token.lemma in more.looks and described) or parked:
        raise Refused("state")
    return "lie" if token.lemma == "lay" and not objects else token.lemma


def _is_cut(c: Caption, number: int, clause: _Clause) -> bool:
    """Return whether a clause of time or cause, or one with another subject, has its verb here."""
    token, verb, lists = c.tokens[number], clause.verb, word_lists("events")
    if token.arc == "prep" and token.lower in lists.times:
        return (
            c.child(number, "pcomp") is not None
            or token.lower not in ("after", "since")
            or c.tokens[number - 1].tag not in _VERBS
        )
    if token.arc == "mark" and token.lower in lists.openers and token.head > verb:
        return c.tokens[token.head].arc not in ("ccomp", "xcomp")
    if token.arc == "advmod" and token.tag == "WRB" and c.tokens[token.head].arc == "advcl":
        return True
    own = c.child(number, *_SUBJECTS, "expl") is not None
    if (
        token.arc == "conj"
        and token.tag in _FINITE
        and c.tokens[token.head].tag in ("VB", "VBG")
        and token.head != verb
    ):
        return True  # "tries to jump off and falls"
    if token.arc == "conj" and token.head == verb and token.tag[:2] in ("NN", "JJ") and number not in clause.joined:
        raise Refused("unclear")  # a verb read as a noun
    spine = token.head == verb or c.tokens[token.head].arc == "conj"
    if token.arc in ("conj", "parataxis", "ccomp", "dep") and spine and own:
        return token.arc != "ccomp" or number < verb
    if token.arc == "conj" and spine and token.tag in _VERBS and number not in clause.joined:
        return (
            bool(c.children(number, "aux", "auxpass")) or clause.simple or token.tag not in ("VBG", c.tokens[verb].tag)
        )
    if (
        token.tag in _FINITE
        and not own
        and token.arc in ("dep", "conj", "ccomp", "advcl")
        and number not in clause.joined
    ):
        return True  # "jumps into the water then plays"
    return token.arc == "advcl" and own and (token.tag in _FINITE or c.child(number, "aux") is not None)


def _start(c: Caption, number: int) -> int:
    """Return where the clause of a token starts, with its mark."""
    token = c.tokens[number]
    top = token.head if token.arc in ("mark", "advmod") else number
    return min(n for n in c.subtree(top) if n > 0 and (n >= number or c.tokens[n].arc != "cc"))


def _may_be_verb(token: Token) -> bool:
    return token.tag in _VERBS or token.rival in _VERBS


def _joined(c: Caption, verb: int) -> Iterator[int]:
    """Yield a verb and the verbs without a subject or an auxiliary that are joined to it."""
    yield verb
    for number in c.children(verb, "conj"):
        if _may_be_verb(c.tokens[number]) and not c.children(number, *_SUBJECTS, "aux", "auxpass", "expl", "det"):
            yield from _joined(c, number)


def _definite(clause: _Clause) -> str:
    """Return a subject as something known: "a black dog" as "the black dog"."""
    forms, before, c, tokens = dict[int, str](), dict[int, str](), clause.caption, clause.caption.tokens
    heads = [n for n in clause.who if n == clause.subject or (tokens[n].arc == "conj" and tokens[n].tag[:2] == "NN")]
    for number in heads:
        start = min(n for n in c.subtree(number) if n in clause.who)
        opener, known = tokens[start], c.child(number, "det", "poss", "predet") is not None
        called = opener.tag[:3] == "NNP" and tokens[number].text.islower() | (
            start == 0 and tokens[number].tag == "NNPS"
        )
        if tokens[number].tag not in ("NN", "NNS") and not called:
            continue
        if opener.lower in ("a", "an", "some", "one", "1"):
            forms[start], known = "the", True
        quantified = any(tokens[n].lower in word_lists("events").quantifiers for n in c.children(number))
        named = any(tokens[n].tag == "NNP" for n in c.children(number, "compound")) and not called
        if not known and opener.tag != "DT" and not quantified and not named:
            before[start] = "the"
            if called or opener.tag[:3] != "NNP":
                forms[start] = opener.text[:1].lower() + opener.text[1:]
    return _text(c, clause.who, forms, before)


def _text(
    c: Caption, kept: Sequence[int], forms: Mapping[int, str] | None = None, before: Mapping[int, str] | None = None
) -> str:
    """Return some tokens as text, without a capital at the start unless a name begins it."""
    gone = dict.fromkeys((n for n in range(len(c.tokens)) if n not in kept), "")
    articles = {n: c.tokens[n].text for n in kept if c.tokens[n].lower in ("a", "an")}  # "an question"
    text = c.edit(gone | articles | dict(forms or {}), before).strip(" .;:,?!")
    return (
        text
        if c.tokens[kept[0]].tag.startswith("NNP") and kept[0] not in (before or {})
        else text[:1].lower() + text[1:]
    )


def _check_pronouns(clause: _Clause, rest: list[int], genders: Mapping[str, str]) -> None:
    """Raise Refused if a pronoun has nothing before it in the phrase that it certainly stands for."""
    c, subject, many = clause.caption, clause.subject, clause.is_many
    tokens = c.tokens
    if not clause.who or tokens[subject].tag[:2] != "NN" or any(tokens[n].tag in ("PRP", "PRP$") for n in clause.who):
        raise Refused("pronoun")
    for number in rest:
        token, word = tokens[number], tokens[number].lower
        alone = word in ("this", "that", "these", "those", "another", "some") and token.arc in (
            "dobj",
            "pobj",
            *_SUBJECTS,
        )
        if token.tag not in ("PRP", "PRP$") and not alone:
            continue
        nouns = [
            n
            for n in rest
            if n < number
            and tokens[n].tag[:2] == "NN"
            and (tokens[n].arc in ("dobj", "pobj", "conj") or tokens[n].tag == "NNP")
        ]
        nouns = [n for n in nouns if tokens[n].head != token.head]
        own = token.tag == "PRP$" or word.endswith(("self", "selves")) or word in ("he", "she", "they")
        if word in _SINGULAR or word in ("he", "she"):
            gender = _SINGULAR.get(word) or ("male" if word == "he" else "female")
            able = [
                n
                for n in [subject] * (own and not many) + nouns
                if tokens[n].tag == "NNP" or is_person_noun(tokens[n].lower) or n == subject
            ]
            fits = any(genders.get(tokens[n].lower, gender) == gender for n in able)
        elif word in ("it", "its", "itself"):
            fits = (own and not many) or any(tokens[n].tag == "NN" for n in nouns)
        else:
            fits = word.startswith("the") and (
                (own and many) or any(tokens[n].tag == "NNS" or c.children(n, "conj") for n in nouns)
            )
        if not fits:
            raise Refused("pronoun")


def _check(clause: _Clause, kept: list[int], text: str, names: tuple[str, ...]) -> None:
    """Raise Refused unless the statement, parsed on its own, relates its words as the text did."""
    c, verb = clause.caption, clause.verb
    tokens = list(c.tokens)
    arc = "nsubjpass" if c.child(verb, "auxpass") is not None and not clause.bare else "nsubj"
    for number in clause.joined:
        tokens[number] = tokens[number].with_tag("VBG")
    tokens[verb] = tokens[verb].read_as(tokens[verb].tag, tokens[verb].lemma, verb, "ROOT")
    tokens[clause.subject] = tokens[clause.subject].read_as(
        tokens[clause.subject].tag, tokens[clause.subject].lemma, verb, arc
    )
    wanted, told = replace(c, tokens=tuple(tokens)), _read(text, names)
    gone = [n for n in range(len(tokens)) if n not in kept]
    if difference(wanted, told, gone=gone) or disagreement(told):
        raise Refused("unclear")
