"""Parquet files whose rows are as written for pyarrow, and something else for other programs."""

from functools import partial

import pyarrow.parquet as pq
import pytest
from file_forgeries import FOOTER_KINDS
from stressreel.core.fingerprint import FILE, UnitRows, units_schema, units_writer
from stressreel.core.schema import Column, Config
from stressreel.core.shards import shard_writer
from stressreel.core.written_form import unlike_written
from thrift import change_footer
from written import write_shard, write_units

FIELDS = (Column("text", "string", ""), Column("number", "int32", ""))
KINDS = ("string", "float64", "bool", "strings", "records", "video")
CONFIG = Config("t", "", tuple(Column(kind, kind, "", fields=FIELDS if kind == "records" else ()) for kind in KINDS))
CANARY = "a canary"


def written(folder):
    """Write a shard with all kinds of columns, in several row groups."""
    path = folder / "t" / "test-00000-of-00001.parquet"
    parts = [None, [], [{"text": None, "number": 1}, {"text": "a", "number": None}]]
    shares, flags = (None, 0.0, -0.0, 1 / 3), (None, True, False)
    videos = [{"bytes": bytes([number]) * 1000, "path": f"{number}.mp4"} for number in range(40)]
    values = [
        (f"{n:04d}", shares[n % 4], flags[n % 3], [str(n)] * (n % 3), parts[n % 3], video)
        for n, video in enumerate(videos)
    ]
    write_shard(path, CONFIG, [(dict(zip(KINDS, row, strict=True)), 3_000_000) for row in values], CANARY)
    return path


def unlike(path, canary=CANARY):
    return list(unlike_written(path, CONFIG.schema(canary), partial(shard_writer, videos=CONFIG.videos)))


def test_files_that_were_written_have_their_form(tmp_path):
    path = written(tmp_path)
    assert unlike(path) == []
    assert unlike(path, "other") == ["the file differs in metadata"]
    config = Config("table", "rows", (Column("id", "string", "the row"), Column("text", "string", "a text")))
    rows = [{"id": str(number), "text": f"{number:06d}" * 60} for number in range(12_000)]  # beyond one dictionary
    write_shard(path, config, [(row, 400) for row in rows])
    assert list(unlike_written(path, config.schema(), shard_writer)) == []
    write_units(tmp_path, [UnitRows("a", "t/test", 2, "00"), UnitRows("b", "t/test", 1, "11")], CANARY)
    assert list(unlike_written(tmp_path / FILE, units_schema(CANARY), units_writer)) == []
    assert list(unlike_written(tmp_path / FILE, units_schema("other"), units_writer)) != []


@pytest.mark.parametrize("kind", FOOTER_KINDS)
def test_forged_footer_is_unlike(tmp_path, kind):
    path = written(tmp_path)
    change_footer(path, FOOTER_KINDS[kind])
    assert unlike(path)


@pytest.mark.parametrize(
    "options", [{"compression": "snappy"}, {"use_dictionary": False}, {"data_page_version": "2.0"}]
)
def test_other_encoding_is_unlike(tmp_path, options):
    path = written(tmp_path)
    pq.write_table(pq.read_table(path), path, **options)
    assert unlike(path)
