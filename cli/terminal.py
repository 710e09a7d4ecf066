"""What commands print: text from files is shown, never obeyed."""

from __future__ import annotations

import click

from ..core.errors import printable


def echo(text: str, *, err: bool = False, nl: bool = True) -> None:
    """Print a text with its control characters escaped."""
    click.echo(printable(text), err=err, nl=nl)
