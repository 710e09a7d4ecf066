"""Forgeries as data: kinds of change, each of which a verification with the sources must notice.

A kind says where in an output it can be tried and what it changes there; `forger` recomputes all that follows. As a
script it prints which kinds are noticed: `python tests/support/forgeries.py --benchmark clavi --seed 3 --all`.
"""

from __future__ import annotations

import argparse
import io
import re
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, pairwise
from pathlib import Path
from random import Random
from typing import Any

import av
import forger
import numpy as np
import pyarrow.parquet as pq
import pytest
from av.video.frame import PictureType
from commands import run
from figures import leave_unpainted
from forger import Forgery, videos_of
from stressreel import builders
from stressreel.api.verify import verify
from stressreel.errors import StressreelError
from stressreel.records.schema import Column
from stressreel.samples.cache import cached_sample
from stressreel.video.encode import EncodeSettings, Mp4Writer, Sound
from stressreel.video.thumbnails import frames_of

Place = tuple[Any, ...]
Changed = str | None
"""What was changed; None where there is nothing of the kind."""

# Benchmarks

EXAMPLE = Path(__file__).parents[2] / "examples" / "own_benchmark"
LOST = "SR0A1"  # a video that the sources of CLAVI lack, so that something is skipped


FAST = ("--preset", "ultrafast")
VISUAL = ("--modality", "all", "--perturbations", "jpeg,jumble", "--severity", "1,3", "--limit", 2)
TEXT = ("--text-perturbations", "typos,no_verbs", "--pairs", "jpeg:no_verbs", "--tagger", "pattern")
MINED = ("--splits", "UD", "--limit", 12, "--pool", "all", "--num-options", 3, "--no-keep-apart", "--balance", "none")
KEPT = ("--confuse", 1, "--audio", "keep", "--tagger", "pattern")
BENCHMARKS: dict[str, tuple[Any, ...]] = {
    "clavi": ("build-clavi", "--charades", "--limit", 4, "--allow-missing", *FAST, "--crf", 30),
    "perturbed": ("build-perturbed", "--msrvtt", *VISUAL, *TEXT, *FAST, "--seed", 1),
    "causal": ("build-causal", "--annotations", *MINED, *KEPT, *FAST, "--seed", 1),
    "decomp": ("build-decomp", "--charades", "--limit", 2, "--seed", 1),
    "backwards": ("stressreel build backwards", "--captions", "--limit", 2, "--version", "2.0.0"),
}
"""What builds small outputs: a command, the option that names its sources, and more; with the last, other outputs."""
OTHERS: dict[Path, Path] = {}
"""What else was built from the sources of an output."""


def command_of(benchmark: str, sources: Path | str, *, other: bool = False) -> list[Any]:
    """Return the command that builds an output, but for --out."""
    name, given, *options = BENCHMARKS[benchmark]
    return [*name.split(), given, sources, *(options if other else options[:-2])]


def sources_of(benchmark: str, folder: Path) -> Path | str:
    """Return what an output is built from: the sample, of CLAVI without one video, so that something is skipped."""
    if benchmark != "clavi":
        return "sample"
    if not folder.exists():
        shutil.copytree(cached_sample("charades"), folder, ignore=shutil.ignore_patterns(f"{LOST}.mp4"))
    return folder


def know_the_example(patch: pytest.MonkeyPatch) -> None:
    """Let this process find the example's benchmark as if its package were installed."""
    patch.syspath_prepend(str(EXAMPLE))
    patch.setattr(builders, "_installed", lambda: {"backwards": "backwards:BENCHMARK"})


def noticed(out: Path, sources: Path | str | None) -> list[str]:
    """Name what a verification objects to: with sources also what it leaves open."""
    try:
        report = verify(out, sources=sources, sample=1000, workers=1)
    except StressreelError as error:
        return [f"refused: {error}"]
    found = [each.name for each in report.outcomes if each.problems]
    left_open = [each.name for each in report.outcomes if getattr(each, "not_checked", ())]
    return found or (left_open or ["failed"] * report.failed if sources is not None else [])


# Values


def word_changed(text: str, rng: Random, pool: Sequence[str]) -> str:
    """Put another word, if there is more than one, or another character of its kind."""
    words = text.split(" ")
    others = sorted({word for each in pool for word in each.split(" ")} - set(words))
    if len(words) > 1 and others:
        words[rng.randrange(len(words))] = rng.choice(others)
        return " ".join(words)
    places = [place for place, character in enumerate(text) if character.isalnum()]
    if not places:
        return text + "x"
    place = rng.choice(places)
    instead = str((int(text[place]) + 1) % 10) if text[place] in "0123456789" else "ab"[text[place] == "a"]
    return text[:place] + instead + text[place + 1 :]


def list_changed(values: list[Any], rng: Random, pool: Sequence[list[Any]]) -> list[Any]:
    """Lose an element or exchange two that differ; put one into an empty list."""
    if not values:
        return next((each[:1] for each in pool if each), ["x"])
    pairs = [(a, b) for a in range(len(values)) for b in range(a) if values[a] != values[b]]
    if pairs and rng.random() < 0.5:
        a, b = rng.choice(pairs)
        values = list(values)
        values[a], values[b] = values[b], values[a]
        return values
    place = rng.randrange(len(values))
    return values[:place] + values[place + 1 :]


def like(value: Any, rng: Random, pool: Sequence[Any] = (), names: Sequence[str] = ()) -> Any:
    """Return a value of the same kind that differs from it a little."""
    if names and value is not None:
        return rng.choice([number for number in range(len(names)) if number != value] or [None])
    if isinstance(value, bool):
        return not value
    if isinstance(value, int | float):
        return value + rng.choice((1, -1)) * (1 if isinstance(value, int) else 1e-6)
    if isinstance(value, str):
        return word_changed(value, rng, [each for each in pool if isinstance(each, str)])
    if isinstance(value, list):
        if value and isinstance(value[0], dict) and rng.random() < 0.5:  # a field of a record
            changed = [dict(each) for each in value]
            record = rng.choice(changed)
            name = rng.choice(sorted(record))
            record[name] = like(record[name], rng, [each[name] for each in value])
            return changed
        return list_changed(value, rng, [each for each in pool if isinstance(each, list)])
    return next((each for each in pool if each is not None), None)


def told(what: str, old: object, new: object) -> Changed:
    """Describe a change, if it is one."""
    return None if old == new and type(old) is type(new) else f"{what}: {str(old)[:80]!r} became {str(new)[:80]!r}"


# Values of tables


def columns(forged: Forgery) -> Iterator[Place]:
    """All columns but those with videos."""
    for table, config in forged.configs().items():
        yield from ((table, column.name) for column in config.columns if column.kind != "video")


def column_of(forged: Forgery, table: str, name: str) -> Column:
    return next(column for column in forged.configs()[table].columns if column.name == name)


def in_column(new: Callable[..., Any]) -> Callable[..., Changed]:
    """Make a kind of what gives a row another value: from its own, those of all rows, and a label's names."""

    def change(forged: Forgery, rng: Random, table: str, name: str) -> Changed:
        rows = forged.rows(table)
        number = rng.randrange(len(rows))
        old, pool = rows[number][name], [row[name] for row in rows]
        rows[number][name] = new(old, rng, pool, column_of(forged, table, name).names)
        return told(f"{table}.{name} of row {number}", old, rows[number][name])

    return change


def another(old: Any, rng: Random, pool: Sequence[Any], names: Sequence[str]) -> Any:
    return rng.choice([value for value in pool if value != old] or [old])


def emptied(old: Any, rng: Random, pool: Sequence[Any], names: Sequence[str]) -> Any:
    return next((value for value in pool if value is not None), None) if old is None else None


def exchanged(forged: Forgery, rng: Random, table: str, name: str) -> Changed:
    pairs = [(a, b) for a, b in combinations(forged.rows(table), 2) if a[name] != b[name]]
    if not pairs:
        return None
    a, b = rng.choice(pairs)
    a[name], b[name] = b[name], a[name]
    return told(f"{table}.{name} of two rows", a[name], b[name])


def everywhere(forged: Forgery, rng: Random, table: str, name: str) -> Changed:
    """A value wherever it stands in columns of that name."""
    old = rng.choice(forged.rows(table))[name]
    new = like(old, rng, [row[name] for row in forged.rows(table)], column_of(forged, table, name).names)
    for row in (row for other in forged.tables for row in forged.rows(other) if name in row):
        if row[name] == old:
            row[name] = new
    return told(f"{name} everywhere", old, new)


def renamed(forged: Forgery, rng: Random, table: str, name: str) -> Changed:
    """A text wherever it stands, in other texts, lists and names of units and skips too."""
    old = rng.choice(forged.rows(table))[name]
    if not isinstance(old, str) or len(old) < 4 or name == "sha256":
        return None
    new = word_changed(old, rng, [])

    def put(value: Any) -> Any:
        if isinstance(value, str):
            return value.replace(old, new)
        if isinstance(value, list):
            return [put(each) for each in value]
        return {key: put(each) for key, each in value.items()} if isinstance(value, dict) else value

    for other, config in forged.configs().items():
        videos = videos_of(config)
        for row in forged.rows(other):
            row.update({key: put(value) for key, value in row.items() if key not in videos})
            row.unit = put(row.unit)
    forged.units, forged.info["skips"] = [(put(unit), place) for unit, place in forged.units], put(forged.info["skips"])
    return told(f"{table}.{name} and all that holds it", old, new)


# Rows of tables


def splits(forged: Forgery) -> Iterator[Place]:
    yield from ((table, split) for table, found in forged.tables.items() for split in found)


def in_split(edit: Callable[[list[Any], Random, int], list[Any]]) -> Callable[..., Changed]:
    """Make a kind of what changes the rows of a split, given one of their numbers."""

    def change(forged: Forgery, rng: Random, table: str, split: str) -> Changed:
        rows = forged.tables[table][split]
        number = rng.randrange(len(rows))
        forged.tables[table][split] = edited = edit(list(rows), rng, number)
        return f"rows of {table}/{split}, at {number}" if list(map(id, rows)) != list(map(id, edited)) else None

    return change


def in_other_order(rows: list[Any], rng: Random, number: int) -> list[Any]:
    return rng.sample(rows, len(rows))


def next_exchanged(rows: list[Any], rng: Random, number: int) -> list[Any]:
    return [*rows[:number], *rows[number : number + 2][::-1], *rows[number + 2 :]]


def twice(rows: list[Any], rng: Random, number: int) -> list[Any]:
    return [*rows[: number + 1], dict(rows[number]), *rows[number + 1 :]]


def added(forged: Forgery, rng: Random, table: str, split: str) -> Changed:
    rows, config = forged.tables[table][split], forged.configs()[table]
    new = dict(rng.choice(rows))
    for column in config.columns[: config.key_columns]:
        new[column.name] = like(new[column.name], rng, names=column.names)
    rows.append(new)
    return f"{table}/{split} gets a new row"


def moved(forged: Forgery, rng: Random, table: str, split: str) -> Changed:
    rows = forged.tables[table][split]
    place = rng.randrange(len(rows))
    other = rng.choice([name for name in ("train", "validation", "test") if name != split])
    there = forged.tables[table].setdefault(other, [])
    there.append(rows.pop(place))
    order = [unit for unit, _ in forged.units]
    there.sort(key=lambda row: order.index(row.unit))
    return f"row {place} of {table}/{split} goes to {other}"


def split_renamed(forged: Forgery, rng: Random, table: str, split: str) -> Changed:
    other = next((name for name in ("validation", "test", "train") if name not in forged.tables[table]), None)
    if other is None:
        return None
    found = forged.tables[table].items()
    forged.tables[table] = {other if name == split else name: rows for name, rows in found}
    forged.units = [(unit, f"{table}/{other}" if at == f"{table}/{split}" else at) for unit, at in forged.units]
    return f"{table}/{split} is called {other}"


def resharded(forged: Forgery, rng: Random, table: str, split: str) -> Changed:
    count = len(forged.tables[table][split])
    forged.shards[table, split] = [rng.randrange(1, count), 0] if count > 1 else []
    return f"{table}/{split} is in two shards" if count > 1 else None


def tables(forged: Forgery) -> Iterator[Place]:
    yield from ((table,) for table in forged.tables)


def table_lost(forged: Forgery, rng: Random, table: str) -> Changed:
    del forged.tables[table]
    return f"{table} is lost"


def column_added(forged: Forgery, rng: Random, table: str) -> Changed:
    def add(copy: Path) -> None:
        for path in (copy / table).glob("*.parquet"):
            found = pq.read_table(path)
            pq.write_table(found.append_column("extra", found.column(0)), path)

    forged.finally_.append(add)
    return f"{table} has one column more"


def shard_added(forged: Forgery, rng: Random, table: str) -> Changed:
    def add(copy: Path) -> None:
        path = next((copy / table).glob("*.parquet"))
        shutil.copy(path, path.with_name(path.name.partition("-")[0] + "-more.parquet"))

    forged.finally_.append(add)
    return f"{table} has one file more"


# Pictures and sound


def videos(forged: Forgery) -> Iterator[Place]:
    yield from ((name, video) for name, config in forged.configs().items() for video in videos_of(config))


def recoded(
    content: bytes, forged: Forgery, order: Iterable[int] | None = None, finer: int = 0, late: float = 0
) -> bytes:
    """Encode a video again.

    Args:
        content: The video.
        forged: The output, which knows how it was encoded.
        order: The numbers of the frames that are shown.
        finer: How much lower the rate factor is.
        late: Seconds by which its sound comes later.
    """
    frames, settings = list(frames_of(content)), forged.info["settings"]
    base = frames[0].time_base
    ends = [*(frame.pts for frame in frames[1:]), frames[-1].pts + frames[-1].duration]
    lengths = [end - frame.pts for frame, end in zip(frames, ends, strict=True)]
    sound = sound_of(content)
    if late and sound is None:
        return content
    if late and sound:
        sound = Sound(np.roll(sound.samples, round(late * sound.rate), axis=1), sound.rate)
    encode = EncodeSettings(settings.get("crf", 23) - finer, settings.get("preset", "ultrafast"))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "video.mp4"
        rate = Fraction(len(frames)) / (sum(lengths) * base)
        with Mp4Writer(path, time_base=base, rate=rate, settings=encode, sound=sound) as writer:
            for length, number in zip(lengths, order or range(len(frames)), strict=False):
                frames[number].pict_type = PictureType.NONE
                writer.write(frames[number], length)
        return path.read_bytes()


def sound_of(content: bytes) -> Sound | None:
    """Decode the sound."""
    with av.open(io.BytesIO(content)) as container:
        if not container.streams.audio:
            return None
        stream = container.streams.audio[0]
        samples = [frame.to_ndarray() for frame in container.decode(stream)]
        return Sound(np.concatenate(samples, axis=1).astype(np.float32), stream.rate)


def remuxed(content: bytes, *, title: str = "", more: bool = False) -> bytes:
    """Write the same packets into another file, with a title or with the picture once more."""
    made = io.BytesIO()
    with av.open(io.BytesIO(content)) as container:
        numbers = [*range(len(container.streams)), *[0] * more]
    with av.open(made, "w", format="mp4") as target:
        target.metadata["title"] = title
        given = [av.open(io.BytesIO(content)) for _ in numbers]
        streams = [target.add_stream_from_template(one.streams[n]) for one, n in zip(given, numbers, strict=True)]
        for one, number, stream in zip(given, numbers, streams, strict=True):
            for packet in one.demux(one.streams[number]):
                if packet.dts is not None:
                    packet.stream = stream
                    target.mux(packet)
            one.close()
    return made.getvalue()


def with_video(make: Callable[..., bytes | None]) -> Callable[..., Changed]:
    """Make a kind of what turns a video into other bytes: the content, the output, and a generator."""

    def change(forged: Forgery, rng: Random, table: str, name: str) -> Changed:
        row = rng.choice(forged.rows(table))
        old = row[name]["bytes"]
        row[name] = {**row[name], "bytes": make(old, forged, rng) or old}
        count = len(row[name]["bytes"])
        return f"{row[name]['path']} of {table}, {len(old)} bytes, now {count}" if row[name]["bytes"] != old else None

    return change


def encoded(finer: int = 0) -> Callable[..., Changed]:
    return with_video(lambda content, forged, rng: recoded(content, forged, finer=finer))


def in_order(order: Callable[[int, Random], Sequence[int]]) -> Callable[..., Changed]:
    """Make a kind of the order in which frames are shown, made of their number."""
    return with_video(lambda content, forged, rng: recoded(content, forged, order(len(list(frames_of(content))), rng)))


def one_replaced(count: int, rng: Random) -> list[int]:
    place = rng.randrange(1, count)
    return [*range(place), (place + count // 2) % count, *range(place + 1, count)]


def clip_of(fits: Callable[[str, dict[str, Any], str, dict[str, Any]], bool]) -> Callable[..., Changed]:
    """Make a kind of the clips that may stand in for one, told by the tables and rows of both."""

    def change(forged: Forgery, rng: Random, table: str, name: str) -> Changed:
        row = rng.choice(forged.rows(table))
        others = [each for other, _ in videos(forged) for each in forged.rows(other) if fits(table, row, other, each)]
        contents = [each[name]["bytes"] for each in others if each["sha256"] != row["sha256"]]
        if not contents:
            return None
        row[name] = {**row[name], "bytes": rng.choice(contents)}
        return f"{row[name]['path']} of {table}: another clip of {len(row[name]['bytes'])} bytes"

    return change


def another_severity(table: str, row: dict[str, Any], other: str, each: dict[str, Any]) -> bool:
    return table == other and row.get("clip_id") == each.get("clip_id") and row.get("severity") != each.get("severity")


def another_table(table: str, row: dict[str, Any], other: str, each: dict[str, Any]) -> bool:
    return table != other and row.get("source_id") == each.get("source_id")


def clips_exchanged(forged: Forgery, rng: Random, table: str, name: str) -> Changed:
    a, b = rng.sample(forged.rows(table), 2)
    a[name], b[name] = {**a[name], "bytes": b[name]["bytes"]}, {**b[name], "bytes": a[name]["bytes"]}
    return told(f"{table}: the videos of two rows", a[name]["path"], b[name]["path"])


def all_again(forged: Forgery, rng: Random, table: str, name: str) -> Changed:
    for row in forged.rows(table):
        row[name] = {**row[name], "bytes": recoded(row[name]["bytes"], forged, finer=-8)}
    return f"all videos of {table} are encoded worse"


def file_renamed(forged: Forgery, rng: Random, table: str, name: str) -> Changed:
    row = rng.choice(forged.rows(table))
    row[name] = {**row[name], "path": "x" + row[name]["path"]}
    return f"{table}: the file is called {row[name]['path']}"


# Records

WRITTEN = ("counts", "fingerprints", "fingerprint")
"""What the forger writes himself."""


def entries(forged: Forgery) -> Iterator[Place]:
    """All that `build.json` holds, by path."""

    def below(value: Any, path: Place) -> Iterator[Place]:
        for key in value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ():
            if path or key not in WRITTEN:
                yield (*path, key)
                yield from below(value[key], (*path, key))

    yield from below(forged.info, ())


def holder(forged: Forgery, path: Place) -> Any:
    found: Any = forged.info
    for key in path[:-1]:
        found = found[key]
    return found


def entry_changed(forged: Forgery, rng: Random, *path: Any) -> Changed:
    holds = holder(forged, path)
    old = holds[path[-1]]
    if isinstance(old, dict):
        return None
    holds[path[-1]] = 1 if old is None else like(old, rng)
    return told(".".join(map(str, path)), old, holds[path[-1]])


def entry_removed(forged: Forgery, rng: Random, *path: Any) -> Changed:
    del holder(forged, path)[path[-1]]
    return f"{'.'.join(map(str, path))} is removed"


def entry_emptied(forged: Forgery, rng: Random, *path: Any) -> Changed:
    holds = holder(forged, path)
    old = holds[path[-1]]
    holds[path[-1]] = type(old)() if old is not None else None
    return told(".".join(map(str, path)), old, holds[path[-1]])


def entry_added(forged: Forgery, rng: Random, *path: Any) -> Changed:
    found = holder(forged, path)[path[-1]]
    if isinstance(found, dict):
        found["more"] = next(iter(found.values()), 1)
    elif isinstance(found, list):
        found.append(found[-1] if found else "more")
    return f"{'.'.join(map(str, path))} gets an entry" if isinstance(found, dict | list) else None


OPTION = re.compile(r" --([a-z-]+) ([^- ]\S*)")


def options(forged: Forgery) -> Iterator[Place]:
    """The options of the command that are recorded elsewhere too."""
    yield from ((name,) for name, value in OPTION.findall(forged.info["command"]) if kept_at(forged, name, value))


def kept_at(forged: Forgery, name: str, value: str) -> list[tuple[dict[str, Any], str]]:
    places = (forged.info, forged.info["settings"], forged.info["settings"].get("mining", {}))
    keys = {"version": "dataset_version"}.get(name, name.replace("-", "_"))
    return [(place, keys) for place in places if str(place.get(keys)) == value]


def option_retold(forged: Forgery, rng: Random, name: str) -> Changed:
    """Another value of an option in the command and wherever it is recorded."""
    value = dict(OPTION.findall(forged.info["command"]))[name]
    for place, key in kept_at(forged, name, value):
        place[key] = new = like(place[key], rng)
    forged.info["command"] = forged.info["command"].replace(f" --{name} {value}", f" --{name} {new}")
    return told(f"--{name} and its record", value, str(new))


def other_build(forged: Forgery) -> Iterator[Place]:
    if forged.out in OTHERS:
        yield ()


def others_rows(forged: Forgery, rng: Random) -> Changed:
    """The rows of a build with other options under the record of this one."""
    other = forger.load(OTHERS[forged.out])
    same = other.tables == forged.tables
    forged.tables, forged.units, forged.shards, forged.kept = other.tables, other.units, other.shards, other.kept
    return None if same else "the rows are those of a build with other options"


def others_record(forged: Forgery, rng: Random) -> Changed:
    """The record of a build with other options over the rows of this one."""
    forged.info = forger.load(OTHERS[forged.out]).info
    return "the record is that of a build with other options"


def once(forged: Forgery) -> Iterator[Place]:
    yield ()


def skip_invented(forged: Forgery, rng: Random) -> Changed:
    """The rows of a unit are lost, for a reason that may well be."""
    names = sorted({unit for unit, _ in forged.units if not unit.startswith(".")})
    unit = rng.choice(names)
    source = next((row["source_id"] for row in mine(forged, unit) if row.get("source_id")), unit)
    for found in forged.tables.values():
        for split, rows in found.items():
            found[split] = [row for row in rows if row.unit != unit]
    reason, detail = rng.choice((("undecodable", f"{source}.mp4: frame 3 is damaged."), ("missing_video", "no file.")))
    skips = forged.info["skips"]
    skips["list"].append({"unit_id": unit, "source_id": source, "reason": reason, "detail": detail})
    return recount(skips, f"{unit} is skipped as {reason}")


def mine(forged: Forgery, unit: str) -> list[Any]:
    return [row for table in forged.tables for row in forged.rows(table) if row.unit == unit]


def skip_removed(forged: Forgery, rng: Random) -> Changed:
    skips = forged.info["skips"]
    if not skips["list"]:
        return None
    skip = skips["list"].pop(rng.randrange(len(skips["list"])))
    return recount(skips, f"that {skip['unit_id']} was skipped is removed")


def recount(skips: dict[str, Any], said: str) -> str:
    reasons = [skip["reason"] for skip in skips["list"]]
    skips.update(count=len(reasons), by_reason={reason: reasons.count(reason) for reason in dict.fromkeys(reasons)})
    return said


def unit_lost(forged: Forgery, rng: Random) -> Changed:
    """The rows of a unit are lost without a word."""
    unit = rng.choice(sorted({unit for unit, _ in forged.units}))
    for found in forged.tables.values():
        for split, rows in found.items():
            found[split] = [row for row in rows if row.unit != unit]
    return f"{unit} is lost"


# Other files


def units_reordered(forged: Forgery, rng: Random) -> Changed:
    before = list(forged.units)
    forged.units.sort(key=lambda place: place[1])
    return "units.parquet is sorted by table" if before != forged.units else None


def unit_renamed(forged: Forgery, rng: Random) -> Changed:
    old = rng.choice(forged.units)[0]
    new = word_changed(old, rng, [])
    forged.units = [(new if unit == old else unit, table) for unit, table in forged.units]
    for row in mine(forged, old):
        row.unit = new
    return told("unit", old, new)


def border_moved(forged: Forgery, rng: Random) -> Changed:
    """A row counts as one of the unit before it."""
    rows = [rows for found in forged.tables.values() for rows in found.values()]
    pairs = [(a, b) for each in rows for a, b in pairwise(each) if a.unit != b.unit]
    if not pairs:
        return None
    before, row = rng.choice(pairs)
    row.unit = before.unit
    return f"a row counts as one of {before.unit}"


def edited(name: str, edit: Callable[[str, Random], str]) -> Callable[..., Changed]:
    """Edit a text file of the copy by hand."""

    def change(forged: Forgery, rng: Random) -> Changed:
        def write(copy: Path) -> None:
            (copy / name).write_text(edit((copy / name).read_text(), rng))

        forged.finally_.append(write)
        return f"{name} is edited"

    return change


def word_edited(text: str, rng: Random) -> str:
    """Change a letter of a word outside the user's notes."""
    found = rng.choice([*re.finditer(r"(?<= )[a-z]{4,}(?= )", text.partition("<!-- notes")[0])])
    return text[: found.start()] + word_changed(found[0], rng, []) + text[found.end() :]


def line_lost(text: str, rng: Random) -> str:
    """Remove a line outside the user's notes that names no file."""
    text, mark, notes = text.partition("<!-- notes")
    lines = text.splitlines(keepends=True)
    del lines[rng.choice([n for n, line in enumerate(lines) if line.strip() and "](figures/" not in line])]
    return "".join(lines) + mark + notes


def figure(change: Callable[[Path], object]) -> Callable[..., Changed]:
    def make(forged: Forgery, rng: Random) -> Changed:
        found = sorted((forged.out / "figures").glob("*.png"))
        if not found:
            return None
        name = rng.choice(found).name
        forged.finally_.append(lambda copy: change(copy / "figures" / name))
        return f"figures/{name}"

    return make


# Kinds


@dataclass(frozen=True)
class Kind:
    """A kind of change.

    Attributes:
        places: Where it can be tried in an output.
        change: Changes a forgery there and says what it did; None if there was nothing to do.
        structural: Whether files, schemas, counts or hashes may give it away, or nothing can be read any more.
    """

    places: Callable[[Forgery], Iterable[Place]]
    change: Callable[..., Changed]
    structural: bool = False


KINDS = {
    "value of another row": Kind(columns, in_column(another)),
    "value of its kind": Kind(columns, in_column(like)),
    "values of two rows exchanged": Kind(columns, exchanged),
    "value emptied or filled": Kind(columns, in_column(emptied)),
    "value changed everywhere": Kind(columns, everywhere),
    "text renamed everywhere": Kind(columns, renamed),
    "rows exchanged": Kind(splits, in_split(next_exchanged)),
    "rows shuffled": Kind(splits, in_split(in_other_order)),
    "row lost": Kind(splits, in_split(lambda rows, rng, number: rows[:number] + rows[number + 1 :])),
    "row twice": Kind(splits, in_split(twice)),
    "row added": Kind(splits, added),
    "row in another split": Kind(splits, moved),
    "split renamed": Kind(splits, split_renamed),
    "shards split otherwise": Kind(splits, resharded),
    "table lost": Kind(tables, table_lost),
    "column added": Kind(tables, column_added, structural=True),
    "shard added": Kind(tables, shard_added, structural=True),
    "another clip": Kind(videos, clip_of(lambda table, row, other, each: table == other)),
    "another severity": Kind(videos, clip_of(another_severity)),
    "clip of another table": Kind(videos, clip_of(another_table)),
    "clips exchanged": Kind(videos, clips_exchanged),
    "frames reversed": Kind(videos, in_order(lambda count, rng: range(count)[::-1])),
    "frames shifted by one": Kind(videos, in_order(lambda count, rng: [*range(1, count), count - 1])),
    "frame lost": Kind(videos, in_order(lambda count, rng: range(count - 1))),
    "frame replaced": Kind(videos, in_order(one_replaced)),
    "encoded again": Kind(videos, encoded()),
    "encoded better": Kind(videos, encoded(8)),
    "encoded worse": Kind(videos, encoded(-8)),
    "all encoded worse": Kind(videos, all_again),
    "sound 20 ms late": Kind(videos, with_video(lambda content, forged, rng: recoded(content, forged, late=0.02))),
    "tag in the container": Kind(videos, with_video(lambda content, forged, rng: remuxed(content, title="A"))),
    "stream added": Kind(videos, with_video(lambda content, forged, rng: remuxed(content, more=True))),
    "file truncated": Kind(videos, with_video(lambda content, forged, rng: content[:-2000])),
    "bytes added": Kind(videos, with_video(lambda content, forged, rng: content + b"\0\0\0\x08free")),
    "file renamed": Kind(videos, file_renamed, structural=True),
    "entry of the record changed": Kind(entries, entry_changed, structural=True),
    "entry of the record removed": Kind(entries, entry_removed, structural=True),
    "entry of the record emptied": Kind(entries, entry_emptied, structural=True),
    "entry added to the record": Kind(entries, entry_added, structural=True),
    "option retold": Kind(options, option_retold),
    "rows of another build": Kind(other_build, others_rows),
    "record of another build": Kind(other_build, others_record),
    "skip invented": Kind(once, skip_invented),
    "skip removed": Kind(once, skip_removed),
    "unit lost": Kind(once, unit_lost),
    "units reordered": Kind(once, units_reordered),
    "unit renamed": Kind(once, unit_renamed),
    "border of units moved": Kind(once, border_moved),
    "card edited": Kind(once, edited("README.md", word_edited)),
    "line of the card lost": Kind(once, edited("README.md", line_lost)),
    "croissant.json edited": Kind(once, edited("croissant.json", word_edited)),
    "line of croissant.json lost": Kind(once, edited("croissant.json", line_lost)),
    "figure replaced": Kind(once, figure(lambda path: path.write_bytes(path.read_bytes() + b"\0"))),
    "figure lost": Kind(once, figure(lambda path: path.unlink())),
    "figure added": Kind(once, figure(lambda path: shutil.copy(path, path.with_name("more.png"))), structural=True),
}


@dataclass(frozen=True)
class Forged:
    """A forgery that was made.

    Attributes:
        kind: Its kind.
        place: Where it is.
        what: What was changed.
        out: The copy.
    """

    kind: str
    place: Place
    what: str
    out: Path

    @property
    def structural(self) -> bool:
        """Whether files, schemas, counts or hashes give it away."""
        return KINDS[self.kind].structural or "sha256" in self.place


def make(out: Path, copy: Path, name: str, place: Place, seed: object) -> Forged | None:
    """Make a forgery; None if nothing would be another than it was."""
    forged = forger.load(out)
    said = KINDS[name].change(forged, Random(f"{seed} {name} {place}"), *place)
    if said is None:
        return None
    forger.write(forged, copy)
    if files_of(out) == files_of(copy):
        shutil.rmtree(copy)
        return None
    return Forged(name, place, said, copy)


def files_of(out: Path) -> dict[str, bytes]:
    """All files of an output, by name."""
    return {path.relative_to(out).as_posix(): path.read_bytes() for path in out.rglob("*") if path.is_file()}


def places_of(out: Path, name: str, seed: object) -> list[Place]:
    """Where a kind can be tried in an output, in an order drawn by a seed."""
    places = list(KINDS[name].places(forger.load(out)))
    Random(f"{seed} {name}").shuffle(places)
    return places


def draw(out: Path, copy: Path, number: int, seed: int = 0) -> Forged:
    """Make one of a row of forgeries, each of another kind than those before it as long as there are any."""
    names = list(KINDS)
    Random(f"{seed} {forger.load(out).info['builder']}").shuffle(names)
    for name in names[number % len(names) :] + names[: number % len(names)]:
        for place in places_of(out, name, f"{seed} {number}"):
            if made := make(out, copy, name, place, f"{seed} {number}"):
                return made
    raise LookupError("nothing can be forged")


# Script


def main() -> None:
    """Print how many forgeries of each kind are noticed, with the sources and without."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--benchmark", action="append", choices=BENCHMARKS, help="by default all")
    parser.add_argument("--kind", action="append", choices=KINDS, help="by default all")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--all", action="store_true", help="at all places, not at one for each kind")
    given = parser.parse_args()
    found: dict[str, list[tuple[bool, bool]]] = {}
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        know_the_example(patch)
        leave_unpainted(patch)
        for benchmark in given.benchmark or BENCHMARKS:
            out, sources = build(benchmark, Path(folder))
            for name in given.kind or KINDS:
                for made in tried(out, Path(folder) / "copy", name, given.seed, everywhere=given.all):
                    result = bool(noticed(made.out, sources)), bool(noticed(made.out, None))
                    found.setdefault(name, []).append(result)
                    if not result[0]:
                        print(f"missed in {benchmark}: {name}, {made.place}: {made.what}", file=sys.stderr, flush=True)
    print("| Forgery | tried | noticed with sources | without |\n| --- | ---: | ---: | ---: |")
    results = {**found, "all": [result for results in found.values() for result in results]}
    for name, tries in results.items():
        print(f"| {name} | {len(tries)} | {sum(one for one, _ in tries)} | {sum(alone for _, alone in tries)} |")


def build(benchmark: str, folder: Path) -> tuple[Path, Path | str]:
    """Build an output, and another one of its sources; return it and the sources."""
    out, sources = folder / benchmark, sources_of(benchmark, folder / f"{benchmark}-sources")
    OTHERS[out] = folder / f"{benchmark}-other"
    for target, other in ((out, False), (OTHERS[out], True)):
        done = run(*command_of(benchmark, sources, other=other), "--out", target, "--no-progress")
        assert done.code == 0, done.err
    return out, sources


def tried(out: Path, copy: Path, name: str, seed: int, *, everywhere: bool) -> Iterator[Forged]:
    """Make the forgeries of a kind, at all places or at one; each is removed when the next is asked for."""
    for place in places_of(out, name, seed):
        if made := make(out, copy, name, place, seed):
            yield made
            shutil.rmtree(copy)
            if not everywhere:
                return


if __name__ == "__main__":
    main()
