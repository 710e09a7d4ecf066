"""Configs and columns of a dataset, as data: the Arrow schema, the `datasets` features and the card come from here."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import pyarrow as pa

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
    """One column.

    Attributes:
        name: Column name.
        kind: "string", "int32", "int64", "float64", "bool", "strings" or "integers" (lists), "records" (a list of rows
            with the columns `fields`), "label" (a ClassLabel with `names`) or "video" (embedded bytes, decoded by
            `datasets.Video`).
        meaning: One line for the card, with the unit.
        names: The class names of a label, in the order of their integers.
        fields: The columns of records.
    """

    name: str
    kind: str
    meaning: str
    names: tuple[str, ...] = ()
    fields: tuple[Column, ...] = ()

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
        """Return the feature as `datasets` writes it into Parquet metadata."""
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
class Config:
    """One config of a dataset: a table with its own columns, stored under a folder of its name.

    Attributes:
        name: Name, also of its folder.
        meaning: One line for the card.
        columns: Its columns.
        default: Whether `load_dataset` opens it when no config is named.
        key_columns: How many of the first columns together are unique.
    """

    name: str
    meaning: str
    columns: tuple[Column, ...]
    default: bool = False
    key_columns: int = 1

    @cached_property
    def key(self) -> list[str]:
        """The columns that together are unique."""
        return [column.name for column in self.columns[: self.key_columns]]

    @cached_property
    def videos(self) -> list[str]:
        """The columns with videos."""
        return [column.name for column in self.columns if column.kind == "video"]

    @cached_property
    def plain(self) -> list[str]:
        """The columns that are no videos."""
        return [column.name for column in self.columns if column.kind != "video"]

    def file_name(self, row: Mapping[str, Any]) -> str:
        """Name the file of a row's video, by its key."""
        return "_".join(str(row[name]) for name in self.key) + ".mp4"

    def schema(self) -> pa.Schema:
        """Return the Arrow schema with the metadata from which `load_dataset` takes the features."""
        features = {column.name: column.feature() for column in self.columns}
        metadata = {"huggingface": json.dumps({"info": {"features": features}})}
        fields = [pa.field(column.name, column.arrow_type()) for column in self.columns]
        return pa.schema(fields, metadata=metadata)

    def encode(self, row: Mapping[str, Any]) -> Row:
        """Turn a row of plain values into storage values: labels become integers, columns are in order.

        Raises:
            ValueError: The row lacks a column or has one too many, or a label is outside its names.
        """
        differing = set(row) ^ {column.name for column in self.columns}
        if differing:
            raise ValueError(f"a row of {self.name!r} has other columns: {', '.join(sorted(differing))}")
        return {
            column.name: column.names.index(row[column.name])
            if column.kind == "label" and row[column.name] is not None
            else row[column.name]
            for column in self.columns
        }
