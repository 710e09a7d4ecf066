"""What models that see no video choose, read from the file of an audit.

The file is JSON with `audits`, a list of `{"config": table, "part": "answer" or "explanation", "choices": {…}}`. These
are, for each id, a list of guesses `{"guesser": name, "choice": number of the option from 0}`; guessers of answer and
explanation at once choose two numbers. What else the file says is not looked at.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from ...core.documents import parse_json, read_text, shortened
from ...core.errors import InputError, UsageError

ANSWER, EXPLANATION = "answer", "explanation"


def read_guesses(path: Path, *, fingerprint: str | None = None) -> dict[str, list[dict[str, Any]]]:
    """Read the choices of an audit.

    Args:
        path: The file, or the folder that holds it as `audit.json`.
        fingerprint: Of the output that is shown; an audit that names another is refused.

    Returns:
        The guesses for each question, `{"guesser", "choice", "asked": "answer" or "explanation"}`, by its id and, where
        the file names a table, by `<table>/<id>` instead.

    Raises:
        UsageError: There is no such file.
        InputError: It is no such file, or of another output.
    """
    file = path / "audit.json" if path.is_dir() else path
    if not file.is_file():
        raise UsageError(f"there is no audit {file}. Give a JSON file with `audits`, or the folder of audit.json.")
    try:
        content = parse_json(read_text(file))
        found: dict[str, list[dict[str, Any]]] = {}
        for audit in content["audits"]:
            asked = EXPLANATION if audit.get("part") == EXPLANATION else ANSWER
            for name, choices in dict(audit["choices"]).items():
                key = f"{audit['config']}/{name}" if audit.get("config") else name
                found.setdefault(key, []).extend(guess for each in choices for guess in _guesses(each, asked))
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise InputError(
            f"{file} is no audit ({type(error).__name__}: {shortened(str(error))}). It needs `audits`, a list of "
            '{"config", "part", "choices": {id: [{"guesser", "choice"}]}}.'
        ) from error
    named = content.get("output")
    stated = named.get("fingerprint") if isinstance(named, Mapping) else content.get("fingerprint")
    if fingerprint and stated and stated != fingerprint:
        raise InputError(f"{file} is of another output (fingerprint {str(stated)[:16]}, not {fingerprint[:16]}).")
    return found


def _guesses(given: Mapping[str, Any], asked: str) -> Iterator[dict[str, Any]]:
    """Yield the guess of a guesser: two if it chooses answer and explanation at once, none if it has none (-1)."""
    choice = given["choice"]
    both = isinstance(choice, list) and len(choice) == 2
    for part, number in zip((ANSWER, EXPLANATION) if both else (asked,), choice if both else [choice], strict=True):
        if type(number) is not int or number < -1:
            raise ValueError(f"choice {shortened(choice)} is no number of an option")
        if number >= 0:
            name = f"{given['guesser']}, both at once" if both else str(given["guesser"])
            yield {"guesser": name, "choice": number, "asked": part}
