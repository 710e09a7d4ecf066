"""Mine balanced distractors: measure what blind models could exploit in the candidates, and sample."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ..core.threads import one_thread
from .balance import balance
from .candidates import Candidates, Indices, folded
from .features import padded
from .option_cues import measure
from .options import COSINE_DIGITS, ROOM, Embed, GivenOptions, Mined, MinedOptions, Negative, QuestionRow
from .settings import MiningSettings

SAME_TEXT = 0.8  # cosine from which a candidate may be correct, unless --same-text is specified

VERSION = 3  # version of the sampled options


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
    offers = list(candidates.within([row.pool for row in rows]))
    limit = SAME_TEXT if settings.same_text == MiningSettings().same_text else settings.same_text
    limit += ROOM if given else 0
    texts, numbers, vectors = {}, {}, {}
    for place, name in enumerate(targets):
        every = candidates.tables[name]
        used = np.unique(np.concatenate([candidates.rights[:, place], *(some[:, 1 + place] for some in offers)]))
        used = np.array(sorted(used.tolist(), key=every.__getitem__), np.int64)
        texts[name] = [every[number] for number in used.tolist()]
        numbers[name] = np.empty(len(every), np.int64)
        numbers[name][used] = np.arange(len(used))
        vectors[name] = embed(texts[name])

    def own_numbers(row: int, some: Indices) -> list[NDArray[np.int64]]:
        """Return the numbers of the correct text and of the candidates, by target."""
        return [
            numbers[name][np.insert(some[:, 1 + place], 0, candidates.rights[row, place])]
            for place, name in enumerate(targets)
        ]

    def distinct(row: int, some: Indices) -> Indices:
        """Return the candidates, except any with a text so similar to a correct one that it may be correct, too."""
        own = np.stack(
            [vectors[name][one] for name, one in zip(targets, own_numbers(row, some), strict=True)], axis=1
        ).astype(np.float64)
        near = (own[1:] @ own[0].T).round(COSINE_DIGITS).max((1, 2), initial=-1)
        kept: Indices = some[near < limit]
        return kept

    offers = [distinct(row, some) for row, some in enumerate(offers)]
    own = [own_numbers(row, some) for row, some in enumerate(offers)]
    places = {name: padded([some[place] for some in own]) for place, name in enumerate(targets)}
    with one_thread():
        balanced = balance(
            [row.id for row in rows],
            questions,
            measure(rows, questions, texts, places, vectors, train),
            need=settings.num_options - 1,
            groups=[row.group or row.id for row in rows],
            splits=[row.split for row in rows],
            seed=seed,
        )

    def taken(row: int) -> list[int]:
        """Return the numbers of the given candidates of a row, or of those chosen here if some are no candidates."""
        own: list[int] = balanced.chosen[row].tolist()
        wanted = [given.negatives[name].get(rows[row].id, ()) for name in targets] if given else []
        numbers = {
            (
                rows[source].id,
                *(candidates.tables[name][text] for name, text in zip(targets, some, strict=True)),
            ): number
            for number, (source, *some) in enumerate(offers[row].tolist() if given else ())
        }
        found = [
            numbers.get((same[0].id, *(one.text for one in same)))
            for same in zip(*wanted, strict=False)
            if len({one.id for one in same}) == 1
        ]
        keys = [{folded(one.text) for one in some} for some in wanted]
        if not found or None in found or {len(own)} != {len(found), *map(len, wanted), *map(len, keys)}:
            return own
        return [number for number in found if number is not None]

    def negative(name: str, row: int, number: int) -> Negative:
        source = int(offers[row][number, 0])
        correct, text = places[name][row, [0, 1 + number]].tolist()
        asked, other, right, wrong = (
            one.astype(np.float64)
            for one in (questions[row], questions[source], vectors[name][correct], vectors[name][text])
        )
        lent = texts[name][places[name][source, 0]]
        return Negative(
            rows[source].id,
            texts[name][text],
            round(float(asked @ other), COSINE_DIGITS),
            round(float(right @ wrong), COSINE_DIGITS),
            0.0,
            "hard" if folded(texts[name][text]) == folded(lent) else "carried",
        )

    chosen = [taken(row) for row in range(len(rows))]
    guessable = frozenset(row.id for row, out in zip(rows, balanced.guessable.tolist(), strict=True) if out)
    return MinedOptions(
        {
            name: {row.id: texts[name][right] for row, right in zip(rows, some[:, 0].tolist(), strict=True)}
            for name, some in places.items()
        },
        {
            name: [
                Mined(
                    rows[row].id,
                    tuple(negative(name, row, number) for number in chosen[row]),
                    len(some),
                )
                for row, some in enumerate(offers)
            ]
            for name in targets
        },
        given.guessable & {row.id for row in rows} if given else guessable,
    )
