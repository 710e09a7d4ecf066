"""Complete values that depend on what was typed before. cyclopts completes commands, options and choices by itself."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

if TYPE_CHECKING:
    from cyclopts.completion import CompletionContext

INSTALL = "--install-completion"
COMPLETE = "__complete"
"""The command with which the installed scripts ask for values. cyclopts catches all errors of completers."""


def tables(context: CompletionContext) -> list[str]:
    """Return the names of the tables of the output that was typed."""
    return list(_counts(context))


def splits(context: CompletionContext) -> list[str]:
    """Return the splits of the output that was typed: those of the chosen table, or of all tables."""
    counts = _counts(context)
    table = context.get("config")
    chosen = table.raw_tokens if table else ()
    found = [counts[name] for name in chosen if name in counts] or counts.values()
    return list(dict.fromkeys(split for each in found for split in each))


def _counts(context: CompletionContext) -> Mapping[str, Mapping[str, int]]:
    from ..core.documents import parse_own, read_own
    from ..core.left_out import LEFT_OUT

    folder = Path(context["out"].raw or "").expanduser()
    counts = parse_own(read_own(folder / "build.json"))["counts"]
    return {name: splits for name, splits in counts.items() if name != LEFT_OUT.name}


COMPLETERS: Mapping[str, Callable[[CompletionContext], list[str]]] = {"config": tables, "split": splits}


def with_completers(hints: Mapping[str, Any]) -> dict[str, Any]:
    """Add completers to the types of arguments that name a table or a split of an output."""
    return {
        name: Annotated[hint, Parameter(completer=COMPLETERS[name])] if name in COMPLETERS else hint
        for name, hint in hints.items()
    }
