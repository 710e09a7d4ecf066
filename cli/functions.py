"""Generate click commands from the signatures and docstrings of API functions."""

from __future__ import annotations

import importlib
import inspect
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import click

from ..core.functions import description, fields_of
from ..core.results import Result
from .completion import complete_splits, complete_tables
from .options import debug_option, make_option, option_type
from .terminal import CONTEXT, echo

COMPLETED = {"split": complete_splits, "config": complete_tables}
FORMATS = {"json": "Print JSON.", "markdown": "Print Markdown.", "dot": "Print a graph for Graphviz."}


@dataclass(frozen=True)
class Command:
    """A command that calls an API function.

    Attributes:
        summary: Line in `stressreel --help`.
        function: Name of the API function, if it differs from that of the command.
        formats: Output formats besides text, from `FORMATS`.
        examples: Command lines to show in the help.
        flags: Positional parameters that become options.
        fixed: Arguments that the command sets, and for which it has no options.
        names: Names of options that differ from their keywords.
        given: Metavar of the remaining arguments, which `adapt` receives as `given`. "" if there are none.
        loose: Whether the remaining arguments are optional and may include undeclared options.
        adapt: Function that converts the values from click to arguments of the API function.
        help: Help text; by default the description of the API function.
        subcommands: The commands of a group.
    """

    summary: str = ""
    function: str = ""
    formats: tuple[str, ...] = ()
    examples: str = ""
    flags: tuple[str, ...] = ()
    fixed: Mapping[str, Any] = field(default_factory=dict)
    names: Mapping[str, str] = field(default_factory=dict)
    given: str = ""
    loose: bool = False
    adapt: Callable[[dict[str, Any]], dict[str, Any]] = dict
    help: str = ""
    subcommands: Mapping[str, Command] = field(default_factory=dict)


def function_command(words: str, command: Command) -> click.Command:
    """Return a click command for an API function, whose keywords become options."""
    function = _api_function(command.function or re.sub("[ -]", "_", words))
    parameters = inspect.signature(function).parameters
    fields = []
    for each in fields_of(function):
        if each.path[0] in command.fixed:
            continue
        name = command.names.get(each.path[0])
        fields.append(replace(each, option=replace(each.option, name=name)) if name else each)
    positional = [
        each.path[0]
        for each in fields
        if parameters[each.path[0]].kind is not inspect.Parameter.KEYWORD_ONLY and each.path[0] not in command.flags
    ]
    shown = {each.path[0]: f"--{each.flag}" for each in fields} | {name: name.upper() for name in positional}

    def run(**values: Any) -> int:
        chosen = [form for form in command.formats if values.pop(f"as_{form}")]
        if len(chosen) > 1:
            raise click.UsageError(
                f"{' and '.join(f'--{form}' for form in chosen)} cannot be combined. Use only one of them."
            )
        form = chosen[0] if chosen else "text"
        return show(function, {**command.adapt(values), **command.fixed}, form)

    decorators: list[Callable[[Any], Any]] = [
        click.argument(
            each.path[0], type=option_type(each), required=each.option.required, nargs=-1 if each.many else 1
        )
        for each in fields
        if each.path[0] in positional
    ]
    if command.given:
        kind = click.UNPROCESSED if command.loose else None
        decorators.append(
            click.argument("given", nargs=-1, required=not command.loose, metavar=command.given, type=kind)
        )
    for each in fields:
        if each.path[0] not in positional:
            complete = COMPLETED.get(each.path[0]) if positional else None
            decorators.append(make_option(each, _in_flags(each.option.help, shown), complete))
    for form in command.formats:
        decorators.append(click.option(f"--{form}", f"as_{form}", is_flag=True, help=FORMATS[form]))
    made: Any = run
    for decorate in reversed([*decorators, debug_option]):
        made = decorate(made)
    text = _in_flags(command.help or description(function), shown)
    if command.examples:
        text += "\n\n\b\nExamples:\n" + "\n".join(f"  {line.strip()}" for line in command.examples.strip().splitlines())
    context = CONTEXT | {"ignore_unknown_options": command.loose}
    return click.command(words.rpartition(" ")[2], context_settings=context, help=text)(made)


def _api_function(name: str) -> Callable[..., Any]:
    found: Callable[..., Any] = getattr(importlib.import_module("..", __package__), name)
    return found


def show(function: Callable[..., Any], values: dict[str, Any], form: str) -> int:
    """Call an API function, print its result, and return the exit code.

    If the function has a parameter `each`, parts of the result are printed as soon as they are known.
    """
    live = "each" in inspect.signature(function).parameters and form == "text"
    if live:
        values["each"] = lambda found: echo(str(found))
    result: Result = function(**values)
    for note in result.notes:
        echo(f"note: {note}", err=True)
    text = result.closing() if live else result.render(form)
    if text:
        echo(text, nl=not text.endswith("\n"))
    for line in result.written:
        echo(line, err=form != "text")
    return int(result.failed)


def _in_flags(text: str, words: Mapping[str, str]) -> str:
    return re.sub(r"`(\w+)`", lambda match: words.get(match[1], match[0]), text)
