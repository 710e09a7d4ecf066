"""Export an output in the file layout of a benchmark's published release, which its authors' programs read."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from ..core.errors import InputError
from ..core.export_folder import new_folder
from ..core.inside import inside


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
