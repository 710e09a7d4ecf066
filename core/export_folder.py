"""The folder of an export: which of its files are ours, so that a later export takes away those and nothing else.

`output.json` names every file of an export. `open_folder` is for many large files: they are named before they appear,
so whatever a stopped export left is known to be its own, the same command goes on with it, and another one may only be
given the folder with --force. `replace_folder` is for small files, which are all written before any is touched.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
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
            raise InputError(f"{_has(self.path, taken)}, which no export wrote. Move it, or give another --to.")
        self.files.update(files)
        self._write(complete=False)

    def finish(self) -> None:
        """Remove what an earlier export left and this one has not, and say that all is there.

        Raises:
            OutputError: The folder cannot be written.
        """
        with writing_to(self.path):
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
        self.leftover, self.before = frozenset(), {}
        self._write(complete=True)

    def _write(self, *, complete: bool) -> None:
        files = {**{name: {} for name in sorted(self.leftover)}, **self.before, **self.files}
        with writing_to(self.path):
            write_json(self.path / ABOUT, {**self.about, "complete": complete, "files": files})


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

    def fits(found: Mapping[str, Any]) -> bool:
        files = found.get("files")
        if found.get("format") != about["format"] or not isinstance(files, dict):
            return False
        return all(map(_below, files)) and all(isinstance(each, dict) for each in files.values())

    found = _earlier(path, fits, "such an export")
    if found is None:
        return ExportFolder(path, about)
    files = found.pop("files")
    complete = found.pop("complete", None)
    same = found == dict(about)
    if not force and (complete or not same):
        what = "an export" if complete else "the beginning of an export of something else, or with other options"
        raise InputError(
            f"{path} holds something already, {what}. Give --to a new or empty folder, or --force over an export."
        )
    with writing_to(path):
        remove_temporaries(path)
    return ExportFolder(path, about, files if same else {}, frozenset() if same else frozenset(files))


def replaceable_files(folder: Path, *, force: bool) -> frozenset[str]:
    """Name the files of the earlier export in a folder that `replace_folder` fills; none if it is new or empty.

    Args:
        folder: The folder, there or not.
        force: Whether an earlier export may be written over.

    Raises:
        InputError: It is a file, or holds something else than an export that may be written over.
        OutputError: It cannot be read.
    """

    def fits(found: Mapping[str, Any]) -> bool:
        files = found.get("files")
        return isinstance(files, list) and ABOUT in files and all(name == ABOUT or _plain(name) for name in files)

    found = _earlier(folder, fits, "an export of this version")
    if found is None:
        return frozenset()
    if not force:
        raise InputError(
            f"{folder} holds something already, an export. Give --to a new or empty folder, or --force over an export."
        )
    return frozenset(found["files"])


def replace_folder(folder: Path, about: Mapping[str, Any], files: Mapping[str, bytes], earlier: frozenset[str]) -> None:
    """Write small files into a folder in the place of an earlier export's.

    All is written to a temporary folder first; what was there is touched when that has succeeded.

    Args:
        folder: The folder.
        about: What `output.json` says besides the names of the files.
        files: Content by name.
        earlier: Names of the earlier export's files; of these, those that `files` lacks are removed.

    Raises:
        InputError: A name is taken by a file that the earlier export did not write, or is none for a file.
        OutputError: The folder cannot be written.
    """
    if odd := [name for name in files if not _plain(name)]:
        raise InputError(f"a file would be called {odd[0]!r}, which is no name for one. `stressreel verify` says more.")
    named = {**about, "files": sorted([*files, ABOUT])}
    content = {**files, ABOUT: (json.dumps(named, indent=2, ensure_ascii=False) + "\n").encode()}
    taken = [
        name for name in content if os.path.lexists(folder / name) and (name not in earlier or (folder / name).is_dir())
    ]
    if taken:
        raise InputError(
            f"{_has(folder, taken)}, which the earlier export did not write. Move it, or give another --to or --name."
        )
    with writing_to(folder):
        new = not folder.exists()
        folder.mkdir(parents=True, exist_ok=True)
        try:
            with tempfile.TemporaryDirectory(prefix=".stressreel-", dir=folder) as temporary:
                for name, data in content.items():
                    inside(Path(temporary), name).write_bytes(data)
                for name in content:
                    os.replace(Path(temporary) / name, folder / name)
        except OSError:
            if new:
                with suppress(OSError):
                    folder.rmdir()
            raise
        for name in earlier - set(content):
            if (folder / name).is_file():
                (folder / name).unlink()


def _earlier(folder: Path, fits: Callable[[Mapping[str, Any]], bool], kind: str) -> dict[str, Any] | None:
    """Read what `output.json` of an earlier export says; None if the folder is new or empty.

    Args:
        folder: The folder.
        fits: Whether the export is of the kind that may be gone on with or written over.
        kind: What the kind is called.

    Raises:
        InputError: It is a file, or holds something else.
        OutputError: It cannot be read.
    """
    with writing_to(folder):
        if not folder.is_dir():
            if os.path.lexists(folder):
                raise InputError(f"{folder} is a file. --to needs a folder, new or empty.")
            return None
        if not any(folder.iterdir()):
            return None
        try:
            about = parse_json(read_own(folder / ABOUT)) if (folder / ABOUT).is_file() else None
        except ValueError:  # not UTF-8, not JSON
            about = None
    found: dict[str, Any] = about if isinstance(about, dict) else {}
    if not (str(found.get("exported_by", "")).startswith("stressreel ") and fits(found)):
        raise InputError(
            f"{folder} holds something already, and no {ABOUT} of {kind}. Give --to a new or empty folder."
        )
    return found


def _below(name: str) -> bool:
    """Whether a name is a path below the folder, and neither `output.json` nor hidden."""
    parts = name.split("/")
    plain = all(part and not part.startswith(".") and not set(part) & set("\\:") for part in parts)
    return plain and name != ABOUT and not any(ord(character) < 32 or ord(character) == 127 for character in name)


def _plain(name: Any) -> bool:
    """Whether a name is that of a file in the folder itself."""
    return isinstance(name, str) and "/" not in name and _below(name)


def _has(folder: Path, names: Iterable[str]) -> str:
    return f"{folder} has {', '.join(sorted(names)[:5])}"


def plain_name(name: Any) -> str:
    """Return the name of a video as it is, if it can be that of a file.

    Raises:
        InputError: It names another folder, or cannot be a file's.
    """
    if _plain(name):
        return str(name)
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


@contextmanager
def writing_to(folder: Path) -> Iterator[None]:
    """Turn what the system says of a folder in a `with` block into an OutputError that says what to do."""
    try:
        yield
    except OSError as error:
        if isinstance(error, OutputError):
            raise
        raise OutputError(
            f"cannot write {folder}: {error.strerror or error}. Give --to a folder that you may write to."
        ) from error
