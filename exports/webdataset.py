"""A finished output as tar shards that the package `webdataset`, and `load_dataset("webdataset")`, stream.

DIR/<table>/<split>-000000.tar …    a table with videos: `<key>.mp4` and `<key>.json` for each row
DIR/<table>/<split>.jsonl           the other tables, such as the questions
DIR/README.md                       splits and types of columns, for `load_dataset(DIR, TABLE)`
DIR/output.json                     which output this is, and every file that was written

The same rows and shard size give the same bytes: USTAR headers without time, owner or group.
"""

from __future__ import annotations

import io
import re
import tarfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from urllib.parse import quote

from ..core.errors import InputError, UsageError
from ..core.export_folder import ExportFolder, identity, open_folder
from ..core.files import atomic, sha256_file, sha256_text
from ..core.interrupt import check
from ..core.output import FinishedOutput
from ..core.progress import Progress, keep
from ..core.schema import Config, Row
from .media import Part, parts_of, rows_from, video_bytes, write_parts
from .webdataset_card import webdataset_card

CARD = "README.md"
UNITS = {"kb": 10**3, "mb": 10**6, "gb": 10**9}
SMALLEST = 10_240  # bytes; tar pads files to this
BLOCK = tarfile.BLOCKSIZE
LONGEST_KEY = 90  # characters; a name in a USTAR header has 100
HASHED = 24


def byte_size(text: str) -> int:
    """Read a size such as 500MB; kB, MB and GB are powers of 1,000.

    Raises:
        UsageError: It is none, or less than a tar file has.
    """
    match = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?) ?([kMG]B)", text.strip(), re.IGNORECASE)
    size = int(float(match[1]) * UNITS[match[2].lower()]) if match else 0
    if size < SMALLEST:
        raise UsageError(f"--shard-size {text!r}: give a size such as 500MB or 1.5GB, at least 11kB.")
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
    """Write an output as tar shards; those of a stopped export of the same are kept if they have their SHA-256.

    Args:
        output: The output.
        configs: Its tables.
        folder: The folder: see `export_folder.open_folder`.
        split: A split; all if none is named.
        shard_size: Bytes that a shard has at most, unless one video alone has more.
        force: Whether an earlier export may be written over.
        progress: Whether to show it.

    Returns:
        The number of videos, of shards, and of shards that were there already.

    Raises:
        UsageError: There is no such split.
        InputError: There are no videos, one of them is damaged, or the folder holds something else.
        OutputError: The folder cannot be written.
    """
    parts = parts_of(output, configs, split)
    place = open_folder(folder, {**identity(output, "webdataset", split), "shard_size": shard_size}, force=force)
    known: list[bool] = []

    def write_shards(part: Part, shown: Progress) -> None:
        for was_there in write_part(output, part, place, shard_size, shown):
            known.append(was_there)
            keep("shard")

    beside = {CARD: webdataset_card(output, parts)}
    videos = write_parts(output, parts, place, write_shards, beside=beside, progress=progress)
    return videos, len(known), sum(known)


def write_part(
    output: FinishedOutput, part: Part, place: ExportFolder, shard_size: int, shown: Progress
) -> Iterator[bool]:
    """Write the shards of a part, after those that are there.

    Yields:
        Whether each shard was there.
    """
    number = done = 0
    while done < part.rows and (rows := known_shard(place, shard_name(part, number))):
        shown.advance(rows)
        yield True
        number, done = number + 1, done + rows
    waiting = rows_from(output, part, done)
    first = next(waiting, None)
    while first is not None:
        name = shard_name(part, number)
        path = place.place(name)
        with atomic(path) as temporary:
            rows, first = _write_shard(temporary, part, first, waiting, shard_size, shown)
            place.announce({name: {"sha256": sha256_file(temporary), "rows": rows}})
        yield False
        number += 1


def shard_name(part: Part, number: int) -> str:
    """Name a shard below the folder of the export."""
    return f"{part.config.name}/{part.split}-{number:06d}.tar"


def known_shard(place: ExportFolder, name: str) -> int:
    """Take over a shard of an earlier export of the same, and return its rows; 0 if it is not whole."""
    receipt, path = place.before.get(name, {}), place.place(name)
    rows = receipt.get("rows")
    if type(rows) is not int or rows < 1 or not path.is_file() or sha256_file(path) != receipt.get("sha256"):
        return 0
    place.files[name] = receipt
    return rows


def _write_shard(
    path: Path, part: Part, first: Row, waiting: Iterator[Row], shard_size: int, shown: Progress
) -> tuple[int, Row | None]:
    """Write rows until a shard is full.

    Returns:
        The number of rows, and the row that did not fit.
    """
    row: Row | None = first
    rows, size = 0, 2 * BLOCK  # a tar file ends in two empty blocks
    with tarfile.open(path, "w", format=tarfile.USTAR_FORMAT) as tar:
        while row is not None:
            check()
            members = members_of(part, row)
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


def members_of(part: Part, row: Row) -> list[tuple[str, bytes]]:
    """Return names and contents of a row's files in a shard."""
    key = member_key(row[part.video]["path"])
    return [(f"{key}.mp4", video_bytes(part, row)), (f"{key}.json", (part.json(row) + "\n").encode())]


def member_key(file: str) -> str:
    """Make the key of a sample from the name of its video: no dots, which end a key, and ASCII.

    Other characters are percent-encoded, so that no two keys become one; a long key ends in a hash.

    Raises:
        InputError: The video has no name.
    """
    if not isinstance(file, str) or not file.removesuffix(".mp4"):
        raise InputError(f"a video is called {file!r}, which is no name. `stressreel verify` says more.")
    key = quote(file.removesuffix(".mp4"), safe="").replace(".", "%2E")
    return key if len(key) <= LONGEST_KEY else f"{key[: LONGEST_KEY - HASHED - 1]}-{sha256_text(key)[:HASHED]}"
