"""Score predictions on an output, write the scores to a folder, and read them again for comparisons."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from ...core.documents import check_shape, parse_own, read_own, shortened
from ...core.errors import InputError, UsageError
from ...core.files import write_atomic
from ...core.output import FinishedOutput
from ...core.results import (
    Estimate,
    Result,
    Table,
    as_code,
    as_text,
    dump,
    json_value,
    markdown_table,
    rows_json,
    text_table,
)
from ...core.rows import is_path
from ...core.shards import PARQUET_FAULTS, open_shard, read_footer, whole
from .bootstrap import FEW, FEWEST, RESAMPLES, Measure, Tally, by_source, estimates, tally
from .items import ALL, Items, choose_split, join_items
from .predictions import MISSING, NOT_SCORED, Predictions, of_output

SHOWN_ROWS = 40


@dataclass(frozen=True)
class Scores(Result):
    """The scores of one predictions file on one output.

    Attributes:
        answers: Counts as in `predictions.PickedOptions.summary`.
        headline: The main scores with their intervals.
        tally: Sums by source video, for comparisons.
        about: Config, output, predictions, interval and names of figures.
        written: Messages that name the written files.
    """

    benchmark: str
    split: str
    answers: dict[str, Any]
    headline: dict[str, Estimate]
    tables: tuple[Table, ...]
    tally: Tally
    footnotes: tuple[str, ...] = ()
    about: Mapping[str, Any] = field(default_factory=dict)
    written: tuple[str, ...] = ()

    def as_tables(self) -> tuple[Table, ...]:
        """Return a table of the main scores, followed by the other tables."""
        rows = tuple(self.headline.items())
        title = f"{self.benchmark}, {self.split}"
        return (Table("headline", title, ("score", "value [95% interval]"), rows), *self.tables)

    @property
    def notes(self) -> Sequence[str]:  # type: ignore[override]
        """A warning that quotes the first answer, if no answer could be parsed."""
        first = next(iter(self.answers.get("unreadable_first", ())), None)
        if first is None or self.answers["unreadable"] < self.answers["scored"]:
            return ()
        return (
            f"none of the {self.answers['scored']:,} answers could be parsed, so all count as incorrect. The first, to "
            f"{first['id']}, is {first['answer']!r}.",
        )

    def __str__(self) -> str:
        lines = [answers_line(self)]
        for counts in (self.answers, self.answers.get("explanations", {})):
            for row in counts.get("unreadable_first", [])[:5]:
                lines.append(f"  cannot read {row['id']}: {row['answer']!r}")
        for table in self.as_tables():
            long = f"{table.title}: {len(table.rows)} rows, in the Markdown and JSON files"
            lines += ["", long if len(table.rows) > SHOWN_ROWS else text_table(table)]
        return "\n".join([*lines, "", *self.footnotes, interval_line(self.about["interval"])])

    def as_json(self) -> dict[str, Any]:
        """Return the content of `scores.json`."""
        return {
            "benchmark": self.benchmark,
            "split": self.split,
            **self.about,
            "answers": self.answers,
            "headline": {name: json_value(estimate) for name, estimate in self.headline.items()},
            "tables": {table.name: rows_json(table) for table in self.tables},
            "notes": list(self.footnotes),
        }


def as_markdown(scores: Scores, pictures: Sequence[str]) -> str:
    """Return the content of `scores.md`, with links to the pictures."""
    about = scores.about
    output, predictions = about["output"], about["predictions"]
    lines = [
        f"# Scores: {scores.benchmark}, {about['config']}, {scores.split}",
        "",
        f"Predictions {as_code(predictions['file'])} on "
        + (f"version {output['dataset_version']}" if "dataset_version" in output else as_code(output["file"]))
        + f", fingerprint `{output['fingerprint'][:16]}`.",
        answers_line(scores),
        interval_line(about["interval"]),
        "",
        *(line for picture in pictures for line in (f"![{picture.removesuffix('.png')}]({picture})", "")),
    ]
    for table in scores.as_tables():
        lines += [markdown_table(table), ""]
    for note in scores.footnotes:
        lines += [f"* {as_text(note)}"]
    return "\n".join(lines).rstrip() + "\n"


def answers_line(scores: Scores) -> str:
    """Describe how many answers and explanations were scored, unreadable or missing."""
    explanations = scores.answers.get("explanations")
    line = counts_line(scores.answers, "answers")
    return f"{line}\n{counts_line(explanations, 'explanations')}" if explanations else line


def counts_line(counts: Mapping[str, Any], what: str) -> str:
    """Format the counts of `predictions.PickedOptions.summary` on one line."""
    parts = [f"{counts['scored']:,} {what} scored"]
    for key, words in (
        ("unreadable", "unreadable (count as incorrect)"),
        ("empty", "empty"),
        ("missing", "missing (left out)"),
        ("doubled", "given more than once (the first counts)"),
        ("unknown", "not in this output (left out)"),
        *NOT_SCORED.items(),
    ):
        if counts.get(key):
            parts.append(f"{counts[key]:,} {words}")
    return ", ".join(parts) + "."


def interval_line(interval: Mapping[str, Any]) -> str:
    """Describe how intervals were computed, or why they are missing or unreliable."""
    sources: int = interval["sources"]
    if sources < FEWEST:
        there = "is" if sources == 1 else "are"
        return f"No intervals: they need at least {FEWEST} source videos; there {there} {sources}."
    few = f" With fewer than {FEW} source videos, intervals are too narrow." * (sources < FEW)
    return (
        f"Intervals: 95%, paired bootstrap over {sources:,} source videos, {interval['resamples']:,} resamples, "
        f"seed {interval['seed']}.{few} A dash or a missing interval means that the score is "
        "undefined, in the sample or in more than 5% of the resamples."
    )


FIGURE = re.compile(r"[^\x00-\x1f]+\.png")
SCORES, SUMS = "scores.json", "per_source.parquet"
AGREEMENT = "agreement.json"  # instead of scores.json, for people
_ESTIMATE = dict.fromkeys(("value", "low", "high"), (None, float))
SHAPE = {  # of scores.json; see `check_shape`
    **dict.fromkeys(("benchmark", "config", "split"), str),
    "output": {"fingerprint": str},
    "predictions": {"file": str},
    "answers": {"scored_sha256": str},
    "headline": {str: _ESTIMATE},
    "tables": {str: [{str: (None, int, float, str, _ESTIMATE)}]},
    "notes": [str],
}


@dataclass(frozen=True)
class SavedScores:
    """Scores that were read from a folder."""

    name: str
    about: dict[str, Any]
    tally: Tally


def write_scores(
    folder: Path,
    scores: Scores,
    figures: Mapping[str, bytes],
    *,
    beside: bool = False,
    force: bool = False,
    name: str = SCORES,
    option: str = "--out",
) -> None:
    """Write scores as JSON and Markdown, with figures and the sums by source video.

    Earlier scores of the same predictions are replaced, and others only with `force`. If the folder lies `beside` the
    predictions, they are identified by file name only. `name` is that of the JSON file,
    and `option` the one for the folder.

    Raises:
        InputError: The folder contains other files, or scores of other predictions.
        OutputError: The folder cannot be written.
    """
    earlier = _earlier_figures(folder, scores.as_json(), beside=beside, force=force, name=name, option=option)
    for picture in set(earlier) - set(figures):
        (folder / picture).unlink(missing_ok=True)
    for figure, content in figures.items():
        write_atomic(folder / figure, content)
    write_atomic((folder / name).with_suffix(".md"), as_markdown(scores, list(figures)))
    write_atomic(folder / SUMS, _parquet(scores.tally))
    write_atomic(folder / name, dump(scores.as_json()))


def _earlier_figures(
    folder: Path, scored: Mapping[str, Any], *, beside: bool, force: bool, name: str = SCORES, option: str = "--out"
) -> list[str]:
    if not folder.exists() or (folder.is_dir() and not any(folder.iterdir())):
        return []
    try:
        earlier = parse_own(read_own(folder / name))
        figures = [file for file in earlier["figures"] if file == Path(file).name and FIGURE.fullmatch(file)]
        mine, theirs = (_of_what(about, by_name=beside) for about in (scored, earlier))
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InputError(
            f"{folder} contains files other than scores, so it was left unchanged. Choose another folder with {option}."
        ) from error
    if mine != theirs and not force:
        raise InputError(
            f"{folder} contains the scores of {theirs}, not of {mine}, so it was left unchanged. Choose another folder "
            f"with {option}, or overwrite this one with --force."
        )
    return figures


def _of_what(scored: Mapping[str, Any], *, by_name: bool) -> str:
    predictions, output = scored["predictions"], scored["output"]["fingerprint"][:16]
    content = f" ({predictions['sha256'][:16]})" if "sha256" in predictions and not by_name else ""
    return f"{predictions['file']}{content} on {scored['benchmark']} {scored['config']} {scored['split']} ({output})"


def _parquet(tally: Tally) -> bytes:
    import pyarrow as pa
    import pyarrow.parquet as pq

    columns: dict[str, Any] = {"source_id": list(tally.sources)}
    for column, cell in enumerate(tally.cells):
        columns[f"sum: {cell}"] = tally.sums[:, column]
        columns[f"count: {cell}"] = tally.counts[:, column].astype(np.int32)
    target = io.BytesIO()
    pq.write_table(pa.table(columns), target, compression="zstd")
    return target.getvalue()


def saved_scores(scores: Any) -> SavedScores:
    """Return scores that `score` returned, or read them from a folder and name them after it.

    Raises:
        UsageError: The folder does not exist, or the value is neither a path nor scores.
        InputError: The folder does not contain scores, or is damaged.
    """
    if isinstance(scores, Scores):
        return SavedScores(scores.about["predictions"]["file"], scores.as_json(), scores.tally)
    if not is_path(scores):
        raise UsageError(
            f"{shortened(scores)} is of type {type(scores).__name__}. Pass a folder written by `stressreel score`, or "
            "the `Scores` that `stressreel.score` returns."
        )
    return replace(read_scores(Path(scores)), name=str(scores))


def read_scores(path: Path) -> SavedScores:
    """Read scores from a folder written by `write_scores`, or from its `scores.json`.

    Raises:
        UsageError: The folder does not exist.
        InputError: The folder does not contain scores, or is damaged.
    """
    if not path.exists():
        raise UsageError(f"{path} does not exist. Pass a folder written by `stressreel score`.")
    folder = path.parent if path.name in (SCORES, AGREEMENT) else path
    file = folder / (AGREEMENT if (folder / AGREEMENT).is_file() else SCORES)
    if not file.is_file() or not (folder / SUMS).is_file():
        raise InputError(
            f"{path} is not a score folder: it has no {SCORES} and {SUMS}. Pass folders written by `stressreel score`."
        )
    try:
        about = parse_own(read_own(file))
        check_shape(about, SHAPE)
    except ValueError as error:
        raise InputError(f"{file} is damaged ({error}). Score again.") from error
    try:
        with open_shard(folder / SUMS) as file:
            table = whole(file)
        cells = tuple(name.removeprefix("sum: ") for name in table.column_names if name.startswith("sum: "))
        sums, counts = (
            np.array([table.column(f"{kind}: {cell}").to_numpy() for cell in cells], np.float64).T
            for kind in ("sum", "count")
        )
        sources = tuple(table.column("source_id").to_pylist())
        if sums.shape != (len(sources), len(cells)) or not (np.isfinite(sums).all() and np.isfinite(counts).all()):
            raise ValueError(f"{SUMS} has missing or invalid numbers")
        return SavedScores(about["predictions"]["file"], about, Tally(sources, cells, sums, counts))
    except PARQUET_FAULTS as error:
        raise InputError(f"{folder} is damaged ({type(error).__name__}: {error}). Score again.") from error


ReadItems = Callable[[FinishedOutput, str, str], Items]
"""Function that reads the items of a table and split."""


@dataclass(frozen=True)
class ScoreOptions:
    """Options that determine how predictions are scored.

    Attributes:
        split: Split of the output, or "all".
        partial: Whether to score incomplete predictions instead of raising an error.
        first: Index of the first option in numeric answers.
        config: Table with the questions; by default the output's first.
        released: Whether to follow the published scorer where it differs from ours.
        without: Column that flags questions to leave out.
    """

    split: str = ALL
    partial: bool = False
    first: int = 0
    seed: int = 0
    resamples: int = RESAMPLES
    config: str | None = None
    released: bool = False
    without: str | None = None


@dataclass(frozen=True)
class Explanation(Result):
    """An explanation of a model's answer to one question."""

    text: str
    content: Mapping[str, Any]

    def __str__(self) -> str:
        return self.text

    def as_json(self) -> dict[str, Any]:
        """Return the explanation as JSON values."""
        return dict(self.content)


@dataclass(frozen=True)
class BenchmarkScoring:
    """How predictions on a benchmark are scored.

    Attributes:
        answers: Function that scores answers to a table of an output. The options contain the split.
        measure: Function that returns the scores as a function of the means of a tally's cells.
        similarity: Function that scores a folder of similarities, for benchmarks with retrieval.
        figures: Function that draws figures in addition to those of every benchmark.
        by_table: Whether tables are scored separately, so that commands must name them.
        released: Whether the published scorer can be reproduced (`ScoreOptions.released`).
        flags: Columns that flag questions, which can be left out (`ScoreOptions.without`). An output may lack them.
        explain: Function that explains the answer to one question, for benchmarks where this says more than its score.
    """

    answers: Callable[[FinishedOutput, str, Predictions, ScoreOptions], Scores]
    measure: Callable[[Sequence[str]], Measure]
    similarity: Callable[[FinishedOutput, Path, ScoreOptions], Scores] | None = None
    figures: Callable[[Scores], Mapping[str, bytes]] | None = None
    by_table: bool = False
    released: bool = False
    flags: tuple[str, ...] = ()
    explain: Callable[[FinishedOutput, str, Predictions], Explanation] | None = None


def score(
    output: FinishedOutput,
    scoring: BenchmarkScoring,
    config: str,
    predictions: Predictions | None,
    similarity: Path | None,
    split: str | None,
    options: ScoreOptions,
) -> Scores:
    """Score predictions, or a folder of similarities, on a split of an output.

    Raises:
        UsageError: The benchmark has no published scorer, and `options.released` is set; or the output has no column
            `options.without`.
        InputError: The benchmark cannot score this kind of input.
    """
    options = replace(options, split=choose_split(output, config, split))
    if options.released and not scoring.released:
        raise UsageError(
            f"--released cannot be used: {output.info['builder']} has no published scorer that differs from this one."
        )
    if options.without is not None:
        _check_flag(output, scoring, config, options.without)
    if similarity is not None:
        if scoring.similarity is None:
            raise InputError(
                f"{output.path} is an output of build-{output.info['builder']}, which has no retrieval task, so "
                "--similarity cannot be used. Use --predictions instead."
            )
        return scoring.similarity(output, similarity, options)
    if predictions is None:
        raise InputError("there is nothing to score. Use --predictions FILE, or --similarity DIR for retrieval.")
    return scoring.answers(output, config, of_output(predictions, config, output.asked), options)


def _check_flag(output: FinishedOutput, scoring: BenchmarkScoring, config: str, name: str) -> None:
    """Raise UsageError if a table of questions has no column of flags with this name."""
    shards = (path for split in output.splits(config) for path in output.counted(config, split))
    there = {column for path in shards for column in read_footer(path).schema.names}
    flags = [flag for flag in scoring.flags if flag in there]
    if name not in flags:
        can = f"--without can name {', '.join(flags)}" if flags else "none of its questions are flagged"
        raise UsageError(
            f"--without {name} cannot be used: table {config} of {output.path} has no column {name!r} that flags "
            f"questions; {can}. Leave out --without, or choose another output."
        )


def accuracy_scoring(read_items: ReadItems) -> BenchmarkScoring:
    """Return a `BenchmarkScoring` that computes accuracy, for benchmarks without scores of their own."""

    def answers(output: FinishedOutput, config: str, predictions: Predictions, options: ScoreOptions) -> Scores:
        items = read_items(output, config, options.split)
        joined = join_items(predictions, items, partial=options.partial, first=options.first)
        there = joined.picks != MISSING
        names, where = by_source(items.sources)
        counted = tally(names, {"accuracy": (where[there], (joined.picks == items.truth)[there].astype(np.float64))})
        return Scores(
            benchmark=output.info["builder"],
            split=options.split,
            answers=joined.summary(),
            headline=estimates(counted, dict, seed=options.seed, resamples=options.resamples),
            tables=(),
            tally=counted,
        )

    return BenchmarkScoring(answers=answers, measure=lambda cells: dict)
