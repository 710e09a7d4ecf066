"""Mine balanced distractors: build candidates, measure the cues available to blind models, and sample."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ..core.progress import tracked
from ..core.threads import one_thread
from .balance import balance
from .candidates import AdaptableTexts, Candidate, Candidates, folded
from .option_cues import measure
from .options import COSINE_DIGITS, Embed, Mined, MinedOptions, Negative, QuestionRow
from .settings import MiningSettings

SAME_TEXT = 0.8  # cosine from which a candidate may be correct, unless --same-text is specified

VERSION = 2  # version of the sampled options


def mine_balanced(
    rows: Sequence[QuestionRow],
    adaptable: AdaptableTexts,
    embed: Embed,
    settings: MiningSettings,
    *,
    seed: int = 0,
    kept_apart: Mapping[str, Sequence[str]] | None = None,
    train: str | None = None,
) -> MinedOptions:
    """Sample distractors that no model of question and options can separate from the correct option.

    Distractors for the answer and for the explanation of a row have the same source rows.

    Args:
        rows: The questions, in any order.
        adaptable: The texts of the questions.
        embed: Function that embeds texts.
        settings: Number of options, and the threshold for equivalent questions.
        seed: The dataset's seed.
        kept_apart: Ids of rows that must not be donors, by row id.
        train: The split that models are trained on, or None.
    """
    made = Candidates(
        rows, adaptable, embed, seed=seed, same_question=settings.same_question, kept_apart=kept_apart or {}
    )
    offers = [made.of(row) for row in tracked(range(len(rows)), "making candidates", "question")]
    right = adaptable.texts
    vectors = {}
    for name in adaptable.targets:
        table = sorted({own[name] for own in right} | {one.texts[name] for some in offers for one in some})
        vectors[name] = dict(zip(table, embed(table), strict=True))
    limit = SAME_TEXT if settings.same_text == MiningSettings().same_text else settings.same_text

    def distinct(row: int) -> list[Candidate]:
        """Return the candidates without a text so similar to a correct one that it may be correct, too."""
        own, *others = (
            np.stack([vectors[name][text] for name, text in texts.items()]).astype(np.float64)
            for texts in (right[row], *(offer.texts for offer in offers[row]))
        )
        return [
            offer
            for offer, other in zip(offers[row], others, strict=True)
            if (other @ own.T).round(COSINE_DIGITS).max() < limit
        ]

    offers = [distinct(row) for row in range(len(rows))]
    texts = [[own, *(offer.texts for offer in some)] for own, some in zip(right, offers, strict=True)]
    with one_thread():
        balanced = balance(
            [row.id for row in rows],
            made.questions,
            measure(rows, made.questions, texts, vectors, train),
            need=settings.num_options - 1,
            groups=[row.group or row.id for row in rows],
            splits=[row.split for row in rows],
            seed=seed,
        )

    def negative(name: str, row: int, offer: Candidate) -> Negative:
        text, own = offer.texts[name], right[offer.source][name]
        question, other, vector, correct = (
            one.astype(np.float64)
            for one in (
                made.questions[row],
                made.questions[offer.source],
                vectors[name][text],
                vectors[name][right[row][name]],
            )
        )
        return Negative(
            rows[offer.source].id,
            text,
            round(float(question @ other), COSINE_DIGITS),
            round(float(correct @ vector), COSINE_DIGITS),
            0.0,
            "hard" if folded(text) == folded(own) else "carried",
        )

    return MinedOptions(
        {name: {row.id: own[name] for row, own in zip(rows, right, strict=True)} for name in adaptable.targets},
        {
            name: [
                Mined(
                    rows[row].id,
                    tuple(negative(name, row, some[place]) for place in balanced.chosen[row].tolist()),
                    len(some),
                )
                for row, some in enumerate(offers)
            ]
            for name in adaptable.targets
        },
        frozenset(row.id for row, out in zip(rows, balanced.guessable.tolist(), strict=True) if out),
    )
