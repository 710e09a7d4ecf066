"""What exports of files share: which tables go, in which order they are written, and their rows and videos."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, TextIO

from ..core.errors import InputError, UsageError
from ..core.export_folder import ExportFolder, Receipt, add_names
from ..core.files import atomic, write_atomic
from ..core.output import FinishedOutput
from ..core.progress import Progress
from ..core.schema import Config, Row
from ..core.shards import group_rows, open_shard
from ..evaluation.tasks import without_videos


@dataclass(frozen=True)
class Part:
    """One split of a table.

    Attributes:
        config: The table.
        split: The split.
        rows: How many rows it has.
        video: The column with its videos; empty if it has none.
    """

    config: Config
    split: str
    rows: int
    video: str

    def json(self, row: Row) -> str:
        """Write a row without its video as a JSON object in one line; labels are written as their names."""
        return json.dumps(self.values(row), ensure_ascii=False, allow_nan=False)

    def values(self, row: Row) -> dict[str, Any]:
        """Return a row's values without its video, labels as their names."""
        return {
            column.name: column.names[row[column.name]]
            if column.kind == "label" and row[column.name] is not None
            else row[column.name]
            for column in self.config.columns
            if column.kind != "video"
        }


def parts_of(output: FinishedOutput, configs: Sequence[Config], split: str | None) -> list[Part]:
    """Return the splits of tables that are exported.

    Args:
        output: The output.
        configs: Its tables.
        split: A split; all if none is named. Videos that are not divided into splits all go.

    Raises:
        UsageError: There is no such split.
        InputError: There are no videos.
    """
    counts = output.info["counts"]
    parts = [
        Part(config, name, count, next((column.name for column in config.columns if column.kind == "video"), ""))
        for config in configs
        for name, count in counts.get(config.name, {}).items()
    ]
    if not any(part.video and part.rows for part in parts):
        raise InputError(
            f"{output.path} holds no videos (built {without_videos(output)}), so there is nothing to export. Build it "
            "with them; load_dataset reads the rest."
        )
    if split is None:
        return parts
    there = list(dict.fromkeys(part.split for part in parts))
    if split not in there:
        raise UsageError(f"--split {split}: {output.path} has no such split; it has {', '.join(there)}.")
    return [part for part in parts if part.split == split or (part.video and split not in counts[part.config.name])]


def video_tables(output: FinishedOutput, configs: Sequence[Config], split: str | None) -> list[str]:
    """Name the tables with videos that `parts_of` returns."""
    return list(dict.fromkeys(part.config.name for part in parts_of(output, configs, split) if part.video))


def write_parts(
    output: FinishedOutput,
    parts: Sequence[Part],
    place: ExportFolder,
    write_videos: Callable[[Part, Progress], object],
    *,
    names: Callable[[Part], Sequence[str]] = lambda part: (),
    beside: Mapping[str, str] | None = None,
    progress: bool,
) -> int:
    """Write the parts of an export into its folder, and return the number of videos.

    Args:
        output: The output.
        parts: Its parts.
        place: The folder.
        write_videos: Writes a part with videos, and counts them.
        names: Names the files that this writes, as far as they are known before.
        beside: Texts to write besides, by the names of their files.
        progress: Whether to show it.

    Raises:
        InputError: Two files would have one name, or a video is damaged.
        OutputError: The folder cannot be written.
    """
    files: dict[str, Receipt] = {}
    add_names(files, beside or {})
    for part in parts:
        add_names(files, names(part) if part.video else [table_file(part)])
    place.announce(files)
    for name, text in (beside or {}).items():
        write_atomic(place.path / name, text)
    with Progress("export", sum(part.rows for part in parts if part.video), "video", shown=progress) as shown:
        for part in parts:
            if part.video:
                write_videos(part, shown)
                continue
            with json_lines(place.path / table_file(part)) as lines:
                for row in output.whole(part.config.name, None, part.split):
                    lines.write(part.json(row) + "\n")
    place.finish()
    return shown.done


def table_file(part: Part) -> str:
    """Name the JSON lines of a table without videos."""
    return f"{part.config.name}/{part.split}.jsonl"


@contextmanager
def json_lines(path: Path) -> Iterator[TextIO]:
    """Write a text file that appears when the `with` block has succeeded."""
    with atomic(path) as temporary, open(temporary, "w", encoding="utf-8", newline="\n") as handle:
        yield handle


def rows_from(output: FinishedOutput, part: Part, start: int) -> Iterator[Row]:
    """Read the rows of a split from one of them on; row groups before it are not read.

    Raises:
        InputError: A shard cannot be read, or rows are missing.
    """
    passed = 0
    for path in output.shards(part.config.name, part.split):
        with open_shard(path) as file:
            for index in range(file.num_row_groups):
                count = file.metadata.row_group(index).num_rows
                if passed + count > start:
                    yield from islice(group_rows(file, index), max(start - passed, 0), None)
                passed += count
    output.check_count(part.config.name, part.split, passed)


def video_bytes(part: Part, row: Row) -> bytes:
    """Return the video of a row.

    Raises:
        InputError: It is not what its `sha256` says.
    """
    content: bytes = row[part.video]["bytes"] or b""
    if hashlib.sha256(content).hexdigest() != row["sha256"]:
        raise InputError(
            f"{part.config.name}/{part.split}: the video {row[part.video]['path']} does not have its sha256. "
            "`stressreel verify` says more; build again with --fresh."
        )
    return content
