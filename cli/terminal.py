"""Define click settings that all commands share, and print text with control characters escaped."""

from __future__ import annotations

from typing import Any

import click

from ..core.errors import printable

CONTEXT: dict[str, Any] = {"help_option_names": ["-h", "--help"], "max_content_width": 110}
"""Settings of click for every command."""


def echo(text: str, *, err: bool = False, nl: bool = True) -> None:
    """Print a text with control characters escaped."""
    click.echo(printable(text), err=err, nl=nl)
