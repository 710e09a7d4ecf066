"""Rows that are passed in memory: every form gives the same rows, and what cannot be rows is refused by name."""

import datasets
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from stressreel.core.errors import InputError, UsageError
from stressreel.core.rows import rows_in_memory

IDS, ANSWERS = ["a", "b", "c"], ["yes", "no", None]
COLUMNS = {"id": IDS, "answer": ANSWERS}
ROWS = [{"id": name, "answer": answer} for name, answer in zip(IDS, ANSWERS, strict=True)]


class LikePolars:
    """Has the methods by which a frame of polars is recognised."""

    columns = ("id", "answer")
    to_dicts = staticmethod(lambda: ROWS)
    to_dict = staticmethod(lambda: pytest.fail("gives series instead of rows"))


FORMS = {
    "list": lambda: ROWS,
    "generator": lambda: iter(ROWS),
    "answers by id": lambda: dict(zip(IDS, ANSWERS, strict=True)),
    "columns": lambda: COLUMNS,
    "columns of arrays": lambda: {"id": np.array(IDS), "answer": pd.Series(ANSWERS)},
    "pandas with ids as index": lambda: pd.DataFrame(COLUMNS).set_index("id"),
    "polars": LikePolars,
    "pyarrow": lambda: pa.table(COLUMNS),
    "batch of pyarrow": lambda: pa.table(COLUMNS).to_batches()[0],
    "dataset": lambda: datasets.Dataset.from_dict(COLUMNS),
    "streamed dataset": lambda: datasets.Dataset.from_dict(COLUMNS).to_iterable_dataset(),
}


SLOW = pytest.param("streamed dataset", marks=pytest.mark.full)


@pytest.mark.parametrize("form", [*[*FORMS][:-1], SLOW])
def test_every_form_gives_the_same_rows(form):
    assert rows_in_memory(FORMS[form]()).rows == ROWS


def test_values_of_libraries_become_those_of_python():
    for missing in (None, float("nan"), np.float32("nan"), pd.NA, pd.NaT, np.datetime64("NaT")):
        assert rows_in_memory([{"id": "a", "answer": missing}]).rows == [{"id": "a", "answer": None}]
        assert rows_in_memory({"a": missing, "b": "yes"}).rows[0] == {"id": "a", "answer": None}
    frame = pd.DataFrame({"id": [1], "answer": np.array([2], np.int8), "options": [np.array(["x", "y"])]})
    (row,) = rows_in_memory(frame).rows
    assert (row, type(row["answer"])) == ({"id": 1, "answer": 2, "options": ["x", "y"]}, int)
    assert rows_in_memory({np.str_("a"): np.bool_(True)}).rows == [{"id": "a", "answer": True}]


@pytest.mark.parametrize(
    ("given", "error", "named"),
    [
        (3, UsageError, "int"),
        (b"a.jsonl", UsageError, "bytes"),
        ([{"id": "a"}, ("b", "no")], InputError, r"rows\[1\] is \('b', 'no'\)"),
        (pd.Series(["yes"]), InputError, r"rows\[0\] is 'yes'"),
        ({"id": IDS, "answer": ["yes"]}, InputError, "id 3, answer 1"),
        ({"id": IDS, "answer": "yes"}, InputError, "'answer' to 'yes'"),
        (pd.DataFrame(COLUMNS).to_dict(), InputError, "'id' to"),
        (pd.DataFrame([["a", "yes", "no"]], columns=["id", "answer", "answer"]), InputError, "DataFrame .* answer"),
        (pa.table([["a"], ["b"]], names=["id", "id"]), InputError, "Table .* id"),
        (datasets.DatasetDict({"test": datasets.Dataset.from_dict(COLUMNS)}), UsageError, "test"),
    ],
)
def test_what_cannot_be_rows_is_refused(given, error, named):
    with pytest.raises(error, match=named):
        rows_in_memory(given)
