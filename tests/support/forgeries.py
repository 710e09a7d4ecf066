"""Forgeries as data: kinds of change, each of which a verification with the sources must notice.

A kind says where in an output it can be tried and what it changes there; `forger` recomputes all that follows.
"""

from __future__ import annotations

import re
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from fractions import Fraction
from functools import reduce
from itertools import pairwise
from operator import getitem
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import forger
import numpy as np
import pytest
from av.video.frame import PictureType
from figures import PNG
from forger import Forgery
from stressreel import builders
from stressreel.annotations.samples.cache import cached_sample
from stressreel.api.verify import verify
from stressreel.core.errors import StressreelError
from stressreel.video.encode import EncodeSettings, Mp4Writer, Sound
from stressreel.video.thumbnails import frames_of
from tampering import sound_of

Row = dict[str, Any]
Place = tuple[Any, ...]
Change = Callable[..., object]
"""Changes a forgery, given a generator and a place; what leaves it as it was is no forgery."""


class NothingThereError(Exception):
    """There is nothing that could be changed in this way."""


def pick(rng: Random, found: Iterable[Any]) -> Any:
    """Draw one of several."""
    found = list(found)
    if not found:
        raise NothingThereError
    return rng.choice(found)


# Benchmarks

EXAMPLE = Path(__file__).parents[2] / "examples" / "own_benchmark"
LOST = "SR1G7"  # a video that the sources of CLAVI lack, so that something is skipped
FAST = ("--preset", "ultrafast")
VISUAL = ("--modality", "all", "--perturbations", "jpeg,jumble", "--severity", "1,3", "--limit", 2)
TEXT = ("--text-perturbations", "typos,no_verbs", "--pairs", "jpeg:no_verbs", "--tagger", "pattern")
MINED = ("--splits", "UD", "--limit", 12, "--pool", "all", "--num-options", 3, "--no-keep-apart", "--balance", "none")
KEPT = ("--confuse", 1, "--audio", "keep", "--tagger", "pattern")
BENCHMARKS: dict[str, tuple[Any, ...]] = {
    "clavi": ("build-clavi", "--charades", "--limit", 3, "--allow-missing", "--audio", "keep", *FAST),
    "perturbed": ("build-perturbed", "--msrvtt", *VISUAL, *TEXT, *FAST),
    "causal": ("build-causal", "--annotations", *MINED, *KEPT, *FAST),
    "decomp": ("build-decomp", "--charades", "--limit", 2),
    "backwards": ("stressreel build backwards", "--captions", "--limit", 2),
}
"""What builds small outputs: a command, the option that names its sources, and more."""


def command_of(benchmark: str, sources: Path | str) -> list[Any]:
    """Return the command that builds an output, but for --out."""
    name, given, *options = BENCHMARKS[benchmark]
    return [*name.split(), given, sources, *options]


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
    """Name what a verification objects to, or could not verify."""
    try:
        report = verify(out, sources=sources, sample="all", workers=1)
    except StressreelError as error:
        return [f"refused: {error}"]
    return [each.name for each in report.outcomes if not each.passed]


# Values


def word_changed(text: str, rng: Random) -> str:
    """Put another letter or digit in the place of one."""
    places = [place for place, character in enumerate(text) if character.isalnum()]
    if not places:
        return text + "x"
    place = rng.choice(places)
    instead = str((int(text[place]) + 1) % 10) if text[place] in "0123456789" else "ab"[text[place] == "a"]
    return text[:place] + instead + text[place + 1 :]


def like(value: Any, rng: Random, pool: Sequence[Any] = (), names: Sequence[str] = ()) -> Any:
    """Return a value of the same kind that differs from it a little."""
    if names and value is not None:
        return rng.choice([number for number in range(len(names)) if number != value] or [None])
    if isinstance(value, bool):
        return not value
    if isinstance(value, int | float):
        return value + rng.choice((1, -1)) * (1 if isinstance(value, int) else 1e-6)
    if isinstance(value, str):
        return word_changed(value, rng)
    if isinstance(value, list) and value and isinstance(value[0], dict):
        name = rng.choice(sorted(value[0]))
        return [{**value[0], name: like(value[0][name], rng)}, *value[1:]]
    if isinstance(value, list):
        place = rng.randrange(len(value)) if value else 0
        return value[:place] + value[place + 1 :] if value else next((each[:1] for each in pool if each), ["x"])
    return next((each for each in pool if each is not None), None)


# Values of tables


def columns(forged: Forgery) -> Iterator[Place]:
    """All columns but those with videos."""
    for table, config in forged.configs().items():
        yield from ((table, name) for name in config.plain)


def in_column(new: Callable[..., Any]) -> Change:
    """Make a kind of what gives a row another value: from its own, those of all rows, and a label's names."""

    def change(forged: Forgery, rng: Random, table: str, name: str) -> None:
        row, pool = rng.choice(forged.rows(table)), [row[name] for row in forged.rows(table)]
        row[name] = new(row[name], rng, pool, forged.column(table, name).names)

    return change


def another(old: Any, rng: Random, pool: Sequence[Any], names: Sequence[str]) -> Any:
    return pick(rng, (value for value in pool if value != old))


# Rows of tables


def splits(forged: Forgery) -> Iterator[Place]:
    yield from ((table, split) for table, found in forged.tables.items() for split in found)


def in_split(edit: Callable[[list[Any], Random, int], list[Any]]) -> Change:
    """Make a kind of what changes the rows of a split, given one of their numbers."""

    def change(forged: Forgery, rng: Random, table: str, split: str) -> None:
        rows = forged.tables[table][split]
        forged.tables[table][split] = edit(rows, rng, rng.randrange(len(rows)))

    return change


def added(forged: Forgery, rng: Random, table: str, split: str) -> None:
    rows, config = forged.tables[table][split], forged.configs()[table]
    new = dict(rng.choice(rows))
    for column in config.columns[: config.key_columns]:
        new[column.name] = like(new[column.name], rng, names=column.names)
    rows.append(new)


def moved(forged: Forgery, rng: Random, table: str, split: str) -> None:
    rows, order = forged.tables[table][split], [unit for unit, _ in forged.units]
    other = rng.choice([name for name in ("train", "validation", "test") if name != split])
    there = forged.tables[table].setdefault(other, [])
    there.append(rows.pop(rng.randrange(len(rows))))
    there.sort(key=lambda row: order.index(row.unit))


def tables(forged: Forgery) -> Iterator[Place]:
    yield from ((table,) for table in forged.tables)


# Pictures and sound


def videos(forged: Forgery) -> Iterator[Place]:
    yield from ((name, video) for name, config in forged.configs().items() for video in config.videos)


def recoded(content: bytes, forged: Forgery, *, backwards: bool = False, late: float = 0) -> bytes:
    """Encode a video again, backwards or with later sound (in seconds)."""
    frames, sound, settings = list(frames_of(content)), sound_of(content), forged.info["settings"]
    if late and sound is None:
        raise NothingThereError
    if late and sound:
        sound = Sound(np.roll(sound.samples, round(late * sound.rate), axis=1), sound.rate)
    base, ends = frames[0].time_base, [*(frame.pts for frame in frames[1:]), frames[-1].pts + frames[-1].duration]
    encode = EncodeSettings(settings.get("crf", 23), settings.get("preset", "ultrafast"))
    lengths = [end - frame.pts for frame, end in zip(frames, ends, strict=True)]
    rate = len(frames) / Fraction(sum(lengths) * base)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "video.mp4"
        with Mp4Writer(path, time_base=base, rate=rate, settings=encode, sound=sound) as writer:
            for length, frame in zip(lengths, frames[::-1] if backwards else frames, strict=True):
                frame.pict_type = PictureType.NONE
                writer.write(frame, length)
        return path.read_bytes()


def with_video(make: Callable[..., bytes]) -> Change:
    """Make a kind of what turns a video into other bytes: the content, the output, and a generator."""

    def change(forged: Forgery, rng: Random, table: str, name: str) -> None:
        row = rng.choice(forged.rows(table))
        row[name] = {**row[name], "bytes": make(row[name]["bytes"], forged, rng)}

    return change


def another_clip(forged: Forgery, rng: Random, table: str, name: str) -> None:
    row = rng.choice(forged.rows(table))
    others = (each[name]["bytes"] for each in forged.rows(table) if each is not row)
    row[name] = {**row[name], "bytes": pick(rng, others)}


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


def in_entry(change: Callable[[Any, Any, Random], object]) -> Change:
    """Make a kind of what changes an entry: what holds it, its name or number, and a generator."""

    def in_record(forged: Forgery, rng: Random, *path: Any) -> None:
        change(reduce(getitem, path[:-1], forged.info), path[-1], rng)

    return in_record


def entry_changed(holder: Any, key: Any, rng: Random) -> None:
    holder[key] = 1 if holder[key] is None else holder[key] if isinstance(holder[key], dict) else like(holder[key], rng)


def entry_added(holder: Any, key: Any, rng: Random) -> None:
    if isinstance(holder[key], dict):
        holder[key]["more"] = next(iter(holder[key].values()), 1)
    elif isinstance(holder[key], list):
        holder[key].append(holder[key][-1] if holder[key] else "more")


OPTION = re.compile(r" --([a-z-]+) ([^- ]\S*)")


def options(forged: Forgery) -> Iterator[Place]:
    """The options that the command spells out, with their values."""
    yield from OPTION.findall(forged.info["command"])


def option_retold(forged: Forgery, rng: Random, name: str, value: str) -> None:
    """Change the value of an option in the command and wherever it is recorded."""
    key = {"version": "dataset_version"}.get(name, name.replace("-", "_"))
    kept = [forged.info, forged.info["settings"], forged.info["settings"].get("mining", {})]
    holders = [holder for holder in kept if str(holder.get(key)) == value]
    new = like(pick(rng, holders)[key], rng)
    for holder in holders:
        holder[key] = new
    forged.info["command"] = forged.info["command"].replace(f" --{name} {value}", f" --{name} {new}")


def anywhere(forged: Forgery) -> list[Place]:
    return [()]


def unit_lost(forged: Forgery, rng: Random) -> str:
    """Lose the rows of a unit without a word."""
    unit: str = rng.choice(sorted({unit for unit, _ in forged.units if not unit.startswith(".")}))
    for found in forged.tables.values():
        for split, rows in found.items():
            found[split] = [row for row in rows if row.unit != unit]
    return unit


def skip_invented(forged: Forgery, rng: Random) -> None:
    """Lose the rows of a unit, for a reason that may well be."""
    sources = {row.unit: row.get("source_id") for row in forged.rows()}
    unit, skips = unit_lost(forged, rng), forged.info["skips"]
    reason, detail = rng.choice((("undecodable", "frame 3 is damaged."), ("missing_video", "there is no such file.")))
    skips["list"].append({"unit_id": unit, "source_id": sources[unit] or unit, "reason": reason, "detail": detail})
    recount(skips)


def skip_removed(forged: Forgery, rng: Random) -> None:
    skips = forged.info["skips"]
    skips["list"].remove(pick(rng, skips["list"]))
    recount(skips)


def recount(skips: Row) -> None:
    reasons = [skip["reason"] for skip in skips["list"]]
    skips.update(count=len(reasons), by_reason={reason: reasons.count(reason) for reason in dict.fromkeys(reasons)})


# Other files


def unit_renamed(forged: Forgery, rng: Random) -> None:
    old = rng.choice(forged.units)[0]
    new = word_changed(old, rng)
    forged.units = [(new if unit == old else unit, table) for unit, table in forged.units]
    for row in forged.rows():
        row.unit = new if row.unit == old else row.unit


def border_moved(forged: Forgery, rng: Random) -> None:
    """Count a row as one of the unit before it."""
    rows = [rows for found in forged.tables.values() for rows in found.values()]
    before, row = pick(rng, ((a, b) for each in rows for a, b in pairwise(each) if a.unit != b.unit))
    row.unit = before.unit


def by_hand(pattern: str, edit: Callable[[Path, Random], object]) -> Change:
    """Make a kind of what a hand changes in one of some files, when all else is written."""

    def change(forged: Forgery, rng: Random, *place: Any) -> None:
        name = pick(rng, sorted(forged.out.glob(pattern.format(*place)))).relative_to(forged.out)
        forged.finally_.append(lambda copy: edit(copy / name, rng))

    return change


def shard_added(path: Path, rng: Random) -> None:
    shutil.copy(path, path.with_name(path.name.partition("-")[0] + "-more.parquet"))


def word_edited(path: Path, rng: Random) -> None:
    """Change a letter of a word outside the user's notes."""
    text = path.read_text()
    found = pick(rng, re.finditer(r"(?<= )[a-z]{4,}(?= )", text.partition("<!-- notes")[0]))
    path.write_text(text[: found.start()] + word_changed(found[0], rng) + text[found.end() :])


# Kinds


class Kind(NamedTuple):
    """Where a kind of change can be tried in an output, what changes it there, and whether its structure tells."""

    places: Callable[[Forgery], Iterable[Place]]
    change: Change
    structural: bool = False


FIGURES = "figures/*.png"
KINDS = {
    "value of another row": Kind(columns, in_column(another)),
    "value of its kind": Kind(columns, in_column(like)),
    "rows exchanged": Kind(splits, in_split(lambda rows, rng, n: [*rows[:n], *rows[n : n + 2][::-1], *rows[n + 2 :]])),
    "row lost": Kind(splits, in_split(lambda rows, rng, n: rows[:n] + rows[n + 1 :])),
    "row twice": Kind(splits, in_split(lambda rows, rng, n: [*rows[: n + 1], dict(rows[n]), *rows[n + 1 :]])),
    "row added": Kind(splits, added),
    "row in another split": Kind(splits, moved),
    "table lost": Kind(tables, lambda forged, rng, table: forged.tables.pop(table)),
    "shard added": Kind(tables, by_hand("{}/*.parquet", shard_added), True),
    "another clip": Kind(videos, another_clip),
    "frames reversed": Kind(videos, with_video(lambda content, forged, rng: recoded(content, forged, backwards=True))),
    "encoded again": Kind(videos, with_video(lambda content, forged, rng: recoded(content, forged))),
    "sound 20 ms late": Kind(videos, with_video(lambda content, forged, rng: recoded(content, forged, late=0.02))),
    "bytes added": Kind(videos, with_video(lambda content, forged, rng: content + b"\0\0\0\x08free")),
    "entry of the record changed": Kind(entries, in_entry(entry_changed), True),
    "entry of the record removed": Kind(entries, in_entry(lambda holder, key, rng: holder.pop(key)), True),
    "entry added to the record": Kind(entries, in_entry(entry_added), True),
    "option retold": Kind(options, option_retold),
    "skip invented": Kind(anywhere, skip_invented),
    "skip removed": Kind(anywhere, skip_removed),
    "units reordered": Kind(anywhere, lambda forged, rng: forged.units.sort(key=lambda place: place[1])),
    "unit renamed": Kind(anywhere, unit_renamed),
    "border of units moved": Kind(anywhere, border_moved),
    "card edited": Kind(anywhere, by_hand("README.md", word_edited)),
    "croissant.json edited": Kind(anywhere, by_hand("croissant.json", word_edited)),
    "figure replaced": Kind(anywhere, by_hand(FIGURES, lambda path, rng: path.write_bytes(PNG * 2))),
}


class Forged(NamedTuple):
    """A forgery that was made."""

    kind: str
    place: Place
    what: str
    out: Path

    @property
    def structural(self) -> bool:
        """Whether files, schemas, counts or hashes may give it away."""
        return KINDS[self.kind].structural or "sha256" in self.place


def make(out: Path, copy: Path, name: str, place: Place, seed: object) -> Forged | None:
    """Make a forgery; None if nothing would be another than it was."""
    forged = forger.load(out)
    try:
        KINDS[name].change(forged, Random(f"{seed} {name} {place}"), *place)
    except NothingThereError:
        return None
    forger.write(forged, copy)
    if files_of(out) == files_of(copy):
        shutil.rmtree(copy)
        return None
    return Forged(name, place, what(forger.load(out), forged), copy)


def what(before: Forgery, after: Forgery) -> str:
    """Describe the first difference in the rows or the record."""
    pairs = [("build.json", before.info, {**after.info, **{key: before.info[key] for key in WRITTEN}})]
    for table in after.tables:
        pairs += [(table, *both) for both in zip(before.rows(table), after.rows(table), strict=False)]
    for name, old, new in pairs:
        for key in old:
            if old[key] != new.get(key):
                return f"{name}, {key}: {str(old[key])[:99]} became {str(new.get(key))[:99]}"
    return "rows, or other files"


def files_of(out: Path) -> dict[str, bytes]:
    """All files of an output, by name."""
    return {path.relative_to(out).as_posix(): path.read_bytes() for path in out.rglob("*") if path.is_file()}


def forgeries(out: Path, copy: Path, kinds: Iterable[str], seed: object) -> Iterator[Forged]:
    """Make forgeries of each kind, in all places in an order drawn by a seed; each is removed for the next."""
    for kind in kinds:
        places = list(KINDS[kind].places(forger.load(out)))
        for place in Random(f"{seed} {kind}").sample(places, len(places)):
            if made := make(out, copy, kind, place, seed):
                yield made
                shutil.rmtree(copy)
