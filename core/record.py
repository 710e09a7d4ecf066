"""Record the settings of a build in `build.json`, restore them, and print the command that they come from."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from .errors import InputError, UsageError
from .settings import SAMPLE, Option, Settings, as_tuple, checked, implied, options_of, plain
from .source import source_of
from .source_details import SourceDetails, differing_details

if TYPE_CHECKING:
    from .checks import Finding

S = TypeVar("S", bound=Settings)
FOLDER = "_DIR"
"""Ending of the placeholder for a folder, whose own name is not recorded."""
ALWAYS = ("seed", "version")
"""Options that a command names even if they have their defaults."""


def content(settings: Settings) -> dict[str, Any]:
    """Return the settings that determine the content of a build, as JSON values."""
    return {option.name: getattr(settings, option.name) for option in options_of(type(settings)) if _is_content(option)}


def _is_content(option: Option) -> bool:
    return option.content and option.input is None


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
    again = recorded(decide(replace(settings, **implied(settings))), on_disk=False)
    return {name: [*value] if isinstance(value, tuple) else value for name, value in again.items()}


def command_line(program: str, kind: type[Settings], stored: Mapping[str, Any]) -> str:
    """Return the command that builds an output again, made from the settings in `build.json`.

    It names the options that differ from their defaults and have an effect, and always `--seed` and `--version`.
    """
    settings, words = from_record(kind, stored), [program]
    named = {name: getattr(settings, name) for name in ALWAYS} | effective(kind, stored)
    for option in options_of(kind):
        if option.name not in named or not all(need.met(settings) for need in option.needs):
            continue
        value = named[option.name]
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
