"""Load predictions, and match them with questions by id."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from types import MappingProxyType
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from ...core.errors import InputError, UsageError
from ...core.files import regular, sha256_file, sha256_text
from ...core.rows import AnyPath, Rows, is_path, rows_in_memory
from ...core.tabular import READERS, Columns, Format, Row, read_rows
from .answers import BEGINS, NUMBER, YES_NO, read_answer
from .logs import LOGGED, LOGS, eval_log, is_result, json_log, logged, result_rows, sample_logs

ID_NAMES = ("id", "question_id", "qid", "key", "csv_q_id")
ANSWER_NAMES = ("answer", "prediction", "pred")
COLUMNS: dict[str, tuple[str, ...]] = {
    "id": (*ID_NAMES, "clip_id"),
    "answer": ANSWER_NAMES,
    **{
        name: (name,)
        for name in ("explanation", "correct", "config", "setting", "fingerprint", "permuted", "seed", "category")
    },
}
"""Columns of predictions, with their accepted names in order of preference."""

ANSWERS = (*ANSWER_NAMES, "explanation", "correct")
NO_ANSWER = ("", "nan", "null")
REPLIED = "replied"  # true in a row of `stressreel ask` whose empty text is the model's reply
IN_MEMORY = "rows in memory"
UNREADABLE, MISSING = -1, -2
SHOWN = 20
MOST_ROWS, FEW_ROWS = 5_000_000, 10_000  # without an expected number, and minimum limit with one


@dataclass(frozen=True)
class Predictions:
    """The rows of a predictions file, each a dictionary of columns.

    Attributes:
        path: The file or folder; for rows in memory, the words for them in messages.
    """

    path: Path | str
    rows: list[dict[str, Any]]


def predictions_of(
    predictions: AnyPath | Rows,
    *,
    expected: int | None = None,
    name: str = "",
    columns: Mapping[str, str] | None = None,
) -> Predictions:
    """Load predictions from a file or folder (see `read_predictions`), or from rows in memory.

    `name` distinguishes several sets of rows in messages. `columns` are names that differ from those in `COLUMNS`.
    """
    if is_path(predictions):
        return read_predictions(Path(predictions).expanduser(), expected=expected, columns=columns)
    converted = rows_in_memory(predictions)
    called = f"{converted.called} of {name}" if name else converted.called
    if not converted.rows:
        raise InputError(f"{called} contains no predictions.")
    rows = (Row(row, tuple(row)) for row in converted.rows)
    return Predictions(called, list(named(called, rows, Columns(COLUMNS, (), columns or {}))))


def read_predictions(
    path: Path,
    *,
    expected: int | None = None,
    columns: Mapping[str, str] | None = None,
    fields: Mapping[str, Sequence[str]] = COLUMNS,
) -> Predictions:
    """Load predictions from a file in any format of `core.tabular`.

    Logs of exported tasks can also be given, as a file or a folder: sample logs of lmms-eval (.jsonl), logs of
    inspect-ai (.eval, .json) or results of VLMEvalKit (.xlsx, .tsv, .json). Files with more than ten times as many rows
    as `expected` are refused. `columns` are names in the file that differ from those in `fields`.

    Raises:
        UsageError: The file does not exist, or `columns` has an unknown key.
        InputError: The file cannot be read, has too many rows, or has columns that may be misspelled.
    """
    most = MOST_ROWS if expected is None else 10 * expected + FEW_ROWS
    known = Columns(fields, (), columns or {})
    if path.is_dir():
        return Predictions(path, _of_folder(path, most))
    if not path.exists():
        raise UsageError(
            f"predictions file {path} does not exist. Provide a JSON Lines, CSV or Parquet file with `id` and `answer`."
        )
    rows = (row for row in _rows(path) if row.values)
    first = list(islice(rows, 1))
    if not first:
        raise InputError(f"{path} contains no predictions.")
    every = chain(first, rows)
    if is_result(first[0].values):
        return Predictions(path, logged(path, result_rows(path, _at_most(most, (row.values for row in every), path))))
    if LOGGED in first[0].values:
        return Predictions(path, logged(path, _at_most(most, (row.values for row in every), path)))
    return Predictions(path, _at_most(most, named(path, every, known), path))


def _of_folder(path: Path, most: int) -> list[dict[str, Any]]:
    logs = sample_logs(path)
    lines = (row.values for log in logs for row in _rows(log)) if logs else _results(path)
    rows = logged(path, _at_most(most, lines, path))
    if not rows and not logs:
        raise InputError(
            f"{path} contains no lmms-eval sample logs ({LOGS[0]}), inspect-ai logs ({LOGS[1]} or JSON) or "
            "VLMEvalKit results. Pass a file, or run lmms-eval with --log_samples."
        )
    if not rows:
        raise InputError(f"{path}: its sample logs are empty, or contain no scored sample.")
    return rows


def named(path: Path | str, rows: Iterable[Row], known: Columns) -> Iterator[dict[str, Any]]:
    """Yield rows whose columns have the names in `known`. In predictions, missing answers become None."""
    answers = ANSWERS if known.fields is COLUMNS else ()
    for row in known.apply(path, rows):
        values = dict(row.values)
        for name in answers:
            if name in values and _missing(values[name]) and not values.get(REPLIED):
                values[name] = None
        yield values


def _missing(value: Any) -> bool:
    """Return whether a value is null, NaN, or a text that stands for it or is empty."""
    return value is None or value != value or (isinstance(value, str) and value.strip().casefold() in NO_ANSWER)


def _rows(path: Path) -> Iterator[Row]:
    if path.suffix.lower() == ".eval":
        return (Row(values, tuple(values)) for values in eval_log(regular(path)))
    if path.suffix.lower() not in READERS:
        supported = ", ".join([*READERS, ".eval"])
        raise InputError(f"{path.name} has an unsupported file extension. Supported: {supported}.")
    return read_rows(path, Format("id", "answer", special=lambda content: json_log(path, content)))


def _results(folder: Path) -> Iterator[dict[str, Any]]:
    for path in sorted(folder.rglob("*")):
        if path.suffix.lower() not in (".xlsx", ".tsv", ".json") or path.is_symlink() or not path.is_file():
            continue
        rows = (row.values for row in _rows(path) if row.values)
        try:
            first = list(islice(rows, 1))
        except InputError:
            if path.suffix.lower() == ".json":
                continue  # its own records, which are not tables
            raise
        if first and is_result(first[0]):
            yield from result_rows(path, chain(first, rows))


def _at_most(most: int, rows: Iterable[Mapping[str, Any]], path: Path) -> list[dict[str, Any]]:
    kept = [dict(row) for row in islice(rows, most + 1)]
    if len(kept) > most:
        raise InputError(
            f"{path} has more than {most:,} rows, far more than there are questions. Provide one row per question."
        )
    return kept


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


def answer_column(predictions: Predictions) -> str:
    """Return the name of the column with the answers.

    Raises:
        InputError: There is no such column, or there are several, one of which may be the answer key.
    """
    names = [name for name in ANSWER_NAMES if any(name in row for row in predictions.rows)]
    if len(names) > 1:
        raise InputError(
            f"{predictions.path} has the columns {' and '.join(names)}; it is unclear which of them contains the "
            "model's answers. Name that column `answer`, and rename or drop the others."
        )
    return names[0] if names else column(predictions, ANSWER_NAMES)


def identity(ids: Iterable[str]) -> str:
    """Return a hash of a set of questions. Scores are comparable only if the hashes are equal."""
    return hashlib.sha256("\n".join(sorted(ids)).encode()).hexdigest()


def column(predictions: Predictions, allowed: Sequence[str], *, needed: bool = True) -> str:
    """Return the first of the allowed names that exists as a column, or "".

    Raises:
        InputError: The column is needed but does not exist.
    """
    seen = {name for row in predictions.rows for name in row}
    match = next((name for name in allowed if name in seen), "")
    if needed and not match:
        others = f" (nor {', '.join(allowed[1:])})" if allowed[1:] else ""
        raise InputError(
            f"{predictions.path} has no column {allowed[0]!r}{others}; it has {', '.join(sorted(map(str, seen)))}."
        )
    return match


def refuse_doubled(path: Path | str, ids: Sequence[str]) -> None:
    """Raise InputError if an id occurs more than once."""
    doubled = [name for name, count in Counter(ids).items() if count > 1]
    if doubled:
        raise InputError(f"{path} contains ids more than once: {', '.join(doubled[:5])}.")


OTHER_SPLIT, BANNED_CATEGORY, NO_OPTIONS, FLAGGED = "of_other_splits", "banned", "without_options", "flagged"
NOT_SCORED = {
    OTHER_SPLIT: "of other splits (left out)",
    BANNED_CATEGORY: "of banned questions (never scored)",
    NO_OPTIONS: "of questions without two possible answers (left out)",
    FLAGGED: "of flagged questions (left out by --without)",
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
    answers: dict[str, Any] = {}
    doubled = Counter[str]()
    for row in predictions.rows:
        name = str(row.get(id_name)).strip()
        if name in answers:
            doubled[name] += 1
        elif row.get(answer_name) is not None:
            answers[name] = row[answer_name]
    wanted = set(ids)
    missing = [name for name in ids if name not in answers]
    unknown = [name for name in answers if name not in wanted and name not in others]
    if not partial and (missing or doubled or unknown):
        refuse(predictions.path, missing, list(doubled), unknown, len(ids))
    if len(missing) == len(ids):
        raise InputError(
            f"{predictions.path}: none of its ids match the {len(ids):,} questions; its first id is "
            f"{next(iter(answers), None)!r}, but the first question has the id {ids[0]!r}."
        )
    reasons = Counter(others[name] for name in answers if name in others)
    return MatchedPredictions(answers, missing, list(doubled), unknown, reasons, len(predictions.rows))


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
    matched = match(predictions, ids, others=others, answer=answer, partial=partial)
    picks = np.full(len(ids), MISSING, np.int64)
    unreadable: list[tuple[str, str]] = []
    known: dict[tuple[type, Any], int | None] = {}
    for index, name in enumerate(ids):
        if name not in matched.given:
            continue
        value = matched.given[name]
        if options is None:
            key = (type(value), value) if isinstance(value, str | int | float) else (type(value), None)
            if key not in known:
                known[key] = read_answer(value, YES_NO, first=first)
            pick = known[key]
        else:
            pick = read_answer(value, options[index], first=first)
        if pick is None:
            unreadable.append((name, str(value)[:80]))
        picks[index] = UNREADABLE if pick is None else pick
    if options is not None:
        _check_first(
            predictions.path, [(matched.given.get(name), each) for name, each in zip(ids, options, strict=True)], first
        )
    return PickedOptions(ids, picks, unreadable, matched)


def _check_first(path: Path | str, answers: Sequence[tuple[Any, Sequence[str]]], first: int) -> None:
    """Raise InputError if numbers seem to count from another index than `first`.

    Numbers from 1 contain the number of options but no 0, and numbers from 0 the opposite.
    """
    plain = [(value, options) for value, options in answers if tuple(options) != YES_NO]
    numbers = [(_number(value), len(each)) for value, each in plain if not any(map(BEGINS.match, each))]
    last = any(number == count for number, count in numbers)
    zero = any(number == 0 for number, _ in numbers)
    if last != zero and first != int(last):
        there, absent = ("equal to the number of options", "0") if last else ("0", "equal to the number of options")
        raise InputError(
            f"{path}: some numeric answers are {there}, but none is {absent}, so they seem to count from "
            f"{int(last)}. Add --first-index {int(last)} if they do, or write letters or texts."
        )


def _number(value: Any) -> int | None:
    if isinstance(value, str):
        numeral = NUMBER.match(value.strip())
        return int(numeral[1]) if numeral else None
    plain = isinstance(value, int | float | np.number) and not isinstance(value, bool | np.bool_)
    return int(value) if plain and float(value).is_integer() else None


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


def predictions_identity(predictions: Predictions | Path) -> dict[str, str]:
    """Return the name and SHA-256 of a file or of rows in memory, or the name of a folder, for `scores.json`."""
    path = predictions if isinstance(predictions, Path) else predictions.path
    if isinstance(predictions, Predictions) and isinstance(path, str):
        content = json.dumps(predictions.rows, sort_keys=True, default=str)
        return {"file": IN_MEMORY, "sha256": sha256_text(content)}
    path = Path(path)
    if path.is_file():
        return {"file": path.name, "sha256": sha256_file(path)}
    return {"file": path.name + "/"}
