"""Add causal confusions to option sets: negated options, and options with agent and patient swapped.

Parmar et al. 2024, "CausalChaos!", section 3.3, replace distractors with confusions of the correct option
(`confuse_correct`). Such a confusion reveals the correct option: of two counterparts, it is the one that is not
negated. The default (`confuse_evenly`) differs: distractors are confused too, so that neither of two counterparts need
be correct, and an option without a counterpart is correct as often as any other.

Sets of five options have one of four layouts. R is correct, W and V are wrong, ' marks a confusion, X has no
counterpart:

    R R' W W' X    four in five of the sets with two pairs
    R W W' V V'    one in five
    R R' X X X     two in five of the sets with one pair
    R W W' X X     three in five

As a result, an option with or without a counterpart is correct in one of five cases in every layout. Correct options
that cannot be confused use layouts in which R has no counterpart, and their number limits the sets with two pairs.
Starting from these layouts, the choice of confused and replaced options is changed question by question, so that no
single cue separates correct options from distractors (`matching`). The correct one of two counterparts tends to fit the
question ("Why did Tom run?": "Tom was chasing Jerry"), so sets prefer counterparts of distractors that fit equally
well, and of correct options that do not fit.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from ..core.numerics import digest_for, rng_for
from ..language.words import text_key
from .confusion import KINDS, Confuser, Confusion, ConfusionKind, Unconfused
from .content_words import may_be_right
from .options import Embed, Negative, OptionSet
from .set_matching import CandidateSets, match_sets, measure_sets, word_weights

PAIRED = 4  # of every five sets with two pairs, the number in which the correct option is in a pair
ALONE = 3  # of every five sets with one pair, the number in which the correct option is not in it
OPTIONS = 5
NEGATED: ConfusionKind = "negation"
KINDS_TRIED: tuple[ConfusionKind, ...] = ("swap", NEGATED)

Results = Mapping[ConfusionKind, Confusion | Unconfused]
Layout = tuple[int, bool]  # number of pairs, and whether the correct option is in one


@dataclass(frozen=True)
class QuestionOptions:
    """A question and its options, before any of them are confused.

    Attributes:
        rights: The correct texts, that of this target first.
    """

    id: str
    question: str
    rights: tuple[str, ...]
    choice: OptionSet


@dataclass(frozen=True)
class Outcome:
    """What happened when an option was to be confused in one way.

    Attributes:
        result: The confusion, or the reason why it is impossible.
        of: Whether the confused option is "right" or "wrong".
        position: Position of the confusion among the options, or None.
    """

    result: Confusion | Unconfused
    of: str
    position: int | None


@dataclass(frozen=True)
class ConfusedOptions:
    """The options of a question after some distractors were replaced with confusions.

    Attributes:
        choice: The options; the correct option keeps its position.
        outcomes: Outcomes for the correct option, followed by those for confused distractors.
    """

    choice: OptionSet
    outcomes: tuple[Outcome, ...]


def confuse_correct(
    choice: OptionSet, results: Results, *, count: int, seed: int, item_id: str, kind: str
) -> ConfusedOptions:
    """Replace distractors with confusions of the correct option.

    `count`, 1 or 2, is the maximum number of distractors to replace.

    Returns:
        The options. A confusion equivalent to another option is not used and counts as impossible.
    """
    rng = rng_for(seed, "confuse", item_id, kind)
    order = [KINDS[position] for position in rng.permutation(len(KINDS)).tolist()]
    wrong = [position for position in range(len(choice.options)) if position != choice.answer_index]
    places = [wrong[position] for position in rng.permutation(len(wrong)).tolist()][:count]
    options, sources = list(choice.options), list(choice.sources)
    outcomes: dict[ConfusionKind, Outcome] = {}
    for way in order:
        result, position = results[way], None
        if isinstance(result, Confusion) and text_key(result.text) in {text_key(option) for option in options}:
            result = Unconfused(way, "another option says the same")
        if isinstance(result, Confusion) and places:
            position = places.pop(0)
            options[position] = result.text
            sources[position] = Negative(item_id, result.text, 1.0, 0.0, 0.0, way)
        outcomes[way] = Outcome(result, "right", position)
    return ConfusedOptions(
        OptionSet(tuple(options), choice.answer_index, tuple(sources)), tuple(outcomes[way] for way in KINDS)
    )


@dataclass(frozen=True)
class _Counterpart:
    base: int  # position of the confused option
    result: Confusion


_Placed = tuple[tuple[int, _Counterpart], ...]  # counterparts with the positions that they occupy


@dataclass(frozen=True)
class _Draft:
    row: QuestionOptions
    own: Results
    way: ConfusionKind | None  # how the correct option is confused initially
    wrong: Sequence[_Counterpart]  # counterparts of distractors that are used initially
    every: Sequence[_Counterpart]  # all counterparts that can be used

    def fits(self, layout: Layout) -> bool:
        pairs, of_right = layout
        return (self.way is not None or not of_right) and len(self.wrong) >= pairs - of_right


def confuse_evenly(
    rows: Sequence[QuestionOptions],
    confuser: Confuser,
    embed: Embed,
    *,
    most: int = 2,
    seed: int,
    kind: str,
    earlier: Mapping[str, Sequence[str]] | None = None,
) -> dict[str, ConfusedOptions]:
    """Replace distractors with confusions of correct options and of distractors alike.

    At first, roles are swapped where possible. Negations that remove a "not" are always used. Negations that add a
    "not" are used as often as correct options lose theirs, since "not" would otherwise mark distractors; no others are
    added later. The final number of confused correct options is at least the initial one.

    `earlier` options, by id, are taken instead of those chosen here if they are among the sets to choose from.
    Sets without exactly five options are not changed; in others, at most `most` (1 or 2) options are replaced.
    """
    whole = [row for row in rows if len(row.choice.options) == OPTIONS]
    drafts = _drafts(sorted(whole, key=lambda row: digest_for(seed, "twins", row.id, kind)), confuser, seed, kind)
    sets = [
        _sets(_first_set(draft, layout, seed, kind), draft, most)
        for draft, layout in zip(drafts, _layouts(drafts, most), strict=True)
    ]
    confused = {row.id: ConfusedOptions(row.choice, ()) for row in rows}
    chosen = match_sets(_measured(drafts, sets, embed), seed=seed, kind=kind)
    for draft, of_draft, index in zip(drafts, sets, chosen, strict=True):
        wanted = list((earlier or {}).get(draft.row.id, ()))
        placed = next(
            (placed_set for placed_set in of_draft if _options(draft.row.choice, placed_set) == wanted),
            of_draft[index],
        )
        confused[draft.row.id] = _confused(draft, placed)
    return confused


def _drafts(rows: Sequence[QuestionOptions], confuser: Confuser, seed: int, kind: str) -> list[_Draft]:
    rights = [row.choice.options[row.choice.answer_index] for row in rows]
    own: list[Results] = [{"negation": confuser.negation(text), "swap": confuser.swap(text)} for text in rights]
    losing = sum(_loses_not(text, results) for text, results in zip(rights, own, strict=True))
    added, wrong_added = losing, 2 * losing  # how many more negations may add a "not"
    drafts: list[_Draft] = []
    for row, right, results in zip(rows, rights, own, strict=True):
        keys = {text_key(option) for option in row.choice.options}
        way: ConfusionKind | None = None
        for candidate in KINDS_TRIED:
            if not _usable(results[candidate], keys):
                continue
            if candidate == NEGATED and not _loses_not(right, results):
                if added < 1:
                    continue
                added -= 1
            way = candidate
            break
        every = _counterparts(row, results, confuser, keys)
        of_right = [counterpart for counterpart in every if way and counterpart.result is results[way]]
        of_wrong: list[_Counterpart] = []
        rng = rng_for(seed, "twins", row.id, kind)
        places = [n for n in range(len(row.choice.options)) if n != row.choice.answer_index]
        for position in [places[n] for n in rng.permutation(len(places)).tolist()]:
            if len(of_wrong) == 2:
                break
            used = {text_key(counterpart.result.text) for counterpart in of_wrong}
            for counterpart in every:
                if (
                    counterpart.base != position
                    or text_key(counterpart.result.text) in used
                    or (_adds_not(counterpart) and wrong_added <= 0)
                ):
                    continue
                wrong_added -= _adds_not(counterpart)
                of_wrong.append(counterpart)
                break
        some = [
            counterpart for counterpart in every if not _adds_not(counterpart) or counterpart in (*of_right, *of_wrong)
        ]
        drafts.append(_Draft(row, results, way, of_wrong, some))
    return drafts


_AUXILIARIES = frozenset(
    ["do", "does", "did", "is", "are", "was", "were", "ca", "wo", "could", "would", "should", "has", "have", "had"]
)


def _has_not(text: str) -> bool:
    words = text_key(text).split()
    return any(
        word in ("not", "never", "cannot") or (word.endswith("nt") and word[:-2] in _AUXILIARIES) for word in words
    )


def _adds_not(counterpart: _Counterpart) -> bool:
    return counterpart.result.kind == NEGATED and _has_not(counterpart.result.text)


def _loses_not(text: str, results: Results) -> bool:
    negation = results["negation"]
    return isinstance(negation, Confusion) and _has_not(text) and not _has_not(negation.text)


def _usable(result: Confusion | Unconfused, keys: set[str]) -> bool:
    return isinstance(result, Confusion) and not result.ambiguous and text_key(result.text) not in keys


def _counterparts(row: QuestionOptions, own: Results, confuser: Confuser, keys: set[str]) -> list[_Counterpart]:
    """Confuse every option in each way, and return the results that cannot be correct."""
    counterparts = []
    for position, text in enumerate(row.choice.options):
        right = position == row.choice.answer_index
        results = [own[way] for way in KINDS_TRIED] if right else [confuser.swap(text), confuser.negation(text)]
        for result in results:
            if not isinstance(result, Confusion) or not _usable(result, keys):
                continue
            if right or not may_be_right(result.text, row.question, row.rights):
                counterparts.append(_Counterpart(position, result))
    return counterparts


def _layouts(drafts: Sequence[_Draft], most: int) -> list[Layout]:
    """Choose the layout of each set, using as many counterparts as the shares allow."""
    plain = sum(row.way is None and not row.wrong for row in drafts)
    for none in range(plain, len(drafts) + 1):
        rest = len(drafts) - none
        for two in range(rest if most > 1 else 0, -1, -1):
            layouts = _assigned(drafts, none, two, rest - two)
            if layouts is not None:
                return layouts
    return [(0, False)] * len(drafts)


def _assigned(drafts: Sequence[_Draft], none: int, two_pairs: int, one_pair: int) -> list[Layout] | None:
    """Assign the given numbers of sets to layouts with no, one and two pairs. Return None if that is impossible."""
    paired = (two_pairs * PAIRED) // OPTIONS
    alone = math.ceil(one_pair * ALONE / OPTIONS)
    # Layouts that few rows suit come first.
    wanted: dict[Layout, int] = {
        (2, False): two_pairs - paired,
        (1, False): alone,
        (2, True): paired,
        (1, True): one_pair - alone,
        (0, False): none,
    }
    layouts: list[Layout] = [(0, False)] * len(drafts)
    freedom = [sum(draft.fits(layout) for layout in wanted if layout[0]) for draft in drafts]
    for index in sorted(range(len(drafts)), key=lambda n: (freedom[n], n)):  # rows that suit few layouts first
        fitting = [layout for layout in wanted if wanted[layout] and drafts[index].fits(layout)]
        if not fitting:
            return None
        layouts[index] = max(fitting, key=lambda layout: (layout != (0, False), wanted[layout]))
        wanted[layouts[index]] -= 1
    return layouts


def _first_set(draft: _Draft, layout: Layout, seed: int, kind: str) -> _Placed:
    choice, (pairs, of_right) = draft.row.choice, layout
    rng = rng_for(seed, "twins", "places", draft.row.id, kind)
    used = list(draft.wrong[: pairs - of_right])
    kept = {choice.answer_index, *(counterpart.base for counterpart in used)}
    free = [n for n in range(len(choice.options)) if n not in kept]
    free = [free[n] for n in rng.permutation(len(free)).tolist()]
    free.sort(key=lambda position: not _has_not(choice.options[position]))  # replace options with "not" first
    own = draft.own[draft.way] if of_right and draft.way else None
    if isinstance(own, Confusion):
        used.insert(0, _Counterpart(choice.answer_index, own))
    return tuple(zip(free, used, strict=False))


def _sets(start: _Placed, draft: _Draft, most: int) -> list[_Placed]:
    choice = draft.row.choice
    sets: dict[frozenset[str], _Placed] = {}

    def offer(counterpart: _Placed) -> None:
        keys = frozenset(text_key(text) for text in _options(choice, counterpart))
        if len(keys) == OPTIONS:
            sets.setdefault(keys, counterpart)

    offer(start)
    offer(())
    for pairs in range(1, most + 1):
        for counterparts in combinations(draft.every, pairs):
            bases = {counterpart.base for counterpart in counterparts}
            free = [n for n in range(OPTIONS) if n not in bases and n != choice.answer_index]
            if len(bases) == pairs:
                for places in combinations(free, pairs):
                    offer(tuple(zip(places, counterparts, strict=True)))
    return list(sets.values()) or [start]


def _options(choice: OptionSet, placed: _Placed) -> list[str]:
    options = list(choice.options)
    for position, counterpart in placed:
        options[position] = counterpart.result.text
    return options


def _measured(drafts: Sequence[_Draft], sets: Sequence[Sequence[_Placed]], embed: Embed) -> list[CandidateSets]:
    offered = [
        [_options(draft.row.choice, placed) for placed in some] for draft, some in zip(drafts, sets, strict=True)
    ]
    questions = [draft.row.question for draft in drafts]
    texts = sorted({text for some in offered for options in some for text in options} | set(questions))
    vectors = dict(zip(texts, embed(texts), strict=True))
    weights = word_weights(questions)
    numbers: dict[str, int] = {}
    measured = []
    for draft, some, options in zip(drafts, sets, offered, strict=True):
        right = draft.row.choice.answer_index
        order = [right, *(n for n in range(OPTIONS) if n != right)]
        place_of = {n: at for at, n in enumerate(order)}
        used = sorted({text for placed in options for text in placed})
        at = {text: n for n, text in enumerate(used)}
        cues = measure_sets(
            draft.row.question,
            used,
            np.array([[at[placed[n]] for n in order] for placed in options]),
            [[(place_of[counterpart.base], place_of[position]) for position, counterpart in placed] for placed in some],
            np.array([_has_not(text) for text in used]),
            vectors,
            weights,
        )
        keys = [[numbers.setdefault(text_key(placed[n]), len(numbers)) for n in order] for placed in options]
        of_right = [any(counterpart.base == right for _, counterpart in placed) for placed in some]
        measured.append(CandidateSets(draft.row.id, cues, np.array(keys), np.array(of_right), 0))
    return measured


def _confused(draft: _Draft, placed: _Placed) -> ConfusedOptions:
    choice = draft.row.choice
    sources = list(choice.sources)
    outcomes: dict[ConfusionKind, Outcome] = {way: Outcome(draft.own[way], "right", None) for way in KINDS}
    others: list[Outcome] = []
    for position, counterpart in placed:
        confusion = counterpart.result
        if counterpart.base == choice.answer_index:
            sources[position] = Negative(draft.row.id, confusion.text, 1.0, 0.0, 0.0, confusion.kind)
            outcomes[confusion.kind] = replace(outcomes[confusion.kind], position=position)
            continue
        source = choice.sources[counterpart.base]
        sources[position] = replace(source, text=confusion.text, kind=confusion.kind) if source else None
        others.append(Outcome(confusion, "wrong", position))
    return ConfusedOptions(
        OptionSet(tuple(_options(choice, placed)), choice.answer_index, tuple(sources)),
        (*(outcomes[way] for way in KINDS), *others),
    )
