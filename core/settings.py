"""Declare the settings of commands: frozen dataclasses whose fields are documented, typed and limited.

One class is the options of a command, the keys of its YAML file, the keywords of its Python function and the entry
`settings` of `build.json`. Beside its type, a field may carry a `cyclopts.Parameter` (limits, parser, name of its
opposite), `Needs`, `Implies`, an `Input`, or `NOT_CONTENT`.
"""

from __future__ import annotations

import difflib
import inspect
import os
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import MISSING, dataclass, field, fields, replace
from functools import cache
from numbers import Integral, Real
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, ClassVar, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from cyclopts import Parameter
from cyclopts.validators import Number

from .documents import shortened
from .errors import UsageError
from .extras import listed
from .rows import AnyPath, Rows, is_path
from .tabular import read_columns

S = TypeVar("S", bound="Settings")

NOT_CONTENT = "not content"
"""Marks a field that is recorded but does not determine the content of an output, such as `max_skip`."""
SAMPLE = "sample"
ITSELF = "."
"""Pattern of a folder that is found as the annotations themselves."""
LARGEST_SEED = 2**63 - 1
LARGEST_COUNT = 10**9  # of units, rows, frames and other things to count
MOST_WORKERS = 1024
REMOVED = {"tagger": "English is read by spaCy's parser"}
"""Options that earlier versions had, with the reason for which they were removed."""


@dataclass(frozen=True)
class Need:
    """A condition without which an option has no effect.

    Attributes:
        met: Function that returns whether the settings meet the condition.
        why: Reason why the option has no effect otherwise, to follow "has no effect".
        remedy: What to do to meet the condition, to follow "or".
    """

    met: Callable[[Any], bool]
    why: str
    remedy: str


class Needs(tuple[Need, ...]):
    """Conditions without which an option has no effect. It is then refused if it is given, and not recorded."""

    def __new__(cls, *needs: Need) -> Needs:
        """Return the conditions as a tuple."""
        return super().__new__(cls, needs)


class Implies(dict[str, Any]):
    """Values of other fields that apply if this field differs from its default. Giving other values is refused."""


@dataclass(frozen=True)
class Input:
    """Marks a field as a file or folder that a build reads. Only its name is recorded, and `verify` searches for it.

    Attributes:
        found_by: Pattern for the names of the files in the folder that is given, or "" if a file is given.
        or_file: Whether a file may be given instead of the folder that contains it.
        private: Whether the value is never recorded nor searched for: a model, an endpoint or the folder of videos.
    """

    found_by: str = ""
    or_file: bool = False
    private: bool = False


def within(low: float | None = None, high: float | None = None, **more: Any) -> Parameter:
    """Return a parameter with limits; `more` are arguments of `cyclopts.Parameter`."""
    return Parameter(validator=Number(gte=low, lte=high), **more)


def parsed(read: Callable[[Any], Any], *, spread: bool = False, **more: Any) -> Parameter:
    """Return a parameter whose value is parsed by a function, whether it is given as text or as a Python value.

    Args:
        read: Parser of a text or a tuple of texts; it also accepts its own results. The message of a ValueError starts
            with a verb, to follow the value.
        spread: Whether several words may follow the option (`--splits UD PS`).
        more: Arguments of `cyclopts.Parameter`. By default, the `metavar` is PATH or TEXT.
    """

    def convert(kind: Any, tokens: Sequence[Any]) -> Any:
        texts = tuple(token.value for token in tokens)
        return read(texts[0] if len(texts) == 1 else texts)

    convert.read = read  # type: ignore[attr-defined]
    more.setdefault("metavar", "PATH" if read in (to_path, to_name, existing_file, existing_files) else "TEXT")
    return Parameter(converter=convert, n_tokens=1, accepts_keys=False, consume_multiple=spread, **more)


def after_commas(names: Callable[[], Iterable[str]]) -> Callable[[Any], list[str]]:
    """Return a completer of names that are separated by commas, without those that were typed."""

    def complete(context: Any) -> list[str]:
        typed, comma, _ = context.incomplete.rpartition(",")
        return [f"{typed}{comma}{name}" for name in names() if name not in typed.split(",")]

    return complete


def to_path(value: Any) -> Path:
    """Return a path, in which `~` is replaced, or raise ValueError."""
    if not is_path(value):
        raise ValueError("must be a path")
    if not os.fspath(value):
        raise ValueError("is empty; give a path, such as . for the current folder")
    return Path(value).expanduser()


def to_name(value: Any) -> str:
    """Return a path, or a word such as `sample`, as a text, or raise ValueError."""
    return value if isinstance(value, str) and value else str(to_path(value))


def optional_path(path: Path | str | None) -> Path | None:
    """Return a path, or None."""
    return None if path is None else Path(path)


def existing_file(value: Any) -> Path:
    """Return the path of a file, or raise ValueError if there is none."""
    path = to_path(value)
    with suppress(OSError):  # such as a name that is too long
        if path.is_file():
            return path
    raise ValueError("is not an existing file")


def existing_files(value: Any) -> tuple[Path, ...]:
    """Return the paths of one or more files, or raise ValueError if one does not exist."""
    return tuple(map(existing_file, as_tuple(value)))


def _paths(kind: Any, tokens: Sequence[Any]) -> Any:
    paths = tuple(Path(token.value) for token in tokens)
    return paths[0] if len(paths) == 1 else paths


IN_MEMORY = Parameter(converter=_paths, n_tokens=1, accepts_keys=False, metavar="FILE")
"""Parameter that is one or more paths on the command line, while Python callers may pass the content."""
Beside = Annotated[bool, Parameter(parse=False)]
"""Whether to write next to an input. The command line sets it."""
Seed = Annotated[int, within(0, LARGEST_SEED)]
Count = Annotated[int, within(1, LARGEST_COUNT)]
Limit = Annotated[int | None, within(1, LARGEST_COUNT, show_default="all")]
Workers = Annotated[int | None, within(1, MOST_WORKERS, show_default="one per core")]
FirstIndex = Annotated[int, within(0, 1)]
Resamples = Annotated[int, within(100, 100_000)]
OptionalPath = Annotated[Path | str | None, parsed(to_path)]
InputFile = Annotated[Path | str | None, parsed(existing_file), Input()]
PathOrRows = Annotated[AnyPath | Rows, IN_MEMORY]
"""A file, or the rows that it would contain."""
ColumnNames = Annotated[Sequence[str] | Mapping[str, str], parsed(read_columns, metavar="NAME=COLUMN,…")]
"""Names of columns in a user's file, by the names that stressreel expects."""


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Base of all settings.

    Class attributes:
        unrecorded: Fields that `build.json` does not record.
        inherited_needs: Conditions of inherited fields, in addition to their own.

    Attributes:
        given: Names of the fields that were given, even if with their defaults.
    """

    unrecorded: ClassVar[frozenset[str]] = frozenset()
    inherited_needs: ClassVar[Mapping[str, Needs]] = {}
    given: frozenset[str] = field(default=frozenset(), init=False, compare=False, repr=False)


@dataclass(frozen=True)
class Option:
    """A field of settings.

    Attributes:
        name: Name of the field and of the keyword; the flag has `-` instead of `_`.
        hint: Its type with metadata.
        default: Its default, or `dataclasses.MISSING`.
        help: Its entry in the docstring of its class.
    """

    name: str
    hint: Any
    default: Any
    help: str
    needs: Needs = Needs()
    implies: Implies = field(default_factory=Implies, hash=False)
    input: Input | None = None
    content: bool = True
    keyword_only: bool = True

    @property
    def required(self) -> bool:
        """Whether the option must be given."""
        return self.default is MISSING

    @property
    def is_file(self) -> bool:
        """Whether the option is an input file, which is found by its name."""
        return self.input is not None and not (self.input.found_by or self.input.private)

    @property
    def parameter(self) -> Parameter:
        """The properties of the option on the command line."""
        return parameter_of(self.hint)

    @property
    def is_switch(self) -> bool:
        """Whether the option is a flag without a value."""
        return plain(self.hint) is bool

    def flag(self, value: Any = True) -> str:
        """Return the flag, or that of the opposite if a switch is off."""
        if self.is_switch and value is False:
            return next(iter(self.parameter.negative or ()), f"--no-{self.name.replace('_', '-')}")
        return f"--{self.name.replace('_', '-')}"


def plain(hint: Any) -> Any:
    """Return a type without metadata."""
    return get_args(hint)[0] if get_origin(hint) is Annotated else hint


def parameter_of(hint: Any) -> Parameter:
    """Return the parameter in the metadata of a type, or one without properties."""
    parameters = [each for each in getattr(hint, "__metadata__", ()) if isinstance(each, Parameter)]
    return Parameter.combine(*parameters) if parameters else Parameter()


def options_of(kind: type[Settings]) -> tuple[Option, ...]:
    """Return the options of a settings class: those that the class declares, in order, then those of its bases."""
    return _options_of(kind)  # type: ignore[arg-type]


@cache
def _options_of(kind: type[Settings]) -> tuple[Option, ...]:
    hints = get_type_hints(kind, localns={}, include_extras=True)  # so that lambdas see the names of their module
    helps = help_of(*reversed(kind.__mro__))
    places = [*dict.fromkeys(name for each in kind.__mro__ for name in inspect.get_annotations(each))]
    options = []
    for each in fields(kind):
        if not each.init:
            continue
        metadata = getattr(hints[each.name], "__metadata__", ())
        needs = [need for found in metadata if isinstance(found, Needs) for need in found]
        option = Option(
            each.name,
            hints[each.name],
            each.default,
            helps[each.name],
            Needs(*needs, *kind.inherited_needs.get(each.name, ())),
            next((found for found in metadata if isinstance(found, Implies)), Implies()),
            next((found for found in metadata if isinstance(found, Input)), None),
            NOT_CONTENT not in metadata and each.name not in kind.unrecorded,
            bool(each.kw_only),
        )
        options.append(option)
    return tuple(sorted(options, key=lambda option: places.index(option.name)))


def help_of(*documented: Any) -> dict[str, str]:
    """Return the texts of arguments and attributes in the docstrings of functions or classes."""
    from docstring_parser.google import parse

    parameters = [param for each in documented for param in parse(each.__doc__ or "").params]
    return {param.arg_name: " ".join((param.description or "").split()) for param in parameters}


def checked(name: str, hint: Any, value: Any) -> Any:
    """Convert and validate a value that was given for an option or an argument.

    Raises:
        UsageError: The value is not allowed.
    """
    parameter, kind = parameter_of(hint), plain(hint)
    read = getattr(parameter.converter, "read", None)
    try:
        if value is None and type(None) in get_args(kind):
            return None
        if value is None and kind is not Any:
            raise ValueError("is not allowed; leave it out for the default")
        if read is not None:
            value = read(_texts(value))
        elif parameter.converter is None:
            value = _converted(kind, value)
        for validate in parameter.validator or ():  # type: ignore[union-attr]
            validate(kind, value)  # type: ignore[operator]
    except (ValueError, OverflowError) as error:
        raise UsageError(f"{name}={value!r} {str(error)[:1].lower()}{str(error)[1:]}") from error
    return value


def _texts(value: Any) -> Any:
    """Return a list, set or array as a tuple of texts, and any other value unchanged."""
    if isinstance(value, str | bytes | os.PathLike | Mapping) or not isinstance(value, Iterable):
        return value
    return tuple(map(str, value))


def _converted(kind: Any, value: Any) -> Any:
    origin, arguments = get_origin(kind), get_args(kind)
    if origin is Annotated:
        return checked("value", kind, value)
    if origin in (Union, UnionType):
        if value is None and type(None) in arguments:
            return None
        members = [member for member in arguments if member is not type(None)]
        for member in members[:-1]:
            try:
                return _converted(member, value)
            except ValueError:
                continue
        return _converted(members[-1], value)
    if origin is Literal:
        if not isinstance(value, Hashable) or value not in arguments:
            raise ValueError(f"must be one of {', '.join(map(str, arguments))}")
        return value
    if origin in (tuple, Sequence):
        values = as_tuple(value)
        if origin is Sequence or arguments[-1] is Ellipsis:
            return tuple(_converted(arguments[0], item) for item in values)
        if len(values) != len(arguments):
            raise ValueError(f"must consist of {len(arguments)} values")
        return tuple(_converted(member, item) for member, item in zip(arguments, values, strict=True))
    if kind is bool:
        if not isinstance(value, bool) and type(value).__name__ not in ("bool", "bool_"):
            raise ValueError("must be True or False")
        return bool(value)
    if kind in (int, float):
        allowed = Integral if kind is int else Real
        if isinstance(value, bool) or not isinstance(value, allowed) or value != value:
            raise ValueError(f"must be {'a whole number' if kind is int else 'a number'}")
        return kind(value)
    if kind is Path or kind is os.PathLike or origin is os.PathLike:
        if not is_path(value):
            raise ValueError("must be a path")
        return Path(value).expanduser()
    if kind is str:
        if not isinstance(value, str | os.PathLike):
            raise ValueError("must be a text")
        return str(value)
    return value


def as_tuple(value: Any) -> tuple[Any, ...]:
    """Return a list, set or array as a tuple, and a single value as a tuple of one."""
    single = isinstance(value, str | bytes | os.PathLike) or not isinstance(value, Iterable)
    return (value,) if single else tuple(value)


def create(kind: type[S], given: Mapping[str, Any]) -> S:
    """Create settings from the options that were given, by keyword.

    Raises:
        UsageError: An option is unknown, missing, contradicts another or has no effect, or a value is not allowed.
    """
    options = {option.name: option for option in options_of(kind)}
    for name in given:
        if name not in options:
            raise UsageError(unknown_option(name, options))
    for name, option in options.items():
        if option.required and given.get(name) is None:
            raise UsageError(f"{option.flag()} is missing. {option.help}")
    values = {name: _given(options[name], value) for name, value in given.items() if not is_empty(options[name], value)}
    settings = kind(**values)
    settings = replace(settings, **implied(settings, values))
    object.__setattr__(settings, "given", frozenset(values))
    refuse_unused(settings)
    return settings


def _given(option: Option, value: Any) -> Any:
    if value is None or (isinstance(value, str) and not value):
        what = "None" if value is None else "an empty text"
        raise UsageError(f"{option.name} is {what}, which is not allowed. Leave it out for the default.")
    return checked(option.name, option.hint, value)


def is_empty(option: Option, value: Any) -> bool:
    """Return whether a value stands for an option that is not given."""
    if option.default is None:
        return value is None
    return option.default == () and isinstance(value, tuple | list | Mapping) and not value


def unknown_option(name: str, known: Iterable[str]) -> str:
    """Return a message about an unknown option, with the nearest name, written as the unknown one is."""
    flag, _, _ = name.partition("=")
    plain_name = flag.lstrip("-").replace("_", "-")
    if plain_name in REMOVED:
        return f"--{plain_name} was removed: {REMOVED[plain_name]}."
    names = sorted({option.lstrip("-").replace("_", "-") for option in known})
    near = difflib.get_close_matches(plain_name, names, 1)
    shown = [f"--{option}" if flag.startswith("-") else option for option in near or names]
    return f"unknown option {shortened(flag)}. " + (
        f"Did you mean {shown[0]}?" if near else f"Options: {', '.join(shown)}."
    )


def implied(settings: Settings, given: Collection[str] = ()) -> dict[str, Any]:
    """Return the values that options such as `--imitate-release` imply.

    Raises:
        UsageError: An option that was given contradicts them.
    """
    options, values = {option.name: option for option in options_of(type(settings))}, dict[str, Any]()
    for preset in options.values():
        value = getattr(settings, preset.name)
        for name, wanted in preset.implies.items() if value != preset.default else ():
            if name not in options:
                continue
            own = getattr(settings, name)
            if name in given and own != wanted:
                raise UsageError(
                    f"{_with_value(options[name], own)} contradicts {preset.flag(value)}, which implies "
                    f"{_with_value(options[name], wanted)}. Leave out one of them."
                )
            values[name] = wanted
    return values


def _with_value(option: Option, value: Any) -> str:
    return option.flag(value) if option.is_switch else f"{option.flag()} {value}"


def refuse_unused(settings: Settings, needs: Mapping[str, Sequence[Need]] | None = None) -> None:
    """Reject options that were given although a condition for their having an effect is not met.

    Args:
        settings: The settings, which know what was given.
        needs: Conditions by option, instead of the declared ones.

    Raises:
        UsageError: An option has no effect. The message names all such options.
    """
    unmet: dict[Need, list[str]] = {}
    for option in options_of(type(settings)):
        conditions = option.needs if needs is None else needs.get(option.name, ())
        need = next((need for need in conditions if not need.met(settings)), None)
        if need and option.name in settings.given:
            unmet.setdefault(need, []).append(option.flag(getattr(settings, option.name)))
    if unmet:
        sentences = []
        for need, names in unmet.items():
            has, them = ("has", "it") if len(names) == 1 else ("have", "them")
            sentences.append(f"{listed(names)} {has} no effect {need.why}. Leave {them} out, or {need.remedy}.")
        raise UsageError(" ".join(sentences))


def option_list(kind: type[Settings], skip: Collection[str] = ()) -> str:
    """Format the options of settings as a Markdown list, with defaults in brackets."""
    lines = []
    for option in options_of(kind):
        if option.name in skip:
            continue
        name, kinds = option.flag(), (plain(option.hint), *get_args(plain(option.hint)))
        choices = next((get_args(hint) for hint in kinds if get_origin(hint) is Literal), ())
        if option.is_switch and (option.default or option.parameter.negative):
            name += f" / {option.flag(False)}"
        elif choices:
            name += " " + "|".join(map(str, choices))
        shown = _shown(option)
        lines.append(f"* `{name}`{f' ({shown})' if shown else ''}: {option.help}")
    return "\n".join(lines)


def _shown(option: Option) -> str:
    shown = option.parameter.show_default
    if isinstance(shown, str):
        return shown
    if option.required:
        return "required"
    if option.is_switch:
        return option.flag() if option.default else "off"
    return ",".join(map(str, as_tuple(option.default))) if option.default not in (None, ()) else ""
