"""Export an output as MP4 files or tar shards with JSON lines, or in the layout of a benchmark's published release.

`files`, for `load_dataset("videofolder")`:

    DIR/<table>/<split>/<name>.mp4, metadata.jsonl    a table with videos
    DIR/<table>/<split>.jsonl                         the other tables, such as the questions
    DIR/output.json                                   identity of the output, and names of all files

`webdataset`, for the package `webdataset` and `load_dataset(DIR, TABLE)`:

    DIR/<table>/<split>-000000.tar …                  a table with videos: `<key>.mp4` and `<key>.json` per row
    DIR/<table>/<split>.jsonl, DIR/output.json        as above
    DIR/README.md                                     splits and types of columns

`released`: the files of a benchmark's published release, which its authors' programs read.

Equal rows and shard sizes yield equal bytes, since tar headers omit time, owner and group.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import re
import tarfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, repeat
from operator import itemgetter
from pathlib import Path
from typing import Any

import yaml

from ..core.errors import InputError, UsageError
from ..core.export_folder import (
    MP4,
    ExportFolder,
    Receipt,
    add_names,
    escaped,
    file_names,
    identity,
    new_folder,
    open_folder,
)
from ..core.files import atomic, sha256_file, write_atomic
from ..core.fingerprint import CANARY_NOTICE
from ..core.output import FinishedOutput, inside
from ..core.progress import Progress, keep, raise_if_interrupted
from ..core.results import as_text
from ..core.schema import Column, Config, Row
from ..core.source import source_of
from ..evaluation.tasks import without_videos

METADATA = "metadata.jsonl"
FILE_NAME = "file_name"  # column in which VideoFolder expects the file name
CARD = "README.md"
TAR = ".tar"
UNITS = {"kb": 10**3, "mb": 10**6, "gb": 10**9}
SMALLEST = 10_240  # bytes; tar pads files to this
BLOCK = tarfile.BLOCKSIZE
END = 2 * BLOCK  # a tar file ends with two empty blocks
LONGEST_KEY = 90  # characters; a name in a USTAR header has at most 100
KEY_UNWANTED = re.compile("[^A-Za-z0-9_~-]")
LISTS = {"strings": "string", "integers": "int32"}


@dataclass(frozen=True)
class ExportedSplit:
    """A split of a table to export."""

    config: Config
    split: str
    rows: int

    @property
    def name(self) -> str:
        """The path `<table>/<split>`."""
        return f"{self.config.name}/{self.split}"

    @property
    def video(self) -> str:
        """The name of the video column, or "" if there is none."""
        return "".join(self.config.videos[:1])

    def json(self, row: Row, file_name: str = "") -> str:
        """Serialize a row without its video as a line of JSON, with the name of the video's file first, if given."""
        first = {FILE_NAME: file_name} if file_name else {}
        values = {name: row[name] for name in self.config.plain}
        labels = {column.name: column.names for column in self.config.columns if column.kind == "label"}
        values |= {name: names[values[name]] for name, names in labels.items() if values[name] is not None}
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
        ExportedSplit(config, name, count) for config in configs for name, count in counts.get(config.name, {}).items()
    ]
    if not any(part.video and part.rows for part in parts):
        raise InputError(
            f"{output.path} contains no videos (built {without_videos(output)}), so there is nothing to export. Build "
            "it with videos. The other tables can be read with load_dataset."
        )
    splits = list(dict.fromkeys(part.split for part in parts))
    if split is not None and split not in splits:
        raise UsageError(f"--split {split}: {output.path} has no such split; it has {', '.join(splits)}.")
    return [
        part for part in parts if split in (None, part.split) or (part.video and split not in counts[part.config.name])
    ]


def write_videos(
    output: FinishedOutput,
    configs: Sequence[Config],
    folder: Path,
    split: str | None = None,
    shard_size: int | None = None,
    *,
    force: bool = False,
    progress: bool = False,
) -> tuple[int, int, int | None]:
    """Write the videos of an output as MP4 files or, with `shard_size`, as tar shards.

    Files and shards of an earlier run that have the same SHA-256 are kept. A shard has at most `shard_size` bytes,
    unless a single video is larger.

    Returns:
        The number of videos, how many of the files or shards existed, and the number of shards (None for files).

    Raises:
        UsageError: The split does not exist.
        InputError: There are no videos, a video is damaged, or the folder contains other files.
        OutputError: The folder cannot be written.
    """
    parts = exported_splits(output, configs, split)
    about = identity(output, "files" if shard_size is None else "webdataset", split)
    export = open_folder(folder, about if shard_size is None else {**about, "shard_size": shard_size}, force=force)
    files: dict[str, Receipt] = {} if shard_size is None else {CARD: {}}
    names: dict[str, list[str]] = {}
    for part in parts:
        if not part.video:
            add_names(files, [f"{part.name}.jsonl"])
        elif shard_size is None:
            rows = output.whole(part.config.name, [f"{part.video}.path"], part.split)
            names[part.name] = file_names([row[part.video]["path"] for row in rows])
            add_names(files, [f"{part.name}/{name}" for name in [*names[part.name], METADATA]])
    export.announce(files)
    if CARD in files:
        write_atomic(folder / CARD, _webdataset_card(output, parts))
    kept = 0
    with Progress("export", sum(part.rows for part in parts if part.video), "video", shown=progress) as bar:
        for part in parts:
            rows = output.whole(part.config.name, None, part.split)
            if part.video and shard_size is not None:
                kept += _write_shards(export, part, rows, shard_size, bar)
            else:
                kept += _write_rows(export, part, rows, names.get(part.name, []), bar)
    export.finish()
    return bar.done, kept, None if shard_size is None else sum(name.endswith(TAR) for name in export.files)


def _write_rows(export: ExportFolder, part: ExportedSplit, rows: Iterator[Row], names: list[str], bar: Progress) -> int:
    """Write rows as JSON lines and their videos, if any, as MP4 files. Return how many of those already existed."""
    kept, split_folder = 0, export.path / part.name
    path = split_folder / METADATA if part.video else export.path / f"{part.name}.jsonl"
    with atomic(path) as temporary, open(temporary, "w", encoding="utf-8", newline="\n") as lines:
        for row, name in zip(rows, names or repeat(""), strict=False):
            if name:
                raise_if_interrupted()
                content, video = part.video_bytes(row), inside(split_folder, name)
                if video.is_file() and sha256_file(video) == row["sha256"]:
                    kept += 1
                else:
                    write_atomic(video, content)
                keep("video")
                bar.advance()
            lines.write(part.json(row, name))
    return kept


# Tar shards


def byte_size(text: str) -> int:
    """Convert a size such as "500MB" to bytes (1 MB = 1,000,000 bytes), or raise UsageError if it is invalid."""
    match = re.fullmatch(r"([0-9]{1,9}(?:\.[0-9]{1,9})?) ?([kMG]B)", text.strip(), re.IGNORECASE)
    size = int(float(match[1]) * UNITS[match[2].lower()]) if match else 0
    if size < SMALLEST:
        raise UsageError(f"--shard-size {text!r}: expected a size such as 500MB or 1.5GB, at least 11kB.")
    return size


def _write_shards(export: ExportFolder, part: ExportedSplit, rows: Iterator[Row], limit: int, bar: Progress) -> int:
    """Write the shards of a split, and return how many of them already existed."""
    kept = 0
    for shard_number, samples in groupby(_samples(part, rows, limit), itemgetter(0)):
        name = f"{part.name}-{shard_number:06d}{TAR}"
        path, receipt = export.place(name), export.before.get(name, {})
        if path.is_file() and sha256_file(path) == receipt.get("sha256"):
            export.files[name] = receipt
            bar.advance(sum(1 for _ in samples))
            kept += 1
        else:
            with atomic(path) as temporary:
                count = _write_shard(temporary, (files for _, files in samples), bar)
                export.announce({name: {"sha256": sha256_file(temporary), "rows": count}})
        keep("shard")
    return kept


def _samples(part: ExportedSplit, rows: Iterator[Row], limit: int) -> Iterator[tuple[int, dict[str, bytes]]]:
    """Yield for each row the number of its shard, which has at most `limit` bytes, and its files by name."""
    shard_number, size = 0, END
    for row in rows:
        raise_if_interrupted()
        key = member_key(row[part.video]["path"])
        files = {f"{key}.mp4": part.video_bytes(row), f"{key}.json": part.json(row).encode()}
        added = sum(BLOCK + -(-len(content) // BLOCK) * BLOCK for content in files.values())
        if size > END and size + added > limit:
            shard_number, size = shard_number + 1, END
        size += added
        yield shard_number, files


def _write_shard(path: Path, samples: Iterator[dict[str, bytes]], bar: Progress) -> int:
    """Write the files of samples to a tar file, and return the number of samples."""
    before = bar.done
    with tarfile.open(path, "w", format=tarfile.USTAR_FORMAT) as tar:
        for files in samples:
            for name, content in files.items():
                info = tarfile.TarInfo(name)
                info.size = len(content)
                tar.addfile(info, io.BytesIO(content))
            bar.advance()
    return bar.done - before


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
    source, info = source_of(output.info), output.info
    title = f"{source.title or info['builder']}, built with stressreel, as WebDataset"
    files: dict[str, list[dict[str, str]]] = {part.config.name: [] for part in parts if part.video}
    types = {part.config.name: _sample_types(part.config) for part in parts if part.video}
    for part in parts:
        if part.video and part.rows:
            files[part.config.name].append({"split": part.split, "path": f"{part.name}-*{TAR}"})
    head = {
        "pretty_name": title,
        **source.license,
        "configs": [{"config_name": name, "data_files": types_of_table} for name, types_of_table in files.items()],
        "dataset_info": [{"config_name": name, "features": types_of_table} for name, types_of_table in types.items()],
    }
    link, terms = f", {source.link}" if source.link else "", f" Its terms: {source.terms}." if source.terms else ""
    return (
        f"---\n{yaml.safe_dump(head, sort_keys=False, allow_unicode=True, width=120)}---\n\n"
        f"# {as_text(title)}\n\n"
        f"Source: {as_text(source.name)}{link}.{terms}\n"
        f"Version {info['dataset_version']}, fingerprint {info['fingerprint']}.\n"
        + (f"{CANARY_NOTICE} {info['canary']}.\n" if info.get("canary") else "")
    )


def _sample_types(config: Config) -> list[dict[str, Any]]:
    row = [_feature(column) for column in config.columns if column.kind != "video"]
    strings = [{"name": name, "dtype": "string"} for name in ("__key__", "__url__")]
    return [{"name": "mp4", "dtype": "video"}, {"name": "json", "struct": row}, *strings]


def _feature(column: Column) -> dict[str, Any]:
    if column.kind == "records":
        return {"name": column.name, "list": [_feature(field) for field in column.fields]}
    if column.kind in LISTS:
        return {"name": column.name, "list": LISTS[column.kind]}
    return {"name": column.name, "dtype": "string" if column.kind == "label" else column.kind}


# Released layouts


def write_layout(folder: Path, files: Iterable[tuple[str, bytes]]) -> int:
    """Write files to a new or empty folder, and return their number. The folder appears only when it is complete.

    Raises:
        InputError: The folder is not empty, or a file name is invalid.
        OutputError: The folder cannot be written.
    """
    if os.path.lexists(folder) and (not folder.is_dir() or any(folder.iterdir())):
        raise InputError(
            f"{folder} is not empty, but this layout needs an empty folder. Choose a new or empty folder with --to."
        )
    count = 0
    with new_folder(folder) as new:
        for name, content in files:
            path = inside(new, name)
            if path.parent != new or path.exists():
                raise InputError(
                    f"{name!r} is {'the name of two files' if path.exists() else 'not a valid file name'} in this "
                    "layout, whose files are named after videos. Run `stressreel verify` for details."
                )
            path.write_bytes(content)
            count += 1
    return count
