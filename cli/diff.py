"""`stressreel diff`: what differs between two outputs."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from os.path import commonprefix
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from ..runtime.diff import Change, Difference, Rows, TableDiff, Videos

KINDS = {  # of videos that were decoded; see video.likeness
    "pictures": "with a frame below 30 dB",
    "frames": "with another number of frames",
    "size": "of another size",
    "times": "with frames at other times",
    "undecodable": "that cannot be decoded",
}
LISTED = 4
SHOWN, CONTEXT = 60, 12  # characters of a value; of these before it differs


@click.command("diff")
@click.argument("a", type=click.Path(path_type=Path))
@click.argument("b", type=click.Path(path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="Print the differences as JSON.")
@click.option(
    "--decode/--no-decode", default=True, show_default=True, help="Decode videos whose bytes differ and compare frames."
)
@click.option(
    "--limit-videos",
    type=click.IntRange(min=1),
    help="Decode at most so many videos of a table, spread evenly. [default: all whose bytes differ]",
)
@click.option("--debug", is_flag=True, help="Show the traceback of an error.")
def command(a: Path, b: Path, as_json: bool, decode: bool, limit_videos: int | None, debug: bool) -> int:
    """Show what differs between two outputs of one benchmark, A and B.

    How they were built; columns, rows and splits; videos, by their hashes and then by their pictures. Exit code 0 if
    the content is the same, 1 if it differs.
    """
    from ..api import diff_of
    from ..records.objects import address
    from ..records.output import reading

    if limit_videos and not decode:
        raise click.UsageError("--limit-videos goes with decoding; leave out --no-decode.")
    names = (address(a) or str(a), address(b) or str(b))
    with reading(a) as first, reading(b) as second:
        found = diff_of(first, second, names=names, decode=decode, most_videos=limit_videos)
    if as_json:
        report = {"a": names[0], "b": names[1], "benchmark": first.info["builder"], **as_report(found)}
        click.echo(json.dumps(report, indent=2, ensure_ascii=False))
    else:
        click.echo("\n".join([sentence(found), *details(found)]))
    return 0 if found.same else 1


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
        yield from (f"  {change.what}: {_values(change)}" for change in found.build)
    for table in found.tables:
        if not table.same:
            yield f"\n{table.name}: {_rows(table.rows[0])} → {_rows(table.rows[1])} rows"
            yield from (f"  {line}" for line in _of_table(table))


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
        "summary": sentence(found),
        "fingerprints": dict(zip("ab", found.fingerprints, strict=True)),
        "build": [_change(change) for change in found.build],
        "tables": [_table(table) for table in found.tables],
    }


def _change(change: Change) -> dict[str, Any]:
    return {"what": change.what, "a": change.a, "b": change.b}


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
