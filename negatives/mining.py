"""Mine distractors from the answers to other questions: balanced, hardest by score, or random.

For balanced distractors, what blind models could exploit in the candidates is measured (`option_cues`), and distractors
are sampled (`balance`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core.errors import InputError
from ..core.numerics import one_thread
from .balance import balance
from .candidates import Candidates, Indices, folded
from .option_cues import measure
from .options import COSINE_DIGITS, ROOM, Embed, GivenOptions, Mined, MinedOptions, Negative, QuestionRow
from .score_mining import items_of, mine_by_score
from .settings import MiningSettings, strict

SAME_TEXT = 0.8  # cosine from which a candidate may be correct, unless --same-text is specified

VERSION = 4  # version of the sampled options


def mine(
    rows: Sequence[QuestionRow],
    settings: Any,
    embed: Embed,
    *,
    candidates: Candidates | None = None,
    train: str | None = None,
    kept_apart: Mapping[str, Sequence[str]] | None = None,
    given: GivenOptions | None = None,
) -> MinedOptions:
    """Choose the distractors of every question, for `stressreel mine` and `build-causal`.

    All questions have the same targets. `settings` has `mining`, `rank_by` and `seed`, like `PoolSettings`. Balanced
    options require `candidates`. Texts that are correct in the split `train` must not be distractors elsewhere.
    `kept_apart` maps the id of a question to the ids of questions that must not be its donors. `given` distractors
    replace those chosen here if the rules allow them.

    Raises:
        InputError: Balanced options are requested without `candidates`.
    """
    if strict(settings):
        if candidates is None:
            raise InputError("--balance strict needs a parser of English. Choose --balance none.")
        return mine_balanced(rows, candidates, embed, settings, seed=settings.seed, train=train, given=given)
    questions = embed([row.question for row in rows])
    vectors = {target: embed([row.texts[target] for row in rows]) for target in rows[0].texts}
    mined = {
        target: mine_by_score(
            items_of(rows, target, train),
            questions,
            of_target,
            settings,
            seed=settings.seed,
            kept_apart=kept_apart,
            ranked_by=vectors["explanation"] if settings.rank_by == "explanation" else None,
            given=given.negatives[target] if given else None,
        )
        for target, of_target in vectors.items()
    }
    return MinedOptions({target: {row.id: row.texts[target] for row in rows} for target in mined}, mined)


def mine_balanced(
    rows: Sequence[QuestionRow],
    candidates: Candidates,
    embed: Embed,
    settings: MiningSettings,
    *,
    seed: int = 0,
    train: str | None = None,
    given: GivenOptions | None = None,
) -> MinedOptions:
    """Sample distractors that no model of question and options can distinguish from the correct option.

    The distractors for a row's answer and for its explanation come from the same source rows. `rows` have the order of
    the candidates. `settings` gives the number of options and the threshold for equivalent texts. `train` is the split
    that models are trained on, or None. `given` distractors are taken if all are candidates of their question.
    """
    targets, questions = candidates.targets, candidates.questions
    order = sorted(range(len(rows)), key=lambda row: rows[row].id)
    offers = dict(enumerate(candidates.of_rows()))
    limit = SAME_TEXT if settings.same_text == MiningSettings().same_text else settings.same_text
    limit += ROOM if given else 0
    texts, numbers, vectors = {}, {}, {}
    for place, name in enumerate(targets):
        every = candidates.tables[name]
        used = np.unique(
            np.concatenate([candidates.rights[:, place], *(some[:, 1 + place] for some in offers.values())])
        )
        used = np.array(sorted(used.tolist(), key=every.__getitem__), np.int64)
        texts[name] = [every[number] for number in used.tolist()]
        numbers[name] = np.empty(len(every), np.int64)
        numbers[name][used] = np.arange(len(used))
        vectors[name] = embed(texts[name])

    def distinct(row: int) -> Indices:
        """Return the candidates, except any with a text so similar to a correct one that it may be correct, too."""
        offered = offers[row]
        own = np.stack([vectors[name][numbers[name][candidates.rights[row, n]]] for n, name in enumerate(targets)])
        near = [
            (vectors[name][numbers[name][offered[:, 1 + n]]].astype(np.float64) @ own.T).round(COSINE_DIGITS)
            for n, name in enumerate(targets)
        ]
        kept: Indices = offered[np.max(near, axis=(0, 2), initial=-1) < limit]
        return kept

    offers = {row: distinct(row) for row in order}
    row = np.repeat(np.arange(len(rows)), [1 + len(offers[place]) for place in order])
    # The correct option of each row is followed by its candidates: source row and text numbers.
    options = np.concatenate([np.vstack([(place, *candidates.rights[place]), offers[place]]) for place in order])
    of_target = {name: numbers[name][options[:, 1 + place]] for place, name in enumerate(targets)}
    place_of = np.argsort(order)
    ordered = [rows[place] for place in order]

    def well_formed(option: int) -> bool:
        source = int(options[option, 0])
        return candidates.well_formed(source, [texts[name][of_target[name][option]] for name in targets])

    in_train = np.array([[split == train for split in one.splits] for one in ordered]).T
    with one_thread():
        balanced = balance(
            [one.id for one in ordered],
            questions[order],
            measure(
                ordered,
                questions[order],
                texts,
                of_target,
                vectors,
                row,
                place_of[options[:, 0]],
                in_train,
                candidates.names,
            ),
            need=settings.num_options - 1,
            groups=[one.group or one.id for one in ordered],
            splits=[one.splits for one in ordered],
            in_train=in_train,
            well_formed=well_formed,
            seed=seed,
        )

    first = np.flatnonzero(np.diff(row, prepend=-1))
    ends = np.append(first[1:], len(row))

    def taken(place: int) -> list[int]:
        """Return the given options of a row, or those chosen here if some are no candidates."""
        own: list[int] = balanced.chosen[place].tolist()
        wanted = [given.negatives[name].get(ordered[place].id, ()) for name in targets] if given else []
        known = {
            (rows[options[n, 0]].id, *(texts[name][of_target[name][n]] for name in targets)): n
            for n in (range(first[place] + 1, ends[place]) if given else ())
        }
        found = [
            known.get((same[0].id, *(one.text for one in same)))
            for same in zip(*wanted, strict=False)
            if len({one.id for one in same}) == 1
        ]
        keys = [{folded(one.text) for one in some} for some in wanted]
        if not found or None in found or {len(own)} != {len(found), *map(len, wanted), *map(len, keys)}:
            return own
        return [number for number in found if number is not None]

    def negative(name: str, place: int, option: int) -> Negative:
        source = int(options[option, 0])
        text, right = of_target[name][option], of_target[name][first[place]]
        unadapted = candidates.tables[name][candidates.rights[source, targets.index(name)]]
        return Negative(
            rows[source].id,
            texts[name][text],
            _cosine(questions[order[place]], questions[source]),
            _cosine(vectors[name][right], vectors[name][text]),
            0.0,
            "hard" if folded(texts[name][text]) == folded(unadapted) else "carried",
        )

    chosen = {order[place]: (place, taken(place)) for place in range(len(order))}
    return MinedOptions(
        {
            name: {one.id: texts[name][of_target[name][first[place]]] for place, one in enumerate(ordered)}
            for name in targets
        },
        {
            name: [
                Mined(one.id, tuple(negative(name, chosen[n][0], option) for option in chosen[n][1]), len(offers[n]))
                for n, one in enumerate(rows)
            ]
            for name in targets
        },
        tuple(
            frozenset(one.id for one, out in zip(ordered, flags.tolist(), strict=True) if out)
            for flags in balanced.guessable
        ),
    )


def _cosine(first: NDArray[np.float32], second: NDArray[np.float32]) -> float:
    return round(float(first.astype(np.float64) @ second.astype(np.float64)), COSINE_DIGITS)
