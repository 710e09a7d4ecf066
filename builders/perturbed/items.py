"""The items of a suite: its clips with their captions, of which none is right or wrong by itself."""

from __future__ import annotations

from ...metrics.inputs import read_columns
from ...metrics.items import Items, items_of
from ...records.output import FinishedOutput


def items(output: FinishedOutput, config: str, split: str) -> Items:
    """Read the clips of a split."""
    rows, _ = read_columns(output, config, ("clip_id", "source_id", "captions"), split)
    return items_of(
        output,
        config,
        split,
        id_column="clip_id",
        ids=rows["clip_id"],
        sources=rows["source_id"],
        videos=rows["clip_id"],
        texts=["\n".join(captions) for captions in rows["captions"]],
        options=[()] * len(rows["clip_id"]),
        truth=[-1] * len(rows["clip_id"]),
    )
