"""Generate the rows of the table `left_out` from the plan and from what could not be rendered."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence

from ...core.checks import Compared, Finding
from ...core.left_out import LEFT_OUT, SPLIT, LeftOut, origin_of, rows_of
from ...core.output import FinishedOutput
from ...core.plan import Part, Plan, Skip, Unit
from ...core.schema import Row
from .links import Links
from .missing import first_of

LOSSES = Unit("left_out/", SPLIT, "", {}, tables=(LEFT_OUT.name,))  # no other id contains a slash
"""Pseudo unit that follows all others, to which the rows of `left_out` belong."""
REFERS = "refers_to_left_out"
VIDEO = "video"


def rows_of_losses(plan: Plan, skips: Sequence[Skip], links: Links) -> Iterator[tuple[str, Row]]:
    """Yield the rows as (config name, row). `links` must have filtered all other rows."""
    rendering = list(_skipped(plan, skips))
    origins = {record.name: record for record in rendering}
    for (table, _, name, source), count in sorted(links.left_out.items()):
        detail = f"rows of {table} that refer to {name}, which was left out"
        origin = origins.get(name)
        file, line = (origin.file, origin.line) if origin else ("", None)
        rendering.append(
            LeftOut("rendering", f"rows of {table}", name, REFERS, detail, source, file, line, count=count)
        )
    for row in rows_of((*plan.left_out, *rendering)):
        yield LEFT_OUT.name, row


def _skipped(plan: Plan, skips: Sequence[Skip]) -> Iterator[LeftOut]:
    """Yield every part that was skipped, and what no other unit shows: videos, and the shared items of units."""
    units = {skip.unit_id: skip for skip in skips if skip.scope == "unit"}
    parts = {skip.unit_id: skip for skip in skips if skip.scope == "part"}
    sources = {skip.source_id for skip in skips}
    noun = plan.part or plan.noun
    shown: dict[tuple[bool, str, str, Part], dict[str, Skip | None]] = defaultdict(dict)  # own parts, or shared
    for unit in plan.units:
        if unit.source_id not in sources:
            continue
        fates = {part: units.get(unit.id) or parts.get(part.name) for part in unit.items}
        skip = None if None in fates.values() else next(iter(fates.values()))
        for part, fate in fates.items():
            shown[True, noun, unit.source_id, part][unit.id] = fate
        for use in unit.uses:
            shown[False, plan.use, unit.source_id, use][unit.id] = skip
        if unit.source_id:
            shown[False, VIDEO, unit.source_id, Part(unit.source_id, unit.items[0].file)][unit.id] = skip
    names = {(source, part.name) for (own, _, source, part) in shown if own}
    for skip in parts.values():
        if (skip.source_id, skip.unit_id) not in names:
            yield _record(noun, skip.source_id, Part(skip.unit_id), skip)
    for (own, kind, source, part), results in shown.items():
        lost = {unit: skip for unit, skip in results.items() if skip}
        whole = len(lost) == len(results)
        if own:
            for skip in {skip.reason: skip for skip in reversed(lost.values())}.values():
                of = [unit for unit, other in lost.items() if other.reason == skip.reason]
                only = "" if whole else f" (only in {first_of(of)})"
                yield _record(kind, source, part, skip, only)
        elif whole and (source, part.name) not in names:
            yield _record(kind, source, part, next(iter(lost.values())))


def _record(kind: str, source: str, part: Part, skip: Skip, only: str = "") -> LeftOut:
    line, detail = origin_of(part.lines, skip.detail + only)
    return LeftOut("rendering", kind, part.name, skip.reason, detail, source, part.file, line)


def check_left_out(output: FinishedOutput) -> Iterator[Finding]:
    """Check that the rows of `left_out` agree with the counts and skips in `build.json`."""
    columns = ["kind", "name", "source_id", "stage", "reason", "count"]
    skips: set[tuple[str, str]] = set()
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
            skips.add((row["source_id"], row["reason"]))
    info = output.info["skips"]
    listed = {(skip["source_id"], skip["reason"]) for skip in info["list"]}
    for source, reason in sorted(skips ^ listed):
        where = "left_out" if (source, reason) in skips else "build.json"
        yield f"something of {source} ({reason}) was skipped only according to {where}"
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
