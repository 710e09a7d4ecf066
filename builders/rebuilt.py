"""Prepare the build of an output again, from its recorded settings and the inputs that are available."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from ..core.build_settings import FOLDER, BuildSettings, command_line, from_record, recorded
from ..core.errors import InputError, UsageError
from ..core.extras import MissingExtraError, check_requirements
from ..core.output import FinishedOutput, NotChecked
from ..core.settings import ITSELF, SAMPLE, Input, Option, checked, options_of
from ..core.version import __version__
from ..video.source_files import find_file
from .base import Benchmark, Prepared

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
    if other := other_version(output):
        return NotChecked(other, "version")
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


def checked_inputs(benchmark: Benchmark, given: Mapping[str, Any]) -> dict[str, Any]:
    """Validate build options given as keywords. Raise UsageError if an option or its value is invalid."""
    inputs = {option.name: option for option in options_of(benchmark.settings) if option.input}
    values = {name.replace("-", "_"): value for name, value in given.items()}
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
    paths = (_first(each, folders) for each in sorted(inputs) if fnmatchcase(each, wanted.found_by or "*"))
    return next((path.parent for path in paths if path), None)


def _first(name: str, folders: Sequence[Path]) -> Path | None:
    is_name = Path(name).name == name != ".." and len(name.encode()) <= LONGEST_NAME
    paths = (find_file(folder, name) for folder in folders if is_name)
    return next((path for path in paths if path), None)
