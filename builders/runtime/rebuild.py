"""Verify an output by building it again from its sources, which detects forged content.

The build is planned by the benchmark's own `prepare`. The rows of every unit are compared with those in the output, and
all videos, or a sample, are rendered again and compared. The output cannot influence what is checked.
"""

from __future__ import annotations

import tempfile
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from itertools import chain, groupby, islice, zip_longest
from pathlib import Path
from typing import Any, NamedTuple

from ...core.checks import Compared, Finding, NotChecked, Note, NotRun
from ...core.documents import parse_json
from ...core.errors import VideoError
from ...core.files import canonical_json
from ...core.fingerprint import Fingerprint, UnitHasher, UnitRows, plain_json, read_units
from ...core.left_out import LEFT_OUT, SPLIT
from ...core.output import FinishedOutput
from ...core.plan import UNTIMED, Builder, Facts, Plan, Skip, Unit, changed
from ...core.schema import Config, Row
from ...core.seeds import rng_for
from ...core.shards import read_rows, row_reader
from ...core.version import ENGINE
from ...core.workers import on_processes
from ...video.compare import encoder_difference
from ...video.encode import without_loss
from .build import in_order, results
from .derived import differences
from .links import Links, links_of_output
from .losses import LOSSES, rows_of_losses
from .pack import Key, count_rows, is_full

FEW_VIDEOS, SAMPLE, EACH_KIND = 60, 20, 2
RENDERED = 5  # maximum number of units to render because their rows differ, since `look` may miss a broken file
OF_ROWS = ("counts", "skips", "fingerprint", f"notes.{UNTIMED}")
MOST_OTHERWISE = 0.5  # share of rows; with noise of 1e-6, one changed choice led to others in 35% of the rows


@dataclass(frozen=True)
class RebuildOptions:
    """Options for rendering videos again.

    Attributes:
        sample: Number of videos, or "all"; by default all of up to 60, else 20 and at least two of each kind.
        seed: Seed of the sample.
        decode: Whether to render videos.
        workers: Number of processes.
    """

    sample: int | str | None = None
    seed: int = 0
    decode: bool = True
    workers: int = 1


@dataclass(frozen=True)
class RebuiltVideo:
    """A video of an output, and the rendered file that must match it.

    Attributes:
        title: Table and key, for messages.
        kind: Table, and key without the first column, such as perturbation and severity.
        row: Row number in the shard.
        unit: Number of the unit in the plan.
        file: Name of the file that the unit renders.
    """

    title: str
    kind: tuple[str, ...]
    shard: Path
    row: int
    unit: int
    file: str


class LocatedRow(NamedTuple):
    """A row of an output: its position, its values with hashes instead of videos, and the text that is hashed."""

    shard: int
    number: int
    row: Row
    line: str


@dataclass
class OutputRows:
    """The rows of a config and split in an output, read once and in order."""

    config: Config
    split: str
    shards: Sequence[Path]
    rows: int = 0
    shard: int = -1
    shard_bytes: int = 0
    misplaced: bool = False
    found: Iterator[tuple[int, int, Row]] = field(init=False)

    def __post_init__(self) -> None:
        numbered = enumerate(self.shards)
        self.found = ((shard, row, found) for shard, path in numbered for row, found in enumerate(read_rows(path)))

    @property
    def name(self) -> str:
        """Return the name of the table in `units.parquet`."""
        return f"{self.config.name}/{self.split}"

    def title(self, row: Row) -> str:
        """Return the key of a row, for use in messages."""
        return " ".join(str(row[name]) for name in self.config.key)

    def take(self, count: int) -> Iterator[LocatedRow]:
        """Return the next rows, with hashes instead of the bytes of videos."""
        for shard, place, row in islice(self.found, count):
            line = plain_json(self.config, row)
            size = len(line)
            for name in self.config.videos:  # it may be large and is not needed again
                content = row[name]["bytes"] or b""
                row[name] = {"path": row[name]["path"], "sha256": sha256(content).hexdigest()}
                size += len(content)
            full = self.shard < 0 or is_full(self.shard_bytes, size)
            self.shard, self.shard_bytes = self.shard + full, size + (0 if full else self.shard_bytes)
            self.misplaced |= self.shard != shard
            yield LocatedRow(shard, place, row, line)


class Rebuild:
    """A build that is planned again and compared with an output. The checks must run in order."""

    def __init__(
        self,
        plan: Plan,
        builder: Builder,
        as_chosen: Callable[[FinishedOutput], Plan] | None,
        info: Mapping[str, Any],
        output: FinishedOutput,
        again: RebuildOptions,
    ):
        self.plan, self.builder, self.info, self.again = plan, builder, info, again
        self._tools, self._here = output.info.get("tools", {}), info.get("tools", {})
        self._planned_here = plan
        self.chosen_elsewhere = bool(as_chosen) and self._tools.get(ENGINE) != self._here.get(ENGINE)
        if as_chosen and self.chosen_elsewhere:
            self.plan = as_chosen(output)
        self._videos: list[RebuiltVideo] = []
        self._fingerprint = Fingerprint()
        self._skips: list[Skip] = []
        self._untimed: set[str] = set()
        self._counts: Counter[Key] = Counter()
        self._links = Links({}, {})
        self._absent: Counter[str] = Counter()

    def check_rows(self, output: FinishedOutput) -> Iterator[Finding]:
        """Check that every unit produces the rows of the output: all columns, in order, in the same shards."""
        configs = {config.name: config for config in self.plan.tables}
        tables: dict[str, OutputRows] = {}
        for name, splits in output.info["counts"].items():
            for split in splits:
                if name in configs:
                    tables[f"{name}/{split}"] = OutputRows(configs[name], split, output.shards(name, split))
                else:
                    yield f"{name}: there is no such table"
        self._links = links_of_output(output, self.plan.configs)  # whose targets are checked here as well
        numbers = {unit.id: number for number, unit in enumerate((*self.plan.units, LOSSES))}
        stated = groupby(read_units(output.path), key=lambda rows: rows.unit_id)
        name, entries = _following(stated)
        skips: dict[str, Skip] = {}
        parts: dict[str, list[Skip]] = {}
        listed = {skip["unit_id"]: skip for skip in output.info["skips"]["list"]}
        rendered = 0
        for number, (unit, facts) in enumerate(chain(self._looked(listed), [(LOSSES, Facts())])):
            while name is not None and numbers.get(name, -1) < number:
                yield f"{name} is in the output, but is not built" + (" at this position" if name in numbers else "")
                for entry in entries:
                    list(tables[entry.table].take(entry.rows) if entry.table in tables else ())
                name, entries = _following(stated)
            there: list[UnitRows] = []
            if name == unit.id:
                there, (name, entries) = entries, _following(stated)
            found = {each.table: list(tables[each.table].take(each.rows)) for each in there if each.table in tables}
            yield from self._hashed(unit, there, tables, found)
            if unit is LOSSES:
                self._skips = in_order(self.plan, parts, skips)
            if isinstance(facts, Skip):
                skips[unit.id] = facts
                if there and facts.reason == "missing_video":
                    self._absent[unit.source_id] += 1
                elif there:
                    yield f"{unit.id} is in the output, but cannot be built: {facts.detail}"
                continue
            self._untimed |= {unit.source_id} if facts.get("untimed") else set()
            built = self._built(unit, facts, configs)
            problems = list(self._differing(built, tables, found))
            if problems and unit is not LOSSES and self.builder.renders(unit) and rendered < RENDERED:
                rendered += 1
                again = render_again(self.builder, unit)
                if not isinstance(again, Skip):
                    facts, built = again, self._built(unit, again, configs)
                    problems = list(self._differing(built, tables, found))
            yield from problems
            parts[unit.id] = [Skip(**{**skip, "scope": "part"}) for skip in facts.get("skips", ())]
            for place, made in built.items():
                self._counts[place.split("/")[0], unit.split] += len(made)
                if place in found:
                    self._note_videos(number, tables[place], made, found[place])
        if name is not None:
            yield f"{name} is in the output, but is not built"
        for table in tables.values():
            if next(table.found, None) is not None:
                yield f"{table.name}: there are rows that belong to no unit"
            elif table.misplaced or table.shard + 1 != len(table.shards):
                yield f"{table.name}: its {len(table.shards)} shards do not start at the rows where a build starts them"
        yield Compared(
            f"{sum(self._counts.values()):,} rows of {len(self.plan.units):,} {self.plan.noun}s, built again"
        )
        if self._absent:
            names = ", ".join(sorted(self._absent)[:5])
            yield NotChecked(
                f"{self._absent.total()} units, because their source videos are missing: {names}", "videos"
            )

    def _looked(self, listed: Mapping[str, Any]) -> Iterator[tuple[Unit, Facts | Skip]]:
        """Yield all units with their facts. Units listed as skipped are rendered, which reveals further faults."""
        calls = ((self.builder, unit, unit.id in listed) for unit in self.plan.units if self.builder.renders(unit))
        found = on_processes(look_again, calls, self.again.workers)
        for unit in self.plan.units:
            yield unit, next(found) if self.builder.renders(unit) else {}

    def _built(self, unit: Unit, facts: Facts, configs: Mapping[str, Config]) -> dict[str, list[Row]]:
        built: dict[str, list[Row]] = defaultdict(list)
        of_losses = unit is LOSSES
        rows = rows_of_losses(self.plan, self._skips, self._links) if of_losses else self.builder.rows(unit, facts)
        for name, row in rows:
            if self._links.keep(name, unit.split, row):
                built[f"{name}/{unit.split}"].append(configs[name].encode(row))
        return built

    def _hashed(
        self,
        unit: Unit,
        stated: Sequence[UnitRows],
        tables: Mapping[str, OutputRows],
        found: Mapping[str, Sequence[LocatedRow]],
    ) -> Iterator[str]:
        hasher = UnitHasher(unit.id)
        for name, places in found.items():
            table = tables[name]
            for _, _, row, line in places:
                hasher.add(name, line)
                for column in table.config.videos:
                    if row[column]["sha256"] != row["sha256"]:
                        yield f"{name}: {table.title(row)}: the video does not match its sha256"
                    if row[column]["path"] != table.config.file_name(row):
                        yield f"{name}: {table.title(row)}: its file has the wrong name {row[column]['path']}"
        for rows, again in zip_longest(stated, hasher.done()):
            if again is not None:
                self._fingerprint.add(again)
            if rows != again:
                yield f"units.parquet does not match the rows of {unit.id}"

    def _differing(
        self,
        built: Mapping[str, Sequence[Row]],
        tables: Mapping[str, OutputRows],
        found: Mapping[str, Sequence[LocatedRow]],
    ) -> Iterator[str]:
        """Compare the rows of a unit with those in the output, except for values that depend on rendered files."""
        for name in {**built, **found}:
            rows, places = built.get(name, ()), found.get(name, ())
            if self._absent and name == f"{LEFT_OUT.name}/{SPLIT}":  # other videos are missing here than there
                rows = [row for row in rows if row["stage"] != "rendering"]
                places = [place for place in places if place.row["stage"] != "rendering"]
            if len(rows) != len(places):
                yield f"{name}: {len(places)} rows, but {len(rows)} are built"
            for row, (_, _, there, line) in zip(rows, places, strict=False):
                table = tables[name]
                own = table.config.of_files
                expected = {**row, **{column: there[column] for column in own}}
                if plain_json(table.config, expected) != line:
                    yield from (f"{name}: {table.title(there)}: {line}" for line in differences(there, expected))

    def _note_videos(self, number: int, table: OutputRows, rows: Sequence[Row], places: Sequence[LocatedRow]) -> None:
        for row, (shard, place, _, _) in zip(rows, places, strict=False):
            for column in table.config.videos:
                kind = (table.config.name, *(str(row[name]) for name in table.config.key[1:]))
                title = f"{table.name}: {table.title(row)}"
                self._videos.append(RebuiltVideo(title, kind, table.shards[shard], place, number, row[column]))

    def check_choices(self, output: FinishedOutput) -> Iterator[Finding]:
        """Check that choices made by another embedding engine mostly match those made here.

        `check_rows` compares the rows with a plan that has these choices only where the rules allow them.
        """
        here, there = (
            [row for unit in plan.units for row in unit.payload.get("rows", ())]
            for plan in (self._planned_here, self.plan)
        )
        count = sum(one != other for one, other in zip(here, there, strict=True))
        if count > MOST_OTHERWISE * len(here):
            yield f"{count} of {len(here)} rows have choices other than those made here, more than rounding explains"
        yield Note(
            f"chosen with {self._tools.get(ENGINE, 'an unknown engine')}, here with {self._here.get(ENGINE)}: {count} "
            f"of {len(here)} rows have choices other than those made here, which follow the rules"
        )

    def check_record(self, output: FinishedOutput) -> Iterator[Finding]:
        """Check the entries of `build.json`: settings, inputs, counts, skips, notes and fingerprints."""
        tools, here = self._tools, self._here
        plan = replace(self.plan, identity={**self.plan.identity, "tools": tools})
        counts = count_rows(self.plan, self._counts)
        built = results(plan, self._skips, counts, self._links.counts(), self._fingerprint, self._untimed)
        expected = {**self.info, **built, "tools": tools}
        for line in changed(_plain(output.info), _plain(expected)):
            if self._absent and line.startswith(OF_ROWS):
                continue
            if line.startswith("notes.") and self.chosen_elsewhere and self.info.get("split", "all") != "all":
                yield NotChecked(f"an entry of build.json that depends on splits which were not built: {line}", "tools")
            else:
                yield f"build.json, and the entry that a build writes: {line}"
        yield Compared(f"{len(expected)} entries of build.json")
        for name in sorted({*tools, *here} - ({ENGINE} if self.chosen_elsewhere else set())):
            if tools.get(name) != here.get(name):
                was, now = tools.get(name, "not used"), here.get(name, "not used")
                yield NotChecked(f"the results of {name} {was}, which the output records; here it is {now}", "tools")

    def check_videos(self, output: FinishedOutput) -> Iterator[Finding]:
        """Check that videos rendered again from their sources match those in the output."""
        if self._videos and not self.again.decode:
            yield NotRun("the content of the videos is not checked, because of --no-decode")
            return
        chosen = drawn(self._videos, self.again.sample, self.again.seed)
        same = {**self._tools, ENGINE: ""} == {**self._here, ENGINE: ""}  # encoding uses only integers
        for problems in on_processes(videos_again, self._jobs(chosen, same=same), self.again.workers):
            yield from problems
        yield Compared(f"{len(chosen):,} of {len(self._videos):,} videos rendered again")
        if len(chosen) < len(self._videos):
            yield Note(
                f"{len(self._videos) - len(chosen):,} of {len(self._videos):,} videos were not rendered again; use "
                f"--sample all for all of them (this sample: --sample {len(chosen)} --seed {self.again.seed})"
            )

    def _jobs(self, chosen: Sequence[RebuiltVideo], *, same: bool) -> Iterator[tuple[Any, ...]]:
        """Yield the units or parts to render, with the videos of the output to compare them with."""
        read = row_reader(["video"])
        for number, videos in groupby(sorted(chosen, key=lambda video: video.unit), key=lambda video: video.unit):
            unit = self.plan.units[number]
            jobs: list[tuple[Builder, Unit, dict[str, tuple[str, bytes]]]] = []
            for video in videos:
                builder, part = self.builder.part(unit, video.file)
                if not jobs or (builder, part) != jobs[-1][:2]:
                    jobs.append((builder, part, {}))
                jobs[-1][2][video.file] = (video.title, read(video.shard, video.row)["video"]["bytes"] or b"")
            yield from ((*job, same) for job in jobs)


def _following(stated: Iterator[tuple[str, Iterator[UnitRows]]]) -> tuple[str | None, list[UnitRows]]:
    name, entries = next(stated, (None, iter(())))
    return name, list(entries)


def _plain(info: Mapping[str, Any]) -> Any:
    return parse_json(canonical_json(info))


def drawn(videos: Sequence[RebuiltVideo], sample: int | str | None, seed: int) -> list[RebuiltVideo]:
    """Sample videos: first two of each kind, then others."""
    if sample == "all" or (sample is None and len(videos) <= FEW_VIDEOS):
        return list(videos)
    order = [videos[place] for place in rng_for(seed, "verify").permutation(len(videos))]
    kinds: Counter[tuple[str, ...]] = Counter()
    first: list[RebuiltVideo] = []
    rest: list[RebuiltVideo] = []
    for video in order:
        kinds[video.kind] += 1
        (first if kinds[video.kind] <= EACH_KIND else rest).append(video)
    count = max(SAMPLE, len(first)) if sample is None else int(sample)
    return [*first, *rest][:count]


def look_again(builder: Builder, unit: Unit, render: bool) -> Facts | Skip:
    """Return the facts of a unit. Render it if that is necessary, or if `render` is true."""
    missing = builder.missing(unit)
    if missing is not None:
        return missing
    if render or not hasattr(builder, "look"):
        return render_again(builder, unit)
    try:
        return builder.look(unit)
    except VideoError as error:
        return Skip(unit.id, unit.source_id, error.reason, error.detail)


def render_again(builder: Builder, unit: Unit) -> Facts | Skip:
    """Render a unit and return its facts."""
    try:
        with tempfile.TemporaryDirectory(prefix="stressreel-") as folder:
            return builder.render(unit, Path(folder))
    except VideoError as error:
        return Skip(unit.id, unit.source_id, error.reason, error.detail)


def videos_again(builder: Builder, unit: Unit, wanted: Mapping[str, tuple[str, bytes]], same: bool) -> list[str]:
    """Compare rendered files of a unit with videos in the output.

    `same` is true if the recorded tools are the same as on this machine, so that the bytes must be equal.
    """
    try:
        with tempfile.TemporaryDirectory(prefix="stressreel-") as folder:
            builder.render(unit, Path(folder))
            again = {name: (Path(folder) / name).read_bytes() for name in wanted}
        unlike = {name: content for name, (_, content) in wanted.items() if content != again[name]}
        if not unlike:
            return []
        with tempfile.TemporaryDirectory(prefix="stressreel-") as folder, without_loss():
            builder.render(unit, Path(folder))
            exact = {name: (Path(folder) / name).read_bytes() for name in unlike}
    except VideoError as error:
        return [f"{unit.id}: it cannot be rendered again ({error.detail})"]
    found = {name: encoder_difference(content, again[name], exact[name]) for name, content in unlike.items()}
    if same:
        other = "its frames are nearly identical, but the same tools produce a different file"
        found = {name: problem or other for name, problem in found.items()}
    return [f"{wanted[name][0]}: {problem}" for name, problem in found.items() if problem]
