"""A short run of the harness, and what its mutations are."""

import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from mutations import BYTES, csv_field, json_value, mutate

RUN = Path(__file__).parent / "run.py"


@pytest.mark.full
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the harness limits memory as Linux does")
def test_damaged_files_are_read_or_refused(tmp_path: Path) -> None:
    command = [sys.executable, RUN, "--mutations", "300", "--seed", "12", "--keep", tmp_path, "--quick"]
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    found = re.search(r"^0 findings in (\d+)", done.stdout, re.MULTILINE)
    assert found, done.stdout
    assert int(found[1]) > 250  # shares of the readers, rounded


def test_mutations_change_files_and_are_repeated_by_their_seed() -> None:
    text = json.dumps({"a": [1, 2], "b": {"c": "d"}}).encode()
    found = {mutate(text, "json", np.random.default_rng(seed)) for seed in range(200)}
    assert len(found) > 150
    assert found == {mutate(text, "json", np.random.default_rng(seed)) for seed in range(200)}


def test_each_kind_of_mutation_does_something() -> None:
    rng = np.random.default_rng(0)
    for change in BYTES:
        assert any(change(b"0123456789" * 10, rng) != b"0123456789" * 10 for _ in range(5))
    assert any(b"c" in csv_field(b"a,b\n1,2\n", rng) or csv_field(b"a,b\n1,2\n", rng) for _ in range(5))
    changed = {json_value(b'{"a": 1}\n{"a": 2}\n', rng) for _ in range(20)}
    assert len(changed) > 10
    assert any(line in text for text in changed for line in (b'{"a": 1}', b'{"a": 2}'))  # one line stays


def test_a_fault_is_found(tmp_path: Path) -> None:
    """The harness sees exceptions of other types, killed processes, exhausted memory and endless loops."""
    script = f"""
import sys; sys.path[:0] = [{str(RUN.parent)!r}]
import os, pathlib, run, readers
run.SECONDS = 0.5
(pathlib.Path({str(tmp_path)!r}) / "x").mkdir()
(pathlib.Path({str(tmp_path)!r}) / "x" / "f").write_text("good")
def read(folder):
    text = (folder / "f").read_bytes()
    if text == b"good": return
    kind = len(text) % 4
    if kind == 0: raise KeyError("unknown")
    if kind == 1: os.abort()
    if kind == 2: bytearray(3 * 2**30)
    while True: pass
tally = run.fuzz(readers.Reader("x", {{"f": "bytes"}}, read), pathlib.Path({str(tmp_path)!r}), 0, list(range(12)))
kinds = {{run.last_line(text) for text in tally.findings.values()}}
print(len(tally.findings), sorted(kinds))
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    found, _, kinds = done.stdout.partition(" ")
    assert int(found) >= 10, done  # now and then a mutation changes nothing
    for kind in ("KeyError: 'unknown'", "killed by SIGABRT", "MemoryError", "killed by SIGPROF"):
        assert kind in kinds
