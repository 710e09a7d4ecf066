"""Pages of Parquet files that hold more than rows and bytes let one expect."""

import io
import struct

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from stressreel.core import pages
from stressreel.core.pages import check_pages, chunks_of
from stressreel.core.shards import ShardError, read_rows


def varint(number):
    low, rest = number & 127, number >> 7
    return bytes([low | 128]) + varint(rest) if rest else bytes([low])


def numbers(*values):
    """The fields 1, 2, … of a struct of Thrift, all of them int32."""
    return b"".join(b"\x15" + varint(2 * value) for value in values)


def list_page(values):
    """A page that holds one list, of the first word of the dictionary again and again."""
    levels = [varint(2) + b"\0" + varint(2 * (values - 1)) + b"\1", varint(2 * values) + b"\3"]
    body = b"".join(struct.pack("<I", len(level)) + level for level in levels) + b"\1" + varint(2 * values) + b"\0"
    return numbers(0, len(body), len(body)) + b"\x2c" + numbers(values, 8, 3, 3) + b"\0\0" + body


def test_list_bomb_is_not_unpacked(tmp_path, in_little_memory):
    """A file of one row whose list has as many values as its page says, and another number in the footer."""
    table, path = pa.table({"n": pa.array([[7] * 100_000], pa.list_(pa.int32()))}), tmp_path / "a.parquet"
    pq.write_table(table, path, compression="none", store_schema=False, write_statistics=False)
    content, column = path.read_bytes(), pq.read_metadata(path).row_group(0).column(0)
    begin, size = column.dictionary_page_offset, column.total_compressed_size
    crafted = content[begin : column.data_page_offset] + list_page(10**9)
    footer = content[begin + size : -8].replace(b"\x16" + varint(2 * size), b"\x16" + varint(2 * len(crafted)))
    path.write_bytes(content[:begin] + crafted + footer + struct.pack("<I", len(footer)) + b"PAR1")
    assert path.stat().st_size < 1000
    for said in in_little_memory(path):
        assert "it has at least 1,000,000,001 values in 2 pages, too many for 1 rows" in said


def test_pages_beyond_row_group_are_refused(tmp_path, monkeypatch):
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"n": np.zeros(1000), "s": ["a" * 100] * 1000}), path, use_dictionary=False)
    group, chunks = pq.read_metadata(path).row_group(0), chunks_of(path)[0]
    with open(path, "rb") as file:
        check_pages(file, chunks, 1000, group.total_byte_size)
        with pytest.raises(ValueError, match="more bytes than the footer"):
            check_pages(file, chunks, 1000, 100_000)
        monkeypatch.setattr(pages, "MOST_PAGES", 1)
        with pytest.raises(ValueError, match="in 2 pages"):
            check_pages(file, chunks, 1000, group.total_byte_size)
    monkeypatch.setattr(pages, "LARGEST_FOOTER", 10)
    with pytest.raises(ShardError, match="its footer has"):
        list(read_rows(path))


@pytest.mark.parametrize(
    "content",
    [b"", b"\x15", b"\x15\xff", b"\x15" + b"\xff" * 12, b"\x19\xf9" * 9999, b"\x1c" * 9999, b"\x15\2\5\2\2\0"],
)  # fmt: skip
def test_invalid_thrift_is_refused(content):
    with pytest.raises((ValueError, LookupError)):
        pages.parse_struct(io.BytesIO(content))
