"""Word the errors of the parser of the command line."""

from __future__ import annotations

import difflib
import shlex

from cyclopts import (
    Argument,
    CoercionError,
    CycloptsError,
    MissingArgumentError,
    UnknownCommandError,
    UnknownOptionError,
    UnusedCliTokensError,
)

EVERYWHERE = ("--config", "--json", "--verbose", "--debug", "--help")


def message_of(error: CycloptsError) -> str:
    """Return the message of an error, with the value and the remedy where that of the library lacks them."""
    from ..core.settings import help_of, unknown_option

    argument, unused = error.argument, error.unused_tokens or []
    if isinstance(error, UnknownCommandError) and error.app:
        return _unknown_command(unused[0], [*error.app], list(error.command_chain or ()))
    if isinstance(error, UnknownOptionError):
        word = error.token.keyword or error.token.value
        known = [name for each in error.argument_collection for name in each.names if each.parse]
        return f"{word} is no option after --." if word in known else unknown_option(word, [*known, *EVERYWHERE])
    if isinstance(error, UnusedCliTokensError):
        return f"{shlex.join(unused)} does not belong to any option or argument."
    if argument is None:
        return str(error)
    if isinstance(error, CoercionError) and hasattr(argument.parameter.converter, "read"):
        given = shlex.join(token.value for token in argument.tokens)
        return f"{flag_of(argument)} {given} {str(error.msg).rstrip('.')}."
    if isinstance(error, MissingArgumentError) and error.keyword:
        return f"{error.keyword} requires a value. If the value begins with a dash, write {error.keyword}=VALUE."
    if isinstance(error, MissingArgumentError) and not argument.tokens:
        return f"{flag_of(argument)} is missing. {help_of(error.target).get(argument.field_info.name, '')}".strip()
    return str(error)


def flag_of(argument: Argument) -> str:
    """Return how an argument is given: `--out`, or `OUT` if it needs no flag."""
    return argument.name.lstrip("-").upper() if argument.index is not None else argument.name


def _unknown_command(word: str, names: list[str], chain: list[str]) -> str:
    from ..builders import benchmark_names

    commands = [name for name in names if not name.startswith("-")]
    programs = [] if chain else [f"build-{name}" for name in benchmark_names()]
    near = difflib.get_close_matches(word, [*commands, *programs], 1)
    words = [*chain, near[0].replace("build-", "build ")] if near else []
    remedy = f"Did you mean `stressreel {' '.join(words)}`?" if near else f"Commands: {', '.join(commands)}."
    return f"unknown command {word!r}. {remedy}"
