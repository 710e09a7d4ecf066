"""Print the results of commands."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict, is_dataclass
from typing import Any

from ..core.errors import printable
from ..core.results import Result


def echo(text: Any, *, err: bool = False) -> None:
    """Print a text with control characters escaped."""
    print(
        printable(str(text)),
        file=sys.stderr if err else sys.stdout,
        end="" if str(text).endswith("\n") else "\n",
        flush=True,
    )


def show(result: Any, *, as_json: bool, live: bool = False) -> int:
    """Print what a command returned, and return the exit code. If `live`, parts of it were printed before."""
    from ..api.build import report
    from ..api.outputs import Output
    from ..core.output import fitting

    if isinstance(result, Output):
        with fitting(result.path):  # the output may be an existing one, which is untrusted
            echo(json.dumps(dict(result.info), ensure_ascii=False, indent=2) if as_json else report(result))
        return 0
    if result is None:  # a help text was printed
        return 0
    if not isinstance(result, Result):
        echo(
            json.dumps(asdict(result), default=str)
            if as_json and is_dataclass(result) and not isinstance(result, type)
            else result
        )
        return 0
    for note in result.notes:
        echo(f"note: {note}", err=True)
    text = result.closing() if live else result.render("json" if as_json else "text")
    if text:
        echo(text)
    for line in result.written:
        echo(line, err=as_json)
    return int(result.failed)
