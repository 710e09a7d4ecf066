"""`stressreel export`: an output for evaluation harnesses, for the programs of a benchmark's authors, or as files."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING

import click

from .completion import complete_splits

if TYPE_CHECKING:
    from ..exports.tasks import Task
    from ..records.output import FinishedOutput

NAME = re.compile(r"[A-Za-z0-9_]+")


@click.group("export")
def command() -> None:
    """Write an output as tasks of an evaluation harness, in its authors' layout, as files, or as tar shards."""


def task_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add what the commands that write tasks of a harness have in common."""
    options = (
        click.argument("out", type=click.Path(path_type=Path)),
        click.option(
            "--to", "folder", type=click.Path(path_type=Path), required=True, help="Folder for the tasks: new or empty."
        ),
        click.option(
            "--name", help="What the names of tasks begin with: <name>_<table>.  [default: stressreel_<benchmark>]"
        ),
        click.option(
            "--split", shell_complete=complete_splits, help="The split to ask.  [default: test where there is one]"
        ),
        click.option("--force", is_flag=True, help="Write over an earlier export in the folder; other files stay."),
        click.option("--debug", is_flag=True, help="Show the traceback of an error."),
    )
    return reduce(lambda wrapped, option: option(wrapped), reversed(options), command)


@command.command("lmms-eval")
@task_options
def lmms_eval(out: Path, folder: Path, name: str | None, split: str | None, force: bool, debug: bool) -> None:
    """Write OUT as tasks of lmms-eval: YAML, and the Python that shows videos and reads answers.

    Its sample logs are predictions: `stressreel score OUT --predictions LOGS`.
    """
    from ..exports.lmms_eval import commands, write_tasks

    output, tasks, group, by_table = _export(out, folder, name, split, force, write_tasks)
    click.echo("\n" + "\n".join(commands(output, tasks, folder, group, by_table=by_table)))


@command.command("inspect")
@task_options
def inspect(out: Path, folder: Path, name: str | None, split: str | None, force: bool, debug: bool) -> None:
    """Write OUT as tasks of inspect-ai: Python, and the samples as JSON lines.

    Its logs are predictions: `stressreel score OUT --predictions LOGS`.
    """
    from ..exports.inspect_ai import commands, write_tasks

    output, tasks, _, by_table = _export(out, folder, name, split, force, write_tasks)
    click.echo("\n" + "\n".join(commands(output, tasks, folder, by_table=by_table)))


def _export(
    out: Path, folder: Path, name: str | None, split: str | None, force: bool, write: Callable[..., None]
) -> tuple[FinishedOutput, list[Task], str, bool]:
    """Write a folder of tasks, and describe it.

    Returns:
        The output, its tasks, the name of their group, and whether tables are scored one at a time.
    """
    from ..api import scoring_of, tasks_of
    from ..builders import benchmark_of
    from ..errors import UsageError
    from ..exports.folder import earlier_files
    from ..exports.tasks import remarks
    from ..records.output import reading

    with reading(out) as output:
        _outside(folder, out)
        earlier = earlier_files(folder, force=force)
        group = name if name is not None else f"stressreel_{output.info['builder']}"
        if not NAME.fullmatch(group):
            raise UsageError(f"--name {group!r}: letters, digits and _ only.")
        benchmark = benchmark_of(output)
        tasks = tasks_of(benchmark, output, split)
        write(output, tasks, folder, group, earlier)
    click.echo(f"Wrote {len(tasks)} task{'s' * (len(tasks) != 1)} to {folder}, group {group}.")
    for remark in remarks(tasks):
        click.echo(remark)
    return output, tasks, group, scoring_of(benchmark).by_table


def _outside(folder: Path, out: Path) -> None:
    """Refuse a folder in the output.

    Raises:
        UsageError: It lies there.
    """
    from ..errors import UsageError

    if folder.resolve().is_relative_to(out.resolve()):
        raise UsageError(f"{folder} lies in the output itself, which holds nothing but what was built. Choose another.")


@command.command("released")
@click.argument("out", type=click.Path(path_type=Path))
@click.option("--to", "folder", type=click.Path(path_type=Path), required=True, help="Folder: new or empty.")
@click.option("--split", shell_complete=complete_splits, help="The split to write.  [default: test where there is one]")
@click.option("--debug", is_flag=True, help="Show the traceback of an error.")
def released(out: Path, folder: Path, split: str | None, debug: bool) -> None:
    """Write OUT in the layout in which the benchmark's authors publish theirs, for their programs."""
    from ..api import layout_of
    from ..builders import benchmark_of
    from ..exports.released import write_layout
    from ..records.output import reading

    with reading(out) as output:
        _outside(folder, out)
        count = write_layout(folder, layout_of(benchmark_of(output), output, split))
    click.echo(f"Wrote {count:,} file{'s' * (count != 1)} to {folder}.")


@command.command("files")
@click.argument("out", type=click.Path(path_type=Path))
@click.option("--to", "folder", type=click.Path(path_type=Path), required=True, help="Folder: new or empty.")
@click.option(
    "--split",
    shell_complete=complete_splits,
    help="The split to write.  [default: all]",
)
@click.option("--force", is_flag=True, help="Write over an earlier export in the folder; other files stay.")
@click.option("--progress/--no-progress", default=True, show_default=True, help="Show progress.")
@click.option("--debug", is_flag=True, help="Show the traceback of an error.")
def files(out: Path, folder: Path, split: str | None, force: bool, progress: bool, debug: bool) -> None:
    """Write OUT as MP4 files with metadata.jsonl, a folder for each table and split; other tables as JSON lines.

    Run the same command again to go on with an export that was stopped: files with their SHA-256 are kept.
    """
    from ..builders import benchmark_of
    from ..exports.files import write_files
    from ..exports.media import video_tables
    from ..records.output import reading

    with reading(out) as output:
        check_outside(folder, out)
        configs = benchmark_of(output).configs(output.info)
        videos, kept = write_files(output, configs, folder, split, force=force, progress=progress)
        tables = video_tables(output, configs, split)
    there = f", of which {kept:,} were there already" if kept else ""
    click.echo(f"Wrote {videos:,} videos to {folder}{there}.")
    for table in tables:
        click.echo(f'  load_dataset("videofolder", data_dir="{folder / table}")')


@command.command("webdataset")
@click.argument("out", type=click.Path(path_type=Path))
@click.option("--to", "folder", type=click.Path(path_type=Path), required=True, help="Folder: new or empty.")
@click.option(
    "--split",
    shell_complete=complete_splits,
    help="The split to write.  [default: all]",
)
@click.option("--shard-size", default="500MB", show_default=True, help="Size that a shard has at most: kB, MB or GB.")
@click.option("--force", is_flag=True, help="Write over an earlier export in the folder; other files stay.")
@click.option("--progress/--no-progress", default=True, show_default=True, help="Show progress.")
@click.option("--debug", is_flag=True, help="Show the traceback of an error.")
def webdataset(
    out: Path, folder: Path, split: str | None, shard_size: str, force: bool, progress: bool, debug: bool
) -> None:
    """Write OUT as WebDataset: tar shards with <key>.mp4 and <key>.json for each video; other tables as JSON lines.

    Run the same command again to go on with an export that was stopped: whole shards are kept.
    """
    from ..builders import benchmark_of
    from ..exports.media import video_tables
    from ..exports.webdataset import byte_size, write_webdataset
    from ..records.output import reading

    size = byte_size(shard_size)
    with reading(out) as output:
        check_outside(folder, out)
        configs = benchmark_of(output).configs(output.info)
        videos, shards, kept = write_webdataset(
            output, configs, folder, split, shard_size=size, force=force, progress=progress
        )
        tables = video_tables(output, configs, split)
    there = f", of which {kept:,} were there already" if kept else ""
    click.echo(f"Wrote {videos:,} videos to {folder} in {shards:,} shard{'s' * (shards != 1)}{there}.")
    for table in tables:
        click.echo(f'  load_dataset("{folder}", "{table}")')


def check_outside(folder: Path, out: Path) -> None:
    """Refuse to write into the output.

    Raises:
        UsageError: The folder lies in it, or is it.
    """
    from ..errors import UsageError

    if folder.resolve().is_relative_to(out.resolve()):
        raise UsageError(f"{folder} lies in the output itself, which holds nothing but what was built. Choose another.")
