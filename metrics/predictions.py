"""Predictions from a file: read, understood, and joined to the questions by id. Nothing is guessed."""

from __future__ import annotations

import csv
import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError

ID_NAMES = ("id", "question_id", "qid")
ANSWER_NAMES = ("answer", "prediction", "pred")
UNREADABLE, MISSING = -1, -2
SHOWN = 20

YES_NO = ("no", "yes")
TRUTHS = {"yes": 1, "y": 1, "true": 1, "no": 0, "n": 0, "false": 0}
LEAD = re.compile(r"^(?:the )?(?:correct |final |best )?(?:answer|option|choice)(?: is)?\s*[:=]?\s*", re.IGNORECASE)
WORD = re.compile(r"[^\W_]+(?:'[^\W_]+)?")
LETTER = re.compile(r"^\W*([A-Za-z])(?:\s*[).:\]]+\s*(.*)|\W*)$", re.DOTALL)
NUMBER = re.compile(r"^[(\[]?\s*(\d+)\s*[)\].:]?$")


@dataclass(frozen=True)
class Predictions:
    """The rows of a predictions file.

    Attributes:
        path: The file.
        rows: Its rows, by column.
    """

    path: Path
    rows: list[dict[str, Any]]


@dataclass(frozen=True)
class Joined:
    """Predictions in the order of the questions.

    Attributes:
        picks: Number of the option for each question; -1 for an answer that cannot be read, -2 for none.
        read: Rows in the file.
        unreadable: The first ids and answers that could not be read, and how many there are.
        missing: The first ids without a prediction, and how many.
        doubled: Likewise ids given twice: the first counts.
        unknown: Likewise ids that no question has.
        elsewhere: How many predictions are for questions that are not scored now (other splits).
    """

    picks: NDArray[np.int64]
    read: int
    unreadable: tuple[tuple[tuple[str, str], ...], int]
    missing: tuple[tuple[str, ...], int]
    doubled: tuple[tuple[str, ...], int]
    unknown: tuple[tuple[str, ...], int]
    elsewhere: int

    def summary(self) -> dict[str, Any]:
        """Give the counts, and what could not be read, as JSON values."""
        listed, unreadable = self.unreadable
        return {
            "read": self.read,
            "scored": int((self.picks != MISSING).sum()),
            "unreadable": unreadable,
            "unreadable_first": [{"id": name, "answer": answer} for name, answer in listed],
            "missing": self.missing[1],
            "doubled": self.doubled[1],
            "unknown": self.unknown[1],
            "of_other_splits": self.elsewhere,
        }


def read_predictions(path: Path) -> Predictions:
    """Read a predictions file.

    Args:
        path: JSON lines (.jsonl, .ndjson), a JSON list of objects (.json), CSV (.csv, with a header; .tsv) or Parquet.

    Raises:
        InputError: No such file, another kind of file, or one that cannot be read.
    """
    if not path.is_file():
        raise InputError(
            f"there is no predictions file {path}. Give JSON lines, CSV or Parquet with `id` and `answer`."
        )
    kind = path.suffix.lower()
    try:
        if kind in (".jsonl", ".ndjson"):
            rows = list(_json_lines(path))
        elif kind == ".json":
            rows = json.loads(path.read_text(encoding="utf-8"))
            if isinstance(rows, dict) and all(not isinstance(value, dict | list) for value in rows.values()):
                rows = [{"id": name, "answer": answer} for name, answer in rows.items()]
        elif kind in (".csv", ".tsv"):
            with open(path, encoding="utf-8-sig", newline="") as handle:
                rows = list(csv.DictReader(handle, delimiter="\t" if kind == ".tsv" else ",", strict=True))
            if any(None in row or None in row.values() for row in rows):
                line = next(number for number, row in enumerate(rows, 2) if None in row or None in row.values())
                raise InputError(f"{path}, row {line}: it has more or fewer fields than the header.")
        elif kind in (".parquet", ".pq"):
            import pyarrow.parquet as pq

            rows = pq.read_table(path).to_pylist()
        else:
            raise InputError(
                f"{path.name} ends in {kind or 'nothing'}; allowed are .jsonl, .json, .csv, .tsv and .parquet."
            )
    except InputError:
        raise
    except (OSError, ValueError, csv.Error) as error:  # pyarrow's errors are ValueErrors or OSErrors
        raise InputError(f"{path} cannot be read ({type(error).__name__}: {error}).") from error
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise InputError(f"{path} must hold objects with `id` and `answer`, one for each question.")
    if not rows:
        raise InputError(f"{path} holds no predictions.")
    return Predictions(path, rows)


def _json_lines(path: Path) -> Iterator[dict[str, Any]]:
    with open(path, encoding="utf-8-sig") as handle:
        for number, line in enumerate(handle, 1):
            if line.strip():
                try:
                    row = json.loads(line)
                except json.JSONDecodeError as error:
                    raise InputError(f"{path}, line {number}: not JSON ({error.msg}).") from error
                if not isinstance(row, dict):
                    raise InputError(f"{path}, line {number}: expected an object with `id` and `answer`.")
                yield row


def column(predictions: Predictions, allowed: Sequence[str], *, needed: bool = True) -> str | None:
    """Find the name of a column by the names that are allowed for it.

    Raises:
        InputError: It is needed and no row has it.
    """
    seen = {name for row in predictions.rows for name in row}
    found = next((name for name in allowed if name in seen), None)
    if found is None and needed:
        raise InputError(
            f"{predictions.path} has no column {allowed[0]!r} (nor {', '.join(allowed[1:])}); it has "
            f"{', '.join(sorted(map(str, seen)))}."
        )
    return found


def plain(text: str) -> str:
    """Normalise a text for comparison: case, spaces, quotes and the marks around it do not count."""
    return " ".join(text.casefold().replace("’", "'").split()).strip(" \"'`*.,;:!?")


def read_answer(value: Any, options: Sequence[str], *, first: int = 0) -> int | None:
    """Find which option an answer means.

    Understood are the option's text, its number, a letter ("b", "(B)", "B. because …") and, if the options are no and
    yes, "Yes.", "y", "true". A lead such as "Answer:" is passed over. Where two readings differ, or none fits, the
    answer is not readable.

    Args:
        value: The answer as it stands in the file.
        options: The options; `YES_NO` for questions of yes and no, which have numbers but no letters.
        first: Number of the first option: 0 or 1.

    Returns:
        The number of the option from 0, or None.
    """
    binary = tuple(options) == YES_NO
    if isinstance(value, bool | np.bool_):
        return int(value) if binary else None
    if isinstance(value, int | float | np.number):
        exact = float(value)
        return _within(int(exact) if exact.is_integer() else -1, options, 0 if binary else first)
    if not isinstance(value, str):
        return None
    text = value.strip()
    if (named := _named(text, options)) is not None:
        return named
    text = LEAD.sub("", text.strip(" \"'`*"))
    if numeral := NUMBER.match(text):
        return _within(int(numeral[1]), options, 0 if binary else first)
    if binary:
        said = {TRUTHS[word] for word in WORD.findall(text.casefold()) if word in TRUTHS}
        opening = WORD.match(text.casefold().lstrip("\"'`*([ "))
        return said.pop() if len(said) == 1 and opening and opening[0] in TRUTHS else None
    if (named := _named(text, options)) is not None:
        return named
    if letter := LETTER.match(text):
        pick = _within(ord(letter[1].upper()) - ord("A"), options, 0)
        rest = plain(letter[2] or "")
        meant = {number for number, option in enumerate(options) if rest and plain(option) == rest}
        return pick if not meant or pick in meant else None
    return None


def _named(text: str, options: Sequence[str]) -> int | None:
    """Find the one option that a text repeats."""
    found = [number for number, option in enumerate(options) if plain(option) == plain(text)]
    return found[0] if len(found) == 1 else None


def _within(number: int, options: Sequence[str], first: int) -> int | None:
    return number - first if 0 <= number - first < len(options) else None


def join(
    predictions: Predictions,
    ids: Sequence[str],
    options: Sequence[Sequence[str]] | None = None,
    *,
    others: frozenset[str] = frozenset(),
    answer: str | None = None,
    partial: bool = False,
    first: int = 0,
) -> Joined:
    """Bring predictions into the order of the questions.

    Args:
        predictions: The file.
        ids: Ids of the questions to score.
        options: Options of each question; None if all are answered by no or yes.
        others: Ids of questions that exist and are not scored now.
        answer: Name of the column with the answers; by default the first of `ANSWER_NAMES` that is there.
        partial: Score what is there: missing, doubled and unknown ids are counted instead of refused.
        first: Number of the first option in numeric answers.

    Raises:
        InputError: Ids are missing, doubled or unknown, and `partial` is not set.
    """
    id_name = column(predictions, ID_NAMES) or ""
    answer_name = answer or column(predictions, ANSWER_NAMES) or ""
    given: dict[str, Any] = {}
    doubled = Counter[str]()
    for row in predictions.rows:
        name = str(row.get(id_name)).strip()
        if name in given:
            doubled[name] += 1
        else:
            given[name] = row.get(answer_name)
    wanted = set(ids)
    missing = [name for name in ids if name not in given]
    unknown = [name for name in given if name not in wanted and name not in others]
    if not partial and (missing or doubled or unknown):
        refuse(predictions.path, missing, list(doubled), unknown, len(ids))
    if len(missing) == len(ids):
        raise InputError(
            f"{predictions.path}: none of its ids is one of the {len(ids):,} questions; the first is "
            f"{next(iter(given))!r}, the first question's is {ids[0]!r}."
        )
    picks = np.full(len(ids), MISSING, np.int64)
    unreadable: list[tuple[str, str]] = []
    known: dict[tuple[type, Any], int | None] = {}
    count = 0
    for number, name in enumerate(ids):
        if name not in given:
            continue
        value = given[name]
        if options is None:
            key = (type(value), value) if isinstance(value, str | int | float) else (type(value), None)
            if key not in known:
                known[key] = read_answer(value, YES_NO, first=first)
            pick = known[key]
        else:
            pick = read_answer(value, options[number], first=first)
        if pick is None:
            count += 1
            unreadable += [(name, str(value)[:80])] * (len(unreadable) < SHOWN)
        picks[number] = UNREADABLE if pick is None else pick
    return Joined(
        picks,
        len(predictions.rows),
        (tuple(unreadable), count),
        (tuple(missing[:SHOWN]), len(missing)),
        (tuple(list(doubled)[:SHOWN]), len(doubled)),
        (tuple(unknown[:SHOWN]), len(unknown)),
        sum(name in others for name in given),
    )


def refuse(path: Path, missing: Sequence[str], doubled: Sequence[str], unknown: Sequence[str], wanted: int) -> None:
    """Say which ids do not fit.

    Raises:
        InputError: Always.
    """

    def first(names: Sequence[str], most: int = 5) -> str:
        return ", ".join(names[:most]) + (", …" if len(names) > most else "")

    faults = [
        f"{len(names):,} {what} ({first(names)})"
        for names, what in (
            (missing, f"of {wanted:,} ids have no prediction"),
            (doubled, "ids are given more than once"),
            (unknown, "ids are not in this output"),
        )
        if names
    ]
    raise InputError(
        f"{path}: {'; '.join(faults)}. Every question needs one prediction. --partial scores what is there (of "
        "doubled ids the first) and counts the rest; --split chooses which questions are asked."
    )


def options_by_id(rows: Sequence[Mapping[str, Any]], name: str) -> list[Sequence[str]]:
    """Take the options of each row; a question without options is one of no and yes."""
    return [row.get(name) or YES_NO for row in rows]
