"""How commands print: text from files is shown, never obeyed."""

from __future__ import annotations

from typing import Any

import click

from ..core.errors import printable

CONTEXT: dict[str, Any] = {"help_option_names": ["-h", "--help"], "max_content_width": 110}
"""Settings of click that every command has."""


def echo(text: str, *, err: bool = False, nl: bool = True) -> None:
    """Print a text with its control characters escaped."""
    click.echo(printable(text), err=err, nl=nl)
