"""Format the build command that `build.json` records, and parse it when the output is verified."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from .checks import Finding, NotChecked
from .documents import parse_json
from .errors import InputError
from .files import canonical_json
from .options import Field, build, content, options_of, read_settings, removed
from .plan import changed
from .source import source_of
from .source_details import SourceDetails, differing_details

S = TypeVar("S")
END = " --out OUT"
OPTION = re.compile(r" (?=--[A-Za-z][\w-]*(?: |$))")
QUOTED = re.compile(r"""(?<= )'[^']*'(?:"'"'[^']*')*(?= --|$)""")


def given_files(settings: Any) -> dict[str, list[str]]:
    """Return the names of the input files that the user gave, grouped by option."""
    found: dict[str, list[str]] = {}
    for each in options_of(type(settings)):
        value = each.get(settings)
        if each.option.exists and value:
            found[each.keyword] = [path.name for path in (value if isinstance(value, tuple) else (value,))]
    return found


def recorded(program: str, settings: Any, instead: Mapping[str, str] | None = None) -> str:
    """Return the command line that builds the same content again, including every option that affects it.

    `instead` replaces values that another machine may resolve differently, such as
    `auto`, by option.
    """
    parts = [program]
    for each in options_of(type(settings)):
        if not all(need.met(settings) for need in each.option.needs):
            continue
        if instead and each.flag in instead:
            parts.append(f"--{each.flag} {instead[each.flag]}")
        else:
            parts += _spelt(each, settings)
    return " ".join(parts) + END


def _spelt(each: Field, settings: Any) -> list[str]:
    option, value = each.option, each.get(settings)
    if option.record == "never" or value in (None, ()) or (option.record == "changed" and value == each.default):
        return []
    if each.kind == "switch":
        if value == each.default:
            return []
        return [each.named(value)]
    if option.write:
        text = option.write(value)
        return [] if text is None else [f"--{each.flag} {text}"]
    if each.many and not option.read:
        texts = [item.name if isinstance(item, Path) else str(item) for item in value]
        if each.count > 1:
            return [f"--{each.flag} {' '.join(texts)}"]
        return [f"--{each.flag} {text}" for text in texts]
    if isinstance(value, tuple):
        return [f"--{each.flag} {','.join(map(str, value))}"]
    if option.quoted:
        return [f"--{each.flag} {_quoted(str(value))}"]
    return [f"--{each.flag} {value.name if isinstance(value, Path) else value}"]


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "'\"'\"'") + "'"


def _unquoted(text: str) -> str:
    if not QUOTED.fullmatch(f" {text}", 1):
        raise ValueError("is not quoted")
    return text.replace("'\"'\"'", "'")[1:-1]


@dataclass(frozen=True)
class Command:
    """A build command and the settings that it accepts.

    Attributes:
        decide: Function that resolves the user's settings to those stored in `build.json`.
    """

    program: str
    settings: type[Any]
    decide: Callable[[Any], Any]


def differing_command(info: Mapping[str, Any], command: Command) -> Iterator[Finding]:
    """Yield a line for every value in `build.json` that contradicts the command recorded there."""
    if why := removed_from(info, command.settings):
        yield NotChecked(f"an earlier version of stressreel built this: {why}", "version")
        return
    given, problems = read_command(info, command.settings)
    if problems:
        yield from (f"build.json: the command has {problem}" for problem in problems)
        return
    again = recorded(command.program, given)
    if info["command"] != again:
        yield f"build.json: the command is {info['command']!r}, but a build records {again!r}"
    beside = {"split": info["split"], "limit": info["limit"], "version": info["dataset_version"]}
    for name, value in beside.items():
        if getattr(given, name) != value:
            yield f"build.json: --{name} is {getattr(given, name)} in the command, but {name} is {value}"
    try:
        decided = parse_json(canonical_json(content(command.decide(given))))
        yield from (f"build.json: settings differ from the command: {n}" for n in changed(info["settings"], decided))
    except InputError as error:
        yield f"build.json: the command is invalid: {error}"
    hidden = {each.keyword for each in options_of(command.settings) if each.option.write}
    details = getattr(given, "details", None)
    if isinstance(details, SourceDetails):
        yield from differing_details(source_of(info), details)
    found = given_files(given)
    for keyword in {**found, **info["files"]}:
        names = info["files"].get(keyword, [])
        same = names == found.get(keyword) and set(names) <= set(info["inputs"])
        if not (bool(names) == (keyword in found) if keyword in hidden else same):
            yield f"build.json: --{keyword.replace('_', '-')} was {', '.join(names)}, but not in the command"


def read_command(info: Mapping[str, Any], settings: type[S]) -> tuple[S, list[str]]:
    """Parse the command recorded in `build.json`, even if its input files no longer exist.

    Returns:
        The settings, with defaults for omitted options, and a line for each unknown option or invalid value.
    """
    options = {each.flag: each for each in options_of(settings)}
    values: dict[tuple[str, ...], Any] = {}
    problems = []
    for flag, written in _apart(info, settings)[1].items():
        each = options.get(flag)
        if each is None:
            problems.append(f"{written[-1]}, which is not an option of the build")
            continue
        try:
            values[each.path] = _value(each, written)
        except ValueError as error:
            problems.append(f"{written[-1]}, which {error}")
    try:
        return build(settings, values), problems
    except InputError as error:
        return read_settings(settings, {}), [*problems, f"incompatible options: {error}"]


def removed_from(info: Mapping[str, Any], settings: type[Any]) -> str:
    """Return a sentence about an option of the command recorded in `build.json` that was removed since, or ""."""
    return next(filter(None, map(removed, _apart(info, settings)[1])), "")


def _apart(info: Mapping[str, Any], settings: type[Any]) -> tuple[str, dict[str, list[str]]]:
    off = {each.off: each.flag for each in options_of(settings) if each.kind == "switch"}
    command = str(info["command"]).removesuffix(END)
    quoted = [match.span() for match in QUOTED.finditer(command)]
    starts = [match.end() for match in OPTION.finditer(command)]
    starts = [start for start in starts if not any(low < start < high for low, high in quoted)]
    stops = [*(start - 1 for start in starts), len(command)]
    program, *options = [command[start:stop] for start, stop in zip([0, *starts], stops, strict=True)]
    found: dict[str, list[str]] = {}
    for option in options:
        name = option.split(" ", 1)[0].removeprefix("--")
        found.setdefault(off.get(name, name), []).append(option)
    return program, found


def _value(each: Field, written: list[str]) -> Any:
    """Parse the value of an option. If an option with a single value is repeated, the last value applies.

    Raises:
        ValueError: The value is not allowed. The message starts with a verb, so that it can follow the value.
    """
    if each.kind == "switch":
        return written[-1].split(" ", 1)[0] != f"--{each.off}"
    texts = [option.partition(" ")[2] for option in written]
    if each.option.quoted:
        texts = [_unquoted(text) for text in texts]
    if each.option.read:
        return each.option.read(tuple(texts) if each.many else texts[-1])
    if each.count > 1:
        texts = texts[-1].rsplit(" ", each.count - 1)
    if each.kind == "path":
        return tuple(map(Path, texts)) if each.many else Path(texts[-1])
    values: list[Any] = texts
    if each.kind in ("integer", "number"):
        values = [_number(text) for text in texts]
    return each.check(values if each.many else values[-1])


def _number(text: str) -> int | float | str:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text  # refused by `Field.check`
