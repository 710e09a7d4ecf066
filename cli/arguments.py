"""Read options from a YAML file, guard the conversion of arguments, and word the errors of the parser."""

from __future__ import annotations

import difflib
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any, get_args

from cyclopts import (
    App,
    Argument,
    ArgumentCollection,
    CoercionError,
    CycloptsError,
    MissingArgumentError,
    Token,
    UnknownCommandError,
    UnknownOptionError,
    UnusedCliTokensError,
)
from cyclopts.utils import UNSET

from ..core.errors import UsageError


def read_config(path: Path, app: App, commands: tuple[str, ...], arguments: ArgumentCollection) -> None:
    """Add the options in a YAML file to those of the command line, which take precedence.

    Raises:
        UsageError: The file cannot be read, an option is unknown or given twice, or a value has the wrong type.
    """
    from ..core.documents import parse_yaml, read_text
    from ..core.settings import unknown_option

    try:
        content = parse_yaml(read_text(path)) or {}
    except ValueError as error:
        raise UsageError(f"{path} cannot be read as YAML with `option: value` lines: {error}") from error
    if not isinstance(content, Mapping):
        raise UsageError(f"{path} must contain `option: value` lines.")
    known = {name for argument in arguments for name in argument.names if name.startswith("--")}
    given = {id(argument) for argument in arguments if argument.tokens}
    read: dict[int, str] = {}
    for key, value in content.items():
        if value is None:
            continue
        flag = f"--{str(key).replace('_', '-')}"
        if flag not in known:
            raise UsageError(f"{path}: {unknown_option(str(key), [name.removeprefix('--') for name in known])}")
        argument, _, implicit = arguments.match(flag)
        if id(argument) in read:
            raise UsageError(f"{path}: {read[id(argument)]} and {key} set the same option. Leave out one of them.")
        read[id(argument)] = str(key)
        if id(argument) not in given:
            for token in _tokens(flag, value, implicit, str(path)):
                argument.append(token)


def _tokens(flag: str, value: Any, implicit: Any, source: str) -> list[Token]:
    """Return the tokens that a value stands for. `implicit` is the value of a switch that is given."""
    from ..core.documents import shortened

    if implicit is not UNSET:
        if not isinstance(value, bool):
            raise UsageError(f"{source}: {flag} must be true or false, but is {shortened(value)}.")
        return [Token(keyword=flag, source=source, implicit_value=implicit is value)]
    if isinstance(value, Mapping):
        value = [f"{name}={item}" for name, item in value.items()]
    values = value if isinstance(value, list) else [value]
    for item in values:
        if isinstance(item, bool) or not isinstance(item, str | int | float):
            raise UsageError(f"{source}: {flag} must be a text or a number, but is {shortened(item)}.")
    return [Token(keyword=flag, value=str(item), source=source, index=at) for at, item in enumerate(values)]


def guard(app: App, commands: tuple[str, ...], arguments: ArgumentCollection) -> None:
    """Refuse values that cyclopts would convert silently: 2.7 to the whole number 3, and "" to the current folder."""
    from ..core.documents import shortened

    for argument in arguments:
        whole = int in (argument.hint, *get_args(argument.hint)) and argument.parameter.converter is None
        for token in argument.tokens:
            if token.implicit_value is not UNSET:
                continue
            if whole and not token.value.lstrip("+-").isdecimal():
                raise UsageError(f"{flag_of(argument)} must be a whole number, but is {shortened(token.value)}.")
            if not token.value and "Path" in str(argument.hint):
                raise UsageError(f"{flag_of(argument)} is empty. Give a path, such as . for the current folder.")


EVERYWHERE = ("--config", "--json", "--verbose", "--debug", "--help")


def message_of(error: CycloptsError) -> str:
    """Return the message of an error, with the value and the remedy where that of the library lacks them."""
    from ..core.settings import help_of, unknown_option

    argument, unused = error.argument, error.unused_tokens or []
    if isinstance(error, UnknownCommandError) and error.app:
        return _unknown_command(unused[0], [*error.app], list(error.command_chain or ()))
    if isinstance(error, UnknownOptionError):
        word = error.token.keyword or error.token.value
        known = [name for option in error.argument_collection if option.parse for name in option.names]
        return f"{word} is no option after --." if word in known else unknown_option(word, [*known, *EVERYWHERE])
    if isinstance(error, UnusedCliTokensError):
        return f"{shlex.join(unused)} does not belong to any option or argument."
    if argument is None:
        return str(error)
    if isinstance(error, CoercionError) and hasattr(argument.parameter.converter, "read"):
        given = shlex.join(token.value for token in argument.tokens)
        return f"{flag_of(argument)} {given} {str(error.msg).rstrip('.')}."
    if isinstance(error, MissingArgumentError) and error.keyword:
        return f"{error.keyword} requires a value. If the value begins with a dash, write {error.keyword}=VALUE."
    if isinstance(error, MissingArgumentError) and not argument.tokens:
        return f"{flag_of(argument)} is missing. {help_of(error.target).get(argument.field_info.name, '')}".strip()
    return str(error)


def flag_of(argument: Argument) -> str:
    """Return how an argument is given: `--out`, or `OUT` if it needs no flag."""
    return argument.name.lstrip("-").upper() if argument.index is not None else argument.name


def _unknown_command(word: str, names: list[str], chain: list[str]) -> str:
    from ..builders import benchmark_names

    commands = [name for name in names if not name.startswith("-")]
    programs = [] if chain else [f"build-{name}" for name in benchmark_names()]
    near = difflib.get_close_matches(word, [*commands, *programs], 1)
    words = [*chain, near[0].replace("build-", "build ")] if near else []
    remedy = f"Did you mean `stressreel {' '.join(words)}`?" if near else f"Commands: {', '.join(commands)}."
    return f"unknown command {word!r}. {remedy}"
