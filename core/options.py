"""Declare options as fields of frozen dataclasses, with help texts, types and limits.

They are the single source for click options, YAML files, keyword arguments of `stressreel.build`, the recorded command
(`command.py`), the settings in `build.json` and the option tables in the documentation.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields, is_dataclass, replace
from functools import cache
from numbers import Integral, Real
from pathlib import Path
from types import UnionType
from typing import Any, ClassVar, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from .errors import UsageError
from .rows import is_path

S = TypeVar("S")
Record = Literal["always", "changed", "never"]
NAME, ITSELF = "NAME", "ITSELF"
LARGEST_SEED = 2**63 - 1
LARGEST_COUNT = 10**9  # of units, rows, frames and other things to count
MOST_WORKERS = 1024


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


@dataclass(frozen=True)
class Option:
    """Properties of an option that the name, type and default of its field do not determine.

    Attributes:
        help: One or two sentences for `--help` and the docs.
        name: Option name without dashes; by default that of the field.
        off: Name of the opposite of a switch, without dashes; by default `no-<name>`.
        metavar: Placeholder for the value in `--help`.
        shown: Description of the default in `--help`; by default the value.
        exists: Whether the file must exist (for paths).
        spread: Whether values may follow as separate words (`--splits UD PS`).
        read: Parser of a text or a tuple of texts. A ValueError message starts with a verb, to follow the text.
        write: Formatter of the value for the recorded command; None omits the option.
        record: When to include the option in the recorded command: always, if the value differs from the default, or
            never.
        content: Whether `build.json` stores the option among the settings.
        names: Function that returns words for shell completion. The value may list several, separated by commas.
        needs: Conditions without which the option has no effect. It is then refused if it is given, and not recorded.
        implies: Values of other options, by keyword, that apply if this option differs from its default. Giving another
            value is refused. Options that the settings lack are ignored.
        found_by: How `verify` locates the input: by its `NAME`; or, for a folder, by a pattern for the file names in
            it, or as the annotations `ITSELF`. Files that must exist are located by name.
        or_file: Whether a file may be given instead of the folder that contains it.
        quoted: Whether the recorded command quotes the value, which may contain any words.
        in_memory: Whether Python callers may pass the content itself, such as a list of rows, instead of a path.
    """

    help: str
    name: str = ""
    off: str = ""
    minimum: float | None = None
    maximum: float | None = None
    metavar: str = ""
    shown: str = ""
    required: bool = False
    exists: bool = False
    spread: bool = False
    read: Callable[[Any], Any] | None = None
    write: Callable[[Any], str | None] | None = None
    record: Record = "always"
    content: bool = True
    names: Callable[[], Sequence[str]] | None = None
    needs: tuple[Need, ...] = ()
    implies: Mapping[str, Any] = field(default_factory=dict, hash=False)
    found_by: str = ""
    or_file: bool = False
    quoted: bool = False
    in_memory: bool = False


def option(default: Any, help: str, **more: Any) -> Any:
    """Declare a field of a settings class as an option; `more` are attributes of `Option`."""
    return field(default=default, metadata={"option": Option(help, **more)})


def nested(kind: type[Any], *needs: Need) -> Any:
    """Declare a field with another settings class, whose options are added to those of the outer class.

    `needs` are conditions of all these options, in addition to their own.
    """
    return field(default_factory=kind, metadata={"nested": kind, "needs": needs})


@dataclass(frozen=True, kw_only=True)
class GivenSettings:
    """Settings that know which options were given, even if with their default.

    Attributes:
        inherited_needs: Conditions of inherited options, by field, in addition to their own.
        given: Keywords of the options that were given.
    """

    inherited_needs: ClassVar[Mapping[str, tuple[Need, ...]]] = {}
    given: frozenset[str] = field(default=frozenset(), compare=False, repr=False)


@dataclass(frozen=True)
class Field:
    """An option of a settings class, with its type and default.

    Attributes:
        path: Names of the fields that lead to the option. Nested settings have more than one.
        choices: Allowed values of a choice.
        many: Whether the option may be repeated, or takes `count` values.
        count: Number of values on the command line; more than 1 for tuples of fixed length.
    """

    path: tuple[str, ...]
    option: Option
    kind: Literal["switch", "integer", "number", "choice", "path", "text"]
    default: Any
    choices: tuple[str, ...] = ()
    many: bool = False
    count: int = 1

    @property
    def flag(self) -> str:
        """Name of the option on the command line, without leading dashes."""
        return self.option.name or self.path[-1].replace("_", "-")

    @property
    def keyword(self) -> str:
        """Name of the option as a Python keyword argument."""
        return self.flag.replace("-", "_")

    @property
    def off(self) -> str:
        """Name of the opposite of a switch, without leading dashes."""
        return self.option.off or f"no-{self.flag}"

    def named(self, value: Any) -> str:
        """Return the option as it is named on the command line if it has this value."""
        return f"--{self.off if self.kind == 'switch' and not value else self.flag}"

    def is_empty(self, value: Any) -> bool:
        """Return whether a value cannot be given on the command line and stands for an option that is not given."""
        if self.default is None:
            return value is None and not self.option.required
        return self.default == () and isinstance(value, tuple | list) and not value

    def get(self, settings: Any) -> Any:
        """Return the value of this option from a settings object."""
        for name in self.path:
            settings = getattr(settings, name)
        return settings

    def check(self, value: Any) -> Any:
        """Validate a keyword argument and convert it to the field's type.

        Raises:
            ValueError: The type or value is not allowed. The message starts with a verb, so that it can follow the
                value.
        """
        if value is None and self.default is None and not self.option.required:
            return None
        if self.option.in_memory and not is_path(value) and not (self.many and holds_paths(value)):
            return value
        if self.option.read is not None:
            given = _listed(value)
            if isinstance(given, tuple):
                return self.option.read(tuple(map(str, given)))
            return self.option.read(given if isinstance(given, str | Mapping) else str(given))
        if self.many:
            given = _listed(value)
            given = given if isinstance(given, tuple) else (given,)
            if self.count > 1 and len(given) != self.count:
                raise ValueError(f"must consist of {self.count} values")
            return tuple(self._one(item) for item in given)
        return self._one(value)

    def _one(self, value: Any) -> Any:
        if self.kind == "switch":
            if not isinstance(value, bool) and type(value).__name__ not in ("bool", "bool_"):
                raise ValueError("must be True or False")
            return bool(value)
        if self.kind in ("integer", "number"):
            allowed = Integral if self.kind == "integer" else Real
            if isinstance(value, bool) or not isinstance(value, allowed) or value != value:
                raise ValueError(f"must be {'a whole number' if self.kind == 'integer' else 'a number'}")
            value = int(value) if isinstance(value, Integral) else float(value)
            low, high = self.option.minimum, self.option.maximum
            if (low is not None and value < low) or (high is not None and value > high):
                shape = "," if self.kind == "integer" else "g"
                limits = [
                    f"{words} {limit:{shape}}"
                    for words, limit in (("at least", low), ("at most", high))
                    if limit is not None
                ]
                raise ValueError(f"must be {' and '.join(limits)}")
            return value
        if self.kind == "path":
            if not is_path(value):
                raise ValueError("must be a path")
            path = Path(value).expanduser()
            if self.option.exists and not path.is_file():
                raise ValueError("is not an existing file")
            return path
        if not isinstance(value, str | Path):
            raise ValueError("must be a string")
        text = str(value)
        if self.choices and text not in self.choices:
            raise ValueError(f"must be one of {', '.join(self.choices)}")
        return text


def holds_paths(value: Any) -> bool:
    """Return whether a value is a nonempty list of paths."""
    return isinstance(value, list | tuple) and bool(value) and all(map(is_path, value))


def _listed(value: Any) -> Any:
    """Return a list, set or array as a tuple, and a single value unchanged."""
    single = isinstance(value, str | bytes | os.PathLike | Mapping) or not isinstance(value, Iterable)
    return value if single else tuple(value)


def options_of(settings: type[Any]) -> tuple[Field, ...]:
    """Return the options of a settings class in the order of its fields, followed by inherited ones."""
    listed: tuple[Field, ...] = _options_of(settings)  # type: ignore[arg-type]
    return listed


@cache
def _options_of(settings: Any) -> tuple[Field, ...]:
    own: list[Field] = []
    inherited: list[Field] = []
    hints = get_type_hints(settings)
    shared = {each.name for base in settings.__mro__[1:] if is_dataclass(base) for each in fields(base)}
    for each in fields(settings):
        if inner := each.metadata.get("nested"):
            for found in options_of(inner):
                needs = (*each.metadata["needs"], *found.option.needs)
                own.append(replace(found, path=(each.name, *found.path), option=replace(found.option, needs=needs)))
        elif declared := each.metadata.get("option"):
            default = None if each.default is MISSING else each.default
            place = inherited if each.name in shared else own
            needs = (*declared.needs, *getattr(settings, "inherited_needs", {}).get(each.name, ()))
            place.append(make_field(each.name, replace(declared, needs=needs), members(hints[each.name]), default))
    return (*own, *inherited)


def make_field(name: str, option: Option, kinds: Sequence[Any], default: Any) -> Field:
    """Create a `Field` whose kind follows from the first type in `kinds` other than None."""
    kind, many, count = next(kind for kind in kinds if kind is not type(None)), False, 1
    if get_origin(kind) in (tuple, Sequence):
        arguments = get_args(kind)
        many = True
        count = 1 if arguments[-1] is Ellipsis or get_origin(kind) is Sequence else len(arguments)
        kind = arguments[0]
    kind = members(kind)[0]
    if get_origin(kind) is Literal:
        return Field((name,), option, "choice", default, tuple(map(str, get_args(kind))), many, count)
    names: dict[Any, Any] = {bool: "switch", int: "integer", float: "number", Path: "path", os.PathLike[str]: "path"}
    return Field((name,), option, names.get(kind, "text"), default, (), many, count)


def members(hint: Any) -> tuple[Any, ...]:
    """Return the member types of a union, or a tuple of the type itself."""
    return get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)


def build(settings: type[S], given: Mapping[tuple[str, ...], Any]) -> S:
    """Create a settings object from the values of the options that were given, by option path.

    Raises:
        UsageError: A value contradicts one that another option implies, or an option has no effect.
    """
    options = options_of(settings)
    made = _with_implied(_create(settings, given), given)
    keywords = frozenset(each.keyword for each in options if each.path in given)
    if isinstance(made, GivenSettings):
        made = replace(made, given=keywords)
    refuse_unused(made, keywords, {each.keyword: each.option.needs for each in options})
    return made


def _create(settings: type[S], values: Mapping[tuple[str, ...], Any]) -> S:
    plain = {path[0]: value for path, value in values.items() if len(path) == 1}
    for each in fields(settings):  # type: ignore[arg-type]
        if inner := each.metadata.get("nested"):
            plain[each.name] = _create(inner, {path[1:]: v for path, v in values.items() if path[0] == each.name})
    return settings(**plain)


def _with_implied(settings: S, given: Collection[tuple[str, ...]]) -> S:
    """Return the settings with the values that options such as `--imitate-release` imply."""
    options = {each.keyword: each for each in options_of(type(settings))}
    for preset in options.values():
        value = preset.get(settings)
        for keyword, implied in preset.option.implies.items() if value != preset.default else ():
            other = options.get(keyword)
            if other is None:
                continue
            own = other.get(settings)
            if other.path in given and own != implied:
                raise UsageError(
                    f"{_with_value(other, own)} contradicts {preset.named(value)}, which implies "
                    f"{_with_value(other, implied)}. Leave out one of them."
                )
            settings = with_value(settings, other.path, implied)
    return settings


def _with_value(each: Field, value: Any) -> str:
    return each.named(value) if each.kind == "switch" else f"{each.named(value)} {value}"


def refuse_unused(settings: Any, given: Collection[str], needs: Mapping[str, Sequence[Need]]) -> None:
    """Reject options that were given although a condition for their having an effect is not met.

    Args:
        settings: All settings.
        given: Keywords of the options that were given.
        needs: Conditions by keyword.

    Raises:
        UsageError: An option has no effect. The message names all such options.
    """
    unmet: dict[Need, list[str]] = {}
    for each in options_of(type(settings)):
        need = next((need for need in needs.get(each.keyword, ()) if not need.met(settings)), None)
        if need and each.keyword in given:
            unmet.setdefault(need, []).append(each.named(each.get(settings)))
    if unmet:
        raise UsageError(" ".join(_unused(names, need) for need, names in unmet.items()))


def _unused(names: Sequence[str], need: Need) -> str:
    has, them = ("has", "it") if len(names) == 1 else ("have", "them")
    listed = " and ".join([", ".join(names[:-1]), names[-1]]) if len(names) > 1 else names[0]
    return f"{listed} {has} no effect {need.why}. Leave {them} out, or {need.remedy}."


REMOVED = {"tagger": "English is read by spaCy's parser"}
"""Options that earlier versions had, with the reason for which they were removed."""


def removed(name: str) -> str:
    """Return a sentence about an option that earlier versions had, or ""."""
    return f"--{name} was removed: {REMOVED[name]}." if name in REMOVED else ""


def from_keywords(settings: type[S], given: Mapping[str, Any]) -> S:
    """Create a settings object from keyword arguments, in which `_` replaces the `-` of option names.

    Raises:
        UsageError: An option is unknown or missing, or a value is not allowed.
    """
    known = {each.keyword: each for each in options_of(settings)}
    for name in given:
        if name not in known:
            raise UsageError(removed(name) or f"unknown option {name!r}. Options: {', '.join(sorted(known))}.")
    for name, each in known.items():
        if each.option.required and given.get(name) is None:
            raise UsageError(f"{name} is missing: {each.option.help}")
    values = {}
    for name, value in given.items():
        if known[name].is_empty(value):
            continue
        try:
            values[known[name].path] = known[name].check(value)
        except ValueError as error:
            raise UsageError(f"{name}={value!r} {error}. {known[name].option.help}") from error
    return build(settings, values)


def with_value(settings: S, path: tuple[str, ...], value: Any) -> S:
    """Return a copy of the settings with another value for one option."""
    if len(path) > 1:
        value = with_value(getattr(settings, path[0]), path[1:], value)
    return replace(settings, **{path[0]: value})  # type: ignore[type-var]


def content(settings: Any) -> dict[str, Any]:
    """Return the settings that affect the content of a build, as nested JSON values for `build.json`."""
    hidden = {each.path[0] for each in options_of(type(settings)) if len(each.path) == 1 and not each.option.content}
    hidden.add("given")
    values = {each.name: getattr(settings, each.name) for each in fields(settings) if each.name not in hidden}
    plain = {name: content(value) if is_dataclass(value) else value for name, value in values.items()}
    return {name: value for name, value in plain.items() if value != {}}


def read_settings(settings: type[S], stored: Mapping[str, Any]) -> S:
    """Restore settings from the result of `content`. Options that it does not contain keep their defaults."""
    values: dict[str, Any] = {}
    for each in fields(settings):  # type: ignore[arg-type]
        if each.name not in stored:
            continue
        value = stored[each.name]
        if inner := each.metadata.get("nested"):
            value = read_settings(inner, value)
        values[each.name] = tuple(value) if isinstance(value, list) else value
    return settings(**values)


def option_table(settings: type[Any]) -> str:
    """Format the options of a settings class as a Markdown table."""
    lines = ["| option | default | |", "|---|---|---|"]
    for each in options_of(settings):
        option = each.option
        name = f"--{each.flag}"
        if each.kind == "switch" and (each.default or option.off):
            name += f" / --{each.off}"
        elif each.choices and not each.many:
            name += " " + "\\|".join(each.choices)
        default = option.shown or ("required" if option.required else _shown_default(each))
        lines.append(f"| `{name}` | {default} | {option.help.replace('|', chr(92) + '|')} |")
    return "\n".join(lines)


def _shown_default(each: Field) -> str:
    if each.kind == "switch":
        return f"--{each.flag}" if each.default else "off"
    return "" if each.default in (None, ()) else str(each.default)


def comma_separated(given: Any) -> tuple[str, ...]:
    """Split one or more texts at commas. Raise ValueError if this yields no names."""
    texts = [given] if isinstance(given, str) else given
    names = tuple(part.strip() for text in texts for part in str(text).split(",") if part.strip())
    if not names:
        raise ValueError("is empty; give names separated by commas")
    return names
