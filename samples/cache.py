"""Where `--charades sample` finds its files: drawn once, kept in the user's cache folder."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

from .. import __version__
from ..errors import InputError
from ..records.files import output_error
from .charades import write_charades_sample

SAMPLES: dict[str, Callable[[Path], None]] = {"charades": write_charades_sample}


def cached_sample(kind: str) -> Path:
    """Give the folder of a sample, drawing it first if this version of stressreel has not yet done so.

    It lies in `$XDG_CACHE_HOME/stressreel` (default `~/.cache/stressreel`) and appears whole or not at all.

    Raises:
        OutputError: The cache folder cannot be written.
    """
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "stressreel"
    folder = cache / f"sample-{kind}-{__version__}"
    if not folder.is_dir():
        try:
            cache.mkdir(parents=True, exist_ok=True)
            temporary = Path(tempfile.mkdtemp(prefix=f".sample-{kind}-", dir=cache))
        except OSError as error:
            raise output_error(error, cache) from error
        try:
            write_sample(kind, temporary)
            if not folder.is_dir():  # another process may have been faster
                os.replace(temporary, folder)
        finally:
            shutil.rmtree(temporary, ignore_errors=True)
    return folder


def write_sample(kind: str, folder: Path) -> None:
    """Write a sample into a folder that is new or empty.

    Raises:
        InputError: There is no such sample, or the folder holds something.
    """
    if kind not in SAMPLES:
        raise InputError(f"there is no sample {kind!r}. Samples: {', '.join(SAMPLES)}.")
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise InputError(f"{folder} holds something already; it stays as it is. Give a new or empty folder.")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise output_error(error, folder) from error
    SAMPLES[kind](folder)
