"""The check of every output with videos that other readers see in them what this package sees."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.util import find_spec
from itertools import islice
from pathlib import Path

from ..extras import command_for
from ..records.checks import Finding, NotChecked
from ..records.output import FinishedOutput
from ..records.schema import Row
from ..records.shards import group_rows, open_shard, read_footer
from ..runtime.processes import on_processes
from ..video.by_decord import differs_by_decord, spread

SAMPLE = 20


def check_decord(output: FinishedOutput, workers: int) -> Iterator[Finding]:
    """Up to 20 videos at equal distances have in decord the frames that they have in PyAV."""
    if find_spec("decord") is None:
        yield NotChecked(f"decord is not installed: {command_for('decord')}")
        return
    shards = [path for name in output.info["counts"] for path in output.shards(name)]
    places = [
        (path, group, number)
        for path in shards
        if "video" in read_footer(path).schema.to_arrow_schema().names
        for group, size in enumerate(group_sizes(path))
        for number in range(size)
    ]
    rows = [(places[number][0], row_at(*places[number])) for number in spread(len(places), SAMPLE)]
    found = on_processes(differs_by_decord, ((row["video"]["bytes"] or b"",) for _, row in rows), workers)
    for (path, row), problem in zip(rows, found, strict=True):
        if problem:
            yield f"{path.parent.name}: {row['video']['path']}: {problem}"


def group_sizes(path: Path) -> list[int]:
    """Count the rows of each row group of a shard."""
    metadata = read_footer(path)
    return [metadata.row_group(group).num_rows for group in range(metadata.num_row_groups)]


def row_at(path: Path, group: int, number: int) -> Row:
    """Read the video of one row of a row group."""
    with open_shard(path) as file:
        return next(islice(group_rows(file, group, ["video"]), number, None))
