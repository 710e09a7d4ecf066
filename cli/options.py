"""Click options made from the fields of settings classes, and YAML files as a source of their values."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from ..core.options import Field, build, options_of
from .completion import complete_names
from .terminal import CONTEXT

S = TypeVar("S")
Decorators = list[Callable[[Any], Any]]


def make_options(settings: type[Any]) -> Decorators:
    """Make the click options of a settings class, in the order of `options_of`."""
    made: Decorators = []
    for each in options_of(settings):
        made.append(make_option(each))
        if each.option.spread:
            made.append(click.argument(_more(each), nargs=-1, metavar=""))
    return made


def from_values(settings: type[S], values: Mapping[str, Any]) -> S:
    """Make settings of the values that click hands to a command."""
    found = {}
    for each in options_of(settings):
        value = values[_parameter(each)]
        if each.option.spread:
            value = _joined(each, value, values[_more(each)])
        if each.option.read and value is not None and value != each.default:
            try:
                value = each.option.read(value)
            except ValueError as error:
                raise click.BadParameter(f"{_shown(value)!r} {error}", param_hint=f"--{each.flag}") from error
        found[each.path] = value
    return build(settings, found)


def settings_command(name: str, run: Callable[..., Any], *settings: type[Any], help: str = "") -> click.Command:
    """Make a command whose options are those of settings classes.

    Args:
        name: Its name.
        run: Takes the values that click hands over; see `from_values`. Its docstring is the help.
        settings: The classes.
        help: The help, if it is not the docstring.
    """
    decorators = [each for kind in settings for each in make_options(kind)]
    for decorate in reversed([*decorators, config_option, debug_option]):
        run = decorate(run)
    return click.command(name, context_settings=CONTEXT, help=help or run.__doc__)(run)


def _joined(each: Field, value: Any, more: Sequence[str]) -> Any:
    """Put the words of `--splits UD PS` together: click hands over the first as the option, the rest after it."""
    if not more:
        return value
    if value == each.default:
        raise click.UsageError(f"{' '.join(more)} stands alone. Give values behind --{each.flag}.")
    return (*value, *more)


def _shown(value: Any) -> str:
    return value if isinstance(value, str) else ", ".join(map(str, value))


def _parameter(each: Field) -> str:
    return "_".join(each.path)


def _more(each: Field) -> str:
    return f"more_{_parameter(each)}"


def make_option(
    each: Field, help: str | None = None, complete: Callable[..., Any] | None = None
) -> Callable[[Any], Any]:
    """Make the click option of a field.

    Args:
        each: The field.
        help: Its help, if not the field's own.
        complete: Completes its value in a shell, if not the field's own names.
    """
    option = each.option
    said: dict[str, Any] = {"help": option.help if help is None else help, "show_default": True}
    if option.shown:
        said["show_default"] = option.shown
    name = _parameter(each)
    if each.kind == "switch":
        if each.default or option.off:
            return click.option(
                f"--{each.flag}/--{option.off or f'no-{each.flag}'}", name, default=each.default, **said
            )
        return click.option(f"--{each.flag}", name, is_flag=True, **said | {"show_default": False})
    if option.names or complete:
        said["shell_complete"] = complete_names(option.names) if option.names else complete
    if option.metavar:
        said["metavar"] = option.metavar
    if not option.required:  # to click 8.3 a default of None is a value that was given
        said["default"] = each.default
    several = each.many and each.count == 1 and (option.read is None or option.spread or each.default == ())
    return click.option(
        f"--{each.flag}",
        name,
        type=option_type(each),
        required=option.required,
        multiple=several,
        nargs=each.count,
        **said,
    )


def option_type(each: Field) -> Any:
    """Return the click type of a field's value."""
    option = each.option
    if option.read is not None:
        return Raw()
    if each.choices:
        return click.Choice(each.choices)
    if each.kind == "path":
        return click.Path(exists=option.exists, dir_okay=not option.exists, path_type=Path)
    if each.kind in ("integer", "number"):
        whole = each.kind == "integer"
        if option.minimum is None and option.maximum is None:
            return int if whole else Number()
        if not whole:
            return NumberRange(option.minimum, option.maximum)
        low, high = (None if limit is None else int(limit) for limit in (option.minimum, option.maximum))
        return click.IntRange(low, high)
    return str


# not generic before click 8.2
if TYPE_CHECKING:
    _ParamType = click.ParamType[Any]
else:
    _ParamType = click.ParamType


class Raw(_ParamType):
    """What the option's own `read` takes: a text, or what a default is."""

    name = "text"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Leave the value as it is."""
        return value


class Number(click.types.FloatParamType):
    """A number; nan is none."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Refuse what is no number."""
        found = super().convert(value, param, ctx)
        if found != found:
            self.fail("nan is no number", param, ctx)
        return found


class NumberRange(Number, click.FloatRange):
    """A number in a range; nan is in none."""


def read_config(ctx: click.Context, param: click.Parameter, path: Path | None) -> None:
    """Make a YAML file the source of defaults: flags win over it, it wins over the built-in ones."""
    if path is None:
        return
    from ..core.documents import parse_yaml, read_text, shortened

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
    help="YAML file with `option: value` lines; flags win over it.",
)


def _unused(ctx: click.Context, param: click.Parameter, value: bool) -> None:
    """Take the option; `cli.main.run` looks for it on the command line."""


debug_option = click.option(
    "--debug", is_flag=True, expose_value=False, callback=_unused, help="Show the traceback of an error."
)
