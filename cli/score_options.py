"""Options that scores and comparisons share."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from typing import Any

import click

from .completion import complete_splits


def bootstrap_options(command: Any) -> Any:
    """Add the seed and the number of resamples."""
    options = (
        click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Bootstrap's seed."),
        click.option(
            "--resamples",
            type=click.IntRange(min=100),
            default=1000,
            show_default=True,
            help="Resamples of the bootstrap over source videos.",
        ),
    )
    return reduce(lambda wrapped, option: option(wrapped), reversed(options), command)


def split_option(command: Any) -> Any:
    """Add the split."""
    text = "Split to score, or all. [default: test where there is one, else all]"
    return click.option("--split", shell_complete=complete_splits, help=text)(command)


def first_index_option(what: str) -> Callable[[Any], Any]:
    """Make an option for what number 1st options have.

    Args:
        what: In which files.
    """
    return click.option(
        "--first-index",
        type=click.Choice(["0", "1"]),
        default="0",
        show_default=True,
        help=f"What number 1st options have{what}.",
    )
