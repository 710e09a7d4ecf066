"""Combine visual with text perturbations."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from ...annotations.captions import caption_id
from ...core.errors import InputError, UsageError
from ...core.schema import Column, Config, Row
from ...corruptions.registry import check_name, check_text_name

MULTIMODAL = "multimodal"
PAIR_COLUMNS = (
    Column("perturbation", "string", "the combination, as visual:text"),
    Column("visual", "string", "the config with the clip"),
    Column("severity", "int32", "the severity of the clip"),
    Column("text", "string", "the config with the caption"),
    Column("clip_id", "string", "the clip", refers_to="clean"),
    Column("caption_id", "string", "the caption"),
)
MULTIMODAL_CONFIG = Config(
    MULTIMODAL,
    "combinations: which row of a visual config goes with which of a text config",
    PAIR_COLUMNS,
    key_columns=len(PAIR_COLUMNS),
)


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
    path = Path(__file__).parents[2] / "corruptions" / "combinations.yaml"
    table = yaml.safe_load(path.read_text(encoding="utf-8"))
    return table["severity"], tuple(Pair(visual, text) for visual in table["visual"] for text in table["text"])


@cache
def _texts_with(visual: str, pairs: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(pair.text for pair in map(Pair.read, pairs) if pair.visual == visual)


def pair_rows(visual: str, clip: Mapping[str, Any], pairs: tuple[str, ...]) -> Iterator[tuple[str, Row]]:
    """Yield one row for each caption of a clip and each combination with a visual perturbation."""
    severity, _ = combinations()
    for text in _texts_with(visual, pairs):
        for number in range(len(clip["captions"])):
            yield (
                MULTIMODAL,
                {
                    "perturbation": str(Pair(visual, text)),
                    "visual": visual,
                    "severity": severity,
                    "text": text,
                    "clip_id": clip["clip_id"],
                    "caption_id": caption_id(clip["clip_id"], number),
                },
            )


def choose_pairs(given: Sequence[str] | None, visual: Sequence[str], texts: Sequence[str]) -> tuple[str, ...]:
    """Return the selected combinations.

    `given` lists combinations as visual:text. The default is those of the paper's 66 whose parts are selected.

    Raises:
        InputError: An item is not a combination or has a part that is not selected, or no combination remains.
    """
    if given is None:
        pairs = [pair for pair in combinations()[1] if pair.visual in visual and pair.text in texts]
        if not pairs:
            raise InputError(
                "none of the 66 combinations in the paper consists only of selected perturbations. Specify "
                "combinations with --pairs visual:text, or select other perturbations."
            )
    else:
        pairs = [Pair.read(text) for text in given]
        lacking = [name for pair in pairs for name in (pair.visual, pair.text) if name not in (*visual, *texts)]
        if lacking:
            raise InputError(
                f"--pairs names {', '.join(dict.fromkeys(lacking))}, which are not selected by --perturbations or "
                "--text-perturbations. Add them to these options."
            )
    return tuple(dict.fromkeys(map(str, pairs)))
