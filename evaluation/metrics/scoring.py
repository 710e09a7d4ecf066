"""Score the predictions on an output."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from ...core.errors import InputError, UsageError
from ...core.output import FinishedOutput
from ...core.results import Result
from .bootstrap import Measure, by_source, estimates, tally
from .inputs import ScoreOptions, choose_split
from .items import Items, join_items
from .predictions import MISSING, Predictions, of_output
from .scores import Scores

ReadItems = Callable[[FinishedOutput, str, str], Items]
"""Reads the items of a table and split."""


@dataclass(frozen=True)
class Explanation(Result):
    """Explanation of the answer to one question.

    Attributes:
        text: Text for a terminal.
        content: Content as JSON values.
        picture: Content as a PNG.
        written: Messages about the picture that was written.
    """

    text: str
    content: Mapping[str, Any]
    picture: bytes
    written: tuple[str, ...] = ()

    def __str__(self) -> str:
        """Return the text."""
        return self.text

    def as_json(self) -> dict[str, Any]:
        """Return the JSON values."""
        return dict(self.content)

    def _repr_html_(self) -> str:
        """Return the picture for notebooks."""
        return (
            f'<img alt="how the question was answered" src="data:image/png;base64,{b64encode(self.picture).decode()}">'
        )


@dataclass(frozen=True)
class BenchmarkScoring:
    """The scoring of predictions on a benchmark.

    Attributes:
        answers: Function that scores answers on a table of an output; the split is in the options.
        measure: Function that returns the scores as a function of the means of a tally's cells.
        similarity: Function that scores a folder of similarities, for benchmarks with retrieval.
        figures: Function that draws figures in addition to the common ones.
        by_table: Whether tables are scored separately, so that commands must specify them.
        released: Whether scoring like the published scorer is available (`ScoreOptions.released`).
        explain: Function that explains the answer to one question, for benchmarks whose answers have more detail than
            correct or incorrect.
    """

    answers: Callable[[FinishedOutput, str, Predictions, ScoreOptions], Scores]
    measure: Callable[[Sequence[str]], Measure]
    similarity: Callable[[FinishedOutput, Path, ScoreOptions], Scores] | None = None
    figures: Callable[[Scores], Mapping[str, bytes]] | None = None
    by_table: bool = False
    released: bool = False
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
    """Score predictions on an output.

    `similarity` is a folder of similarities in place of answers. The split of `options` is ignored in favour of
    `split`.

    Raises:
        UsageError: The benchmark has no published scorer, and `options.released` is set.
        InputError: The benchmark cannot score this kind of input.
    """
    options = replace(options, split=choose_split(output, config, split))
    if options.released and not scoring.released:
        raise UsageError(f"--released: {output.info['builder']} has no published scorer that differs from ours.")
    if similarity is not None:
        if scoring.similarity is None:
            raise InputError(
                f"{output.path} is an output of build-{output.info['builder']}, which has no retrieval task to score "
                "by similarities. Give --predictions."
            )
        return scoring.similarity(output, similarity, options)
    if predictions is None:
        raise InputError(
            "there is nothing to score: give --predictions FILE, or --similarity DIR where retrieval is scored."
        )
    return scoring.answers(output, config, of_output(predictions, config, output.asked), options)


def accuracy_scoring(read_items: ReadItems) -> BenchmarkScoring:
    """Return scoring by accuracy, for benchmarks without their own scores."""

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
