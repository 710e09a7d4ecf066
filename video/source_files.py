"""Find annotation files and videos in folders."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from unicodedata import normalize

from ..core.errors import InputError, UsageError
from ..core.objects import Objects, address, objects_at

VIDEO_SUFFIXES = (
    *(".mp4", ".mkv", ".webm", ".mov", ".avi", ".m4v", ".3gp", ".3g2"),
    *(".flv", ".mpeg", ".mpg", ".mts", ".m2ts", ".ogv", ".ts", ".wmv"),
)
SHOWN = 5


def find_file(folder: Path, name: str) -> Path | None:
    """Find a file at most two levels deep. Prefer the shallowest match, then the first by name."""
    for pattern in (name, f"*/{name}", f"*/*/{name}"):
        matches = sorted(path for path in folder.glob(pattern) if path.is_file())
        if matches:
            return matches[0]
    return None


def same_name(text: str) -> str:
    """Return the composed form (NFC) of a name. File systems and editors may store the same name decomposed (NFD)."""
    return normalize("NFC", text)


def file_stem(name: str) -> tuple[str, str]:
    """Split a file name into its stem and its video suffix, which may be empty."""
    stem, suffix = os.path.splitext(name)
    return (stem, suffix) if suffix.lower() in VIDEO_SUFFIXES else (name, "")


@dataclass
class _Listing:
    """The files of a folder: all by name, and videos by stem. Names are composed."""

    by_name: dict[str, list[Path]] = field(default_factory=lambda: defaultdict(list))
    by_stem: dict[str, list[Path]] = field(default_factory=lambda: defaultdict(list))

    @classmethod
    def of(cls, folder: Path) -> _Listing:
        listing = cls()
        for path in _files_in(folder):
            name = same_name(path.name)
            stem, suffix = file_stem(name)
            listing.by_name[name].append(path)
            if suffix:
                listing.by_stem[stem].append(path)
        return listing

    def fits(self, name: str) -> list[Path]:
        """Return the videos that a name may mean if no file has exactly this name."""
        stem, suffix = file_stem(name)
        other_case = [path for path in self.by_stem.get(stem, ()) if path.suffix.lower() == suffix.lower()]
        return [*self.by_name.get(name, ()), *self.by_stem.get(name, ()), *(other_case if suffix else ())]


def _matches(name: str, listings: Sequence[_Listing]) -> list[Path]:
    """Return the files that a name may mean. Of folders with a file of the same name, the first counts."""
    if os.path.splitext(name)[1]:
        for listing in listings:
            if exact := listing.by_name.get(name):
                return exact
    by_name: dict[str, list[Path]] = {}
    for listing in listings:
        here: dict[str, list[Path]] = defaultdict(list)
        for path in listing.fits(name):
            here[same_name(path.name)].append(path)
        by_name = {**here, **by_name}
    return [path for paths in by_name.values() for path in paths]


def find_videos(
    folders: Iterable[Path], names: Mapping[str, str] | Iterable[str], subfolders: Sequence[str] = (".",)
) -> dict[str, Path]:
    """Find the file of each video by its id. Omit videos that have no file.

    A name with a suffix, such as `clip.MOV`, means the file of that name, whatever its suffix. A name without one means
    the file with that stem and one of `VIDEO_SUFFIXES`. Upper and lower case differ only in stems. `folders` and their
    `subfolders` ("." is the folder itself) are searched in order; of files with the same name, the first is used.

    Args:
        folders: Folders, or URLs of object storage.
        names: Names by id, or ids that are also the names.
        subfolders: Relative paths below each folder.

    Raises:
        InputError: Several files fit a name.
    """
    named = names if isinstance(names, Mapping) else {name: name for name in names}
    searched_folders = dict.fromkeys(folder / sub for folder in folders for sub in subfolders)
    listings = [_Listing.of(folder) for folder in searched_folders]
    matches = {video: _matches(same_name(name), listings) for video, name in named.items()}
    doubtful = {video: paths for video, paths in matches.items() if len(paths) > 1}
    if doubtful:
        lines = [
            f"{named[video]}: {', '.join(map(str, doubtful[video][:SHOWN]))}" for video in sorted(doubtful)[:SHOWN]
        ]
        more = [f"… and {len(doubtful) - SHOWN:,} more"] * (len(doubtful) > SHOWN)
        raise InputError(
            "several files fit the name of a video.\n  "
            + "\n  ".join([*lines, *more])
            + "\nGive the file's full name in the annotations, with its suffix, or keep only the right file in the "
            "folders that are searched."
        )
    return {video: paths[0] for video, paths in matches.items() if paths}


def searched(
    folders: Iterable[Path], subfolders: Sequence[str] = (".",), names: Mapping[str, str] | None = None
) -> list[str]:
    """Return a line on each folder that `find_videos` searched: whether it exists, and how many videos it contains.

    Files whose names resemble one of `names` without fitting it are listed after the folders.
    """
    lines: dict[str, str] = {}
    alike: dict[str, list[str]] = defaultdict(list)
    for folder in dict.fromkeys(folder / sub for folder in folders for sub in subfolders):
        shown = address(folder) or str(folder)
        files = [path for path in _files_in(folder) if file_stem(path.name)[1]]
        for path in files:
            alike[_loosely(path.name)].append(path.name)
        state = f"{len(files):,} video files" + (f" such as {files[0].name}" if files else "")
        if not address(folder) and not os.access(folder, os.R_OK | os.X_OK):
            state = "cannot be read" if folder.is_dir() else "does not exist"
        lines.setdefault(shown, state)
    near = [
        f"there is no {name}, but there is {', '.join(alike[_loosely(name)])}: correct the name if this is the video"
        for name in sorted((names or {}).values())
        if alike.get(_loosely(name)) and not any(_fits(file, name) for file in alike[_loosely(name)])
    ]
    return [*(f"searched: {shown} ({state})" for shown, state in lines.items()), *near[:SHOWN]]


def _loosely(name: str) -> str:
    return file_stem(same_name(name))[0].casefold()


def _fits(file: str, name: str) -> bool:
    (stem, suffix), (wanted, wanted_suffix) = file_stem(same_name(file)), file_stem(same_name(name))
    return stem == wanted and (not wanted_suffix or suffix.lower() == wanted_suffix.lower())


def _files_in(folder: Path) -> list[Path]:
    url = address(folder)
    if url is not None:
        keys = [entry["path"] for entry in Objects(url).list()]
        return [Path(f"{url}/{key}") for key in keys if "/" not in key]
    with suppress(OSError):  # absent or unreadable, as `searched` tells
        return sorted(path for path in folder.iterdir() if path.is_file())
    return []


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
