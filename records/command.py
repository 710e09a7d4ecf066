"""The command that `build.json` records for people: written from settings, and read back to see whether it is true."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from ..errors import InputError
from .options import Field, build, content, options_of, read_settings, settled

S = TypeVar("S")
END = " --out OUT"
OPTION = re.compile(r" (?=--[A-Za-z][\w-]*(?: |$))")


def given_files(settings: Any) -> dict[str, list[str]]:
    """Name the files that options name, by option, for `build.json`: which of the inputs is what."""
    found: dict[str, list[str]] = {}
    for each in options_of(type(settings)):
        value = each.get(settings)
        if each.option.exists and value:
            found[each.keyword] = [path.name for path in (value if isinstance(value, tuple) else (value,))]
    return found


def recorded(program: str, settings: Any, instead: Mapping[str, str | None] | None = None) -> str:
    """Write the command that builds the same content: every option that decides it, spelt out.

    Args:
        program: What is called.
        settings: As given, after `settled`.
        instead: Texts by option, where what was given does not say enough (the tagger that `auto` took); None leaves
            the option out.
    """
    parts = [program]
    for each in options_of(type(settings)):
        spelt = _spelt(each, settings)
        if instead and each.flag in instead:
            text = instead[each.flag]
            spelt = [f"--{each.flag} {text}"] if text is not None else []
        parts += spelt
    return " ".join(parts) + END


def _spelt(each: Field, settings: Any) -> list[str]:
    """Write an option, as often as it is given."""
    option, value = each.option, each.get(settings)
    if option.record == "never" or value in (None, ()) or (option.record == "changed" and value == each.default):
        return []
    if option.counts and not option.counts(settings):
        return []
    if each.kind == "switch":
        if value == each.default:
            return []
        return [f"--{each.flag}" if value else f"--{_off(each)}"]
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
    return [f"--{each.flag} {value.name if isinstance(value, Path) else value}"]


def _off(each: Field) -> str:
    return each.option.off or f"no-{each.flag}"


@dataclass(frozen=True)
class Command:
    """What builds a benchmark.

    Attributes:
        program: What is called, such as "build-clavi".
        settings: Its options.
        decide: Turns settings as given into those that a build keeps in `build.json`.
    """

    program: str
    settings: type[Any]
    decide: Callable[[Any], Any]


def differing_command(info: Mapping[str, Any], command: Command) -> Iterator[str]:
    """Compare the command in `build.json` with what stands beside it: settings, split, limit, version and files.

    Args:
        info: The content of `build.json`.
        command: What builds such outputs.
    """
    program, written = _apart(info, command.settings)
    if program != command.program or not str(info["command"]).endswith(END):
        yield f"build.json: the command is not {command.program} with options and{END}"
    given, unreadable = read_command(info, command.settings)
    if unreadable:
        yield from (f"build.json: the command has {problem}" for problem in unreadable)
        return
    whole = settled(given)
    beside = {"split": info["split"], "limit": info["limit"], "version": info["dataset_version"]}
    for each in options_of(command.settings):
        found, spelt = written.get(each.flag, []), _spelt(each, whole)
        value = each.get(given)
        if value != beside.get(each.flag, value):
            yield f"build.json: by the command --{each.flag} is {value}, beside it {beside[each.flag]}"
        elif found != spelt:
            what = " ".join(found) or f"no --{each.flag}"
            yield f"build.json: the command has {what}, where a build records {' '.join(spelt) or 'nothing'}"
    try:
        yield from _differing_settings(info, command.decide(whole))
    except InputError as error:
        yield f"build.json: the command builds nothing: {error}"
    yield from _differing_files(info, given)


def _differing_settings(info: Mapping[str, Any], decided: Any) -> Iterator[str]:
    """Compare what a command decides with the settings that `build.json` keeps."""
    flags = {each.path: f"--{each.flag}" for each in options_of(type(decided))}
    given, kept = _flat(content(decided)), _flat(info["settings"])
    for path in {**given, **kept}:
        values = [some.get(path, "unknown") for some in (given, kept)]
        if values[0] != values[1]:
            name = flags.get(path, ".".join(path))
            yield f"build.json: by the command {name} is {values[0]}, by the settings {values[1]}"


def _differing_files(info: Mapping[str, Any], given: Any) -> Iterator[str]:
    """Compare the files of the command with those that `build.json` lists, and these with its inputs."""
    options = {each.keyword: each for each in options_of(type(given)) if each.option.exists}
    found = given_files(given)
    for keyword in {**found, **info["files"]}:
        names = info["files"].get(keyword, [])
        each = options.get(keyword)
        if each and each.option.write:  # the command hides its name, and whose file it is
            same = bool(names) == (keyword in found)
        else:
            same = names == found.get(keyword) and set(names) <= set(info["inputs"])
        if not same:
            option = f"--{keyword.replace('_', '-')}"
            yield f"build.json: {option} is said to be {', '.join(names)}, the command or the inputs say something else"


def _flat(settings: Mapping[str, Any], prefix: tuple[str, ...] = ()) -> dict[tuple[str, ...], Any]:
    """List nested settings by path, as JSON has them."""
    found: dict[tuple[str, ...], Any] = {}
    for name, value in settings.items():
        if isinstance(value, Mapping):
            found |= _flat(value, (*prefix, name))
        else:
            found[*prefix, name] = list(value) if isinstance(value, tuple) else value
    return found


def read_command(info: Mapping[str, Any], settings: type[S]) -> tuple[S, list[str]]:
    """Read the command in `build.json`.

    Args:
        info: The content of `build.json`.
        settings: The options of its program.

    Returns:
        The settings that it gives, in which what it does not say has its default; and options that are unknown or
        whose values are not allowed, a line each. Files need not be there.
    """
    options = {each.flag: each for each in options_of(settings)}
    values: dict[tuple[str, ...], Any] = {}
    problems = []
    for flag, written in _apart(info, settings)[1].items():
        each = options.get(flag)
        if each is None:
            problems.append(f"{written[-1]}, which is no option that builds record")
            continue
        try:
            values[each.path] = _value(each, written)
        except ValueError as error:
            problems.append(f"{written[-1]}, which {error}")
    try:
        return build(settings, values), problems
    except InputError as error:
        return read_settings(settings, {}), [*problems, f"options that do not go together: {error}"]


def _apart(info: Mapping[str, Any], settings: type[Any]) -> tuple[str, dict[str, list[str]]]:
    """Take the command in `build.json` apart: its program, and its options by name, as they are written.

    A value may have spaces in it, so it ends where the next option begins.
    """
    off = {_off(each): each.flag for each in options_of(settings) if each.kind == "switch"}
    program, *options = OPTION.split(str(info["command"]).removesuffix(END))
    found: dict[str, list[str]] = {}
    for option in options:
        name = option.split(" ", 1)[0].removeprefix("--")
        found.setdefault(off.get(name, name), []).append(option)
    return program, found


def _value(each: Field, written: list[str]) -> Any:
    """Read the value of an option; of one that is given several times and takes one value, the last.

    Raises:
        ValueError: It is not allowed; the words follow what was given.
    """
    if each.kind == "switch":
        return written[-1].split(" ", 1)[0] != f"--{_off(each)}"
    texts = [option.partition(" ")[2] for option in written]
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
    return text  # which is said to be no number
