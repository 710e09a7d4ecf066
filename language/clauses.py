"""A shallow reader of clauses: for each verb group its subject and object, from tags alone.

It is made for captions: statements, noun phrases with a participle ("man riding a horse") and orders. It reads from
left to right without a grammar of the whole sentence, so what belongs to what across phrases is a rule of thumb.
Each rule is stated where it is applied.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Literal

from .inflection import readings, verb_lemma
from .lexicon import phrasal_verbs, words
from .words import Caption, Token

Form = Literal["finite", "order", "participle", "gerund", "infinitive"]
Role = Literal["main", "coordinate", "relative", "subordinate", "modifier", "complement"]
Tense = Literal["present", "past", "modal", "none"]

FINITE = ("VBZ", "VBP", "VBD", "MD")
BE = frozenset(
    {"be", "is", "are", "am", "was", "were", "been", "being", "'s", "'re", "'m", "isn", "aren", "wasn", "weren"}
)
HAVE = frozenset({"have", "has", "had", "having", "'ve", "'s", "'d", "haven", "hasn", "hadn"})
DO = frozenset({"do", "does", "did", "don", "doesn", "didn"})
GET = frozenset({"get", "gets", "got", "getting", "gotten"})
NEGATIONS = frozenset({"not", "n't", "n’t", "never", "t"})
SUBORDINATORS = words("joining")
RELATIVES = frozenset({"who", "which", "that", "whom"})
PARTICLES = words("particles")
QUANTITIES = words("quantities")
MEDIA = words("media")
PERCEPTION = words("perception")
COPULAS = words("copulas")
GIVING = words("giving")
MODIFIERS = words("modifiers")
PHRASAL = phrasal_verbs()
TIMES = words("times")
_PLURAL_WORDS = words("plural_words")


@dataclass(frozen=True)
class NounPhrase:
    """A noun phrase.

    Attributes:
        first: Its first token.
        stop: The token behind its last.
        heads: Its head noun, or one for each joined by "and".
        person: 1, 2 or 3.
        plural: Whether its verb is in the plural.
    """

    first: int
    stop: int
    heads: tuple[int, ...]
    person: Literal[1, 2, 3]
    plural: bool

    @property
    def head(self) -> int:
        """The first of its heads."""
        return self.heads[0]

    def text(self, caption: Caption) -> str:
        """Give it as written."""
        return caption.text[caption.tokens[self.first].start : caption.tokens[self.stop - 1].end]


@dataclass(frozen=True)
class VerbGroup:
    """Auxiliaries and main verb: "is not slowly picking up".

    Attributes:
        auxiliaries: Their tokens, in order; a negated "can't" is auxiliary and negation.
        negation: The token of "not", "n't" or "never".
        adverbs: Adverbs between its first and its main verb, or right before a verb that stands alone.
        main: The main verb; "is" in "a man is happy".
        particle: "up" in "picks up", behind the verb or behind a short object.
        lemma: Base form of the main verb.
        form: "finite", "order", "participle" ("man riding"), "gerund" ("by riding"), "infinitive" ("to ride").
        tense: Of its first verb; "modal" if that is one, "none" if it is not finite.
        progressive: "is riding".
        perfect: "has ridden".
        passive: "is ridden"; also a bare "ridden".
        to: The token of "to" of an infinitive.
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
        """All its tokens, in order."""
        rest = (self.negation, self.particle, self.to)
        found = {self.main, *self.auxiliaries, *self.adverbs, *(number for number in rest if number is not None)}
        return tuple(sorted(found))

    @property
    def first(self) -> int:
        """The first verb: the one that is finite if the group is."""
        return self.auxiliaries[0] if self.auxiliaries else self.main

    @property
    def copula(self) -> bool:
        """Whether a form of "be" is the main verb."""
        return self.lemma == "be"


@dataclass(frozen=True)
class Clause:
    """A verb group and what belongs to it.

    Attributes:
        verb: The verb group.
        subject: Who does it, or what is said of: for "man riding a horse" the man; for a coordinate clause without a
            subject of its own ("and waves") that of the clause before; None for orders and gerunds.
        object: What it is done to; of "gives her a ring" the receiver. None in the passive and behind "be".
        second_object: What is given, in "gives her a ring".
        agent: The noun phrase behind "by", in the passive.
        role: "main"; "coordinate": joined to the clause before, whose subject it shares; "relative": "who rides";
            "subordinate": behind "because", "while", "that"; "modifier": a participle; "complement": "to ride",
            "starts riding".
        start: Its first token, the joining word not included.
        stop: The token behind its last.
        previous: Number of the clause whose subject it shares, if it is coordinate.
    """

    verb: VerbGroup
    subject: NounPhrase | None
    object: NounPhrase | None
    second_object: NounPhrase | None
    agent: NounPhrase | None
    role: Role
    start: int
    stop: int
    previous: int | None = None

    @property
    def finite(self) -> bool:
        """Whether its verb is finite."""
        return self.verb.form == "finite"


@lru_cache(maxsize=1 << 13)
def clauses(caption: Caption) -> tuple[Clause, ...]:
    """Read the clauses of a caption, in the order of their verbs."""
    found: list[Clause] = []
    for sentence in caption.sentences:
        found += _read_sentence(caption, sentence, len(found))
    return tuple(found)


def main_clause(caption: Caption) -> Clause | None:
    """Give the clause that the caption states: the first main or ordered one, else the first finite, else the first.

    "Because Tom wants to catch Jerry." has no main clause; "Tom wants" is what it states.
    """
    found = clauses(caption)
    for wanted in (
        [c for c in found if c.role == "main" and c.verb.form in ("finite", "order")],
        found[:1] if _asks(found) else [],
        [c for c in found if c.finite],
        [c for c in found if c.role in ("main", "modifier")],
        found,
    ):
        if wanted:
            return wanted[0]
    return None


def _asks(found: Sequence[Clause]) -> bool:
    """Tell whether a noun phrase only tells of a statement: "guy explaining what a syndrome is"."""
    first = found[0] if found else None
    return first is not None and first.role == "modifier" and all(c.role == "subordinate" for c in found if c.finite)


def chains(caption: Caption) -> tuple[tuple[Clause, ...], ...]:
    """Give finite clauses and orders in groups that share a subject: "rides a horse and waves"."""
    found = clauses(caption)
    groups: dict[int, list[Clause]] = {}
    leader: dict[int, int] = {}
    for number, clause in enumerate(found):
        leader[number] = leader[clause.previous] if clause.previous is not None else number
        groups.setdefault(leader[number], []).append(clause)
    return tuple(tuple(group) for group in groups.values())


def read_noun_phrase(
    tokens: Sequence[Token], start: int, stop: int, joined: bool = True, tails: bool = True
) -> NounPhrase | None:
    """Read the noun phrase that starts at a token.

    Args:
        tokens: Tagged tokens.
        start: Where it begins.
        stop: Where it must end at the latest.
        joined: Whether "and another" belongs to it.
        tails: Whether "of ..." and "about ..." and relative clauses belong to it.

    Returns:
        The phrase, or None if none starts there.
    """
    simple = _read_simple(tokens, start, stop)
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
            or (tokens[end].lower == "to" and word in words("parts_to") and end > start + 1)
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
    """In "a purple shirt and white blazer is" the first article is that of both: no clause begins with the second."""
    bare = tokens[other.first].tag in ("NN", "JJ") and tokens[other.head].tag == "NN" and len(other.heads) == 1
    return bare and tokens[start].tag in ("DT", "PRP$")


def _list_goes_on(tokens: Sequence[Token], comma: int, stop: int) -> bool:
    return any(token.tag == "CC" for token in tokens[comma:stop])


def _read_simple(tokens: Sequence[Token], start: int, stop: int) -> tuple[int, int] | None:
    """Read determiners, modifiers and nouns; give the end and the head."""
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
    # An adjective can stand for people or things: "the young", "some red"; only behind an article.
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
    """Tell whether a participle stands before a noun ("a running man", "add chopped onions")."""
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
    """Find where the relative clause that starts at "who" ends: at a comma, before "and", or before a second verb."""
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
    after = _read_simple(tokens, number + 1, stop)
    return after is not None and not _starts_clause(tokens, after[0], stop)


def _starts_clause(tokens: Sequence[Token], number: int, stop: int) -> bool:
    """Tell whether a verb follows, so that what stands before is its subject; phrases between do not count."""
    while number < stop:
        token = tokens[number]
        if token.tag in FINITE or (token.tag in ("VBG", "VB") and token.lower != "including"):
            return True
        if token.tag.startswith("RB") or token.tag == "VBN":
            number += 1
            continue
        if token.tag == "IN" and token.lower not in SUBORDINATORS:
            inner = _read_simple(tokens, number + 1, stop)
            if inner is None:
                return False
            # A verb behind the phrase may belong to what stands further left: only a finite one counts.
            number = inner[0]
            if number < stop and tokens[number].tag == "VBG":
                return False
            continue
        if token.lower in ("who", "which", "that") and token.tag in ("WP", "WDT"):
            number = _relative_stop(tokens, number, stop)
            continue
        return False
    return False


# --- verb groups ---


def _read_sentence(caption: Caption, sentence: range, offset: int) -> list[Clause]:
    tokens = caption.tokens
    start, stop = sentence.start, sentence.stop
    while stop > start and not tokens[stop - 1].is_word:
        stop -= 1
    groups = _verb_groups(tokens, start, stop)
    found: list[Clause] = []
    for number in range(len(groups)):
        found.append(_read_clause(tokens, start, stop, groups, number, found, offset))
    return _with_ends(tokens, found, start, stop)


def _verb_groups(tokens: Sequence[Token], start: int, stop: int) -> list[VerbGroup]:
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
        if token.lower.replace("’", "'") in NEGATIONS and (token.lower != "t" or token.tag == "RB"):
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
    lemma = "be" if tokens[main].lower.replace("’", "'") in BE else verb_lemma(tokens[main].text)
    form = _form(tokens, number, start, to)
    tense: Tense = "none"
    if form == "finite":
        tense = "modal" if first.tag == "MD" else "past" if first.tag == "VBD" else "present"
    chained = [tokens[n].lower.replace("’", "'") for n in chain]
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
    """Tell whether a participle behind "have" is its verb: "had told Jerry", "had thrown food", not "has dyed hair"."""
    if tokens[number + 1].tag in ("NNP", "NNPS"):
        return True
    back = number - 1
    while back > 0 and tokens[back].tag.startswith("RB"):
        back -= 1
    things = tokens[number + 1].tag == "NNS" and "ADJ" in readings(tokens[number].text)  # "had broken wings"
    return tokens[back].lower == "had" and not things


def _verb_after(tokens: Sequence[Token], number: int, stop: int, last: Token) -> bool:
    """Tell whether a verb that the last one takes follows an adverb."""
    while number < stop and tokens[number].tag.startswith("RB"):
        number += 1
    return number < stop and _takes(last, tokens[number])


def _takes(last: Token, token: Token) -> bool:
    word, tag = last.lower.replace("’", "'"), token.tag
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
    """Tell whether an adverb stands between what can be a subject, a joining word or the start, and a verb."""
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
    """Tell whether "let it simmer", "makes the girl laugh", "to wash and dry" come before a base form."""
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
    return back >= start and verb_lemma(tokens[back].text) in ("help", "let") and tokens[back].tag.startswith("VB")


def _particle(tokens: Sequence[Token], main: int, stop: int, lemma: str) -> int | None:
    """Find "up" in "picks up a ball" and "picks it up"; "on" in "walks on the road" is none.

    Right behind the verb it is a particle if tagged RP, or if tagged otherwise and no noun phrase but an object with an
    article follows one that is a particle with nearly every verb ("up", "out", "off", "away", "back", "down").
    """
    if lemma == "be" or main + 1 >= stop:
        return None
    after = tokens[main + 1]
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
    short = _read_simple(tokens, main + 1, stop)
    if short is None or short[0] >= stop or short[0] - main > 4:
        return None
    token = tokens[short[0]]
    if token.lower in PARTICLES and (lemma, token.lower) in PHRASAL:
        follows = tokens[short[0] + 1] if short[0] + 1 < stop else None
        if follows is None or follows.tag in ("IN", "CC", "TO", "RB", ",", ".", "VBG"):
            return short[0]
    return None


# --- subjects and objects ---


def _read_clause(
    tokens: Sequence[Token],
    start: int,
    stop: int,
    groups: Sequence[VerbGroup],
    number: int,
    found: Sequence[Clause],
    offset: int,
) -> Clause:
    group = groups[number]
    limit = groups[number + 1].tokens[0] if number + 1 < len(groups) else stop
    role, subject, previous, begins = _subject(tokens, start, group, found)
    first, second = _objects(tokens, group, stop)
    agent = _agent(tokens, group, limit) if group.passive else None
    return Clause(
        verb=group,
        subject=subject,
        object=None if group.passive else first,
        second_object=second,
        agent=agent,
        role=role,
        start=begins,
        stop=stop,
        previous=None if previous is None else previous + offset,
    )


def _subject(
    tokens: Sequence[Token], start: int, group: VerbGroup, found: Sequence[Clause]
) -> tuple[Role, NounPhrase | None, int | None, int]:
    """Find what a clause is to the sentence, its subject, the clause that it is joined to, and where it begins."""
    begins = group.tokens[0]
    back = begins - 1
    while back >= start and tokens[back].tag.startswith("RB"):
        back -= 1
    before = tokens[back] if back >= start else None
    joined = before is not None and (before.tag == "CC" or before.text in (",", ";") or before.lower == "then")
    inserted = before is not None and before.text == "," and found and found[-1].role == "relative"
    if before is not None and joined and not inserted:
        earlier = _partner(tokens, group, found, back)
        if earlier is not None:
            return "coordinate", found[earlier].subject, earlier, begins
    if group.form == "order":
        return "main", None, None, begins
    if group.form == "infinitive" or group.form == "gerund":
        if group.form == "gerund" and not found and back < start:
            return "main", None, None, begins
        holder = next((c.subject for c in reversed(found) if c.stop >= begins and c.subject), None)
        return "complement", holder, None, begins
    if before is not None and before.lower in RELATIVES and before.tag in ("WP", "WDT") and group.form == "finite":
        antecedent = _phrase_before(tokens, start, back, found, group.form)
        return "relative", antecedent, None, back
    if group.form == "participle":
        if before is not None and (before.tag.startswith(("NN", "PRP", "CD", "DT")) or before.text == ","):
            # In "boxes stacked by a man riding": the nearest participle before it is its own clause.
            phrase = _phrase_before(tokens, start, begins, found, "participle")
            return "modifier", phrase, None, begins
        holder = found[-1].subject if found else None
        return "complement" if found else "modifier", holder, None, begins
    if before is None or before.lower in SUBORDINATORS or before.tag in ("WP", "WDT", "WRB"):
        # "what is", "as shown"; a question or a fragment.
        return ("subordinate" if before is not None else "main"), None, None, begins
    return _finite_subject(tokens, start, begins, found)


def _partner(tokens: Sequence[Token], group: VerbGroup, found: Sequence[Clause], joint: int) -> int | None:
    """Find the clause before that a joined verb shares its subject with: the nearest of its form."""
    first = tokens[group.first].tag
    for number in range(len(found) - 1, -1, -1):
        verb = found[number].verb
        if group.form == "finite" and verb.form == "finite":
            # In a relative clause the nearest is right only where the main verb is still to come.
            if found[number].role == "relative" and any(c.role == "main" and c.finite for c in found[:number]):
                agrees = found[number].subject
                main = next(n for n in range(number) if found[n].role == "main" and found[n].finite)
                same = agrees is not None and tokens[verb.first].tag == first != tokens[found[main].verb.first].tag
                return number if same else main
            return number
        same_form = tokens[verb.main].tag == tokens[group.main].tag
        if not group.auxiliaries and group.form != "finite" and same_form and verb.main < joint:
            return number  # "is cutting and adding", "can peel and eat"
    return None


def _finite_subject(
    tokens: Sequence[Token], start: int, begins: int, found: Sequence[Clause]
) -> tuple[Role, NounPhrase | None, int | None, int]:
    """Find the subject that stands before a finite verb."""
    left = start
    role: Role = "main"
    finite = [c for c in found if c.verb.form in ("finite", "order")]
    last = finite[-1] if finite else None
    relative = last is not None and last.role == "relative" and last.subject is not None
    if (
        last is not None
        and relative
        and last.subject is not None
        and not _joint_between(tokens, last.verb.main, begins)
    ):
        # "a man who is cooking talks": the subject holds the relative clause.
        left = last.subject.first
        outer = [c for c in finite[:-1] if c.verb.main < left]
        role = "main" if not outer else _role_behind(tokens, start, left)
    else:
        after = last.verb.main + 1 if last is not None else start
        joints = [n for n in range(after, begins) if _is_joint(tokens, n, last is not None, begins)]
        if joints:
            left = joints[-1] + 1
            role = (
                "main"
                if tokens[joints[-1]].tag == "CC" or tokens[joints[-1]].text in (",", ";", ":")
                else "subordinate"
            )
        elif last is not None:
            left, role = _nearest_start(tokens, after, begins), "subordinate"
    role, left = _skip_opening(tokens, left, begins, role)
    phrase = read_noun_phrase(tokens, left, begins)
    while phrase is None and left < begins - 1:
        left += 1
        phrase = read_noun_phrase(tokens, left, begins)
    if phrase is None:
        return role, None, None, begins
    return role, replace(phrase, stop=_trim(tokens, phrase, begins)), None, phrase.first


def _trim(tokens: Sequence[Token], phrase: NounPhrase, begins: int) -> int:
    """End a subject right before its verb; adverbs and commas at its end are left out."""
    stop = begins
    while stop > phrase.stop and (tokens[stop - 1].tag.startswith("RB") or not tokens[stop - 1].is_word):
        stop -= 1
    return stop


def _joint_between(tokens: Sequence[Token], first: int, stop: int) -> bool:
    return any(tokens[n].tag == "CC" for n in range(first + 1, stop))


def _is_joint(tokens: Sequence[Token], number: int, after_verb: bool, begins: int) -> bool:
    token = tokens[number]
    if token.tag == "CC":
        if not after_verb:
            return False
        inner = read_noun_phrase(tokens, number + 1, begins, tails=False)
        return inner is not None and _is_first_and(tokens, number, begins)
    if token.text in (",", ";", ":"):
        return after_verb or _opening_comma(tokens, number)
    if token.lower in SUBORDINATORS and token.tag in ("IN", "WRB", "WDT", "WP", "DT", "RB"):
        return not (token.lower in ("that", "which", "who") and token.tag == "DT")
    return token.tag == "WRB"


def _is_first_and(tokens: Sequence[Token], number: int, begins: int) -> bool:
    """In "eats rice and a boy and a girl sing" the first "and" joins the clauses: "a boy and a girl" go alike."""
    later = [n for n in range(number + 1, begins) if tokens[n].tag == "CC"]
    if not later:
        return True
    one, two = tokens[number + 1], tokens[later[0] + 1]
    return one.tag != two.tag or later[0] - number > 5


def _opening_comma(tokens: Sequence[Token], number: int) -> bool:
    start = number
    while start > 0 and tokens[start - 1].text not in (".", "!", "?"):
        start -= 1
    return tokens[start].tag in ("IN", "RB", "WRB", "VBG", "TO") or tokens[start].lower in SUBORDINATORS


def _role_behind(tokens: Sequence[Token], start: int, left: int) -> Role:
    before = tokens[left - 1] if left > start else None
    return "subordinate" if before is not None and before.lower in SUBORDINATORS else "main"


def _nearest_start(tokens: Sequence[Token], after: int, begins: int) -> int:
    """Find where the last simple noun phrase before a verb begins: "he thinks the man is"."""
    best = begins - 1
    for start in range(begins - 1, after - 1, -1):
        simple = _read_simple(tokens, start, begins)
        if simple is None or simple[0] != begins:
            if simple is None and tokens[start].tag not in ("JJ", "RB", "VBN", "VBG"):
                break
            continue
        best = start
    return best


def _skip_opening(tokens: Sequence[Token], left: int, begins: int, role: Role) -> tuple[Role, int]:
    """Pass over "in this video" before a subject; a word such as "because" there makes the clause subordinate."""
    while left < begins:
        token = tokens[left]
        if token.lower in SUBORDINATORS and token.tag in ("IN", "WRB", "RB"):
            inner = read_noun_phrase(tokens, left + 1, begins, tails=True)
            follows = tokens[inner.stop].tag if inner is not None and inner.stop < begins else ""
            if inner is not None and follows in ("DT", "PRP", "CD", "PRP$", "EX"):
                left = inner.stop
                continue
            role = "subordinate"
            left += 1
        elif token.tag in ("IN", "TO"):
            inner = read_noun_phrase(tokens, left + 1, begins, tails=True)
            if inner is None:
                return role, left + 1
            left = inner.stop
        elif token.tag.startswith("RB") or token.tag in ("CC", "WRB", "UH") or not token.is_word:
            left += 1
        else:
            break
    return role, left


def _phrase_before(
    tokens: Sequence[Token], start: int, stop: int, found: Sequence[Clause], form: str
) -> NounPhrase | None:
    """Find the noun phrase that a participle or relative clause stands behind.

    It is the last simple phrase, or the one before its "in a suit", "of people": back to a verb, a joining word or the
    start. A phrase for a picture gives way to what it shows: "video of a man riding".
    """
    left = start
    for clause in found:
        if clause.verb.main < stop:
            left = max(left, clause.verb.main + 1)
            if clause.verb.particle is not None and clause.verb.particle < stop:
                left = max(left, clause.verb.particle + 1)
    for number in range(stop - 1, left - 1, -1):
        token = tokens[number]
        after_verb = any(c.verb.main < number for c in found)
        if token.text in (";", ":") or (token.lower in SUBORDINATORS and token.tag in ("IN", "WRB")):
            left = number + 1
            break
        if token.tag == "CC" and after_verb and _is_first_and(tokens, number, stop):
            before = tokens[number - 1]
            verbal = any(c.object is not None and c.object.stop > number for c in found if c.verb.main < number)
            if not verbal or before.tag not in ("NN", "NNS"):
                left = number + 1
                break
    while left < stop and (tokens[left].tag in ("IN", "TO", "CC", "WRB") or not tokens[left].is_word):
        left += 1
    phrase = read_noun_phrase(tokens, left, stop, tails=False)
    while phrase is not None and phrase.stop < stop:
        word = tokens[phrase.heads[-1]].lower
        link = tokens[phrase.stop]
        if link.tag in ("IN", "TO", "WRB") and (
            (word in MEDIA and link.lower in ("of", "about", "where", "with", "for"))
            or (link.lower == "of" and word not in QUANTITIES and word in MEDIA)
        ):
            inner = read_noun_phrase(tokens, phrase.stop + 1, stop, tails=False)
            if inner is None:
                break
            phrase = inner
            continue
        if word in QUANTITIES and link.lower == "of":
            inner = read_noun_phrase(tokens, phrase.stop + 1, stop, tails=False)
            plural = inner.plural if inner is not None else phrase.plural
            return replace(phrase, stop=_trim(tokens, phrase, stop), plural=plural)
        ended = replace(phrase, stop=_trim(tokens, phrase, stop))
        return ended if ended.stop > ended.first else None
    if phrase is None and left < stop:
        first = _nearest_start(tokens, left, stop)
        return read_noun_phrase(tokens, first, stop, tails=False)
    return phrase


def _objects(tokens: Sequence[Token], group: VerbGroup, stop: int) -> tuple[NounPhrase | None, NounPhrase | None]:
    if group.lemma in COPULAS and group.lemma not in ("turn",):
        return None, None
    at = group.main + 1
    if group.particle == at:
        at += 1
    while at < stop and tokens[at].text in ('"', "“"):
        at += 1
    if at >= stop:
        return None, None
    first = tokens[at]
    if first.tag.startswith("RB") and not (at + 1 < stop and tokens[at + 1].tag in ("JJ", "CD")):
        return None, None
    limit = group.particle if group.particle is not None and group.particle > at else stop
    phrase = read_noun_phrase(tokens, at, limit)
    if phrase is None or tokens[phrase.first].tag == "EX":
        return None, None
    phrase = _with_participle(tokens, phrase, group, limit)
    if _is_adverbial(tokens, phrase):
        return None, None
    second = None
    if group.lemma in GIVING and phrase.stop < stop:
        after = tokens[phrase.stop]
        pronoun = tokens[phrase.head].tag == "PRP" and len(phrase.heads) == 1
        if after.tag in ("DT", "PRP$", "CD") or (pronoun and after.tag.startswith(("NN", "JJ"))):
            second = read_noun_phrase(tokens, phrase.stop, stop)
            if second is not None and _is_adverbial(tokens, second):
                second = None
    return phrase, second


def _with_participle(tokens: Sequence[Token], phrase: NounPhrase, group: VerbGroup, stop: int) -> NounPhrase:
    """Take in "tied to a tree" behind an object, and "dancing" behind what is seen."""
    if phrase.stop >= stop or tokens[phrase.stop].tag not in ("VBN", "VBG"):
        return phrase
    takes = tokens[phrase.stop].tag == "VBN" or group.lemma in PERCEPTION
    if not takes or (tokens[phrase.stop].tag == "VBN" and is_modifier(tokens, phrase.stop, phrase.first, stop)):
        return phrase
    end = phrase.stop + 1
    while (
        end < stop
        and tokens[end].tag not in ("CC", ",", ":", "VBG", *FINITE)
        and tokens[end].lower not in SUBORDINATORS
    ):
        end += 1
    if end < stop and tokens[end].tag in FINITE:
        return phrase
    return replace(phrase, stop=end)


def _is_adverbial(tokens: Sequence[Token], phrase: NounPhrase) -> bool:
    """Tell whether a noun phrase says when or how far: "sleeps all day", "for" left out."""
    head = tokens[phrase.head]
    if len(phrase.heads) > 1 or phrase.stop - phrase.first > 3:
        return False
    if head.lower in ("way", "time", "bit", "lot", "day", "night", "second", "year", "evening"):
        return phrase.stop - phrase.first >= 2 and tokens[phrase.first].lower not in ("the", "some")
    return head.lower in TIMES


def _agent(tokens: Sequence[Token], group: VerbGroup, limit: int) -> NounPhrase | None:
    for number in range(group.main + 1, limit):
        if tokens[number].lower == "by":
            return read_noun_phrase(tokens, number + 1, limit)
        if tokens[number].tag in ("CC", ",") or tokens[number].lower in SUBORDINATORS:
            break
    return None


def _with_ends(tokens: Sequence[Token], found: Sequence[Clause], start: int, stop: int) -> list[Clause]:
    """Let each clause end where the next one that is not inside it begins; joining words belong to neither."""
    ended: list[Clause] = []
    for number, clause in enumerate(found):
        end = stop
        for later in found[number + 1 :]:
            if later.role in ("main", "coordinate", "subordinate") and later.start > clause.verb.main:
                end = later.start
                break
            if clause.role == "relative" and later.subject is not None and later.subject.stop <= later.verb.first:
                inside = clause.subject is not None and later.subject.first <= clause.subject.first
                if inside and later.role == "main":
                    end = later.verb.tokens[0]
                    break
        while end - 1 > clause.verb.tokens[-1] and (
            tokens[end - 1].tag in ("CC", ",", ":")
            or (tokens[end - 1].lower in SUBORDINATORS and tokens[end - 1].tag in ("IN", "WRB", "WDT"))
        ):
            end -= 1
        ended.append(replace(clause, stop=end))
    return ended
