"""Fingerprints: hashes over the hashes of units."""

import hashlib
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from stressreel.core.fingerprint import (
    FILE,
    Fingerprint,
    UnitHasher,
    UnitRows,
    plain_json,
    read_units,
    recomputed,
    write_units,
)
from stressreel.core.schema import Column, Config, Row
from stressreel.core.shards import read_rows, write_shard

WORDS = Config("words", "words", (Column("id", "string", "id"), Column("sha256", "string", "of the video"),
                                  Column("video", "video", "video")))  # fmt: skip
ROWS = [{"id": str(n), "sha256": "0" * 64, "video": f"{n}.mp4"} for n in range(6)]


def hashed(units: dict[str, list[Row]], table: str = "words/test") -> list[UnitRows]:
    found = []
    for name, rows in units.items():
        hasher = UnitHasher(name)
        for row in rows:
            hasher.add(table, plain_json(WORDS, row))
        found += hasher.done()
    return found


def fingerprint(units: list[UnitRows]) -> str:
    made = Fingerprint()
    for unit in units:
        made.add(unit)
    return made.hexdigest()


def test_video_bytes_are_not_hashed_but_their_sha256_is() -> None:
    assert plain_json(WORDS, ROWS[0]) == plain_json(WORDS, ROWS[0] | {"video": {"bytes": b"x", "path": "y"}})
    assert plain_json(WORDS, ROWS[0]) != plain_json(WORDS, ROWS[0] | {"sha256": "1" * 64})


def test_a_unit_can_be_hashed_alone() -> None:
    whole = hashed({"a": ROWS[:2], "b": ROWS[2:5], "c": ROWS[5:]})
    assert whole == hashed({"a": ROWS[:2]}) + hashed({"b": ROWS[2:5]}) + hashed({"c": ROWS[5:]})


def test_rows_order_and_units_decide() -> None:
    plain = fingerprint(hashed({"a": ROWS[:2], "b": ROWS[2:]}))
    assert fingerprint(hashed({"b": ROWS[2:], "a": ROWS[:2]})) != plain
    assert fingerprint(hashed({"a": ROWS[:2], "b": ROWS[:1:-1]})) != plain
    assert fingerprint(hashed({"a": ROWS[:1], "b": ROWS[1:]})) != plain
    assert fingerprint(hashed({"a": ROWS[:2], "b": ROWS[2:]}, "words/train")) != plain


@given(st.lists(st.integers(1, 3), min_size=1, max_size=5))
def test_the_rows_alone_give_it_again(sizes: list[int]) -> None:
    rows = [ROWS[n % 6] | {"id": str(n)} for n in range(sum(sizes))]
    units, start = {}, 0
    for number, size in enumerate(sizes):
        units[f"u{number}"] = rows[start : start + size]
        start += size
    stated = hashed(units)
    assert list(recomputed(stated, {"words/test": (WORDS, iter(rows))})) == stated


def test_a_changed_or_missing_row_shows_in_its_unit_alone() -> None:
    stated = hashed({"a": ROWS[:2], "b": ROWS[2:4], "c": ROWS[4:]})
    changed = [*ROWS[:2], ROWS[2] | {"id": "x"}, *ROWS[3:]]
    found = list(recomputed(stated, {"words/test": (WORDS, iter(changed))}))
    assert [one == other for one, other in zip(stated, found, strict=True)] == [True, False, True]
    short = list(recomputed(stated, {"words/test": (WORDS, iter(ROWS[:5]))}))
    assert short[2].rows == 1


def test_the_file_appears_whole_or_not_at_all(tmp_path: Path) -> None:
    stated = hashed({"a": ROWS[:2], "b": ROWS[2:]})

    def failing() -> Iterator[UnitRows]:
        yield stated[0]
        raise RuntimeError

    with pytest.raises(RuntimeError):
        write_units(tmp_path, failing())
    assert list(tmp_path.iterdir()) == []
    write_units(tmp_path, stated)
    assert [path.name for path in tmp_path.iterdir()] == [FILE]
    assert list(read_units(tmp_path)) == stated


KINDS = Config(
    "kinds",
    "one column of each kind",
    (
        Column("name", "string", "a text"),
        Column("count", "int32", "a number"),
        Column("length_s", "float64", "seconds"),
        Column("kept", "bool", "yes or no"),
        Column("words", "strings", "a list"),
        Column("answer", "label", "a class", ("no", "yes")),
    ),
)


def row_of_kinds(number: int) -> Row:
    values = (f"row {number}", number, number / 7, number % 2 == 0, ["é"] * (number % 3), number % 2)
    return dict(zip((column.name for column in KINDS.columns), values, strict=True))


Table = tuple[Config, str, Sequence[Row]]


def of_tables(*tables: Table) -> Fingerprint:
    """The fingerprint of tables whose every two rows are a unit."""
    made = Fingerprint()
    for config, split, rows in tables:
        for start in range(0, len(rows), 2):
            hasher = UnitHasher(f"u{start}")
            for row in rows[start : start + 2]:
                hasher.add(f"{config.name}/{split}", plain_json(config, row))
            for unit in hasher.done():
                made.add(unit)
    return made


MANY = [row_of_kinds(number) for number in range(6)]
BASE = of_tables((KINDS, "train", MANY), (WORDS, "test", ROWS[:3]))


def test_the_fingerprint_is_frozen() -> None:
    # It is published with every dataset: a change here breaks the comparison with what was built before.
    def text(value: object) -> str:
        return json.dumps(value, sort_keys=True, separators=(",", ":"))

    def sha256(content: str) -> str:
        return hashlib.sha256(content.encode()).hexdigest()

    tables = {
        "kinds/train": MANY,
        "words/test": [{name: row[name] for name in ("id", "sha256")} for row in ROWS[:3]],
    }
    parts = {}
    for table, rows in tables.items():
        units = [sha256("".join(f"{text(row)}\n" for row in rows[start : start + 2])) for start in range(0, 6, 2)]
        parts[table] = sha256("".join(f"{unit}\n" for unit in units[: (len(rows) + 1) // 2]))
    assert BASE.parts() == parts
    assert list(BASE.parts()) == ["kinds/train", "words/test"]
    assert BASE.hexdigest() == sha256(text({"version": 2, "tables": parts}))
    assert BASE.hexdigest() == "b86a2393055764595c4538ae7591289d70972c5732acec9a7f16c91f3750c5a8"


@pytest.mark.parametrize(
    "tables",
    [
        [(KINDS, "train", MANY[:5]), (WORDS, "test", ROWS[:3])],
        [(KINDS, "train", MANY[::-1]), (WORDS, "test", ROWS[:3])],
        [(KINDS, "test", MANY), (WORDS, "test", ROWS[:3])],
        [(KINDS, "train", MANY)],
        *(
            [(KINDS, "train", [MANY[0] | change, *MANY[1:]]), (WORDS, "test", ROWS[:3])]
            for change in (
                {"name": "row 1"},
                {"name": None},
                {"count": 1},
                {"length_s": 5e-324},
                {"kept": False},
                {"words": ["é"]},
                {"words": None},
                {"answer": 1},
            )
        ),
        [(KINDS, "train", MANY), (WORDS, "test", [ROWS[0] | {"sha256": "1"}, *ROWS[1:3]])],
    ],
)
def test_content_order_split_and_table_matter(tables: list[Table]) -> None:
    assert of_tables(*tables).hexdigest() != BASE.hexdigest()


def test_rows_cannot_move_from_one_table_to_another_unnoticed() -> None:
    one = of_tables((KINDS, "train", MANY[:2]), (KINDS, "test", MANY[2:4]))
    other = of_tables((KINDS, "train", MANY[:3]), (KINDS, "test", MANY[3:4]))
    assert one.hexdigest() != other.hexdigest()
    assert of_tables().hexdigest() != of_tables((KINDS, "train", MANY[:1])).hexdigest()


@pytest.mark.parametrize("size", [1, 3, 6])
@pytest.mark.parametrize("group", [1, 2, 100])
def test_borders_of_shards_and_row_groups_do_not_matter(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: int, group: int
) -> None:
    monkeypatch.setattr("stressreel.core.shards.ROW_GROUP_ROWS", group)

    def read() -> Iterator[dict[str, Any]]:
        for start in range(0, len(MANY), size):
            path = tmp_path / f"{start}.parquet"
            write_shard(path, KINDS, ((row, 1) for row in MANY[start : start + size]))
            yield from read_rows(path)

    assert of_tables((KINDS, "train", list(read())), (WORDS, "test", ROWS[:3])).hexdigest() == BASE.hexdigest()
