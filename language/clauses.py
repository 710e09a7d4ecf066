"""Find the clauses of a caption, with the subject and object of each verb group, from part-of-speech tags alone.

The parser is designed for captions: statements, noun phrases with a participle ("man riding a horse") and imperatives.
It works from left to right without a grammar of the whole sentence, so attachment across phrases is heuristic. Each
rule is documented where it is applied.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Literal

from .closed_classes import RELATIVES, SUBORDINATORS
from .noun_phrases import MEDIA, QUANTITIES, NounPhrase, read_noun_phrase, read_simple
from .objects import read_agent, read_objects
from .verb_groups import VerbGroup, verb_groups
from .words import Caption, Token

Role = Literal["main", "coordinate", "relative", "subordinate", "modifier", "complement"]


@dataclass(frozen=True)
class Clause:
    """A verb group with its arguments.

    Attributes:
        subject: The subject, such as "man" in "man riding a horse". A coordinate clause without a subject ("and waves")
            has that of the preceding clause. None for imperatives and gerunds.
        object: The object, or the recipient in "gives her a ring". None in the passive and after "be".
        second_object: The thing given in "gives her a ring".
        agent: The noun phrase after "by" in the passive.
        role: "main"; "coordinate" if it shares its subject with an earlier clause; "relative" ("who rides");
            "subordinate" after "because", "while", "that"; "modifier" for a participle; "complement" ("to ride",
            "starts
            riding").
        start: Index of the first token after the conjunction.
        stop: Index after the last token.
        previous: Index of the clause whose subject a coordinate clause shares.
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
        """Return whether the verb is finite."""
        return self.verb.form == "finite"


@lru_cache(maxsize=1 << 13)
def clauses(caption: Caption) -> tuple[Clause, ...]:
    """Return the clauses of a caption, in the order of their verbs."""
    found: list[Clause] = []
    for sentence in caption.sentences:
        found += _read_sentence(caption, sentence, len(found))
    return tuple(found)


def main_clause(caption: Caption) -> Clause | None:
    """Return the first main clause or imperative. If there is none, return the first finite clause, or else any clause.

    "Because Tom wants to catch Jerry." has no main clause, so the result is "Tom wants".
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
            return _behind_contact_clause(caption, wanted[0])
    return None


def _behind_contact_clause(caption: Caption, main: Clause) -> Clause:
    """Skip a contact clause in the subject: in "the can Jerry was in started", return "started"."""
    tokens = caption.tokens
    if main.subject is None or not main.finite or tokens[0].tag not in ("DT", "PRP$"):
        return main
    if tokens[main.verb.tokens[0] - 1].tag not in ("NNP", "PRP"):
        return main
    for clause in clauses(caption):
        place = clause.verb.tokens[0] - 1
        before = tokens[place - 1 if tokens[place].tag.startswith("RB") else place]
        stranded = before.tag in ("IN", "RP") and before.lower not in SUBORDINATORS
        if clause.finite and clause.verb.first > main.verb.main + 1 and stranded:
            return clause
    return main


def _asks(found: Sequence[Clause]) -> bool:
    """Return whether a noun phrase only introduces a subordinate clause, as in "guy explaining what a syndrome is"."""
    first = found[0] if found else None
    return first is not None and first.role == "modifier" and all(c.role == "subordinate" for c in found if c.finite)


def _read_sentence(caption: Caption, sentence: range, offset: int) -> list[Clause]:
    tokens = caption.tokens
    start, stop = sentence.start, sentence.stop
    while stop > start and not tokens[stop - 1].is_word:
        stop -= 1
    groups = verb_groups(tokens, start, stop)
    found: list[Clause] = []
    for number in range(len(groups)):
        found.append(_read_clause(tokens, start, stop, groups, number, found, offset))
    return _with_ends(tokens, found, start, stop)


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
    first, second = read_objects(tokens, group, stop)
    agent = read_agent(tokens, group, limit) if group.passive else None
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
    """Return the role, subject and start of a clause, and the index of the clause that shares its subject."""
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
    """Find the nearest clause of the same form with which a coordinated verb shares its subject."""
    first = tokens[group.first].tag
    for number in range(len(found) - 1, -1, -1):
        verb = found[number].verb
        if group.form == "finite" and verb.form == "finite":
            # In a relative clause the nearest verb qualifies only if the main verb is still to follow.
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
    """Return whether "and" joins parallel clauses, like the first one in "eats rice and a boy and a girl sing"."""
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
    """Return where the last simple noun phrase before a verb starts, such as "the man" in "he thinks the man is"."""
    best = begins - 1
    for start in range(begins - 1, after - 1, -1):
        simple = read_simple(tokens, start, begins)
        if simple is None or simple[0] != begins:
            if simple is None and tokens[start].tag not in ("JJ", "RB", "VBN", "VBG"):
                break
            continue
        best = start
    return best


def _skip_opening(tokens: Sequence[Token], left: int, begins: int, role: Role) -> tuple[Role, int]:
    """Skip an opening such as "in this video". A conjunction there, such as "because", makes the clause subordinate."""
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
    """Return the noun phrase that a participle or relative clause modifies.

    This is the last simple phrase, or the one before "in a suit" or "of people". The search stops at a verb, a
    conjunction or the start. A word for a picture is replaced by what it shows: "man" in "video of a man riding".
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


def _with_ends(tokens: Sequence[Token], found: Sequence[Clause], start: int, stop: int) -> list[Clause]:
    """End each clause where the next clause outside it starts. Conjunctions belong to neither clause."""
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
