"""Predictions from a file: read, understood, and joined to the questions by id. Nothing is guessed."""

from __future__ import annotations

import csv
import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError
from .answers import YES_NO, read_answer

ID_NAMES = ("id", "question_id", "qid")
ANSWER_NAMES = ("answer", "prediction", "pred")
UNREADABLE, MISSING = -1, -2
SHOWN = 20
SAMPLE_LOGS = "*_samples_*.jsonl"  # as lmms-eval names them
LOGGED = "stressreel"  # in every line of a log of our tasks: see exports/lmms_eval_utils.py


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
        ids: The questions.
        picks: Number of the option for each question; -1 for an answer that cannot be read, -2 for none.
        read: Rows in the file.
        unreadable: The first ids and answers that could not be read, and how many there are.
        missing: The first ids without a prediction, and how many.
        doubled: Likewise ids given twice: the first counts.
        unknown: Likewise ids that no question has.
        elsewhere: How many predictions are for questions that are not scored now (other splits).
    """

    ids: Sequence[str]
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
            "scored_sha256": identity(self.scored()),
        }

    def scored(self) -> list[str]:
        """List the questions with a prediction."""
        return [name for name, pick in zip(self.ids, self.picks.tolist(), strict=True) if pick != MISSING]


def read_predictions(path: Path) -> Predictions:
    """Read a predictions file.

    Args:
        path: JSON lines (.jsonl, .ndjson), a JSON list of objects (.json), CSV (.csv, with a header; .tsv) or Parquet;
            or what lmms-eval logged of tasks that `stressreel export` wrote, a sample log or a folder of them.

    Raises:
        InputError: No such file, another kind of file, or one that cannot be read.
    """
    if path.is_dir():
        logs = sample_logs(path)
        if not logs:
            raise InputError(
                f"{path} is a folder without sample logs of lmms-eval ({SAMPLE_LOGS}). Give a file, or run lmms-eval "
                "with --log_samples."
            )
        rows = logged(path, [row for log in logs for row in _json_lines(log)])
        if not rows:
            raise InputError(f"{path}: its sample logs are empty.")
        return Predictions(path, rows)
    if not path.is_file():
        raise InputError(
            f"there is no predictions file {path}. Give JSON lines, CSV or Parquet with `id` and `answer`."
        )
    kind = path.suffix.lower()
    try:
        if kind in (".jsonl", ".ndjson"):
            rows = list(_json_lines(path))
            if rows and LOGGED in rows[0]:
                rows = logged(path, rows)
        elif kind == ".json":
            rows = json.loads(path.read_text(encoding="utf-8-sig"), object_pairs_hook=once)
            if isinstance(rows, dict) and all(not isinstance(value, dict | list) for value in rows.values()):
                rows = [{"id": name, "answer": answer} for name, answer in rows.items()]
        elif kind in (".csv", ".tsv"):
            with open(path, encoding="utf-8-sig", newline="") as handle:
                table = csv.DictReader(handle, delimiter="\t" if kind == ".tsv" else ",", strict=True)
                once([(name, None) for name in table.fieldnames or ()])
                rows = list(table)
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


def sample_logs(folder: Path) -> list[Path]:
    """List the sample logs of lmms-eval in a folder."""
    return sorted(path for path in folder.rglob(SAMPLE_LOGS) if path.is_file())


def logged(path: Path, lines: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Take predictions out of sample logs of lmms-eval.

    What several tasks ask about one item (its answer, its explanation) becomes one row. The same asked twice stays two
    rows: which run counts is not guessed.

    Raises:
        InputError: A line is not of a task that `stressreel export` wrote.
    """
    rows: list[dict[str, Any]] = []
    by_item: dict[tuple[Any, ...], dict[str, Any]] = {}
    for line in lines:
        found = line.get(LOGGED)
        if not isinstance(found, dict) or "id" not in found:
            raise InputError(
                f"{path}: a line has no {LOGGED!r}: it is of another task than those of `stressreel export`. Give the "
                "folder or the logs of these alone."
            )
        item = tuple(str(found.get(name)) for name in ("config", "setting", "id"))
        row = by_item.get(item)
        if row is None or any(name in row for name in found if name in ("answer", "explanation")):
            rows.append(row := {})
            by_item.setdefault(item, row)
        row.update(found)
    return rows


def of_output(predictions: Predictions, config: str, fingerprint: str) -> Predictions:
    """Keep the rows about a table, of those that say which table they are about.

    Raises:
        InputError: None is left, or rows were made on another output.
    """
    odd = next((row for row in predictions.rows if row.get("fingerprint", fingerprint) != fingerprint), None)
    if odd is not None:
        raise InputError(
            f"{predictions.path} was made on another output (fingerprint {str(odd['fingerprint'])[:16]}; this one has "
            f"{fingerprint[:16]})."
        )
    kept = [row for row in predictions.rows if (row.get("config") or config) == config]
    if not kept:
        named = sorted({str(row["config"]) for row in predictions.rows})
        raise InputError(f"{predictions.path} has no rows about {config}, only about {', '.join(named)}. See --config.")
    return Predictions(predictions.path, kept)


def _json_lines(path: Path) -> Iterator[dict[str, Any]]:
    try:
        lines = path.read_text(encoding="utf-8-sig").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path} cannot be read as UTF-8 ({type(error).__name__}: {error}).") from error
    for number, line in enumerate(lines, 1):
        if line.strip():
            try:
                row = json.loads(line, object_pairs_hook=once)
            except json.JSONDecodeError as error:
                raise InputError(f"{path}, line {number}: not JSON ({error.msg}).") from error
            except ValueError as error:
                raise InputError(f"{path}, line {number}: {error}.") from error
            if not isinstance(row, dict):
                raise InputError(f"{path}, line {number}: expected an object with `id` and `answer`.")
            yield row


def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Make an object of its names and values, as `json.loads` asks for it.

    Raises:
        ValueError: A name comes twice: JSON would silently take the last.
    """
    found = dict(pairs)
    if len(found) < len(pairs):
        twice = [name for name, count in Counter(name for name, _ in pairs).items() if count > 1]
        raise ValueError(f"{', '.join(map(repr, twice[:5]))} given more than once")
    return found


def answer_column(predictions: Predictions) -> str:
    """Find the column with the answers.

    Raises:
        InputError: There is none, or there are several: one may be the key.
    """
    found = [name for name in ANSWER_NAMES if any(name in row for row in predictions.rows)]
    if len(found) > 1:
        raise InputError(
            f"{predictions.path} has the columns {' and '.join(found)}; which one is the model's is not guessed. Keep "
            "the model's answers in `answer` and rename or drop the others."
        )
    return found[0] if found else column(predictions, ANSWER_NAMES) or ""


def identity(ids: Iterable[str]) -> str:
    """Name a set of questions by a hash: two scores are compared only if they are of the same."""
    return hashlib.sha256("\n".join(sorted(ids)).encode()).hexdigest()


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
    answer_name = answer or answer_column(predictions)
    given: dict[str, Any] = {}
    doubled = Counter[str]()
    for row in predictions.rows:
        name = str(row.get(id_name)).strip()
        if name in given:
            doubled[name] += 1
        elif row.get(answer_name) is not None:  # null, or a row about something else: no answer, not a wrong one
            given[name] = row[answer_name]
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
        ids,
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
        f"{path}: {'; '.join(faults)}. Every question needs one prediction. `score OUT` and `score open-ended` have "
        "--partial, which scores what is there (of doubled ids the first) and counts the rest; --split chooses which "
        "questions are asked."
    )


def options_by_id(rows: Sequence[Mapping[str, Any]], name: str) -> list[Sequence[str]]:
    """Take the options of each row; a question without options is one of no and yes."""
    return [row.get(name) or YES_NO for row in rows]
