"""Complete the names of perturbations, tables and splits in the shell.

Click generates the scripts: `eval "$(_STRESSREEL_COMPLETE=bash_source stressreel)"`. Completion must never fail or
print anything.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import click

Complete = Callable[[click.Context, click.Parameter, str], list[str]]


def complete_names(names: Callable[[], Sequence[str]]) -> Complete:
    """Return a function that completes the last name in a comma-separated list."""

    def complete(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
        *before, last = incomplete.split(",")
        return [",".join([*before, name]) for name in names() if name.startswith(last) and name not in before]

    return complete


def complete_tables(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
    """Complete the name of a table in the output given on the command line."""
    return [name for name in _counts(ctx) if name.startswith(incomplete)]


def complete_splits(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
    """Complete the name of a split in the output given on the command line."""
    splits = dict.fromkeys(split for table in _counts(ctx).values() for split in table)
    return [split for split in (*splits, "all") if split.startswith(incomplete)]


def _counts(ctx: click.Context) -> dict[str, dict[str, int]]:
    from ..core.documents import parse_json, read_own

    named = [ctx.params.get("out"), ctx.params.get("on"), *ctx.args]  # arguments, if the last option has no value
    for out in filter(None, named):
        try:
            content = parse_json(read_own(Path(out) / "build.json"))
            return {str(name): dict(splits) for name, splits in content["counts"].items()}
        except (OSError, ValueError, LookupError, TypeError, AttributeError):
            continue
    return {}
