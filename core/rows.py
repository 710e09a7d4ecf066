"""Convert rows that Python callers pass in memory, such as a list of dicts or a data frame.

Data frames and tables are recognised by their methods, so no library needs to be installed or imported for them.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol, TypeGuard

from .documents import shortened
from .errors import InputError, UsageError

ALLOWED = (
    "a path, a list of dicts, a dict from id to answer, a dict of columns, a pandas or polars data frame, a pyarrow "
    "table, or a datasets.Dataset"
)
ABSENT = ("NAType", "NaTType")  # of pandas


AnyPath = os.PathLike[str] | str
"""A path. The `Output` of a build can be passed as its own path."""


class ArrowTable(Protocol):
    """A table of pyarrow."""

    def to_pylist(self) -> list[dict[str, Any]]:
        """Return the rows as dicts."""


class PolarsFrame(Protocol):
    """A data frame of polars."""

    def to_dicts(self) -> list[dict[str, Any]]:
        """Return the rows as dicts."""


class HubDataset(Protocol):
    """A `datasets.Dataset`."""

    @property
    def column_names(self) -> list[str]:
        """Names of the columns."""

    def to_list(self) -> list[Any]:
        """Return the rows as dicts."""


class PandasFrame(Protocol):
    """A data frame of pandas."""

    @property
    def columns(self) -> Any:
        """Names of the columns."""

    @property
    def to_dict(self) -> Any:
        """Function that returns the rows as dicts if its argument is "records"."""


Rows = Mapping[Any, Any] | Iterable[Mapping[str, Any]] | ArrowTable | PolarsFrame | HubDataset | PandasFrame
"""Rows in memory, in any form that `rows_in_memory` accepts."""


def is_path(value: Any) -> TypeGuard[AnyPath]:
    """Return whether a value is a path, rather than the content of a file."""
    return isinstance(value, str | os.PathLike)


@dataclass(frozen=True)
class RowsInMemory:
    """Rows as dictionaries of plain values, and the words for them in messages, such as "the DataFrame"."""

    called: str
    rows: list[dict[str, Any]]


def rows_in_memory(value: Any) -> RowsInMemory:
    """Convert rows to dictionaries of plain values. NaN, NaT and other missing values become None.

    Raises:
        UsageError: The value is not of a supported type.
        InputError: A row is not a dict, or columns are repeated or differ in length.
    """
    called = f"the {type(value).__name__}"
    rows = [_row(row, index) for index, row in enumerate(_records(value, called))]
    return RowsInMemory(called, rows)


def _records(value: Any, called: str) -> Any:
    if isinstance(value, Mapping):
        return _of_mapping(value, called)
    if hasattr(value, "to_pylist"):
        _refuse_repeated(getattr(value, "column_names", ()), called)
        return value.to_pylist()
    if hasattr(value, "to_dicts"):
        return value.to_dicts()
    if hasattr(value, "to_list") and hasattr(value, "column_names"):
        return value.to_list()
    if hasattr(value, "to_dict") and hasattr(value, "columns"):
        _refuse_repeated(value.columns, called)
        index_names = [name for name in value.index.names if name is not None and name not in value.columns]
        return (value.reset_index(level=index_names) if index_names else value).to_dict("records")
    if isinstance(value, Iterable) and not isinstance(value, str | bytes | bytearray):
        return value
    raise UsageError(f"{shortened(value)} is of type {type(value).__name__}. Pass {ALLOWED}.")


def _refuse_repeated(names: Iterable[Any], called: str) -> None:
    repeated = [name for name, count in Counter(map(str, names)).items() if count > 1]
    if repeated:
        raise InputError(f"{called} has columns of the same name: {', '.join(repeated[:5])}. Rename or drop them.")


def _of_mapping(mapping: Mapping[Any, Any], called: str) -> Iterator[Any]:
    """Yield the rows of a dict from id to answer, or of a dict of columns."""
    if tables := [str(name) for name, value in mapping.items() if hasattr(value, "column_names")]:
        raise UsageError(f"{called} contains several tables ({', '.join(tables)}). Pass one of them.")
    columns = {name: value for name, value in mapping.items() if _is_column(value)}
    others = {name: value for name, value in mapping.items() if name not in columns}
    nested = next((name for name, value in others.items() if isinstance(value, Mapping)), None)
    if nested is not None or (columns and others):
        name = next(iter(others)) if nested is None else nested
        raise InputError(
            f"{called} maps {name!r} to {shortened(others[name])}. It must map either every id to an answer, or every "
            "column to a list of values. Otherwise pass a list of dicts with `id` and `answer`."
        )
    if not columns:
        yield from ({"id": name, "answer": answer} for name, answer in mapping.items())
        return
    values = [list(column) for column in columns.values()]
    if len(set(map(len, values))) > 1:
        lengths = ", ".join(f"{name} {len(column):,}" for name, column in zip(columns, values, strict=True))
        raise InputError(f"{called} has columns of different lengths: {lengths}.")
    yield from (dict(zip(columns, row, strict=True)) for row in zip(*values, strict=True))


def _is_column(value: Any) -> bool:
    """Return whether a value is a list, array or series, rather than an answer."""
    if isinstance(value, str | bytes | Mapping) or getattr(value, "shape", None) == ():
        return False
    return isinstance(value, Iterable)


def _row(row: Any, index: int) -> dict[str, Any]:
    if not isinstance(row, Mapping):
        raise InputError(
            f"rows[{index}] is {shortened(row)}, of type {type(row).__name__}. Every row must be a dict with `id` and "
            "`answer`, because answers are matched with questions by id."
        )
    return {str(name): _plain(value) for name, value in row.items()}


def _plain(value: Any) -> Any:
    """Convert values of NumPy, pandas and torch to those of Python, and missing ones to None."""
    if isinstance(value, str):
        return str(value)
    if hasattr(value, "tolist"):
        value = value.tolist()
    if type(value).__name__ in ABSENT or (isinstance(value, float) and value != value):
        return None
    if isinstance(value, Mapping):
        return {str(name): _plain(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value
