"""Logs as inspect-ai writes them, as far as they are read: a ZIP archive with a JSON file for each sample."""

from __future__ import annotations

import json
import struct
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

STORED, DEFLATED, ZSTANDARD = 0, 8, 93


def sample(number: int, logged: Mapping[str, Any] | None, epoch: int = 1) -> dict[str, Any]:
    """Return a sample; None for what it logged if it failed."""
    scores = {"judge": {"value": {"accuracy": 1.0}, "answer": "A", "metadata": {"stressreel": logged}, "history": []}}
    return {"id": f"s{number}", "epoch": epoch, "input": "?", "target": "A", "scores": scores if logged else {}}


def packed(content: bytes, method: int) -> bytes:
    """Compress as a ZIP archive does; Zstandard in frames of 1,000 bytes, as inspect-ai writes frames too."""
    if method == DEFLATED:
        deflate = zlib.compressobj(wbits=-15)
        return deflate.compress(content) + deflate.flush()
    if method == ZSTANDARD:
        pieces = [content[start : start + 1000] for start in range(0, len(content), 1000)]
        return b"".join(pa.compress(piece, "zstd", asbytes=True) for piece in pieces)
    return content


def archive(files: Mapping[str, bytes], method: int = ZSTANDARD, sizes: Mapping[str, int] | None = None) -> bytes:
    """Return a ZIP archive, as Python's own zipfile lacks Zstandard; `sizes` are stated, not real ones."""
    body, directory = b"", b""
    for name, content in files.items():
        data, path = packed(content, method), name.encode()
        size = (sizes or {}).get(name, len(content))
        about = struct.pack("<HHHHHIIIHH", 20, 0, method, 0, 33, zlib.crc32(content), len(data), size, len(path), 0)
        directory += b"PK\x01\x02" + struct.pack("<H", 20) + about + struct.pack("<HHHII", 0, 0, 0, 0, len(body)) + path
        body += b"PK\x03\x04" + about + path + data
    end = struct.pack("<HHHHIIH", 0, 0, len(files), len(files), len(directory), len(body), 0)
    return body + directory + b"PK\x05\x06" + end


def eval_file(path: Path, samples: Sequence[Any], method: int = ZSTANDARD, chunked: bool = False) -> Path:
    """Write an `.eval` file; `chunked`: in the layout with a folder for each sample."""
    ending = "/sample.json" if chunked else ".json"
    files = {f"samples/s{number}_epoch_1{ending}": json.dumps(each).encode() for number, each in enumerate(samples)}
    files |= {"samples/s0_epoch_1/events/0.json": b"[1]"} if chunked else {}
    path.write_bytes(archive({"_journal/start.json": b"{}", **files, "summaries.json": b"[]"}, method))
    return path


def json_file(path: Path, samples: Sequence[Any]) -> Path:
    path.write_text(json.dumps({"version": 2, "status": "success", "eval": {}, "samples": list(samples)}))
    return path
