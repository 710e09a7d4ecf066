"""The real commands, run as a user runs them, and what they leave."""

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

START = "import sys; sys.argv[0] = {name!r}; from stressreel.cli.main import {function}; {function}()"
FUNCTIONS = {
    "build-clavi": "build",
    "build-perturbed": "build",
    "build-causal": "build",
    "stressreel": "main",
}


@dataclass(frozen=True)
class Ran:
    code: int
    out: str
    err: str


def start(name: str, *arguments: object, **options: object) -> subprocess.Popen[str]:
    code = START.format(name=name, function=FUNCTIONS[name])
    command = [sys.executable, "-c", code, *map(str, arguments)]
    return subprocess.Popen(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options)


def run(name: str, *arguments: object, **options: object) -> Ran:
    process = start(name, *arguments, **options)
    out, err = process.communicate(timeout=240)
    assert "Traceback" not in err, err
    return Ran(process.returncode, out, err)


def refuses(done: Ran, *parts: str, code: int = 1) -> None:
    """The command failed with this code, and said these parts."""
    assert done.code == code, done
    for part in parts:
        assert part in done.err


def info(out: Path) -> dict[str, Any]:
    """`build.json` of an output."""
    return json.loads((out / "build.json").read_text())


def rows(out: Path, table: str, split: str = "*") -> list[dict[str, Any]]:
    """Rows of a table of an output, in order."""
    return [row for path in sorted((out / table).glob(f"{split}-*.parquet")) for row in pq.read_table(path).to_pylist()]
