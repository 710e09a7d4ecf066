"""Read predictions from the logs that evaluation harnesses write for exported tasks.

lmms-eval (0.7.3) writes a JSON line per answer. inspect-ai (0.3.285) writes a ZIP archive (`.eval`) with a
Zstandard-compressed JSON file per sample, or a single JSON file. Both are read without inspect-ai. VLMEvalKit
(ms-vlmeval 0.0.20) adds the predictions to its table of questions.
"""

from __future__ import annotations

import re
import struct
import zlib
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED, ZIP_STORED, BadZipFile, ZipFile, ZipInfo

from ...core.documents import once, parse_json
from ...core.errors import InputError
from .answers import read_answer

LOGGED = "stressreel"  # present in every line or score of our tasks; see exports/harness.py
LOGS = ("*_samples_*.jsonl", "*.eval", "[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]T*.json")
"""File names of logs of lmms-eval, and of both kinds of logs of inspect-ai."""

SAMPLE = re.compile(r"samples/.+_epoch_\d+(?:/sample)?\.json", re.DOTALL)  # of one file, or of several
ABOUT = ("header.json", "_journal/start.json")  # one of them is in every `.eval` file, even an unfinished one
ZIP_ZSTANDARD = 93  # supported by Python's zipfile from 3.14
LOCAL_HEADER = struct.Struct("<4s22xHH")
LARGEST_SAMPLE = 100_000_000  # bytes
LEAST_ROOM, EXPANSION = 500_000_000, 50  # bytes of all samples, unpacked: base allowance, and factor of the file size
ZIP_FAULTS = (BadZipFile, EOFError, NotImplementedError, OSError, RuntimeError, ValueError, struct.error, zlib.error)


def sample_logs(folder: Path) -> list[Path]:
    """Return the paths of all harness logs in a folder and its subfolders."""
    return sorted(path for pattern in LOGS for path in folder.rglob(pattern) if path.is_file())


def is_result(row: Mapping[str, Any]) -> bool:
    """Return whether a row comes from a VLMEvalKit result of an exported task."""
    return {"sample", "prediction"} <= set(row)


def result_rows(path: Path, rows: Iterable[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    """Convert the rows of a VLMEvalKit result to the form that other harnesses log.

    Raises:
        InputError: The column `sample` was not written by `stressreel export`.
    """
    for number, row in enumerate(rows, 1):
        answer = "" if row["prediction"] is None else str(row["prediction"])
        try:
            sample = parse_json(str(row["sample"]), once)
            option_ids, about = sample["option_ids"], dict(sample["about"])
            if option_ids:
                pick = read_answer(answer, sample["options"])
                answer = f"unreadable: {answer}" if pick is None else str(option_ids[pick])
            logged_row = {**about, str(sample["column"]): answer, "fingerprint": str(sample["fingerprint"])}
        except (ValueError, KeyError, TypeError, IndexError) as error:
            raise InputError(
                f"{path}, row {number}: its column `sample` was not written by `stressreel export vlmevalkit` "
                f"({type(error).__name__}). Pass the results of VLMEvalKit unchanged."
            ) from error
        yield {LOGGED: logged_row}


def logged(path: Path, lines: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the predictions in logged lines or samples, one row per item.

    Tasks about the same item (its answer, its explanation) are merged into one row. Repeated answers remain separate
    rows, because it is unknown which run applies.

    Raises:
        InputError: A line or sample does not belong to an exported task.
    """
    rows: list[dict[str, Any]] = []
    by_item: dict[tuple[Any, ...], dict[str, Any]] = {}
    for line in lines:
        content = line.get(LOGGED)
        if not isinstance(content, dict) or "id" not in content:
            raise InputError(
                f"{path}: a line or sample has no {LOGGED!r}, so it belongs to a task that was not written by "
                "`stressreel export`. Pass only the logs of exported tasks."
            )
        item = tuple(str(content.get(name)) for name in ("config", "setting", "id"))
        row = by_item.get(item)
        if row is None or any(name in row for name in content if name in ("answer", "explanation")):
            rows.append(row := {})
            by_item.setdefault(item, row)
        row.update(content)
    return rows


def eval_log(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the scored samples of an inspect-ai `.eval` file.

    Raises:
        InputError: The file is not an `.eval` file, is damaged, or is too large when unpacked.
    """
    try:
        with ZipFile(path) as archive:
            if not any(name in archive.NameToInfo for name in ABOUT):
                raise InputError(f"{path} is not an inspect-ai log: it has no {ABOUT[0]}.")
            samples = [info for name, info in archive.NameToInfo.items() if SAMPLE.fullmatch(name)]
            size, packed = sum(info.file_size for info in samples), path.stat().st_size
            if size > max(LEAST_ROOM, EXPANSION * packed) or any(info.file_size > LARGEST_SAMPLE for info in samples):
                raise InputError(
                    f"{path} is too large: it unpacks to {size:,} bytes, or contains a sample of more than "
                    f"{LARGEST_SAMPLE:,} bytes. Run inspect eval with --no-log-images, which omits images and videos "
                    "from the logs."
                )
            for info in samples:
                where = f"{path}, {info.filename}"
                try:
                    sample = parse_json(_unpacked(archive, info, packed).decode(), once)
                except ValueError as error:
                    raise InputError(f"{where}: invalid JSON ({error}).") from error
                yield from _scored(sample, where)
    except ZIP_FAULTS as error:
        if isinstance(error, InputError):
            raise
        raise InputError(
            f"{path} cannot be read as an inspect-ai log ({type(error).__name__}: {error}). If inspect-ai can read "
            "it, `inspect log convert --to json` writes it as JSON."
        ) from error


def _unpacked(archive: ZipFile, info: ZipInfo, packed: int) -> bytes:
    """Decompress a file in an archive of `packed` bytes, up to the size that the archive states.

    Raises:
        BadZipFile: The compression is unsupported, the file is damaged, or its size differs.
    """
    if info.compress_type in (ZIP_STORED, ZIP_DEFLATED):
        with archive.open(info) as file:
            content = file.read(info.file_size + 1)
    elif info.compress_type == ZIP_ZSTANDARD:
        content = _zstandard(archive, info, packed)
    else:
        raise BadZipFile(f"{info.filename} is compressed by method {info.compress_type}, which is not supported")
    if len(content) != info.file_size or zlib.crc32(content) != info.CRC:
        raise BadZipFile(f"{info.filename} is damaged")
    return content


def _zstandard(archive: ZipFile, info: ZipInfo, packed: int) -> bytes:
    import pyarrow as pa

    file = archive.fp
    if file is None or info.flag_bits & 1 or info.header_offset + info.compress_size > packed:
        raise BadZipFile(f"{info.filename} is damaged or encrypted")
    file.seek(info.header_offset)
    start, name, extra = LOCAL_HEADER.unpack(file.read(LOCAL_HEADER.size))
    if start != b"PK\x03\x04":
        raise BadZipFile(f"{info.filename} is not at the stated position in the archive")
    file.seek(name + extra, 1)
    with pa.CompressedInputStream(pa.py_buffer(file.read(info.compress_size)), "zstd") as stream:
        content: bytes = stream.read(info.file_size + 1)
    return content


def json_log(path: Path, content: Any) -> Iterator[dict[str, Any]] | None:
    """Return the scored samples of an inspect-ai log in JSON, or None for another JSON value.

    Raises:
        InputError: The log has no list of samples, or a sample has another form.
    """
    if not isinstance(content, dict) or not {"eval", "samples"} <= set(content):
        return None
    if not isinstance(content["samples"], list):
        raise InputError(
            f"{path}: the samples of this inspect-ai log are not a list. Provide a log that includes its samples."
        )
    numbered = enumerate(content["samples"], 1)
    return chain.from_iterable(_scored(sample, f"{path}, sample {number}") for number, sample in numbered)


def _scored(sample: Any, where: str) -> Iterator[dict[str, Any]]:
    scores = (sample.get("scores") or {}) if isinstance(sample, dict) else None
    if not isinstance(scores, dict):
        raise InputError(f"{where}: expected an inspect-ai sample with its scores.")
    about = [score.get("metadata") for score in scores.values() if isinstance(score, dict)]
    rows = [metadata[LOGGED] for metadata in about if isinstance(metadata, dict) and LOGGED in metadata]
    if scores:
        yield from ({LOGGED: row} for index, row in enumerate(rows or [None]) if row not in rows[:index])
