"""Expand the options of `build-perturbed` into the settings of a plan, without reading files."""

from __future__ import annotations

from dataclasses import replace

from ...annotations.captions import CAPTIONS
from ...annotations.msrvtt import MSRVTT, SAMPLE
from ...annotations.youcook2 import YOUCOOK2
from ...core.source import Source
from .modality import shows, worded
from .selection import selected
from .settings import PerturbedSettings


def source_named(settings: PerturbedSettings) -> Source:
    """Return which dataset the annotations come from, without what the user says about it."""
    if settings.captions:
        return CAPTIONS
    if settings.youcook2:
        return YOUCOOK2
    return SAMPLE if settings.msrvtt == "sample" else MSRVTT


def decided(settings: PerturbedSettings) -> PerturbedSettings:
    """Expand names and families to perturbations in the paper's order. Raise UsageError if a name is unknown."""
    selection = selected(settings)
    style = settings.caption_style or ("imperative" if source_named(settings).style == "imperative" else "declarative")
    return replace(
        settings,
        perturbations=selection.visual,
        severity=selection.severities,
        text_perturbations=selection.texts,
        pairs=selection.pairs,
        caption_style=style if worded(settings) else "declarative",
        render=settings.render and shows(settings),
    )
