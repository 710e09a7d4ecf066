"""The commands, run as a user runs them, and what they leave."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import chdir, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Any
from unittest.mock import patch

import pyarrow.parquet as pq
from stressreel.cli.main import execute

START = "import sys; sys.argv[0] = {name!r}; from stressreel.cli.main import {function}; {function}()"
TEXT_FILE = partial(TemporaryFile, "w+", encoding="utf-8", newline="")
STARTED: list[subprocess.Popen[str]] = []


@dataclass(frozen=True)
class Ran:
    code: int
    out: str
    err: str


def run(name: str, *arguments: object, cwd: Path | None = None, env: Mapping[str, str] | None = None) -> Ran:
    """Run a command in this process; `env` is the whole environment. What it and its workers print is captured."""
    environment = patch.dict(os.environ, os.environ.copy() if env is None else env, clear=True)
    with chdir(cwd or "."), environment, TEXT_FILE() as out, TEXT_FILE() as err:
        with _captured("stdout", 1, out), _captured("stderr", 2, err):
            code = execute(name, [str(each) for each in arguments])
        out.seek(0)
        err.seek(0)
        return _checked(code, out.read(), err.read())


@contextmanager
def _captured(name: str, descriptor: int, file: IO[str]) -> Iterator[None]:
    """Send `sys.stdout` or `sys.stderr`, and its descriptor, which worker processes write to, to a file."""
    before, kept = getattr(sys, name), os.dup(descriptor)
    before.flush()
    os.dup2(file.fileno(), descriptor)
    try:
        with open(descriptor, "w", encoding="utf-8", closefd=False) as stream, patch.object(sys, name, stream):
            yield
    finally:
        os.dup2(kept, descriptor)
        os.close(kept)


def _checked(code: int, out: str, err: str) -> Ran:
    assert "Traceback" not in err, err
    assert "This is a fault in stressreel" not in err, err
    return Ran(code, out, err)


def run_process(name: str, *arguments: object, **options: Any) -> Ran:
    process = start(name, *arguments, **options)
    out, err = process.communicate()
    return _checked(process.returncode, out, err)


def start(name: str, *arguments: object, **options: Any) -> subprocess.Popen[str]:
    code = START.format(name=name, function="main" if name == "stressreel" else "build")
    return start_python(code, *arguments, **options)


def start_python(code: str, *arguments: object, **options: Any) -> subprocess.Popen[str]:
    """Start Python code in a process that ends with its test at the latest."""
    command = [sys.executable, "-c", code, *map(str, arguments)]
    process = subprocess.Popen(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options)
    STARTED.append(process)
    return process


def wait_until(event: Callable[[], object], process: subprocess.Popen[str]) -> None:
    """Wait for something that a process does: as long as it runs, and a test may take."""
    while not event():
        assert process.poll() is None or event(), process.communicate()
        time.sleep(0.01)


def end_started() -> None:
    """Kill what a test that failed left running."""
    while STARTED:
        process = STARTED.pop()
        if process.returncode is None:
            process.kill()
            process.communicate()


def refuses(done: Ran, *parts: str, code: int = 1) -> None:
    assert done.code == code, done
    for part in parts:
        assert part in done.err


def succeed(name: str, *arguments: object, **options: Any) -> Ran:
    """Run a command that must exit with 0."""
    done = run(name, *arguments, **options)
    assert done.code == 0, done.err
    return done


def run_json(name: str, *arguments: object) -> Any:
    """Run a command that must exit with 0 and is given `--json`, and return what it prints."""
    return json.loads(succeed(name, *arguments, *(() if "--json" in arguments else ("--json",))).out)


def score_json(out: Path, predictions: Path, *options: str) -> dict[str, Any]:
    """Score predictions, and return what `stressreel score --json` prints."""
    scores: dict[str, Any] = run_json(
        "stressreel", "score", out, "--predictions", predictions, *options, "--resamples", 100
    )
    return scores


def info(out: Path) -> dict[str, Any]:
    return json.loads((out / "build.json").read_text())


def rows(out: Path, table: str, split: str = "*") -> list[dict[str, Any]]:
    return [row for path in sorted((out / table).glob(f"{split}-*.parquet")) for row in pq.read_table(path).to_pylist()]
