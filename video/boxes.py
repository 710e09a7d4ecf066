"""Check the sample counts that MP4 and QuickTime files declare.

FFmpeg allocates memory for these counts before it reads any sample, so a file of one kilobyte can request gigabytes.
"""

from __future__ import annotations

import io
import re
from typing import BinaryIO

import numpy as np

MOST_MORE = 10_000_000  # tolerated samples beyond one per byte
MOST_EDITED = 5_000_000  # samples times edits, checked above `FEW_EDITS`; each edit can include all samples
FEW_EDITS = 10
LARGEST_BOX = 100_000_000  # bytes to search
TIMES = re.compile(rb"stts.{4}(.{4})", re.DOTALL)
COUNTS = re.compile(rb"(?:st(?:sz|z2).{8}|(elst).{4}|trun.{4})(.{4})", re.DOTALL)
NAME = re.compile(rb"[A-Za-z0-9_ ]{4}")


def check_samples(file: BinaryIO) -> None:
    """Raise ValueError if a file declares more samples than it could hold, else return to its beginning."""
    size = file.seek(0, io.SEEK_END)
    samples = timed = edits = start = 0
    while start + 8 <= size:
        file.seek(start)
        head = file.read(16)
        length = int.from_bytes(head[:4]) if head[:4] != b"\0\0\0\1" else int.from_bytes(head[8:])
        if head[4:8] != b"mdat" and NAME.fullmatch(head[4:8]):  # FFmpeg does not parse any other boxes
            file.seek(start)
            box = file.read(min(length or size, LARGEST_BOX))
            timed += sum(_timed(box, found.end(), int.from_bytes(found[1])) for found in TIMES.finditer(box))
            for edited, count in COUNTS.findall(box):
                if edited:
                    edits = max(edits, int.from_bytes(count))
                else:
                    samples += int.from_bytes(count)
        if length < 8:  # the box extends to the end of the file
            break
        start += length
    file.seek(0)
    if max(samples, timed) > size + MOST_MORE or (edits > FEW_EDITS and samples * edits > MOST_EDITED):
        raise ValueError(
            f"it declares {max(samples, timed):,} samples and up to {edits:,} edits, more than {size:,} bytes can hold"
        )


def _timed(box: bytes, start: int, entries: int) -> int:
    table = np.frombuffer(box, ">u4", 2 * min(entries, (len(box) - start) // 8), start)
    return int(table[::2].sum(dtype=np.uint64))
