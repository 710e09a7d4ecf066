"""Declare the settings that all builds have in common, record settings in `build.json`, and restore them."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, TypeVar

from cyclopts import Parameter

from .errors import InputError, UsageError
from .results import Result
from .settings import (
    NOT_CONTENT,
    SAMPLE,
    Limit,
    Option,
    OptionalPath,
    Seed,
    Settings,
    Workers,
    as_tuple,
    checked,
    implied,
    options_of,
    parsed,
    plain,
    within,
)
from .source import SourceDetails, differing_details, source_of

if TYPE_CHECKING:
    from .output import Finding
    from .plan import Unit

ExecutorKind = Literal["auto", "inline", "processes", "ray"]
SEMANTIC_VERSION = re.compile(r"(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(-[0-9A-Za-z.-]+)?(\+[0-9A-Za-z.-]+)?")


def semantic_version(text: str) -> str:
    """Return the text unchanged, or raise ValueError if it is not a semantic version."""
    if not SEMANTIC_VERSION.fullmatch(str(text)):
        raise ValueError("is not a semantic version such as 1.0.0 or 1.2.0-rc.1")
    return str(text)


@dataclass(frozen=True, kw_only=True)
class RunOptions(Settings):
    """How a build runs, which does not affect its content and is not recorded.

    Attributes:
        out: Output folder: new, empty, or with an earlier run of the same build.
        workers: Number of worker processes; it does not affect the result.
        executor: Where to render units: in this process, in worker processes on this machine, or on a Ray cluster; auto
            uses processes if there is more than one worker.
        ray_address: Address of the Ray cluster's head node, host:port.
        shard: Render part I of N. All N processes share --out, and the last one to finish writes the tables.
        withhold: After the build, also write two copies to OUT.withheld, one without and one with the answers of this
            split; see `stressreel withhold`.
        resume: Continue an earlier run, or discard it and start again.
        dry_run: Print the plan with estimated sizes and times, and write nothing. A few frames are encoded for the
            estimate.
        check_space: Check for enough free disk space before starting.
        progress: Show progress.
    """

    out: OptionalPath = None
    workers: Workers = None
    executor: ExecutorKind = "auto"
    ray_address: Annotated[
        str | None,
        Parameter(show_default="the cluster running on this machine, else a new local one"),
    ] = None
    shard: Annotated[WorkShare | str | None, parsed(read_share, metavar="I/N")] = None
    withhold: str | None = None
    resume: Annotated[bool, Parameter(negative="--fresh")] = True
    dry_run: bool = False
    check_space: bool = True
    progress: bool = True


@dataclass(frozen=True, kw_only=True)
class BuildSettings(RunOptions):
    """Settings that all builds have in common.

    Attributes:
        seed: Random seed.
        split: Splits to build.
        limit: Build only the first N units by id, as a trial run.
        allow_missing: Continue without videos that are missing or cannot be opened. They do not count towards
            --max-skip.
        max_skip: Maximum share of units that may be skipped because of faulty videos; above it, the build fails.
        version: Semantic version of the dataset.
    """

    unrecorded: ClassVar[frozenset[str]] = frozenset({*(each.name for each in fields(RunOptions)), "videos"})

    seed: Seed = 0
    split: Annotated[str, NOT_CONTENT] = "all"
    limit: Annotated[Limit, NOT_CONTENT] = None
    allow_missing: Annotated[bool, NOT_CONTENT] = False
    max_skip: Annotated[float, within(0, 1), NOT_CONTENT] = 0.01
    version: Annotated[str, parsed(semantic_version), NOT_CONTENT] = "1.4.0"


@dataclass(frozen=True)
class WorkShare:
    """One of `count` equal parts of the work, numbered from 1."""

    number: int
    count: int

    def __str__(self) -> str:
        return f"{self.number}/{self.count}"

    def of(self, units: Sequence[Unit]) -> list[Unit]:
        """Return the units of a plan that belong to this share.

        Units are dealt out in order of decreasing cost, alternately forward and backward, so that all shares have
        about the same amount of work.
        """
        ordered = sorted(units, key=lambda unit: (-unit.cost, unit.id))
        turn = 2 * self.count
        mine = {self.number - 1, turn - self.number}
        return [unit for index, unit in enumerate(ordered) if index % turn in mine]


@dataclass(frozen=True)
class Unfinished(Result):
    """A build in shares, of which one is finished and others are not. `print` shows what remains.

    Attributes:
        path: The output folder.
        share: The finished share, such as "1/4".
        remaining: Number of units that are not rendered yet.
        total: Number of units that the build renders.
        noun: Noun for a unit, such as "pair".
        running: The shares that other processes are rendering.
    """

    path: Path
    share: str
    remaining: int
    total: int
    noun: str
    running: tuple[str, ...] = ()

    def __str__(self) -> str:
        done = f"share {self.share} is finished; {self.remaining:,} of {self.total:,} {self.noun}s remain"
        if self.running:
            names = ", ".join(self.running[:5]) + ", …" * (len(self.running) > 5)
            return (
                f"{done}, and {len(self.running)} more are running ({names}). The last one to finish writes the tables."
            )
        return (
            f"{done}, in shares that have not started or not finished. Run them; the last one to finish writes the "
            "tables."
        )


def read_share(text: str) -> WorkShare:
    """Parse a share such as "3/50", or raise ValueError with a message that can follow the text."""
    match = re.fullmatch(r"([0-9]{1,6})/([0-9]{1,6})", str(text).strip())
    if not match or not 1 <= int(match[1]) <= int(match[2]):
        raise ValueError("is not in the form I/N, such as 3/50 for the third of 50 parts, with I from 1 to N")
    return WorkShare(int(match[1]), int(match[2]))


S = TypeVar("S", bound=Settings)
FOLDER = "_DIR"
"""Ending of the placeholder for a folder, whose own name is not recorded."""
ALWAYS = ("seed", "version")
"""Options that a command names even if they have their defaults."""


def content(settings: Settings) -> dict[str, Any]:
    """Return the settings that determine the content of a build, as JSON values."""
    options = (option for option in options_of(type(settings)) if option.content and option.input is None)
    return {option.name: getattr(settings, option.name) for option in options}


def recorded(settings: Settings, *, on_disk: bool = True) -> dict[str, Any]:
    """Return the settings as `build.json` records them: all but those of the run, inputs by name, and no folders.

    Unless `on_disk`, inputs are names that were recorded, which need not exist here.
    """
    return {
        option.name: _named(option, getattr(settings, option.name), on_disk)
        for option in options_of(type(settings))
        if option.name not in settings.unrecorded
    }


def _named(option: Option, value: Any, on_disk: bool) -> Any:
    """Return a value or, for an input, the name of a file, `sample`, or a placeholder for a folder or private value."""
    if option.input is None:
        return value
    if isinstance(value, tuple):
        return [_named(option, item, on_disk) for item in value]
    if value is None or value == SAMPLE:
        return value
    placeholder = option.name.upper()
    if option.input.private:
        return placeholder
    name = Path(value).name
    if (on_disk and Path(value).is_dir()) or (option.input.found_by and not option.input.or_file):
        return placeholder + FOLDER
    return f"./{SAMPLE}" if name == SAMPLE else name


def from_record(kind: type[S], stored: Mapping[str, Any]) -> S:
    """Restore settings from the result of `recorded`. Fields that it does not contain keep their defaults.

    Raises:
        UsageError: A value is not allowed, or one without a default is missing.
    """
    values = {}
    for option in options_of(kind):
        if option.name in stored:
            hint = plain(option.hint) if option.input else option.hint  # inputs need not exist any more
            value = stored[option.name]
            empty = value in ([], ()) and isinstance(option.default, tuple)
            values[option.name] = () if empty else checked(option.name, hint, value)
        elif option.required:
            raise UsageError(f"{option.name} is missing")
    return kind(**values)


def effective(kind: type[Settings], stored: Mapping[str, Any]) -> dict[str, Any]:
    """Return the recorded values that differ from their defaults and have an effect."""
    settings = from_record(kind, stored)
    return {
        option.name: stored[option.name]
        for option in options_of(kind)
        if stored.get(option.name) not in (None, [], ())
        and getattr(settings, option.name) != option.default
        and all(need.met(settings) for need in option.needs)
    }


def rebuilt(kind: type[S], stored: Mapping[str, Any], decide: Callable[[S], S]) -> dict[str, Any]:
    """Return what a build would record whose options are those that have an effect, as JSON values."""
    settings = from_record(kind, effective(kind, stored))
    recorded_again = recorded(decide(replace(settings, **implied(settings))), on_disk=False)
    return {name: [*value] if isinstance(value, tuple) else value for name, value in recorded_again.items()}


def command_line(program: str, kind: type[Settings], stored: Mapping[str, Any]) -> str:
    """Return the command that builds an output again, made from the settings in `build.json`.

    It names the options that differ from their defaults and have an effect, and always `--seed` and `--version`.
    """
    settings, words = from_record(kind, stored), [program]
    values_by_name = {name: getattr(settings, name) for name in ALWAYS} | effective(kind, stored)
    for option in options_of(kind):
        if option.name not in values_by_name or not all(need.met(settings) for need in option.needs):
            continue
        value = values_by_name[option.name]
        if option.is_switch:
            words.append(option.flag(value))
            continue
        values = [str(item) for item in as_tuple(value)]
        if option.parameter.converter is None:  # a tuple of several words
            words += [option.flag(), *values]
        else:
            for text in values if option.input else [",".join(values)]:
                words += [f"{option.flag()}={text}"] if text.startswith("-") else [option.flag(), text]
    return f"{shlex.join(words)} --out OUT"


def check_record(info: Mapping[str, Any], program: str, kind: type[S], decide: Callable[[S], S]) -> Iterator[Finding]:
    """Yield a line for every entry of `build.json` that contradicts the settings recorded there."""
    stored = info["settings"]
    if unknown := sorted(set(stored) - {option.name for option in options_of(kind)}):
        yield f"build.json: settings has {', '.join(unknown)}, which is not an option of the build"
        return
    try:
        settings = from_record(kind, stored)
        command = command_line(program, kind, stored)
        again = rebuilt(kind, stored, decide)
    except InputError as error:
        yield f"build.json: settings: {error}"
        return
    for name, value in again.items():
        if name not in stored or stored[name] != value:
            yield f"build.json: settings: {name} is {stored.get(name)!r}, but would be {value!r} by the other settings"
    if info["command"] != command:
        yield f"build.json: the command is {info['command']!r}, but the settings are those of {command!r}"
    beside = {"split": info["split"], "limit": info["limit"], "version": info["dataset_version"]}
    for name, value in beside.items():
        if getattr(settings, name) != value:
            yield f"build.json: {name} is {getattr(settings, name)} in the settings, but {value}"
    if isinstance(settings, SourceDetails):
        yield from differing_details(source_of(info), settings)
    for option in options_of(kind):
        for name in as_tuple(stored.get(option.name) or ()) if option.is_file else ():
            if name != SAMPLE and not name.endswith(FOLDER) and Path(name).name not in info["inputs"]:
                yield f"build.json: {option.flag()} was {name}, but it is not among the inputs"
