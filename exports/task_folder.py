"""A folder of tasks for a harness: what the folders of all harnesses have."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from ..core.export_folder import replace_folder
from ..core.output import FinishedOutput
from ..core.version import __version__
from ..evaluation.metrics import answers
from ..evaluation.tasks import Task, check_videos

HERE = Path(__file__).parent
CHOSEN = ("accuracy", "unreadable")
"""What a harness itself says of options that were chosen."""
WRITTEN = ("exact", "empty")
"""What it says of texts."""

TaskFiles = Callable[[FinishedOutput, Sequence[Task], str], tuple[dict[str, bytes], dict[str, Any]]]
"""Makes the files of a harness for tasks whose names begin with a word, and what `output.json` says besides."""


def write_tasks(
    harness: TaskFiles,
    output: FinishedOutput,
    tasks: Sequence[Task],
    folder: Path,
    group: str,
    earlier: frozenset[str] = frozenset(),
    videos: Mapping[str, Path] | None = None,
) -> None:
    """Write a folder of tasks.

    Args:
        harness: Makes the files.
        output: The output.
        tasks: Its tasks.
        folder: The folder.
        group: What the names of tasks begin with.
        earlier: Files of an earlier export in the folder; see `export_folder.replaceable_files`.
        videos: The videos by their ids, of an output that holds none.

    Raises:
        InputError: The output holds no videos, a name is not allowed, or a file of somebody else is in the way.
        OutputError: The folder cannot be written.
    """
    if videos is None:
        check_videos(output, tasks)
    files, more = harness(output, tasks, group)
    left_out = {task.table: list(task.left_out) for task in tasks if task.left_out}
    about = {"path": str(output.path.resolve()), **exported_by(output), "left_out": left_out}
    if videos is not None:
        about["videos"] = {name: str(path.resolve()) for name, path in videos.items()}
    # what is done while a harness runs, and how answers are read
    run_time = {path.name: path.read_bytes() for path in (HERE / "harness.py", Path(answers.__file__))}
    replace_folder(folder, about | more, files | run_time, earlier)


def exported_by(output: FinishedOutput) -> dict[str, Any]:
    """Return what tasks say of where they are from, with a version that changes when the questions do."""
    info = output.info
    return {
        "version": f"{info['dataset_version']}+{info['fingerprint'][:16]}",
        "builder": info["builder"],
        "fingerprint": info["fingerprint"],
        "exported_by": f"stressreel {__version__}",
    }
