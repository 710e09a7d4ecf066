"""Export the videos of an output as MP4 files or tar shards, and its other tables as JSON lines.

`files`, for `load_dataset("videofolder")`:

    DIR/<table>/<split>/<name>.mp4, metadata.jsonl    a table with videos
    DIR/<table>/<split>.jsonl                         the other tables, such as the questions
    DIR/output.json                                   identity of the output, and names of all files

`webdataset`, for the package `webdataset` and `load_dataset(DIR, TABLE)`:

    DIR/<table>/<split>-000000.tar …                  a table with videos: `<key>.mp4` and `<key>.json` per row
    DIR/<table>/<split>.jsonl, DIR/output.json        as above
    DIR/README.md                                     splits and types of columns

Equal rows and shard sizes yield equal bytes, since tar headers omit time, owner and group.
"""

from __future__ import annotations

import hashlib
import io
import json
import re
import tarfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, TextIO

import yaml

from ..core.canary import WHY
from ..core.errors import InputError, UsageError
from ..core.export_folder import (
    MP4,
    ExportFolder,
    Receipt,
    add_names,
    escaped,
    file_names,
    identity,
    open_folder,
)
from ..core.files import atomic, sha256_file, write_atomic
from ..core.inside import inside
from ..core.interrupt import check
from ..core.markdown import as_text
from ..core.output import FinishedOutput
from ..core.progress import Progress, keep
from ..core.schema import Column, Config, Row
from ..core.shards import group_rows, open_shard
from ..core.source import source_of
from ..evaluation.tasks import without_videos

METADATA = "metadata.jsonl"
FILE_NAME = "file_name"  # column in which VideoFolder expects the file name
CARD = "README.md"
UNITS = {"kb": 10**3, "mb": 10**6, "gb": 10**9}
SMALLEST = 10_240  # bytes; tar pads files to this
BLOCK = tarfile.BLOCKSIZE
LONGEST_KEY = 90  # characters; a name in a USTAR header has at most 100
KEY_UNWANTED = re.compile("[^A-Za-z0-9_~-]")
LISTS = {"strings": "string", "integers": "int32"}


@dataclass(frozen=True)
class ExportedSplit:
    """A split of a table to export. `video` is the name of its video column, or "" if it has none."""

    config: Config
    split: str
    rows: int
    video: str

    @property
    def name(self) -> str:
        """The path `<table>/<split>`."""
        return f"{self.config.name}/{self.split}"

    def json(self, row: Row, **first: str) -> str:
        """Serialize a row without its video as a line of JSON that starts with the values in `first`."""
        values = {
            column.name: column.names[row[column.name]]
            if column.kind == "label" and row[column.name] is not None
            else row[column.name]
            for column in self.config.columns
            if column.kind != "video"
        }
        return json.dumps({**first, **values}, ensure_ascii=False, allow_nan=False) + "\n"

    def video_bytes(self, row: Row) -> bytes:
        """Return the video of a row, or raise InputError if it does not match its SHA-256."""
        content: bytes = row[self.video]["bytes"] or b""
        if hashlib.sha256(content).hexdigest() != row["sha256"]:
            raise InputError(
                f"{self.name}: the video {row[self.video]['path']} does not match its sha256. "
                "Run `stressreel verify` for details, or build again with --fresh."
            )
        return content


def exported_splits(output: FinishedOutput, configs: Sequence[Config], split: str | None) -> list[ExportedSplit]:
    """Return the splits of all tables to export. Tables of videos without the requested split are exported completely.

    Raises:
        UsageError: The split does not exist.
        InputError: The output has no videos.
    """
    counts = output.info["counts"]
    parts = [
        ExportedSplit(config, name, count, next((each.name for each in config.columns if each.kind == "video"), ""))
        for config in configs
        for name, count in counts.get(config.name, {}).items()
    ]
    if not any(part.video and part.rows for part in parts):
        raise InputError(
            f"{output.path} contains no videos (built {without_videos(output)}), so there is nothing to export. Build "
            "it with videos. The other tables can be read with load_dataset."
        )
    there = list(dict.fromkeys(part.split for part in parts))
    if split is not None and split not in there:
        raise UsageError(f"--split {split}: {output.path} has no such split; it has {', '.join(there)}.")
    return [
        part for part in parts if split in (None, part.split) or (part.video and split not in counts[part.config.name])
    ]


def video_tables(output: FinishedOutput, configs: Sequence[Config], split: str | None) -> list[str]:
    """Return the names of the exported tables that have videos."""
    return list(dict.fromkeys(part.config.name for part in exported_splits(output, configs, split) if part.video))


def _write_splits(
    output: FinishedOutput,
    parts: Sequence[ExportedSplit],
    place: ExportFolder,
    write_videos: Callable[[ExportedSplit, Progress], None],
    *,
    names: Callable[[ExportedSplit], Sequence[str]] = lambda part: (),
    texts: Mapping[str, str] | None = None,
    progress: bool,
) -> int:
    """Write the splits of an export, and return the number of videos.

    `write_videos` writes a split with videos and advances the progress, `names` returns the file names that are known
    in advance, and `texts` contains other files by name.
    """
    files: dict[str, Receipt] = {}
    add_names(files, texts or {})
    for part in parts:
        add_names(files, names(part) if part.video else [f"{part.name}.jsonl"])
    place.announce(files)
    for name, text in (texts or {}).items():
        write_atomic(place.path / name, text)
    with Progress("export", sum(part.rows for part in parts if part.video), "video", shown=progress) as shown:
        for part in parts:
            if part.video:
                write_videos(part, shown)
                continue
            with _json_lines(place.path / f"{part.name}.jsonl") as lines:
                for row in output.whole(part.config.name, None, part.split):
                    lines.write(part.json(row))
    place.finish()
    return shown.done


@contextmanager
def _json_lines(path: Path) -> Iterator[TextIO]:
    with atomic(path) as temporary, open(temporary, "w", encoding="utf-8", newline="\n") as handle:
        yield handle


# MP4 files


def write_files(
    output: FinishedOutput,
    configs: Sequence[Config],
    folder: Path,
    split: str | None = None,
    *,
    force: bool = False,
    progress: bool = False,
) -> tuple[int, int]:
    """Write the videos of an output as MP4 files, keeping files of an earlier run that have the same SHA-256.

    Returns:
        The number of videos, and how many of them already existed.

    Raises:
        UsageError: The split does not exist.
        InputError: There are no videos, a video is damaged, or the folder contains other files.
        OutputError: The folder cannot be written.
    """
    parts = exported_splits(output, configs, split)
    place = open_folder(folder, identity(output, "files", split), force=force)
    kept = 0

    files: dict[str, list[str]] = {}

    def names(part: ExportedSplit) -> list[str]:
        rows = output.whole(part.config.name, [f"{part.video}.path"], part.split)
        files[part.name] = file_names([row[part.video]["path"] for row in rows])
        return [f"{part.name}/{name}" for name in [*files[part.name], METADATA]]

    def write_videos(part: ExportedSplit, shown: Progress) -> None:
        nonlocal kept
        below = folder / part.name
        with _json_lines(below / METADATA) as lines:
            rows = output.whole(part.config.name, None, part.split)
            for row, name in zip(rows, files[part.name], strict=True):
                check()
                content, path = part.video_bytes(row), inside(below, name)
                if path.is_file() and path.stat().st_size == len(content) and sha256_file(path) == row["sha256"]:
                    kept += 1
                else:
                    write_atomic(path, content)
                keep("video")
                lines.write(part.json(row, **{FILE_NAME: name}))
                shown.advance()

    videos = _write_splits(output, parts, place, write_videos, names=names, progress=progress)
    return videos, kept


# Tar shards


def byte_size(text: str) -> int:
    """Convert a size such as "500MB" to bytes (1 MB = 1,000,000 bytes), or raise UsageError if it is invalid."""
    match = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?) ?([kMG]B)", text.strip(), re.IGNORECASE)
    size = int(float(match[1]) * UNITS[match[2].lower()]) if match else 0
    if size < SMALLEST:
        raise UsageError(f"--shard-size {text!r}: expected a size such as 500MB or 1.5GB, at least 11kB.")
    return size


def write_webdataset(
    output: FinishedOutput,
    configs: Sequence[Config],
    folder: Path,
    split: str | None = None,
    *,
    shard_size: int,
    force: bool = False,
    progress: bool = False,
) -> tuple[int, int, int]:
    """Write the videos of an output as tar shards, keeping shards of an earlier run that have the same SHA-256.

    A shard has at most `shard_size` bytes, unless a single video is larger.

    Returns:
        The number of videos, the number of shards, and how many shards already existed.

    Raises:
        UsageError, InputError, OutputError: As for `write_files`.
    """
    parts = exported_splits(output, configs, split)
    place = open_folder(folder, {**identity(output, "webdataset", split), "shard_size": shard_size}, force=force)
    shards = kept = 0

    def write_shards(part: ExportedSplit, shown: Progress) -> None:
        nonlocal shards, kept
        number = done = 0
        while done < part.rows and (rows := _known_shard(place, f"{part.name}-{number:06d}.tar")):
            shown.advance(rows)
            keep("shard")
            number, done = number + 1, done + rows
        kept += number
        waiting = rows_from(output, part, done)
        first = next(waiting, None)
        while first is not None:
            name = f"{part.name}-{number:06d}.tar"
            with atomic(place.place(name)) as temporary:
                rows, first = _write_shard(temporary, part, first, waiting, shard_size, shown)
                place.announce({name: {"sha256": sha256_file(temporary), "rows": rows}})
            keep("shard")
            number += 1
        shards += number

    texts = {CARD: _webdataset_card(output, parts)}
    videos = _write_splits(output, parts, place, write_shards, texts=texts, progress=progress)
    return videos, shards, kept


def rows_from(output: FinishedOutput, part: ExportedSplit, start: int) -> Iterator[Row]:
    """Yield the rows of a split from row `start`, without reading the row groups before it."""
    passed = 0
    for path in output.shards(part.config.name, part.split):
        with open_shard(path) as file:
            for index in range(file.num_row_groups):
                count = file.metadata.row_group(index).num_rows
                if passed + count > start:
                    yield from islice(group_rows(file, index), max(start - passed, 0), None)
                passed += count
    output.check_count(part.config.name, part.split, passed)


def _known_shard(place: ExportFolder, name: str) -> int:
    receipt, path = place.before.get(name, {}), place.place(name)
    rows = receipt.get("rows")
    if type(rows) is not int or rows < 1 or not path.is_file() or sha256_file(path) != receipt.get("sha256"):
        return 0
    place.files[name] = receipt
    return rows


def _write_shard(
    path: Path, part: ExportedSplit, first: Row, waiting: Iterator[Row], shard_size: int, shown: Progress
) -> tuple[int, Row | None]:
    """Write rows until a shard is full. Return how many were written, and the first row that did not fit."""
    row: Row | None = first
    rows, size = 0, 2 * BLOCK  # a tar file ends with two empty blocks
    with tarfile.open(path, "w", format=tarfile.USTAR_FORMAT) as tar:
        while row is not None:
            check()
            key = member_key(row[part.video]["path"])
            members = [(f"{key}.mp4", part.video_bytes(row)), (f"{key}.json", part.json(row).encode())]
            added = sum(BLOCK + -(-len(content) // BLOCK) * BLOCK for _, content in members)
            if rows and size + added > shard_size:
                break
            for name, content in members:
                info = tarfile.TarInfo(name)
                info.size = len(content)
                tar.addfile(info, io.BytesIO(content))
            rows, size = rows + 1, size + added
            shown.advance()
            row = next(waiting, None)
    return rows, row


def member_key(file: str) -> str:
    """Return the key of a WebDataset sample, derived from the file name of its video.

    Characters other than ASCII letters, digits, "_", "-" and "~" are percent-encoded, since a dot would end the key.
    Long keys are shortened and end in a hash. An invalid file name raises InputError.
    """
    if not isinstance(file, str) or not file.removesuffix(MP4):
        raise InputError(f"{file!r} is not a valid video name. Run `stressreel verify` for details.")
    return escaped(file.removesuffix(MP4), KEY_UNWANTED, LONGEST_KEY)


def _webdataset_card(output: FinishedOutput, parts: Sequence[ExportedSplit]) -> str:
    """Return a `README.md` that declares splits and column types for `load_dataset(DIR, TABLE)`.

    Without it, `datasets` infers the types from the first five samples, and fails on columns that are null in all of
    them.
    """
    tables = {part.config.name: part.config for part in parts if part.video}
    source, info = source_of(output.info), output.info
    title = f"{source.title or info['builder']}, built with stressreel, as WebDataset"
    head = {
        "pretty_name": title,
        **source.license,
        "configs": [
            {
                "config_name": name,
                "data_files": [
                    {"split": part.split, "path": f"{part.name}-*.tar"}
                    for part in parts
                    if part.config.name == name and part.rows
                ],
            }
            for name in tables
        ],
        "dataset_info": [
            {
                "config_name": name,
                "features": [
                    {"name": "mp4", "dtype": "video"},
                    {"name": "json", "struct": [_feature(each) for each in config.columns if each.kind != "video"]},
                    {"name": "__key__", "dtype": "string"},
                    {"name": "__url__", "dtype": "string"},
                ],
            }
            for name, config in tables.items()
        ],
    }
    link, terms = f", {source.link}" if source.link else "", f" Its terms: {source.terms}." if source.terms else ""
    return (
        f"---\n{yaml.safe_dump(head, sort_keys=False, allow_unicode=True, width=120)}---\n\n"
        f"# {as_text(title)}\n\n"
        f"Source: {as_text(source.name)}{link}.{terms}\n"
        f"Version {info['dataset_version']}, fingerprint {info['fingerprint']}.\n"
        + (f"{WHY} {info['canary']}.\n" if info.get("canary") else "")
    )


def _feature(column: Column) -> dict[str, Any]:
    if column.kind == "records":
        return {"name": column.name, "list": [_feature(field) for field in column.fields]}
    if column.kind in LISTS:
        return {"name": column.name, "list": LISTS[column.kind]}
    return {"name": column.name, "dtype": "string" if column.kind == "label" else column.kind}
