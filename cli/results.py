"""Print the results of commands."""

from __future__ import annotations

import sys
from typing import Any

from ..core.errors import printable


def echo(text: Any, *, err: bool = False) -> None:
    """Print a text with control characters escaped."""
    print(
        printable(str(text)),
        file=sys.stderr if err else sys.stdout,
        end="" if str(text).endswith("\n") else "\n",
        flush=True,
    )


def show(result: Any, *, as_json: bool, live: bool = False) -> int:
    """Print what a command returned, and return the exit code. If `live`, parts of it were printed before.

    With `as_json`, one JSON document is printed on standard output, and everything else on standard error.
    """
    from ..api.build import report
    from ..api.outputs import Output
    from ..core.output import fitting
    from ..core.results import dump

    if isinstance(result, Output):
        with fitting(result.path):  # the output may be an existing one, which is untrusted
            echo(dump(dict(result.info)) if as_json else report(result))
        return 0
    if result is None:  # a help text was printed
        return 0
    for note in result.notes:
        echo(f"note: {note}", err=True)
    text = result.closing() if live else result.render("json" if as_json else "text")
    if text:
        echo(text)
    for line in result.written:
        echo(line, err=as_json)
    return int(result.failed)
