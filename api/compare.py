"""Compare the scores of models, or two outputs of the same benchmark."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from ..core.errors import UsageError
from ..core.files import resolved
from ..core.functions import public
from ..core.progress import Working
from ..core.results import Result
from ..core.rows import AnyPath, is_path
from ..core.settings import LARGEST_COUNT, Resamples, Seed, within

if TYPE_CHECKING:
    from ..builders.runtime.diff import Difference
    from ..evaluation.metrics.comparison import Comparison


Run = AnyPath | Result
Runs = Annotated[
    Run | Mapping[str, Run | Sequence[Run]],
    Parameter(converter=lambda kind, tokens: tokens[0].value, n_tokens=1, accepts_keys=False, metavar="[MODEL=]SCORES"),
]


@public
def compare(
    *models: Runs,
    of: str = "headline",
    only: Sequence[str] | str = (),
    transpose: bool = False,
    markdown: bool = False,
    figure: Path | str | None = None,
    against: str | None = None,
    seed: Seed = 0,
    resamples: Resamples = 1000,
) -> Comparison:
    """Compare the scores of models in one table, with the differences between two models.

    The scores are folders that `stressreel score` wrote for the same output. Folders with the same model name are runs
    of one model, or models of one group, and the table shows their mean ± standard deviation. A folder without a model
    name is a model of its own.

    With two models of one run each, the table also shows the differences between their headline scores, with paired
    confidence intervals. The two may belong to different tables with the same questions, such as hard negatives and
    causal confusion, because answers are paired by question id.

    For example::

        stressreel compare llava.scores qwen.scores
        stressreel compare JustAsk=j1.scores JustAsk=j2.scores FrozenBiLM=f1.scores
        stressreel compare a.scores b.scores --of families --only R@5 --transpose

    Args:
        models: Score folders, each as SCORES or MODEL=SCORES; those of people are written by `stressreel agreement`.
            From Python, `Scores` can also be passed, and dictionaries from model names to one or more of them.
        of: Key of the score table to show.
        only: Label or column to keep, such as R@5 or γr; may be repeated.
        transpose: Show models in rows and scores in columns, without differences.
        markdown: Print the table in Markdown.
        figure: PNG file to write with a bar chart of the table.
        against: With `figure`: plot each model's scores against this score.
        seed: Random seed of the bootstrap.
        resamples: Number of bootstrap resamples over source videos.

    Raises:
        UsageError: A folder, table, label or score does not exist, or the figure may not be written there.
        InputError: The scores are damaged, or belong to different outputs or questions.
        OutputError: The figure cannot be written.
    """
    from ..builders.parts import measure_of
    from ..core.files import write_atomic
    from ..data_cards.figures import against_png, models_png
    from ..evaluation.metrics.comparison import compare_models
    from ..evaluation.metrics.scores import SavedScores, saved_scores

    if against is not None and figure is None:
        raise UsageError("--against requires --figure FILE.png.")
    runs: dict[str, list[SavedScores]] = {}
    folders: set[tuple[str, Path]] = set()
    for model, run in named_runs(models):
        if is_path(run):
            folder = (model, resolved(Path(run)))
            if folder in folders:
                raise UsageError(f"{run} is given twice as a run of {model}.")
            folders.add(folder)
        scores = saved_scores(run)
        people = scores.about.get("people", ())
        runs.setdefault(f"{model} ({len(people)})" if people else model, []).append(scores)
    if not runs:
        raise UsageError("no scores were given. Specify at least one folder written by `stressreel score`.")
    picture = None if figure is None else Path(figure)
    if picture is not None:
        if picture.suffix.lower() != ".png":
            raise UsageError(f"{picture} must end in .png. Choose another file name with --figure.")
        if any(resolved(picture).is_relative_to(folder) for _, folder in folders):
            raise UsageError(f"{picture} is inside a score folder. Choose another path with --figure.")
    selected = [only] if isinstance(only, str) else only
    comparison = compare_models(runs, measure_of, of, selected, seed=seed, resamples=resamples)
    if picture is not None:
        write_atomic(picture, models_png(comparison) if against is None else against_png(comparison, against))
    written = () if picture is None else (f"Wrote {picture}",)
    return replace(comparison, transposed=transpose, markdown=markdown, written=written)


def named_runs(models: Sequence[Runs]) -> list[tuple[str, Run]]:
    """Return the runs with the names of their models.

    A run without a name is called like its folder or predictions file, or like its path or number if another run has
    that name.

    Raises:
        UsageError: The model or the folder in "MODEL=SCORES" is empty.
    """
    runs = [pair for argument in models for pair in _split(argument)]
    names = [model or _default_name(run) for model, run in runs]
    counts = Counter(names)
    return [
        (
            name if model or counts[name] == 1 else str(run) if is_path(run) else f"{name} {position}",
            run,
        )
        for position, (name, (model, run)) in enumerate(zip(names, runs, strict=True), 1)
    ]


def _split(argument: Runs) -> Iterator[tuple[str, Run]]:
    """Yield runs with the names that were given, or with ""."""
    if isinstance(argument, Mapping):
        for model, of_model in argument.items():
            if isinstance(of_model, Sequence) and not isinstance(of_model, str):
                yield from ((model, run) for run in of_model)
            else:
                yield model, of_model
        return
    if not is_path(argument) or Path(argument).exists():
        yield "", argument
        return
    model, equals, path = str(argument).partition("=")
    if equals and not (model.strip() and path):
        raise UsageError(f"{str(argument)!r} does not have the form MODEL=SCORES, such as JustAsk=answers.scores.")
    yield (model.strip(), path) if equals else ("", argument)


def _default_name(run: Run) -> str:
    if is_path(run):
        path = resolved(Path(run))
        return (path.parent if path.name == "agreement.json" else path).name.removesuffix(".scores")
    return str(getattr(run, "about", {}).get("predictions", {}).get("file", run))


@public
def diff(
    a: AnyPath,
    b: AnyPath,
    *,
    decode: bool = True,
    limit_videos: Annotated[int | None, within(1, LARGEST_COUNT, show_default="all videos that differ")] = None,
) -> Difference:
    """Compare the settings, tables, rows and videos of two outputs of the same benchmark.

    The report compares how they were built, and their columns, rows, splits and videos. If the hashes of two videos
    differ, their decoded frames are compared. The command exits with 0 if the content is the same, and with 1 if it
    differs.

    For example::

        stressreel diff out/a out/b

    Args:
        a: The first output, a folder or a URL of object storage.
        b: The second output.
        decode: Decode videos whose bytes differ and compare their frames.
        limit_videos: Decode at most this many videos per table, evenly spaced.

    Raises:
        UsageError: An output does not exist, or the two belong to different benchmarks.
        InputError: An output is unfinished or cannot be read.
    """
    from ..builders import benchmark_of
    from ..builders.runtime.diff import diff_outputs
    from ..core.objects import address
    from ..core.output import reading

    if limit_videos and not decode:
        raise UsageError("limit_videos requires decoding, which is disabled.")
    paths = Path(a), Path(b)
    names = (address(paths[0]) or str(paths[0]), address(paths[1]) or str(paths[1]))
    with reading(paths[0]) as first, reading(paths[1]) as second:
        benchmarks = benchmark_of(first), benchmark_of(second)
        if benchmarks[0] is not benchmarks[1]:
            raise UsageError(
                f"{names[0]} belongs to {benchmarks[0].name} and {names[1]} to {benchmarks[1].name}, so their tables "
                "cannot be compared. Compare two outputs of the same benchmark."
            )
        configs_a, configs_b = (
            {config.name: config for config in benchmarks[0].tables(output)} for output in (first, second)
        )
        pairs = [(configs_a.get(name), configs_b.get(name)) for name in {**configs_a, **configs_b}]
        with Working("comparing"):
            return diff_outputs(first, second, pairs, names=names, decode=decode, most_videos=limit_videos)
