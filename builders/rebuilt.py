"""Prepare the build of an output again, from its recorded settings and the inputs that are available."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from ..core.build_options import BuildSettings
from ..core.checks import NotChecked
from ..core.command import given_files, read_command, recorded, removed_from
from ..core.errors import InputError, UsageError
from ..core.options import ITSELF, NAME, Field, Option, options_of, with_value
from ..core.output import FinishedOutput
from ..core.requirements import MissingExtraError, check
from ..core.version import __version__
from ..video.source_files import find_file
from .base import Benchmark, Prepared

SAMPLE = "sample"


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
    return {
        "builder": prepared.plan.builder,
        "dataset_version": settings.version,
        "split": settings.split,
        "files": given_files(settings),
        "command": recorded(benchmark.program, settings, prepared.recorded),
        **{key: value for key, value in prepared.plan.identity.items() if key != "dataset_version"},
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
    built_by = str(output.info.get("tools", {}).get("stressreel", "an unknown version"))
    if built_by != __version__:
        return NotChecked(other_version(built_by), "version")
    if why := removed_from(output.info, benchmark.settings):
        return NotChecked(f"an earlier version of stressreel built this: {why}", "version")
    settings, problems = read_command(output.info, benchmark.settings)
    if problems:
        return f"build.json: the command has {problems[0]}"
    options = {each.keyword: each for each in options_of(benchmark.settings)}
    values = {options[name].path: value for name, value in checked(benchmark, sources.given or {}).items()}
    absent: list[str] = []
    for each in options.values():
        if each.path not in values:
            found = _found(each, each.get(settings), sources, output.info["inputs"])
            if isinstance(found, NotChecked):
                absent.append(found.reason)
            else:
                values[each.path] = found
    if absent:
        return NotChecked("; ".join(absent), "inputs")
    for path, value in values.items():
        settings = with_value(settings, path, value)
    try:
        check(benchmark.requirements(settings))
        prepared = benchmark.prepare(settings)
        return prepared, opening(benchmark, settings, prepared)
    except MissingExtraError as error:
        return NotChecked(str(error), "tools")
    except InputError as error:
        return f"it cannot be built again: {error}"


def other_version(built_by: str) -> str:
    """Explain that another version of stressreel built an output, and how to verify it."""
    return (
        f"stressreel {built_by} built this, and this is {__version__}. To verify it, pip install "
        f"stressreel=={built_by} in a separate environment"
    )


def checked(benchmark: Benchmark, given: Mapping[str, Any]) -> dict[str, Any]:
    """Validate build options given as keywords. Raise UsageError if an option or its value is invalid."""
    options = {each.keyword: each for each in options_of(benchmark.settings)}
    values = {}
    for name, value in given.items():
        if name not in options:
            raise UsageError(
                f"--{name.replace('_', '-')} is not an option of verify or {benchmark.program}. Only options for "
                "inputs of the build are allowed, such as --videos DIR."
            )
        try:
            values[name] = options[name].check(value)
        except ValueError as error:
            raise UsageError(f"--{options[name].flag} {value} {error}. {options[name].option.help}") from error
    return values


def _found(each: Field, value: Any, sources: Sources, inputs: Iterable[str]) -> Any:
    option = each.option
    if option.record == "never" and each.kind == "path":
        return sources.videos
    if value in (None, (), "", SAMPLE):
        return value
    if option.exists or option.found_by:
        values = value if isinstance(value, tuple) else (value,)
        paths = [_look_for(option, Path(name).name, sources.folders, inputs) for name in values]
        if None in paths:
            return NotChecked(
                f"the input of --{each.flag} was not found: pass it, or --annotations or --sources", "inputs"
            )
        found = [str(path) if each.kind == "text" else path for path in paths]
        return tuple(found) if isinstance(value, tuple) else found[0]
    if option.write is not None and not option.content and each.kind in ("text", "path") and not option.read:
        return NotChecked(f"--{each.flag} was passed to the build: pass it here too", "inputs")
    return value


def _look_for(option: Option, name: str, folders: Sequence[Path], inputs: Iterable[str]) -> Path | None:
    """Find a file by its name, or a folder by the input files it contains."""
    if option.found_by == ITSELF:
        return next(iter(folders), None)
    by_name = option.found_by in ("", NAME)
    if by_name and (path := _first(name, folders)):
        return path
    names = sorted((each for each in inputs if by_name or fnmatchcase(each, option.found_by)), key=lambda n: n != name)
    for each in names if option.found_by else ():
        if path := _first(each, folders):
            return path if each == name or (option.or_file and len(names) == 1) else path.parent
    return None


def _first(name: str, folders: Sequence[Path]) -> Path | None:
    found = (find_file(folder, name) for folder in folders if Path(name).name == name != "..")
    return next((path for path in found if path), None)
