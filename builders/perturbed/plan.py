"""Plan MSRVTT-P and YouCook2-P, in which every clip has 18 visual perturbations at five severities.

Captions are perturbed as well. Source: Schiappa et al. 2022 (arXiv 2207.02159), section 3.1 and appendix A.1.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from ...annotations.captions import CaptionedClip
from ...core.build_settings import content
from ...core.errors import InputError
from ...core.files import sha256_text
from ...core.output_files import TEXT_SHIFT
from ...core.plan import Part, Plan, Unit
from ...corruptions.registry import visual_corruptions
from .captions import text_tables, text_units
from .combinations import MULTIMODAL, Pair
from .settings import PerturbedSettings
from .tables import CLEAN, suite_configs


def plan_perturbed(
    clips: Sequence[CaptionedClip],
    settings: PerturbedSettings,
    *,
    limit: int | None = None,
    identity: Mapping[str, Any] | None = None,
    notes: Mapping[str, Any] | None = None,
) -> Plan:
    """Plan a suite before any video is opened, for the first `limit` clips by id.

    If clips are entire videos, a unit is a video with all its clips and perturbations. Videos that are cut into clips
    may be long, so they have one unit per perturbation: an interruption loses less work, although the video is decoded
    once per unit. Captions have separate units, as they need no video. A combination belongs to its clip.

    `identity` holds further inputs that determine the content (dataset version, tool versions, hashes of inputs), and
    `notes` the counts from loading.

    Raises:
        InputError: The names of two videos lead to the same unit id.
    """
    chosen = sorted(clips, key=lambda clip: clip.id)[:limit]
    sources: dict[tuple[str, str], list[CaptionedClip]] = {}
    for clip in chosen:
        sources.setdefault((clip.split, clip.source_id), []).append(clip)
    units = list(text_units(chosen, settings.text_perturbations))
    splits_of = Counter(source for _, source in sources)
    combined = {Pair.read(pair).visual for pair in settings.pairs}
    for (split, source), members in sorted(sources.items()):
        rows = [
            {"clip_id": c.id, "captions": list(c.captions), "start_s": c.start_s, "end_s": c.end_s} for c in members
        ]
        names = [CLEAN, *settings.perturbations]
        whole = all(clip.start_s is None for clip in members)
        for group in [names] if whole else [[name] for name in names]:
            ending = f".{split}" if splits_of[source] > 1 else ""
            unit_id = (source if whole else f"{source}.{group[0]}") + ending
            base = "" if CLEAN in group else f"{source}.{CLEAN}{ending}"
            filled = (*group, *([MULTIMODAL] if combined & set(group) else []))
            cost = 0.0 if whole else _cost(rows, group[0], settings.severities)
            renders = len(rows) * sum(1 if name == CLEAN else len(settings.severities) for name in group)
            payload = {"clips": rows, "perturbations": group}
            parts = tuple(Part(clip.id, clip.file, clip.lines) for clip in members)
            units.append(Unit(unit_id, split, source, payload, cost, filled, renders, base, parts))
    for unit_id, times in Counter(unit.id for unit in units).items():
        if times > 1:
            raise InputError(
                f"two units would have the same id {unit_id!r}, because the name of one video is that of another "
                f"plus a perturbation or split. Rename the video {unit_id}."
            )
    tables = text_tables(settings.text_perturbations)
    if settings.perturbations:
        table = sha256_text(repr([visual_corruptions()[name] for name in settings.perturbations]))
        tables = {"visual.yaml": table, **tables}
    return Plan(
        builder="perturbed",
        identity={**(identity or {}), "settings": content(settings), "limit": limit, "tables": tables},
        units=tuple(sorted(units, key=lambda unit: unit.id)),
        configs=suite_configs(settings),
        noun="source video" if all(unit.id == unit.source_id for unit in units) else "unit",
        piece="render",
        part="clip",
        reports=(TEXT_SHIFT,),
        notes=dict(notes or {}),
    )


def _cost(clips: Sequence[Mapping[str, Any]], name: str, severities: Sequence[int]) -> float:
    """Estimate the relative cost of clips from their lengths, so that the longest units start first."""
    from ...video.estimate import costs
    from .estimate import factors

    seconds = sum(max(0.0, (clip["end_s"] or 0.0) - (clip["start_s"] or 0.0)) for clip in clips)
    if name == CLEAN:
        return seconds * float(costs()["clean"]["encode_ns"])
    row = factors()[name]
    spent = [row["perturb_ns"][severity - 1] + row["encode_ns"][severity - 1] for severity in severities]
    return seconds * float(sum(spent))
