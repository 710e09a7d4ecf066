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
turned round go where R has no twin; how many sets have two pairs follows from how many these are. That is the start:
which options are turned round, and which make room, is then changed question by question, so that no single cue tells
right options from wrong ones (`matching`). The right twin is the one that goes with the question ("Why did Tom run?":
"Tom was chasing Jerry"), so a set takes twins of wrong options that do as well, and of right ones that do not.

Parmar et al. 2024, "CausalChaos!", section 3.3, replaces wrong options by confusions of the right one alone.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from ..core.seeds import digest_for, rng_for
from ..language.text_key import text_key
from .candidates import Embed
from .confuser import Confuser
from .confusion import KINDS, Confusion, Kind, Unconfused
from .effects import may_be_right
from .matching import Sets, match_sets
from .mining import Negative, OptionSet
from .twin_cues import show_twins, word_weights

PAIRED = 4  # in this many of five sets with two pairs the right option is in one
ALONE = 3  # in this many of five sets with one pair it is not in it
OF = 5
NEGATED: Kind = "negation"
WAYS: tuple[Kind, ...] = ("swap", NEGATED)  # in the order in which they are tried


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
class _Twin:
    base: int  # the place of the option that is turned round
    result: Confusion


@dataclass(frozen=True)
class _Row:
    told: Told
    own: Mapping[Kind, Confusion | Unconfused]
    way: Kind | None  # how the right option is turned round at the start
    wrong: Sequence[_Twin]  # which wrong ones are
    every: Sequence[_Twin]  # all that may be


_Set = tuple[tuple[int, _Twin], ...]  # twins by the places where they stand


def balanced_twins(
    rows: Sequence[Told], confuser: Confuser, embed: Embed, *, most: int = 2, seed: int, kind: str
) -> dict[str, Paired]:
    """Turn round right and wrong options alike.

    At the start an exchange is taken where there is one. Of negations, those that take a "not" away are taken always,
    those that add one as often as right options lose theirs, or else "not" would say which option is wrong; no others
    are added later. As many right options as at the start, or more, are turned round in the end.

    Args:
        rows: Questions of one split, with five options each; sets of another size stay as they are.
        confuser: Turns texts round.
        embed: Returns embeddings of texts, float32, each of length 1.
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
    sets = [_sets(_started(row, look, seed, kind), row, most) for row, look in zip(drafts, looks, strict=True)]
    found = {row.id: Paired(row.choice, ()) for row in rows}
    chosen = match_sets(_shown(drafts, sets, embed), seed=seed, kind=kind)
    for draft, some, number in zip(drafts, sets, chosen, strict=True):
        found[draft.told.id] = _paired(draft, some[number])
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
        usable = [way for way in WAYS if _usable(ways[way], keys)]
        way: Kind | None = None
        for candidate in usable:
            if candidate == NEGATED and not _loses(right, ways):
                if added < 1:
                    continue
                added -= 1
            way = candidate
            break
        every = _twins(row, ways, confuser, keys)
        of_right = [twin for twin in every if way and twin.result is ways[way]]
        twins: list[_Twin] = []
        rng = rng_for(seed, "twins", row.id, kind)
        places = [n for n in range(len(row.choice.options)) if n != row.choice.answer_index]
        for place in [places[n] for n in rng.permutation(len(places)).tolist()]:
            if len(twins) == 2:
                break
            taken = {text_key(twin.result.text) for twin in twins}
            for twin in every:
                if twin.base != place or text_key(twin.result.text) in taken or (_adds(twin) and wrong_added <= 0):
                    continue
                wrong_added -= _adds(twin)
                twins.append(twin)
                break
        some = [twin for twin in every if not _adds(twin) or twin in (*of_right, *twins)]
        drafts.append(_Row(row, ways, way, twins, some))
    return drafts


def _adds(twin: _Twin) -> bool:
    """Return whether a twin is a negation that adds "not"."""
    return twin.result.kind == NEGATED and _has_not(twin.result.text)


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


def _twins(row: Told, own: Mapping[Kind, Confusion | Unconfused], confuser: Confuser, keys: set[str]) -> list[_Twin]:
    """Turn every option round in each way, if what it says then cannot be right."""
    found = []
    for place, text in enumerate(row.choice.options):
        right = place == row.choice.answer_index
        ways = [own[way] for way in WAYS] if right else [confuser.swap(text), confuser.negation(text)]
        for result in ways:
            if not isinstance(result, Confusion) or not _usable(result, keys):
                continue
            if right or not may_be_right(result.text, row.question, row.rights):
                found.append(_Twin(place, result))
    return found


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


def _started(draft: _Row, look: Look, seed: int, kind: str) -> _Set:
    """Return the twins of a set that looks as it should, and where they stand."""
    choice, (pairs, of_right) = draft.told.choice, look
    rng = rng_for(seed, "twins", "places", draft.told.id, kind)
    used = list(draft.wrong[: pairs - of_right])
    kept = {choice.answer_index, *(twin.base for twin in used)}
    free = [n for n in range(len(choice.options)) if n not in kept]
    free = [free[n] for n in rng.permutation(len(free)).tolist()]
    free.sort(key=lambda place: not _has_not(choice.options[place]))  # options with "not" make room first
    own = draft.own[draft.way] if of_right and draft.way else None
    if isinstance(own, Confusion):
        used.insert(0, _Twin(choice.answer_index, own))
    return tuple(zip(free, used, strict=False))


def _sets(start: _Set, draft: _Row, most: int) -> list[_Set]:
    """Return all sets with so many twins at most that differ, the start first."""
    choice = draft.told.choice
    found: dict[frozenset[str], _Set] = {}

    def offer(one: _Set) -> None:
        keys = frozenset(text_key(text) for text in _options(choice, one))
        if len(keys) == OF:
            found.setdefault(keys, one)

    offer(start)
    offer(())
    for pairs in range(1, most + 1):
        for twins in combinations(draft.every, pairs):
            bases = {twin.base for twin in twins}
            free = [n for n in range(OF) if n not in bases and n != choice.answer_index]
            if len(bases) == pairs:
                for places in combinations(free, pairs):
                    offer(tuple(zip(places, twins, strict=True)))
    return list(found.values()) or [start]


def _options(choice: OptionSet, twins: _Set) -> list[str]:
    options = list(choice.options)
    for place, twin in twins:
        options[place] = twin.result.text
    return options


def _shown(drafts: Sequence[_Row], sets: Sequence[Sequence[_Set]], embed: Embed) -> list[Sets]:
    """Measure what is seen of every set."""
    offered = [[_options(row.told.choice, one) for one in some] for row, some in zip(drafts, sets, strict=True)]
    asked = [row.told.question for row in drafts]
    texts = sorted({text for some in offered for options in some for text in options} | set(asked))
    vectors = dict(zip(texts, embed(texts), strict=True))
    weights = word_weights(asked)
    number: dict[str, int] = {}
    found = []
    for row, some, options in zip(drafts, sets, offered, strict=True):
        right = row.told.choice.answer_index
        order = [right, *(n for n in range(OF) if n != right)]
        place = {n: at for at, n in enumerate(order)}
        used = sorted({text for one in options for text in one})
        at = {text: n for n, text in enumerate(used)}
        shown = show_twins(
            row.told.question,
            used,
            np.array([[at[one[n]] for n in order] for one in options]),
            [[(place[twin.base], place[stands]) for stands, twin in one] for one in some],
            np.array([_has_not(text) for text in used]),
            vectors,
            weights,
        )
        keys = [[number.setdefault(text_key(one[n]), len(number)) for n in order] for one in options]
        wanted = [any(twin.base == right for _, twin in one) for one in some]
        found.append(Sets(row.told.id, shown, np.array(keys), np.array(wanted), 0))
    return found


def _paired(draft: _Row, twins: _Set) -> Paired:
    """Write the options of a set."""
    choice = draft.told.choice
    sources = list(choice.sources)
    turned: dict[Kind, Turned] = {way: Turned(draft.own[way], "right", None) for way in KINDS}
    others: list[Turned] = []
    for place, twin in twins:
        made = twin.result
        if twin.base == choice.answer_index:
            sources[place] = Negative(draft.told.id, made.text, 1.0, 0.0, 0.0, made.kind)
            turned[made.kind] = replace(turned[made.kind], place=place)
            continue
        source = choice.sources[twin.base]
        sources[place] = replace(source, text=made.text, kind=made.kind) if source else None
        others.append(Turned(made, "wrong", place))
    return Paired(
        OptionSet(tuple(_options(choice, twins)), choice.answer_index, tuple(sources)),
        (*(turned[way] for way in KINDS), *others),
    )
