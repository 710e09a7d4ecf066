"""Apply a text perturbation to a caption."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any, Literal

from ...core.errors import InputError, UsageError
from ...core.seeds import rng_for
from ...language.english import is_english
from ...language.words import StyleOption
from ..registry import TextCorruption, check_text_name
from .result import TextResult, Unchanged
from .tools import Tools

Mode = Literal["stressreel", "released"]
STYLES = ("declarative", "imperative", "auto")
MODES = ("stressreel", "released")


@dataclass(frozen=True)
class TextRecipe:
    """Enough to make a perturbation again, word for word.

    Attributes:
        corruption: The perturbation.
        seed: The dataset's seed.
        key: The id of the caption.
        style: What the data set's captions are; see `language.tagger.Tagger.analyse`.
        mode: "released" repeats the word tables of the released code in the family `bias`.
    """

    corruption: TextCorruption
    seed: int
    key: str
    style: StyleOption = "declarative"
    mode: Mode = "stressreel"

    def apply(self, text: str, tools: Tools) -> TextResult:
        """Perturb one caption.

        Args:
            text: The caption.
            tools: The tagger, and what else the perturbation needs.

        Returns:
            The result; `changed` is true exactly if the text differs.
        """
        if self.corruption.reads_english and not is_english(text):
            return TextResult(text, False, "not English")
        capitals = self.corruption.family != "change_char" and _in_capitals(text)
        caption = tools.tagger.analyse(
            text.lower() if capitals else text, self.style
        )  # taggers take capitals for names
        given: dict[str, Any] = {"tools": tools, "mode": self.mode}
        if "rng" in self.corruption.takes:
            given["rng"] = rng_for(self.seed, self.corruption.name, self.key)
        found = self.corruption.function(caption, **{name: given[name] for name in self.corruption.takes})
        if isinstance(found, Unchanged):
            return TextResult(text, False, found.reason)
        if capitals:
            found = found.upper()  # what is put in too; characters that are changed stay as they are
        return TextResult(found, True) if found != text else TextResult(text, False, "it gives the same words")


def _in_capitals(text: str) -> bool:
    """Return whether a caption is written in capitals throughout: "A MAN RIDES A HORSE"; one word or name is not."""
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
        text: One sentence or more, English.
        name: A perturbation; `list_corruptions("text")` has them.
        seed: Seed of what is drawn.
        key: What names the caption, such as its id. The draw is that of seed, perturbation, key and text, so other
            captions are drawn otherwise under one key too. (A build draws by seed, perturbation and caption id alone,
            which no two captions share.)
        style: "declarative" for statements and noun phrases, "imperative" for orders, "auto" to decide for each
            caption, where only a word that is nothing but a verb makes an order.
        mode: "released" repeats the word tables of the released code in the family `bias`.
        tools: Where tagger, WordNet, embeddings and models come from; by default what is found on this machine.

    Returns:
        The text, whether it differs, and if not, why.

    Raises:
        InputError: Unknown name or style, no text, or data or a model that the perturbation needs is missing.

    Reference:
        Schiappa et al. 2022 (arXiv 2207.02159), section 3.2, appendix A.2 and Table 6; differences in
        `corruptions/text/declarations.yaml`.
    """
    corruption = check_text_name(name)
    if not isinstance(text, str) or not text.strip():
        raise InputError(f"the caption must be a text that is not empty; got {text!r}")
    for what, given, allowed in (("style", style, STYLES), ("mode", mode, MODES)):
        if given not in allowed:
            raise UsageError(f"{what} must be one of {', '.join(allowed)}; got {given!r}")
    tools = tools or Tools()
    tools.check([corruption])
    return TextRecipe(corruption, seed, text_key(key, text), style, mode).apply(text, tools)


def text_key(key: str, text: str) -> str:
    """Return a key that differs wherever the key or the text does."""
    return f"{key}#{hashlib.sha256(text.encode(errors='surrogatepass')).hexdigest()[:16]}"
