"""Check whether there is enough disk space before a build starts."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

from tqdm import tqdm

from ...core.errors import OutputError
from ...video.estimate import BuildEstimate, PartEstimate

Needs = Callable[[bool], float]
"""Returns the peak disk usage of a build in bytes; the argument requests a close estimate, which takes seconds."""

ERROR = 0.3  # relative error of a close estimate
AMPLE = 4.0  # factor by which a rough estimate is multiplied to be certainly sufficient


def check_space(out: Path, needs: Needs, say: Callable[[str], None]) -> None:
    """Compare the expected size of a build with the free space.

    Files of an earlier run count as free space, because they are reused or removed. The close estimate is computed only
    if space might be insufficient.

    Raises:
        OutputError: The estimate is more than the free space.
    """
    if AMPLE * needs(False) <= (room := available(out)):
        return
    disk = needs(True)
    needed = f"about {_size(disk)} (±{ERROR:.0%}) is needed in {out}, where {_size(room)} is available"
    if disk > room:
        raise OutputError(
            f"not enough space: {needed}. Free up some space, use another --out, build less (--limit; --dry-run shows "
            "the size of each part) or smaller videos (a higher --crf), or build anyway with --no-check-space."
        )
    if disk * (1 + ERROR) > room:
        say(f"warning: {needed}")


def available(out: Path) -> int:
    """Return the bytes that a folder contains, which a build reuses or removes, and those that are free on its disk."""
    existing = sum(file.stat().st_size for file in out.rglob("*") if file.is_file())
    folder = next(folder for folder in (out.absolute(), *out.absolute().parents) if folder.is_dir())
    return existing + shutil.disk_usage(folder).free


def _size(count: float) -> str:
    return tqdm.format_sizeof(count, "B")


def in_words(estimate: BuildEstimate, out: Path | None) -> list[str]:
    """Describe the size and time of a build. If there are several perturbations, include a table of them."""
    lines = [
        *(_table(estimate.parts) if len(estimate.parts) > 1 else []),
        f"about {_size(estimate.size_bytes)} and {tqdm.format_interval(estimate.cpu_seconds)} of CPU",
        f"at most {_size(estimate.peak_disk_bytes)} on disk at a time, during packing",
        estimate.basis,
    ]
    if out:
        short = ": not enough, so a build would stop" * (estimate.peak_disk_bytes > available(out))
        lines.append(f"{_size(available(out))} is available in {out}{short}")
    return [f"  {line}".rstrip() for line in lines]


def _table(parts: Sequence[PartEstimate]) -> list[str]:
    """Return a line for each table, with its size, its CPU time and the size at each severity."""
    severities = sorted({f"severity {part.severity}" for part in parts if part.severity})
    rows = [("", "size", "CPU", *severities)]
    for table in dict.fromkeys(part.table for part in parts):
        members = [part for part in parts if part.table == table]
        cpu_s = sum(part.cpu_seconds for part in members)
        sizes = [_size(part.size_bytes) for part in members if part.severity]
        rows.append((table, _size(sum(part.size_bytes for part in members)), tqdm.format_interval(cpu_s), *sizes))
    return ["", *(f"{name:16}" + "".join(f"{cell:>12}" for cell in cells) for name, *cells in rows), ""]
