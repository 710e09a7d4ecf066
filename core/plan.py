"""Describe the work of a build as a plan of independent units, the interface that renders them, and what is left out.

The table `left_out` names everything that a dataset lacks although its annotations contain it. Its reasons are codes.
Those of reading and selection are the names of counts in the notes of `build.json`, and those of rendering are reasons
of skips, so that rows and counts can be compared.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, Protocol

from .files import canonical_json, sha256_text
from .schema import Column, Config, Row

Facts = dict[str, Any]


class Unseen:
    """Placeholder for facts that are unknown until a unit is rendered, such as hashes. Any key returns it again."""

    def __getitem__(self, key: object) -> Unseen:
        return self


UNSEEN = Unseen()
UNTIMED = "videos_without_times"  # the note in `build.json` that lists them


@dataclass(frozen=True)
class Part:
    """Something in the annotations that a unit shows, named in the table `left_out` if the unit is skipped.

    Attributes:
        name: Its id or text.
        file: Name of the annotation file; empty if unknown.
        lines: Its lines in the file; empty if the format has none.
    """

    name: str
    file: str = ""
    lines: tuple[int, ...] = ()


@dataclass(frozen=True)
class Unit:
    """The smallest piece of work. Its rows and pixels do not depend on when and where it is rendered.

    Attributes:
        id: Unique id, usable as a folder name.
        source_id: Id of the source video; empty if none is needed.
        payload: All inputs that determine the result, as JSON values.
        cost: Estimated amount of work in arbitrary units; expensive units start first.
        tables: The configs that may receive rows; empty for all.
        pieces: Number of videos or texts produced, for progress.
        base: Id of the unit with which this one's rows are compared, if any; see `Builder.rows`.
        parts: The parts that can be skipped separately, such as clips; by default, the unit itself.
        uses: What the unit shares with others, such as phrases; left out if all of them are skipped.
    """

    id: str
    split: str
    source_id: str
    payload: dict[str, Any]
    cost: float = 0.0
    tables: tuple[str, ...] = ()
    pieces: int = 1
    base: str = ""
    parts: tuple[Part, ...] = ()
    uses: tuple[Part, ...] = ()

    @property
    def items(self) -> tuple[Part, ...]:
        """The parts, or the unit itself if it has none."""
        return self.parts or (Part(self.id),)


@dataclass(frozen=True)
class Skip:
    """A unit of the plan, or a part of one, that was skipped.

    Attributes:
        unit_id: Id of the unit or, if `scope` is "part", name of the part.
        reason: Code such as missing_video, unreadable_video, undecodable or too_short. Whether videos are missing or
            unreadable is determined before rendering; for those in object storage (unreadable_object), when copied.
        detail: One sentence that includes the decoder's message, if any.
    """

    unit_id: str
    source_id: str
    reason: str
    detail: str
    scope: Literal["unit", "part"] = "unit"

    @property
    def allowed(self) -> bool:
        """Whether --allow-missing tolerates the skip."""
        return self.reason in ("missing_video", "unreadable_video", "unreadable_object")


def skipped_units(skips: Iterable[Skip]) -> set[str]:
    """Return the ids of the units that were skipped as a whole."""
    return {skip.unit_id for skip in skips if skip.scope == "unit"}


@dataclass(frozen=True)
class Plan:
    """All work of a build, determined before any video is opened.

    Attributes:
        identity: All inputs that determine the content, as nested JSON: settings, seed, versions, input hashes.
        units: The units, sorted by id.
        noun: Noun for a unit in messages.
        piece: Noun for the items counted by progress (`pieces` per unit); by default `noun`.
        part: Noun for the parts of units that can be skipped separately; by default `noun`.
        use: Noun for what several units may show; see `Unit.uses`.
        advice: What to do if there are no units.
        reports: Files that other commands add to the output. They are removed together with it.
        notes: Counts from loading and selection (clamped ends, unusable sentences, …).
        remedies: For each count of omitted items in `notes`, the option that includes them, or "".
        names: File names of source videos, by source id, if the annotations give them in full.
        left_out: What the annotations contain and the plan lacks, except items that `--split` or `--limit` exclude.
    """

    builder: str
    identity: dict[str, Any]
    units: tuple[Unit, ...]
    configs: tuple[Config, ...]
    noun: str = "unit"
    piece: str = ""
    part: str = ""
    use: str = ""
    advice: str = "Check the inputs and --split."
    reports: tuple[str, ...] = ()
    notes: dict[str, Any] = field(default_factory=dict)
    remedies: Mapping[str, str] = field(default_factory=dict)
    names: Mapping[str, str] = field(default_factory=dict)
    left_out: tuple[LeftOut, ...] = ()

    @property
    def tables(self) -> tuple[Config, ...]:
        """All tables that the output may have, including that of what was left out."""
        return (*self.configs, LEFT_OUT)

    @property
    def sources(self) -> dict[str, str]:
        """Names of the source videos by id: file names where the annotations give them in full, otherwise the ids."""
        return {unit.source_id: self.names.get(unit.source_id, unit.source_id) for unit in self.units if unit.source_id}

    @cached_property
    def hash(self) -> str:
        """SHA-256 of the identity, all units and what was left out."""
        units = [[unit.id, unit.split, unit.source_id, unit.payload] for unit in self.units]
        left_out = [[*vars(record).values()] for record in self.left_out]
        return sha256_text(canonical_json([self.builder, self.identity, units, left_out]))

    @property
    def splits(self) -> tuple[str, ...]:
        """Names of the splits: train, validation and test first, then others in alphabetical order."""
        order = ("train", "validation", "test")
        names = sorted({unit.split for unit in self.units})
        return tuple(sorted(names, key=lambda split: order.index(split) if split in order else len(order)))


def noted(plan: Plan) -> list[str]:
    """Format the counts in a plan's notes as lines. Counts of omitted items name the option that includes them.

    They are followed by counts of what stands in the table `left_out`, by stage and reason, unless the notes have them.
    """
    counts = {name: count for name, count in plan.notes.items() if isinstance(count, int) and count}
    lines = [f"{name.replace('_', ' ')}: {count:,}" + _remedy(plan, name) for name, count in counts.items()]
    for (stage, kind, reason), count in summary(map(vars, plan.left_out)).items():
        if reason not in counts:
            lines.append(f"left out in {stage}, {kind}, {in_words(reason)}: {count:,}" + _remedy(plan, reason))
    return lines


def _remedy(plan: Plan, name: str) -> str:
    return f" ({plan.remedies[name]})" if plan.remedies.get(name) else ""


def nothing_qualifies(plan: Plan) -> str:
    """Return an error message for a plan without units, which lists the options that include more items."""
    left_out = [line for line in noted(plan) if line.partition(":")[0].replace(" ", "_") in plan.remedies]
    read = [line for line in noted(plan) if line not in left_out]
    parts = [f"nothing in the annotations qualifies, so there is nothing to build. {plan.advice}"]
    parts += ["Read:", *(f"  {line}" for line in read)] if read else []
    parts += ["Left out:", *(f"  {line}" for line in left_out)] if left_out else []
    return "\n".join(parts)


class Builder(Protocol):
    """Interface between the runtime and a benchmark. Instances are pickled for the workers."""

    def renders(self, unit: Unit) -> bool:
        """Return whether a unit needs `render`; otherwise its facts are empty and no video is opened."""

    def render(self, unit: Unit, folder: Path) -> Facts:
        """Render a unit's files into an empty folder.

        Returns:
            The facts: JSON values required by `rows`. "files" contains the size in bytes of every file in `folder`,
                "skips" the skipped parts of the unit, as dictionaries of `Skip`, and "untimed" is true if the source
                video stores no times.

        Raises:
            VideoError: The source is unusable; the unit becomes a Skip.
        """

    def rows(self, unit: Unit, facts: Facts) -> Iterator[tuple[str, Row]]:
        """Yield rows as (config name, row). A video column contains the file name in the unit's folder.

        If the unit has a base that was rendered, "base" contains the base's facts.
        """

    def look(self, unit: Unit) -> Facts:
        """Return the facts of `render` without writing files. Sizes and hashes of files are `UNSEEN`.

        Raises:
            VideoError: As for `render`, if detectable without decoding.
        """

    def part(self, unit: Unit, file: str) -> tuple[Builder, Unit]:
        """Return a builder and a unit that reproduce one file byte for byte, with few other files."""

    def missing(self, unit: Unit) -> Skip | None:
        """Return a Skip if the unit's source is missing or cannot be opened, without decoding it."""

    def stamp(self, unit: Unit) -> str:
        """Return a text that changes when the source file is replaced, so that a resumed build notices."""


def changed(before: Mapping[str, Any], after: Mapping[str, Any], prefix: str = "") -> list[str]:
    """Return the differences between two identities as lines of the form "name: old → new"."""
    lines = []
    for name in sorted({*before, *after}):
        old, new = (list(value) if isinstance(value, tuple) else value for value in (before.get(name), after.get(name)))
        if isinstance(old, dict) and isinstance(new, dict):
            lines += changed(old, new, f"{prefix}{name}.")
        elif canonical_json(old) != canonical_json(new):  # 1, 1.0 and true are equal in Python
            lines.append(f"{prefix}{name}: {_short(old)} → {_short(new)}")
    return lines


def _short(value: Any) -> str:
    text = "absent" if value is None else str(value)
    return text[:16] + "…" if len(text) > 60 else text


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
        yield {"id": sha256_text(key)[:16], **vars(record)}


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
    combined = []
    for members in groups.values():
        first, count = members[0], sum(record.count for record in members)
        if len(members) > 1:
            detail = f"{first.detail} (counted by video, as the dataset leaves out {len(records):,} items)"
            first = replace(first, name=first.source_id or first.file, line=None, detail=detail, count=count)
        combined.append(first)
    return tuple(combined)


def _place(record: LeftOut) -> tuple[object, ...]:
    numbers = (record.line or 0, record.count)
    return STAGES.index(record.stage), record.source_id, record.file, record.kind, record.reason, record.name, *numbers


def summary(rows: Iterable[Mapping[str, object]]) -> Counter[tuple[str, str, str]]:
    """Count items by stage, kind and reason, in the order of the stages and then of the rows."""
    counts: Counter[tuple[str, str, str]] = Counter()
    for row in rows:
        counts[str(row["stage"]), str(row["kind"]), str(row["reason"])] += int(str(row["count"]))
    order = {stage: index for index, stage in enumerate(STAGES)}
    return Counter(dict(sorted(counts.items(), key=lambda item: order.get(item[0][0], len(STAGES)))))


def in_words(reason: str) -> str:
    """Return a reason without a description of its own as words."""
    return reason.replace("_left_out_", " left out: ").replace("_", " ")


@dataclass(frozen=True)
class PartEstimate:
    """The estimated cost of a table and severity."""

    table: str
    severity: int
    size_bytes: int
    cpu_seconds: float


@dataclass(frozen=True)
class BuildEstimate:
    """The estimated cost of a build.

    Attributes:
        size_bytes: Size of the output.
        peak_disk_bytes: Maximum disk usage: the output, the shard that is being written, and temporary files.
        cpu_seconds: CPU time of perturbing and encoding on the machine where the cost tables were measured.
        basis: Description for users of how the estimate was made.
        parts: Costs by table and severity.
    """

    size_bytes: int
    peak_disk_bytes: int
    cpu_seconds: float
    basis: str
    parts: tuple[PartEstimate, ...]
