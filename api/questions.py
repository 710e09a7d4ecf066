"""Load the questions to ask a model, and locate their clips."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from ..core.errors import InputError, UsageError
from ..core.settings import parsed, within
from ..core.tabular import comma_separated

if TYPE_CHECKING:
    from ..evaluation.models.clip_sources import ClipSource
    from ..evaluation.models.question_set import QuestionSet

Frames = Annotated[int, within(1, 1024)]
Names = Annotated[Sequence[str] | str, parsed(comma_separated)]
Device = Annotated[str | None, Parameter(show_default="a GPU if available")]
Checkpoint = str | Path | None
MostTokens = Annotated[int | None, within(1, 100_000, show_default="16, or 96 for sentences")]
TestSplit = Annotated[str | None, Parameter(show_default="test if it exists")]


def read_questions(
    path: Path,
    configs: Sequence[str],
    split: str | None,
    settings: Sequence[str],
    limit: int | None,
    columns: Mapping[str, str] | None = None,
) -> QuestionSet:
    """Load the questions to ask from an output or a file. Empty `configs` or `settings` select all.

    `columns` are names of columns in a file that differ from the usual ones.

    Raises:
        UsageError: The path, table, split or setting does not exist.
        InputError: The questions cannot be read.
    """
    from ..builders import benchmark_of
    from ..core.files import sha256_file
    from ..core.output import reading
    from ..evaluation.models.question_set import QuestionSet, Scorable, questions_of_file, questions_of_output
    from ..evaluation.tasks import remarks

    part = limit is not None or bool(settings)
    if path.is_file():
        if configs or split or settings:
            raise UsageError(f"{path} is a file, which has no tables, splits or settings. Omit these options.")
        questions = tuple(questions_of_file(path, limit=limit, columns=columns))
        return QuestionSet(path, questions, {"questions": path.name, "sha256": sha256_file(path)}, "", (), part, ())
    if columns:
        raise UsageError(f"{path} is an output, whose columns have fixed names. Omit --columns.")
    with reading(path) as output:
        benchmark = benchmark_of(output)
        tasks = benchmark.tasks(output, split)
        by_table = benchmark.scoring().by_table
        names = {task.table for task in tasks}
        if unknown := sorted(set(configs) - names):
            raise UsageError(
                f"{path} has no questions in table {unknown[0]!r}. Tables with questions: {', '.join(sorted(names))}."
            )
        tasks = [task for task in tasks if not configs or task.table in configs]
        questions = tuple(questions_of_output(output, tasks, settings=settings, limit=limit))
        identity = {name: output.info[name] for name in ("builder", "dataset_version", "fingerprint")}
    if not questions:
        raise InputError(f"{path} has no questions to ask in {', '.join(sorted(names))}.")
    part = part or any(task.left_out for task in tasks) or (bool(configs) and not by_table)
    named = {Scorable(task.table if by_table else None, task.split, task.writes): None for task in tasks}
    return QuestionSet(path, questions, identity, identity["fingerprint"], tuple(named), part, tuple(remarks(tasks)))


def find_clips(asked: QuestionSet, videos: Path | str | None) -> ClipSource:
    """Locate the videos to which questions refer, in the output itself or in a folder.

    Raises:
        UsageError: The folder does not exist, or is required but not specified.
        InputError: Videos are missing.
    """
    from ..builders import benchmark_of
    from ..core.output import reading
    from ..evaluation.models.clip_sources import StoredClips, clips_in_folder, holds_videos

    if asked.path.is_file():
        return clips_in_folder(asked.questions, Path(videos or asked.path.parent))
    with reading(asked.path) as output:
        benchmark = benchmark_of(output)
        tables = {question.clip.table for question in asked.questions if question.clip}
        if holds_videos(output, benchmark.declared(output.info), tables):
            return StoredClips(output)
        if videos is None and benchmark.defines("clips"):
            raise UsageError(f"{asked.path} has no videos. Use --videos to specify the folder with the source videos.")
        return benchmark.clips(output, asked.questions, Path(videos or ""))
