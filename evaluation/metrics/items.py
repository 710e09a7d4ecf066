"""Load questions, called items, from an output or from a user's file, and the columns of an output's tables."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...core.documents import parse_json, shortened
from ...core.errors import InputError, UsageError
from ...core.output import FinishedOutput, reading
from ...core.rows import AnyPath, Rows
from ...core.schema import Row
from ...core.shards import read_columns_of
from .answers import NUMBER, YES_NO, read_answer
from .predictions import (
    ID_NAMES,
    OTHER_SPLIT,
    PickedOptions,
    Predictions,
    column,
    join,
    of_output,
    predictions_of,
    read_predictions,
    refuse_doubled,
)

ALL = "all"
"""In place of a split: all splits, or those of a file."""
SOURCES = ("source_id", "source", "episode", "video_id", "video", "clip_id", "vid_name")
VIDEOS = ("video_id", "video", "clip_id", "vid_name", "source_id", "source", "episode")
TEXTS = ("question", "text", "caption", "q")
INDEX = "answer_index"  # counts from 0, as in all tables of stressreel
GOLD = ("answer", INDEX, "correct_answer", "answer_idx")  # TVQA's answer_idx counts from 0, too
STARTS, ENDS = ("start_s", "start"), ("end_s", "end")
SUBTITLES = ("subtitles", "subtitle", "transcript", "sub_text")
COLUMNS: dict[str, tuple[str, ...]] = {
    "id": ID_NAMES,
    "question": TEXTS,
    "options": ("options",),
    "answer": GOLD,
    "source": (*SOURCES, "group"),
    "video": VIDEOS,
    "start": STARTS,
    "end": ENDS,
    "subtitles": SUBTITLES,
    "split": ("split",),
    "config": ("config",),
    "kind": ("kind", "type", "template_id"),
    "part": ("part",),
    "blind_guessable": ("blind_guessable",),
    "explanation": ("explanation",),
    "explanation_options": ("explanation_options",),
    "explanation_index": ("explanation_index",),
}
"""Columns of questions, with their accepted names in order of preference."""


@dataclass(frozen=True)
class Items:
    """Questions with their videos, options and correct answers, in order.

    Attributes:
        sources: Source video of each question, or the question's id if unknown.
        videos: Video of each question, or "" if unknown.
        texts: Text of each question, or "" if unknown.
        truth: Index of the correct option, or -1 if unknown.
        split: The split, or "all" for a file. `config` and `fingerprint` are "" for a file.
        others: Ids of existing questions that are not items, with the reason; see `predictions.NOT_SCORED`.
    """

    ids: list[str]
    sources: list[str]
    videos: list[str]
    texts: list[str]
    options: list[Sequence[str]]
    truth: NDArray[np.int64]
    split: str = ALL
    config: str = ""
    fingerprint: str = ""
    others: Mapping[str, str] = field(default_factory=dict)


OfOutput = Callable[[FinishedOutput, str | None, str | None], Items]
"""Function that reads the items of an output, given an optional table and split."""


def read_items(
    path: Path,
    of_output: OfOutput,
    config: str | None = None,
    split: str | None = None,
    *,
    first: int = 0,
    judged: bool = True,
    columns: Mapping[str, str] | None = None,
) -> Items:
    """Load the items of an output, or of a user's file.

    Args:
        path: The output of a build. Or a file of rows with `id` and, as needed, `answer`, `options`, `video_id`,
            `source_id` and `question`, or with TVQA's columns.
        of_output: Function that loads the items of an output.
        config: Table of an output; by default the first.
        split: Split of an output, or "all"; by default test if it exists.
        first: Index of the first option in numeric correct answers of a file.
        judged: Whether correct answers are required. If not, a file's `answer` and `options` are ignored.
        columns: Names of columns in a file that differ from those in `COLUMNS`.

    Raises:
        UsageError: The path does not exist, or `columns` are given for an output.
        InputError: The path is neither an output nor such a file, or a value is invalid.
    """
    if path.is_dir():
        if columns:
            raise UsageError(f"{path} is an output, whose columns have fixed names. Omit --columns.")
        with reading(path) as output:
            items = of_output(output, config, split)
    elif not path.exists():
        raise UsageError(f"{path} does not exist. Pass the output of a build, or a file with your own questions.")
    elif config is not None or split not in (None, ALL):
        raise InputError(f"{path} is a file, so it has no tables or splits. Omit --config and --split.")
    else:
        items = _of_file(path, first, judged, columns)
    if not items.ids:
        raise InputError(f"{path} has no items in table {items.config}, split {items.split}.")
    if judged and (items.truth < 0).any():
        looked = "its items have none" if items.config else f"it has none of the columns {', '.join(GOLD)}"
        raise InputError(f"{path} has no correct answers to score against: {looked}.")
    return items


def read_questions(path: Path, columns: Mapping[str, str] | None = None) -> Predictions:
    """Load the rows of a file with questions. `columns` are names in the file that differ from those in `COLUMNS`."""
    return read_predictions(path, fields=COLUMNS, columns=columns)


def _of_file(path: Path, first: int, judged: bool, columns: Mapping[str, str] | None) -> Items:
    questions = read_questions(path, columns)
    ids = _names(questions, ID_NAMES, needed=True)
    if "" in ids:
        raise InputError(f"{path}: row {ids.index('') + 1} has no id.")
    refuse_doubled(path, ids)
    sources = _names(questions, SOURCES)
    if "" in sources and any(sources):
        name = column(questions, SOURCES)
        raise InputError(
            f"{path}: {ids[sources.index('')]!r} has no {name}. Provide it in every row or in none; without it, every "
            "question counts as a separate source video."
        )
    options: list[Sequence[str]] = [()] * len(ids)
    truth = [-1] * len(ids)
    gold = column(questions, GOLD, needed=False)
    if judged and gold:
        options = [options_of(given_options(row), path, name) for row, name in zip(questions.rows, ids, strict=True)]
        for at, row in enumerate(questions.rows):
            named = [name for name in GOLD if row.get(name) is not None] or [gold]
            indices = {right_option(row, name, options[at], f"{path}: {ids[at]!r}", first=first) for name in named}
            if len(indices) > 1:
                raise InputError(
                    f"{path}: {' and '.join(named)} of {ids[at]!r} name different options. `{INDEX}` counts from 0, "
                    f"numbers in other columns from {first}. Keep one of the columns."
                )
            (truth[at],) = indices
    return Items(
        ids,
        sources if any(sources) else ids,
        _names(questions, VIDEOS),
        _names(questions, TEXTS),
        options,
        np.array(truth, np.int64),
    )


def _names(questions: Predictions, allowed: Sequence[str], *, needed: bool = False) -> list[str]:
    name = column(questions, allowed, needed=needed)
    values = [row.get(name) if name else None for row in questions.rows]
    odd = next((value for value in values if isinstance(value, dict | list | bytes)), None)
    if odd is not None:
        raise InputError(
            f"{questions.path}: column {name!r} contains {type(odd).__name__}; expected strings or numbers."
        )
    return ["" if value is None else str(value).strip() for value in values]


def right_option(row: Mapping[str, Any], column: str, options: Sequence[str], what: str, *, first: int = 0) -> int:
    """Return the index of the option that a row marks as correct.

    `answer_index` counts from 0, and other columns count from `first`.

    Raises:
        InputError: The answer is not an option, or is ambiguous.
    """
    value = row.get(column)
    if column.endswith(("_index", "_idx")):
        text = str(value).strip()
        right = int(text) if NUMBER.fullmatch(text) and int(text) < len(options) else None
    else:
        right = read_answer(value, options, first=first)
    if right is None:
        raise InputError(
            f"{what} has {column} {value!r}, which is not one of its options, or is ambiguous ({', '.join(options)}). "
            f"`{INDEX}` counts from 0, numbers in other columns from {first}. Refer to options that begin with a "
            "number by letter or text. Without `options`, answers are yes or no."
        )
    return right


def given_options(row: Mapping[str, Any]) -> Any:
    """Return the options in a row, from `options` or from TVQA's columns a0, a1, …, or None."""
    if row.get("options") not in (None, "") or "a0" not in row:
        return row.get("options")
    named = [row[name] for index in range(len(row)) if (name := f"a{index}") in row]
    return [value for value in named if value not in (None, "")]


def options_of(value: Any, path: Path, name: str) -> tuple[str, ...]:
    """Parse the options of a question from a list or, as in a CSV file, from JSON. Without options, return yes and no.

    Raises:
        InputError: The value has another form.
    """
    try:
        options = parse_json(value or "[]") if isinstance(value, str) else value
    except ValueError:
        options = value
    if value is None or options == []:
        return YES_NO
    if not isinstance(options, list) or not all(
        isinstance(x, str | int | float) and not isinstance(x, bool) for x in options
    ):
        raise InputError(
            f"{path}: the options of {name!r} are {shortened(value)}; expected a list of strings or numbers (in a CSV "
            'file as JSON: ["red", "blue"]). Without options, answers are yes or no.'
        )
    return tuple(str(int(x) if isinstance(x, float) and x.is_integer() else x) for x in options)


def items_of(
    output: FinishedOutput,
    config: str,
    split: str,
    *,
    id_column: str,
    ids: list[str],
    sources: list[str],
    videos: list[str],
    texts: list[str],
    options: list[Sequence[str]],
    truth: Sequence[int | None],
) -> Items:
    """Create the items of an output's table. The other arguments are attributes of `Items`."""
    elsewhere = [name for name in output.splits(config) if split not in (ALL, name)]
    others = {
        str(name): OTHER_SPLIT
        for other_split in elsewhere
        for name in read_columns(output, config, (id_column,), other_split)[0][id_column]
    }
    known = np.array([-1 if right is None else right for right in truth], np.int64)
    return Items(ids, sources, videos, texts, options, known, split, config, output.asked, others)


def annotations_of(path: Path, items: Items, name: str, columns: Mapping[str, str] | None = None) -> list[str]:
    """Return the values of a column of the questions, such as an annotated type, with "" for missing values.

    Raises:
        UsageError: The column does not exist, or does not contain texts, numbers or booleans.
    """
    if path.is_dir():
        with reading(path) as output:
            rows = list(output.whole(items.config, None, None if items.split == ALL else items.split))
    else:
        rows = read_questions(path, columns).rows
    seen = {key: None for row in rows for key in row}
    if name not in seen:
        raise UsageError(f"{path} has no column {name!r}. It has: {', '.join(seen)}.")
    ids = next(key for key in (*ID_NAMES, "clip_id") if key in seen)
    by_id = {str(row.get(ids)).strip(): row.get(name) for row in rows}
    odd = next((value for value in by_id.values() if isinstance(value, dict | list | bytes)), None)
    if odd is not None:
        raise UsageError(f"{path}: column {name!r} contains {type(odd).__name__}; expected strings or numbers.")
    return ["" if by_id[item] is None else str(by_id[item]).strip() for item in items.ids]


def join_items(predictions: Predictions, items: Items, *, partial: bool = False, first: int = 0) -> PickedOptions:
    """Match predictions with items by id; see `predictions.join`."""
    return join(predictions, items.ids, items.options, others=items.others, partial=partial, first=first)


def judge(
    items: Items,
    predictions: AnyPath | Rows,
    *,
    first: int = 0,
    name: str = "",
    columns: Mapping[str, str] | None = None,
) -> PickedOptions:
    """Load predictions, and match them with items. An answer is correct where `picks` is equal to `Items.truth`.

    `name` distinguishes several sets of rows in memory in messages.

    Raises:
        InputError: The file cannot be read or belongs to another output, or ids are missing, duplicate or unknown.
    """
    loaded = predictions_of(predictions, expected=len(items.ids) + len(items.others), name=name, columns=columns)
    if items.config:
        loaded = of_output(loaded, items.config, items.fingerprint)
    return join_items(loaded, items, first=first)


# Tables of outputs


def choose_split(output: FinishedOutput, config: str, split: str | None) -> str:
    """Return the requested split or, if None, "test" if it exists and otherwise "all".

    Raises:
        UsageError: The output does not have the split.
    """
    splits = output.splits(config)
    if split is None:
        return "test" if "test" in splits else ALL
    if split != ALL and split not in splits:
        raise UsageError(
            f"{output.path} has no split {split!r}. Available: {', '.join(splits)}; `all` selects every split."
        )
    return split


def choose_config(output: FinishedOutput, tables: Sequence[str], config: str | None) -> str:
    """Return the requested table of questions, by default the first. Raise UsageError if it does not exist."""
    if not tables:
        raise UsageError(f"{output.path} has no questions.")
    if config is None:
        return tables[0]
    if config not in tables:
        raise UsageError(
            f"{output.path} has no questions in table {config!r}. Tables with questions: {', '.join(tables)}."
        )
    return config


def read_columns(
    output: FinishedOutput, config: str, names: Sequence[str], split: str
) -> tuple[dict[str, list[Any]], list[str]]:
    """Return columns of a table by name, and the split of each row, for one split or for "all"."""
    columns: dict[str, list[Any]] = {name: [] for name in names}
    splits: list[str] = []
    for name in output.splits(config) if split == ALL else [split]:
        before = len(splits)
        for path in output.counted(config, name):
            table = read_columns_of(path, names)
            splits += [name] * len(table[names[0]])
            for column_name in names:
                columns[column_name] += table[column_name]
        output.check_count(config, name, len(splits) - before)
    return columns, splits


def positions(values: Sequence[object], allowed: Sequence[str], column: str) -> NDArray[np.intp]:
    """Return the index of each value in `allowed`, or raise InputError if a value is not allowed."""
    indices = {name: index for index, name in enumerate(allowed)}
    if odd := [value for value in values if value not in indices]:
        raise InputError(
            f"column {column} of the output contains {shortened(odd[0])}; allowed: {', '.join(allowed)}. The rows were "
            "modified, or the output was built by another version. Run `stressreel verify` for details."
        )
    return np.array([indices[str(value)] for value in values], np.intp)


def read_whole(output: FinishedOutput, config: str) -> tuple[list[Row], list[str]]:
    """Return all rows of a table, and the split of each."""
    rows, splits = [], []
    for split in output.splits(config):
        for row in output.whole(config, None, split):
            rows.append(row)
            splits.append(split)
    return rows, splits
