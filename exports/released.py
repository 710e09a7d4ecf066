"""A finished output in the layout in which the benchmark's authors publish theirs, so that their programs read it."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterable
from pathlib import Path

from ..core.errors import InputError, OutputError, StressreelError
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
    temporary: Path | None = None
    count = 0
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        temporary = Path(tempfile.mkdtemp(prefix=f".{folder.name}-", dir=folder.parent))
        for name, content in files:
            path = inside(temporary, name)
            if path.parent != temporary or path.exists():
                raise InputError(
                    f"{name!r} is {'the name of two files' if path.exists() else 'no name for a file'} of this layout, "
                    "which names files by videos. `stressreel verify` says more."
                )
            path.write_bytes(content)
            count += 1
        temporary.chmod(0o755)
        os.replace(temporary, folder)
    except OSError as error:
        if isinstance(error, StressreelError):
            raise
        why = error.strerror or error
        raise OutputError(f"cannot write {folder}: {why}. Give --to a folder that you may write to.") from error
    finally:
        if temporary is not None:
            shutil.rmtree(temporary, ignore_errors=True)
    return count
