"""Fingerprints: hashes over the hashes of units."""

import hashlib
import json
from itertools import accumulate

from hypothesis import given
from hypothesis import strategies as st
from stressreel.core.fingerprint import Fingerprint, UnitHasher, plain_json, recomputed
from stressreel.core.schema import Column, Config

WORDS = Config("words", "words", (Column("id", "string", "id"), Column("sha256", "string", "of the video"),
                                  Column("video", "video", "video")))  # fmt: skip
ROWS = [{"id": f"é{n}", "sha256": "0" * 64, "video": f"{n}.mp4"} for n in range(6)]


def hashed(*units, table="words/test"):
    found = []
    for number, rows in enumerate(units):
        hasher = UnitHasher(f"u{number}")
        for row in rows:
            hasher.add(table, plain_json(WORDS, row))
        found += hasher.done()
    return found


def test_the_fingerprint_is_frozen():
    # It is published with every dataset: a change here breaks the comparison with what was built before.
    def sha256(content):
        return hashlib.sha256(content.encode()).hexdigest()

    fingerprint, parts = Fingerprint(), {}
    for table, units in {"words/train": (ROWS[:2], ROWS[2:]), "words/test": (ROWS[:1],)}.items():
        for unit in hashed(*units, table=table):
            fingerprint.add(unit)
        texts = ["".join(f'{{"id":"\\u00e9{row["id"][1]}","sha256":"{"0" * 64}"}}\n' for row in rows) for rows in units]
        parts[table] = sha256("".join(f"{sha256(text)}\n" for text in texts))
    assert fingerprint.parts() == parts
    stated = json.dumps({"tables": parts, "version": 2}, sort_keys=True, separators=(",", ":"))
    assert fingerprint.hexdigest() == sha256(stated)


def lines(rows):
    return (plain_json(WORDS, row) for row in rows)


@given(st.lists(st.integers(1, 3), min_size=1, max_size=5), st.integers(0, 14))
def test_changed_row_changes_hash_of_its_unit(sizes, changed):
    rows = [ROWS[0] | {"id": str(n)} for n in range(sum(sizes))]
    ends = list(accumulate(sizes))
    stated = hashed(*(rows[end - size : end] for end, size in zip(ends, sizes, strict=True)))
    assert list(recomputed(stated, {"words/test": lines(rows)})) == stated
    assert all(one.rows == 0 for one in recomputed(stated, {}))  # a stranger's list may name tables that are not there
    changed %= len(rows)
    rows[changed] = rows[changed] | {"id": "x"}
    found = recomputed(stated, {"words/test": lines(rows)})
    differ = [number for number, (one, other) in enumerate(zip(stated, found, strict=True)) if one != other]
    assert differ == [next(number for number, end in enumerate(ends) if changed < end)]
