"""A finished output in the layout in which the benchmark's authors publish theirs, so that their programs read it."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable
from pathlib import Path

from ..core.errors import InputError
from ..core.export_folder import writing_to
from ..core.inside import inside


def write_layout(folder: Path, files: Iterable[tuple[str, bytes]]) -> int:
    """Write files into a folder, which appears whole or not at all.

    Args:
        folder: New or empty.
        files: Names and contents, taken one at a time.

    Returns:
        The number of files.

    Raises:
        InputError: The folder is a file, or holds something, or a name is none for a file in it.
        OutputError: It cannot be written.
    """
    if os.path.lexists(folder) and (not folder.is_dir() or any(folder.iterdir())):
        raise InputError(
            f"{folder} holds something already, and this layout has no place for other files. Give --to a new or empty "
            "folder."
        )
    count = 0
    with writing_to(folder):
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=f".{folder.name}-", dir=folder.parent) as temporary:
            new = Path(temporary) / "new"
            new.mkdir()
            for name, content in files:
                path = inside(new, name)
                if path.parent != new or path.exists():
                    raise InputError(
                        f"{name!r} is {'the name of two files' if path.exists() else 'no name for a file'} of this "
                        "layout, which names files by videos. `stressreel verify` says more."
                    )
                path.write_bytes(content)
                count += 1
            os.replace(new, folder)
    return count
