"""Turn sentences and instructions into gerund phrases: "She puts on her shoes." becomes "putting on their shoes".

The parse gives the verb that somebody is the subject of, or that an instruction begins with. "Begins to eat", "is seen
eating" and "we see a man eating" are followed to the action. The text from there on is kept: the action and the verbs
joined to it are put into the -ing form, and words for people become gender-neutral. A clause with another subject, or
with its own time ("when he is done"), is cut off, because questions ask whether one action came before another.

The phrase is parsed again and must relate its words as the text did. What fails has a reason code from `REASONS`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cache, lru_cache
from itertools import pairwise

from .check import difference
from .closed_classes import AUXILIARIES, CLOSED, HAVE
from .inflection import inflect, is_plural_noun, is_verb_form, lemma, noun_lemma, verb_lemma
from .lexicon import lexicon_hashes, read_lexicon, word_lists
from .parse import load_parser, parse
from .people import is_person, is_person_noun, neutral, neutral_nouns
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
    "cut_off": "the sentence breaks off",
    "unclear": "the phrase can be read in another way than the sentence",
    "pronoun": "a pronoun without the noun that it stands for",
    "long": "more words than a question about two events can hold",
}
LONGEST = 24  # maximum number of words
LONGEST_TEXT = 2000  # maximum number of characters, above that of any real phrase
_VERBS = ("VB", "VBZ", "VBP", "VBD", "VBG", "VBN")
_CLAUSES = ("advcl", "ccomp", "conj", "parataxis", "dep", "relcl")
_TIMES = ("before", "after", "until", "till", "since")
_TOLD = "You can "  # read before an instruction that begins like a noun
_REPAIRS = tuple(
    (re.compile(pattern, re.IGNORECASE), better)
    for pattern, better in (
        (r"\bperson (?:#?\d|[ab])\b", "another person"),
        (r"\b([a-z]+) \1\b(?<!that that)(?<!had had)", r"\1"),
        (r"(?<=\w )the (?:first|second|third|other) person\b", "another person"),
        (r"\bone another\b", "each other"),
        (r"\b(stir|deep|pan) (fr(?:y|ies|ying))\b", r"\1-\2"),
        (r"^person (?:(?:as|after|so|then|and|the) )?(?=(?:they|he|she|another|someone|one) )", ""),
        (r"^person (?:as|after|so|then|and|the) (?=\w+ing\b)", ""),
        (r"^(?:the )?person (?=\w)", "a person "),
    )
)
# Other wordings of clipped sentences whose verb may be read as a noun: "person closing cabinets", "person pour water".
_CLIPPED = (
    (re.compile(r"((?:a |the )?(?:person|people)) (?=\w+ing\b)", re.IGNORECASE), r"\1 is "),
    (re.compile(r"a person (?=\w)", re.IGNORECASE), "people "),
)

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


class Refused(Exception):
    """Raised when a text yields no phrase. Its only argument is a code from `REASONS`."""


def phrase(text: str, *, as_is: bool = False) -> Gerund | str:
    """Convert an annotated phrase to a gerund phrase.

    Args:
        text: A gerund ("spreading margarine on bread"), an instruction ("spread margarine on bread; add the oil and
            stir") or a sentence about people ("a man is opening the door").
        as_is: Whether to keep the words unchanged, except for spaces and the final period.

    Returns:
        The phrase with its lemmas or, if it is rejected, a reason code from `REASONS`.
    """
    if len(text) > LONGEST_TEXT:
        return "long"
    if as_is:
        return _as_is(text)
    return _accepted(_told(text, "auto"))


def instruction(text: str) -> Gerund | str:
    """Convert an instruction to a gerund phrase; see `phrase`."""
    return "long" if len(text) > LONGEST_TEXT else _accepted(_told(text, "imperative"))


def gerund(sentence: str) -> Gerund | str:
    """Convert a sentence about a person to a gerund phrase, which may be anaphoric; see `phrase`."""
    return "long" if len(sentence) > LONGEST_TEXT else _turned(sentence, "declarative")


def phrase_identity() -> dict[str, str]:
    """Return everything besides the code that determines phrases: the hashes of the word lists, and the parser."""
    return {**lexicon_hashes("people", "phrases", "lexicon"), "parser": load_parser().name}


def _told(text: str, style: StyleOption) -> Gerund | str:
    """Convert an instruction or a sentence; "coat the chicken" may have been read as a noun."""
    found, first = _turned(text, style), _plain(text).partition(" ")[0].lower()
    if found not in ("no_verb", "other_subject", "unclear") or not is_verb_form(first, "VB"):
        return found
    again = parse(_TOLD + _plain(text), "declarative")
    if style == "auto" and (parse(_plain(text), "auto").style != "noun_phrase" or not again.child(2, "dobj")):
        return found
    result = _turned(again.text, "declarative")
    return found if isinstance(result, str) else result


def _accepted(found: Gerund | str) -> Gerund | str:
    return "pronoun" if isinstance(found, Gerund) and found.anaphoric else found


@lru_cache(maxsize=1 << 14)
def _turned(text: str, style: StyleOption) -> Gerund | str:
    plain = _plain(text)
    found, hidden = _read(plain, style), parse(plain, style)
    doubtful = found in ("no_verb", "other_subject", "state") or any(hidden.tokens[n].rival == "NNS" for n in hidden.roots)
    for pattern, better in _CLIPPED if style != "imperative" and doubtful else ():
        verb = pattern.sub("", plain, count=1).partition(" ")[0]
        if better == "people " and not is_verb_form(verb, "VB"):
            continue
        if pattern.match(plain) and isinstance(again := _read(pattern.sub(better, plain, count=1), style), Gerund):
            return again
    return found


def _read(plain: str, style: StyleOption) -> Gerund | str:
    try:
        caption = parse(plain, style)
        if not caption.words:
            raise Refused("empty")
        if len([part for part in caption.sentences if any(caption.tokens[n].is_word for n in part)]) > 1:
            raise Refused("several_sentences")
        told = "imperative" in (style, caption.style) or caption.text.startswith(_TOLD)
        return _written(caption, _Draft(caption, told))
    except Refused as refusal:
        return str(refusal)


def _plain(text: str) -> str:
    """Repair what the parser stumbles over: spaces, marks, doubled words, and the labels of clipped sentences."""
    plain = " ".join(text.replace("’", "'").replace("`", "'").replace("&", " and ").replace(",", ", ").split())
    for pattern, better in _REPAIRS:
        plain = pattern.sub(better, plain)
    return plain.strip(" .;:,-")


# Analysis


@dataclass
class _Draft:
    """What becomes of the tokens of a caption.

    Attributes:
        gone: Tokens that are left out.
        forms: New texts, by token.
        actions: Verbs in the -ing form, in order, with their lemmas.
        heads: The action that each verb leads to, as "begin" to "eat".
        inserted: Words that are missing before a token.
    """

    caption: Caption
    told: bool  # whether the text is an instruction
    gone: set[int] = field(default_factory=set)
    forms: dict[int, str] = field(default_factory=dict)
    actions: dict[int, str] = field(default_factory=dict)
    heads: dict[int, int] = field(default_factory=dict)
    inserted: dict[int, str] = field(default_factory=dict)


def _start(draft: _Draft) -> tuple[int | None, int]:
    """Return the subject, if there is one, and the verb that it belongs to."""
    c, lists = draft.caption, word_lists("phrases")
    at = next(n for n in c.roots if c.tokens[n].is_word or len(c.roots) == 1)
    viewed = False
    while c.tokens[at].tag in _VERBS:
        subject = c.child(at, "nsubj", "nsubjpass")
        who = c.tokens[subject].lemma if subject is not None else ""
        if who in lists.viewers and any(c.tokens[n].lemma in lists.seen for n in c.children(at, "conj")):
            raise Refused("camera")  # "we move on and see the dog"
        shown = c.tokens[at].lemma in lists.seen and (who in lists.viewers or who in lists.camera)
        there = c.child(at, "expl") is not None
        if not (shown or there) or c.child(at, "auxpass") is not None:
            before = next((n for n in c.children(at, "ccomp") if n < at and _own_subject(c, n)), None)
            if before is None:
                return subject, at
            at = before  # "he sits, he eats": the first of two sentences
            draft.gone |= set(range(c.subtree(at)[-1] + 1, len(c.tokens)))
            continue
        viewed = viewed or shown
        inner = c.child(at, "ccomp") if shown else None
        thing = c.child(at, "dobj", "attr", "nsubj") if inner is None else inner
        if thing is None or thing == subject and shown:
            raise Refused("camera" if shown else "no_verb")
        at = thing
        inside = [n for n in c.subtree(thing) if c.tokens[n].arc == "acl"] + [*c.children(c.tokens[thing].head, "advcl")]
        aside = [n for n in inside if shown and n > thing and c.tokens[n].tag == "VBG"]
        if aside and is_person(c, thing) and not c.children(thing, "acl", "relcl"):
            return thing, aside[0]  # "we see a man in a shop, making a board"
    does = [
        n
        for n in c.children(at, "acl", "relcl")
        if c.tokens[n].tag == "VBG" or _is_relative(c, n) or is_verb_form(c.tokens[n].text, "VB")
    ]
    if does:
        return at, does[0]
    raise Refused("camera" if viewed or c.tokens[at].lemma in lists.camera else "no_verb" if is_person(c, at) else "other_subject")


def _is_relative(c: Caption, verb: int) -> bool:
    """Return whether a relative clause says what its noun does, as in "a man who sits"."""
    subject = c.child(verb, "nsubj")
    return c.tokens[verb].arc == "relcl" and (subject is None or c.tokens[subject].tag in ("WP", "WDT"))


def _follow(draft: _Draft, verb: int) -> int:
    """Follow aspect verbs, "is seen" and "is in a room" to the action, and put it into the -ing form."""
    c, lists, token = draft.caption, word_lists("phrases"), draft.caption.tokens[verb]
    before = [n for n in c.children(verb) if n < verb]
    if any(c.tokens[n].arc == "neg" or c.tokens[n].lower in lists.denied | lists.intended for n in before):
        raise Refused("negated")
    later = next((n for n in c.children(verb, "xcomp", "advcl", "ccomp") if n > verb and not _own_subject(c, n)), None)
    close = later is not None and not any(c.tokens[n].tag == "IN" for n in range(verb + 1, min(c.subtree(later))))
    passive = c.child(verb, "auxpass")
    lemma_, leads = token.lemma if token.tag in _VERBS else verb_lemma(token.text), False
    if passive is not None and c.tokens[passive].lemma == "get":
        draft.forms[passive], draft.actions[passive] = inflect("get", "VBG"), "get"
        draft.heads[verb] = verb
        return passive
    bare = token.tag == "VBN" and (is_verb_form(token.text, "VB") or c.children(verb, "dobj"))  # "person run"
    if passive is not None or (token.tag == "VBN" and not bare and not c.children(verb, "aux")):
        if lemma_ not in lists.seen:
            raise Refused("state")
        if later is None:
            raise Refused("camera")
        leads = True
    elif lemma_ == "be":
        able = c.child(verb, "acomp")
        inside = (n for n in c.subtree(verb) if n > verb and c.tokens[n].arc in ("acl", "advcl", "xcomp", "attr", "acomp"))
        later = later or next((n for n in inside if is_verb_form(c.tokens[n].text, "VBG") and not c.child(n, "det")), None)
        if later is not None and c.tokens[later].tag != "VBG":
            pass
        elif able is not None and c.tokens[able].lower == "able":
            later = c.child(able, "xcomp")
        elif later is not None and c.tokens[later].tag != "VBG":
            raise Refused("negated" if c.tokens[later].tag == "VB" else "state")
        leads = True
        if later is None:
            raise Refused("state")
    elif lemma_ in lists.ending and (later is None or c.tokens[later].tag == "VBG") and not c.children(verb, "dobj"):
        raise Refused("stopped")
    elif lemma_ in lists.ending and later is not None and close and c.tokens[later].tag == "VB":
        leads = True  # "stops to eat"
    elif lemma_ in lists.aspect and later is not None and close:
        leads = True
    elif lemma_ == "go" and later is not None and close and c.tokens[later].tag == "VB" and later <= verb + 2:
        if token.tag == "VBG":
            raise Refused("negated")  # "is going to open"
        leads = True
    if leads and later is not None:
        draft.gone |= set(range(min([verb, *c.children(verb, "aux", "auxpass")]), later))
        action = _follow(draft, later)
        draft.heads[verb] = action
        return action
    if token.tag not in _VERBS and not any(is_verb_form(token.text, tag) for tag in ("VB", "VBZ", "VBG")):
        raise Refused("no_verb")
    objects = {c.tokens[n].lemma for n in c.children(verb, "dobj")}
    if lemma_ in lists.stative and not (lemma_ == "have" and objects & lists.events):
        raise Refused("state")
    if lemma_ == "look" and any(c.tokens[n].lower == "like" for n in c.children(verb, "prep")):
        raise Refused("state")
    if lemma_ == "lay" and not objects:
        lemma_ = "lie"
    draft.gone |= set(c.children(verb, "aux")) if before else set()
    draft.forms[verb], draft.actions[verb] = inflect(lemma_, "VBG"), lemma_
    return verb


def _own_subject(c: Caption, verb: int) -> bool:
    return c.child(verb, "nsubj", "nsubjpass", "expl", "csubj") is not None


def _is_clause(c: Caption, number: int) -> bool:
    """Return whether a token is the verb of a clause that is cut off: with its own subject, or with a time."""
    token = c.tokens[number]
    if token.arc == "prep":
        return token.lower in _TIMES and c.child(number, "pcomp") is not None
    if token.arc == "relcl" and (subject := c.child(number, "nsubj")) is not None:  # "opens a door they walk in"
        full = any(c.child(n, "pobj") for n in c.children(number, "prep")) or c.child(number, "dobj", "prt") is not None
        return c.tokens[subject].lower in ("they", "he", "she") and full and all(c.tokens[n].tag[:1] != "W" for n in c.children(number))
    if token.tag == "NNS" and is_verb_form(token.text, "VBZ"):
        return any(c.tokens[n].lemma in word_lists("phrases").camera for n in c.children(number, "compound"))
    if token.arc not in ("advcl", "conj", "parataxis", "dep") or token.tag not in _VERBS:
        return False
    tensed = any(c.tokens[n].tag != "VBN" for n in (number, *c.children(number, "aux", "auxpass")))
    if _own_subject(c, number):
        return tensed or token.arc != "advcl"
    marks = {c.tokens[n].lower for n in c.children(number, "mark", "advmod") if n < number}
    return token.arc == "advcl" and bool(marks & {*_TIMES, "when", "once"})


def _join(draft: _Draft, first: int) -> None:
    """Put the verbs that are joined to the action into the -ing form, with a comma or "and" where nothing joins them."""
    c = draft.caption
    for number in range(first + 1, len(c.tokens)):
        if number in draft.gone or number in draft.actions or not _is_joined(draft, number):
            continue
        kept = draft.gone.copy(), draft.forms.copy(), draft.actions.copy(), draft.heads.copy()
        try:
            opener = min([number, *(n for n in c.children(number, "aux", "auxpass", "advmod") if n > first)])
            action = _follow(draft, number)
            before = max(n for n in range(first, opener) if n == first or n not in draft.gone)
            bare = c.tokens[before].arc != "cc" and c.tokens[before].text != "," and c.tokens[opener].lower != "then"
            if before in draft.actions or (bare and draft.told and c.tokens[number].rival[:2] == "NN"):
                raise Refused("run_on")  # "add cut pieces": either word may be the verb
            if bare:
                draft.inserted[opener if opener not in draft.gone else action] = "and"
        except Refused:
            if draft.told:
                raise
            draft.gone, draft.forms, draft.actions, draft.heads = kept
            _cut(draft, number)
    left = (n for n in range(first + 1, len(c.tokens)) if n not in draft.gone and n not in draft.actions)
    if any(c.tokens[n].tag == "VBZ" and c.tokens[n].arc[:3] != "aux" and not _has_subject(c, n) for n in left):
        raise Refused("run_on")
    loose = (n for n in range(first + 1, len(c.tokens)) if n not in draft.actions and n not in draft.gone)
    if draft.told and any(c.tokens[n].tag in ("VB", "VBP") and c.tokens[n].arc in ("dep", "compound", "nmod", "amod") for n in loose):
        raise Refused("run_on")
    for number in draft.inserted:
        draft.inserted[number] = "and" if number == max(draft.inserted) and number >= max(draft.actions) - 2 else ","


def _has_subject(c: Caption, verb: int) -> bool:
    """Return whether a finite verb, or one that it is joined to, has a subject."""
    return _own_subject(c, verb) or (c.tokens[verb].arc == "conj" and _has_subject(c, c.tokens[verb].head))


def _is_joined(draft: _Draft, number: int) -> bool:
    """Return whether a token is a verb without a subject that belongs to the same actor as the action."""
    c, token, lists = draft.caption, draft.caption.tokens[number], word_lists("phrases")
    head, before = token.head, number - 1 - (c.tokens[number - 1].tag == "RB")
    behind = c.tokens[before].arc == "cc" or c.tokens[before].lower == "then"
    spine = head in draft.actions or head in draft.heads
    if token.arc in ("aux", "auxpass", "amod", "compound") or _own_subject(c, number):
        return False
    if draft.told:
        if not is_verb_form(token.text, "VB"):
            return False
        if behind:  # "add salt and stir": verbs behind "and" are often read as nouns
            return token.arc in _CLAUSES and token.lower not in lists.single | lists.foods
        free = token.tag in ("VB", "VBP") and not c.children(number, "aux", "mark")
        return free and spine and token.arc in ("conj", "dep", "ccomp", "advcl", "parataxis")
    if token.tag in ("NN", "NNS"):  # "looks at the camera and talks"
        form = "VBZ" if token.tag == "NNS" else "VB"
        bare = not c.children(number, "det", "amod", "poss", "nummod", "compound") and token.arc in ("conj", "dep", "appos")
        alike = c.tokens[head].tag == "NNS" or not c.children(head, "det", "poss") and c.tokens[head].tag[:2] == "NN"
        if bare and behind and not alike and is_verb_form(token.text, form) and not token.rival.startswith("VB"):
            raise Refused("run_on")
        return bare and not alike and token.rival[:2] == "VB" and is_verb_form(token.text, form)
    if token.tag not in _VERBS:
        return False
    if token.tag in ("VBZ", "VBP", "VBD") or c.child(number, "auxpass") is not None:
        head = _top(c, head)
        marked = c.children(number, "mark") or any(c.tokens[n].tag in ("WRB", "WDT", "WP") for n in c.children(number))
        return spine or (token.arc in ("conj", "dep", "ccomp", "advcl", "relcl") and not marked and not _own_subject(c, head))
    return spine and token.arc in ("conj", "dep")


def _top(c: Caption, number: int) -> int:
    while c.tokens[number].arc == "conj":
        number = c.tokens[number].head
    return number


def _cut(draft: _Draft, number: int) -> None:
    """Leave a clause out, with the comma or conjunction before it."""
    c = draft.caption
    lost = c.subtree(number)
    draft.gone |= set(lost)
    before = lost[0] - 1
    while before >= 0 and (before in draft.gone or c.tokens[before].arc == "cc" or c.tokens[before].text == ","):
        draft.gone.add(before)
        before -= 1
    if lost[-1] + 1 < len(c.tokens) and c.tokens[lost[-1] + 1].arc != "cc" and c.tokens[lost[-1] + 1].text != ",":
        draft.gone |= set(range(lost[-1] + 1, len(c.tokens)))


# Generation


def _written(c: Caption, draft: _Draft) -> Gerund:
    subject, verb = _start(draft)
    if subject is not None and not is_person(c, subject):
        raise Refused("camera" if c.tokens[subject].lemma in word_lists("phrases").camera else "other_subject")
    if subject is None and c.tokens[verb].tag not in ("VB", "VBP", "VBG") and verb:
        raise Refused("other_subject")
    first = _follow(draft, verb)
    draft.gone |= set(range(first))
    for number in range(first + 1, len(c.tokens)):
        if number not in draft.gone and _is_clause(c, number):
            _cut(draft, number)
    if c.tokens[verb].head != verb and subject is not None:
        for other in c.children(subject, "conj"):
            if other > first:
                _cut(draft, other)
    _join(draft, first)
    kept = [n for n in range(first, len(c.tokens)) if n not in draft.gone]
    while kept and (not c.tokens[kept[-1]].is_word or c.tokens[kept[-1]].arc in ("cc", "mark") or c.tokens[kept[-1]].lower == "then"):
        draft.gone.add(kept.pop())
    if first not in kept:
        raise Refused("unclear")
    if len(kept) > LONGEST:
        raise Refused("long")
    _neutralise(draft, kept)
    kept = [n for n in kept if n not in draft.gone]
    _mark_lists(draft, kept)
    _add_articles(draft, kept)
    _check_end(c, kept)
    changes = draft.forms | dict.fromkeys(draft.gone, "")
    text = c.edit(changes, draft.inserted).replace(" ,", ",").strip(" .;:,")
    text = text[:1].lower() + text[1:]
    _check(draft, kept)
    nouns = frozenset(_nouns(c, kept, draft))
    verbs = {verb_lemma(draft.actions.get(n, c.tokens[n].lemma)) for n in kept if c.tokens[n].tag in _VERBS and c.tokens[n].arc not in ("aux", "auxpass", "amod")}
    folds = folded("verb_folds")
    verbs |= set(draft.actions.values())
    return Gerund(text, draft.actions[first], nouns | {folds.get(v, v) for v in verbs}, nouns, _is_anaphoric(c, kept, draft))


def _neutralise(draft: _Draft, kept: list[int]) -> None:
    """Make words for people neutral, and give the verbs of "they" their plural form."""
    c = draft.caption
    for number in kept:
        token, word = c.tokens[number], neutral(c, number)
        if token.tag == "JJ" and token.lower in ("male", "female"):
            draft.gone.add(number)
        elif word != token.text and number not in draft.actions:
            draft.forms[number] = word
            det = c.child(number, "det")
            known = det is not None and c.tokens[det].lower == "the" and token.arc in ("dobj", "pobj", "dative")
            twice = token.arc == "conj" and draft.forms.get(token.head) == word
            if word == "person" and det is not None and (twice or (known and not c.children(number, "amod", "prep", "relcl", "acl"))):
                draft.forms[det] = "another"
        if word.lower() == "they" != token.lower and token.arc in ("nsubj", "nsubjpass"):
            verbs = [token.head, *(n for n in c.children(token.head, "conj") if not _own_subject(c, n))]
            for part in [n for verb in verbs for n in (verb, *c.children(verb, "aux", "auxpass"))]:
                if c.tokens[part].lower == "was":
                    draft.forms[part] = "were"
                elif c.tokens[part].tag == "VBZ" and part not in draft.actions:
                    draft.forms[part] = inflect(verb_lemma(c.tokens[part].text), "VBP")


def _mark_lists(draft: _Draft, kept: list[int]) -> None:
    """Add the commas that a list lacks: "add salt chopped onions and pepper".

    A noun doesn't stand before the determiner, number or adjective of another one, nor a plural before another noun.

    Raises:
        Refused: Where its items begin is uncertain.
    """
    c, lists = draft.caption, word_lists("phrases")
    row = 0
    for before, number in pairwise(kept):
        one, other = c.tokens[before], c.tokens[number]
        noun = one.tag in ("NN", "NNS") and before not in draft.actions and number == before + 1
        follows = other.tag in ("NN", "NNS") and number not in draft.actions
        row = row + 1 if noun and follows else 0
        inside = c.tokens[other.head].arc not in ("npadvmod", "nsubj") and other.arc not in ("npadvmod", "nsubj")
        opens = other.arc in ("det", "nummod", "amod", "poss", "predet") and other.head > number
        opens = opens or (other.tag == "VBG" and other.arc == "compound")
        plural = one.tag == "NNS" and follows and one.arc in ("compound", "nmod", "amod", "dep", "dobj", "conj", "pobj")
        listed = any(c.tokens[n].arc == "cc" for n in c.subtree(_top(c, other.head if opens else number)))
        apart = draft.told and follows and (other.lower in lists.starters or (one.lower in lists.single and other.lower not in lists.shapes))
        if noun and inside and one.arc != "dative" and (opens or plural or apart):
            if not listed or not draft.told:
                raise Refused("run_on")
            draft.inserted[number], row = ",", 0
        elif row > 1 and draft.told and listed:
            raise Refused("run_on")


def _add_articles(draft: _Draft, kept: list[int]) -> None:
    """Add the article that clipped captions leave out, as in "opens door"."""
    c, lists = draft.caption, word_lists("phrases")
    for number in kept:
        token = c.tokens[number]
        if token.lower in ("a", "an"):
            draft.forms.setdefault(number, token.text)  # so that it follows the next sound
        if token.tag != "NN" or token.arc not in ("dobj", "pobj") or c.children(number, "det", "poss", "nummod", "conj"):
            continue
        start = min([number, *c.children(number, "amod", "compound")])
        fixed = f"{c.tokens[start - 1].lower}_{token.lower}" in lists.bare_refused
        article = "a" if token.lower in lists.bare_a else "the" if token.lower in lists.bare_the else ""
        if article and not fixed and start > kept[0] and c.tokens[start - 1].tag not in ("DT", "PRP$", "CD"):
            draft.inserted[start] = article


def _check_end(c: Caption, kept: list[int]) -> None:
    last = c.tokens[kept[-1]]
    if last.tag in ("DT", "PRP$", "CC", "TO") and last.arc in ("det", "poss", "cc", "aux", "prep") or (last.tag == "IN" and last.arc == "prep" and last.lower in ("of", "with", "from", "into", "onto", "at", "a")):
        raise Refused("cut_off")


def _check(draft: _Draft, kept: list[int]) -> None:
    """Raise Refused unless each action, parsed on its own, relates its words as the text did."""
    c = draft.caption
    for first, stop in pairwise([*sorted(draft.actions), len(c.tokens)]):
        part = [number for number in kept if first <= number < stop]
        while c.tokens[part[-1]].arc == "cc" or not c.tokens[part[-1]].is_word:
            part.pop()
        place = {number: at for at, number in enumerate(part)}
        tokens: list[Token] = []
        for number in part:
            token, head = c.tokens[number], draft.heads.get(c.tokens[number].head, c.tokens[number].head)
            word, tag = draft.forms.get(number, token.text).lower(), "VBG" if number == first else token.tag
            at, arc = (place[number], "ROOT") if number == first else (place.get(head, 0), token.arc)
            tokens.append(replace(token, text=word).read_as(tag, lemma(word, tag), at, arc))
        changes = draft.forms | {n: "" for n in range(len(c.tokens)) if n not in place}
        added = {n: word for n, word in draft.inserted.items() if n in place and n != first}
        text = c.edit(changes, added).strip(" .;:,")
        told = parse(f"They are {text[:1].lower()}{text[1:]}.")
        wanted = Caption(text, tuple(tokens), "declarative")
        known = told.tokens[2].tag == "VBG" and "," not in added.values()  # "undressing" is read as a noun
        if known and told.tokens[2].arc != "ROOT":
            raise Refused("unclear")
        if known and difference(wanted, told, gone=(0,), new=(0, 1, 2, len(told.tokens) - 1)):
            raise Refused("unclear")


def _nouns(c: Caption, kept: list[int], draft: _Draft) -> Iterator[str]:
    lists = word_lists("phrases")
    for number in kept:
        token = c.tokens[number]
        if token.tag.startswith("NN") and number not in draft.actions:
            noun = fold_noun(draft.forms.get(number, token.text).lower())
            if noun not in lists.empty and token.lower not in lists.empty:
                yield noun


def _is_anaphoric(c: Caption, kept: list[int], draft: _Draft) -> bool:
    """Return whether "it", "them" or "this" has no noun before it in the phrase that it can stand for."""
    for number in kept:
        token, word = c.tokens[number], draft.forms.get(number, c.tokens[number].lower).lower()
        if word == "one" and token.arc == "dobj" and not c.children(number):
            return True
        alone = token.tag == "DT" and token.arc in ("dobj", "pobj", "nsubj")
        if not (word in ("it", "its", "them") or (alone and word in ("this", "that", "these", "those", "another", "some"))):
            continue
        many = word in ("them", "these", "those")
        verb = _governor(c, number)
        if word == "them" and c.tokens[token.head].lower in ("behind", "around", "with") and c.child(verb, "dobj"):
            continue  # "closing the door behind them"
        before = [n for n in kept if n < number and c.tokens[n].tag in ("NN", "NNS", "NNP") and n not in draft.actions]
        before = [n for n in before if _governor(c, n) != verb and c.tokens[n].arc != "compound"]
        if not any(is_plural_noun(c.tokens[n].lower) == many or (many and c.children(n, "conj")) for n in before):
            return True
    return False


def _governor(c: Caption, number: int) -> int:
    """Return what a noun depends on, past prepositions and coordination."""
    while c.tokens[number].head != number:
        conjoined = c.tokens[number].arc == "conj"
        number = c.tokens[number].head
        if not conjoined and c.tokens[number].tag not in ("IN", "TO", "RB", "RP"):
            break
    return number


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
    plain = " ".join(text.split()).rstrip(" .!?;:,")
    if not any(character.isalnum() for character in plain):
        return "empty"
    verbs, nouns = _verbs(plain, "auto"), said(plain)[1]
    folds = folded("verb_folds")
    first = next((token.lower for token in tokenize(plain) if token.is_word), plain.lower())
    return Gerund(plain, verbs[0] if verbs else first, nouns | {folds.get(v, v) for v in verbs}, nouns, False)


def said(text: str, style: StyleOption = "auto") -> tuple[frozenset[str], frozenset[str]]:
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
    found = set[str]()
    for word in {token.lower for token in tokenize(text) if token.is_word}:
        if word in CLOSED or (word in AUXILIARIES and word not in HAVE):
            continue
        found |= {word, fold_noun(word), verb_lemma(word)}
    return frozenset(found | {folded("verb_folds").get(word, word) for word in found})


def _verbs(text: str, style: StyleOption) -> list[str]:
    tokens = parse(text, style).tokens
    return [t.lemma for t in tokens if t.tag.startswith("VB") and t.arc not in ("aux", "auxpass") and t.lemma != "be"]
