"""A short run of the harness, and what it detects."""

import base64
import json
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import click
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from mutations import PORT, boxes, mutate
from stressreel.cli.main import stressreel

if not sys.platform.startswith("linux"):
    pytest.skip("the harness limits memory as Linux does", allow_module_level=True)

from run import TEXT, guard, in_child, limit, listing, tells
from targets import targets

RUN = Path(__file__).with_name("run.py")


@pytest.mark.full
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("options", [("--quick", "--mutations", "300"), ("--mutations", "100")])
def test_damaged_files_are_read_or_refused(tmp_path: Path, options: tuple[str, ...]) -> None:
    command = [sys.executable, RUN, *options, "--seed", "12", "--keep", tmp_path]
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"0 findings in {options[-1]} cases" in done.stdout


def test_every_command_that_reads_an_output_is_a_target() -> None:
    context = click.Context(stressreel)
    commands = {name: stressreel.get_command(context, name) for name in stressreel.list_commands(context)}
    reading = {
        name for name, command in commands.items() if {"OUT", "A"} & {one.human_readable_name for one in command.params}
    }
    covered = {target.line.split()[1] for target in targets()} | {"probe", "sign"}  # which need a model, or a key
    assert reading <= covered
    assert len(targets()) > len(targets(quick=True)) > 40


def test_mutations_change_files_and_are_repeated_by_their_seed() -> None:
    table = pa.table({"a": ["x", "y"], "b": [1, 2], "c": [[1], []]})
    pq.write_table(table, target := pa.BufferOutputStream())
    for content in (
        json.dumps({"a": [1, 2], "b": {"c": "d"}}).encode(),
        b"a,b,c\n1,2,3\n",
        target.getvalue().to_pybytes(),
    ):
        found = {mutate(content, np.random.default_rng(seed)) for seed in range(100)}
        assert len(found) > 60
        assert found == {mutate(content, np.random.default_rng(seed)) for seed in range(100)}


def test_the_boxes_of_a_video_are_found() -> None:
    inner = (8 + 4).to_bytes(4, "big") + b"tkhdabcd"
    content = (8 + len(inner)).to_bytes(4, "big") + b"moov" + inner + (12).to_bytes(4, "big") + b"free1234"
    assert [(name, content[start:end]) for name, start, end in boxes(content)] == [(b"tkhd", b"abcd")]


def _raise() -> str:
    raise KeyError("unknown")


def _exhaust() -> str:
    limit()
    return str(len(bytearray(3 * 2**30)))


def _end() -> str:
    os.kill(os.getpid(), signal.SIGKILL)
    return ""


def _loop() -> str:
    limit()
    signal.setitimer(signal.ITIMER_PROF, 0.1)
    while True:
        pass


def test_faults_of_a_child_are_found() -> None:
    outcomes = [in_child(work) for work in (_raise, _exhaust, _loop, _end, lambda: "read")]
    wanted = ("KeyError: 'unknown'", "MemoryError", "killed by SIGPROF", "killed by SIGKILL", "read")
    assert all(each in outcome for each, outcome in zip(wanted, outcomes, strict=True)), outcomes


def test_changed_files_are_seen(tmp_path: Path) -> None:
    for name in ("changed", "gone", "same", "touched", "without"):
        (tmp_path / name).write_text("1")
    before = listing(tmp_path, tmp_path / "without")
    for name in ("changed", "without"):
        (tmp_path / name).write_text("2")
    (tmp_path / "gone").unlink()
    (tmp_path / "new").symlink_to("nowhere")
    os.utime(tmp_path / "touched", ns=(1, 1))
    after = listing(tmp_path, tmp_path / "without")
    changed = {Path(name).name for name in {*before, *after} if before.get(name) != after.get(name)}
    assert changed == {"changed", "gone", "new", "touched"}


def test_the_secret_is_recognised() -> None:
    assert all(tells(content) for content in (b"x" + TEXT, *(base64.b64encode(b"x" * n + TEXT) for n in range(3))))
    assert not tells(b"x" * 1000)


def test_connections_are_refused() -> None:
    def work() -> str:
        guard()
        with socket.socket() as one:
            one.connect(("127.0.0.1", PORT))
        return "read"

    assert "connects to" in in_child(work)
