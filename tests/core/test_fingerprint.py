"""Fingerprints: hashes over the hashes of units."""

import hashlib
import json
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from stressreel.core.fingerprint import FILE, Fingerprint, UnitHasher, UnitRows, plain_json, read_units, recomputed
from stressreel.core.schema import Column, Config, Row
from written import write_units

WORDS = Config("words", "words", (Column("id", "string", "id"), Column("sha256", "string", "of the video"),
                                  Column("video", "video", "video")))  # fmt: skip
KINDS = Config(
    "kinds",
    "one column of each kind",
    (
        Column("name", "string", "a text"),
        Column("length_s", "float64", "seconds"),
        Column("kept", "bool", "yes or no"),
        Column("words", "strings", "a list"),
        Column("answer", "label", "a class", ("no", "yes")),
    ),
)
ROWS: list[Row] = [{"id": str(n), "sha256": "0" * 64, "video": f"{n}.mp4"} for n in range(6)]
MANY: list[Row] = [
    {"name": f"row {n}", "length_s": n / 7, "kept": n % 2 == 0, "words": ["é"] * (n % 3), "answer": n % 2}
    for n in range(6)
]
Table = tuple[Config, str, Sequence[Row]]


def hashed(units: dict[str, Sequence[Row]], table: str = "words/test", config: Config = WORDS) -> list[UnitRows]:
    found = []
    for name, rows in units.items():
        hasher = UnitHasher(name)
        for row in rows:
            hasher.add(table, plain_json(config, row))
        found += hasher.done()
    return found


def of_tables(*tables: Table) -> Fingerprint:
    """The fingerprint of tables whose every two rows are a unit."""
    made = Fingerprint()
    for config, split, rows in tables:
        units = {f"u{start}": rows[start : start + 2] for start in range(0, len(rows), 2)}
        for unit in hashed(units, f"{config.name}/{split}", config):
            made.add(unit)
    return made


BASE = of_tables((KINDS, "train", MANY), (WORDS, "test", ROWS[:3]))


def test_the_fingerprint_is_frozen() -> None:
    # It is published with every dataset: a change here breaks the comparison with what was built before.
    def text(value: object) -> str:
        return json.dumps(value, sort_keys=True, separators=(",", ":"))

    def sha256(content: str) -> str:
        return hashlib.sha256(content.encode()).hexdigest()

    tables = {"kinds/train": MANY, "words/test": [{n: row[n] for n in ("id", "sha256")} for row in ROWS[:3]]}
    parts = {}
    for table, rows in tables.items():
        units = [rows[start : start + 2] for start in range(0, len(rows), 2)]
        hashes = [sha256("".join(f"{text(row)}\n" for row in unit)) for unit in units]
        parts[table] = sha256("".join(f"{each}\n" for each in hashes))
    assert BASE.parts() == parts
    assert BASE.hexdigest() == sha256(text({"version": 2, "tables": parts}))


def lines(rows: Sequence[Row]) -> Iterator[str]:
    return (plain_json(WORDS, row) for row in rows)


@given(st.lists(st.integers(1, 3), min_size=1, max_size=5), st.integers(0, 14))
def test_changed_row_changes_hash_of_its_unit(sizes: list[int], changed: int) -> None:
    rows = [ROWS[0] | {"id": str(n)} for n in range(sum(sizes))]
    units: dict[str, Sequence[Row]] = {}
    for number, size in enumerate(sizes):
        start = sum(sizes[:number])
        units[f"u{number}"] = rows[start : start + size]
    stated = hashed(units)
    assert list(recomputed(stated, {"words/test": lines(rows)})) == stated
    assert all(one.rows == 0 for one in recomputed(stated, {}))  # a stranger's list may name tables that are not there
    changed %= len(rows)
    rows[changed] = rows[changed] | {"id": "x"}
    found = recomputed(stated, {"words/test": lines(rows)})
    differ = [number for number, (one, other) in enumerate(zip(stated, found, strict=True)) if one != other]
    assert len(differ) == 1
    assert sum(sizes[: differ[0]]) <= changed < sum(sizes[: differ[0] + 1])


def test_the_file_appears_whole_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("stressreel.core.fingerprint.BATCH", 1)
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
