"""A finished output as plain MP4 files, with `metadata.jsonl` beside them.

DIR/<table>/<split>/<name>.mp4, metadata.jsonl    a table with videos: what `load_dataset("videofolder")` reads
DIR/<table>/<split>.jsonl                         the other tables, such as the questions
DIR/output.json                                   which output this is, and every file that was written
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from ..core.export_folder import identity, open_folder, plain_name
from ..core.files import sha256_file, write_atomic
from ..core.inside import inside
from ..core.interrupt import check
from ..core.output import FinishedOutput
from ..core.progress import Progress, keep
from ..core.schema import Config, Row
from .media import Part, json_lines, parts_of, video_bytes, write_parts

METADATA = "metadata.jsonl"
FILE_NAME = "file_name"  # the column by which VideoFolder finds the file of a row


def write_files(
    output: FinishedOutput,
    configs: Sequence[Config],
    folder: Path,
    split: str | None = None,
    *,
    force: bool = False,
    progress: bool = False,
) -> tuple[int, int]:
    """Write an output as files; a video that is there with its SHA-256 is kept.

    Args:
        output: The output.
        configs: Its tables.
        folder: The folder: see `export_folder.open_folder`.
        split: A split; all if none is named.
        force: Whether an earlier export may be written over.
        progress: Whether to show it.

    Returns:
        The number of videos, and of those that were there already.

    Raises:
        UsageError: There is no such split.
        InputError: There are no videos, one of them is damaged, or the folder holds something else.
        OutputError: The folder cannot be written.
    """
    parts = parts_of(output, configs, split)
    place = open_folder(folder, identity(output, "files", split), force=force)
    kept = 0

    def write_videos(part: Part, shown: Progress) -> None:
        nonlocal kept
        below = folder / part.config.name / part.split
        with json_lines(below / METADATA) as lines:
            for row in output.whole(part.config.name, None, part.split):
                check()
                kept += not _write_video(below, part, row)
                keep("video")
                lines.write(metadata_line(part, row) + "\n")
                shown.advance()

    videos = write_parts(
        output, parts, place, write_videos, names=lambda part: file_names(output, part), progress=progress
    )
    return videos, kept


def file_names(output: FinishedOutput, part: Part) -> list[str]:
    """Name the files of a part with videos, below the folder of the export."""
    rows = output.whole(part.config.name, [f"{part.video}.path"], part.split)
    names = [plain_name(row[part.video]["path"]) for row in rows]
    return [f"{part.config.name}/{part.split}/{name}" for name in [*names, METADATA]]


def metadata_line(part: Part, row: Row) -> str:
    """Write the line of `metadata.jsonl` for a row: its file, then its columns."""
    return json.dumps({FILE_NAME: row[part.video]["path"], **part.values(row)}, ensure_ascii=False, allow_nan=False)


def _write_video(folder: Path, part: Part, row: Row) -> bool:
    """Write a video unless it is there."""
    content, path = video_bytes(part, row), inside(folder, row[part.video]["path"])
    if path.is_file() and path.stat().st_size == len(content) and sha256_file(path) == row["sha256"]:
        return False
    write_atomic(path, content)
    return True
