from __future__ import annotations

from typing import Any

import pytest
from datasets import Features
from stressreel.builders.clavi.tables import PAIRS, QUESTIONS, VIDEOS
from stressreel.core.errors import BuildError
from stressreel.core.schema import Column, Config

EVERY = Config(
    "every",
    "a column of every kind",
    (
        Column("name", "string", "a text"),
        Column("count", "int32", "a number"),
        Column("ticks", "int64", "a large number"),
        Column("length_s", "float64", "seconds"),
        Column("kept", "bool", "yes or no"),
        Column("words", "strings", "a list"),
        Column("answer", "label", "a class", ("no", "yes")),
        Column("clip", "video", "a file"),
    ),
)
ROW: dict[str, Any] = {
    "name": "é",
    "count": -1,
    "ticks": 2**40,
    "length_s": 0.1,
    "kept": True,
    "words": ["a", ""],
    "answer": "yes",
    "clip": {"bytes": b"\x00", "path": "a.mp4"},
}


@pytest.mark.parametrize("config", [EVERY, QUESTIONS, PAIRS, VIDEOS], ids=lambda config: config.name)
def test_schema_equals_that_of_datasets(config: Config) -> None:
    schema = config.schema()
    features = Features.from_arrow_schema(schema)
    assert list(features) == schema.names == [column.name for column in config.columns]
    assert features.arrow_schema.types == schema.types
    assert features.arrow_schema.metadata == schema.metadata


def test_encoding_orders_columns_and_numbers_labels() -> None:
    encoded = EVERY.encode(dict(reversed(ROW.items())))
    assert list(encoded) == [column.name for column in EVERY.columns]
    assert encoded == ROW | {"answer": 1}
    assert EVERY.encode(ROW | {"answer": "no"})["answer"] == 0


def test_a_label_outside_its_names_is_refused() -> None:
    with pytest.raises(ValueError, match="not in tuple"):
        EVERY.encode(ROW | {"answer": "maybe"})


def test_rows_with_other_columns_are_refused_by_name() -> None:
    with pytest.raises(BuildError, match=r"row for the table 'every': the table does not declare extra, more\.$"):
        EVERY.encode(ROW | {"more": 1, "extra": 2})
    first, *others = ROW
    with pytest.raises(BuildError, match=rf": it lacks {first}; the table does not declare more\.$"):
        EVERY.encode({name: ROW[name] for name in others} | {"more": 1})
