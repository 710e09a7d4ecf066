"""Compute the statistics on a suite's card: counts, sizes, strength of perturbations, and changed captions."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from math import inf, log10
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...core.errors import InputError
from ...core.output import FinishedOutput
from ...core.schema import Row
from ...corruptions.registry import TextCorruption, check_name, check_text_name, text_corruptions
from ...evaluation.metrics.text_shift import read_report
from ...video.estimate import spread
from ...video.pyav import plane_view
from ...video.thumbnails import UNDECODABLE, frames_of
from .captions import MODELS
from .combinations import MULTIMODAL, Pair
from .render import PLACE, index_map_of
from .settings import settings_of
from .tables import CLEAN, visual_tables

CLIPS, FRAMES, AMONG = 3, 16, 32
"""Number of clips whose PSNR is measured, of frames of each, and of the first frames from which these are taken."""
MAPS = 50  # number of clips whose index maps are computed
EXAMPLES, REASONS = 3, 2
BySeverity = dict[str, dict[int, float]]
"""A number for each perturbation and severity."""


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
        sources: Number of source videos by split.
        seconds: Length of all clips, if known.
        sizes: Total bytes of videos by perturbation (or "clean") and severity.
        ratios: These bytes divided by those of the clean clips.
        psnr: PSNR in dB of decoded frames against the clean ones, for pixel perturbations.
        moved: Mean distance in frames between displayed and original position, for temporal perturbations.
        compared: Clips whose frames were compared, and the number of frames.
        maps: Number of clips whose index maps were computed.
        cut: Whether any clip is only a part of its source.
        text: Statistics of perturbed captions; None if there are none.
    """

    clips: tuple[Row, ...]
    sources: dict[str, int]
    seconds: float | None
    sizes: dict[str, dict[int, int]] = field(default_factory=dict)
    ratios: BySeverity = field(default_factory=dict)
    psnr: BySeverity = field(default_factory=dict)
    moved: BySeverity = field(default_factory=dict)
    compared: tuple[tuple[str, ...], int] = ((), 0)
    maps: int = 0
    cut: bool = False
    text: CaptionStatistics | None = None


def measure_perturbed(output: FinishedOutput) -> PerturbedStatistics:
    """Compute the statistics of a suite. Every video is read once, but frames are only decoded for a few."""
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
    measured: dict[str, Any] = {}
    if output.info["settings"]["render"]:
        measured = measure_files(output, {row["clip_id"] for row in spread(clips, CLIPS)})
        mapped = spread(clips, MAPS)
        measured |= {"moved": measure_maps(output, mapped), "maps": len(mapped)}
    return PerturbedStatistics(
        clips=tuple(clips),
        sources=sources,
        seconds=sum(lengths) if lengths else None,
        cut=any(row["start_s"] is not None for row in clips),
        text=measure_captions(output) if output.info["settings"]["text_perturbations"] else None,
        **measured,
    )


# --- videos


def measure_files(output: FinishedOutput, chosen: set[str]) -> dict[str, Any]:
    """Measure the size of every file, and the PSNR of the chosen clips."""
    sizes: dict[str, dict[int, int]] = {}
    ratios: BySeverity = {}
    psnr: BySeverity = {}
    clean_bytes = Counter[str]()
    clean_frames: dict[str, list[NDArray[np.uint8]]] = {}
    for name in visual_tables(output.info):
        pixels = name == CLEAN or check_name(name).scope != "index"
        totals, cleans, errors = Counter[int](), Counter[int](), defaultdict[int, list[float]](list)
        for row in output.whole(name, ["clip_id", "severity", "num_frames", "video"]):
            clip, severity, content = row["clip_id"], row["severity"], row["video"]["bytes"] or b""
            if name == CLEAN:
                clean_bytes[clip] = len(content)
            totals[severity] += len(content)
            cleans[severity] += clean_bytes[clip]
            if clip in chosen and pixels:
                try:
                    frames = some_frames(content, row["num_frames"])
                except UNDECODABLE as error:
                    raise _not_as_built(output, name, row, f"cannot be decoded ({error})") from error
                known = clean_frames.setdefault(clip, frames) if name == CLEAN else clean_frames.get(clip, [])
                if known and [len(frame) for frame in frames] != [len(frame) for frame in known]:
                    raise _not_as_built(output, name, row, "differs from the clean clip in size or number of frames")
                errors[severity] += map(mean_square, known, frames)
        sizes[name] = dict(sorted(totals.items()))
        if name != CLEAN:
            ratios[name] = {severity: sizes[name][severity] / (cleans[severity] or inf) for severity in sizes[name]}
            if pixels:
                psnr[name] = {severity: decibels(found) for severity, found in sorted(errors.items())}
    compared = tuple(clean_frames), sum(map(len, clean_frames.values()))
    return {"sizes": sizes, "ratios": ratios, "psnr": psnr, "compared": compared}


def _not_as_built(output: FinishedOutput, name: str, row: Row, why: str) -> InputError:
    return InputError(
        f"{output.path}, table {name}: the video of clip {row['clip_id']}, severity {row['severity']}, {why}: it was "
        "changed after the build. Run `stressreel verify` for details, or build again with --fresh."
    )


def some_frames(content: bytes, num_frames: int) -> list[NDArray[np.uint8]]:
    """Decode a few frames from the start of a video, each as one array of all samples.

    The samples are not converted to RGB, because colour conversion differs between processors.
    """
    wanted = spread(range(min(num_frames, AMONG)), FRAMES)
    found: list[NDArray[np.uint8]] = []
    for number, frame in enumerate(frames_of(content)):
        if number == wanted[len(found)]:
            planes = range(len(frame.planes))
            found.append(np.concatenate([plane_view(frame, plane).ravel() for plane in planes]))
            if len(found) == len(wanted):
                break
    return found


def mean_square(one: NDArray[np.uint8], other: NDArray[np.uint8]) -> float:
    """Return the mean squared difference of two frames."""
    apart = one.astype(np.int32) - other
    return int((apart * apart).sum(dtype=np.int64)) / len(one)


def decibels(errors: Sequence[float]) -> float:
    """Average mean squared errors and convert them to PSNR in dB, like FFmpeg's filter `psnr`."""
    mean = sum(errors) / len(errors) if errors else 0.0
    return 10 * log10(255**2 / mean) if mean else inf


def measure_maps(output: FinishedOutput, clips: Sequence[Row]) -> BySeverity:
    """Return the mean number of frames by which temporal perturbations move a frame."""
    settings = settings_of(output.info)
    moved: BySeverity = {}
    for name in settings.perturbations:
        for severity in settings.severities if check_name(name).scope == "index" else ():
            total = frames = 0
            for row in clips:
                own = np.arange(row["first_frame"], row["first_frame"] + row["num_frames"])
                shown = index_map_of(name, severity, row, settings)[own]
                total += int(np.abs(shown - own).sum())
                frames += row["num_frames"]
            moved.setdefault(name, {})[severity] = total / frames
    return moved


def grows(values: Mapping[int, float], *, falling: bool) -> bool:
    """Return whether a number increases (or decreases) with each severity after rounding it as on the card."""
    shown = [round(-value if falling else value, 1) for _, value in sorted(values.items())]
    return all(one < other for one, other in pairwise(shown))


# --- captions


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
    examples = tuple(spread(changed, EXAMPLES))
    return CaptionTable(check_text_name(name), len(changed) + reasons.total(), len(changed), most, examples)
