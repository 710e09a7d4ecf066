"""Describe the tables of a dataset, from which the Arrow schema, `datasets` features and card are derived."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import pyarrow as pa

from .errors import BuildError

Row = dict[str, Any]

_ARROW = {
    "string": pa.string(),
    "int32": pa.int32(),
    "int64": pa.int64(),
    "float64": pa.float64(),
    "bool": pa.bool_(),
}
_LISTS = {"strings": "string", "integers": "int32"}


@dataclass(frozen=True)
class Column:
    """A column of a table.

    Attributes:
        kind: "string", "int32", "int64", "float64", "bool", "strings" or "integers" (lists), "records" (a list of rows
            with the columns `fields`), "label" (a ClassLabel with `names`) or "video" (embedded bytes, decoded by
            `datasets.Video`).
        meaning: One-line description for the card, with the unit.
        names: Class names of a label, in order.
        fields: Columns of records.
        of_file: Whether the value depends on the bytes of the row's video, as `sha256` always does.
        refers_to: Table whose rows this column names by their first key column, or "". A build leaves out rows that
            name a row which was skipped.
    """

    name: str
    kind: str
    meaning: str
    names: tuple[str, ...] = ()
    fields: tuple[Column, ...] = ()
    of_file: bool = False
    refers_to: str = ""

    def arrow_type(self) -> pa.DataType:
        """Return the Arrow storage type."""
        if self.kind == "label":
            return pa.int64()
        if self.kind in _LISTS:
            return pa.list_(_ARROW[_LISTS[self.kind]])
        if self.kind == "records":
            return pa.list_(pa.struct([(field.name, field.arrow_type()) for field in self.fields]))
        if self.kind == "video":
            return pa.struct([("bytes", pa.binary()), ("path", pa.string())])
        return _ARROW[self.kind]

    def feature(self) -> dict[str, Any]:
        """Return the feature as `datasets` writes it to Parquet metadata."""
        if self.kind == "label":
            return {"names": list(self.names), "_type": "ClassLabel"}
        if self.kind in _LISTS:
            return {"feature": {"dtype": _LISTS[self.kind], "_type": "Value"}, "_type": "List"}
        if self.kind == "records":
            return {"feature": {field.name: field.feature() for field in self.fields}, "_type": "List"}
        if self.kind == "video":
            return {"_type": "Video"}
        return {"dtype": self.kind, "_type": "Value"}


@dataclass(frozen=True)
class Public:
    """What a table shows in a split whose answers are withheld. All other columns are null there.

    Attributes:
        shown: The columns shown. If empty, the table has no rows in the split.
        ids: Id columns whose values are replaced, so that they reveal neither order nor origin. "a.b" is the field b of
            the records in a.
        choices: For each set of options, the column with the index of the correct one, followed by the lists to
            shuffle.
        moved: Columns of texts and text ids that are moved to other rows, because their assignment is the answer.
        group: Column whose equal values stay adjacent when rows are shuffled.
    """

    shown: tuple[str, ...] = ()
    ids: tuple[str, ...] = ()
    choices: tuple[tuple[str, ...], ...] = ()
    moved: tuple[str, ...] = ()
    group: str = ""


@dataclass(frozen=True)
class Config:
    """A config of a dataset, which is a table in a folder of its own.

    Attributes:
        default: Whether `load_dataset` opens it by default.
        key_columns: Number of leading columns that form the key.
        unsplit: Whether the table describes the whole dataset, so that its only split is not one of the dataset's.
    """

    name: str
    meaning: str
    columns: tuple[Column, ...]
    default: bool = False
    key_columns: int = 1
    unsplit: bool = False

    @cached_property
    def key(self) -> list[str]:
        """Names of the key columns."""
        return [column.name for column in self.columns[: self.key_columns]]

    @cached_property
    def videos(self) -> list[str]:
        """Names of the columns with videos."""
        return [column.name for column in self.columns if column.kind == "video"]

    @cached_property
    def of_files(self) -> list[str]:
        """Names of the columns that are known only once a row's video is rendered; empty without videos."""
        names = [column.name for column in self.columns if column.of_file or column.name == "sha256"]
        return [*self.videos, *names] if self.videos else []

    @cached_property
    def links(self) -> dict[str, str]:
        """Tables that columns refer to, by column."""
        return {column.name: column.refers_to for column in self.columns if column.refers_to}

    @cached_property
    def plain(self) -> list[str]:
        """Names of all columns except those with videos."""
        return [column.name for column in self.columns if column.kind != "video"]

    def file_name(self, row: Mapping[str, Any]) -> str:
        """Return the file name of a row's video, which consists of the values of its key columns."""
        return "_".join(str(row[name]) for name in self.key) + ".mp4"

    def schema(self, canary: str = "") -> pa.Schema:
        """Return the Arrow schema, with the `datasets` features and the canary (if any) as metadata."""
        features = {column.name: column.feature() for column in self.columns}
        metadata = {"huggingface": json.dumps({"info": {"features": features}})}
        if canary:
            metadata["canary"] = canary
        fields = [pa.field(column.name, column.arrow_type()) for column in self.columns]
        return pa.schema(fields, metadata=metadata)

    def encode(self, row: Mapping[str, Any]) -> Row:
        """Convert a row to storage values, with labels as integers and columns in the order of the config.

        Raises:
            BuildError: The columns differ from those of the config.
            ValueError: A label is unknown.
        """
        names = {column.name for column in self.columns}
        parts = (("it lacks", names - set(row)), ("the table does not declare", set(row) - names))
        if faults := [f"{what} {', '.join(sorted(columns))}" for what, columns in parts if columns]:
            raise BuildError(f"the builder yielded an invalid row for the table {self.name!r}: {'; '.join(faults)}.")
        return {
            column.name: column.names.index(row[column.name])
            if column.kind == "label" and row[column.name] is not None
            else row[column.name]
            for column in self.columns
        }
