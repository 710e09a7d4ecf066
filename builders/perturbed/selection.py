"""Select the perturbations and combinations of a suite.

Source of the combinations: Schiappa et al. 2022 (arXiv 2207.02159), section 6, Figure 4.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from ...core.documents import package_table
from ...core.errors import InputError, UsageError
from ...corruptions.registry import (
    check_name,
    check_text_name,
    list_corruptions,
    select_corruptions,
    select_text_corruptions,
    text_corruptions,
)
from ...corruptions.text.tools import Tools


@dataclass(frozen=True)
class Pair:
    """A visual and a text perturbation that are applied together."""

    visual: str
    text: str

    def __str__(self) -> str:
        """Return the name of the combination in commands and tables."""
        return f"{self.visual}:{self.text}"

    @classmethod
    def read(cls, text: str) -> Pair:
        """Parse a combination such as "jpeg:no_verbs". Raise UsageError if the text has another form."""
        visual, colon, words = text.strip().partition(":")
        if not colon:
            raise UsageError(f"{text!r} is not a combination of the form visual:text, such as jpeg:no_verbs.")
        return cls(check_name(visual.strip()).name, check_text_name(words.strip()).name)


@cache
def combinations() -> tuple[int, tuple[Pair, ...]]:
    """Return the severity of the paper's combinations, and the 66 combinations."""
    table = package_table(Path(__file__).parents[2] / "corruptions" / "combinations.yaml")
    return table["severity"], tuple(Pair(visual, text) for visual in table["visual"] for text in table["text"])


def choose_pairs(names: Sequence[str] | None, visual: Sequence[str], texts: Sequence[str]) -> tuple[str, ...]:
    """Return the selected combinations.

    `names` lists combinations as visual:text. The default is those of the paper's 66 whose parts are selected.

    Raises:
        InputError: An item is not a combination or has a part that is not selected, or no combination remains.
    """
    if names is None:
        pairs = [pair for pair in combinations()[1] if pair.visual in visual and pair.text in texts]
        if not pairs:
            raise InputError(
                "none of the 66 combinations in the paper consists only of selected perturbations. Specify "
                "combinations with --pairs visual:text, or select other perturbations."
            )
    else:
        pairs = [Pair.read(text) for text in names]
        lacking = [name for pair in pairs for name in (pair.visual, pair.text) if name not in (*visual, *texts)]
        if lacking:
            raise InputError(
                f"--pairs names {', '.join(dict.fromkeys(lacking))}, which are not selected by --perturbations or "
                "--text-perturbations. Add them to these options."
            )
    return tuple(dict.fromkeys(map(str, pairs)))


@dataclass(frozen=True)
class Selection:
    """What a suite consists of, in the paper's order: perturbations, combinations, and severities."""

    visual: tuple[str, ...]
    texts: tuple[str, ...]
    pairs: tuple[str, ...]
    severities: tuple[int, ...]


def has_bias(settings: Any) -> bool:
    """Return whether the suite has the text family `bias`. YouCook2's captions mention no people, so it does not."""
    return settings.youcook2 is None


def tools_named(settings: Any) -> Tools:
    """Return the tools that the settings specify."""
    glove = str(settings.glove) if settings.glove else None
    return Tools(settings.mlm, settings.translate, glove, settings.sbert)


def choose_texts(names: Sequence[str] | None, tools: Tools, *, bias: bool = True) -> tuple[str, ...]:
    """Return the selected text perturbations in the paper's order.

    `names` may include families and "all". By default, all perturbations are selected that need no language model or
    whose model is specified. "all" includes the family `bias` only if `bias` is set, which it is not for YouCook2-P,
    whose captions mention no people.

    Raises:
        UsageError: A name is unknown.
    """
    models = {"mlm": tools.mlm, "translation": tools.translate}
    suite = [c for c in text_corruptions().values() if bias or c.family != "bias"]
    if names is None:
        return tuple(c.name for c in suite if all(models.get(need, True) for need in c.needs))
    named = {c.name for c in select_text_corruptions([name for name in names if name != "all"])}
    named |= {c.name for c in suite} if "all" in names else set()
    return tuple(name for name in text_corruptions() if name in named)


def refuse_uncombined(settings: Any, needed: Collection[str]) -> None:
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


def selected(settings: Any) -> Selection:
    """Expand the names and families in `PerturbedSettings`. Raise UsageError if a name is unknown."""
    visual = tuple(c.name for c in select_corruptions(settings.perturbations))
    severities = settings.severities
    texts: tuple[str, ...] = ()
    pairs: tuple[str, ...] = ()
    if settings.worded:
        tools, bias = tools_named(settings), has_bias(settings)
        texts = choose_texts(settings.text_perturbations or None, tools, bias=bias)
        if not settings.text_perturbations and settings.pairs:
            texts = choose_texts([*texts, *(Pair.read(pair).text for pair in settings.pairs)], tools, bias=bias)
    if settings.combined:
        pairs = choose_pairs(settings.pairs or None, visual, texts)
    if settings.modality == "multimodal":
        needed = {part for pair in pairs for part in pair.split(":")}
        refuse_uncombined(settings, needed)
        visual = tuple(name for name in visual if name in needed)
        texts = tuple(name for name in texts if name in needed)
        severities = (combinations()[0],)
    if not settings.shows:
        visual, severities = (), ()
    return Selection(visual, texts, pairs, severities)
