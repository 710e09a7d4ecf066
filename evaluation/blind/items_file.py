"""Load multiple-choice questions from a user's file for an audit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from ...core.documents import shortened
from ...core.errors import InputError, UsageError
from ..metrics.items import COLUMNS, INDEX, given_options, options_of, read_questions, right_option
from .questions import BlindQuestion

TRUE, FALSE = ("true", "1", "yes"), ("false", "0", "no")
Table = tuple[str, str]
"""Config and split of questions, each "" if the file does not state it."""


def read_asked(
    path: Path, columns: Mapping[str, str] | None = None, first: int = 0
) -> dict[Table, list[BlindQuestion]]:
    """Load multiple-choice questions from a file of rows.

    Args:
        path: File with `id`, `question`, `options` (or a0, a1, …; without options, answers are yes or no) and `answer`
            (or `answer_index`); optionally `source`, `split`, `config`, `kind`, `part`, `blind_guessable`, and
            `explanation_options` with `explanation_index`, as written by `stressreel mine`.
        columns: Names of columns in the file that differ from those in `items.COLUMNS`.
        first: Index of the first option in numeric answers. `answer_index` always counts from 0.

    Returns:
        The questions by config and split, in file order.

    Raises:
        UsageError: The file does not exist, or `columns` has an unknown key.
        InputError: The file cannot be read, or a row has no id or correct option.
    """
    if not path.exists():
        raise UsageError(f"{path} does not exist. Pass the output of a build, or a file with your own questions.")
    rows = read_questions(path, columns).rows
    found: dict[Table, list[BlindQuestion]] = {}
    for number, row in enumerate(rows, 1):
        value = {name: _value(row, names) for name, names in COLUMNS.items()}
        if not _text(value["id"]):
            raise InputError(f"{path}: row {number} has no id. Ids are read from {', '.join(COLUMNS['id'])}.")
        table = (_text(value["config"]), _text(value["split"]))
        found.setdefault(table, []).extend(_asked(path, row, value, COLUMNS["answer"], first))
    return found


def _asked(
    path: Path, row: Mapping[str, Any], value: Mapping[str, Any], gold: Sequence[str], first: int
) -> list[BlindQuestion]:
    name = _text(value["id"])
    guessable = _flag(path, name, value["blind_guessable"])
    explained = value["explanation_options"] is not None
    given = given_options({**row, "options": value["options"]})
    if given is None and value["question"] is None:
        raise InputError(f"{path}: {name!r} has neither a question nor options. A file of predictions is not enough.")
    options = options_of(given, path, name)
    answer = next((column for column in gold if row.get(column) not in (None, "")), None)
    if answer is None:
        raise InputError(f"{path}: {name!r} has no correct answer. Answers are read from {', '.join(gold)}.")
    _check(path, name, options)
    asked = BlindQuestion(
        id=name,
        question=_text(value["question"]),
        options=options,
        right=right_option(row, answer, options, f"{path}: {name!r}", first=first),
        source=_text(value["source"]),
        kind=_text(value["kind"]),
        part=_text(value["part"]) or ("answer" if explained else ""),
        balanced=None if guessable is None else not guessable,
    )
    if not explained:
        return [asked]
    options = options_of(value["explanation_options"], path, name)
    _check(path, name, options)
    index = {INDEX: value["explanation_index"]}
    right = right_option(index, INDEX, options, f"{path}: the explanation of {name!r}")
    return [asked, replace(asked, options=options, right=right, part="explanation")]


def _value(row: Mapping[str, Any], names: Sequence[str]) -> Any:
    return next((row[name] for name in names if row.get(name) not in (None, "")), None)


def _text(value: Any) -> str:
    return "" if value is None else str(value).strip()


def _check(path: Path, name: str, options: Sequence[str]) -> None:
    if len(options) < 2:
        raise InputError(f"{path}: {name!r} has one option; at least two are needed.")


def _flag(path: Path, name: str, value: Any) -> bool | None:
    if value is None:
        return None
    text = str(value).casefold()
    if text not in (*TRUE, *FALSE):
        raise InputError(f"{path}: blind_guessable of {name!r} is {shortened(value)}; expected true or false.")
    return text in TRUE
