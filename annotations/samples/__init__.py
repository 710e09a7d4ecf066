"""Built-in samples: small datasets in the original annotation formats, with animated videos.

They are generated on first use and kept in the user's cache folder.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

from ...core.errors import InputError, StressreelError
from ...core.files import output_error, user_cache
from ...core.progress import Working
from .causal import write_causal_sample, write_causal_texts
from .charades import write_charades_sample
from .msrvtt import write_msrvtt_sample

SAMPLES: dict[str, Callable[[Path], None]] = {
    "charades": write_charades_sample,
    "msrvtt": write_msrvtt_sample,
    "causal": write_causal_sample,
    "causal-annotations": write_causal_texts,
}


def cached_sample(kind: str) -> Path:
    """Return the folder of a sample, and generate the sample if it is not cached yet.

    The cache is `$XDG_CACHE_HOME/stressreel` (default `~/.cache/stressreel`). The name of the folder contains a hash of
    this package's files, so that a sample from another version is never used.
    """
    folder = user_cache() / f"sample-{kind}-{source_hash(Path(__file__).parent)}"
    if not folder.is_dir():
        write_sample(kind, folder)
    return folder


def source_hash(*folders: Path) -> str:
    """Return a hash of the code and the tables in folders."""
    content = hashlib.sha256()
    for path in (path for folder in folders for path in sorted(folder.iterdir())):
        if path.suffix in (".py", ".yaml"):
            content.update(f"{path.name}\0".encode() + path.read_bytes() + b"\0")
    return content.hexdigest()[:16]


def write_sample(kind: str, folder: Path) -> None:
    """Write a sample to a folder, atomically.

    Raises:
        InputError: The sample is unknown, or the folder is not empty.
        OutputError: The folder cannot be written.
    """
    if kind not in SAMPLES:
        raise InputError(f"unknown sample {kind!r}. Choose from {', '.join(SAMPLES)}.")
    temporary: Path | None = None
    try:
        if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
            raise InputError(f"{folder} is not empty. Choose a new or empty folder.")
        folder.parent.mkdir(parents=True, exist_ok=True)
        temporary = Path(tempfile.mkdtemp(prefix=f".{folder.name}-", dir=folder.parent))
        with Working("drawing the sample"):
            SAMPLES[kind](temporary)
        temporary.chmod(0o755)
        if not (folder.is_dir() and any(folder.iterdir())):  # another process may have finished first
            os.replace(temporary, folder)
    except OSError as error:
        if isinstance(error, StressreelError):
            raise
        raise output_error(error, folder) from error
    finally:
        if temporary is not None:
            shutil.rmtree(temporary, ignore_errors=True)
