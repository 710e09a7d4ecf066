"""A folder that an export fills file by file, and goes on with after it was stopped.

`output.json` names every file of the export before it appears, so whatever a stopped export left is known to be its
own: the same command goes on with it, and another one may only be given the folder with --force.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

from .documents import parse_json, read_own
from .errors import InputError, OutputError
from .files import remove_temporaries, write_json
from .inside import inside
from .output import FinishedOutput
from .version import __version__

ABOUT = "output.json"

Receipt = dict[str, Any]
"""What `output.json` keeps of a file, to know it again: empty, or its `sha256` and more."""


def identity(output: FinishedOutput, kind: str, split: str | None) -> dict[str, Any]:
    """Return what `output.json` says of an export: another one of the same has the same."""
    return {
        "builder": output.info["builder"],
        "dataset_version": output.info["dataset_version"],
        "fingerprint": output.info["fingerprint"],
        "exported_by": f"stressreel {__version__}",
        "format": kind,
        "split": split,
    }


@dataclass
class ExportFolder:
    """The folder of an export that is being written.

    Attributes:
        path: The folder.
        about: What is exported, and how: an export of the same goes on, another one needs --force.
        before: Receipts of the files that an earlier export of the same wrote or began.
        leftover: Files of an earlier export, of the same or not.
        files: Receipts of this export's files so far.
    """

    path: Path
    about: Mapping[str, Any]
    before: Mapping[str, Receipt] = field(default_factory=dict)
    leftover: frozenset[str] = frozenset()
    files: dict[str, Receipt] = field(default_factory=dict)

    def place(self, name: str) -> Path:
        """Return the path of a file of this folder.

        Raises:
            InputError: It lies elsewhere: a folder on the way is a link.
        """
        return inside(self.path, name)

    def announce(self, files: Mapping[str, Receipt]) -> None:
        """Name files in `output.json` before they are written.

        Args:
            files: Their receipts, by path below the folder.

        Raises:
            InputError: A name is taken by a file that no export wrote, or leads out of the folder.
            OutputError: The folder cannot be written.
        """
        known = {*self.leftover, *self.before}
        taken = [name for name in files if os.path.lexists(self.place(name)) and name not in known]
        if taken:
            raise InputError(
                f"{self.path} has {', '.join(sorted(taken)[:5])}, which no export wrote. Move it, or give another --to."
            )
        self.files.update(files)
        self._write(complete=False)

    def finish(self) -> None:
        """Remove what an earlier export left and this one has not, and say that all is there.

        Raises:
            OutputError: The folder cannot be written.
        """
        try:
            for name in {*self.leftover, *self.before} - set(self.files):
                try:
                    path = self.place(name)
                except InputError:  # not what an export wrote
                    continue
                if path.is_file():
                    path.unlink()
                    for parent in PurePosixPath(name).parents[:-1]:
                        with suppress(OSError):  # others have files there
                            (self.path / parent).rmdir()
        except OSError as error:
            raise _refusal(error, self.path) from error
        self.leftover, self.before = frozenset(), {}
        self._write(complete=True)

    def _write(self, *, complete: bool) -> None:
        files = {**{name: {} for name in sorted(self.leftover)}, **self.before, **self.files}
        try:
            write_json(self.path / ABOUT, {**self.about, "complete": complete, "files": files})
        except OSError as error:
            raise _refusal(error, self.path) from error


def open_folder(path: Path, about: Mapping[str, Any], *, force: bool) -> ExportFolder:
    """Open a folder for an export.

    Args:
        path: A folder that is absent or empty, holds the same export unfinished, or with `force` any export of this
            kind.
        about: What is exported, and how: plain JSON values, with `exported_by` and `format`.
        force: Whether a finished export, or one of something else, may be written over.

    Raises:
        InputError: It is something else.
        OutputError: It cannot be read.
    """
    try:
        if not path.is_dir():
            if os.path.lexists(path):
                raise InputError(f"{path} is a file. --to needs a folder, new or empty.")
            return ExportFolder(path, about)
        if not any(path.iterdir()):
            return ExportFolder(path, about)
        found = _read(path / ABOUT, about["format"])
        if found is None:
            raise InputError(
                f"{path} holds something already, and no {ABOUT} of such an export. Give --to a new or empty folder."
            )
        files = found.pop("files")
        complete = found.pop("complete", None)
        same = found == dict(about)
        if not force and (complete or not same):
            what = "an export" if complete else "the beginning of an export of something else, or with other options"
            raise InputError(
                f"{path} holds something already, {what}. Give --to a new or empty folder, or --force over an export."
            )
        remove_temporaries(path)
    except OSError as error:
        raise _refusal(error, path) from error
    return ExportFolder(path, about, files if same else {}, frozenset() if same else frozenset(files))


def _read(path: Path, kind: str) -> dict[str, Any] | None:
    """Read what `output.json` says; None if it is not one of this kind of export."""
    if not path.is_file():
        return None
    try:
        about = parse_json(read_own(path))
    except ValueError:  # not UTF-8, not JSON
        return None
    if not isinstance(about, dict) or not str(about.get("exported_by", "")).startswith("stressreel "):
        return None
    files = about.get("files")
    if about.get("format") != kind or not isinstance(files, dict):
        return None
    return about if all(map(_below, files)) and all(isinstance(each, dict) for each in files.values()) else None


def _below(name: str) -> bool:
    """Whether a name is a path below the folder, and neither `output.json` nor hidden."""
    parts = name.split("/")
    plain = all(part and not part.startswith(".") and not set(part) & set("\\:") for part in parts)
    return plain and name != ABOUT and not any(ord(character) < 32 or ord(character) == 127 for character in name)


def plain_name(name: Any) -> str:
    """Return the name of a video as it is, if it can be that of a file.

    Raises:
        InputError: It names another folder, or cannot be a file's.
    """
    if isinstance(name, str) and "/" not in name and _below(name):
        return name
    raise InputError(f"a video is called {name!r}, which is no name for a file. `stressreel verify` says more.")


def add_names(found: dict[str, Receipt], names: Iterable[str]) -> None:
    """Add the names of files to those that an export will write.

    Raises:
        InputError: A name comes twice.
    """
    for name in names:
        if name in found:
            raise InputError(f"two files would be called {name}. `stressreel verify` says more.")
        found[name] = {}


def _refusal(error: OSError, folder: Path) -> OutputError:
    if isinstance(error, OutputError):
        return error
    return OutputError(f"cannot write {folder}: {error.strerror or error}. Give --to a folder that you may write to.")
