"""Name everything that a dataset lacks although its annotations contain it: the table `left_out`.

Reasons are codes. Those of reading and selection are the names of counts in the notes of `build.json`, and those of
rendering are reasons of skips, so that rows and counts can be compared.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from .files import canonical_json
from .schema import Column, Config, Row

STAGES = ("reading", "selection", "rendering")
MOST_ROWS = 100_000
SHOWN_LINES = 10

LEFT_OUT = Config(
    "left_out",
    "what was left out, by name, with the reason",
    (
        Column("id", "string", "hash of the other columns"),
        Column("kind", "string", "what was left out: phrase, video, pairs, clip, …"),
        Column("name", "string", "its text or id"),
        Column("source_id", "string", "the source video; empty if there is none"),
        Column("file", "string", "the annotation file; empty if it is not known"),
        Column("line", "int32", "line in the file; null where the format has none, or for several items"),
        Column("stage", "string", "`reading` of the annotations, `selection` or `rendering`"),
        Column("reason", "string", "the reason, as a code"),
        Column("detail", "string", "the reason, in one sentence"),
        Column("count", "int64", "number of items; more than 1 for items that are counted by video and reason"),
    ),
    unsplit=True,
)
SPLIT = LEFT_OUT.name  # `datasets` reserves "all", and no dataset has a split of this name


@dataclass(frozen=True)
class LeftOut:
    """Something that the annotations contain and the dataset lacks.

    Attributes:
        stage: "reading", "selection" or "rendering".
        kind: Singular noun, such as "phrase", or a plural, such as "pairs", if items are only counted.
        name: Its text or id.
        line: Line in `file`, if the format has lines.
        reason: Name of a count in the notes, or reason of a skip.
        detail: The reason in one sentence, without a full stop.
        count: Number of items.
    """

    stage: str
    kind: str
    name: str
    reason: str
    detail: str
    source_id: str = ""
    file: str = ""
    line: int | None = None
    count: int = 1


def origin_of(lines: Sequence[int], detail: str) -> tuple[int | None, str]:
    """Return the line of an item in its file, or None if it has several, which are then appended to its detail."""
    if len(lines) < 2:
        return next(iter(lines), None), detail
    listed = ", ".join(map(str, lines[:SHOWN_LINES])) + ", …" * (len(lines) > SHOWN_LINES)
    return None, f"{detail} (lines {listed})"


def rows_of(records: Iterable[LeftOut]) -> Iterator[Row]:
    """Yield the rows of the table. Equal records have different ids, which depend on their order."""
    times: Counter[LeftOut] = Counter()
    for record in records:
        key = canonical_json([*vars(record).values(), times[record]])
        times[record] += 1
        yield {"id": hashlib.sha256(key.encode()).hexdigest()[:16], **vars(record)}


def counts_of(records: Iterable[LeftOut]) -> Counter[str]:
    """Count items by reason."""
    counts: Counter[str] = Counter()
    for record in records:
        counts[record.reason] += record.count
    return counts


def bounded(records: Sequence[LeftOut], most: int = MOST_ROWS) -> tuple[LeftOut, ...]:
    """Sort records, so that they do not depend on the order of the annotations.

    If there are more than `most`, they are combined by video and reason, and their details say so.
    """
    records = sorted(records, key=_place)
    if len(records) <= most:
        return tuple(records)
    groups: dict[tuple[str, ...], list[LeftOut]] = {}
    for record in records:
        groups.setdefault((record.stage, record.kind, record.reason, record.source_id, record.file), []).append(record)
    found = []
    for members in groups.values():
        first, count = members[0], sum(record.count for record in members)
        if len(members) > 1:
            detail = f"{first.detail} (counted by video, as the dataset leaves out {len(records):,} items)"
            first = replace(first, name=first.source_id or first.file, line=None, detail=detail, count=count)
        found.append(first)
    return tuple(found)


def _place(record: LeftOut) -> tuple[object, ...]:
    numbers = (record.line or 0, record.count)
    return STAGES.index(record.stage), record.source_id, record.file, record.kind, record.reason, record.name, *numbers


def summary(rows: Iterable[Mapping[str, object]]) -> Counter[tuple[str, str, str]]:
    """Count items by stage, kind and reason, in the order of the stages and then of the rows."""
    counts: Counter[tuple[str, str, str]] = Counter()
    for row in rows:
        counts[str(row["stage"]), str(row["kind"]), str(row["reason"])] += int(str(row["count"]))
    order = {stage: place for place, stage in enumerate(STAGES)}
    return Counter(dict(sorted(counts.items(), key=lambda item: order.get(item[0][0], len(STAGES)))))


def in_words(reason: str) -> str:
    """Return a reason without a description of its own as words."""
    return reason.replace("_left_out_", " left out: ").replace("_", " ")
