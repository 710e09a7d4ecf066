"""Find the wrong options of questions, in whatever way is asked for, and put them in order with the right ones.

`stressreel mine` and `build-causal` both call this.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..core.errors import InputError
from ..language.text_key import text_key
from .balanced_mining import mine_balanced
from .candidates import Embed, QuestionRow
from .confuser import Confuser
from .mining import Item, MinedOptions, OptionSet, arrange, even_places, mine
from .settings import strict


def mine_options(
    rows: Sequence[QuestionRow],
    settings: Any,
    embed: Embed,
    *,
    confuser: Confuser | None = None,
    train: str | None = None,
    kept_apart: Mapping[str, Sequence[str]] | None = None,
) -> MinedOptions:
    """Choose the wrong options of every question: balanced, hardest by score, or at random.

    Args:
        rows: The questions; all have the same kinds of texts.
        settings: `mining`, `rank_by` and `seed` of a `PoolSettings`.
        embed: Returns embeddings of texts, float32, each of length 1.
        confuser: Reads the texts, for balanced options.
        train: The split whose right texts are no wrong options elsewhere; None if there is none.
        kept_apart: By id, the ids of questions that must not lend their texts.

    Raises:
        InputError: Balanced options are asked for without a confuser.
    """
    if strict(settings):
        if confuser is None:
            raise InputError("--balance strict reads the texts, and there is no tagger. Choose --balance none.")
        return mine_balanced(
            rows, confuser, embed, settings.mining, seed=settings.seed, kept_apart=kept_apart, train=train
        )
    asked = embed([row.question for row in rows])
    vectors = {kind: embed([row.texts[kind] for row in rows]) for kind in rows[0].texts}
    mined = {
        kind: mine(
            items_of(rows, kind, train),
            asked,
            texts,
            settings.mining,
            seed=settings.seed,
            kept_apart=kept_apart,
            ranked_by=vectors["explanation"] if settings.rank_by == "explanation" else None,
        )
        for kind, texts in vectors.items()
    }
    return MinedOptions({kind: {row.id: row.texts[kind] for row in rows} for kind in mined}, mined)


def items_of(rows: Sequence[QuestionRow], kind: str, train: str | None) -> list[Item]:
    """Return the right texts of questions; outside of train, one that is right in train lends nothing."""
    trained = {text_key(row.texts[kind]) for row in rows if row.split == train} if train else set()
    return [
        Item(
            row.id,
            row.question,
            row.texts[kind],
            row.pool,
            lends=row.split == train or text_key(row.texts[kind]) not in trained,
        )
        for row in rows
    ]


def option_sets(
    rows: Sequence[QuestionRow], found: MinedOptions, settings: Any, draw: str = ""
) -> dict[str, dict[str, OptionSet]]:
    """Put the options of each question in order, by kind and id.

    The right options of balanced questions stand at each place equally often in a split.

    Args:
        rows: The questions.
        found: Their options.
        settings: `mining` and `seed`.
        draw: Keeps the draws of several calls apart, such as "ud/".
    """
    sets: dict[str, dict[str, OptionSet]] = {}
    for kind, mined in found.mined.items():
        places: dict[str, int] = {}
        if found.guessable is not None:
            for split in {row.split for row in rows}:
                ids = [row.id for row in rows if row.split == split]
                places |= even_places(ids, settings.mining.num_options, settings.seed, draw + kind)
        sets[kind] = {
            one.id: arrange(found.texts[kind][one.id], one.negatives, settings.seed, one.id, kind, places.get(one.id))
            for one in mined
        }
    return sets
