"""Fingerprints: hashes over the hashes of units."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from stressreel.records.fingerprint import (
    FILE,
    Fingerprint,
    UnitHasher,
    UnitRows,
    plain_json,
    read_units,
    recomputed,
    write_units,
)
from stressreel.records.schema import Column, Config, Row

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
