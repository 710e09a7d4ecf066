"""Perturb captions with a text perturbation chosen by name."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any, get_args

from ...core.errors import InputError, UsageError
from ...core.numerics import rng_for
from ...language.grammar import Refused
from ...language.parse import is_english, parse
from ...language.words import StyleOption
from ..registry import Mode, TextCorruption, TextResult, Unchanged, check_text_name
from .tools import Tools, tagged

STYLES: tuple[str, ...] = get_args(StyleOption)
MODES: tuple[str, ...] = get_args(Mode)
RELEASED = ("bias", "drop_text")  # families with a mode "released"


@dataclass(frozen=True)
class TextRecipe:
    """Everything that determines how a caption is perturbed.

    Attributes:
        key: Id of the caption.
        style: Style of the captions; see `language.parse.parse`.
        mode: "released" to use NLTK's tags in the families `bias` and `drop_text`, and the released tables in `bias`.
    """

    corruption: TextCorruption
    seed: int
    key: str
    style: StyleOption = "declarative"
    mode: Mode = "stressreel"

    def apply(self, text: str, tools: Tools) -> TextResult:
        """Perturb one caption."""
        if self.corruption.reads_english and not is_english(text):
            return TextResult(text, False, "not English")
        capitals = self.corruption.family != "change_char" and _in_capitals(text)
        caption = parse(text.lower() if capitals else text, self.style)
        if self.mode == "released" and self.corruption.family in RELEASED:
            caption = tagged(caption)
        arguments: dict[str, Any] = {"tools": tools, "mode": self.mode}
        if "rng" in self.corruption.takes:
            arguments["rng"] = rng_for(self.seed, self.corruption.name, self.key)
        try:
            changed = self.corruption.function(caption, **{name: arguments[name] for name in self.corruption.takes})
        except Refused as refusal:
            return TextResult(text, False, str(refusal))
        if isinstance(changed, Unchanged):
            return TextResult(text, False, changed.reason)
        if capitals:
            changed = changed.upper()  # this includes inserted words; changed characters keep their case
        return TextResult(changed, True) if changed != text else TextResult(text, False, "it gives the same words")


def _in_capitals(text: str) -> bool:
    return (
        text.isupper()
        and text.lower().upper() == text
        and sum(character.isalpha() for character in text) > 1
        and len(text.split()) > 1
    )


def corrupt_text(
    text: str,
    name: str,
    *,
    seed: int = 0,
    key: str = "",
    style: StyleOption = "declarative",
    mode: Mode = "stressreel",
    tools: Tools | None = None,
) -> TextResult:
    """Perturb a caption.

    Args:
        text: English text of one or more sentences.
        name: Name of a perturbation in `list_corruptions("text")`.
        seed: Seed of the random numbers.
        key: Identifier of the caption. Random numbers depend on seed, perturbation, key and text. (In a build, they
            depend on seed, perturbation and caption id.)
        style: "declarative" for statements and noun phrases, "imperative" for instructions, or "auto" to classify each
            caption. With "auto", a caption is an instruction only if it starts with a word that is always a verb.
        mode: "released" to use NLTK's tags in the families `bias` and `drop_text`, and the released tables in `bias`.
        tools: Tagger, WordNet, embeddings and models. Defaults to those available on this machine.

    Returns:
        The text, whether it differs from the original, and the reason if it does not.

    Raises:
        InputError: The name or style is unknown, the text is empty, or data or a model is missing.

    Reference:
        Schiappa et al. 2022 (arXiv 2207.02159), section 3.2, appendix A.2 and Table 6. Differences are listed in
        `corruptions/text/declarations.yaml`.
    """
    corruption = check_text_name(name)
    if not isinstance(text, str) or not text.strip():
        raise InputError(f"the caption must be a non-empty string; got {text!r}")
    for what, value, allowed in (("style", style, STYLES), ("mode", mode, MODES)):
        if value not in allowed:
            raise UsageError(f"{what} must be one of {', '.join(allowed)}; got {value!r}")
    tools = tools or Tools()
    tools.check([corruption], mode)
    digest = hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()[:16]
    return TextRecipe(corruption, seed, f"{key}#{digest}", style, mode).apply(text, tools)
