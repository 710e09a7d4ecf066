import re

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from stressreel.core import shards
from stressreel.core.errors import OutputError
from stressreel.core.files import atomic
from stressreel.core.schema import Column, Config
from stressreel.core.shards import ShardError, chosen_rows, read_columns_of, read_rows
from written import write_shard

TEXTS = st.text(st.characters(codec="utf-8"), max_size=5)
VALUES = {
    "string": TEXTS,
    "int32": st.integers(-(2**31), 2**31 - 1),
    "float64": st.floats(allow_nan=False, allow_infinity=False),
    "bool": st.booleans(),
    "strings": st.lists(TEXTS, max_size=3),
    "label": st.integers(0, 1),
    "video": st.fixed_dictionaries({"bytes": st.binary(), "path": TEXTS}),
}
CONFIG = Config("every", "", tuple(Column(kind, kind, "", ("no", "yes") * (kind == "label")) for kind in VALUES))


def rows(count):
    videos = [{"bytes": bytes([n % 256]) * 1000, "path": f"{n}.mp4"} for n in range(count)]
    values = [(f"row {n}", n, n / 7, n % 2 == 0, ["é"] * (n % 3), n % 2, video) for n, video in enumerate(videos)]
    return [dict(zip(VALUES, each, strict=True)) for each in values]


def write(path, rows, size=100):
    write_shard(path, CONFIG, ((row, size) for row in rows))
    return path


# Writing and reading


@settings(derandomize=True, deadline=None, max_examples=60)
@given(st.lists(st.fixed_dictionaries({name: st.none() | value for name, value in VALUES.items()}), max_size=8))
def test_rows_round_trip(tmp_path_factory, rows):
    path = tmp_path_factory.getbasetemp() / "any.parquet"
    assert list(read_rows(write(path, rows))) == rows


@pytest.mark.parametrize(
    ("count", "size", "expected"),
    [(10, 25, [4, 4, 2]), (8, 25, [4, 4]), (3, 1000, [1, 1, 1]), (14, 1, [6, 6, 2])],
)
def test_row_groups_are_bounded(tmp_path, monkeypatch, count, size, expected):
    monkeypatch.setattr(shards, "ROW_GROUP_BYTES", 100)
    monkeypatch.setattr(shards, "ROW_GROUP_ROWS", 6)
    path = write(tmp_path / "a.parquet", rows(count), size)
    about = pq.read_metadata(path)
    assert [about.row_group(index).num_rows for index in range(about.num_row_groups)] == expected
    assert list(read_rows(path)) == rows(count)


def test_videos_are_stored_uncompressed(tmp_path):
    group = pq.read_metadata(write(tmp_path / "a.parquet", rows(50))).row_group(0)
    columns = {group.column(i).path_in_schema: group.column(i) for i in range(group.num_columns)}
    assert {"video.bytes", "video.path", "strings.list.element"} < set(columns)
    for name, column in columns.items():
        video = name.startswith("video.")
        assert column.compression == ("UNCOMPRESSED" if video else "ZSTD"), name
        if column.physical_type != "BOOLEAN":
            assert ("RLE_DICTIONARY" in column.encodings) is not video, name


def test_failing_row_and_full_disk_keep_old_shard(tmp_path):
    path = write(tmp_path / "a.parquet", rows(2))

    def failing():
        yield rows(1)[0], shards.ROW_GROUP_BYTES
        raise ValueError("bad row")

    with pytest.raises(ValueError, match="bad row"):
        write_shard(path, CONFIG, failing())
    with pytest.raises(ValueError, match="name known"), atomic(path) as temporary:
        raise ValueError("name known")
    temporary.symlink_to("/dev/full")
    with pytest.raises(OutputError, match=f"^no space left while writing {re.escape(str(path))}"):
        write(path, rows(2000))
    assert list(read_rows(path)) == rows(2)
    assert [entry.name for entry in tmp_path.iterdir()] == ["a.parquet"]


# Files that claim too much


@pytest.mark.parametrize("kind", ["text", *(pytest.param(kind, marks=pytest.mark.full) for kind in ("list", "bytes"))])
def test_dictionary_bombs_are_refused(tmp_path, kind, in_little_memory):
    """Of files of a few kB whose texts, texts in lists or bytes are 3 GB, each the same."""
    path, count = tmp_path / "bomb.parquet", 3000
    once = pa.array([b"x" * 1_000_000 if kind == "bytes" else "x" * 1_000_000])
    texts = pa.DictionaryArray.from_arrays(pa.array([0] * count, pa.int32()), once)
    if kind == "list":
        texts = pa.ListArray.from_arrays(pa.array(range(count + 1), pa.int32()), texts)
    table = pa.table({"id": [str(number) for number in range(count)], "answer": texts})
    pq.write_table(table, path, compression="zstd", store_schema=False)
    assert path.stat().st_size < 30_000
    assert all("uncompressed size is implausible" in said for said in in_little_memory(path))


@pytest.mark.parametrize(("count", "groups", "fits"), [(300, 1, True), (30, 10, True), (300, 3, False)])
def test_row_groups_share_memory_limit(tmp_path, count, groups, fits):
    path, text = tmp_path / "a.parquet", "x" * 100_000  # 32 MB may be unpacked
    shared = pa.DictionaryArray.from_arrays(pa.array([0] * count, pa.int32()), pa.array([text]))
    table = pa.concat_tables([pa.table({"answer": shared})] * groups)
    pq.write_table(table, path, row_group_size=count, compression="zstd")
    for read in (read_rows(path), chosen_rows([path], "answer", {text})):
        if fits:
            assert sum(1 for _ in read) == count * groups
        else:
            with pytest.raises(ShardError, match="uncompressed size is implausible"):
                list(read)


def test_implausible_sizes_are_refused(tmp_path):
    path = tmp_path / "a.parquet"
    for values, words in (
        (np.zeros(100_000, np.int64), "states 100,000 rows .* which is implausible"),
        (["x" * 9_000_000] * 13, "states 13 rows .* which is implausible"),
        (["x" * 11_000_000], "more than 10,000,000"),
    ):
        pq.write_table(pa.table({"n": values}), path, compression="zstd", use_dictionary=len(values) == 1)
        with pytest.raises(ShardError, match=words):
            list(read_rows(path))


def test_packed_texts_round_trip(tmp_path, monkeypatch):
    rows = [
        {"w": ["a", None, "b"], "r": [{"x": "a", "n": 1}, None], "v": {"bytes": b"1", "path": "p"}, "s": "q", "n": 1},
        {"w": None, "r": [], "v": None, "s": None, "n": None},
        {"w": [], "r": None, "v": {"bytes": None, "path": None}, "s": "q", "n": 3},
    ] * 5
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "a.parquet", row_group_size=4)
    assert list(read_rows(tmp_path / "a.parquet")) == rows
    monkeypatch.setattr(shards, "ROW_GROUP_BYTES", -1)
    monkeypatch.setattr(shards, "BATCH_BYTES", 1000)
    assert list(read_rows(tmp_path / "a.parquet")) == rows
    assert read_columns_of(tmp_path / "a.parquet", ["r"]) == {"r": [row["r"] for row in rows]}
