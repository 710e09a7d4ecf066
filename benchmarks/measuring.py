"""Measure the CPU time, wall time and memory of `stressreel` commands for the benchmarks."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Mapping

START = "from stressreel.cli.main import main; main()"


def command(*arguments: object) -> tuple[float, float, float]:
    """Run a `stressreel` command, and return its CPU seconds, wall seconds and peak memory in MB.

    CPU seconds include worker processes. Peak memory is that of the largest process.
    """
    began = time.perf_counter()
    process = subprocess.Popen([sys.executable, "-c", START, *map(str, arguments)], stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{arguments} failed")
    return usage.ru_utime + usage.ru_stime, time.perf_counter() - began, usage.ru_maxrss / 1024


def again(script: str, *job: object, environment: Mapping[str, str] | None = None) -> str:
    """Run `script job JSON` in a new process, with caches and memory of its own, and return what it prints."""
    arguments = [sys.executable, "-W", "ignore", script, "job", json.dumps(job)]
    return subprocess.run(arguments, env=environment, check=True, stdout=subprocess.PIPE, text=True).stdout


def peak_mb() -> float:
    """Return the peak memory of this process."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
