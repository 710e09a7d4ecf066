"""The items of a suite: its clips with their captions, of which none is right or wrong by itself."""

from __future__ import annotations

from ...core.output import FinishedOutput
from ...evaluation.blind.asked import Asked
from ...evaluation.metrics.inputs import read_columns
from ...evaluation.metrics.items import Items, items_of


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


def choices(output: FinishedOutput, config: str, split: str) -> list[Asked]:
    """Return what tasks ask of the clips of a split without a perturbation: which of four captions is the clip's."""
    from .choices import caption_choices
    from .scores import read_captions

    captions = read_captions(output, split)
    sources = dict(zip(captions.clips, captions.sources, strict=True))
    return [
        Asked(
            name,
            "",
            tuple(captions.texts[number] for number in choice.captions[""]),
            choice.place,
            sources[name],
            part="caption",
        )
        for name, choice in caption_choices(captions, {"": captions.texts}).items()
    ]
