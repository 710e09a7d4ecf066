"""What stressreel does, as functions: build, verify, score and read a benchmark."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .builders import BENCHMARKS, benchmark_of, load_benchmark
from .errors import InputError, UsageError
from .extras import import_extra
from .progress import Working, showing
from .records.checks import VerifyOptions
from .records.command import Command, given_files, recorded
from .records.objects import address, objects_at
from .records.options import BuildSettings, RunOptions, from_keywords, options_of, settled
from .records.output import FinishedOutput, open_output

if TYPE_CHECKING:
    from .benchmark import Benchmark
    from .data_cards.card import Card
    from .data_cards.gallery.exhibits import Answers, Gallery
    from .exports.tasks import Task
    from .metrics.blind.asked import Asked
    from .metrics.bootstrap import Measure
    from .metrics.inputs import ScoreOptions
    from .metrics.items import Items
    from .metrics.predictions import Predictions
    from .metrics.references import OpenRows
    from .metrics.scores import Scores
    from .metrics.scoring import Explanation, Scoring
    from .runtime.diff import Difference
    from .runtime.output import Output as BuildOutput
    from .runtime.verify import Outcome

Say = Callable[[str], None]


def build(name: str, **options: Any) -> Output | None:
    """Build a benchmark, as `stressreel build NAME` does.

    Args:
        name: Its name, such as "clavi".
        options: The options of its command, with _ for -: `build("clavi", charades="~/Charades", out="out/clavi")`.

    Returns:
        The output; None for `dry_run=True`, which prints the plan, and for a `shard` that is not the last.

    Raises:
        InputError: There is no such benchmark or option, a value is not allowed, or inputs cannot be used.
        MismatchError: Another build was started in `out`.
        BuildError: Too many videos had to be skipped, or a worker died.
        OutputError: `out` cannot be written.
    """
    benchmark = load_benchmark(name)
    running = {each.keyword for each in options_of(RunOptions)}
    settings = from_keywords(benchmark.settings, {key: value for key, value in options.items() if key not in running})
    run = from_keywords(RunOptions, {key: value for key, value in options.items() if key in running})
    done = run_build(benchmark, settings, run, say=print, show=print)
    return None if done is None else read(run.out or "")


def run_build(
    benchmark: Benchmark, settings: BuildSettings, options: RunOptions, *, say: Say, show: Say
) -> dict[str, Any] | None:
    """Prepare a build and run it, or describe it.

    Args:
        benchmark: The benchmark.
        settings: Its settings, as given.
        options: How to run it.
        say: Prints notes for the user.
        show: Prints what a dry run describes.

    Returns:
        The content of `build.json`; None for a dry run, and for a share while others are not finished.
    """
    if options.out is None and not options.dry_run:
        raise UsageError("--out is missing: the folder to build in.")
    check_run(options)
    settings = settled(settings)
    with showing(options.progress):
        return _run_build(benchmark, settings, options, say=say, show=show)


def _run_build(
    benchmark: Benchmark, settings: BuildSettings, options: RunOptions, *, say: Say, show: Say
) -> dict[str, Any] | None:
    from .data_cards.card import write_card
    from .runtime.build import Options, run
    from .runtime.collection import uncollected
    from .runtime.estimates import in_words
    from .runtime.executor import executor_for
    from .runtime.missing import list_beside
    from .runtime.shares import run_share

    with uncollected(), Working("reading the annotations and planning"):
        prepared = benchmark.prepare(settings, dry_run=options.dry_run, progress=options.progress)
    for warning in prepared.warnings:
        say(f"note: {warning}")
    workers = options.workers or os.cpu_count() or 1
    if options.dry_run:
        lines = [prepared.describe()]
        if prepared.estimate:
            folder = None if options.out is None or address(options.out) else options.out
            with Working("encoding short stretches to estimate size and time"):
                estimate = prepared.estimate(workers, True)
            lines += in_words(estimate, workers, folder)
        show("\n".join(lines))
        return None
    plan = prepared.plan
    info = {
        "builder": plan.builder,
        "dataset_version": settings.version,
        "split": settings.split,
        "files": given_files(settings),
        "command": recorded(program_of(benchmark), settings, prepared.recorded),
        **{key: value for key, value in plan.identity.items() if key != "dataset_version"},
    }

    def card(out: Path, done: dict[str, Any]) -> None:
        write_card(FinishedOutput(out, done), benchmark.configs(done), card_of(benchmark))

    estimated = prepared.estimate if options.check_space else None
    needs = (lambda probe: estimated(workers, probe).disk) if estimated else None
    out = options.out or Path()
    tools = plan.identity.get("tools", {})
    executor = executor_for(options.workers, options.executor, ray_address=options.ray_address, tools=tools)
    how = Options(
        executor,
        settings.max_skip,
        settings.allow_missing,
        options.progress,
        needs,
        prepared.searched,
        list_beside(out),
    )
    if options.share:
        return run_share(plan, prepared.builder, out, options.share, how, info=info, write_card=card, say=say)
    with _claim(out) as output:
        return run(
            plan, prepared.builder, output, how, fresh=not options.resume, info=info, write_card=card, say=say
        )  # fmt: skip


def check_run(options: RunOptions) -> None:
    """Refuse options of a run that do not go together, before any work.

    Raises:
        UsageError: They do not.
        MissingExtraError: Ray is wanted and not installed.
    """
    if options.ray_address and options.executor != "ray":
        raise UsageError(f"--ray-address {options.ray_address} needs --executor ray.")
    if options.executor == "inline" and (options.workers or 1) > 1:
        raise UsageError(
            f"--executor inline is this process alone, and --workers is {options.workers}. Leave one of them out."
        )
    if options.share and not options.resume:
        raise UsageError(
            f"--fresh with --shard {options.share} would throw away what the other processes do. Remove "
            f"{options.out} before they start, or give another --out."
        )
    if options.share and options.out is not None and (url := address(options.out)):
        raise UsageError(
            f"--shard {options.share} needs a folder that all processes share; --out is {url}. Give a folder, or run "
            "one driver with --executor ray."
        )
    if options.executor == "ray" and not options.dry_run:
        import_extra("ray", what="--executor ray")
        if options.ray_address:
            from .runtime.ray_cluster import check_address

            check_address(options.ray_address)


def _claim(out: Path) -> AbstractContextManager[BuildOutput]:
    """Hold an output for this process: a folder, or an address of object storage."""
    from .runtime.object_store import claim_objects
    from .runtime.output import claim

    return claim(out) if address(out) is None else claim_objects(objects_at(out))


@dataclass(frozen=True)
class Output:
    """A finished output.

    Attributes:
        path: Its folder.
    """

    path: Path

    @cached_property
    def _output(self) -> FinishedOutput:
        return open_output(self.path)

    @property
    def info(self) -> Mapping[str, Any]:
        """The content of `build.json`: versions, settings, counts, skips, fingerprint."""
        return self._output.info

    @property
    def benchmark(self) -> Benchmark:
        """The benchmark that it is of."""
        return benchmark_of(self._output)

    @property
    def configs(self) -> dict[str, dict[str, int]]:
        """The rows of every config, by split."""
        return {name: dict(splits) for name, splits in self.info["counts"].items()}

    def rows(self, config: str, split: str | None = None) -> Iterator[dict[str, Any]]:
        """Read the rows of a config, streamed; videos are {"bytes": …, "path": …}."""
        return self._output.whole(config, None, split)

    def items(self, config: str | None = None, split: str | None = None) -> Items:
        """Return what is asked: ids, videos, texts, options and which is right.

        Args:
            config: The table, by default the first with questions.
            split: A split or "all", by default test where there is one.
        """
        return items_of_output(self._output, config, split)

    def video(self, video_id: str) -> bytes:
        """Return the MP4 file of a video, by the id in the first column of its table.

        Raises:
            KeyError: There is none of that id.
        """
        for config in self.benchmark.configs(self.info):
            columns = [column.name for column in config.columns if column.kind == "video"]
            if columns and config.name in self.info["counts"]:
                for row in self._output.rows(config.name, [config.columns[0].name, *columns]):
                    if row[config.columns[0].name] == video_id:
                        content: bytes = row[columns[0]]["bytes"]
                        return content
        raise KeyError(video_id)


def read(out: str | Path) -> Output:
    """Open a finished output.

    Raises:
        InputError: There is none, or it was not finished.
    """
    output = Output(Path(out))
    benchmark_of(output._output)
    return output


def data_files(out: str | Path, config: str) -> dict[str, Any]:
    """Return the arguments with which `datasets` loads a table of an output, also in object storage.

    `load_dataset("parquet", **stressreel.data_files("s3://bucket/clavi", "questions"))`, which for object storage needs
    s3fs, gcsfs or adlfs.

    Args:
        out: The output.
        config: The table.

    Returns:
        `data_files`: the shards by split; for object storage also `storage_options`, with the endpoint of the
        environment, if it names one.

    Raises:
        UsageError: There is no such output or table.
    """
    url = address(out)
    output = open_output(Path(out))
    if config not in output.info["counts"]:
        raise UsageError(f"{out} has no table {config!r}. It has: {', '.join(output.info['counts'])}.")
    splits = output.splits(config)
    if url is None:
        return {"data_files": {split: [str(path) for path in output.shards(config, split)] for split in splits}}
    keys = sorted(found.key for found in objects_at(out).list(f"{config}/"))
    shards = {split: [f"{url}/{key}" for key in keys if key.startswith(f"{config}/{split}-")] for split in splits}
    endpoint = os.environ.get("AWS_ENDPOINT") or os.environ.get("AWS_ENDPOINT_URL")
    options = {"client_kwargs": {"endpoint_url": endpoint}} if url.startswith("s3:") and endpoint else {}
    return {"data_files": shards, "storage_options": options}


def items_of_output(output: FinishedOutput, config: str | None, split: str | None) -> Items:
    """Read the items of an output; see `Output.items`."""
    from .metrics.inputs import choose_config, choose_split

    benchmark = benchmark_of(output)
    table = choose_config(output, benchmark.question_tables(output.info), config)
    return benchmark.items(output, table, choose_split(output, table, split))


def choices_of_output(output: FinishedOutput, config: str, split: str) -> list[Asked]:
    """Return what a table and split of an output asks with options; see `benchmark.Benchmark.choices`."""
    from .metrics.blind.asked import asked_items

    benchmark = benchmark_of(output)
    if benchmark.choices is None:
        return asked_items(benchmark.items(output, config, split))
    return benchmark.choices(output, config, split)


def verify(out: str | Path, **options: Any) -> list[Outcome]:
    """Check a finished output, as `stressreel verify` does.

    Args:
        out: The output.
        options: See `records.checks.VerifyOptions`.

    Returns:
        What every check found; `all(outcome.passed for outcome in …)` if nothing is wrong.
    """
    from .runtime.verify import run_checks

    output = open_output(Path(out))
    return list(run_checks(output, checks_for(output, VerifyOptions(**options))))


def checks_for(output: FinishedOutput, options: VerifyOptions) -> dict[str, Any]:
    """Return all checks that fit an output, cheap ones first."""
    from .data_cards.card import card_checks
    from .runtime.verify import common_checks

    benchmark = benchmark_of(output)
    configs = [config for config in benchmark.configs(output.info) if config.name in output.info["counts"]]
    checks = common_checks(configs, Command(program_of(benchmark), benchmark.settings, benchmark.decide))
    last = checks.pop("load_dataset")
    own = benchmark.checks(output.info, options)
    cards = card_checks(benchmark.configs(output.info), card_of(benchmark))
    return {**checks, **own, **cards, "load_dataset": last}


def diff(a: str | Path, b: str | Path, *, decode: bool = True, most_videos: int | None = None) -> Difference:
    """Compare two outputs of one benchmark, in folders or in object storage, as `stressreel diff` does.

    Args:
        a: The one.
        b: The other.
        decode: Whether videos with another SHA-256 are decoded and compared.
        most_videos: How many of a table are at most; None for all.

    Raises:
        UsageError: There is no such output, or they are of different benchmarks.
        InputError: One of them was not finished, or cannot be read.
    """
    outputs = open_output(Path(a)), open_output(Path(b))
    return diff_of(*outputs, names=(str(a), str(b)), decode=decode, most_videos=most_videos)


def diff_of(
    a: FinishedOutput, b: FinishedOutput, *, names: tuple[str, str], decode: bool, most_videos: int | None
) -> Difference:
    """Compare two opened outputs; see `diff`. `names` are what errors call them."""
    from .runtime.diff import diff_outputs

    benchmarks = benchmark_of(a), benchmark_of(b)
    if benchmarks[0] is not benchmarks[1]:
        raise UsageError(
            f"{names[0]} is of {benchmarks[0].name} and {names[1]} of {benchmarks[1].name}: their tables have nothing "
            "in common to compare. Give two outputs of one benchmark."
        )
    tables = [
        {config.name: config for config in benchmark.configs(output.info) if config.name in output.info["counts"]}
        for benchmark, output in zip(benchmarks, (a, b), strict=True)
    ]
    pairs = [(tables[0].get(name), tables[1].get(name)) for name in {**tables[0], **tables[1]}]
    with Working("comparing"):
        return diff_outputs(a, b, pairs, decode=decode, most_videos=most_videos)


def score(
    out: str | Path,
    predictions: str | Path | None = None,
    *,
    similarity: str | Path | None = None,
    config: str | None = None,
    split: str | None = None,
    **options: Any,
) -> Scores:
    """Score predictions on an output, as `stressreel score` does, without writing anything.

    Args:
        out: The output.
        predictions: A file with `id` and `answer`.
        similarity: For a suite: a folder of matrices instead.
        config: The table, by default the first with questions.
        split: A split or "all", by default test where there is one.
        options: See `metrics.inputs.ScoreOptions`: `partial`, `first`, `seed`, `resamples`.
    """
    from .metrics.inputs import ScoreOptions
    from .metrics.predictions import read_predictions

    if (predictions is None) == (similarity is None):
        raise UsageError("Give either predictions or similarity.")
    given = read_predictions(Path(predictions)) if predictions is not None else None
    folder = Path(similarity) if similarity is not None else None
    return score_output(open_output(Path(out)), given, folder, split, ScoreOptions(config=config, **options)).scores


@dataclass(frozen=True)
class Scored:
    """Scores, with what is written beside them.

    Attributes:
        scores: The scores.
        config: The table that was scored.
        figures: Pictures of the benchmark's own, by file name; None if it has none.
    """

    scores: Scores
    config: str
    figures: Mapping[str, bytes] | None


def score_output(
    output: FinishedOutput,
    predictions: Predictions | None,
    similarity: Path | None,
    split: str | None,
    options: ScoreOptions,
) -> Scored:
    """Score predictions, or similarities, on an output; see `metrics.scoring.score`."""
    from .metrics.inputs import choose_config
    from .metrics.scoring import score

    benchmark = benchmark_of(output)
    scoring = scoring_of(benchmark)
    config = choose_config(output, benchmark.question_tables(output.info), options.config)
    with Working("scoring"):
        scores = score(output, scoring, config, predictions, similarity, split, options)
        return Scored(scores, config, scoring.figures(scores) if scoring.figures else None)


def measure_of(name: str, cells: Sequence[str]) -> Measure:
    """Return the scores as a function of the means of a tally's cells.

    Args:
        name: What was scored: a benchmark, or "open-ended".
        cells: The cells.
    """
    from .metrics import open_ended

    return open_ended.measure if name == open_ended.NAME else scoring_of(load_benchmark(name)).measure(cells)


def open_rows(output: FinishedOutput, config: str | None) -> OpenRows:
    """Choose a table of an output with open questions, and read its rows with their right texts.

    Raises:
        InputError: The benchmark has no open questions.
    """
    from .metrics.inputs import choose_config
    from .metrics.references import OpenRows

    benchmark = benchmark_of(output)
    if benchmark.references is None:
        raise InputError(
            f"{output.path} is an output of build-{benchmark.name}, which has no open questions. Score it with "
            "`stressreel score`."
        )
    table = choose_config(output, benchmark.question_tables(output.info), config)
    return OpenRows(table, *benchmark.references(output, table), benchmark.written_table)


def program_of(benchmark: Benchmark) -> str:
    """Return what builds a benchmark on the command line: those of other packages have no program of their own."""
    return f"build-{benchmark.name}" if benchmark.name in BENCHMARKS else f"stressreel build {benchmark.name}"


def card_of(benchmark: Benchmark) -> Card:
    """Return what the card of a benchmark says."""
    from .data_cards.card import Card

    if benchmark.card:
        return benchmark.card()
    return Card(context=lambda output, measured: {"introduction": benchmark.summary})


def scoring_of(benchmark: Benchmark) -> Scoring:
    """Return how predictions on a benchmark are scored."""
    from .metrics.scoring import accuracy_scoring

    return benchmark.scoring() if benchmark.scoring else accuracy_scoring(benchmark.items)


def tasks_of(benchmark: Benchmark, output: FinishedOutput, split: str | None) -> list[Task]:
    """Return the tasks of an output for evaluation harnesses."""
    from .exports.items import item_tasks

    if benchmark.tasks:
        return benchmark.tasks(output, split)
    configs = [config for config in benchmark.configs(output.info) if config.name in output.info["counts"]]
    return item_tasks(output, benchmark.items, benchmark.question_tables(output.info), configs, split)


def gallery_of(benchmark: Benchmark, output: FinishedOutput, answers: Answers) -> Gallery:
    """Return what a gallery shows of an output; a benchmark without pages of its own gets one for each item."""
    from .data_cards.gallery.generic import item_gallery

    if benchmark.gallery:
        return benchmark.gallery(output, answers)
    tables = benchmark.question_tables(output.info)
    return item_gallery(output, benchmark.items, tables, benchmark.configs(output.info), answers)


def layout_of(benchmark: Benchmark, output: FinishedOutput, split: str | None) -> Iterator[tuple[str, bytes]]:
    """Return the files of an output in the layout that its benchmark's authors publish.

    Raises:
        InputError: There is no such layout.
        UsageError: The output has no such split, or several and none was named.
    """
    from .metrics.inputs import ALL, choose_split

    if benchmark.layout is None:
        raise InputError(f"{output.path} is of {benchmark.name}, which has no published layout to be written in.")
    table = benchmark.question_tables(output.info)[0]
    chosen = choose_split(output, table, split)
    splits = output.splits(table)
    if chosen == ALL and len(splits) > 1:
        raise UsageError(f"a published layout holds one split. Give --split: {', '.join(splits)}.")
    return benchmark.layout(output, splits[0] if chosen == ALL else chosen)


def explain_answer(output: FinishedOutput, predictions: Predictions, question: str) -> Explanation:
    """Explain how one question of an output was answered.

    Raises:
        InputError: There is no such question.
        UsageError: The benchmark has no more to say than right or wrong.
    """
    from .metrics.predictions import of_output

    benchmark = benchmark_of(output)
    scoring = scoring_of(benchmark)
    if scoring.explain is None:
        raise UsageError(
            f"--question: the answers of {benchmark.name} are right or wrong, and there is no more to say."
        )
    table = benchmark.question_tables(output.info)[0]
    return scoring.explain(output, question, of_output(predictions, table, output.info["fingerprint"]))
