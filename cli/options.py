"""Options that every build command shares."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from functools import reduce
from pathlib import Path
from typing import Any

import click

Decorator = Callable[[Any], Any]

DEFAULT_MAX_SKIP = 0.01
SEMANTIC_VERSION = re.compile(r"(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(-[0-9A-Za-z.-]+)?(\+[0-9A-Za-z.-]+)?")


def read_config(ctx: click.Context, param: click.Parameter, path: Path | None) -> None:
    """Make a YAML file the source of defaults: flags win over it, it wins over the built-in ones."""
    if path is None:
        return
    from ..records.documents import parse_yaml, read_text, shortened

    try:
        content = parse_yaml(read_text(path)) or {}
    except ValueError as error:
        raise click.BadParameter(f"{path} cannot be read as YAML with `option: value` lines: {error}") from error
    if not isinstance(content, dict):
        raise click.BadParameter(f"{path} must hold `option: value` lines")
    named: dict[str, tuple[click.Option, bool]] = {}
    for option in ctx.command.params:
        if isinstance(option, click.Option) and option.name not in ("config", "debug", "help"):
            named |= {name.lstrip("-"): (option, True) for name in option.opts}
            named |= {name.lstrip("-"): (option, False) for name in option.secondary_opts}
            if option.is_flag and not option.secondary_opts:
                named |= {f"no-{name.lstrip('-')}": (option, False) for name in option.opts}
    values: dict[str, Any] = {}
    for key, value in content.items():
        if key not in named:
            raise click.BadParameter(
                f"{path}: there is no option {shortened(key)}. Allowed: {', '.join(sorted(named))}"
            )
        option, plain = named[key]
        values[str(option.name)] = _config_value(option, value, plain, f"{path}, {key}")
    ctx.default_map = {**(ctx.default_map or {}), **values}


def _config_value(option: click.Option, value: Any, plain: bool, place: str) -> Any:
    """Check the type of a value of the YAML file: nothing is converted in silence."""
    from ..records.documents import shortened

    if option.is_flag:
        if not isinstance(value, bool):
            raise click.BadParameter(f"{place}: expected true or false, got {shortened(value)}")
        return value == plain
    whole = isinstance(option.type, click.types.IntParamType)
    allowed: tuple[type, ...] = (int,) if whole else (str, int, float)
    several = isinstance(value, list) and (option.multiple or option.nargs == len(value) > 1)
    items = value if several else [value]
    for item in items:
        if isinstance(item, bool) or not isinstance(item, allowed):
            what = "a whole number" if whole else "a text or a number"
            raise click.BadParameter(f"{place}: expected {what}, got {shortened(item)}")
    return items if option.multiple else value


def check_share(ctx: click.Context, param: click.Parameter, value: float) -> float:
    """Refuse what is no number."""
    if value != value:
        raise click.BadParameter("nan is not a share between 0 and 1")
    return value


def check_version(ctx: click.Context, param: click.Parameter, value: str) -> str:
    """Accept a semantic version only."""
    if not SEMANTIC_VERSION.fullmatch(value):
        raise click.BadParameter(f"{value!r} is not a semantic version such as 1.0.0 or 1.2.0-rc.1")
    return value


def build_options(*splits: str) -> Decorator:
    """Add the options of every build command; `splits` are those that its data set has."""
    return lambda command: _add_options(command, splits)


def _add_options(command: Any, splits: tuple[str, ...]) -> Any:
    path = click.Path(path_type=Path)
    options: list[Decorator] = [
        click.option("--out", type=path, help="Output folder: new, empty, or an earlier run of the same build."),
        click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Seed of every draw."),
        click.option(
            "--split",
            type=click.Choice([*splits, "all"]),
            default="all",
            show_default=True,
            help="Splits to build.",
        ),
        click.option("--limit", type=click.IntRange(min=1), help="Only the first N units by id, for a trial."),
        click.option(
            "--workers",
            type=click.IntRange(min=1),
            default=lambda: os.cpu_count() or 1,
            show_default="one a core",
            help="Processes. The result does not depend on it.",
        ),
        click.option(
            "--version",
            "dataset_version",
            callback=check_version,
            default="1.0.0",
            show_default=True,
            help="Semantic version of the dataset.",
        ),
        click.option(
            "--resume/--fresh",
            default=True,
            show_default=True,
            help="Go on where an earlier run stopped, or throw it away and start again.",
        ),
        click.option(
            "--dry-run",
            is_flag=True,
            help="Print the plan, sizes and times, for which a few frames are encoded, and stop; nothing is written.",
        ),
        click.option(
            "--check-space/--no-check-space",
            default=True,
            show_default=True,
            help="Compare the free disk space with an estimate before work starts.",
        ),
        click.option("--progress/--no-progress", default=True, show_default=True, help="Show progress."),
        click.option(
            "--max-skip",
            type=click.FloatRange(0, 1),
            default=DEFAULT_MAX_SKIP,
            callback=check_share,
            show_default=True,
            help="Fail if a larger share of units must be skipped because their videos are faulty.",
        ),
        click.option(
            "--allow-missing",
            is_flag=True,
            help="Go on without videos that are missing or do not open; these skips do not count for --max-skip.",
        ),
        click.option(
            "--config",
            type=click.Path(exists=True, dir_okay=False, path_type=Path),
            is_eager=True,
            expose_value=False,
            callback=read_config,
            help="YAML file with `option: value` lines; flags win over it.",
        ),
        click.option("--debug", is_flag=True, help="Show the traceback of an error."),
    ]
    return reduce(lambda wrapped, option: option(wrapped), reversed(options), command)


def exact_command(name: str, values: Mapping[str, Any]) -> str:
    """Write the command that builds the same content: every option that decides it, spelt out."""
    parts = [name]
    for option, value in values.items():
        if value is True:
            parts.append(f"--{option}")
        elif value is not None and value is not False:
            parts.append(f"--{option} {value}")
    return " ".join(parts)
