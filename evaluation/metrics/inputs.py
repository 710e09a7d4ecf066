"""Choose which table, split and columns of an output to score."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...core.documents import shortened
from ...core.errors import InputError, UsageError
from ...core.files import sha256_file, sha256_text
from ...core.output import FinishedOutput
from ...core.schema import Row
from ...core.shards import read_columns_of
from .bootstrap import RESAMPLES
from .predictions import Predictions

ALL = "all"
IN_MEMORY = "rows in memory"


@dataclass(frozen=True)
class ScoreOptions:
    """Options that determine how predictions are scored.

    Attributes:
        split: Split of the output, or "all".
        partial: Whether to score incomplete predictions instead of raising an error.
        first: Index of the first option in numeric answers.
        config: Table with the questions; by default the output's first.
        released: Whether to follow the published scorer where it differs from ours.
        without: Column that flags questions to leave out.
    """

    split: str = ALL
    partial: bool = False
    first: int = 0
    seed: int = 0
    resamples: int = RESAMPLES
    config: str | None = None
    released: bool = False
    without: str | None = None


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
    found: dict[str, list[Any]] = {name: [] for name in names}
    splits: list[str] = []
    for name in output.splits(config) if split == ALL else [split]:
        before = len(splits)
        for path in output.counted(config, name):
            table = read_columns_of(path, names)
            splits += [name] * len(table[names[0]])
            for each in names:
                found[each] += table[each]
        output.check_count(config, name, len(splits) - before)
    return found, splits


def positions(values: Sequence[object], allowed: Sequence[str], column: str) -> NDArray[np.intp]:
    """Return the index of each value in `allowed`, or raise InputError if a value is not allowed."""
    places = {name: place for place, name in enumerate(allowed)}
    if odd := [value for value in values if value not in places]:
        raise InputError(
            f"column {column} of the output contains {shortened(odd[0])}; allowed: {', '.join(allowed)}. The rows were "
            "modified, or the output was built by another version. Run `stressreel verify` for details."
        )
    return np.array([places[str(value)] for value in values], np.intp)


def read_whole(output: FinishedOutput, config: str) -> tuple[list[Row], list[str]]:
    """Return all rows of a table, and the split of each."""
    rows, splits = [], []
    for split in output.splits(config):
        for row in output.whole(config, None, split):
            rows.append(row)
            splits.append(split)
    return rows, splits


def predictions_identity(given: Predictions | Path) -> dict[str, str]:
    """Return the name and SHA-256 of a file or of rows in memory, or the name of a folder, for `scores.json`."""
    path = given if isinstance(given, Path) else given.path
    if isinstance(given, Predictions) and isinstance(path, str):
        content = json.dumps(given.rows, sort_keys=True, default=str)
        return {"file": IN_MEMORY, "sha256": sha256_text(content)}
    path = Path(path)
    if path.is_file():
        return {"file": path.name, "sha256": sha256_file(path)}
    return {"file": path.name + "/"}
