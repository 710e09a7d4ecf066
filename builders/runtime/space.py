"""Check whether there is enough disk space before a build starts."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

from ...core.errors import OutputError
from ...video.estimate import BuildEstimate

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
    existing, free = _space(out)
    if AMPLE * needs(False) <= free + existing:
        return
    disk = needs(True)
    if short := shortage(out, disk):
        raise OutputError(
            f"{short}. Free up some space, use an --out on another disk, build less (--limit, fewer perturbations or "
            "severities) or smaller videos (a higher --crf). --dry-run shows the size of each part; --no-check-space "
            "builds anyway."
        )
    left = disk - existing
    if left * (1 + ERROR) > free:
        say(f"warning: {out} has {_gigabytes(free)} free, but about {_gigabytes(left)} (±{ERROR:.0%}) is needed")


def shortage(out: Path, disk: float) -> str:
    """Return the space needed and free, in a sentence, or an empty string if a build of `disk` bytes fits."""
    existing, free = _space(out)
    left = disk - existing
    if left <= free:
        return ""
    more = f" in addition to the {_gigabytes(existing)} already there" if existing else ""
    return (
        f"not enough space in {out}: about {_gigabytes(left)} (±{ERROR:.0%}) is needed{more} at a time, but only "
        f"{_gigabytes(free)} is free"
    )


def _space(out: Path) -> tuple[int, int]:
    """Return the bytes in a folder, and those that are free."""
    existing = sum(file.stat().st_size for file in out.rglob("*") if file.is_file())
    return existing, shutil.disk_usage(folder_that_exists(out)).free


def folder_that_exists(path: Path) -> Path:
    """Return a folder or, if it does not exist yet, its nearest existing parent."""
    path = path.absolute()
    return next((folder for folder in (path, *path.parents) if folder.is_dir()), path)


def _gigabytes(count: float) -> str:
    return f"{count / 1e9:,.1f} GB" if count >= 1e9 else f"{max(count, 0) / 1e6:,.0f} MB"


def in_words(estimate: BuildEstimate, workers: int, out: Path | None) -> list[str]:
    """Describe the size and time of a build. If there are several perturbations, include a table of them."""
    total = estimate.total
    at_a_time = min(workers, os.cpu_count() or 1)
    lines = [
        *(_table(estimate) if len(estimate.parts) > 1 else []),
        f"about {size(total.size)} and {duration(total.cpu_s)} of CPU, which is {duration(total.cpu_s / at_a_time)} "
        f"with {workers} worker{'s' * (workers > 1)}",
        f"at most {size(estimate.disk)} on disk at a time, during packing"
        + (f"; {size(shutil.disk_usage(folder_that_exists(out)).free)} are free in {out}" if out else ""),
        estimate.basis,
        *([f"{short}: a build would stop"] if out and (short := shortage(out, estimate.disk)) else []),
    ]
    return [f"  {line}".rstrip() for line in lines]


def _table(estimate: BuildEstimate) -> list[str]:
    tables = list(dict.fromkeys(table for table, _ in estimate.parts))
    severities = sorted({severity for _, severity in estimate.parts if severity})
    head = "".join(f"{severity:>9}" for severity in severities)
    lines = ["", f"{'size at severity':16}{head}{'all':>10}{'CPU':>12}"]
    for table in tables:
        costs = {severity: cost for (name, severity), cost in estimate.parts.items() if name == table}
        cells = "".join(f"{size(costs[s].size) if s in costs else '':>9}" for s in severities)
        whole = size(sum(cost.size for cost in costs.values()))
        lines.append(f"{table:16}{cells}{whole:>10}{duration(sum(cost.cpu_s for cost in costs.values())):>12}")
    rest = f"{'start, decoding, packing, card':{16 + 9 * len(severities)}}"
    return [*lines, f"{rest}{'':10}{duration(estimate.fixed.cpu_s):>12}", ""]


def size(count: float) -> str:
    """Format a number of bytes with three digits, such as "375 MB" and "13.8 GB"."""
    for unit in ("kB", "MB", "GB"):
        count /= 1000
        if count < 999.5:
            return f"{count:.3g} {unit}" if count < 100 else f"{count:.0f} {unit}"
    return f"{count / 1000:.3g} TB"


def duration(seconds: float) -> str:
    """Format a number of seconds as a duration, such as "260 s", "12 minutes" and "5.3 hours"."""
    if seconds < 600:
        return f"{seconds:.0f} s" if seconds >= 10 else f"{seconds:.1f} s"
    if seconds < 6000:
        return f"{seconds / 60:.0f} minutes"
    return f"{seconds / 3600:,.1f} hours" if seconds < 360000 else f"{seconds / 3600:,.0f} hours"
