"""Generate the rows of the table `left_out` from the plan and from what could not be rendered."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from ...core.checks import Compared, Finding
from ...core.left_out import LEFT_OUT, SPLIT, LeftOut, rows_of
from ...core.output import FinishedOutput
from ...core.plan import Plan, Skip, Unit
from ...core.schema import Row
from .links import Links

LOSSES = Unit("left_out/", SPLIT, "", {}, tables=(LEFT_OUT.name,))  # no other id contains a slash
"""Pseudo unit that follows all others, to which the rows of `left_out` belong."""
REFERS = "refers_to_left_out"


def rows_of_losses(plan: Plan, skips: Sequence[Skip], links: Links) -> Iterator[tuple[str, Row]]:
    """Yield the rows as (config name, row). `links` must have filtered all other rows."""
    units = {unit.id for unit in plan.units}
    rendering = [
        LeftOut(
            "rendering",
            plan.noun if skip.unit_id in units else plan.part or plan.noun,
            skip.unit_id,
            skip.reason,
            skip.detail,
            skip.source_id,
        )
        for skip in skips
    ]
    for (table, _, name, source), count in sorted(links.left_out.items()):
        detail = f"rows of {table} that refer to {name}, which was left out"
        rendering.append(LeftOut("rendering", f"rows of {table}", name, REFERS, detail, source, count=count))
    for row in rows_of((*plan.left_out, *rendering)):
        yield LEFT_OUT.name, row


def check_left_out(output: FinishedOutput) -> Iterator[Finding]:
    """Check that the rows of `left_out` agree with the counts and skips in `build.json`."""
    columns = ["kind", "name", "stage", "reason", "count"]
    skips: Counter[tuple[str, str]] = Counter()
    referring: Counter[str] = Counter()
    counts: Counter[str] = Counter()
    number = 0
    for row in output.rows(LEFT_OUT.name, columns) if LEFT_OUT.name in output.info["counts"] else ():
        number += 1
        if row["stage"] != "rendering":
            counts[row["reason"]] += row["count"]
        elif row["reason"] == REFERS:
            referring[row["kind"]] += row["count"]
        else:
            skips[row["name"], row["reason"]] += 1
    info = output.info["skips"]
    listed = Counter((skip["unit_id"], skip["reason"]) for skip in info["list"])
    for name, reason in sorted((skips - listed) + (listed - skips)):
        where = "left_out" if listed[name, reason] < skips[name, reason] else "build.json"
        yield f"{name} ({reason}) was skipped only according to {where}"
    refer: Mapping[str, Mapping[str, int]] = info.get("rows_that_refer_to_them", {})
    stated = {f"rows of {table}": sum(splits.values()) for table, splits in refer.items()}
    for kind in sorted({*stated, *referring}):
        if stated.get(kind, 0) != referring[kind]:
            yield f"{kind} that refer to skipped ones: {referring[kind]}, but {stated.get(kind, 0)} in build.json"
    notes = output.info["notes"]
    for reason, count in counts.items():
        if isinstance(notes.get(reason), int) and notes[reason] != count:
            yield f"{reason}: {count}, but {notes[reason]} in build.json"
    yield Compared(f"{number:,} rows of what was left out")
