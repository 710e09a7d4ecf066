"""Expand the options of `build-perturbed` into the settings of a plan, without reading files."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from ...annotations.captions import CAPTIONS
from ...annotations.msrvtt import MSRVTT, SAMPLE
from ...annotations.youcook2 import YOUCOOK2
from ...core.errors import UsageError
from ...core.source import Source
from ...corruptions.registry import list_corruptions, select_corruptions
from ...corruptions.text.tools import Tools
from .captions import choose_texts
from .combinations import Pair, choose_pairs, combinations
from .settings import PerturbedSettings, combined, shows, worded


def source_named(settings: PerturbedSettings) -> Source:
    """Return which dataset the annotations come from, without what the user says about it."""
    if settings.captions:
        return CAPTIONS
    if settings.youcook2:
        return YOUCOOK2
    return SAMPLE if settings.msrvtt == "sample" else MSRVTT


def has_bias(settings: PerturbedSettings) -> bool:
    """Return whether the suite has the text family `bias`. YouCook2's captions mention no people, so it does not."""
    return settings.youcook2 is None


def tools_named(settings: PerturbedSettings) -> Tools:
    """Return the tools that the settings specify."""
    glove = str(settings.glove) if settings.glove else None
    return Tools(settings.tagger, settings.mlm, settings.translate, glove, settings.sbert)


def refuse_uncombined(settings: PerturbedSettings, needed: Collection[str]) -> None:
    """Raise UsageError if a perturbation is named, not only its family, that is in none of the combinations."""
    known = {corruption.name for kind in ("visual", "text") for corruption in list_corruptions(kind)}
    for flag, names in (
        ("--perturbations", settings.perturbations),
        ("--text-perturbations", settings.text_perturbations),
    ):
        unneeded = [name for name in names if name in known and name not in needed]
        if unneeded:
            raise UsageError(
                f"{flag} {','.join(unneeded)} has no effect with --modality multimodal, because no combination "
                "includes it. Leave it out, specify combinations with --pairs, or choose --modality all."
            )


def decided(settings: PerturbedSettings) -> PerturbedSettings:
    """Expand names and families to perturbations in the paper's order. Raise UsageError if a name is unknown."""
    visual = tuple(c.name for c in select_corruptions(settings.perturbations))
    severities = settings.severities
    texts: tuple[str, ...] = ()
    pairs: tuple[str, ...] = ()
    if worded(settings):
        tools, bias = tools_named(settings), has_bias(settings)
        texts = choose_texts(settings.text_perturbations or None, tools, bias=bias)
        if not settings.text_perturbations and settings.pairs:
            texts = choose_texts([*texts, *(Pair.read(pair).text for pair in settings.pairs)], tools, bias=bias)
    if combined(settings):
        pairs = choose_pairs(settings.pairs or None, visual, texts)
    if settings.modality == "multimodal":
        needed = {part for pair in pairs for part in pair.split(":")}
        refuse_uncombined(settings, needed)
        visual = tuple(name for name in visual if name in needed)
        texts = tuple(name for name in texts if name in needed)
        severities = (combinations()[0],)
    if not shows(settings):
        visual, severities = (), ()
    style = settings.caption_style or ("imperative" if source_named(settings).style == "imperative" else "declarative")
    return replace(
        settings,
        perturbations=visual,
        severities=severities,
        text_perturbations=texts,
        pairs=pairs,
        caption_style=style if worded(settings) else "declarative",
        render=settings.render and shows(settings),
    )
