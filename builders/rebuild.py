"""Verify an output by building it again from its sources, which detects forged content.

The build is planned by the benchmark's own `prepare`. The rows of every unit are compared with those in the output, and
all videos, or a sample, are rendered again and compared. The output cannot influence what is checked.
"""

from __future__ import annotations

import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from itertools import groupby, islice, pairwise, product
from pathlib import Path
from typing import Any, NamedTuple

from ..core.build_settings import FOLDER, BuildSettings, command_line, from_record, recorded
from ..core.documents import parse_json
from ..core.errors import InputError, UsageError, VideoError
from ..core.extras import MissingExtraError, check_requirements
from ..core.files import canonical_json
from ..core.fingerprint import Fingerprint, read_units
from ..core.numerics import rng_for
from ..core.output import Compared, Finding, FinishedOutput, NotChecked, Note, NotRun
from ..core.plan import LEFT_OUT, SPLIT, UNTIMED, Builder, Facts, Skip, Unit, changed
from ..core.schema import Row
from ..core.settings import ITSELF, SAMPLE, Input, Option, checked, options_of
from ..core.version import ENGINE, __version__
from ..core.workers import on_processes
from ..video.compare import encoder_difference
from ..video.encode import without_loss
from ..video.source_files import find_file
from .base import Benchmark, Prepared
from .runtime.build import in_order, results
from .runtime.pack import LOSSES, Key, Links, count_rows, links_of_output, unit_rows
from .runtime.table_checks import differences
from .runtime.video_checks import video_reader

FEW_VIDEOS, FEW_SAMPLED, EACH_KIND = 60, 20, 2
RENDERED = 5  # maximum number of units to render because their rows differ, since `look` may miss a broken file
OF_ROWS = ("counts", "skips", f"notes.{UNTIMED}")
MOST_OTHERWISE = 0.5  # share of rows; with noise of 1e-6, one changed choice led to others in 35% of the rows

Rows = dict[str, list[Row]]
"""Rows of a unit by table ("config/split")."""


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


class RebuiltVideo(NamedTuple):
    """A video of an output: its config, split and key, and the number of the unit that renders it, as `file`."""

    config: str
    split: str
    key: tuple[Any, ...]
    unit: int
    file: str

    @property
    def title(self) -> str:
        """Table and key, for messages."""
        return f"{self.config}/{self.split}: {' '.join(map(str, self.key))}"


class Rebuild:
    """A build that is planned again and compared with an output. The checks must run in order."""

    def __init__(
        self,
        prepared: Prepared,
        info: Mapping[str, Any],
        output: FinishedOutput,
        options: RebuildOptions,
    ):
        self.builder, self.info, self.options = prepared.builder, info, options
        self._tools, self._tools_here = output.info.get("tools", {}), info.get("tools", {})
        self._planned_here = prepared.plan
        other_engine = self._tools.get(ENGINE) != self._tools_here.get(ENGINE)
        chosen = prepared.as_chosen(output) if other_engine else None
        self.chosen_elsewhere, self.plan = chosen is not None, chosen or prepared.plan
        self._configs = {config.name: config for config in self.plan.tables}
        self._videos: list[RebuiltVideo] = []
        self._skips: list[Skip] = []
        self._untimed: set[str] = set()
        self._rendered: set[str] = set()
        self._counts: Counter[Key] = Counter()
        self._links = Links({}, {})
        self._absent: Counter[str] = Counter()

    def check_rows(self, output: FinishedOutput) -> Iterator[Finding]:
        """Check that every unit produces the rows of the output: all columns, in order.

        `table_checks.check_hashes` checks that the rows are those that `units.parquet` lists.
        """
        yield from (f"{name}: there is no such table" for name in output.info["counts"] if name not in self._configs)
        streams = {
            f"{name}/{split}": output.rows(name, config.plain, split)
            for name, config in self._configs.items()
            for split in output.splits(name)
        }
        entries = [(unit_id, list(group)) for unit_id, group in groupby(read_units(output.path), lambda e: e.unit_id)]
        units = [*self.plan.units, LOSSES]
        yield from _unplanned([unit_id for unit_id, _ in entries], units)
        entries_of = dict(entries)
        self._links = links_of_output(output, self.plan.configs)  # whose targets are checked here as well
        listed = {skip["unit_id"] for skip in output.info["skips"]["list"]}
        skips: dict[str, Skip] = {}
        skipped_parts: dict[str, list[Skip]] = {}
        rendered_again = 0
        for index, (unit, facts) in enumerate(zip(units, self._facts(units, listed), strict=True)):
            stored = {
                entry.table: list(islice(streams.get(entry.table, iter(())), entry.rows))
                for entry in entries_of.get(unit.id, ())
            }
            if isinstance(facts, Skip):
                skips[unit.id] = facts
                if stored and facts.reason == "missing_video":
                    self._absent[unit.source_id] += 1
                elif stored:
                    yield f"{unit.id} is in the output, but cannot be built: {facts.detail}"
                continue
            if unit is LOSSES:
                self._skips = in_order(self.plan, skipped_parts, skips)
            self._untimed |= {unit.source_id} if facts.get("untimed") else set()
            built = self._built(unit, facts)
            problems = list(self._differing(built, stored))
            if problems and unit.id in self._rendered and rendered_again < RENDERED:
                rendered_again += 1
                exact = look_again(self.builder, unit, render=True)
                if not isinstance(exact, Skip):
                    facts, built = exact, self._built(unit, exact)
                    problems = list(self._differing(built, stored))
            yield from problems
            skipped_parts[unit.id] = [Skip(**{**skip, "scope": "part"}) for skip in facts.get("skips", ())]
            for table, rows in built.items():
                config = self._configs[table.partition("/")[0]]
                self._counts[config.name, unit.split] += len(rows)
                for row, column in product(rows, config.videos):
                    key = tuple(row[name] for name in config.key)
                    self._videos.append(RebuiltVideo(config.name, unit.split, key, index, row[column]))
        yield Compared(
            f"{sum(self._counts.values()):,} rows of {len(self.plan.units):,} {self.plan.noun}s, built again"
        )
        if self._absent:
            names = ", ".join(sorted(self._absent)[:5])
            yield NotChecked(
                f"{self._absent.total()} units, because their source videos are missing: {names}", "videos"
            )

    def _facts(self, units: Sequence[Unit], listed: set[str]) -> Iterator[Facts | Skip]:
        """Yield the facts of all units. Those listed as skipped are rendered, which reveals further faults."""
        rendering = [unit for unit in self.plan.units if self.builder.renders(unit)]
        self._rendered = {unit.id for unit in rendering}
        calls = ((self.builder, unit, unit.id in listed) for unit in rendering)
        facts = on_processes(look_again, calls, self.options.workers)
        for unit in units:
            yield next(facts) if unit.id in self._rendered else {}

    def _built(self, unit: Unit, facts: Facts) -> Rows:
        rows: Rows = defaultdict(list)
        for config, row in unit_rows(self.plan, self.builder, unit, facts, self._skips, self._links):
            rows[f"{config.name}/{unit.split}"].append(row)
        return rows

    def _differing(self, built: Rows, stored: Rows) -> Iterator[str]:
        """Compare the rows of a unit with those in the output, except for values that depend on rendered files."""
        for table in {**built, **stored}:
            expected, rows = built.get(table, []), stored.get(table, [])
            if self._absent and table == f"{LEFT_OUT.name}/{SPLIT}":  # other videos are missing here than there
                expected, rows = ([row for row in side if row["stage"] != "rendering"] for side in (expected, rows))
            if len(expected) != len(rows):
                yield f"{table}: {len(rows)} rows, but {len(expected)} are built"
            for row, expected_row in zip(rows, expected, strict=False):
                config = self._configs[table.partition("/")[0]]
                known = {name: value for name, value in expected_row.items() if name not in config.of_files}
                key = " ".join(str(row[name]) for name in config.key)
                yield from (f"{table}: {key}: {line}" for line in differences(row, known))

    def check_choices(self, output: FinishedOutput) -> Iterator[Finding]:
        """Check that choices made by another embedding engine mostly match those made here.

        `check_rows` compares the rows with a plan that has these choices only where the rules allow them.
        """
        planned, chosen_rows = (
            [row for unit in plan.units for row in unit.payload.get("rows", ())]
            for plan in (self._planned_here, self.plan)
        )
        count = sum(row != chosen for row, chosen in zip(planned, chosen_rows, strict=True))
        if count > MOST_OTHERWISE * len(planned):
            yield f"{count} of {len(planned)} rows have choices other than those made here, more than rounding explains"
        yield Note(
            f"chosen with {self._tools.get(ENGINE, 'an unknown engine')}, here with {self._tools_here.get(ENGINE)}: "
            f"{count} of {len(planned)} rows have choices other than those made here, which follow the rules"
        )

    def check_record(self, output: FinishedOutput) -> Iterator[Finding]:
        """Check the entries of `build.json`, except the fingerprints, which `table_checks.check_hashes` checks."""
        tools, here = self._tools, self._tools_here
        plan = replace(self.plan, identity={**self.plan.identity, "tools": tools})
        counts = count_rows(self.plan, self._counts)
        built = results(plan, self._skips, counts, self._links.counts(), Fingerprint(), self._untimed)
        hashes = {name: output.info[name] for name in ("fingerprints", "fingerprint")}
        expected = {**self.info, **built, **hashes, "tools": tools}
        for line in changed(_as_stored(output.info), _as_stored(expected)):
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
        if self._videos and not self.options.decode:
            yield NotRun("the content of the videos is not checked, because of --no-decode")
            return
        chosen = drawn(self._videos, self.options.sample, self.options.seed)
        for problems in on_processes(videos_again, self._jobs(output, chosen), self.options.workers):
            yield from problems
        yield Compared(f"{len(chosen):,} of {len(self._videos):,} videos rendered again")
        if len(chosen) < len(self._videos):
            yield Note(
                f"{len(self._videos) - len(chosen):,} of {len(self._videos):,} videos were not rendered again; use "
                f"--sample all for all of them (this sample: --sample {len(chosen)} --seed {self.options.seed})"
            )

    def _jobs(self, output: FinishedOutput, chosen: Iterable[RebuiltVideo]) -> Iterator[tuple[Any, ...]]:
        """Yield the units or parts to render, with the videos of the output to compare them with."""
        same_tools = {**self._tools, ENGINE: ""} == {**self._tools_here, ENGINE: ""}  # encoding uses only integers
        stored_video = video_reader(output)

        def part(video: RebuiltVideo) -> tuple[Builder, Unit]:
            return self.builder.part(self.plan.units[video.unit], video.file)

        for (builder, unit), videos in groupby(sorted(chosen, key=lambda video: video.unit), part):
            stored = {video.file: (video.title, stored_video(video.config, video.key)) for video in videos}
            yield builder, unit, stored, same_tools


def _unplanned(stored: Sequence[str], units: Sequence[Unit]) -> Iterator[str]:
    """Yield the ids of stored units that are not built, or not at this position."""
    positions = {unit.id: index for index, unit in enumerate(units)}
    yield from (f"{name} is in the output, but is not built" for name in stored if name not in positions)
    for before, name in pairwise(name for name in stored if name in positions):
        if positions[name] <= positions[before]:
            yield f"{name} is in the output, but is not built at this position"


def _as_stored(info: Mapping[str, Any]) -> Any:
    return parse_json(canonical_json(info))


def drawn(videos: Sequence[RebuiltVideo], sample: int | str | None, seed: int) -> list[RebuiltVideo]:
    """Sample videos: first two of each kind, which is a config and a key without its first column, then others."""
    if sample == "all" or (sample is None and len(videos) <= FEW_VIDEOS):
        return list(videos)
    kinds: Counter[tuple[Any, ...]] = Counter()
    first: list[RebuiltVideo] = []
    rest: list[RebuiltVideo] = []
    for index in rng_for(seed, "verify").permutation(len(videos)):
        kind = (videos[index].config, *videos[index].key[1:])
        kinds[kind] += 1
        (first if kinds[kind] <= EACH_KIND else rest).append(videos[index])
    count = max(FEW_SAMPLED, len(first)) if sample is None else int(sample)
    return [*first, *rest][:count]


def look_again(builder: Builder, unit: Unit, render: bool) -> Facts | Skip:
    """Return the facts of a unit. Render it if that is necessary, or if `render` is true."""
    missing = builder.missing(unit)
    if missing is not None:
        return missing
    try:
        if not render and hasattr(builder, "look"):
            return builder.look(unit)
        with tempfile.TemporaryDirectory(prefix="stressreel-") as folder:
            return builder.render(unit, Path(folder))
    except VideoError as error:
        return Skip(unit.id, unit.source_id, error.reason, error.detail)


def videos_again(builder: Builder, unit: Unit, stored: Mapping[str, tuple[str, bytes]], same_tools: bool) -> list[str]:
    """Compare videos in the output, given with their titles, with the files that a unit renders.

    `same_tools` is true if the recorded tools are the same as on this machine, so that the bytes must be equal.
    """

    def rendered(names: Iterable[str]) -> dict[str, bytes]:
        with tempfile.TemporaryDirectory(prefix="stressreel-") as folder:
            builder.render(unit, Path(folder))
            return {name: (Path(folder) / name).read_bytes() for name in names}

    try:
        again = rendered(stored)
        unlike = {name: content for name, (_, content) in stored.items() if content != again[name]}
        if not unlike:
            return []
        with without_loss():
            exact = rendered(unlike)
    except VideoError as error:
        return [f"{unit.id}: it cannot be rendered again ({error.detail})"]
    problems = {name: encoder_difference(content, again[name], exact[name]) for name, content in unlike.items()}
    if same_tools:
        other = "its frames are nearly identical, but the same tools produce a different file"
        problems = {name: problem or other for name, problem in problems.items()}
    return [f"{stored[name][0]}: {problem}" for name, problem in problems.items() if problem]


LONGEST_NAME = 255  # bytes of a file name


@dataclass(frozen=True)
class Sources:
    """The inputs that are available for building an output again.

    Attributes:
        folders: Folders to search for annotations and videos, in order.
        videos: Folder with the videos, if known.
        given: Build options by keyword. Files named here are not searched for.
    """

    folders: Sequence[Path] = ()
    videos: Path | None = None
    given: Mapping[str, Any] | None = None


def opening(benchmark: Benchmark, settings: BuildSettings, prepared: Prepared) -> dict[str, Any]:
    """Return the first entries of `build.json`: command, settings, inputs and versions."""
    stored = {**recorded(benchmark.decide(settings)), **prepared.recorded}
    return {
        "builder": prepared.plan.builder,
        "dataset_version": settings.version,
        "split": settings.split,
        "command": command_line(benchmark.program, benchmark.settings, stored),
        **{key: value for key, value in prepared.plan.identity.items() if key != "dataset_version"},
        "settings": stored,
    }


def prepare_again(
    output: FinishedOutput, benchmark: Benchmark, sources: Sources
) -> tuple[Prepared, dict[str, Any]] | NotChecked | str:
    """Prepare the build of an output again.

    Returns:
        The results of `prepare` and `opening`; a `NotChecked` if an input is not available; or a message if the record
        is invalid.

    Raises:
        UsageError: An option is unknown, or its value is not allowed.
    """
    if version_note := other_version(output):
        return NotChecked(version_note, "version")
    inputs = checked_inputs(benchmark, sources.given or {})
    try:
        settings = from_record(benchmark.settings, output.info["settings"])
    except InputError as error:
        return f"build.json: settings: {error}"
    values, absent = dict[str, Any](), list[str]()
    for option in options_of(benchmark.settings):
        if option.name in inputs:
            values[option.name] = inputs[option.name]
        elif option.input:
            value = _available(option, option.input, getattr(settings, option.name), sources, output.info["inputs"])
            if isinstance(value, NotChecked):
                absent.append(value.reason)
            else:
                values[option.name] = value
    if absent:
        return NotChecked("; ".join(absent), "inputs")
    settings = replace(settings, **values)
    try:
        check_requirements(benchmark.requirements(settings))
        prepared = benchmark.prepare(settings)
        return prepared, opening(benchmark, settings, prepared)
    except MissingExtraError as error:
        return NotChecked(str(error), "tools")
    except InputError as error:
        return f"it cannot be built again: {error}"


def other_version(output: FinishedOutput) -> str | None:
    """Explain how to verify an output if another version of stressreel built it."""
    built_by = str(output.info.get("tools", {}).get("stressreel", "an unknown version"))
    if built_by == __version__:
        return None
    return (
        f"stressreel {built_by} built this, and this is {__version__}. To verify it, pip install "
        f"stressreel=={built_by} in a separate environment"
    )


def checked_inputs(benchmark: Benchmark, options: Mapping[str, Any]) -> dict[str, Any]:
    """Validate build options given as keywords. Raise UsageError if an option or its value is invalid."""
    inputs = {option.name: option for option in options_of(benchmark.settings) if option.input}
    values = {name.replace("-", "_"): value for name, value in options.items()}
    for name in values:
        if name not in inputs:
            raise UsageError(
                f"--{name.replace('_', '-')} is not an option of verify or an input of {benchmark.program}. Inputs are "
                f"given by {', '.join(option.flag() for option in inputs.values())}."
            )
    return {name: checked(inputs[name].flag(), inputs[name].hint, value) for name, value in values.items()}


def _available(option: Option, wanted: Input, value: Any, sources: Sources, inputs: Iterable[str]) -> Any:
    """Return the path of an input, or `NotChecked` if it is not found."""
    if option.name == "videos":
        return sources.videos
    if value in (None, (), "", SAMPLE):
        return value
    if wanted.private:
        return NotChecked(f"{option.flag()} was passed to the build: pass it here too", "inputs")
    names = value if isinstance(value, tuple) else (value,)
    paths = [_look_for(wanted, Path(name).name, sources.folders, inputs) for name in names]
    if None in paths:
        return NotChecked(
            f"the input of {option.flag()} was not found: pass it, or --annotations or --sources", "inputs"
        )
    return checked(option.name, option.hint, tuple(paths) if isinstance(value, tuple) else paths[0])


def _look_for(wanted: Input, name: str, folders: Sequence[Path], inputs: Iterable[str]) -> Path | None:
    """Find a file by its name, or a folder by the input files it contains."""
    if wanted.found_by == ITSELF:
        return next(iter(folders), None)
    if not name.endswith(FOLDER):
        return _first(name, folders)
    paths = (_first(path_in, folders) for path_in in sorted(inputs) if fnmatchcase(path_in, wanted.found_by or "*"))
    return next((path.parent for path in paths if path), None)


def _first(name: str, folders: Sequence[Path]) -> Path | None:
    is_name = Path(name).name == name != ".." and len(name.encode()) <= LONGEST_NAME
    paths = (find_file(folder, name) for folder in folders if is_name)
    return next((path for path in paths if path), None)
