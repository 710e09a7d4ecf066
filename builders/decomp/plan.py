"""The plan of a build of question graphs: a unit for each video."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from ...core.options import content
from ...core.plan import Plan, Unit, noted
from ...templates import table_hashes
from .settings import DecompSettings
from .tables import decomp_configs

TABLES = ("agqa", "agqa_drawn", "agqa_frames", "agqa_ids", "agqa_making")

LEFT_OUT = {
    "intervals_of_classes_left_out": "",
    "videos_without_actions": "",
    "questions_held_out": "",
    "questions_no_partner": "more videos",
    "questions_thinned": "more videos",
    "questions_over_most_per_video": "--max-questions-per-video",
    "videos_without_questions": "",
}
"""What rules leave out, and what changes it."""


def plan_decomp(
    units: Iterable[Unit],
    settings: DecompSettings,
    *,
    limit: int | None,
    identity: Mapping[str, Any],
    notes: Mapping[str, int],
) -> Plan:
    """Plan a build.

    Args:
        units: Of every video that is asked about.
        settings: See `DecompSettings`.
        limit: Plan only the first so many videos by id.
        identity: What else decides the content: dataset version, tool versions, hashes of inputs, the source.
        notes: Counts from reading and making.
    """
    ordered = tuple(sorted(units, key=lambda unit: unit.id))
    return Plan(
        builder="decomp",
        identity={**identity, "settings": content(settings), "limit": limit, "tables": table_hashes(*TABLES)},
        units=ordered[:limit],
        configs=decomp_configs(settings),
        noun="video",
        advice="Check the inputs and --split.",
        notes=dict(sorted(notes.items())),
        remedies=LEFT_OUT,
    )


def unit_of(video_id: str, split: str, payload: Mapping[str, Any], settings: DecompSettings, cost: float) -> Unit:
    """Return the unit of a video; it has a source video only if that is to be embedded."""
    source = video_id if settings.embed == "yes" else ""
    return Unit(video_id, split, source, dict(payload), cost)


def described(plan: Plan, count: Callable[[Unit], Counter[str]]) -> str:
    """Write what a build would do: videos, questions, sub-questions by template.

    Args:
        plan: The plan.
        count: Counts the sub-questions of each template, as "<template>", and its roots, as "<template> roots".
    """
    lines = ["Plan (nothing was written):"]
    totals = Counter[str]()
    width = max(map(len, [*plan.splits, "all"])) + 1
    for split in plan.splits:
        units = [unit for unit in plan.units if unit.split == split]
        found = sum((count(unit) for unit in units), Counter[str]())
        totals += found
        roots = sum(number for name, number in found.items() if name.endswith(" roots"))
        lines.append(f"  {split:<{width}}{len(units):>7,} videos, {roots:,} questions")
    lines += _by_template(totals)
    lines += [f"  {line}" for line in noted(plan)]
    return "\n".join(lines)


def _by_template(totals: Mapping[str, int]) -> Sequence[str]:
    templates = sorted(name.removesuffix(" roots") for name in totals if name.endswith(" roots"))
    lines = ["  sub-questions for each question (the paper has 11.49):"]
    for template in templates:
        roots = totals[f"{template} roots"]
        lines.append(f"    {template:<26}{roots:>10,}  {totals.get(template, 0) / roots:6.2f}")
    roots = sum(totals[f"{template} roots"] for template in templates)
    mean = sum(totals.get(template, 0) for template in templates) / max(1, roots)
    return [*lines, f"    {'all':<26}{roots:>10,}  {mean:6.2f}"]
