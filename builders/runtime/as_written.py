"""Verify that the files of an output have the form in which they are written, so that every program reads the same."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

import pyarrow as pa

from ...core.checks import Compared, Finding
from ...core.documents import LARGEST_OWN, parse_own, read_bytes
from ...core.errors import OutputError
from ...core.files import as_json
from ...core.fingerprint import FILE as UNITS
from ...core.fingerprint import units_schema, units_writer
from ...core.output import FinishedOutput
from ...core.schema import Config
from ...core.shards import ShardError, read_footer, shard_writer
from ...core.written_form import OpenWriter, unlike_written
from .output import read_state
from .own_files import BUILD


def check_written(output: FinishedOutput, configs: Sequence[Config]) -> Iterator[Finding]:
    """Check the form of `build.json`, and of the Parquet files: their statistics, indexes, metadata and every byte.

    Files whose columns are not those of their table are left to `check_schema`.
    """
    canary = str(output.info.get("canary") or "")
    yield from check_record_form(output)
    files: list[tuple[Path, pa.Schema, OpenWriter]] = [
        (path, config.schema(canary), partial(shard_writer, videos=config.videos))
        for config in configs
        for path in output.shards(config.name)
    ]
    if (output.path / UNITS).is_file():
        files.append((output.path / UNITS, units_schema(canary), units_writer))
    for path, schema, writer in files:
        try:
            if read_footer(path).schema.to_arrow_schema().equals(schema, check_metadata=False):
                for line in unlike_written(path, schema, writer):
                    yield f"{path.relative_to(output.path).as_posix()}: other programs may read other rows: {line}"
        except ShardError:
            continue  # `check_schema` names it
    yield Compared(f"{len(files):,} Parquet files")


def check_record_form(output: FinishedOutput) -> Iterator[str]:
    """Check that `build.json` has the form in which it is written, and that an unfinished plan beside it is its own."""
    text = read_bytes(output.path / BUILD, LARGEST_OWN).replace(b"\r\n", b"\n")
    try:
        again = as_json(parse_own(text.decode(), replace_surrogates=False))
    except ValueError as error:
        yield f"{BUILD} is damaged ({error})"
        return
    if text != again:
        yield f"{BUILD} is not written as a build writes it, so other programs may read something else"
    try:
        plan = read_state(output.path / ".build" / "plan.json", ("builder", "hash"))
    except OutputError as error:
        yield str(error)
        return
    if plan and (plan["builder"], plan["hash"]) != (output.info["builder"], output.info["plan_sha256"]):
        yield ".build/plan.json is the plan of another build"
