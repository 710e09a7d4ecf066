"""Load predictions, and match them with questions by id."""

from __future__ import annotations

import csv
import hashlib
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from json import JSONDecodeError
from pathlib import Path
from types import MappingProxyType
from typing import Any, NoReturn
from zipfile import BadZipFile, ZipFile

import numpy as np
from numpy.typing import NDArray

from ...core.documents import once, parse_json, read_text
from ...core.errors import InputError, UsageError
from ...core.extras import import_extra
from ...core.files import regular
from ...core.rows import AnyPath, Rows, is_path, rows_in_memory
from ...core.shards import PARQUET_FAULTS, text_columns, values
from .answers import YES_NO, read_answer
from .logs import LOGGED, LOGS, eval_log, is_json_log, is_result, json_log, logged, result_row, sample_logs

ID_NAMES = ("id", "question_id", "qid", "key", "csv_q_id")
ANSWER_NAMES = ("answer", "prediction", "pred")
UNREADABLE, MISSING = -1, -2
SHOWN = 20
MOST_ROWS, FEW_ROWS = 5_000_000, 10_000  # without an expected number, and minimum limit with one
LONGEST_LINE = 100_000_000  # characters
BATCH_ROWS, BATCH_BYTES = 4096, 1 << 20
MOST_COLUMNS, MOST_CELLS = 1000, 5_000_000  # of a workbook, which can claim billions of empty cells in a few bytes
MOST_TAGS = 8_000_000  # of the XML in a workbook; openpyxl reads up to 300,000 a second, and a cell with a text has 8
AS_TEXT = "Write it as .tsv or .json (PRED_FORMAT=tsv)."
WORKBOOK_FAULTS = (
    BadZipFile,
    EOFError,
    IndexError,
    KeyError,
    NotImplementedError,
    SyntaxError,
    TypeError,
    ValueError,
    zlib.error,
)
LEAST_ROOM, EXPANSION = 500_000_000, 20  # bytes of a Parquet file in memory: base allowance, and factor of its size


@dataclass(frozen=True)
class Predictions:
    """The rows of a predictions file, each a dictionary of columns.

    Attributes:
        path: The file or folder; for rows in memory, the words for them in messages.
    """

    path: Path | str
    rows: list[dict[str, Any]]


def predictions_of(given: AnyPath | Rows, *, expected: int | None = None, name: str = "") -> Predictions:
    """Load predictions from a file or folder (see `read_predictions`), or from rows in memory.

    `name` distinguishes several sets of rows in messages.
    """
    if is_path(given):
        return read_predictions(Path(given).expanduser(), expected=expected)
    converted = rows_in_memory(given)
    called = f"{converted.called} of {name}" if name else converted.called
    if not converted.rows:
        raise InputError(f"{called} contains no predictions.")
    return Predictions(called, converted.rows)


def read_predictions(path: Path, *, expected: int | None = None) -> Predictions:
    """Load predictions from JSON lines (.jsonl, .ndjson), JSON (.json), CSV with a header (.csv, .tsv) or Parquet.

    Logs of exported tasks can also be given, as a file or a folder: sample logs of lmms-eval (.jsonl), logs of
    inspect-ai (.eval, .json) or results of VLMEvalKit (.xlsx, .tsv, .json). Files with more than ten times as many rows
    as `expected` are refused.

    Raises:
        UsageError: The file does not exist.
        InputError: The file cannot be read, or has too many rows.
    """
    most = MOST_ROWS if expected is None else 10 * expected + FEW_ROWS
    if path.is_dir():
        logs = sample_logs(path)
        found = (row for log in logs for row in _rows(log)) if logs else _results(path)
        rows = logged(path, _at_most(most, found, path))
        if not rows and not logs:
            raise InputError(
                f"{path} contains no lmms-eval sample logs ({LOGS[0]}), inspect-ai logs ({LOGS[1]} or JSON) or "
                "VLMEvalKit results. Pass a file, or run lmms-eval with --log_samples."
            )
        if not rows:
            raise InputError(f"{path}: its sample logs are empty, or contain no scored sample.")
        return Predictions(path, rows)
    if not path.exists():
        raise UsageError(
            f"predictions file {path} does not exist. Provide a JSON Lines, CSV or Parquet file with `id` and `answer`."
        )
    if path.suffix.lower() not in READERS:
        raise InputError(
            f"{path.name} has an unsupported file extension. Supported: .jsonl, .json, .csv, .tsv, .xlsx, .parquet and "
            ".eval."
        )
    rows = _at_most(most, _rows(regular(path)), path)
    if not rows:
        raise InputError(f"{path} contains no predictions.")
    if is_result(rows[0]):
        rows = logged(path, [result_row(row, f"{path}, row {number}") for number, row in enumerate(rows, 1)])
    elif LOGGED in rows[0] and path.suffix.lower() in (".jsonl", ".ndjson", ".json", ".eval"):
        rows = logged(path, rows)
    return Predictions(path, rows)


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    try:
        yield from READERS[path.suffix.lower()](path)
    except InputError:
        raise
    except (OSError, ValueError, csv.Error) as error:
        raise InputError(f"{path} cannot be read ({type(error).__name__}: {error}).") from error


def _results(folder: Path) -> Iterator[dict[str, Any]]:
    for path in sorted(folder.rglob("*")):
        if path.suffix.lower() not in (".xlsx", ".tsv", ".json") or path.is_symlink() or not path.is_file():
            continue
        rows = _rows(path)
        try:
            first = next(rows, {})
        except InputError:
            if path.suffix.lower() == ".json":
                continue  # its own records, which are not tables
            raise
        if is_result(first):
            numbered = enumerate(chain([first], rows), 1)
            yield from (result_row(row, f"{path}, row {number}") for number, row in numbered)


def _at_most(most: int, rows: Iterable[dict[str, Any]], path: Path) -> list[dict[str, Any]]:
    found = list(islice(rows, most + 1))
    if len(found) > most:
        raise InputError(
            f"{path} has more than {most:,} rows, far more than there are questions. Provide one row per question."
        )
    return found


def of_output(predictions: Predictions, config: str | None, fingerprint: str) -> Predictions:
    """Return only the rows that belong to a table, or that do not name a table.

    Raises:
        InputError: No row remains, or rows belong to another output.
    """
    odd = next((row for row in predictions.rows if row.get("fingerprint", fingerprint) != fingerprint), None)
    if odd is not None:
        raise InputError(
            f"{predictions.path} belongs to another output (fingerprint {str(odd['fingerprint'])[:16]}; this one has "
            f"{fingerprint[:16]})."
        )
    if config is None:
        return predictions
    kept = [row for row in predictions.rows if (row.get("config") or config) == config]
    if not kept:
        named = sorted({str(row["config"]) for row in predictions.rows})
        raise InputError(
            f"{predictions.path} has no rows for table {config}, only for {', '.join(named)}. Choose a table with "
            "--config."
        )
    return Predictions(predictions.path, kept)


def _json_lines(path: Path) -> Iterator[dict[str, Any]]:
    try:
        with open(path, encoding="utf-8-sig", newline="\n") as handle:
            for number, line in enumerate(iter(lambda: handle.readline(LONGEST_LINE + 1), ""), 1):
                if len(line) > LONGEST_LINE:
                    raise InputError(f"{path}, line {number}: the line has more than {LONGEST_LINE:,} characters.")
                if line.strip():
                    yield _object(line, f"{path}, line {number}")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path} cannot be read as UTF-8 ({type(error).__name__}: {error}).") from error


def _object(line: str, place: str) -> dict[str, Any]:
    try:
        row = parse_json(line, once)
    except JSONDecodeError as error:
        raise InputError(f"{place}: invalid JSON ({error.msg}).") from error
    except ValueError as error:
        raise InputError(f"{place}: {error}.") from error
    if not isinstance(row, dict):
        raise InputError(f"{place}: expected an object with `id` and `answer`.")
    return row


def _json(path: Path) -> Iterator[dict[str, Any]]:
    rows = parse_json(read_text(path), once)
    if is_json_log(rows):
        yield from json_log(path, rows)
        return
    if isinstance(rows, dict) and all(not isinstance(value, dict | list) for value in rows.values()):
        rows = [{"id": name, "answer": answer} for name, answer in rows.items()]
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise InputError(f"{path} must contain objects with `id` and `answer`, one for each question.")
    yield from rows


def _csv(path: Path) -> Iterator[dict[str, Any]]:
    with open(path, encoding="utf-8-sig", newline="") as handle:
        table = csv.DictReader(handle, delimiter="\t" if path.suffix.lower() == ".tsv" else ",", strict=True)
        once([(name, None) for name in table.fieldnames or ()])
        for number, row in enumerate(table, 2):
            if None in row or None in row.values():
                raise InputError(f"{path}, row {number}: the row has a different number of fields from the header.")
            yield row


def _parquet(path: Path) -> Iterator[dict[str, Any]]:
    """Yield rows in batches that share equal texts, since a small file can contain very many of them."""
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
                    f"{path} has {about.num_rows:,} rows and {size:,} bytes when unpacked, which is implausible for "
                    "its size. Provide one row per question, and only the columns needed."
                )
            texts = text_columns(about.schema)
        with pq.ParquetFile(path, read_dictionary=texts) as file:
            for batch in file.iter_batches(BATCH_ROWS):
                room -= sum(column.nbytes for column in batch.columns if not pa.types.is_dictionary(column.type))
                if room < 0:
                    raise InputError(f"{path} needs too much memory. Keep only the columns needed.")
                columns = [values(column) for column in batch.columns]
                for row in zip(*columns, strict=True):
                    yield dict(zip(schema.names, row, strict=True))
    except PARQUET_FAULTS as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"{path} cannot be read ({type(error).__name__}: {error}).") from error


def _xlsx(path: Path) -> Iterator[dict[str, Any]]:
    openpyxl = import_extra("openpyxl", what="reading .xlsx")
    try:
        _check_workbook(path)
        book = openpyxl.load_workbook(path, read_only=True, data_only=True)
        try:
            rows = book.worksheets[0].iter_rows(values_only=True)
            names = [str(name) for name in next(rows, ())]
            if len(names) > MOST_COLUMNS:
                raise InputError(f"{path} has {len(names):,} columns; the limit is {MOST_COLUMNS:,}.")
            once([(name, None) for name in names])
            cells = 0
            for row in rows:
                cells += max(len(row), 1)
                if cells > MOST_CELLS:
                    raise InputError(f"{path} has more than {MOST_CELLS:,} cells. {AS_TEXT}")
                yield dict(zip(names, row, strict=True))
        finally:
            book.close()
    except InputError:
        raise
    except WORKBOOK_FAULTS as error:
        raise InputError(f"{path} cannot be read as a workbook ({type(error).__name__}: {error}).") from error


def _check_workbook(path: Path) -> None:
    """Raise InputError if a workbook would take more than seconds to read, which its size on disk does not show."""
    room, tags = max(LEAST_ROOM, EXPANSION * path.stat().st_size), 0
    with ZipFile(path) as archive:
        for info in archive.infolist():
            room -= info.file_size
            if room < 0:
                raise InputError(f"{path} has an uncompressed size that is implausible for its size. {AS_TEXT}")
            with archive.open(info) as part:
                while chunk := part.read(BATCH_BYTES):
                    tags += chunk.count(b"<") + 9 * chunk.count(b"<si")  # shared strings are slow
                    if tags > MOST_TAGS:
                        raise InputError(f"{path} has more than {MOST_TAGS:,} XML tags, as only huge tables. {AS_TEXT}")


READERS: dict[str, Callable[[Path], Iterator[dict[str, Any]]]] = {
    ".jsonl": _json_lines,
    ".ndjson": _json_lines,
    ".json": _json,
    ".csv": _csv,
    ".tsv": _csv,
    ".xlsx": _xlsx,
    ".parquet": _parquet,
    ".pq": _parquet,
    ".eval": eval_log,
}


def answer_column(predictions: Predictions) -> str:
    """Return the name of the column with the answers.

    Raises:
        InputError: There is no such column, or there are several, one of which may be the answer key.
    """
    found = [name for name in ANSWER_NAMES if any(name in row for row in predictions.rows)]
    if len(found) > 1:
        raise InputError(
            f"{predictions.path} has the columns {' and '.join(found)}; it is unclear which of them contains the "
            "model's answers. Name that column `answer`, and rename or drop the others."
        )
    return found[0] if found else column(predictions, ANSWER_NAMES)


def identity(ids: Iterable[str]) -> str:
    """Return a hash of a set of questions. Scores are comparable only if the hashes are equal."""
    return hashlib.sha256("\n".join(sorted(ids)).encode()).hexdigest()


def column(predictions: Predictions, allowed: Sequence[str], *, needed: bool = True) -> str:
    """Return the first of the allowed names that exists as a column, or "".

    Raises:
        InputError: The column is needed but does not exist.
    """
    seen = {name for row in predictions.rows for name in row}
    found = next((name for name in allowed if name in seen), "")
    if needed and not found:
        others = f" (nor {', '.join(allowed[1:])})" if allowed[1:] else ""
        raise InputError(
            f"{predictions.path} has no column {allowed[0]!r}{others}; it has {', '.join(sorted(map(str, seen)))}."
        )
    return found


def refuse_doubled(path: Path | str, ids: Sequence[str]) -> None:
    """Raise InputError if an id occurs more than once."""
    doubled = [name for name, count in Counter(ids).items() if count > 1]
    if doubled:
        raise InputError(f"{path} contains ids more than once: {', '.join(doubled[:5])}.")


OTHER_SPLIT, BANNED_CATEGORY, NO_OPTIONS = "of_other_splits", "banned", "without_options"
NOT_SCORED = {
    OTHER_SPLIT: "of other splits (left out)",
    BANNED_CATEGORY: "of banned questions (never scored)",
    NO_OPTIONS: "of questions without two possible answers (left out)",
}
"""Why predictions for existing questions are not scored."""


@dataclass(frozen=True)
class MatchedPredictions:
    """Predictions matched with questions by id.

    Attributes:
        missing: Ids of questions without a prediction.
        doubled: Ids that occur more than once. The first prediction is used.
        unknown: Ids that match no question.
        others: Numbers of predictions for questions that are not scored now, by reason.
    """

    given: dict[str, Any]
    missing: list[str]
    doubled: list[str]
    unknown: list[str]
    others: Counter[str]
    read: int

    def unmatched(self) -> dict[str, int]:
        """Return how many ids are missing, duplicate or unknown, or belong to questions that are not scored now."""
        counts = {name: len(getattr(self, name)) for name in ("missing", "doubled", "unknown")}
        return {**counts, OTHER_SPLIT: 0, **self.others}


@dataclass(frozen=True)
class PickedOptions:
    """The option that each prediction selects, in the order of the questions.

    Attributes:
        picks: Index of the option; -1 (`UNREADABLE`) or -2 (`MISSING`) if there is none.
        unreadable: Ids and texts of answers that could not be parsed.
    """

    ids: Sequence[str]
    picks: NDArray[np.int64]
    unreadable: list[tuple[str, str]]
    matched: MatchedPredictions

    def summary(self) -> dict[str, Any]:
        """Return the counts and the first unreadable answers as JSON values."""
        return {
            "read": self.matched.read,
            "scored": int((self.picks != MISSING).sum()),
            "unreadable": len(self.unreadable),
            "unreadable_first": [{"id": name, "answer": answer} for name, answer in self.unreadable[:SHOWN]],
            **self.matched.unmatched(),
            "scored_sha256": identity(self.scored()),
        }

    def scored(self) -> list[str]:
        """Return the ids of the questions that have a prediction."""
        return [name for name, pick in zip(self.ids, self.picks.tolist(), strict=True) if pick != MISSING]


def match(
    predictions: Predictions,
    ids: Sequence[str],
    *,
    others: Mapping[str, str] = MappingProxyType({}),
    answer: str | None = None,
    partial: bool = False,
) -> MatchedPredictions:
    """Match predictions with questions by id, without parsing the answers; see `join`."""
    id_name = column(predictions, ID_NAMES)
    answer_name = answer or answer_column(predictions)
    given: dict[str, Any] = {}
    doubled = Counter[str]()
    for row in predictions.rows:
        name = str(row.get(id_name)).strip()
        if name in given:
            doubled[name] += 1
        elif row.get(answer_name) is not None:  # null is a missing answer rather than an incorrect one
            given[name] = row[answer_name]
    wanted = set(ids)
    missing = [name for name in ids if name not in given]
    unknown = [name for name in given if name not in wanted and name not in others]
    if not partial and (missing or doubled or unknown):
        refuse(predictions.path, missing, list(doubled), unknown, len(ids))
    if len(missing) == len(ids):
        raise InputError(
            f"{predictions.path}: none of its ids match the {len(ids):,} questions; its first id is "
            f"{next(iter(given), None)!r}, but the first question has the id {ids[0]!r}."
        )
    reasons = Counter(others[name] for name in given if name in others)
    return MatchedPredictions(given, missing, list(doubled), unknown, reasons, len(predictions.rows))


def join(
    predictions: Predictions,
    ids: Sequence[str],
    options: Sequence[Sequence[str]] | None = None,
    *,
    others: Mapping[str, str] = MappingProxyType({}),
    answer: str | None = None,
    partial: bool = False,
    first: int = 0,
) -> PickedOptions:
    """Match predictions with questions by id, and parse which option each selects.

    `options` is None for yes/no questions. `others` maps ids of existing questions that are not scored now to the
    reason, such as `OTHER_SPLIT`. With `partial`, missing, duplicate and unknown ids are counted instead of raising an
    error. `answer` names the column of the answers, by default the only column whose name is in `ANSWER_NAMES`. `first`
    is the index of the first option in numeric answers.

    Raises:
        InputError: Ids are missing, duplicate or unknown, and `partial` is not set.
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


def refuse(
    path: Path | str, missing: Sequence[str], doubled: Sequence[str], unknown: Sequence[str], wanted: int
) -> NoReturn:
    """Raise an InputError that lists missing, duplicate and unknown ids."""
    faults = [
        f"{len(names):,} {what} ({', '.join(names[:5])}{', …' * (len(names) > 5)})"
        for names, what in (
            (missing, f"of {wanted:,} ids have no prediction"),
            (doubled, f"id{'s are' if len(doubled) != 1 else ' is'} given more than once"),
            (unknown, f"id{'s are' if len(unknown) != 1 else ' is'} not in this output"),
        )
        if names
    ]
    raise InputError(
        f"{path}: {'; '.join(faults)}. Every question needs exactly one prediction. With --partial, `score OUT` and "
        "`score open-ended` score the predictions that match (the first of duplicates) and count the others; --split "
        "selects the questions."
    )


def options_by_id(rows: Sequence[Mapping[str, Any]], name: str) -> list[Sequence[str]]:
    """Return the options of each row, or no and yes if the row has none."""
    return [row.get(name) or YES_NO for row in rows]
