"""A folder of tasks: which of its files are ours, and new ones written whole.

`output.json` says where the output lies and names every file of the export, so that a later export takes away those and
nothing else.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from ..core.documents import parse_json, read_own
from ..core.errors import InputError, OutputError
from ..core.export_folder import ABOUT
from ..core.inside import inside
from ..core.output import FinishedOutput
from ..core.version import __version__
from ..evaluation.metrics import answers
from ..evaluation.tasks import Task

HERE = Path(__file__).parent


def earlier_files(folder: Path, *, force: bool) -> frozenset[str]:
    """Name the files of the earlier export in a folder; none if the folder is new or empty.

    Args:
        folder: The folder, there or not.
        force: Whether an earlier export may be written over.

    Raises:
        InputError: It is a file, or holds something else than an export that may be written over.
        OutputError: It cannot be read.
    """
    try:
        if not folder.is_dir():
            if os.path.lexists(folder):
                raise InputError(f"{folder} is a file. --to needs a folder, new or empty.")
            return frozenset()
        if not any(folder.iterdir()):
            return frozenset()
        files = _files_of(folder / ABOUT)
    except OSError as error:
        raise _refusal(error, folder) from error
    if files is None:
        raise InputError(
            f"{folder} holds something already, and no {ABOUT} of an export of this version. Give --to a new or empty "
            "folder."
        )
    if not force:
        raise InputError(
            f"{folder} holds something already, an export. Give --to a new or empty folder, or --force over an export."
        )
    return files


def _files_of(path: Path) -> frozenset[str] | None:
    """Read which files an export wrote; None if this is no list of ours."""
    if not path.is_file():
        return None
    try:
        about = parse_json(read_own(path))
    except ValueError:  # not UTF-8, not JSON
        return None
    if not isinstance(about, dict) or not str(about.get("exported_by", "")).startswith("stressreel "):
        return None
    files = about.get("files")
    if not isinstance(files, list) or ABOUT not in files:
        return None
    return frozenset(files) if all(map(_plain, files)) else None


def _plain(name: Any) -> bool:
    """Return whether a name is that of a file in the folder itself."""
    return isinstance(name, str) and name == Path(name).name and name not in ("", "..") and "\0" not in name


def exported_by(output: FinishedOutput) -> dict[str, Any]:
    """Return what tasks say of where they are from, with a version that changes when the questions do."""
    info = output.info
    return {
        "version": f"{info['dataset_version']}+{info['fingerprint'][:16]}",
        "builder": info["builder"],
        "fingerprint": info["fingerprint"],
        "exported_by": f"stressreel {__version__}",
    }


def run_time_files() -> dict[str, bytes]:
    """Read the files that every folder of tasks has: what is done while a harness runs, and how answers are read."""
    return {path.name: path.read_bytes() for path in (HERE / "harness.py", Path(answers.__file__))}


def about_export(
    output: FinishedOutput, tasks: Sequence[Task], videos: Mapping[str, Path] | None = None
) -> dict[str, Any]:
    """Return what `output.json` says: where the output lies, and its videos if it holds none; what tasks leave out."""
    left_out = {task.table: list(task.left_out) for task in tasks if task.left_out}
    about = {"path": str(output.path.resolve()), **exported_by(output), "left_out": left_out}
    return about | ({} if videos is None else {"videos": {name: str(path.resolve()) for name, path in videos.items()}})


def write_folder(folder: Path, about: Mapping[str, Any], files: Mapping[str, bytes], earlier: frozenset[str]) -> None:
    """Write a folder of tasks in the place of an earlier one.

    All is written to a temporary folder first; what was there is touched when that has succeeded.

    Args:
        folder: The folder.
        about: What `output.json` says besides the names of the files.
        files: Content by name.
        earlier: Names of the earlier export's files; of these, those that `files` lacks are removed.

    Raises:
        InputError: A name is taken by a file that the earlier export did not write.
        OutputError: The folder cannot be written.
    """
    named = {**about, "files": sorted([*files, ABOUT])}
    if odd := [name for name in files if not _plain(name)]:
        raise InputError(f"a file would be called {odd[0]!r}, which is no name for one. `stressreel verify` says more.")
    content = {**files, ABOUT: (json.dumps(named, indent=2, ensure_ascii=False) + "\n").encode()}
    taken = [
        name for name in content if os.path.lexists(folder / name) and (name not in earlier or (folder / name).is_dir())
    ]
    if taken:
        raise InputError(
            f"{folder} has {', '.join(sorted(taken)[:5])}, which the earlier export did not write. Move it, or give "
            "another --to or --name."
        )
    try:
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
    except OSError as error:
        raise _refusal(error, folder) from error


def _refusal(error: OSError, folder: Path) -> OutputError:
    return OutputError(f"cannot write {folder}: {error.strerror or error}. Give --to a folder that you may write to.")
