"""Export an output for evaluation harnesses, for the programs of a benchmark's authors, or as files."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter

from ..core.errors import UsageError
from ..core.files import check_outside
from ..core.functions import public
from ..core.results import Result, Table, json_value, rows_json
from ..core.rows import AnyPath
from .ask import TestSplit

if TYPE_CHECKING:
    from ..builders.base import Benchmark
    from ..core.output import FinishedOutput
    from ..evaluation.tasks import Task

NAME = re.compile(r"[A-Za-z0-9_]+")
HARNESSES = {"inspect": "inspect_ai", "lmms-eval": "lmms_eval", "vlmevalkit": "vlmevalkit"}
"""Name of the module in `exports` for each harness."""
AnySplit = Annotated[str | None, Parameter(show_default="all")]


@dataclass(frozen=True)
class ExportedTasks(Result):
    """Result of `export_tasks`.

    Attributes:
        group: Prefix of the task names.
        commands: Commands that run the tasks and score their logs.
    """

    folder: Path
    group: str
    tasks: tuple[Task, ...] = field(repr=False)
    commands: tuple[str, ...]

    def as_tables(self) -> tuple[Table, ...]:
        """Return a table of the tasks, each with its table and split."""
        rows = tuple((f"{self.group}_{task.name}", task.table, task.split) for task in self.tasks)
        return (Table("tasks", f"Tasks in {self.folder}", ("task", "table", "split"), rows),)

    def as_json(self) -> dict[str, Any]:
        """Return the tasks with their tables and splits, and the commands."""
        return {**json_value(self), "tasks": rows_json(self.as_tables()[0])}

    def __str__(self) -> str:
        from ..evaluation.tasks import remarks

        count = len(self.tasks)
        wrote = f"Wrote {count} task{'s' * (count != 1)} to {self.folder}, group {self.group}."
        return "\n".join([wrote, *remarks(self.tasks), "", *self.commands])


@dataclass(frozen=True)
class ExportedFiles(Result):
    """Result of an export as files.

    Attributes:
        count: Number of videos, or of files of a released layout.
        kept: Number of videos or tar shards that an earlier export had already written.
        shards: Number of tar shards, or None.
        what: Plural noun for the counted files.
        calls: Python calls that load the files.
    """

    folder: Path
    count: int
    kept: int = 0
    shards: int | None = None
    what: str = "videos"
    calls: tuple[str, ...] = ()

    def __str__(self) -> str:
        shards = "" if self.shards is None else f" in {self.shards:,} shard{'s' * (self.shards != 1)}"
        existing = f", of which {self.kept:,} already existed" if self.kept else ""
        wrote = f"Wrote {self.count:,} {self.what} to {self.folder}{shards}{existing}."
        return "\n".join([wrote, *(f"  {call}" for call in self.calls)])


@public
def export_tasks(
    out: AnyPath,
    harness: Literal["inspect", "lmms-eval", "vlmevalkit"],
    *,
    to: Path | str,
    name: Annotated[str | None, Parameter(show_default="stressreel_<benchmark>")] = None,
    split: TestSplit = None,
    videos: Path | str | None = None,
    force: bool = False,
) -> ExportedTasks:
    """Export `out` as tasks for lmms-eval, VLMEvalKit or inspect-ai.

    Score the logs of the harness with `stressreel score OUT --predictions LOGS`.

    For example::

        stressreel export lmms-eval out/clavi --to tasks

    Args:
        out: The output of a build.
        harness: Evaluation harness that runs the tasks.
        to: Folder for the tasks, new or empty.
        name: Prefix of the task names, which have the form <name>_<table>.
        split: Split with the questions to ask.
        videos: Folder with the source videos, for an output that contains no videos and does not modify them.
        force: Overwrite an earlier export in the folder, but keep other files.

    Raises:
        UsageError: The output, split or video folder does not exist, the target folder is inside the output, or the
            name is not allowed.
        InputError: The output cannot be read, videos are missing, or the folder contains other files.
        OutputError: The folder cannot be written.
    """
    from ..evaluation.tasks import check_videos
    from ..exports.task_folder import write_tasks

    module = import_module(f"..exports.{HARNESSES[harness]}", __package__)
    folder = Path(to)
    with _exporting(Path(out), folder) as (output, benchmark):
        group = name if name is not None else f"stressreel_{output.info['builder']}"
        if not NAME.fullmatch(group):
            raise UsageError(f"--name {group!r} may contain only letters, digits and _.")
        tasks = benchmark.tasks(output, split)
        source_videos = None if videos is None else _source_videos(benchmark, output, tasks, Path(videos))
        if source_videos is None:
            check_videos(output, tasks)
        by_table = benchmark.scoring().by_table
        files, entries = module.task_files(output, tasks, group, by_table=by_table)
        write_tasks(output, tasks, folder, files, entries, source_videos, force=force)
    return ExportedTasks(
        folder, group, tuple(tasks), tuple(module.commands(output, tasks, folder, group, by_table=by_table))
    )


def exporter(harness: Literal["inspect", "lmms-eval", "vlmevalkit"]) -> Callable[..., ExportedTasks]:
    """Return the function of the command `stressreel export HARNESS`."""

    def export(out: AnyPath, **options: Any) -> ExportedTasks:
        return export_tasks(out, harness, **options)

    hints = {name: hint for name, hint in export_tasks.__annotations__.items() if name != "harness"}
    signature = inspect.signature(export_tasks)
    export.__doc__ = (export_tasks.__doc__ or "").replace("export lmms-eval", f"export {harness}")
    export.__annotations__ = hints
    export.__signature__ = signature.replace(parameters=[signature.parameters[name] for name in hints])  # type: ignore[attr-defined]
    return export


@contextmanager
def _exporting(out: Path, folder: Path) -> Iterator[tuple[FinishedOutput, Benchmark]]:
    from ..builders import benchmark_of
    from ..core.output import reading

    with reading(out) as output:
        check_outside(folder, out)
        yield output, benchmark_of(output)


def _source_videos(
    benchmark: Benchmark, output: FinishedOutput, tasks: Sequence[Task], folder: Path
) -> Mapping[str, Path] | None:
    """Locate the videos of tasks in a folder, or return None if the output contains them."""
    from ..evaluation.models.clip_sources import FolderClips, holds_videos
    from ..evaluation.models.question_set import questions_of_output

    if holds_videos(output, benchmark.declared(output.info), {name for task in tasks for name in task.video_tables}):
        return None
    questions = list(questions_of_output(output, tasks))
    clips = benchmark.clips(output, questions, folder)
    if not isinstance(clips, FolderClips):
        raise UsageError(
            f"--videos: the videos of {output.path} can only be created by its build. Build it again with videos."
        )
    return clips.paths


@public
def export_released(out: AnyPath, *, to: Path | str, split: TestSplit = None) -> ExportedFiles:
    """Export `out` in the file layout of the benchmark's published release, which its authors' programs read.

    For example::

        stressreel export released out/decomp --to hierarchies --split test

    Args:
        out: The output of a build.
        to: Target folder, new or empty.
        split: Split to export.

    Raises:
        UsageError: The output or split does not exist, or the folder is inside the output.
        InputError: The benchmark has no published layout, the output cannot be read, or the folder is not empty.
        OutputError: The folder cannot be written.
    """
    from ..builders.parts import layout_of
    from ..exports.layouts import write_layout

    folder = Path(to)
    with _exporting(Path(out), folder) as (output, benchmark):
        count = write_layout(folder, layout_of(benchmark, output, split))
    return ExportedFiles(folder, count, what=f"file{'s' * (count != 1)}")


@public
def export_files(
    out: AnyPath, *, to: Path | str, split: AnySplit = None, force: bool = False, progress: bool = True
) -> ExportedFiles:
    """Export the videos of `out` as MP4 files with a metadata.jsonl, in one folder per table and split.

    Other tables become JSON lines. To continue an interrupted export, run the same command again. Files with a
    matching SHA-256 are kept.

    For example::

        stressreel export files out/clavi --to files

    Args:
        out: The output of a build.
        to: Target folder, new or empty.
        split: Split to export.
        force: Overwrite an earlier export in the folder, but keep other files.
        progress: Show progress.

    Raises:
        UsageError: The output or split does not exist, or the folder is inside the output.
        InputError: The output has no videos or cannot be read, or the folder contains other files.
        OutputError: The folder cannot be written.
    """
    return _export_videos(out, to, split, force=force, progress=progress)


@public
def export_webdataset(
    out: AnyPath,
    *,
    to: Path | str,
    split: AnySplit = None,
    shard_size: str = "500MB",
    force: bool = False,
    progress: bool = True,
) -> ExportedFiles:
    """Export the videos of `out` as a WebDataset, in tar shards with <key>.mp4 and <key>.json for each video.

    Other tables become JSON lines. To continue an interrupted export, run the same command again. Complete shards are
    kept.

    For example::

        stressreel export webdataset out/clavi --to shards --shard-size 1GB

    Args:
        out: The output of a build.
        to: Target folder, new or empty.
        split: Split to export.
        shard_size: Maximum size of a shard, in kB, MB or GB.
        force: Overwrite an earlier export in the folder, but keep other files.
        progress: Show progress.

    Raises:
        UsageError: The output or split does not exist, the folder is inside the output, or the size is not allowed.
        InputError: The output has no videos or cannot be read, or the folder contains other files.
        OutputError: The folder cannot be written.
    """
    from ..exports.layouts import byte_size

    return _export_videos(out, to, split, shard_size=byte_size(shard_size), force=force, progress=progress)


def _export_videos(
    out: AnyPath, to: Path | str, split: str | None, *, shard_size: int | None = None, force: bool, progress: bool
) -> ExportedFiles:
    from ..exports.layouts import write_videos

    folder = Path(to)
    with _exporting(Path(out), folder) as (output, benchmark):
        configs, counts = benchmark.declared(output.info), output.info["counts"]
        videos, kept, shards = write_videos(output, configs, folder, split, shard_size, force=force, progress=progress)
    names = [table.name for table in configs if table.videos and counts.get(table.name)]
    if shard_size is None:
        calls = [f'load_dataset("videofolder", data_dir="{folder / name}")' for name in names]
    else:
        calls = [f'load_dataset("{folder}", "{name}")' for name in names]
    return ExportedFiles(folder, videos, kept, shards, calls=tuple(calls))
