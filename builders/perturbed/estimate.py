"""Estimate the size of a suite and the time to build it, from measured factors and samples encoded unperturbed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

from ...core.plan import Plan
from ...video.encode import EncodeSettings
from ...video.estimate import BuildEstimate, Content, Footage, Level, build_estimate, costs, kinds, sampled, typical
from ...video.store import MEMORY_BYTES
from .settings import PerturbedSettings
from .tables import CLEAN


def factors() -> Any:
    """Return the measured costs of each perturbation."""
    return costs(Path(__file__).parent)


def estimate_suite(
    plan: Plan, settings: PerturbedSettings, sources: Mapping[str, Path], *, workers: int, probe: bool = True
) -> BuildEstimate:
    """Estimate the size of a suite's videos and the time to render them.

    Perturbations differ in size and time by up to a factor of 100, depending on content. Therefore samples are encoded
    unperturbed, and measured factors convert their cost to that of each perturbation. Without `probe`, nothing is
    encoded and typical content is assumed.
    """
    footage = [
        Footage(unit.source_id, clip["start_s"], clip["end_s"])
        for unit in plan.units
        if CLEAN in unit.payload.get("perturbations", ())
        for clip in unit.payload["clips"]
    ]
    assumed = "perturbed" if all(part.stop is None for part in footage) else "perturbed_parts"
    encoding = EncodeSettings(settings.crf, settings.preset, settings.lossless)
    clean, basis = sampled(footage, sources, encoding, assumed, probe=probe)
    levels = product(settings.perturbations, settings.severities)
    parts = {(CLEAN, 0): clean} | {level: perturbed(clean, level, encoding) for level in levels}
    stored = clean.pixels * clean.num_frames * 1.5  # bytes
    spool = stored * min(workers, len(plan.units)) if stored > MEMORY_BYTES else 0.0
    return build_estimate(footage, parts, basis, spool=spool)


def perturbed(clean: Content, level: Level, encoding: EncodeSettings) -> Content:
    """Return the estimated content after a perturbation, given the clean content."""
    row, table, at = factors()[level[0]], costs()["clean"], level[1] - 1
    usual = typical(encoding, clean.pixels, clean.fps, clean.num_frames)
    key, later = (row[kind][at] / table[kind] for kind in kinds(encoding))
    return replace(
        clean,
        key=usual.key * key * (clean.key / usual.key) ** row["contents"],
        later=usual.later * later * (clean.later / usual.later) ** row["contents"],
        cpu_s=clean.cpu_s * row["encode_ns"][at] / table["encode_ns"] + clean.pixels * row["perturb_ns"][at] * 1e-9,
    )
