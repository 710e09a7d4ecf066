"""What a comparison of two outputs found, and how it is told."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from os.path import commonprefix
from typing import Any

from ...core.errors import LONGEST, legible
from ...core.results import Result, Table

KINDS = {  # of videos that were decoded; see video.likeness
    "pictures": "with a frame below 30 dB",
    "frames": "with another number of frames",
    "size": "of another size",
    "times": "with frames at other times",
    "undecodable": "that cannot be decoded",
}
LISTED = 4
SHOWN, CONTEXT = 60, 12  # characters of a value; of these before it differs
LINES = 200  # that list what differs in a part


@dataclass(frozen=True)
class Change:
    """Something that is one thing in A and another in B; None where it is not there.

    Attributes:
        what: An entry of `build.json` as a path with dots, or a column of a table.
        a: What it is in A.
        b: What it is in B.
        count: In how many rows it differs; 0 if it is no column of changed rows.
        key: The first of these rows, whose values `a` and `b` are.
    """

    what: str
    a: Any
    b: Any
    count: int = 0
    key: str = ""


@dataclass(frozen=True)
class Rows:
    """Rows of a table.

    Attributes:
        count: How many.
        examples: The keys of the first ones.
    """

    count: int = 0
    examples: tuple[str, ...] = ()


@dataclass(frozen=True)
class Move:
    """Rows that are in one split in A and in another in B."""

    before: str
    after: str
    rows: Rows


@dataclass(frozen=True)
class Videos:
    """Videos in both outputs whose SHA-256 differs.

    Attributes:
        changed: How many.
        kinds: Those that were decoded, by what was found; see `Likeness`.
        worst_db: The lowest PSNR of a frame among those alike; None if there are none.
        other_sound: How many of those decoded have another sound.
        examples: The first that are not alike: key and what differs.
    """

    changed: int
    kinds: Mapping[str, int] = field(default_factory=dict)
    worst_db: float | None = None
    other_sound: int = 0
    examples: tuple[tuple[str, str], ...] = ()

    @property
    def compared(self) -> int:
        """How many were decoded."""
        return sum(self.kinds.values())


@dataclass(frozen=True)
class TableDiff:
    """What differs in a table.

    Attributes:
        name: Its name.
        rows: Its rows in A and in B; None where there is no such table.
        same: Whether it has the same rows in the same order.
        schema: Columns that are new, gone or of another type.
        new: Rows that A does not have.
        gone: Rows that B does not have.
        changed: Rows of both with other values in a column of both.
        columns: In which columns, with an example each.
        moved: Rows that changed their split.
        videos: Videos that changed; None if the table has none.
        unmatched: Why rows could not be compared; empty if they were.
    """

    name: str
    rows: tuple[int | None, int | None]
    same: bool = False
    schema: tuple[Change, ...] = ()
    new: Rows = Rows()
    gone: Rows = Rows()
    changed: Rows = Rows()
    columns: tuple[Change, ...] = ()
    moved: tuple[Move, ...] = ()
    videos: Videos | None = None
    unmatched: str = ""

    @property
    def reordered(self) -> bool:
        """Whether nothing but the order of rows, or their division into units, differs."""
        found = (self.schema, self.new.count, self.gone.count, self.changed.count, self.moved, self.unmatched)
        return not self.same and None not in self.rows and not any(found)

    @property
    def only_videos(self) -> bool:
        """Whether nothing but the bytes of videos differs."""
        others = (self.schema, self.new.count, self.gone.count, self.moved, self.unmatched)
        return (
            bool(self.videos and self.videos.changed)
            and not any(others)
            and {c.what for c in self.columns} == {"sha256"}
        )


@dataclass(frozen=True)
class Difference(Result):
    """What differs between outputs A and B.

    Attributes:
        names: What A and B are called.
        benchmark: What they are of.
        same: Whether they have the same content: the same rows in the same order, and so the same videos.
        fingerprints: Those of A and B.
        build: What differs in `build.json`: settings, tools, inputs, command, version, skips, notes.
        tables: Every table of A or B; none are looked at if the content is the same.
    """

    names: tuple[str, str]
    benchmark: str
    same: bool
    fingerprints: tuple[str, str]
    build: tuple[Change, ...]
    tables: tuple[TableDiff, ...] = ()

    @property
    def failed(self) -> bool:  # type: ignore[override]
        """Whether the content differs."""
        return not self.same

    def __str__(self) -> str:
        """Sum the differences up, and list them."""
        return "\n".join(map(legible, [sentence(self), *details(self)]))

    def as_tables(self) -> tuple[Table, ...]:
        """Return a row for every table: how many of its rows are new, gone and changed."""
        rows = tuple(
            (each.name, *each.rows, each.new.count, each.gone.count, each.changed.count) for each in self.tables
        )
        return (Table("tables", sentence(self), ("table", "rows of A", "rows of B", "new", "gone", "changed"), rows),)

    def as_json(self) -> dict[str, Any]:
        """Return the differences for machines."""
        return {"a": self.names[0], "b": self.names[1], "benchmark": self.benchmark, **as_report(self)}


def sentence(found: Difference) -> str:
    """Sum the differences up for a reader: "8 videos re-encoded, pictures alike, worst 41.2 dB; questions the same"."""
    if found.same:
        return f"The same content: fingerprint {found.fingerprints[0][:16]} in both."
    videos = _videos_in_words([table.videos for table in found.tables if table.videos])
    parts = [_table_in_words(table) for table in found.tables if not table.same and not table.only_videos]
    same = [table.name for table in found.tables if table.same]
    if len(same) > LISTED:
        parts.append(f"{len(same)} tables the same")
    elif same:
        parts.append(f"{_listed(same)} the same")
    return "; ".join(filter(None, [videos, *parts])) + "."


def _videos_in_words(videos: Sequence[Videos]) -> str:
    """Describe the videos of all tables together; empty if none changed."""
    changed, compared = sum(each.changed for each in videos), sum(each.compared for each in videos)
    if not changed:
        return ""
    if not compared:
        return f"{_many(changed, 'video')} with other bytes, not decoded"
    counts = {kind: sum(each.kinds.get(kind, 0) for each in videos) for kind in ("alike", *KINDS)}
    worst = f"worst {min((v.worst_db for v in videos if v.worst_db is not None), default=0.0):.1f} dB"
    some = f" ({compared:,} decoded)" if compared < changed else ""
    sounds = sum(each.other_sound for each in videos)
    sound = [f"{sounds:,} with other sound"] if sounds else []
    if counts["alike"] == compared:
        return ", ".join([f"{_many(changed, 'video')} re-encoded{some}, pictures alike, {worst}", *sound])
    found = [f"{count:,} {KINDS[kind]}" for kind, count in counts.items() if count and kind in KINDS]
    alike = [f"{counts['alike']:,} with pictures alike ({worst})"] if counts["alike"] else []
    return f"{_many(changed, 'video')} with other bytes{some}: {', '.join([*found, *alike, *sound])}"


def _table_in_words(table: TableDiff) -> str:
    if None in table.rows:
        return f"{table.name} only in {'A' if table.rows[1] is None else 'B'}"
    if table.unmatched:
        return f"{table.name} not compared"
    parts = [f"{table.new.count:,} new"] * bool(table.new.count) + [f"{table.gone.count:,} gone"] * bool(
        table.gone.count
    )
    if table.changed.count:
        told = "sha256" if table.videos else ""  # by what is said of the videos
        columns = [change.what for change in table.columns if change.what != told]
        parts += [f"{table.changed.count:,} changed ({_listed(columns)})"] if columns else []
    parts += [f"{move.rows.count:,} moved from {move.before} to {move.after}" for move in table.moved]
    if table.schema:
        parts.append(f"other columns ({_listed([change.what for change in table.schema])})")
    if table.reordered:
        parts.append("the same rows in another order")
    return f"{table.name}: {', '.join(parts)}"


def _listed(names: Sequence[str]) -> str:
    shown = [*names] if len(names) <= LISTED else [*names[: LISTED - 1], f"{len(names) - LISTED + 1} more"]
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"


def _many(count: int, noun: str) -> str:
    return f"{count:,} {noun}" + ("" if count == 1 else "s")


def details(found: Difference) -> Iterator[str]:
    """Write what differs, a line each, under the parts that it is in."""
    if found.build:
        yield "\nbuild.json"
        yield from _first(f"  {change.what}: {_values(change)}" for change in found.build)
    for table in found.tables:
        if not table.same:
            yield f"\n{table.name}: {_rows(table.rows[0])} → {_rows(table.rows[1])} rows"
            yield from _first(f"  {line}" for line in _of_table(table))


def _first(lines: Iterator[str]) -> Iterator[str]:
    yield from islice(lines, LINES)
    if more := sum(1 for _ in lines):
        yield f"  {more:,} more, which --json lists"


def _rows(count: int | None) -> str:
    return "no table" if count is None else f"{count:,}"


def _of_table(table: TableDiff) -> Iterator[str]:
    if table.unmatched:
        yield f"rows were not compared: {table.unmatched}"
    yield from (f"column {each.what}: {_type(each.a)} → {_type(each.b)}" for each in table.schema)
    for name, rows in (("new", table.new), ("gone", table.gone), ("changed", table.changed)):
        if rows.count:
            yield f"{name}: {_examples(rows)}"
    for change in table.columns:
        yield f"  {change.what} in {change.count:,}, as in {change.key}: {_values(change)}"
    for move in table.moved:
        yield f"moved from {move.before} to {move.after}: {_examples(move.rows)}"
    if table.reordered:
        yield "the same rows, in another order or by other units"
    if table.videos and table.videos.changed:
        yield _videos_in_words([table.videos])
        yield from (f"  {key}: {what}" for key, what in table.videos.examples)


def _type(kind: Any) -> str:
    return "not there" if kind is None else str(kind)


def _examples(rows: Rows) -> str:
    more = ", …" if rows.count > len(rows.examples) else ""
    return f"{rows.count:,} ({', '.join(rows.examples)}{more})"


def _values(change: Change) -> str:
    """Write two values as JSON, of long ones the part from a little before where they part."""
    texts = ["nothing" if value is None else json.dumps(value, ensure_ascii=False) for value in (change.a, change.b)]
    common = len(commonprefix(texts))  # noqa: RUF071 - of characters is meant
    start = max(common - CONTEXT, 0) if max(map(len, texts)) > SHOWN else 0
    return " → ".join(("…" if start else "") + _shortened(text[start:]) for text in texts)


def _shortened(text: str) -> str:
    return text if len(text) <= SHOWN else text[: SHOWN - 1] + "…"


def as_report(found: Difference) -> dict[str, Any]:
    """Return the differences for machines."""
    return {
        "same": found.same,
        "summary": legible(sentence(found)),
        "fingerprints": dict(zip("ab", found.fingerprints, strict=True)),
        "build": [_change(change) for change in found.build],
        "tables": [_table(table) for table in found.tables],
    }


def _change(change: Change) -> dict[str, Any]:
    return {"what": legible(change.what), "a": _bounded(change.a), "b": _bounded(change.b)}


def _bounded(value: Any) -> Any:
    """Return a value, or of one that fills pages the beginning of its JSON."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return value if len(text) <= LONGEST else text[:LONGEST] + "…"


def _counted(rows: Rows) -> dict[str, Any]:
    return {"count": rows.count, "examples": list(rows.examples)}


def _table(table: TableDiff) -> dict[str, Any]:
    videos = table.videos
    return {
        "name": table.name,
        "rows": dict(zip("ab", table.rows, strict=True)),
        "same": table.same,
        "reordered": table.reordered,
        "not_compared": table.unmatched,
        "schema": [_change(change) for change in table.schema],
        "new": _counted(table.new),
        "gone": _counted(table.gone),
        "changed": _counted(table.changed),
        "columns": [{**_change(change), "count": change.count, "key": change.key} for change in table.columns],
        "moved": [{"from": move.before, "to": move.after, **_counted(move.rows)} for move in table.moved],
        "videos": videos
        and {
            "changed": videos.changed,
            "decoded": videos.compared,
            "kinds": dict(videos.kinds),
            "worst_db": videos.worst_db and round(videos.worst_db, 2),
            "other_sound": videos.other_sound,
            "examples": [{"key": key, "what": what} for key, what in videos.examples],
        },
    }
