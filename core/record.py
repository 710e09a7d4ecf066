"""Record the settings of a build in `build.json`, restore them, and print the command that they come from."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, TypeVar, get_args

from .checks import Finding
from .errors import InputError
from .settings import SAMPLE, Option, Settings, as_tuple, checked, options_of, plain
from .source import source_of
from .source_details import SourceDetails, differing_details

S = TypeVar("S", bound=Settings)
FOLDER = "_DIR"
"""Ending of the placeholder for a folder, whose own name is not recorded."""


def content(settings: Settings) -> dict[str, Any]:
    """Return the settings that determine the content of a build, as JSON values."""
    return {option.name: getattr(settings, option.name) for option in options_of(type(settings)) if _is_content(option)}


def _is_content(option: Option) -> bool:
    return option.content and option.input is None


def recorded(settings: Settings) -> dict[str, Any]:
    """Return the settings as `build.json` records them: all but those of the run, inputs by name, and no folders."""
    return {
        option.name: _named(option, getattr(settings, option.name)) if option.input else getattr(settings, option.name)
        for option in options_of(type(settings))
        if option.name not in settings.unrecorded
    }


def _named(option: Option, value: Any) -> Any:
    """Return the name of an input: that of a file, `sample`, or a placeholder for a folder or something private."""
    if isinstance(value, tuple):
        return [_named(option, item) for item in value]
    if value is None or value == SAMPLE:
        return value
    placeholder = option.name.upper()
    if option.input and option.input.private:
        return placeholder
    name = Path(value).name
    if Path(value).is_dir() or (option.input and option.input.found_by and not option.input.or_file):
        return placeholder + FOLDER
    return f"./{SAMPLE}" if name == SAMPLE else name


def from_record(kind: type[S], stored: Mapping[str, Any]) -> S:
    """Restore settings from the result of `recorded`. Fields that it does not contain keep their defaults.

    Raises:
        UsageError: A value is not allowed.
    """
    values = {}
    for option in options_of(kind):
        if option.name in stored:
            value = stored[option.name]
            hint = plain(option.hint) if option.input else option.hint  # inputs need not exist any more
            if value in (None, [], ()):
                values[option.name] = None if value is None else ()
            else:
                values[option.name] = checked(option.name, hint, value)
    return kind(**values)


def command_line(program: str, kind: type[Settings], stored: Mapping[str, Any]) -> str:
    """Return the command that builds an output again, made from the settings in `build.json`.

    It names the options that differ from their defaults and have an effect, and always `--seed` and `--version`.
    """
    settings, words = from_record(kind, stored), [program]
    for option in options_of(kind):
        value = stored.get(option.name)
        same = getattr(settings, option.name) == option.default and option.name not in ("seed", "version")
        if same or value in (None, [], ()) or not all(need.met(settings) for need in option.needs):
            continue
        if option.is_switch:
            words.append(option.flag(value))
        elif isinstance(value, list | tuple) and getattr(option.parameter.converter, "read", None):
            words += [option.flag(), ",".join(map(str, value))]
        elif isinstance(value, list | tuple):
            repeated = get_args(plain(option.hint))[-1] is Ellipsis
            words += [word for item in value for word in ([option.flag()] if repeated else []) + [str(item)]]
        else:
            words += [option.flag(), str(value)]
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
        decided = content(decide(settings))
    except InputError as error:
        yield f"build.json: settings: {error}"
        return
    if unlike := [name for name, value in content(settings).items() if decided[name] != value]:
        yield f"build.json: settings: {', '.join(unlike)} would be {', '.join(str(decided[name]) for name in unlike)}"
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
            if not name.endswith((SAMPLE, FOLDER)) and name not in info["inputs"]:
                yield f"build.json: {option.flag()} was {name}, but it is not among the inputs"
