"""Whether the disk has room for a build, looked at before work starts."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

from ...core.errors import OutputError

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
