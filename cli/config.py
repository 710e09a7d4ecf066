"""Read options from a YAML file, and guard their conversion."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, get_args

from cyclopts import App, ArgumentCollection, Token
from cyclopts.utils import UNSET

from ..core.errors import UsageError
from .messages import flag_of


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
