"""Track the files of an export, so that a later export removes only files that an earlier one wrote.

`output.json` lists every file before it is written. The same command can therefore continue an interrupted export,
while any other command requires --force.
"""

from __future__ import annotations

import os
import re
import shutil
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any
from unicodedata import normalize

from filelock import FileLock, Timeout

from .documents import parse_own, read_own
from .errors import DiskFullError, InputError, OutputError
from .files import FULL, output_error, remove_temporaries, sha256_text, write_json
from .output import FORBIDDEN, FinishedOutput, inside
from .version import __version__

ABOUT = "output.json"
MP4 = ".mp4"
UNWANTED = re.compile(
    r"""["%*/:<>?\\|]|^[. -]|[. ]$|^(?=(?:con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³]) *(?:\.|$)).""", re.IGNORECASE
)  # Windows reserves the names; programs read a first dash as an option
LONGEST_NAME = 200  # bytes, which leaves room for a hash, a suffix and the name of a temporary file
HASHED = 24

Receipt = dict[str, Any]
"""What `output.json` records about a file, such as its `sha256`. It may be empty."""


def identity(output: FinishedOutput, kind: str, split: str | None) -> dict[str, Any]:
    """Return the entries of `output.json` that identify the exported output and the export format."""
    return {
        "builder": output.info["builder"],
        "dataset_version": output.info["dataset_version"],
        "fingerprint": output.info["fingerprint"],
        "canary": output.info.get("canary"),
        "exported_by": f"stressreel {__version__}",
        "format": kind,
        "split": split,
    }


@dataclass
class ExportFolder:
    """The folder of an export in progress.

    Attributes:
        about: Identity of the export. Only an export with the same identity can be continued without --force.
        before: Files that an earlier run of the same export wrote, with their receipts.
        leftover: Files that an export with another identity wrote.
        files: Files of the current export, with their receipts.
    """

    path: Path
    about: Mapping[str, Any]
    before: Mapping[str, Receipt] = field(default_factory=dict)
    leftover: frozenset[str] = frozenset()
    files: dict[str, Receipt] = field(default_factory=dict)

    def place(self, name: str) -> Path:
        """Return the path of a file in the folder, or raise InputError if a link leads outside it."""
        return inside(self.path, name)

    def announce(self, files: Mapping[str, Receipt]) -> None:
        """Record files and their receipts in `output.json` before the files are written.

        Raises:
            InputError: A file exists that was not exported, or a path leads outside the folder.
            OutputError: The folder cannot be written.
        """
        known = {*self.leftover, *self.before}
        foreign = [name for name in files if os.path.lexists(self.place(name)) and name not in known]
        if foreign:
            names = ", ".join(sorted(foreign)[:5])
            raise InputError(
                f"{self.path} contains files that were not written by an export: {names}. Move them, or choose another "
                "folder with --to."
            )
        self.files.update(files)
        self._write(complete=False)

    def finish(self) -> None:
        """Remove obsolete files of an earlier export, and mark the export as complete."""
        with writing_to(self.path):
            for name in {*self.leftover, *self.before} - set(self.files):
                try:
                    path = self.place(name)
                except InputError:  # not written by an export
                    continue
                if path.is_file():
                    path.unlink()
                    for parent in PurePosixPath(name).parents[:-1]:
                        with suppress(OSError):  # not empty
                            (self.path / parent).rmdir()
        self.leftover, self.before = frozenset(), {}
        self._write(complete=True)

    def _write(self, *, complete: bool) -> None:
        files = {**{name: {} for name in sorted(self.leftover)}, **self.before, **self.files}
        with writing_to(self.path):
            write_json(self.path / ABOUT, {**self.about, "complete": complete, "files": files})


def open_folder(path: Path, about: Mapping[str, Any], *, force: bool) -> ExportFolder:
    """Open a folder for an export.

    Args:
        path: A folder that is absent, empty, or contains an unfinished export with the same identity; with `force`, any
            export in the same format.
        about: Identity of the export as JSON values, including `exported_by` and `format`.
        force: Whether to overwrite a finished or different export.

    Raises:
        InputError: The folder contains other files.
        OutputError: The folder cannot be read.
    """
    earlier = _earlier(path, about["format"])
    if earlier is None:
        return ExportFolder(path, about)
    files = earlier.pop("files")
    complete = earlier.pop("complete", None)
    same = earlier == dict(about)
    if not force and (complete or not same):
        what = "an export" if complete else "an unfinished export of another output or with other options"
        raise InputError(
            f"{path} already contains {what}. Choose a new or empty folder with --to, or overwrite it with --force."
        )
    with writing_to(path):
        remove_temporaries(path)
    return ExportFolder(path, about, files if same else {}, frozenset() if same else frozenset(files))


def _earlier(folder: Path, kind: str) -> dict[str, Any] | None:
    with writing_to(folder):
        if not folder.is_dir():
            if os.path.lexists(folder):
                raise InputError(f"{folder} is a file. Choose a new or empty folder with --to.")
            return None
        if not any(folder.iterdir()):
            return None
        try:
            about = parse_own(read_own(folder / ABOUT)) if (folder / ABOUT).is_file() else None
        except ValueError:  # not UTF-8, not JSON
            about = None
    record: dict[str, Any] = about if isinstance(about, dict) else {}
    files = record.get("files")
    ours = str(record.get("exported_by", "")).startswith("stressreel ") and record.get("format") == kind
    receipts = isinstance(files, dict) and all(isinstance(receipt, dict) for receipt in files.values())
    if not (ours and receipts and all(map(_below, files or ()))):
        raise InputError(
            f"{folder} is not empty and does not contain {ABOUT} of an export in this format. Choose a new or empty "
            "folder with --to."
        )
    return record


def _below(name: str) -> bool:
    parts = name.split("/")
    plain = all(part and not part.startswith(".") and not set(part) & set("\\:") for part in parts)
    return plain and name != ABOUT and not any(ord(character) < 32 or ord(character) == 127 for character in name)


def escaped(name: str, unwanted: re.Pattern[str], longest: int) -> str:
    """Percent-encode the parts of a name that match a pattern. A name of more than `longest` bytes ends in a hash."""
    name = unwanted.sub(lambda match: "".join(f"%{byte:02X}" for byte in match[0].encode()), name)
    if len(name.encode()) <= longest:
        return name
    return f"{name.encode()[: longest - HASHED - 1].decode(errors='ignore')}-{sha256_text(name)[:HASHED]}"


def file_names(videos: Sequence[Any]) -> list[str]:
    """Return names for files of videos that are valid and distinct on every file system.

    Characters that some file system refuses are percent-encoded, as are first characters of reserved names. Names that
    differ only in case or in Unicode normalization get a hash.

    Raises:
        InputError: A build cannot have written a name.
    """
    names = []
    for video in videos:
        if not isinstance(video, str) or not video.removesuffix(MP4) or "/" in video or FORBIDDEN.search(video):
            raise InputError(f"{video!r} is not a valid file name of a video. Run `stressreel verify` for details.")
        names.append(escaped(video.removesuffix(MP4), UNWANTED, LONGEST_NAME))
    times = Counter(map(_folded, names))
    unique = (
        name if times[_folded(name)] == 1 else f"{name}-{sha256_text(str(video))[:HASHED]}"
        for name, video in zip(names, videos, strict=True)
    )
    return [name + MP4 for name in unique]


def _folded(name: str) -> str:
    return normalize("NFC", normalize("NFC", name).casefold())


def add_names(receipts: dict[str, Receipt], names: Iterable[str]) -> None:
    """Add an empty receipt for each file name, or raise InputError if a name is repeated."""
    for name in names:
        if name in receipts:
            raise InputError(f"two files would have the same name, {name}. Run `stressreel verify` for details.")
        receipts[name] = {}


@contextmanager
def new_folder(folder: Path) -> Iterator[Path]:
    """Yield a temporary folder beside `folder`, a new or empty one, that becomes `folder` on success.

    What a killed process has left there is removed first.

    Raises:
        OutputError: The folder cannot be written, or another process is writing it.
    """
    temporary = folder.with_name(f".{folder.name}.unfinished")
    new = temporary / "new"
    with writing_to(folder):
        folder.parent.mkdir(parents=True, exist_ok=True)
        temporary.mkdir(exist_ok=True, mode=0o700)
        if {entry.name for entry in temporary.iterdir()} - {"lock", "new"}:
            raise OutputError(f"{temporary} contains files that were not written by stressreel. Move or remove it.")
        try:
            with FileLock(temporary / "lock", timeout=0):
                try:
                    shutil.rmtree(new, ignore_errors=True)
                    new.mkdir()
                    yield new
                    os.replace(new, folder)
                finally:
                    shutil.rmtree(temporary, ignore_errors=True)
        except Timeout:
            raise OutputError(f"another process is writing {folder}. Wait for it to finish.") from None
        except OSError as error:
            if error.errno not in FULL and not isinstance(error, DiskFullError):
                raise
            raise DiskFullError(
                f"no space left while writing {folder}. Nothing of it was kept: free some space and run the same "
                "command again, or choose a folder on another disk with --to."
            ) from error


@contextmanager
def writing_to(folder: Path) -> Iterator[None]:
    """Convert an OSError in a `with` block to an OutputError that names the folder."""
    try:
        yield
    except OSError as error:
        if isinstance(error, OutputError):
            raise
        if error.errno in FULL:
            raise output_error(error, folder) from error
        raise OutputError(
            f"cannot write {folder}: {error.strerror or error}. Choose a writable folder with --to."
        ) from error
