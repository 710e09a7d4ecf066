"""Generate the command reference in Markdown from the commands themselves."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator

import click
from stressreel.builders import benchmark_names
from stressreel.cli.main import load_command, stressreel


def command_reference() -> str:
    """Return a section for each command, with its usage, its help and a table of its options."""
    builds = [f"build-{name}" for name in benchmark_names()]
    programs = [(stressreel, "stressreel"), *((load_command(name), name) for name in builds)]
    sections = [_section(path, command, context) for program in programs for path, command, context in _walk(*program)]
    return "\n\n" + "\n\n".join(sections) + "\n"


def _walk(
    command: click.Command, name: str, parent: click.Context | None = None
) -> Iterator[tuple[str, click.Command, click.Context]]:
    """Yield the path, command and context of a command and its subcommands, except those of `stressreel build`."""
    context = command.context_class(command, info_name=name, parent=parent, **command.context_settings)
    yield context.command_path, command, context
    if isinstance(command, click.Group) and context.command_path != "stressreel build":
        for each in command.list_commands(context):
            below = command.get_command(context, each)
            assert below is not None
            if not below.hidden:
                yield from _walk(below, each, context)


def _section(path: str, command: click.Command, context: click.Context) -> str:
    usage = f"{path} {' '.join(command.collect_usage_pieces(context))}"
    paragraphs = inspect.cleandoc(command.help or "").split("\n\n")
    parts = [f"## {path}", _fenced(usage), *map(_paragraph, paragraphs)]
    if isinstance(command, click.Group):
        names = command.list_commands(context)
        parts.append(f"Commands: {', '.join(f'`{name}`' for name in names)}.")
    options = [each for each in command.get_params(context) if isinstance(each, click.Option) and not each.hidden]
    rows = [_row(each, context) for each in options]
    parts.append("\n".join(["| option | | default, range |", "|---|---|---|", *rows]))
    return "\n\n".join(filter(None, parts))


def _row(option: click.Option, context: click.Context) -> str:
    """Return a table row with an option's syntax, help and default."""
    spelt = " / ".join([", ".join(option.opts), *([", ".join(option.secondary_opts)] if option.secondary_opts else [])])
    if not option.is_flag and not option.count:
        spelt += f" {option.make_metavar(context)}"
    extra = option.get_help_extra(context)
    bounds = extra.get("range", "").replace("<=", "≤").replace(">=", "≥")
    cells = (f"`{spelt}`", _prose(option.help or ""), _prose(", ".join(filter(None, (extra.get("default"), bounds)))))
    return "| " + " | ".join(" ".join(cell.split()).replace("|", "\\|") for cell in cells) + " |"


def _paragraph(text: str) -> str:
    """Return a paragraph of a help text as Markdown; paragraphs that click does not wrap become code blocks."""
    return _fenced(text.removeprefix("\b\n")) if text.startswith("\b\n") else _prose(text)


def _fenced(text: str) -> str:
    return f"```text\n{text}\n```"


def _prose(text: str) -> str:
    """Escape Markdown syntax outside code spans."""
    pieces = text.split("`")
    pieces[::2] = [re.sub(r"([*_<>\[\]])", r"\\\1", piece) for piece in pieces[::2]]
    return "`".join(pieces)
