"""Reading a Parquet file where memory is short."""

import os
import subprocess
import sys

import pytest

READ = """
import resource, sys
resource.setrlimit(resource.RLIMIT_AS, (2_000_000_000, 2_000_000_000))
from pathlib import Path
import pyarrow.parquet as pq
from stressreel.core.shards import ShardError, measure, read_columns_of, read_rows
path = Path(sys.argv[1])
names = ["n"] if "n" in pq.read_schema(path).names else ["id", "answer"]
for read in (lambda: sum(1 for _ in read_rows(path)), lambda: read_columns_of(path, names), lambda: measure(path)):
    try:
        read()
        print("read")
    except ShardError as error:
        print(error)
"""
THREADS = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "ARROW_DEFAULT_MEMORY_POOL": "system"}


@pytest.fixture
def in_little_memory():
    """Reads a file in three ways in a process that may have 2 GB, and returns what each of them says."""

    def read(path):
        command = [sys.executable, "-c", READ, str(path)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, env={**os.environ, **THREADS})
        assert not done.returncode, done.stderr
        assert done.stdout.count("\n") >= 3
        return done.stdout.splitlines()

    return read
