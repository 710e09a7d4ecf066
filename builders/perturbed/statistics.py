"""Compute the statistics on a suite's card: counts and changed captions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from ...core.output import FinishedOutput
from ...core.schema import Row
from ...corruptions.registry import TextCorruption, check_text_name, text_corruptions
from ...evaluation.metrics.text_shift import read_report
from .captions import MODELS
from .combinations import MULTIMODAL, Pair
from .render import PLACE
from .tables import CLEAN

EXAMPLES, REASONS = 3, 2


@dataclass(frozen=True)
class CaptionTable:
    """Counts for one table of captions.

    Attributes:
        captions: Number of rows.
        changed: Number of rows that differ from the original.
        reasons: The most frequent reasons for unchanged captions, with their counts.
        examples: Pairs of original and perturbed caption.
    """

    corruption: TextCorruption
    captions: int
    changed: int
    reasons: tuple[tuple[str, int], ...]
    examples: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class CaptionStatistics:
    """Statistics on perturbed captions and combinations.

    Attributes:
        tables: Counts of each table, in the paper's order.
        captions: Number of captions perturbed.
        combined: Whether a visual and a text perturbation are combined.
        rows: Number of rows of combinations.
        left_out: The paper's perturbations that need a language model and are not in the build.
        without_bias: Whether no perturbation is of the family `bias`.
        shift: Report of `stressreel score text-shift`; see `evaluation.metrics.text_shift.shift_report`.
        total: Number of perturbed captions.
        changed: Share of perturbed captions that differ from the original.
    """

    tables: tuple[CaptionTable, ...]
    captions: int
    pairs: tuple[Pair, ...]
    combined: dict[str, dict[str, bool]]
    rows: int
    left_out: tuple[str, ...]
    without_bias: bool
    shift: dict[str, Any] | None
    total: int
    changed: float


@dataclass(frozen=True)
class PerturbedStatistics:
    """All statistics on a suite's card.

    Attributes:
        clips: The clean rows, without their videos.
        changed: Share of videos that differ from `clean`, by perturbation and severity; empty without videos.
        sources: Number of source videos by split.
        seconds: Length of all clips, if known.
        cut: Whether any clip is only a part of its source.
        text: Statistics of perturbed captions; None if there are none.
    """

    clips: tuple[Row, ...]
    changed: dict[str, dict[int, float]]
    sources: dict[str, int]
    seconds: float | None
    cut: bool = False

    @property
    def without_effect(self) -> dict[str, dict[int, float]]:
        """The perturbations under which some video is the same as in `clean`."""
        return {name: shares for name, shares in self.changed.items() if min(shares.values()) < 1}

    text: CaptionStatistics | None = None


def measure_perturbed(output: FinishedOutput) -> PerturbedStatistics:
    """Compute the statistics of a suite. No videos are read."""
    columns = ["clip_id", "captions", "source_id", "start_s", "end_s", *PLACE]
    clips: list[Row] = []
    sources = {}
    for split in output.splits(CLEAN):
        rows = list(output.whole(CLEAN, columns, split))
        sources[split] = len({row["source_id"] for row in rows})
        clips += rows
    lengths = [
        row["num_frames"] / row["fps"] if row["num_frames"] else row["end_s"] - row["start_s"]
        for row in clips
        if row["num_frames"] or row["end_s"] is not None
    ]
    settings = output.info["settings"]
    return PerturbedStatistics(
        clips=tuple(clips),
        changed={name: _changed(output, name) for name in settings["perturbations"] if settings["render"]},
        sources=sources,
        seconds=sum(lengths) if lengths else None,
        cut=any(row["start_s"] is not None for row in clips),
        text=measure_captions(output) if settings["text_perturbations"] else None,
    )


def _changed(output: FinishedOutput, name: str) -> dict[int, float]:
    """Return the share of a perturbation's videos that differ from `clean`, by severity."""
    changed: dict[int, list[bool]] = {}
    for row in output.whole(name, ["severity", "changed"]):
        changed.setdefault(row["severity"], []).append(bool(row["changed"]))
    return {severity: sum(flags) / len(flags) for severity, flags in sorted(changed.items())}


def measure_captions(output: FinishedOutput) -> CaptionStatistics:
    """Count the perturbed captions and combinations of a suite."""
    settings = output.info["settings"]
    names: Sequence[str] = settings["text_perturbations"]
    tables = tuple(
        _caption_table(name, output.whole(name, ["caption", "original", "changed", "reason"])) for name in names
    )
    total = sum(table.captions for table in tables)
    pairs = tuple(map(Pair.read, settings["pairs"]))
    visuals = dict.fromkeys(pair.visual for pair in pairs)
    texts = [name for name in names if any(pair.text == name for pair in pairs)]
    models = [c.name for c in text_corruptions().values() if set(c.needs) & {*MODELS}]
    return CaptionStatistics(
        tables=tables,
        captions=max(table.captions for table in tables),
        pairs=pairs,
        combined={visual: {text: Pair(visual, text) in pairs for text in texts} for visual in visuals},
        rows=sum(output.info["counts"].get(MULTIMODAL, {}).values()),
        left_out=tuple(name for name in models if name not in names),
        without_bias=not any(table.corruption.family == "bias" for table in tables),
        shift=read_report(output.path, output.info["fingerprint"]),
        total=total,
        changed=sum(table.changed for table in tables) / max(total, 1),
    )


def _caption_table(name: str, rows: Iterable[Row]) -> CaptionTable:
    changed: list[tuple[str, str]] = []
    reasons: Counter[str] = Counter()
    for row in rows:
        if row["changed"]:
            changed.append((row["original"], row["caption"]))
        else:
            reasons[row["reason"]] += 1
    most = tuple(sorted(reasons.items(), key=lambda item: (-item[1], item[0]))[:REASONS])
    count = min(EXAMPLES, len(changed))
    examples = tuple(changed[(2 * number + 1) * len(changed) // (2 * count)] for number in range(count))
    return CaptionTable(check_text_name(name), len(changed) + reasons.total(), len(changed), most, examples)
