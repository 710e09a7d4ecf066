"""Options that commands share which ask a model: which questions, and what is shown with them."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from .completion import complete_splits, complete_tables

if TYPE_CHECKING:
    from ..asking.clips import Clips
    from ..asking.questions import Question
    from ..records.output import FinishedOutput


def question_options(command: Any) -> Any:
    """Add the choice of questions and frames."""
    options = (
        click.option(
            "--config",
            "configs",
            shell_complete=complete_tables,
            multiple=True,
            help="Ask this table only; may be repeated.",
        ),
        click.option(
            "--split", shell_complete=complete_splits, help="The split to ask.  [default: test where there is one]"
        ),
        click.option(
            "--setting",
            "settings",
            multiple=True,
            help='Of a suite: ask these settings only, such as clean or "jpeg-*"; may be repeated.',
        ),
        click.option("--limit", type=click.IntRange(min=1), help="Ask the first N questions of each task and setting."),
        click.option(
            "--videos",
            type=click.Path(path_type=Path),
            help="Folder of the source videos, where OUT holds none: perturbed frames are made on the fly.",
        ),
        click.option("--frames", type=click.IntRange(1, 1024), default=16, show_default=True, help="Frames of a clip."),
        click.option(
            "--size",
            type=click.IntRange(min=0),
            default=448,
            show_default=True,
            help="Longer side of a frame at most, pixels; 0: as it is.",
        ),
    )
    return reduce(lambda wrapped, option: option(wrapped), reversed(options), command)


@dataclass(frozen=True)
class Scorable:
    """What of an output is scored by itself.

    Attributes:
        config: The table; None if there is one score for all that is asked.
        split: The split.
        written: Whether its answers are in words, for `score open-ended`.
    """

    config: str | None
    split: str
    written: bool


@dataclass(frozen=True)
class Asked:
    """The questions that are asked, and where they are from.

    Attributes:
        path: The output, or the user's file.
        questions: The questions.
        identity: What they are of, for the record: a fingerprint, or a hash.
        fingerprint: The output's; "" of a file.
        tables: What is scored by itself; empty for a file.
        part: Whether not all questions of these are asked.
        remarks: What is not asked, and why.
    """

    path: Path
    questions: tuple[Question, ...]
    identity: dict[str, Any]
    fingerprint: str
    tables: tuple[Scorable, ...]
    part: bool
    remarks: tuple[str, ...]


def read_questions(
    path: Path, *, configs: Sequence[str], split: str | None, settings: Sequence[str], limit: int | None
) -> Asked:
    """Read what is asked.

    Args:
        path: The output of a build, or a file of the user's questions.
        configs: Tables to ask; none: all.
        split: The split; by default test where there is one.
        settings: Patterns of settings; none: all.
        limit: Questions of each task and setting.

    Raises:
        UsageError: There is no such path, table, split or setting.
        InputError: What is there cannot be read.
    """
    from ..api import scoring_of, tasks_of
    from ..asking.questions import questions_of_file, questions_of_output
    from ..builders import benchmark_of
    from ..errors import InputError, UsageError
    from ..exports.tasks import remarks
    from ..records.files import sha256_file
    from ..records.output import reading

    part = limit is not None or bool(settings)
    if path.is_file():
        if configs or split or settings:
            raise UsageError(f"{path} is a file: it has no tables, splits and settings. Leave those options out.")
        questions = tuple(questions_of_file(path, limit=limit))
        return Asked(path, questions, {"questions": path.name, "sha256": sha256_file(path)}, "", (), part, ())
    with reading(path) as output:
        benchmark = benchmark_of(output)
        tasks = tasks_of(benchmark, output, split)
        by_table = scoring_of(benchmark).by_table
        names = {task.table for task in tasks}
        if unknown := sorted(set(configs) - names):
            raise UsageError(f"{path} has no questions in a table {unknown[0]!r}. It has: {', '.join(sorted(names))}.")
        tasks = [task for task in tasks if not configs or task.table in configs]
        questions = tuple(questions_of_output(output, tasks, settings=settings, limit=limit))
        identity = {name: output.info[name] for name in ("builder", "dataset_version", "fingerprint")}
    if not questions:
        raise InputError(f"{path} has no questions to ask in {', '.join(sorted(names))}.")
    part = part or any(task.left_out for task in tasks) or (bool(configs) and not by_table)
    named = {Scorable(task.table if by_table else None, task.split, task.writes): None for task in tasks}
    return Asked(path, questions, identity, identity["fingerprint"], tuple(named), part, tuple(remarks(tasks)))


def find_clips(asked: Asked, videos: Path | None) -> Clips:
    """Find the videos of questions: in the output, or in a folder.

    Raises:
        UsageError: A folder is missing, or needed and not named.
        InputError: Videos are missing.
    """
    from ..asking.clips import StoredClips, clips_in_folder, holds_videos
    from ..builders import benchmark_of
    from ..errors import UsageError
    from ..records.output import open_output

    if asked.path.is_file():
        return clips_in_folder(asked.questions, videos or asked.path.parent)
    output: FinishedOutput = open_output(asked.path)
    benchmark = benchmark_of(output)
    tables = {question.clip.table for question in asked.questions if question.clip}
    if holds_videos(output, benchmark.configs(output.info), tables):
        return StoredClips(output)
    if benchmark.clips is None:
        raise UsageError(
            f"{asked.path} holds no videos (built with --no-render), and they are made in the build. Build it with "
            "them, or ask blind."
        )
    if videos is None:
        raise UsageError(f"{asked.path} holds no videos. Give the folder of the source videos with --videos.")
    return benchmark.clips(output, asked.questions, videos)


def check_target(path: Path, asked: Asked) -> None:
    """Refuse to write into an output.

    Raises:
        UsageError: The path lies in it.
    """
    from ..errors import UsageError

    with suppress(OSError):
        if asked.path.is_dir() and path.resolve().is_relative_to(asked.path.resolve()):
            raise UsageError(
                f"{path} lies in the output itself, which holds nothing but what was built. Choose another."
            )
