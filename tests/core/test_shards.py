from __future__ import annotations

import hashlib
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from stressreel.core import shards
from stressreel.core.errors import OutputError
from stressreel.core.files import atomic
from stressreel.core.schema import Column, Config, Row
from stressreel.core.shards import (
    LEAST_UNPACKED,
    ShardError,
    ShardWriter,
    chosen_rows,
    part_path,
    read_columns_of,
    read_rows,
    shard_path,
    write_shard,
)

WORDS = Config(
    "words",
    "texts and numbers",
    (
        Column("name", "string", "a text"),
        Column("count", "int32", "a number"),
        Column("length_s", "float64", "seconds"),
        Column("kept", "bool", "yes or no"),
        Column("words", "strings", "a list"),
        Column("answer", "label", "a class", ("no", "yes")),
    ),
    default=True,
)
CLIPS = Config(
    "clips",
    "files",
    (
        Column("name", "string", "a text"),
        Column("words", "strings", "a list"),
        Column("sha256", "string", "of the file"),
        Column("clip", "video", "a file"),
    ),
)
ROWS = st.fixed_dictionaries(
    {
        "name": st.none() | st.text(st.characters(codec="utf-8")),
        "count": st.none() | st.integers(-(2**31), 2**31 - 1),
        "length_s": st.none() | st.floats(allow_nan=False, allow_infinity=False),
        "kept": st.none() | st.booleans(),
        "words": st.none() | st.lists(st.text(st.characters(codec="utf-8"), max_size=5), max_size=3),
        "answer": st.none() | st.integers(0, 1),
    }
)


def words(count: int) -> list[Row]:
    return [
        {
            "name": f"row {number}",
            "count": number,
            "length_s": number / 7,
            "kept": number % 2 == 0,
            "words": ["é"] * (number % 3),
            "answer": number % 2,
        }
        for number in range(count)
    ]


def clips(count: int) -> list[Row]:
    contents = [bytes([number % 256]) * 1000 for number in range(count)]
    return [
        {
            "name": f"row {number}",
            "words": ["same"] * 3,
            "sha256": hashlib.sha256(content).hexdigest(),
            "clip": {"bytes": content, "path": f"{number}.mp4"},
        }
        for number, content in enumerate(contents)
    ]


def write(path: Path, config: Config, rows: Sequence[Row], size: int = 100) -> Path:
    write_shard(path, config, ((row, size) for row in rows))
    return path


def groups(path: Path) -> list[int]:
    metadata = pq.read_metadata(path)
    return [metadata.row_group(index).num_rows for index in range(metadata.num_row_groups)]


# Writing and reading


@pytest.mark.parametrize(("config", "rows"), [(WORDS, words(25)), (CLIPS, clips(25))], ids=["words", "clips"])
def test_what_was_written_is_read(tmp_path: Path, config: Config, rows: list[Row]) -> None:
    path = write(tmp_path / "new" / "train.parquet", config, rows)
    assert list(read_rows(path)) == rows
    assert [entry.name for entry in path.parent.iterdir()] == ["train.parquet"]
    schema = pq.read_schema(path)
    assert schema.equals(config.schema())
    assert schema.metadata[b"huggingface"] == config.schema().metadata[b"huggingface"]


@settings(derandomize=True, deadline=None, max_examples=60)
@given(st.lists(ROWS, max_size=8))
def test_any_row_is_read_as_it_was_written(tmp_path_factory: pytest.TempPathFactory, rows: list[Row]) -> None:
    path = tmp_path_factory.getbasetemp() / "any.parquet"
    assert list(read_rows(write(path, WORDS, rows))) == rows


def test_columns_can_be_chosen(tmp_path: Path) -> None:
    path = write(tmp_path / "a.parquet", WORDS, words(3))
    assert list(read_rows(path, ["count", "words"])) == [
        {"count": row["count"], "words": row["words"]} for row in words(3)
    ]


def test_a_shard_without_rows_has_the_schema(tmp_path: Path) -> None:
    path = write(tmp_path / "a.parquet", WORDS, [])
    assert list(read_rows(path)) == []
    assert pq.read_schema(path).equals(WORDS.schema())


@pytest.mark.parametrize(
    ("count", "size", "expected"),
    [(10, 25, [4, 4, 2]), (8, 25, [4, 4]), (3, 100, [1, 1, 1]), (3, 1000, [1, 1, 1]), (14, 1, [6, 6, 2]), (6, 1, [6])],
)
def test_a_row_group_closes_at_so_many_bytes_or_rows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, count: int, size: int, expected: list[int]
) -> None:
    monkeypatch.setattr(shards, "ROW_GROUP_BYTES", 100)
    monkeypatch.setattr(shards, "ROW_GROUP_ROWS", 6)
    path = write(tmp_path / "a.parquet", WORDS, words(count), size)
    assert groups(path) == expected
    assert list(read_rows(path)) == words(count)


def test_rows_are_taken_and_given_one_group_at_a_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shards, "ROW_GROUP_ROWS", 2)
    written: list[int] = []
    write_table = pq.ParquetWriter.write_table
    taken = 0

    def rows() -> Iterator[tuple[Row, int]]:
        nonlocal taken
        for row in words(6):
            taken += 1
            yield row, 1

    def noted(self: Any, table: Any, *arguments: Any, **more: Any) -> None:
        written.append(taken)
        write_table(self, table, *arguments, **more)

    monkeypatch.setattr(pq.ParquetWriter, "write_table", noted)
    write_shard(tmp_path / "a.parquet", WORDS, rows())
    assert written == [2, 4, 6]


def test_videos_are_stored_plain_and_all_else_compressed(tmp_path: Path) -> None:
    for config, rows in ((WORDS, words(50)), (CLIPS, clips(50))):
        group = pq.read_metadata(write(tmp_path / "a.parquet", config, rows)).row_group(0)
        columns = {group.column(i).path_in_schema: group.column(i) for i in range(group.num_columns)}
        for name, column in columns.items():
            video = name.startswith("clip.")
            assert column.compression == ("UNCOMPRESSED" if video else "ZSTD"), name
            if column.physical_type != "BOOLEAN":
                assert ("RLE_DICTIONARY" in column.encodings) is not video, name
        if config is CLIPS:
            assert {"clip.bytes", "clip.path", "words.list.element"} < set(columns)


def test_every_column_has_a_page_index_and_the_bytes_are_the_same_again(tmp_path: Path) -> None:
    for config, rows in ((WORDS, words(50)), (CLIPS, clips(50))):
        paths = [write(tmp_path / name, config, rows) for name in ("a.parquet", "b.parquet")]
        assert paths[0].read_bytes() == paths[1].read_bytes()
        group = pq.read_metadata(paths[0]).row_group(0)
        assert [
            group.column(i).path_in_schema for i in range(group.num_columns) if not group.column(i).has_offset_index
        ] == []


def test_a_failing_row_leaves_the_old_shard_and_nothing_else(tmp_path: Path) -> None:
    path = write(tmp_path / "a.parquet", WORDS, words(2))

    def failing() -> Iterator[tuple[Row, int]]:
        yield words(1)[0], shards.ROW_GROUP_BYTES
        raise ValueError("bad row")

    with pytest.raises(ValueError, match="bad row"):
        write_shard(path, WORDS, failing())
    assert list(read_rows(path)) == words(2)
    assert [entry.name for entry in tmp_path.iterdir()] == ["a.parquet"]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
def test_a_full_disk_is_told_and_the_old_shard_stays(tmp_path: Path) -> None:
    path = write(tmp_path / "a.parquet", WORDS, words(2))
    with pytest.raises(ValueError, match="name known"), atomic(path) as temporary:
        raise ValueError("name known")
    temporary.symlink_to("/dev/full")
    with pytest.raises(OutputError, match=f"^no space left while writing {re.escape(str(path))}"):
        write(path, CLIPS, clips(2000))
    assert list(read_rows(path)) == words(2)
    assert [entry.name for entry in tmp_path.iterdir()] == ["a.parquet"]


def test_an_error_of_the_writer_without_a_number_is_told_as_well(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*arguments: Any, **more: Any) -> None:
        raise OSError("in words")

    path = tmp_path / "a.parquet"
    monkeypatch.setattr(pq.ParquetWriter, "write_table", refuse)
    with pytest.raises(OutputError, match=f"^cannot write {re.escape(str(path))}: in words. Give an --out folder"):
        write(path, WORDS, words(2))
    assert list(tmp_path.iterdir()) == []


# Names of shards, and writing them bit by bit


def test_shards_are_named_as_on_the_hub() -> None:
    assert shard_path("videos", "test", 3, 12) == "videos/test-00003-of-00012.parquet"
    assert shard_path("videos", "test", 99999, 100000) == "videos/test-99999-of-100000.parquet"
    assert part_path("videos", "test", 3) == "videos/test-00003.part"


def test_a_shard_has_its_name_when_it_is_finished(tmp_path: Path) -> None:
    writer = ShardWriter(tmp_path / "new" / "a.parquet", WORDS)
    for row in words(3):
        writer.add(row, 10)
    assert (writer.rows, writer.bytes, writer.held_bytes) == (3, 30, 30)
    writer.flush()
    assert (writer.rows, writer.bytes, writer.held_bytes) == (3, 30, 0)
    assert not writer.path.exists()
    writer.close()
    assert [entry.name for entry in writer.path.parent.iterdir()] == ["a.parquet"]
    assert list(read_rows(writer.path)) == words(3)


def test_a_shard_that_is_abandoned_leaves_nothing(tmp_path: Path) -> None:
    writer = ShardWriter(tmp_path / "a.parquet", WORDS)
    writer.add(words(1)[0], shards.ROW_GROUP_BYTES)
    writer.abandon()
    assert list(tmp_path.iterdir()) == []


LIMIT = 2_000_000_000
READ = """
import resource, sys
resource.setrlimit(resource.RLIMIT_AS, ({limit}, {limit}))
from pathlib import Path
from stressreel.core.errors import InputError
{read}
"""


def in_little_memory(read: str) -> subprocess.CompletedProcess[str]:
    """Run code in a process of its own that may have 2 GB."""
    code = READ.format(limit=LIMIT, read=read)
    environment = {
        **os.environ,
        "OMP_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
        "ARROW_DEFAULT_MEMORY_POOL": "system",
    }
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, env=environment)


def bombs(path: Path, kind: str, rows: int = 3000) -> Path:
    """Write a file of a few kB whose texts, texts in lists or bytes are 3 GB, each the same."""
    once: pa.Array = pa.array([b"x" * 1_000_000 if kind == "bytes" else "x" * 1_000_000])
    texts: pa.Array = pa.DictionaryArray.from_arrays(pa.array([0] * rows, pa.int32()), once)
    if kind == "list":
        texts = pa.ListArray.from_arrays(pa.array(range(rows + 1), pa.int32()), texts)
    table = pa.table({"id": [str(number) for number in range(rows)], "answer": texts})
    pq.write_table(table, path, compression="zstd", store_schema=False)
    assert path.stat().st_size < 30_000
    return path


@pytest.mark.parametrize("kind", ["text", "list", "bytes"])
def test_a_few_bytes_do_not_fill_the_memory(tmp_path: Path, kind: str) -> None:
    path = bombs(tmp_path / "bomb.parquet", kind)
    for read in ("sum(1 for _ in read_rows(path))", "read_columns_of(path, ['id', 'answer'])", "measure(path)"):
        done = in_little_memory(
            "from stressreel.core.shards import read_rows, read_columns_of, measure, ShardError\n"
            f"path = Path({str(path)!r})\ntry: {read}\nexcept ShardError as error: print(error)"
        )
        assert "unpacks to more" in done.stdout, done.stderr


def test_the_row_groups_of_a_few_bytes_share_their_room(tmp_path: Path) -> None:
    for rows, groups in ((300, 1), (300, 3), (30, 10)):
        path = tmp_path / f"{groups}.parquet"
        shared = pa.DictionaryArray.from_arrays(pa.array([0] * rows, pa.int32()), pa.array(["x" * 100_000]))
        with pq.ParquetWriter(path, pa.schema([("answer", shared.type)]), compression="zstd") as file:
            for _ in range(groups):
                file.write_table(pa.table({"answer": shared}))
        if rows * groups * 100_000 <= LEAST_UNPACKED:
            assert sum(1 for _ in read_rows(path)) == sum(1 for _ in read_rows(path)) == rows * groups
            assert sum(1 for _ in chosen_rows([path], "answer", {"x" * 100_000})) == rows * groups
        else:
            with pytest.raises(ShardError, match="unpacks to more"):
                list(read_rows(path))


@pytest.mark.parametrize("kind", ["text", "list"])
def test_predictions_of_a_few_bytes_do_not_fill_the_memory(tmp_path: Path, kind: str) -> None:
    path = bombs(tmp_path / "bomb.parquet", kind)
    done = in_little_memory(
        "from stressreel.evaluation.metrics.predictions import read_predictions\n"
        f"print(len(read_predictions(Path({str(path)!r})).rows))"
    )
    assert done.stdout == "3000\n", done.stderr


def test_what_a_file_claims_is_held_against_its_size(tmp_path: Path) -> None:
    many = pa.table({"n": pa.array(np.zeros(900_000, np.int64))})
    pq.write_table(many, tmp_path / "rows.parquet", row_group_size=900_000)
    zeros = pa.table({"text": ["x" * 9_000_000] * 30})
    pq.write_table(zeros, tmp_path / "zeros.parquet", compression="zstd", use_dictionary=False)
    for name in ("rows", "zeros"):
        with pytest.raises(ShardError, match="more than can be packed"):
            read_columns_of(tmp_path / f"{name}.parquet", ["n"])
    long = pa.table({"text": ["x" * 11_000_000]})
    pq.write_table(long, tmp_path / "long.parquet")
    with pytest.raises(ShardError, match="more than 10,000,000"):
        list(read_rows(tmp_path / "long.parquet"))


def test_texts_that_stay_packed_are_what_they_were(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [
        {"w": ["a", None, "b"], "r": [{"x": "a", "n": 1}, None], "v": {"bytes": b"1", "path": "p"}, "s": "q", "n": 1},
        {"w": None, "r": [], "v": None, "s": None, "n": None},
        {"w": [], "r": None, "v": {"bytes": None, "path": None}, "s": "q", "n": 3},
    ] * 5
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "a.parquet", row_group_size=4)
    assert list(read_rows(tmp_path / "a.parquet")) == rows
    monkeypatch.setattr("stressreel.core.shards.ROW_GROUP_BYTES", -1)
    monkeypatch.setattr("stressreel.core.shards.BATCH_BYTES", 1000)
    assert list(read_rows(tmp_path / "a.parquet")) == rows
    assert read_columns_of(tmp_path / "a.parquet", ["r"]) == {"r": [row["r"] for row in rows]}
