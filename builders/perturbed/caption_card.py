"""What the card of a suite says about perturbed captions and combinations; the words are in `perturbed_text.md.j2`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ...core.output import FinishedOutput
from ...corruptions.registry import TextCorruption, check_text_name, text_corruptions
from ...evaluation.metrics.text_shift import read_report
from ...video.estimate import spread
from .captions import MODELS
from .combinations import MULTIMODAL, Pair

EXAMPLES = 3
REASONS = 2


@dataclass(frozen=True)
class TextTable:
    """What is counted of one table of captions.

    Attributes:
        corruption: The perturbation.
        captions: Rows.
        changed: Rows that differ from their original.
        reasons: The commonest reasons why others do not, with their counts.
        examples: Originals, and what became of them.
    """

    corruption: TextCorruption
    captions: int
    changed: int
    reasons: tuple[tuple[str, int], ...]
    examples: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class TextStatistics:
    """Everything that the card says about captions.

    Attributes:
        tables: In the paper's order.
        captions: Captions perturbed.
        pairs: Combinations.
        rows: Rows of combinations.
        left_out: Perturbations of the paper that this build has not, because no language model was given.
        without_bias: Whether it has none of the family `bias`.
        shift: What `stressreel score text-shift` left; see `evaluation.metrics.text_shift.shift_report`.
    """

    tables: tuple[TextTable, ...]
    captions: int
    pairs: tuple[Pair, ...]
    rows: int
    left_out: tuple[str, ...]
    without_bias: bool
    shift: dict[str, Any] | None

    @property
    def total(self) -> int:
        """All perturbed captions."""
        return sum(table.captions for table in self.tables)

    @property
    def changed(self) -> float:
        """Share of them that differ from their original."""
        return sum(table.changed for table in self.tables) / max(self.total, 1)

    def grid(self) -> dict[str, dict[str, bool]]:
        """Return for each visual and each text perturbation whether they are combined."""
        combined = {pair.text for pair in self.pairs}
        texts = [table.corruption.name for table in self.tables if table.corruption.name in combined]
        visual = dict.fromkeys(pair.visual for pair in self.pairs)
        return {one: {other: Pair(one, other) in self.pairs for other in texts} for one in visual}


def measure_texts(output: FinishedOutput) -> TextStatistics | None:
    """Count everything that the card says about captions; None if the build has none of its own."""
    settings = output.info["settings"]
    names: Sequence[str] = settings["text_perturbations"]
    if not names:
        return None
    tables = tuple(measure_table(output, name) for name in names)
    models = [c.name for c in text_corruptions().values() if set(c.needs) & {*MODELS}]
    return TextStatistics(
        tables=tables,
        captions=max(table.captions for table in tables),
        pairs=tuple(map(Pair.read, settings["pairs"])),
        rows=sum(output.info["counts"].get(MULTIMODAL, {}).values()),
        left_out=tuple(name for name in models if name not in names),
        without_bias=not any(table.corruption.family == "bias" for table in tables),
        shift=read_report(output.path, output.info["fingerprint"]),
    )


def measure_table(output: FinishedOutput, name: str) -> TextTable:
    """Count one table, and take examples at equal distances."""
    changed: list[tuple[str, str]] = []
    reasons: Counter[str] = Counter()
    captions = 0
    for row in output.whole(name, ["caption", "original", "changed", "reason"]):
        captions += 1
        if row["changed"]:
            changed.append((row["original"], row["caption"]))
        else:
            reasons[row["reason"]] += 1
    examples = tuple(spread(changed, EXAMPLES))
    commonest = tuple(sorted(reasons.items(), key=lambda item: (-item[1], item[0]))[:REASONS])
    return TextTable(check_text_name(name), captions, len(changed), commonest, examples)
