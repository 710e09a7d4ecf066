"""Where annotation files and videos lie in the folders that people keep them in."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from ..errors import UsageError

VIDEO_SUFFIXES = (".mp4", ".mkv", ".webm", ".mov", ".avi", ".m4v")


def find_file(folder: Path, name: str) -> Path | None:
    """Find a file in a folder or up to two folders below it; the shallowest, first by name."""
    for pattern in (name, f"*/{name}", f"*/*/{name}"):
        found = sorted(path for path in folder.glob(pattern) if path.is_file())
        if found:
            return found[0]
    return None


def find_videos(folders: Iterable[Path], ids: Iterable[str], subfolders: Sequence[str] = (".",)) -> dict[str, Path]:
    """Find the video file of each id.

    Args:
        folders: Where to look, first match wins.
        ids: Source ids: the files' names without suffix.
        subfolders: Where to look in each folder, first match wins; "." is the folder itself.

    Returns:
        The files found, by id, .mp4 before other suffixes. Ids without a file are absent.
    """
    wanted = set(ids)
    found: dict[str, Path] = {}
    for folder in folders:
        for sub in subfolders:
            place = folder / sub
            if not place.is_dir():
                continue
            here: dict[str, Path] = {}
            for path in sorted(place.iterdir()):
                if path.stem in wanted and path.suffix.lower() in VIDEO_SUFFIXES and path.is_file():
                    best = here.get(path.stem)
                    if best is None or _rank(path) < _rank(best):
                        here[path.stem] = path
            found = here | found
    return found


def _rank(path: Path) -> int:
    return VIDEO_SUFFIXES.index(path.suffix.lower())


def video_folder(path: Path) -> Path:
    """Return a folder of videos that the user named.

    Raises:
        UsageError: It is none.
    """
    if not path.is_dir():
        raise UsageError(f"--videos {path}: there is no folder of that name.")
    return path
