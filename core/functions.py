"""Turn the signatures and docstrings of API functions into options of the command line."""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache, wraps
from types import SimpleNamespace
from typing import Annotated, Any, ParamSpec, TypeVar, get_args, get_origin, get_type_hints

from .errors import UsageError
from .extras import named
from .options import LARGEST_COUNT, LARGEST_SEED, MOST_WORKERS, Field, Option, make_field, members, options_of
from .rows import AnyPath, Rows
from .tabular import read_columns

P = ParamSpec("P")
R = TypeVar("R")

Seed = Annotated[int, Option("", minimum=0, maximum=LARGEST_SEED)]
Limit = Annotated[int | None, Option("", minimum=1, maximum=LARGEST_COUNT, shown="all")]
Workers = Annotated[int | None, Option("", minimum=1, maximum=MOST_WORKERS, shown="one per core")]
FirstIndex = Annotated[int, Option("", minimum=0, maximum=1)]
Resamples = Annotated[int, Option("", minimum=100, maximum=100_000)]
Pixels = Option("", minimum=0, maximum=8192)
PathOrRows = Annotated[AnyPath | Rows, Option("", in_memory=True)]
"""A file, or the rows that it would contain."""
ColumnNames = Annotated[Sequence[str] | str | dict[str, str], Option("", read=read_columns)]
"""Names of columns in a user's file, by the names that the function expects."""

EXAMPLES = "\b\n"
NO_OPTION = ("Callable", "Mapping")
SECTION = re.compile(r"\n\n(?:Args|Returns|Raises|Yields|Reference):\n")
FLAG = re.compile(r"--([a-z][a-z-]*[a-z])")
ENTRY = re.compile(r"^    (\w+): ")


def public(function: Callable[P, R]) -> Callable[P, R]:
    """Decorate an API function so that its arguments are validated like the options of its command.

    Raises:
        UsageError: An argument has the wrong type or is out of range.
        MissingExtraError: A required package is not installed.
    """

    @wraps(function)
    def checked(*args: P.args, **kwargs: P.kwargs) -> R:
        bound = inspect.signature(function).bind(*args, **kwargs)
        for each in fields_of(function):
            name = each.path[0]
            if name not in bound.arguments:
                continue
            value = bound.arguments[name]
            if value is each.default and not each.option.required:
                continue
            try:
                bound.arguments[name] = each.check(value)
            except ValueError as error:
                raise UsageError(f"{name}={value!r} {error}. {each.option.help}") from error
        try:
            return function(*bound.args, **bound.kwargs)
        except ModuleNotFoundError as error:
            raise named(error, f"stressreel.{function.__name__}") from error

    return checked


@cache
def fields_of(function: Callable[..., Any]) -> tuple[Field, ...]:
    """Return the parameters of an API function as options, with help texts from its docstring.

    Parameters that accept callbacks or mappings are not options and are omitted.
    """
    function = inspect.unwrap(function)
    said = argument_help(function)
    annotations = function.__annotations__
    hints = {name: hint for name, hint in annotations.items() if name != "return" and not hint.startswith(NO_OPTION)}
    scope = vars(sys.modules[function.__module__])
    hints = get_type_hints(SimpleNamespace(__annotations__=hints), scope, include_extras=True)
    found = []
    for name, parameter in inspect.signature(function).parameters.items():
        if name not in hints:
            continue
        given, kinds = Option(""), members(hints[name])
        if get_origin(hints[name]) is Annotated:
            kinds = (hints[name],)
        for place, kind in enumerate(kinds):
            if get_origin(kind) is Annotated:
                inner, given = get_args(kind)
                kinds = (*kinds[:place], *members(inner), *kinds[place + 1 :])
        required = parameter.default is inspect.Parameter.empty
        told = replace(given, help=said[name], required=required)
        found.append(make_field(name, told, kinds, None if required else parameter.default))
    return tuple(found)


def keyword_signature(
    *settings: type[Any], positional: Sequence[str] = ()
) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Decorate a function with `**options` so that its signature and docstring list the options of settings."""
    listed = [each for kind in settings for each in options_of(kind)]
    listed.sort(key=lambda each: each.keyword not in positional)
    parameters = [
        inspect.Parameter(
            each.keyword,
            inspect.Parameter.POSITIONAL_OR_KEYWORD if each.keyword in positional else inspect.Parameter.KEYWORD_ONLY,
            default=inspect.Parameter.empty if each.option.required else each.default,
            annotation=annotation(each),
        )
        for each in listed
    ]
    entries = "".join(f"    {each.keyword}: {each.option.help}\n" for each in listed)

    def give(function: Callable[P, R]) -> Callable[P, R]:
        text, told = inspect.getdoc(function) or "", description(function)
        about = told.partition(EXAMPLES)[0].rstrip()
        function.__doc__ = _in_keywords(f"{about}\n\nArgs:\n{entries}{text.removeprefix(told)}", listed)
        signature = inspect.signature(function)
        function.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
        return function

    return give


def argument_help(function: Callable[..., Any]) -> dict[str, str]:
    """Return the text of each parameter in the `Args:` section of a function's docstring."""
    said: dict[str, str] = {}
    name = ""
    for line in _section(inspect.getdoc(function) or "", "Args:"):
        if match := ENTRY.match(line):
            name, line = match[1], line[match.end() :]
        said[name] = f"{said.get(name, '')} {line.strip()}".strip()
    return said


def description(function: Callable[..., Any]) -> str:
    """Return the part of a function's docstring that precedes its first section."""
    return SECTION.split(inspect.getdoc(function) or "")[0]


def _in_keywords(text: str, listed: Sequence[Field]) -> str:
    keywords = {each.flag: each.keyword for each in listed}
    for each in listed:
        if each.kind == "switch":
            keywords |= {each.option.off or f"no-{each.flag}": f"{each.keyword}=False"}
    pieces = text.split("`")  # text in backticks may be an entire command line
    pieces[::2] = [FLAG.sub(lambda match: f"`{keywords.get(match[1], match[1])}`", piece) for piece in pieces[::2]]
    return "`".join(pieces)


def annotation(each: Field) -> str:
    """Return the type annotation of an option as source code."""
    plain = {"switch": "bool", "integer": "int", "number": "float", "path": "Path | str", "text": "Path | str"}
    text = plain.get(each.kind) or f"Literal[{', '.join(map(repr, each.choices))}]"
    if each.option.read is not None:
        text = {"integer": "int | str", "number": "float | str"}.get(each.kind, "str")
    if each.count > 1:
        text = f"tuple[{', '.join([text] * each.count)}]"
    elif each.many:
        text = f"{text} | Sequence[{text}]"
    return text if each.default is not None or each.option.required else f"{text} | None"


def _section(text: str, heading: str) -> list[str]:
    lines = text.split("\n")
    if heading not in lines:
        return []
    inside = lines[lines.index(heading) + 1 :]
    end = next((place for place, line in enumerate(inside) if line and not line.startswith(" ")), len(inside))
    return [line for line in inside[:end] if line]
