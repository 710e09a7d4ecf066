"""Predictions from a file: read, understood, and joined to the questions by id. Nothing is guessed."""

from __future__ import annotations

import csv
import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from json import JSONDecodeError
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...core.documents import once, parse_json, read_text
from ...core.errors import InputError, UsageError
from ...core.files import regular
from ...core.shards import PARQUET_FAULTS, text_columns, values
from .answers import YES_NO, read_answer
from .logs import LOGGED, LOGS, eval_log, is_json_log, json_log, logged, sample_logs

ID_NAMES = ("id", "question_id", "qid", "key", "csv_q_id")
ANSWER_NAMES = ("answer", "prediction", "pred")
UNREADABLE, MISSING = -1, -2
SHOWN = 20
MOST_ROWS, FEW_ROWS = 5_000_000, 10_000  # without and beside an expected number
LONGEST_LINE = 100_000_000  # characters
BATCH_ROWS = 4096
LEAST_ROOM, EXPANSION = 500_000_000, 20  # bytes of a Parquet file in memory: at least, and by its size


@dataclass(frozen=True)
class Predictions:
    """The rows of a predictions file.

    Attributes:
        path: The file.
        rows: Its rows, by column.
    """

    path: Path
    rows: list[dict[str, Any]]


def read_predictions(path: Path, *, expected: int | None = None) -> Predictions:
    """Read a predictions file.

    Args:
        path: JSON lines (.jsonl, .ndjson), a JSON list of objects (.json), CSV (.csv, with a header; .tsv) or Parquet;
            or what a harness logged of tasks that `stressreel export` wrote, a log or a folder of them: sample logs of
            lmms-eval (.jsonl), logs of inspect-ai (.eval, .json).
        expected: About how many rows there should be. A file with more than ten times as many is not read.

    Raises:
        UsageError: No such file.
        InputError: Another kind of file, one that cannot be read, or one with far too many rows.
    """
    most = MOST_ROWS if expected is None else 10 * expected + FEW_ROWS
    if path.is_dir():
        logs = sample_logs(path)
        if not logs:
            raise InputError(
                f"{path} is a folder without sample logs of lmms-eval ({LOGS[0]}) or logs of inspect-ai ({LOGS[1]}, or "
                "JSON as it names it). Give a file, or run lmms-eval with --log_samples."
            )
        rows = logged(path, _at_most(most, (row for log in logs for row in _rows(log)), path))
        if not rows:
            raise InputError(f"{path}: its sample logs are empty, or none of their samples is scored.")
        return Predictions(path, rows)
    if not path.exists():
        raise UsageError(
            f"there is no predictions file {path}. Give JSON lines, CSV or Parquet with `id` and `answer`."
        )
    if path.suffix.lower() not in READERS:
        raise InputError(
            f"{path.name} ends in {path.suffix.lower() or 'nothing'}; allowed are .jsonl, .json, .csv, .tsv, .parquet "
            "and .eval."
        )
    rows = _at_most(most, _rows(regular(path)), path)
    if not rows:
        raise InputError(f"{path} holds no predictions.")
    if LOGGED in rows[0] and path.suffix.lower() in (".jsonl", ".ndjson", ".json", ".eval"):
        rows = logged(path, rows)
    return Predictions(path, rows)


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    """Read the rows of a file by what its name ends in.

    Raises:
        InputError: It cannot be read.
    """
    try:
        yield from READERS[path.suffix.lower()](path)
    except InputError:
        raise
    except (OSError, ValueError, csv.Error) as error:
        raise InputError(f"{path} cannot be read ({type(error).__name__}: {error}).") from error


def _at_most(most: int, rows: Iterable[dict[str, Any]], path: Path) -> list[dict[str, Any]]:
    """Take rows as long as they are not far too many.

    Raises:
        InputError: They are.
    """
    found = list(islice(rows, most + 1))
    if len(found) > most:
        raise InputError(
            f"{path} has more than {most:,} rows, far more than there are questions. Give one row for each question."
        )
    return found


def of_output(predictions: Predictions, config: str | None, fingerprint: str) -> Predictions:
    """Keep the rows about a table, of those that say which table they are about.

    Args:
        predictions: The rows.
        config: The table; None to keep all.
        fingerprint: The fingerprint of the output.

    Raises:
        InputError: None is left, or rows were made on another output.
    """
    odd = next((row for row in predictions.rows if row.get("fingerprint", fingerprint) != fingerprint), None)
    if odd is not None:
        raise InputError(
            f"{predictions.path} was made on another output (fingerprint {str(odd['fingerprint'])[:16]}; this one has "
            f"{fingerprint[:16]})."
        )
    if config is None:
        return predictions
    kept = [row for row in predictions.rows if (row.get("config") or config) == config]
    if not kept:
        named = sorted({str(row["config"]) for row in predictions.rows})
        raise InputError(f"{predictions.path} has no rows about {config}, only about {', '.join(named)}. See --config.")
    return Predictions(predictions.path, kept)


def _json_lines(path: Path) -> Iterator[dict[str, Any]]:
    try:
        with open(path, encoding="utf-8-sig", newline="\n") as handle:
            for number, line in enumerate(iter(lambda: handle.readline(LONGEST_LINE + 1), ""), 1):
                if len(line) > LONGEST_LINE:
                    raise InputError(f"{path}, line {number}: it has more than {LONGEST_LINE:,} characters.")
                if line.strip():
                    yield _object(line, f"{path}, line {number}")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path} cannot be read as UTF-8 ({type(error).__name__}: {error}).") from error


def _object(line: str, place: str) -> dict[str, Any]:
    try:
        row = parse_json(line, once)
    except JSONDecodeError as error:
        raise InputError(f"{place}: not JSON ({error.msg}).") from error
    except ValueError as error:
        raise InputError(f"{place}: {error}.") from error
    if not isinstance(row, dict):
        raise InputError(f"{place}: expected an object with `id` and `answer`.")
    return row


def _json(path: Path) -> Iterator[dict[str, Any]]:
    """Read a list of objects, an object of answers by id, or a log of inspect-ai."""
    rows = parse_json(read_text(path), once)
    if is_json_log(rows):
        yield from json_log(path, rows)
        return
    if isinstance(rows, dict) and all(not isinstance(value, dict | list) for value in rows.values()):
        rows = [{"id": name, "answer": answer} for name, answer in rows.items()]
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise InputError(f"{path} must hold objects with `id` and `answer`, one for each question.")
    yield from rows


def _csv(path: Path) -> Iterator[dict[str, Any]]:
    with open(path, encoding="utf-8-sig", newline="") as handle:
        table = csv.DictReader(handle, delimiter="\t" if path.suffix.lower() == ".tsv" else ",", strict=True)
        once([(name, None) for name in table.fieldnames or ()])
        for number, row in enumerate(table, 2):
            if None in row or None in row.values():
                raise InputError(f"{path}, row {number}: it has more or fewer fields than the header.")
            yield row


def _parquet(path: Path) -> Iterator[dict[str, Any]]:
    """Read rows in batches; equal texts are held once, as a file of few bytes can have many of them."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    room = max(LEAST_ROOM, EXPANSION * path.stat().st_size)
    try:
        with pq.ParquetFile(path) as file:
            about, schema = file.metadata, file.schema_arrow
            once([(name, None) for name in schema.names])
            size = sum(about.row_group(group).total_byte_size for group in range(about.num_row_groups))
            if size > room or about.num_rows > room:
                raise InputError(
                    f"{path} has {about.num_rows:,} rows and {size:,} bytes unpacked, too much for its size. Give one "
                    "row for each question, and only the columns that are needed."
                )
            texts = text_columns(about.schema)
        with pq.ParquetFile(path, read_dictionary=texts) as file:
            for batch in file.iter_batches(BATCH_ROWS):
                room -= sum(column.nbytes for column in batch.columns if not pa.types.is_dictionary(column.type))
                if room < 0:
                    raise InputError(f"{path} takes too much memory. Keep only the columns that are needed.")
                columns = [values(column) for column in batch.columns]
                for row in zip(*columns, strict=True):
                    yield dict(zip(schema.names, row, strict=True))
    except PARQUET_FAULTS as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"{path} cannot be read ({type(error).__name__}: {error}).") from error


READERS: dict[str, Callable[[Path], Iterator[dict[str, Any]]]] = {
    ".jsonl": _json_lines,
    ".ndjson": _json_lines,
    ".json": _json,
    ".csv": _csv,
    ".tsv": _csv,
    ".parquet": _parquet,
    ".pq": _parquet,
    ".eval": eval_log,
}


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
    return found[0] if found else column(predictions, ANSWER_NAMES)


def identity(ids: Iterable[str]) -> str:
    """Name a set of questions by a hash: two scores are compared only if they are of the same."""
    return hashlib.sha256("\n".join(sorted(ids)).encode()).hexdigest()


def column(predictions: Predictions, allowed: Sequence[str], *, needed: bool = True) -> str:
    """Find the name of a column by the names that are allowed for it; "" where there is none and none is needed.

    Raises:
        InputError: It is needed and no row has it.
    """
    seen = {name for row in predictions.rows for name in row}
    found = next((name for name in allowed if name in seen), "")
    if needed and not found:
        others = f" (nor {', '.join(allowed[1:])})" if allowed[1:] else ""
        raise InputError(
            f"{predictions.path} has no column {allowed[0]!r}{others}; it has {', '.join(sorted(map(str, seen)))}."
        )
    return found


def refuse_doubled(path: Path, ids: Sequence[str]) -> None:
    """Refuse ids that are given more than once.

    Raises:
        InputError: Some are.
    """
    doubled = [name for name, count in Counter(ids).items() if count > 1]
    if doubled:
        raise InputError(f"{path} has ids more than once: {', '.join(doubled[:5])}.")


@dataclass(frozen=True)
class MatchedPredictions:
    """Predictions by id.

    Attributes:
        given: The answer of each id that has one.
        missing: Ids of questions without a prediction.
        doubled: Ids given twice: the first counts.
        unknown: Ids that no question has.
        elsewhere: How many predictions are for questions that are not scored now (other splits).
        read: Rows in the file.
    """

    given: dict[str, Any]
    missing: list[str]
    doubled: list[str]
    unknown: list[str]
    elsewhere: int
    read: int

    def unmatched(self) -> dict[str, int]:
        """Count what does not fit, as `scores.json` has it."""
        counts = {name: len(getattr(self, name)) for name in ("missing", "doubled", "unknown")}
        return {**counts, "of_other_splits": self.elsewhere}


@dataclass(frozen=True)
class PickedOptions:
    """Which option each prediction means, in the order of the questions.

    Attributes:
        ids: The questions.
        picks: Number of the option for each question; -1 for an answer that cannot be read, -2 for none.
        unreadable: The ids and answers that could not be read.
        matched: What the file has, by id.
    """

    ids: Sequence[str]
    picks: NDArray[np.int64]
    unreadable: list[tuple[str, str]]
    matched: MatchedPredictions

    def summary(self) -> dict[str, Any]:
        """Return the counts, and what could not be read, as JSON values."""
        return {
            "read": self.matched.read,
            "scored": int((self.picks != MISSING).sum()),
            "unreadable": len(self.unreadable),
            "unreadable_first": [{"id": name, "answer": answer} for name, answer in self.unreadable[:SHOWN]],
            **self.matched.unmatched(),
            "scored_sha256": identity(self.scored()),
        }

    def scored(self) -> list[str]:
        """List the questions with a prediction."""
        return [name for name, pick in zip(self.ids, self.picks.tolist(), strict=True) if pick != MISSING]


def match(
    predictions: Predictions,
    ids: Sequence[str],
    *,
    others: frozenset[str] = frozenset(),
    answer: str | None = None,
    partial: bool = False,
) -> MatchedPredictions:
    """Look up the predictions of questions; see `join` for the arguments and for what is raised."""
    id_name = column(predictions, ID_NAMES)
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
            f"{next(iter(given), None)!r}, the first question's is {ids[0]!r}."
        )
    elsewhere = sum(name in others for name in given)
    return MatchedPredictions(given, missing, list(doubled), unknown, elsewhere, len(predictions.rows))


def join(
    predictions: Predictions,
    ids: Sequence[str],
    options: Sequence[Sequence[str]] | None = None,
    *,
    others: frozenset[str] = frozenset(),
    answer: str | None = None,
    partial: bool = False,
    first: int = 0,
) -> PickedOptions:
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
    found = match(predictions, ids, others=others, answer=answer, partial=partial)
    picks = np.full(len(ids), MISSING, np.int64)
    unreadable: list[tuple[str, str]] = []
    known: dict[tuple[type, Any], int | None] = {}
    for number, name in enumerate(ids):
        if name not in found.given:
            continue
        value = found.given[name]
        if options is None:
            key = (type(value), value) if isinstance(value, str | int | float) else (type(value), None)
            if key not in known:
                known[key] = read_answer(value, YES_NO, first=first)
            pick = known[key]
        else:
            pick = read_answer(value, options[number], first=first)
        if pick is None:
            unreadable.append((name, str(value)[:80]))
        picks[number] = UNREADABLE if pick is None else pick
    return PickedOptions(ids, picks, unreadable, found)


def refuse(path: Path, missing: Sequence[str], doubled: Sequence[str], unknown: Sequence[str], wanted: int) -> None:
    """Describe which ids do not fit.

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
