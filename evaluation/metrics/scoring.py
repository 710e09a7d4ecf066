"""Score predictions on an output."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from ...core.errors import InputError, UsageError
from ...core.output import FinishedOutput
from ...core.results import Result
from ...core.shards import read_footer
from .bootstrap import RESAMPLES, Measure, by_source, estimates, tally
from .items import ALL, Items, choose_split, join_items
from .predictions import MISSING, Predictions, of_output
from .scores import Scores

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
