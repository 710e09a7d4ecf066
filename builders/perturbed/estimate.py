"""Estimate the size of a suite and the time to build it, from measured factors and a few clips encoded unperturbed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from ...core.plan import Plan
from ...corruptions.registry import VisualCorruption, check_name
from ...corruptions.visual.engine import Recipe
from ...video.encode import EncodeSettings
from ...video.estimate import (
    BuildEstimate,
    Cost,
    Footage,
    Measured,
    bits,
    container_bytes,
    costs,
    encoded_in_part,
    fixed,
    frames_in,
    survey,
    usual,
)
from .render import clip_frames
from .settings import PerturbedSettings
from .tables import CLEAN

Levels = Sequence[float]
"""A value for each severity, 1 to 5."""


@dataclass(frozen=True)
class Factors:
    """The cost per pixel of typical content under one perturbation, at the crf and preset of the table.

    Attributes:
        key: Bits in keyframes at severity 3.
        later: Bits in other frames.
        perturb_ns: CPU nanoseconds of the perturbation.
        encode_ns: CPU nanoseconds of encoding.
        contents: Exponent of the dependence on the bits of the clean frames: 0 is independent, 1 proportional.
        lossless: Bits with lossless encoding; defaults to those of the clean frames.
    """

    key: float
    later: Levels
    perturb_ns: Levels
    encode_ns: Levels
    contents: float = 1.0
    lossless: Levels | None = None


@cache
def factors() -> dict[str, Factors]:
    """Load the measured factors from `costs.yaml`, by perturbation."""
    rows: dict[str, dict[str, Any]] = _table()["perturbations"]
    return {name: Factors(**row) for name, row in rows.items()}


@cache
def _table() -> dict[str, Any]:
    content: dict[str, Any] = yaml.safe_load((Path(__file__).parent / "costs.yaml").read_text("utf-8"))
    return content


def suite_footage(plan: Plan) -> list[Footage]:
    """Return the footage of a plan, in which each clip occurs once."""
    found = {}
    for unit in plan.units:
        for clip in unit.payload.get("clips", ()):
            span = None if clip["start_s"] is None else clip["end_s"] - clip["start_s"]
            footage = Footage(unit.source_id, partial(frames_in, span), partial(clip_frames, clip=clip))
            found[unit.split, unit.source_id, clip["clip_id"]] = footage
    return list(found.values())


def estimate_suite(
    plan: Plan, settings: PerturbedSettings, sources: Mapping[str, Path], *, workers: int, probe: bool = True
) -> BuildEstimate:
    """Estimate the size of a suite's videos and the time to render them.

    Perturbations differ in size and time by up to a factor of 100, depending on content. Therefore short, evenly spaced
    samples are encoded unperturbed, and measured factors convert their cost to that of each perturbation. Without
    `probe`, nothing is encoded and typical content is assumed.
    """
    parts_of_videos = any(clip["start_s"] is not None for unit in plan.units for clip in unit.payload.get("clips", ()))
    surveyed = survey(suite_footage(plan), sources, "perturbed_parts" if parts_of_videos else "perturbed")
    encoding = EncodeSettings(settings.crf, settings.preset, settings.lossless)
    found = encoded_in_part(surveyed, encoding, probe=probe)
    units = [unit for unit in plan.units if unit.source_id]
    ids = {unit.source_id for unit in units}
    clips, frames, pixels = len(surveyed.footage), surveyed.frames, surveyed.pixels
    # A codec needs the entire source, which each unit decodes.
    whole = pixels if settings.clip_first else sum(s.area * s.num_frames for s in map(surveyed.shape, ids))
    slowness = found.clean.encode_s / usual(encoding).encode_s
    parts = {}
    for name in (CLEAN, *settings.perturbations):
        corruption = None if name == CLEAN else check_name(name)
        codec = corruption is not None and corruption.scope == "file"
        keys = max(found.keys, 1 / _table()["codec"]["key_every"]) if codec else found.keys
        launches = _table()["codec"]["launch_s"] * (clips if settings.clip_first else len(ids)) if codec else 0.0
        for severity in settings.severities if corruption else (0,):
            one = perturbed_cost(corruption, severity, found.clean, encoding) if corruption else found.clean
            perturb_s = factors()[name].perturb_ns[severity - 1] * 1e-9 * slowness if corruption else 0.0
            size = pixels * bits(one, keys) / 8 + container_bytes(clips, frames)
            spent = pixels * one.encode_s + (whole if codec else pixels) * perturb_s + launches * slowness
            parts[name, severity] = Cost(size, spent)
    size = sum(cost.size for cost in parts.values())
    decode_s = whole * len(units) / max(1, len(ids)) * found.decode_s
    return BuildEstimate(
        parts,
        fixed(size, clips * len(parts), len(units), workers, decode_s, slowness),
        surveyed.basis(found.stretches),
        seconds=surveyed.seconds * len(parts),
        spool=surveyed.spool * min(workers, len(units)),
    )


def perturbed_cost(corruption: VisualCorruption, severity: int, clean: Measured, encoding: EncodeSettings) -> Measured:
    """Return the cost of a perturbed pixel, given the cost of a clean one."""
    row, table, at = factors()[corruption.name], costs()["clean"], severity - 1
    encode_s = clean.encode_s * row.encode_ns[at] / table["encode_ns"]
    if encoding.lossless:
        if row.lossless:
            return Measured(row.lossless[at], row.lossless[at], encode_s)
        changed = 1.0
        if corruption.scope == "index":  # the share of frames that differ from their predecessor
            changed = float(np.mean(np.diff(Recipe(corruption, severity, 0, "").index_map(1000)) != 0))
        return Measured(clean.key, clean.later * changed, encode_s)
    typical = usual(encoding).later
    bits_of = typical / table["later"] * (clean.later / typical) ** row.contents  # for a bit in the table
    if corruption.scope == "index":
        return Measured(clean.key, row.later[at] * bits_of, encode_s)
    return Measured(row.key * row.later[at] / row.later[2] * bits_of, row.later[at] * bits_of, encode_s)
