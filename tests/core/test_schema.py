"""Configs: their schema is the one that `datasets` makes of their features, and rows fit it."""

import pytest
from datasets import Features
from stressreel.core.errors import BuildError
from stressreel.core.schema import Column, Config

ROW = {
    "string": "é",
    "int32": -1,
    "int64": 2**40,
    "float64": 0.1,
    "bool": True,
    "strings": ["a", ""],
    "integers": [1, 2],
    "label": "yes",
    "video": {"bytes": b"\x00", "path": "a.mp4"},
}
KINDS = [*ROW]
EVERY = Config("every", "all kinds", tuple(Column(kind, kind, "", ("no", "yes") * (kind == "label")) for kind in KINDS))


def test_schema_equals_that_of_datasets():
    schema = EVERY.schema()
    features = Features.from_arrow_schema(schema)
    assert list(features) == schema.names == KINDS
    assert features.arrow_schema.types == schema.types
    assert features.arrow_schema.metadata == schema.metadata


def test_encoding_orders_columns_and_numbers_labels():
    encoded = EVERY.encode(dict(reversed(ROW.items())))
    assert list(encoded) == KINDS
    assert encoded == ROW | {"label": 1}
    assert EVERY.encode(ROW | {"label": "no"})["label"] == 0
    with pytest.raises(ValueError, match="not in tuple"):
        EVERY.encode(ROW | {"label": "maybe"})
    with pytest.raises(BuildError, match=r"'every': it lacks string; the table does not declare extra, more\."):
        EVERY.encode({name: ROW[name] for name in KINDS[1:]} | {"more": 1, "extra": 2})
