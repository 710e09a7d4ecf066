"""Confusions among which the right option has no more twins than a wrong one.

A confusion is the right option turned round. Where it stands alone among borrowed options, the two give each other
away: the one of two twins that is not negated is right. Here wrong options are turned round too, so that of two options
that are twins neither need be right, and one without a twin is right as often as any other.

With five options a set looks in one of four ways; R is right, W wrong, ' turned round, X without a twin:

    R R' W W' X    four in five of the sets with two pairs
    R W W' V V'    one in five
    R R' X X X     two in five of the sets with one pair
    R W W' X X     three in five

so that a twin, and an option without one, is right in one of five, whatever the set looks like. Rights that cannot be
turned round go where R has no twin; how many sets have two pairs follows from how many these are.

Parmar et al. 2024, "CausalChaos!", section 3.3, replaces wrong options by confusions of the right one alone.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from ..language.text_key import text_key
from ..seeds import digest_for, rng_for
from .confuser import Confuser
from .confusion import KINDS, Confusion, Kind, Unconfused
from .effects import may_be_right
from .mining import Negative, OptionSet

PAIRED = 4  # in this many of five sets with two pairs the right option is in one
ALONE = 3  # in this many of five sets with one pair it is not in it
OF = 5
NEGATED = "negation"


@dataclass(frozen=True)
class Told:
    """A question with its options before anything is turned round.

    Attributes:
        id: Unique.
        question: The question.
        rights: What is known to be right: the answer or explanation asked for first, then the other.
        choice: The options.
    """

    id: str
    question: str
    rights: tuple[str, ...]
    choice: OptionSet


@dataclass(frozen=True)
class Turned:
    """An option turned round.

    Attributes:
        result: The confusion, or why there is none.
        of: "right" or "wrong": which option was turned round.
        place: Where it stands; None if it is not among the options.
    """

    result: Confusion | Unconfused
    of: str
    place: int | None


@dataclass(frozen=True)
class Paired:
    """A question's options with twins.

    Attributes:
        choice: The options; the right one is where it was.
        turned: What became of the ways to turn the right option round, then the wrong ones that were.
    """

    choice: OptionSet
    turned: tuple[Turned, ...]


@dataclass(frozen=True)
class _Row:
    told: Told
    own: Mapping[Kind, Confusion | Unconfused]
    way: Kind | None  # how the right option is turned round
    wrong: Sequence[tuple[int, Confusion]]  # places of wrong options that can be turned round, and their twins


def balanced_twins(
    rows: Sequence[Told], confuser: Confuser, *, most: int = 2, seed: int, kind: str
) -> dict[str, Paired]:
    """Turn round right and wrong options alike.

    An exchange is taken where there is one. Of negations, those that take a "not" away are taken always, those that
    add one as often as right options lose theirs, or else "not" would say which option is wrong.

    Args:
        rows: Questions of one split, with five options each; sets of another size stay as they are.
        confuser: Turns texts round.
        most: Options of a set that are replaced at most, 1 or 2.
        seed: The dataset's seed.
        kind: "answer" or "explanation".

    Returns:
        By id, the options.
    """
    whole = [row for row in rows if len(row.choice.options) == OF]
    ordered = sorted(whole, key=lambda row: digest_for(seed, "twins", row.id, kind))
    drafts = _drafts(ordered, confuser, seed, kind)
    looks = _looks(drafts, most)
    found = {row.id: Paired(row.choice, ()) for row in rows}
    for draft, look in zip(drafts, looks, strict=True):
        found[draft.told.id] = _paired(draft, look, seed, kind)
    return found


def _drafts(rows: Sequence[Told], confuser: Confuser, seed: int, kind: str) -> list[_Row]:
    own: list[Mapping[Kind, Confusion | Unconfused]] = []
    for row in rows:
        right = row.choice.options[row.choice.answer_index]
        own.append({"negation": confuser.negation(right), "swap": confuser.swap(right)})
    losing = sum(_loses(row.choice.options[row.choice.answer_index], own[n]) for n, row in enumerate(rows))
    added, wrong_added = losing, 2 * losing
    drafts: list[_Row] = []
    for row, ways in zip(rows, own, strict=True):
        right = row.choice.options[row.choice.answer_index]
        keys = {text_key(option) for option in row.choice.options}
        usable = [w for w in ("swap", "negation") if _usable(ways[w], keys)]
        way: Kind | None = None
        for candidate in usable:
            if candidate == NEGATED and not _loses(right, ways):
                if added < 1:
                    continue
                added -= 1
            way = candidate  # type: ignore[assignment]
            break
        twins: list[tuple[int, Confusion]] = []
        rng = rng_for(seed, "twins", row.id, kind)
        places = [n for n in range(len(row.choice.options)) if n != row.choice.answer_index]
        for place in [places[n] for n in rng.permutation(len(places)).tolist()]:
            if len(twins) == 2:
                break
            twin = _wrong_twin(row, place, confuser, keys | {text_key(t.text) for _, t in twins}, wrong_added > 0)
            if twin is None:
                continue
            if twin.kind == NEGATED and _has_not(twin.text):
                wrong_added -= 1
            twins.append((place, twin))
        drafts.append(_Row(row, ways, way, twins))
    return drafts


def _has_not(text: str) -> bool:
    words = text_key(text).split()
    return any(word in ("not", "never", "cannot") or (word.endswith("nt") and word[:-2] in _CUT) for word in words)


_CUT = frozenset(
    ["do", "does", "did", "is", "are", "was", "were", "ca", "wo", "could", "would", "should", "has", "have", "had"]
)


def _loses(text: str, ways: Mapping[Kind, Confusion | Unconfused]) -> bool:
    """Return whether the negation of a text is one that takes "not" away."""
    found = ways["negation"]
    return isinstance(found, Confusion) and _has_not(text) and not _has_not(found.text)


def _usable(result: Confusion | Unconfused, keys: set[str]) -> bool:
    return isinstance(result, Confusion) and not result.ambiguous and text_key(result.text) not in keys


def _wrong_twin(row: Told, place: int, confuser: Confuser, keys: set[str], may_add: bool) -> Confusion | None:
    """Turn a wrong option round, if that says nothing that may be right."""
    text = row.choice.options[place]
    for turn in (confuser.swap, confuser.negation):
        result = turn(text)
        if not isinstance(result, Confusion) or not _usable(result, keys):
            continue
        if result.kind == NEGATED and _has_not(result.text) and not may_add:
            continue
        if may_be_right(result.text, row.question, row.rights):
            continue
        return result
    return None


Look = tuple[int, bool]  # pairs, and whether the right option is in one of them


def _looks(drafts: Sequence[_Row], most: int) -> list[Look]:
    """Decide how each set looks, with as many twins as the rules leave."""
    plain = sum(row.way is None and not row.wrong for row in drafts)
    for none in range(plain, len(drafts) + 1):
        rest = len(drafts) - none
        for two in range(rest if most > 1 else 0, -1, -1):
            found = _assigned(drafts, none, two, rest - two)
            if found is not None:
                return found
    return [(0, False)] * len(drafts)


def _assigned(drafts: Sequence[_Row], none: int, two: int, one: int) -> list[Look] | None:
    """Assign so many sets of each look; None where the rows do not allow it."""
    paired = (two * PAIRED) // OF
    alone = math.ceil(one * ALONE / OF)
    wanted: dict[Look, int] = {
        (0, False): none,
        (2, True): paired,
        (2, False): two - paired,
        (1, True): one - alone,
        (1, False): alone,
    }
    found: list[Look | None] = [None] * len(drafts)
    # Who can do least chooses first; each takes the look that fewest others can take.
    scarce: tuple[Look, ...] = ((2, False), (1, False), (2, True), (1, True), (0, False))
    order = sorted(range(len(drafts)), key=lambda n: (_freedom(drafts[n]), n))
    for number in order:
        row = drafts[number]
        fitting = [look for look in scarce if wanted[look] and _fits(row, look)]
        if not fitting:
            return None
        # Rows that cannot be in a pair leave the sets with two pairs to rows that have two wrong twins, in turn.
        look = max(fitting, key=lambda one_look: (one_look != (0, False), wanted[one_look]))
        wanted[look] -= 1
        found[number] = look
    return [look for look in found if look is not None]


def _freedom(row: _Row) -> int:
    return sum(_fits(row, look) for look in ((2, True), (2, False), (1, True), (1, False)))


def _fits(row: _Row, look: Look) -> bool:
    pairs, of_right = look
    return (row.way is not None or not of_right) and len(row.wrong) >= pairs - of_right


def _paired(draft: _Row, look: Look, seed: int, kind: str) -> Paired:
    """Write the options of a set."""
    choice, (pairs, of_right) = draft.told.choice, look
    options, sources = list(choice.options), list(choice.sources)
    rng = rng_for(seed, "twins", "places", draft.told.id, kind)
    used = draft.wrong[: pairs - of_right]
    kept = {choice.answer_index, *(place for place, _ in used)}
    free = [n for n in range(len(options)) if n not in kept]
    free = [free[n] for n in rng.permutation(len(free)).tolist()]
    free.sort(key=lambda place: not _has_not(options[place]))  # options with "not" make room first
    turned: dict[Kind, Turned] = {way: Turned(draft.own[way], "right", None) for way in KINDS}
    others: list[Turned] = []
    own = draft.own[draft.way] if of_right and draft.way else None
    if isinstance(own, Confusion):
        place = free.pop(0)
        options[place], sources[place] = own.text, Negative(draft.told.id, own.text, 1.0, 0.0, 0.0, own.kind)
        turned[own.kind] = replace(turned[own.kind], place=place)
    for base, result in used:
        place, source = free.pop(0), choice.sources[base]
        options[place] = result.text
        sources[place] = replace(source, text=result.text, kind=result.kind) if source else None
        others.append(Turned(result, "wrong", place))
    return Paired(
        OptionSet(tuple(options), choice.answer_index, tuple(sources)), (*(turned[way] for way in KINDS), *others)
    )
