"""What models that see no video choose, read from the file of an audit.

The file is JSON with `choices`: for each question an object with `id`, its `config` where an output has several tables
with questions, `asked` ("answer", the default, or "explanation"), and `choices`, a list of `{"guesser": name, "choice":
number of the option from 0}`. What else the file says is not looked at.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ...errors import InputError, UsageError
from ...records.documents import parse_json, shortened


def read_guesses(path: Path, *, fingerprint: str | None = None) -> dict[str, list[dict[str, Any]]]:
    """Read the choices of an audit.

    Args:
        path: The file, or the folder that holds it as `audit.json`.
        fingerprint: Of the output that is shown; an audit that names another is refused.

    Returns:
        The guesses for each question, by its id and, where the file names a table, by `<table>/<id>` instead.

    Raises:
        UsageError: There is no such file.
        InputError: It is no such file, or of another output.
    """
    file = path / "audit.json" if path.is_dir() else path
    if not file.is_file():
        raise UsageError(f"there is no audit {file}. Give a JSON file with `choices`, or the folder of audit.json.")
    try:
        content = parse_json(file.read_text(encoding="utf-8"))
        rows = content["choices"]
        found: dict[str, list[dict[str, Any]]] = {}
        for row in rows:
            name = f"{row['config']}/{row['id']}" if row.get("config") else str(row["id"])
            found.setdefault(name, []).extend(_guess(each, row) for each in row["choices"])
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise InputError(
            f"{file} is no list of choices ({type(error).__name__}: {shortened(str(error))}). It needs `choices`, a "
            'list of {"id", "config", "asked", "choices": [{"guesser", "choice"}]}.'
        ) from error
    named = content.get("output")
    stated = named.get("fingerprint") if isinstance(named, Mapping) else content.get("fingerprint")
    if fingerprint and stated and stated != fingerprint:
        raise InputError(f"{file} is of another output (fingerprint {str(stated)[:16]}, not {fingerprint[:16]}).")
    return found


def _guess(given: Mapping[str, Any], row: Mapping[str, Any]) -> dict[str, Any]:
    choice = given["choice"]
    if type(choice) is not int or choice < 0:
        raise ValueError(f"choice {shortened(choice)} is no number of an option")
    return {
        "guesser": str(given["guesser"]),
        "choice": choice,
        "asked": str(given.get("asked") or row.get("asked") or "answer"),
    }
