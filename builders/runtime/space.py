"""Whether the disk has room for a build, looked at before work starts."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

from ...core.errors import OutputError
from ...video.estimate import Estimate

Needs = Callable[[bool], float]
"""Most bytes that a build has on disk at a time; given whether to look closely, which takes seconds."""

ERROR = 0.3  # of an estimate that looked closely
AMPLE = 4.0  # times an estimate from usual contents is enough in any case


def check_space(out: Path, needs: Needs, say: Callable[[str], None]) -> None:
    """Compare what a build needs with what is free.

    What an earlier run left in the output folder counts as room: either it is gone on with, or it is removed.

    Args:
        out: The output folder.
        needs: See `Needs`. It looks closely only if space might be short.
        say: Prints a warning if space might not be enough.

    Raises:
        OutputError: It cannot be enough, even if the estimate is too high by its error.
    """
    there = sum(file.stat().st_size for file in out.rglob("*") if file.is_file())
    free = shutil.disk_usage(folder_that_exists(out)).free
    if AMPLE * needs(False) <= free + there:
        return
    left = needs(True) - there
    if left <= free:
        if left * (1 + ERROR) > free:
            say(f"warning: {_gigabytes(free)} are free in {out}; about {_gigabytes(left)} are needed, ±{ERROR:.0%}")
        return
    short = f"{out}: about {_gigabytes(left)} are needed" + (f" beside the {_gigabytes(there)} there" if there else "")
    if left * (1 - ERROR) <= free:
        say(f"warning: {short} (±{ERROR:.0%}), and {_gigabytes(free)} are free. It may not be enough.")
        return
    raise OutputError(
        f"not enough space in {short} at a time (±{ERROR:.0%}), and {_gigabytes(free)} are free. Free some, give --out "
        "on another disk, build less (--limit, fewer perturbations or severities) or smaller (a higher --crf); "
        "--dry-run says what takes how much. --no-check-space builds anyway."
    )


def folder_that_exists(path: Path) -> Path:
    """Return a path, or the nearest folder above it that is there."""
    path = path.absolute()
    return next((folder for folder in (path, *path.parents) if folder.is_dir()), path)


def _gigabytes(count: float) -> str:
    return f"{count / 1e9:,.1f} GB" if count >= 1e9 else f"{max(count, 0) / 1e6:,.0f} MB"


def in_words(estimate: Estimate, workers: int, out: Path | None) -> list[str]:
    """Write what a build takes: a table by perturbation and severity where there are several, then everything together.

    Args:
        estimate: The estimate.
        workers: Processes; those for which there is no core make nothing faster.
        out: The output folder, if it is known, for the space that is free there.
    """
    total = estimate.total
    at_a_time = min(workers, os.cpu_count() or 1)
    lines = [
        *(_table(estimate) if len(estimate.parts) > 1 else []),
        f"about {size(total.size)} and {duration(total.cpu_s)} of CPU, which is {duration(total.cpu_s / at_a_time)} "
        f"with {workers} worker{'s' * (workers > 1)}",
        f"on disk at most {size(estimate.disk)} at a time, while it is packed"
        + (f"; {size(shutil.disk_usage(folder_that_exists(out)).free)} are free in {out}" if out else ""),
        estimate.basis,
    ]
    return [f"  {line}".rstrip() for line in lines]


def _table(estimate: Estimate) -> list[str]:
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
    """Write bytes for people, to three digits: "375 MB", "13.8 GB"."""
    for unit in ("kB", "MB", "GB"):
        count /= 1000
        if count < 999.5:
            return f"{count:.3g} {unit}" if count < 100 else f"{count:.0f} {unit}"
    return f"{count / 1000:.3g} TB"


def duration(seconds: float) -> str:
    """Write seconds for people: "260 s", "12 minutes", "5.3 hours"."""
    if seconds < 600:
        return f"{seconds:.0f} s" if seconds >= 10 else f"{seconds:.1f} s"
    if seconds < 6000:
        return f"{seconds / 60:.0f} minutes"
    return f"{seconds / 3600:,.1f} hours" if seconds < 360000 else f"{seconds / 3600:,.0f} hours"
