"""Estimate the size and time of a suite from samples of its clips, which are perturbed and encoded."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from ...core.extras import import_extra
from ...core.plan import Plan
from ...corruptions.registry import VisualCorruption, check_name
from ...corruptions.visual.engine import Recipe
from ...video.encode import EncodeSettings
from ...video.estimate import (
    KEY_EVERY,
    STRETCH,
    BuildEstimate,
    Cost,
    Footage,
    Measured,
    Stretch,
    bits,
    container_bytes,
    costs,
    fixed,
    frames_in,
    mean,
    measure,
    measure_clean,
    opened,
    spread,
    stretches,
    survey,
    usual,
)
from ...video.store import FrameStore
from .render import as_encoded, clip_frames, perturbed_frames
from .settings import PerturbedSettings
from .tables import CLEAN

BUDGET_S = 3.0  # CPU seconds for perturbed stretches according to the table; one stretch is always encoded
JOINED = 96  # frames of stretches of one source, joined to measure the cost of jumps in time
JUMPS = ("box_jumble", 1)  # represents all perturbations that show frames from other times
FAR_CRF = 3  # maximum difference from the table's crf at which its factors between severities hold

Levels = Sequence[float]
"""A value for each severity, 1 to 5."""


@dataclass(frozen=True)
class Factors:
    """Per-pixel cost of typical content under one perturbation, at the table's crf and preset.

    Attributes:
        key: Bits in key frames, at the middle severity.
        later: Bits in other frames.
        perturb_ns: CPU time of the perturbation, in nanoseconds.
        encode_ns: CPU time of encoding, in nanoseconds.
        stretch: Factor from the bits of a short stretch to those of an entire clip.
        contents: Exponent of the dependence on the bits of the clean picture: 0 for none, 1 for proportional.
    """

    key: float
    later: Levels
    perturb_ns: Levels
    encode_ns: Levels
    stretch: float = 1.0
    contents: float = 0.0


@dataclass(frozen=True)
class ProbedStretches:
    """Measurements on stretches, per pixel, in bits and CPU seconds.

    Attributes:
        clean: Measurements without a perturbation.
        keys: Share of key frames.
        perturbed: Measurements by perturbation and severity, with the seconds of the perturbation.
        slowness: Time required on this machine, relative to the table.
        jumps: Additional bits for a jump to another time compared with the next frame, relative to the table.
    """

    clean: Measured
    keys: float
    perturbed: Mapping[str, Mapping[int, tuple[Measured, float]]]
    slowness: float
    jumps: float = 1.0


@cache
def factors() -> dict[str, Factors]:
    """Return the measured factors of `costs.yaml`, by perturbation."""
    rows: dict[str, dict[str, Any]] = _table()["perturbations"]
    return {name: Factors(**row) for name, row in rows.items()}


@cache
def _table() -> dict[str, Any]:
    content: dict[str, Any] = yaml.safe_load((Path(__file__).parent / "costs.yaml").read_text("utf-8"))
    return content


def suite_footage(plan: Plan) -> list[Footage]:
    """Return the clips of a plan as footage, each once."""
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
    """Estimate the videos of a suite.

    Size and time differ a hundredfold between perturbations, and depend on the content. Therefore short, evenly
    distributed stretches of clips are encoded clean, and some of them perturbed at one severity. Measured factors
    extrapolate to the other severities, and from clean stretches to the temporal perturbations, whose effect only
    appears in longer stretches.

    With `probe`, stretches are encoded; otherwise typical content is assumed.
    """
    parts_of_videos = any(clip["start_s"] is not None for unit in plan.units for clip in unit.payload.get("clips", ()))
    surveyed = survey(suite_footage(plan), sources, "perturbed_parts" if parts_of_videos else "perturbed")
    encoding = EncodeSettings(settings.crf, settings.preset, settings.lossless)
    with opened(stretches(surveyed) if probe else []) as (found, decode_s):
        probed = probe_suite(found, settings, encoding) if found else None
        basis = surveyed.basis([stretch for stretch, _ in found])
    units = [unit for unit in plan.units if unit.source_id]
    ids = {unit.source_id for unit in units}
    clips, frames, pixels = len(surveyed.footage), surveyed.frames, surveyed.pixels
    # A codec needs the entire source, which is decoded for each unit.
    whole = pixels if settings.clip_first else sum(s.area * s.num_frames for s in map(surveyed.shape, ids))
    slowness = probed.slowness if probed else 1.0
    parts = {}
    for name in (CLEAN, *settings.perturbations):
        corruption = None if name == CLEAN else check_name(name)
        codec = corruption is not None and corruption.scope == "file"
        keys = probed.keys if probed else 1 / KEY_EVERY
        keys = max(keys, 1 / _table()["codec"]["key_every"]) if codec else keys
        launches = _table()["codec"]["launch_s"] * (clips if settings.clip_first else len(ids)) if codec else 0.0
        for severity in settings.severities if corruption else (0,):
            one, perturb_s = expected(corruption, severity, probed, encoding)
            size = pixels * bits(one, keys) / 8 + container_bytes(clips, frames)
            spent = pixels * one.encode_s + (whole if codec else pixels) * perturb_s + launches * slowness
            parts[name, severity] = Cost(size, spent)
    size = sum(cost.size for cost in parts.values())
    decoded = whole * len(units) / max(1, len(ids))
    return BuildEstimate(
        parts,
        fixed(size, clips * len(parts), len(units), workers, decoded * decode_s, slowness),
        basis,
        seconds=surveyed.seconds * len(parts),
        spool=surveyed.spool * min(workers, len(units)),
    )


def probe_suite(
    found: Sequence[tuple[Stretch, FrameStore]], settings: PerturbedSettings, encoding: EncodeSettings
) -> ProbedStretches:
    """Encode stretches clean, and some of them under every perturbation whose effect is measurable in a stretch."""
    shown = [c for c in map(check_name, settings.perturbations) if c.scope != "index"]
    severities = probed_severities(settings)
    with tempfile.TemporaryDirectory(prefix="stressreel-") as folder:
        file = Path(folder) / "stretch.mp4"
        clean = [measure_clean(stretch, store, encoding, file) for stretch, store in found]
        by_contents = sorted(range(len(found)), key=lambda number: clean[number].later)
        area = found[0][1].width * found[0][1].height
        chosen = spread(by_contents, affordable(area, shown, severities, encoding))
        some = [found[number] for number in chosen]
        short = [measure_clean(stretch, store, encoding, file, STRETCH) for stretch, store in some]
        work = partial(perturb_stretches, found=some, encoding=encoding, file=file)
        temporal = len(shown) < len(settings.perturbations) and not encoding.lossless
        jumps = jump_factor(found, mean(clean), encoding, file) if temporal else 1.0
        with _one_thread() if shown else nullcontext():
            measured = {c: {severity: work(c, severity) for severity in severities} for c in shown}
    timed = [(c, s, seconds) for c in measured for s, (_, seconds) in measured[c].items() if c.scope != "file"]
    spent = sum(seconds for _, _, seconds in timed)
    usually = sum(factors()[c.name].perturb_ns[s - 1] * 1e-9 for c, s, _ in timed)
    whole, part = mean(clean), mean(short)
    if not timed:
        spent, usually = whole.encode_s, usual(encoding).encode_s
    perturbed: dict[str, dict[int, tuple[Measured, float]]] = {}
    for corruption, by_severity in measured.items():
        row = factors()[corruption.name]
        factor = row.stretch * (whole.later / part.later) ** row.contents  # from perturbed to all stretches
        perturbed[corruption.name] = {
            severity: (Measured(one.key, one.later * factor, one.encode_s), seconds)
            for severity, (one, seconds) in by_severity.items()
        }
    keys = float(np.mean([stretch.keys for stretch, _ in found]))
    return ProbedStretches(whole, keys, perturbed, spent / usually, jumps)


def jump_factor(
    found: Sequence[tuple[Stretch, FrameStore]], clean: Measured, encoding: EncodeSettings, file: Path
) -> float:
    """Join stretches of one source, measure jumps between them, and return `jumps` of `ProbedStretches`.

    With many sources, which have one stretch each, the table's value is used, as differences in content average out.
    """
    sources = [stretch.index.path for stretch, _ in found]
    most = max(sorted(set(sources)), key=sources.count)
    share = max(STRETCH, JOINED // sources.count(most))
    stores = {
        number: (stretch, store)
        for stretch, store in found
        if stretch.index.path == most
        for number in stretch.frames[:share]
    }
    numbers = sorted(stores)[:JOINED]
    if len(numbers) < JOINED // 3:
        return 1.0
    name, severity = JUMPS
    shown = Recipe(check_name(name), severity, 0, most.name).index_map(len(numbers))
    pictures = [stores[numbers[place]][1].yuv(numbers[place]) for place in shown]
    joined = replace(stores[numbers[0]][0], frames=range(len(pictures)))
    usually = factors()[name].later[severity - 1] / costs()["clean"]["later"]
    more = measure(pictures, joined, encoding, file).after / clean.later
    factor: float = max(0.0, more - 1) / (usually - 1) * _table()["joined"]
    return factor


@contextmanager
def _one_thread() -> Iterator[None]:
    """Limit OpenCV to one thread, as in a worker process."""
    cv2 = import_extra("cv2", what="perturbing")
    before = cv2.getNumThreads()
    cv2.setNumThreads(1)
    try:
        yield
    finally:
        cv2.setNumThreads(before)


def probed_severities(settings: PerturbedSettings) -> tuple[int, ...]:
    """Return the severities to encode: the middle one, or three if the table's factors between them do not hold."""
    chosen = settings.severities
    middle = chosen[len(chosen) // 2]
    if settings.lossless or abs(settings.crf - costs()["crf"]) > FAR_CRF:
        return tuple(sorted({chosen[0], middle, chosen[-1]}))
    return (middle,)


def affordable(
    area: int, corruptions: Sequence[VisualCorruption], severities: Sequence[int], encoding: EncodeSettings
) -> int:
    """Return the number of stretches that can be encoded under every perturbation within `BUDGET_S`, at least one."""
    preset = costs()["presets"][encoding.preset]
    spent = sum(
        factors()[c.name].perturb_ns[s - 1] + factors()[c.name].encode_ns[s - 1] * preset
        for c in corruptions
        for s in severities
    )
    return max(1, int(BUDGET_S / max(1e-9, spent * 1e-9 * area * STRETCH)))


def perturb_stretches(
    corruption: VisualCorruption,
    severity: int,
    *,
    found: Sequence[tuple[Stretch, FrameStore]],
    encoding: EncodeSettings,
    file: Path,
) -> tuple[Measured, float]:
    """Perturb and encode stretches; return the mean measurement, and the seconds of the perturbation per pixel."""
    measured, seconds = [], []
    for stretch, store in found:
        recipe = Recipe(corruption, severity, 0, stretch.index.path.name)
        if corruption.scope != "file":
            next(perturbed_frames(store, recipe, stretch.frames[:1], stretch.frames))  # excludes one-time work
        began = time.process_time()
        pictures = [
            as_encoded(picture, store, lossless=encoding.lossless)
            for picture in perturbed_frames(store, recipe, stretch.frames[:STRETCH], stretch.frames)
        ]
        seconds.append((time.process_time() - began) / len(pictures) / (store.width * store.height))
        measured.append(measure(pictures, stretch, encoding, file))
    return mean(measured), float(np.mean(seconds))


def expected(
    corruption: VisualCorruption | None, severity: int, probe: ProbedStretches | None, encoding: EncodeSettings
) -> tuple[Measured, float]:
    """Return the per-pixel cost under a perturbation (None for clean), and the seconds of the perturbation."""
    clean = probe.clean if probe else usual(encoding)
    if corruption is None:
        return clean, 0.0
    row, at = factors()[corruption.name], severity - 1
    perturb_s = row.perturb_ns[at] * 1e-9 * (probe.slowness if probe else 1.0)
    if corruption.scope == "index":
        return _temporal(corruption, severity, clean, probe.jumps if probe else 1.0, encoding), perturb_s
    if probe is None:
        return _typical(row, at, clean, encoding), perturb_s
    probed = probe.perturbed[corruption.name]
    later = _extrapolated({s: one.later for s, (one, _) in probed.items()}, row.later, severity)
    encode_s = _extrapolated({s: one.encode_s for s, (one, _) in probed.items()}, row.encode_ns, severity)
    nearest = probed[min(probed, key=lambda s: abs(s - severity))][0]
    if corruption.scope != "file":
        perturb_s = _extrapolated({s: seconds for s, (_, seconds) in probed.items()}, row.perturb_ns, severity)
    return Measured(nearest.key * later / nearest.later, later, encode_s), perturb_s


def _temporal(
    corruption: VisualCorruption, severity: int, clean: Measured, jumps: float, encoding: EncodeSettings
) -> Measured:
    """Return the per-pixel cost under a temporal perturbation, derived from that of clean video."""
    row, table = factors()[corruption.name], costs()["clean"]
    if encoding.lossless:  # share of frames that differ from the previous one
        later = float(np.mean(np.diff(Recipe(corruption, severity, 0, "").index_map(1000)) != 0))
    else:
        later = row.later[severity - 1] / table["later"]
    if later > 1:
        later = 1 + (later - 1) * jumps
    encode_s = clean.encode_s * row.encode_ns[severity - 1] / table["encode_ns"]
    return Measured(clean.key, clean.later * later, encode_s)


def _typical(row: Factors, at: int, clean: Measured, encoding: EncodeSettings) -> Measured:
    """Return the per-pixel cost of typical content under a pixel perturbation, from the table."""
    key = later = clean.later
    if not encoding.lossless:
        scale = clean.later / costs()["clean"]["later"]
        key, later = row.key * row.later[at] / row.later[2] * scale, row.later[at] * scale
    return Measured(key, later, row.encode_ns[at] * 1e-9 * costs()["presets"][encoding.preset])


def _extrapolated(measured: Mapping[int, float], row: Levels, severity: int) -> float:
    """Scale the table's value of a severity by the deviations at measured severities, interpolated logarithmically."""
    known = sorted(measured)
    apart = [np.log(max(measured[s], 1e-15) / row[s - 1]) for s in known]
    return float(row[severity - 1] * np.exp(np.interp(severity, known, apart)))
