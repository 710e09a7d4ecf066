"""What of an output is scored, and how: its table, its split, its columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...core.errors import UsageError
from ...core.files import sha256_file
from ...core.output import FinishedOutput
from ...core.schema import Row
from ...core.shards import read_columns_of
from .bootstrap import RESAMPLES

ALL = "all"


@dataclass(frozen=True)
class ScoreOptions:
    """How to score.

    Attributes:
        split: A split of the output, or "all".
        partial: Score what is there instead of refusing gaps.
        first: Number of the first option in numeric answers.
        seed: Seed of the bootstrap.
        resamples: Number of its resamples.
        config: Table with the questions; by default the output's first.
        released: Score as the published scorer does, where it differs.
    """

    split: str = ALL
    partial: bool = False
    first: int = 0
    seed: int = 0
    resamples: int = RESAMPLES
    config: str | None = None
    released: bool = False


def choose_split(output: FinishedOutput, config: str, split: str | None) -> str:
    """Take the split that was asked for; by default test where there is one, else all.

    Raises:
        UsageError: The output has no such split.
    """
    splits = output.splits(config)
    if split is None:
        return "test" if "test" in splits else ALL
    if split != ALL and split not in splits:
        raise UsageError(f"{output.path} has no split {split!r}. It has: {', '.join(splits)}; or say all.")
    return split


def choose_config(output: FinishedOutput, tables: Sequence[str], config: str | None) -> str:
    """Take the table with questions that was asked for; by default the first.

    Args:
        output: The output.
        tables: Its tables with questions.
        config: What the user asked for.

    Raises:
        UsageError: The output has no such table of questions.
    """
    if not tables:
        raise UsageError(f"{output.path} has no questions.")
    if config is None:
        return tables[0]
    if config not in tables:
        raise UsageError(f"{output.path} has no questions in a table {config!r}. It has them in: {', '.join(tables)}.")
    return config


def read_columns(
    output: FinishedOutput, config: str, names: Sequence[str], split: str
) -> tuple[dict[str, list[Any]], list[str]]:
    """Read columns of a table, and the split of each row; only rows of `split` unless it is "all"."""
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


def read_whole(output: FinishedOutput, config: str) -> tuple[list[Row], list[str]]:
    """Read all rows of a table, and the split of each."""
    rows, splits = [], []
    for split in output.splits(config):
        for row in output.whole(config, None, split):
            rows.append(row)
            splits.append(split)
    return rows, splits


def predictions_identity(path: Path) -> dict[str, str]:
    """Name a file without its folder, with its hash; a folder with the hash of its files' names and sizes."""
    if path.is_file():
        return {"file": path.name, "sha256": sha256_file(path)}
    return {"file": path.name + "/"}
