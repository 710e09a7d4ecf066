"""Find annotation files and videos in folders."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from ..core.errors import UsageError
from ..core.objects import Objects, address, objects_at

VIDEO_SUFFIXES = (".mp4", ".mkv", ".webm", ".mov", ".avi", ".m4v")


def find_file(folder: Path, name: str) -> Path | None:
    """Find a file at most two levels deep. Prefer the shallowest match, then the first by name."""
    for pattern in (name, f"*/{name}", f"*/*/{name}"):
        found = sorted(path for path in folder.glob(pattern) if path.is_file())
        if found:
            return found[0]
    return None


def find_videos(folders: Iterable[Path], ids: Iterable[str], subfolders: Sequence[str] = (".",)) -> dict[str, Path]:
    """Find the video file for each source id. If there are several formats, prefer .mp4; omit ids that have no file.

    `folders` and their `subfolders` ("." is the folder itself) are searched in order, and the first match is used.
    """
    wanted = set(ids)
    found: dict[str, Path] = {}
    for folder in folders:
        for sub in subfolders:
            here: dict[str, Path] = {}
            for path in _files_in(folder / sub):
                if path.stem in wanted and path.suffix.lower() in VIDEO_SUFFIXES:
                    best = here.get(path.stem)
                    if best is None or _rank(path) < _rank(best):
                        here[path.stem] = path
            found = here | found
    return found


def searched(folders: Iterable[Path], subfolders: Sequence[str] = (".",)) -> list[str]:
    """Describe the folders that `find_videos` searched: whether they exist, and how many videos they contain."""
    found: dict[str, str] = {}
    for folder in folders:
        for sub in subfolders:
            place = folder / sub
            name = address(place) or str(place)
            files = [path for path in _files_in(place) if path.suffix.lower() in VIDEO_SUFFIXES]
            exists = bool(address(place)) or place.is_dir()
            example = f" such as {files[0].name}" if files else ""
            found.setdefault(name, f"{len(files):,} video files{example}" if exists else "does not exist")
    return [f"{name} ({what})" for name, what in found.items()]


def _files_in(place: Path) -> list[Path]:
    url = address(place)
    if url is not None:
        return [Path(f"{url}/{each.key}") for each in Objects(url).list() if "/" not in each.key]
    return sorted(path for path in place.iterdir() if path.is_file()) if place.is_dir() else []


def _rank(path: Path) -> int:
    return VIDEO_SUFFIXES.index(path.suffix.lower())


def video_folder(path: Path) -> Path:
    """Check that a folder with videos given by the user exists. It may be a URL in object storage.

    Raises:
        UsageError: The folder does not exist.
        MissingExtraError: The path is a URL, and obstore is not installed.
    """
    if address(path) is not None:
        objects_at(path)
    elif not path.is_dir():
        raise UsageError(f"--videos: folder {path} does not exist.")
    return path
