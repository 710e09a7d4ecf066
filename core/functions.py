"""Make functions of the API: arguments are validated, and settings are given as keywords."""

from __future__ import annotations

import inspect
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from types import SimpleNamespace, UnionType
from typing import Annotated, Any, ParamSpec, TypeVar, Union, get_args, get_origin, get_type_hints

from cyclopts import Parameter

from .extras import named
from .settings import Settings, checked, create, options_of, parameter_of, plain

P = ParamSpec("P")
R = TypeVar("R")
S = TypeVar("S", bound=Settings)

NO_OPTION = ("Callable", "Mapping")
HIDDEN = Annotated[Any, Parameter(parse=False)]


@contextmanager
def _naming_extras(name: str) -> Iterator[None]:
    """Convert the error for a missing package to one that tells how to install it."""
    try:
        yield
    except ModuleNotFoundError as error:
        raise named(error, f"stressreel.{name}") from error


def public(function: Callable[P, R]) -> Callable[P, R]:
    """Decorate a function of the API so that its arguments are validated like the options of its command.

    Raises:
        UsageError: An argument has the wrong type or is out of range.
        MissingExtraError: A required package is not installed.
    """
    signature, hints = inspect.signature(function), argument_hints(function)

    @wraps(function)
    def validated(*args: P.args, **kwargs: P.kwargs) -> R:
        bound = signature.bind(*args, **kwargs)
        for name, value in bound.arguments.items():
            parameter = signature.parameters[name]
            if value is not parameter.default and parameter.kind is not parameter.VAR_KEYWORD:
                bound.arguments[name] = checked(name, hints[name], value)
        with _naming_extras(function.__name__):
            return function(*bound.args, **bound.kwargs)

    validated.__annotations__ = hints
    return validated


def keywords_of(kind: Callable[P, S]) -> Callable[[Callable[[S], R]], Callable[P, R]]:
    """Decorate a function of settings so that it takes their fields as keywords, and knows which were given.

    Type checkers read the keywords and their defaults from the class; `inspect.signature` and `help` show them, too.
    """
    options = options_of(kind)  # type: ignore[arg-type]
    parameters = [
        inspect.Parameter(
            option.name,
            inspect.Parameter.KEYWORD_ONLY if option.keyword_only else inspect.Parameter.POSITIONAL_OR_KEYWORD,
            default=inspect.Parameter.empty if option.required else option.default,
            annotation=plain(option.hint),
        )
        for option in sorted(options, key=lambda option: option.keyword_only)
    ]
    signature = inspect.Signature(parameters)
    free = [option.name for option in options if not option.keyword_only]
    entries = "".join(f"    {option.name}: {option.help}\n" for option in options)

    def decorate(function: Callable[[S], R]) -> Callable[P, R]:
        @wraps(function)
        def with_keywords(*args: P.args, **given: P.kwargs) -> R:
            names = free[: len(args)]
            if len(args) > len(free) or given.keys() & set(names):
                raise TypeError(
                    f"{function.__name__}: at most {', '.join(free) or 'no argument'} may be positional, once"
                )
            with _naming_extras(function.__name__):
                return function(create(kind, dict(zip(names, args, strict=True)) | given))  # type: ignore[arg-type]

        head, section, tail = inspect.cleandoc(function.__doc__ or "").partition("\n\nReturns:\n")
        with_keywords.__doc__ = f"{head}\n\nArgs:\n{entries}{section[1:]}{tail}"
        with_keywords.__signature__ = signature  # type: ignore[attr-defined]
        hints = {option.name: without_opposite(option.hint, option.default) for option in options}
        with_keywords.__annotations__ = hints
        return with_keywords

    return decorate


def argument_hints(function: Callable[..., Any]) -> dict[str, Any]:
    """Return the types of the arguments as their command reads them. Callbacks and mappings are no options."""
    annotations = {name: hint for name, hint in function.__annotations__.items() if name != "return"}
    resolved = {name: hint for name, hint in annotations.items() if not hint.startswith(NO_OPTION)}
    scope = vars(sys.modules[function.__module__])
    hints = get_type_hints(SimpleNamespace(__annotations__=resolved), scope, include_extras=True)
    defaults = {name: parameter.default for name, parameter in inspect.signature(function).parameters.items()}
    return {name: without_opposite(_as_read(hints.get(name, HIDDEN)), defaults[name]) for name in annotations}


def without_opposite(hint: Any, default: Any) -> Any:
    """Return the type of an argument, without an opposite for a switch that is off by default."""
    has_opposite = plain(hint) is bool and default is False and parameter_of(hint).negative is None
    return Annotated[hint, Parameter(negative=())] if has_opposite else hint


def _as_read(hint: Any) -> Any:
    """Return `Path` for a path or its text (`str` if that is listed first), and a tuple for a sequence or one item."""
    if get_origin(hint) is Annotated:
        inner, *metadata = get_args(hint)
        return hint if parameter_of(hint).converter else Annotated[(_as_read(inner), *metadata)]
    if get_origin(hint) is Sequence:
        return tuple[_as_read(get_args(hint)[0]), ...]  # type: ignore[misc]
    if get_origin(hint) not in (Union, UnionType):
        return hint
    members = [member for member in get_args(hint) if member is not type(None)]
    for member in members:
        if parameter_of(member).converter:
            return Annotated[(hint, *member.__metadata__)]
    kinds = [kind for kind in members if get_origin(kind) is Sequence] or [
        str if members[0] is str else Path for kind in members if kind is Path or get_origin(kind) is os.PathLike
    ]
    if not kinds:
        return hint
    return _as_read(kinds[0]) if len(members) == len(get_args(hint)) else _as_read(kinds[0]) | None
