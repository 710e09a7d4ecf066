"""Generate click options from settings classes, and read their defaults from YAML files."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from ..core.options import Field, build, options_of, removed
from .completion import complete_names
from .terminal import CONTEXT

S = TypeVar("S")


def from_values(settings: type[S], values: Mapping[str, Any]) -> S:
    """Create a settings object from the values that click passes to a command."""
    context = click.get_current_context()
    given = {}
    for each in options_of(settings):
        name = "_".join(each.path)
        value = values[name]
        is_given = context.get_parameter_source(name) is not click.core.ParameterSource.DEFAULT
        if each.option.spread:
            value = _joined(each, value, values[_extra_words(each)], is_given=is_given)
        if not is_given:
            continue
        if each.option.read:
            try:
                value = each.option.read(value)
            except ValueError as error:
                text = ", ".join(map(str, value)) if isinstance(value, tuple) else str(value)
                raise click.BadParameter(f"{text!r} {error}", param_hint=f"--{each.flag}") from error
        given[each.path] = value
    return build(settings, given)


def settings_command(name: str, run: Callable[..., Any], *settings: type[Any], help: str) -> click.Command:
    """Return a click command whose options are the fields of settings classes."""
    decorators: list[Callable[[Any], Any]] = []
    for each in (each for kind in settings for each in options_of(kind)):
        decorators.append(make_option(each))
        if each.option.spread:
            decorators.append(click.argument(_extra_words(each), nargs=-1, metavar=""))
    for decorate in reversed([*decorators, config_option, debug_option]):
        run = decorate(run)
    return click.command(name, context_settings=CONTEXT, help=help)(run)


def _joined(each: Field, value: Any, more: Sequence[str], *, is_given: bool) -> Any:
    """Add the words of `--splits UD PS` that click does not pass as values of the option."""
    if not more:
        return value
    if not is_given:
        raise click.UsageError(f"{' '.join(more)} does not belong to any option. Add values after --{each.flag}.")
    return (*value, *more)


def _extra_words(each: Field) -> str:
    return "more_" + "_".join(each.path)


def make_option(
    each: Field, help: str | None = None, complete: Callable[..., Any] | None = None
) -> Callable[[Any], Any]:
    """Return the decorator that adds an option for a field to a click command."""
    option = each.option
    shown: dict[str, Any] = {"help": option.help if help is None else help, "show_default": True}
    if option.shown:
        shown["show_default"] = option.shown
    name = "_".join(each.path)
    if each.kind == "switch":
        if each.default or option.off:
            return click.option(f"--{each.flag}/--{each.off}", name, default=each.default, **shown)
        return click.option(f"--{each.flag}", name, is_flag=True, **shown | {"show_default": False})
    if option.names or complete:
        shown["shell_complete"] = complete_names(option.names) if option.names else complete
    if option.metavar:
        shown["metavar"] = option.metavar
    if not option.required:  # click 8.3 treats a default of None as a given value
        shown["default"] = each.default
    several = each.many and each.count == 1 and (option.read is None or option.spread or each.default == ())
    return click.option(
        f"--{each.flag}",
        name,
        type=option_type(each),
        required=option.required,
        multiple=several,
        nargs=each.count,
        **shown,
    )


def option_type(each: Field) -> Any:
    """Return the click type that parses the value of an option."""
    option = each.option
    if option.read is not None:
        return Raw()
    if each.choices:
        return click.Choice(each.choices)
    if each.kind == "path":
        return click.Path(exists=option.exists, dir_okay=not option.exists, path_type=Path)
    if each.kind in ("integer", "number"):
        if option.minimum is None and option.maximum is None:
            return int if each.kind == "integer" else float
        if each.kind == "number":
            return Number(option.minimum, option.maximum)
        low, high = (None if limit is None else int(limit) for limit in (option.minimum, option.maximum))
        return click.IntRange(low, high)
    return str


# not generic before click 8.2
if TYPE_CHECKING:
    _ParamType = click.ParamType[Any]
else:
    _ParamType = click.ParamType


class Number(click.FloatRange):
    """Click type of numbers within limits, excluding NaN."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Return the value as a number."""
        number: float = super().convert(value, param, ctx)
        if number != number:
            self.fail(f"{value!r} is not a number.", param, ctx)
        return number


class Raw(_ParamType):
    """Click type of values that the option's own `read` function parses."""

    name = "text"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the value unchanged."""
        return value


def read_config(ctx: click.Context, param: click.Parameter, path: Path | None) -> None:
    """Read default values of options from a YAML file. Options on the command line take precedence."""
    if path is None:
        return
    from ..core.documents import parse_yaml, read_text, shortened

    try:
        content = parse_yaml(read_text(path)) or {}
    except ValueError as error:
        raise click.BadParameter(f"{path} cannot be read as YAML with `option: value` lines: {error}") from error
    if not isinstance(content, dict):
        raise click.BadParameter(f"{path} must contain `option: value` lines")
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
            unknown = f"unknown option {shortened(key)}. Allowed: {', '.join(sorted(named))}"
            raise click.BadParameter(f"{path}: {removed(str(key)) or unknown}")
        option, plain = named[key]
        if option.name in values:
            raise click.BadParameter(f"{path}: {shortened(key)} is given more than once")
        values[str(option.name)] = _config_value(option, value, plain, f"{path}, {key}")
    ctx.default_map = {**(ctx.default_map or {}), **values}


def _config_value(option: click.Option, value: Any, plain: bool, place: str) -> Any:
    from ..core.documents import shortened

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
    if isinstance(option.type, Raw):
        items = [str(item) for item in items]
        value = str(value) if not several else value
    return items if option.multiple else value


config_option = click.option(
    "--config",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    is_eager=True,
    expose_value=False,
    callback=read_config,
    help="YAML file with `option: value` lines; flags override it.",
)


def _unused(ctx: click.Context, param: click.Parameter, value: bool) -> None:
    """Do nothing, as `cli.main.execute` searches the command line for --debug."""


debug_option = click.option(
    "--debug", is_flag=True, expose_value=False, callback=_unused, help="Show the traceback of an error."
)
