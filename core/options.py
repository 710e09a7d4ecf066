"""Options, stated once: fields of frozen dataclasses that carry their help, type, limits and what they decide.

Click options, YAML files, keyword arguments of `stressreel.build`, the command that is recorded (`command.py`), the
settings in `build.json` and the table of options in the docs are all made from these fields.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields, is_dataclass, replace
from functools import cache
from numbers import Integral, Real
from pathlib import Path
from types import UnionType
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from .errors import UsageError
from .share import Share, read_share

S = TypeVar("S")
Record = Literal["always", "changed", "never"]
ExecutorKind = Literal["auto", "inline", "processes", "ray"]
NAME, ITSELF = "NAME", "ITSELF"
SEMANTIC_VERSION = re.compile(r"(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(-[0-9A-Za-z.-]+)?(\+[0-9A-Za-z.-]+)?")


@dataclass(frozen=True)
class Option:
    """What a field says of its option besides its name, type and default.

    Attributes:
        help: One or two sentences for `--help` and the docs.
        name: The option's name without dashes, if it is not the field's.
        off: The name that switches a switch off, without dashes; by default `no-<name>`.
        minimum: Smallest number allowed.
        maximum: Largest number allowed.
        metavar: What `--help` calls the value.
        shown: What `--help` says of the default, if not the default itself.
        required: Whether it must be given.
        exists: For paths: whether a file must be there.
        spread: Whether values may also follow the option as words of their own (`--splits UD PS`).
        read: Turns what was given (a text, or a tuple of texts) into the value; raises ValueError, whose words follow
            what was given.
        write: Turns the value into the text that the recorded command has; None leaves the option out.
        record: When the recorded command has it: always, if it is not the default, or never.
        content: Whether its value is among the settings in `build.json`.
        names: Lists the words that a shell completes its value with, of which it may have several with commas between.
        counts: Whether it decides anything, given all values; else it is set back to its default.
        found_by: How whoever verifies finds again what it names: by its `NAME`; or, for a folder, by what files in it
            are called, or as the annotations `ITSELF`. Files that must exist are found by their names.
        or_file: Whether it may name the only such file instead of their folder.
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
    counts: Callable[[Any], bool] | None = None
    found_by: str = ""
    or_file: bool = False


def option(default: Any, help: str, **more: Any) -> Any:
    """Declare a field of a settings class that is an option; see `Option` for what more may be said."""
    return field(default=default, metadata={"option": Option(help, **more)})


def nested(kind: type[Any]) -> Any:
    """Declare a field that holds another settings class, whose options count as those of the outer one."""
    return field(default_factory=kind, metadata={"nested": kind})


@dataclass(frozen=True, kw_only=True)
class BuildSettings:
    """What every build is told.

    Attributes:
        seed: Seed of every draw.
        split: The split to build, or "all".
        limit: Plan only the first so many units by id.
        version: Semantic version of the dataset.
        max_skip: Largest share of units that may be skipped because their videos are faulty.
        allow_missing: Whether to go on without videos that are missing or do not open.
    """

    seed: int = option(0, "Seed of every draw.", minimum=0)
    split: str = option("all", "Splits to build.", content=False)
    limit: int | None = option(None, "Only the first N units by id, for a trial.", minimum=1, content=False)
    allow_missing: bool = option(
        False,
        "Go on without videos that are missing or do not open; these skips do not count for --max-skip.",
        content=False,
    )
    max_skip: float = option(
        0.01,
        "Fail if a larger share of units must be skipped because their videos are faulty.",
        minimum=0,
        maximum=1,
        record="changed",
        content=False,
    )
    version: str = option(
        "1.0.0", "Semantic version of the dataset.", read=lambda text: semantic_version(text), content=False
    )


@dataclass(frozen=True, kw_only=True)
class RunOptions:
    """How a build is run; nothing here changes its content.

    Attributes:
        out: The output folder.
        workers: Processes; None for one a core.
        executor: Where they run: "inline" is the process that was started, "ray" a Ray cluster, "auto" inline for one
            worker and processes of this machine for more.
        ray_address: "host:port" of the cluster's head; None for the cluster that this machine is in, or one of its own.
        share: The part of the units that this process renders, if several build one output.
        resume: Whether to go on where an earlier run stopped; if not, that is thrown away.
        dry_run: Whether to describe the plan and stop.
        check_space: Whether to compare the free disk space with an estimate first.
        progress: Whether to show progress.
    """

    out: Path | None = option(None, "Output folder: new, empty, or an earlier run of the same build.")
    workers: int | None = option(None, "Processes. The result does not depend on it.", minimum=1, shown="one a core")
    executor: ExecutorKind = option(
        "auto",
        "Where units are rendered: in this process, in processes of this machine, or on a Ray cluster; auto takes "
        "processes if there is more than one worker.",
    )
    ray_address: str | None = option(
        None,
        "Head of the Ray cluster, host:port.",
        metavar="HOST:PORT",
        shown="the cluster of this machine, else one of its own",
    )
    share: Share | None = option(
        None,
        "Render the I-th of N parts of the units; the last of N such processes to finish packs. They share --out.",
        name="shard",
        metavar="I/N",
        read=lambda text: read_share(text),
    )
    resume: bool = option(True, "Go on where an earlier run stopped, or throw it away and start again.", off="fresh")
    dry_run: bool = option(
        False,
        "Print the plan, sizes and times, for which a few frames are encoded, and stop; nothing is written.",
    )
    check_space: bool = option(True, "Compare the free disk space with an estimate before work starts.")
    progress: bool = option(True, "Show progress.")


def semantic_version(text: str) -> str:
    """Return a semantic version as it is.

    Raises:
        ValueError: It is none.
    """
    if not SEMANTIC_VERSION.fullmatch(text):
        raise ValueError("is not a semantic version such as 1.0.0 or 1.2.0-rc.1")
    return text


@dataclass(frozen=True)
class Field:
    """An option together with where it stands.

    Attributes:
        path: Names of the fields that lead to it, one but for nested settings.
        option: What its field says.
        kind: "switch", "integer", "number", "choice", "path" or "text".
        default: Its default; None if there is none.
        choices: The values of a choice.
        many: Whether it may be given several times, or takes `count` values.
        count: Values of one option on the command line; 1 but for tuples of a fixed length.
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
        """The name on the command line, without dashes in front."""
        return self.option.name or self.path[-1].replace("_", "-")

    @property
    def keyword(self) -> str:
        """The name as a keyword argument of Python."""
        return self.flag.replace("-", "_")

    def get(self, settings: Any) -> Any:
        """Return the value that it has in settings."""
        for name in self.path:
            settings = getattr(settings, name)
        return settings

    def check(self, value: Any) -> Any:
        """Return a value given as a keyword argument as the field holds it.

        Raises:
            ValueError: It has another type, or is out of range; the words follow what was given.
        """
        if value is None and self.default is None and not self.option.required:
            return None
        if self.option.read is not None:
            given = _listed(value)
            if isinstance(given, tuple):
                return self.option.read(tuple(map(str, given)))
            return self.option.read(given if isinstance(given, str | Mapping) else str(given))
        if self.many:
            given = _listed(value)
            given = given if isinstance(given, tuple) else (given,)
            if self.count > 1 and len(given) != self.count:
                raise ValueError(f"must be {self.count} values")
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
                limits = [
                    f"{words} {limit:g}" for words, limit in (("at least", low), ("at most", high)) if limit is not None
                ]
                raise ValueError(f"must be {' and '.join(limits)}")
            return value
        if self.kind == "path":
            if not isinstance(value, str | os.PathLike):
                raise ValueError("must be a path")
            path = Path(value).expanduser()
            if self.option.exists and not path.is_file():
                raise ValueError("is no file that is there")
            return path
        if not isinstance(value, str | Path):
            raise ValueError("must be a text")
        text = str(value)
        if self.choices and text not in self.choices:
            raise ValueError(f"must be one of {', '.join(self.choices)}")
        return text


def _listed(value: Any) -> Any:
    """Return several values, such as those of a list, a set or an array, as a tuple; one value as it is."""
    single = isinstance(value, str | bytes | os.PathLike | Mapping) or not isinstance(value, Iterable)
    return value if single else tuple(value)


def options_of(settings: type[Any]) -> tuple[Field, ...]:
    """List the options of a settings class: its own in their order, then those of its base classes."""
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
            own += [replace(found, path=(each.name, *found.path)) for found in options_of(inner)]
        elif found := each.metadata.get("option"):
            default = None if each.default is MISSING else each.default
            place = inherited if each.name in shared else own
            place.append(make_field(each.name, found, members(hints[each.name]), default))
    return (*own, *inherited)


def make_field(name: str, option: Option, kinds: Sequence[Any], default: Any) -> Field:
    """Make the option of a dataclass's field, or of a function's parameter.

    Args:
        name: Its name.
        option: What is declared of it.
        kinds: The types that it may have; the first says what the option takes.
        default: Its default.
    """
    kind, many, count = next(kind for kind in kinds if kind is not type(None)), False, 1
    if get_origin(kind) in (tuple, Sequence):
        arguments = get_args(kind)
        many = True
        count = 1 if arguments[-1] is Ellipsis or get_origin(kind) is Sequence else len(arguments)
        kind = arguments[0]
    kind = members(kind)[0]
    if get_origin(kind) is Literal:
        return Field((name,), option, "choice", default, tuple(map(str, get_args(kind))), many, count)
    names: dict[Any, Any] = {bool: "switch", int: "integer", float: "number", Path: "path"}
    return Field((name,), option, names.get(kind, "text"), default, (), many, count)


def members(hint: Any) -> tuple[Any, ...]:
    """Return the types of a union, or the one type."""
    return get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)


def build(settings: type[S], values: Mapping[tuple[str, ...], Any]) -> S:
    """Make settings of values by the paths of their options; what is not given has its default."""
    plain = {path[0]: value for path, value in values.items() if len(path) == 1}
    for each in fields(settings):  # type: ignore[arg-type]
        if inner := each.metadata.get("nested"):
            plain[each.name] = build(inner, {path[1:]: v for path, v in values.items() if path[0] == each.name})
    return settings(**plain)


def from_keywords(settings: type[S], given: Mapping[str, Any]) -> S:
    """Make settings of keyword arguments, named as the options are, with _ for -.

    Raises:
        UsageError: There is no such option, one is missing, or a value is not allowed.
    """
    known = {each.keyword: each for each in options_of(settings)}
    for name in given:
        if name not in known:
            raise UsageError(f"there is no option {name!r}. Options: {', '.join(sorted(known))}.")
    for name, each in known.items():
        if each.option.required and given.get(name) is None:
            raise UsageError(f"{name} is missing: {each.option.help}")
    values = {}
    for name, value in given.items():
        try:
            values[known[name].path] = known[name].check(value)
        except ValueError as error:
            raise UsageError(f"{name}={value!r} {error}. {known[name].option.help}") from error
    return build(settings, values)


def settled(settings: S) -> S:
    """Set every option that decides nothing, given the others, back to its default."""
    for each in options_of(type(settings)):
        if each.option.counts and not each.option.counts(settings) and each.get(settings) != each.default:
            settings = with_value(settings, each.path, each.default)
    return settings


def with_value(settings: Any, path: tuple[str, ...], value: Any) -> Any:
    """Return settings with another value of the option at a path."""
    if len(path) > 1:
        value = with_value(getattr(settings, path[0]), path[1:], value)
    return replace(settings, **{path[0]: value})


def content(settings: Any) -> dict[str, Any]:
    """Return the values that decide the content of a build, as nested JSON values for `build.json`."""
    hidden = {each.path for each in options_of(type(settings)) if not each.option.content}
    return _content(settings, hidden, ())


def _content(settings: Any, hidden: set[tuple[str, ...]], prefix: tuple[str, ...]) -> dict[str, Any]:
    found = {}
    for each in fields(settings):
        path = (*prefix, each.name)
        value = getattr(settings, each.name)
        if path not in hidden:
            found[each.name] = _content(value, hidden, path) if is_dataclass(value) else value
    return found


def read_settings(settings: type[S], stored: Mapping[str, Any]) -> S:
    """Make settings of what `content` gave, read back from JSON; options that decide no content have their defaults."""
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
    """Write the options of a settings class as a Markdown table."""
    lines = ["| option | default | |", "|---|---|---|"]
    for each in options_of(settings):
        option = each.option
        name = f"--{each.flag}"
        if each.kind == "switch" and (each.default or option.off):
            name += f" / --{option.off or f'no-{each.flag}'}"
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
    """Read names with commas between them, given once or several times.

    Raises:
        ValueError: There is no name.
    """
    texts = [given] if isinstance(given, str) else given
    names = tuple(part.strip() for text in texts for part in str(text).split(",") if part.strip())
    if not names:
        raise ValueError("names nothing; give names with commas between them")
    return names
