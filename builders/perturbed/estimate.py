"""What a suite of perturbed clips takes: stretches of the clips, perturbed and encoded, and measured factors."""

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
    Cost,
    Estimate,
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
from ...video.index import FrameIndex
from ...video.store import FrameStore
from .render import as_encoded, clip_frames, perturbed_frames
from .settings import PerturbedSettings
from .tables import CLEAN

BUDGET_S = 3.0  # CPU that perturbed stretches may take, by the table; there is always one
JOINED = 96  # frames of one source's stretches, joined to show what jumps between moments cost
JUMPS = ("box_jumble", 1)  # stands for what shows frames of other moments
FAR_CRF = 3  # steps of crf from the table's beyond which its factors between severities no longer hold

Levels = Sequence[float]
"""A value for each severity, 1 to 5."""


@dataclass(frozen=True)
class Factors:
    """What usual contents take under one perturbation, by pixel, at the table's crf and preset.

    Attributes:
        key: Bits in key frames, at the middle severity.
        later: Bits in other frames.
        perturb_ns: CPU of perturbing, nanoseconds.
        encode_ns: CPU of encoding.
        stretch: What the bits of a short stretch must be multiplied by.
        contents: How the bits follow those of the clean picture, as an exponent: 0 if they do not, 1 if they do.
    """

    key: float
    later: Levels
    perturb_ns: Levels
    encode_ns: Levels
    stretch: float = 1.0
    contents: float = 0.0


@dataclass(frozen=True)
class ProbedStretches:
    """What the stretches came to; bits and seconds of CPU of a pixel.

    Attributes:
        clean: As they are.
        keys: Share of key frames.
        perturbed: By perturbation and severity, with the seconds of perturbing.
        slowness: How many times as long as in the tables work takes here.
        jumps: How many times as much as in the table a jump to another moment takes beyond the next frame.
    """

    clean: Measured
    keys: float
    perturbed: Mapping[str, Mapping[int, tuple[Measured, float]]]
    slowness: float
    jumps: float = 1.0


@cache
def factors() -> dict[str, Factors]:
    """Read the measured factors of `costs.yaml`, by perturbation."""
    rows: dict[str, dict[str, Any]] = _table()["perturbations"]
    return {name: Factors(**row) for name, row in rows.items()}


@cache
def _table() -> dict[str, Any]:
    content: dict[str, Any] = yaml.safe_load((Path(__file__).parent / "costs.yaml").read_text("utf-8"))
    return content


def suite_footage(plan: Plan) -> list[Footage]:
    """List the clips of a plan, each once."""
    found = {}
    for unit in plan.units:
        for clip in unit.payload.get("clips", ()):
            span = None if clip["start_s"] is None else clip["end_s"] - clip["start_s"]
            footage = Footage(unit.source_id, partial(frames_in, span), partial(_find, clip))
            found[unit.split, unit.source_id, clip["clip_id"]] = footage
    return list(found.values())


def _find(clip: Mapping[str, Any], index: FrameIndex) -> range:
    return clip_frames(index, clip)


def estimate_suite(
    plan: Plan, settings: PerturbedSettings, sources: Mapping[str, Path], *, workers: int, probe: bool = True
) -> Estimate:
    """Estimate the videos of a suite.

    Size and time differ a hundredfold between perturbations, and with the contents. So short stretches of clips at
    equal distances are encoded clean, and some of them perturbed at one severity. Measured factors lead from there to
    the other severities, and from clean to the temporal perturbations, which show themselves in longer stretches only.

    Args:
        plan: The plan.
        settings: See `PerturbedSettings`.
        sources: Path of each source video that is there.
        workers: Processes.
        probe: Encode stretches; if not, contents are taken to be usual.
    """
    parts_of_videos = any(clip["start_s"] is not None for unit in plan.units for clip in unit.payload.get("clips", ()))
    looked = survey(suite_footage(plan), sources, "perturbed_parts" if parts_of_videos else "perturbed")
    encoding = EncodeSettings(settings.crf, settings.preset, settings.lossless)
    with opened(stretches(looked) if probe else []) as (found, decode_s):
        probed = probe_suite(found, settings, encoding) if found else None
        basis = looked.basis([stretch for stretch, _ in found])
    units = [unit for unit in plan.units if unit.source_id]
    ids = {unit.source_id for unit in units}
    clips, frames, pixels = len(looked.footage), looked.frames, looked.pixels
    # What passes a codec as a whole, and is decoded for each unit.
    whole = pixels if settings.clip_first else sum(s.area * s.num_frames for s in map(looked.shape, ids))
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
    return Estimate(
        parts,
        fixed(size, clips * len(parts), len(units), workers, decoded * decode_s, slowness),
        basis,
        seconds=looked.seconds * len(parts),
        spool=looked.spool * min(workers, len(units)),
    )


def probe_suite(
    found: Sequence[tuple[Stretch, FrameStore]], settings: PerturbedSettings, encoding: EncodeSettings
) -> ProbedStretches:
    """Encode stretches clean, and some of them under every perturbation whose effect a stretch shows."""
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
        factor = row.stretch * (whole.later / part.later) ** row.contents  # from the stretches perturbed to all
        perturbed[corruption.name] = {
            severity: (Measured(one.key, one.later * factor, one.encode_s), seconds)
            for severity, (one, seconds) in by_severity.items()
        }
    keys = float(np.mean([stretch.keys for stretch, _ in found]))
    return ProbedStretches(whole, keys, perturbed, spent / usually, jumps)


def jump_factor(
    found: Sequence[tuple[Stretch, FrameStore]], clean: Measured, encoding: EncodeSettings, file: Path
) -> float:
    """Join stretches of one source and let them jump; return `jumps` of `ProbedStretches`.

    Of many sources there is one stretch each; then the table stands, as contents even out.
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
    """Let OpenCV compute as it does in a worker."""
    cv2 = import_extra("cv2", what="perturbing")
    before = cv2.getNumThreads()
    cv2.setNumThreads(1)
    try:
        yield
    finally:
        cv2.setNumThreads(before)


def probed_severities(settings: PerturbedSettings) -> tuple[int, ...]:
    """Choose the severities to encode: the middle one, or three where the table's factors between them do not hold."""
    chosen = settings.severities
    middle = chosen[len(chosen) // 2]
    if settings.lossless or abs(settings.crf - costs()["crf"]) > FAR_CRF:
        return tuple(sorted({chosen[0], middle, chosen[-1]}))
    return (middle,)


def affordable(
    area: int, corruptions: Sequence[VisualCorruption], severities: Sequence[int], encoding: EncodeSettings
) -> int:
    """Describe of how many stretches every perturbation can be encoded within `BUDGET_S`; one at least."""
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
    """Perturb and encode stretches; give the means, and the seconds of perturbing a pixel."""
    measured, seconds = [], []
    for stretch, store in found:
        recipe = Recipe(corruption, severity, 0, stretch.index.path.name)
        if corruption.scope != "file":
            next(perturbed_frames(store, recipe, stretch.frames[:1], stretch.frames))  # what is done once is not timed
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
    """Return what a pixel takes under a perturbation (None: clean), and the seconds of perturbing it."""
    ordinary = usual(encoding)
    if corruption is None:
        return (probe.clean if probe else ordinary), 0.0
    row, clean = factors()[corruption.name], costs()["clean"]
    at = severity - 1
    slowness = probe.slowness if probe else 1.0
    perturb_s = row.perturb_ns[at] * 1e-9 * slowness
    if corruption.scope == "index":
        base = probe.clean if probe else ordinary
        later = _new_frames(corruption, severity) if encoding.lossless else row.later[at] / clean["later"]
        if probe and later > 1:
            later = 1 + (later - 1) * probe.jumps
        return Measured(base.key, base.later * later, base.encode_s * row.encode_ns[at] / clean["encode_ns"]), perturb_s
    if probe is None:
        strength = row.later[at] / row.later[2]
        if encoding.lossless:
            key = later = ordinary.later
        else:
            key, later = (bits * ordinary.later / clean["later"] for bits in (row.key * strength, row.later[at]))
        return Measured(key, later, row.encode_ns[at] * 1e-9 * costs()["presets"][encoding.preset]), perturb_s
    measured = probe.perturbed[corruption.name]
    later = _carry({s: one.later for s, (one, _) in measured.items()}, row.later, severity)
    encode_s = _carry({s: one.encode_s for s, (one, _) in measured.items()}, row.encode_ns, severity)
    nearest = measured[min(measured, key=lambda s: abs(s - severity))][0]
    if corruption.scope != "file":
        perturb_s = _carry({s: seconds for s, (_, seconds) in measured.items()}, row.perturb_ns, severity)
    return Measured(nearest.key * later / nearest.later, later, encode_s), perturb_s


def _carry(measured: Mapping[int, float], row: Levels, severity: int) -> float:
    """Lead from measured severities to another: what they differ from the table by is interpolated."""
    known = sorted(measured)
    apart = [np.log(max(measured[s], 1e-15) / row[s - 1]) for s in known]
    return float(row[severity - 1] * np.exp(np.interp(severity, known, apart)))


def _new_frames(corruption: VisualCorruption, severity: int) -> float:
    """Return the share of frames that a temporal perturbation does not merely hold."""
    shown = Recipe(corruption, severity, 0, "").index_map(1000)
    return float(np.mean(np.diff(shown) != 0))
