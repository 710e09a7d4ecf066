"""Score a model's answers to permuted questions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from ..core.functions import public
from ..core.results import Result, Table, rows_json
from ..core.rows import AnyPath, Rows, is_path
from ..core.settings import IN_MEMORY, ColumnNames, FirstIndex, PathOrRows
from ..core.tabular import columns_of


@dataclass(frozen=True)
class PermutedScores(Result):
    """Result of `score_permuted`, with the changes in a model's accuracy.

    Attributes:
        config: The scored table.
        answers: Counts of parsed, missing and unreadable answers, by file and set.
        table: Accuracies and differences by category.
    """

    config: str
    split: str
    answers: Mapping[str, dict[str, Any]]
    table: Table

    def as_tables(self) -> tuple[Table, ...]:
        """Return the table of accuracies as the only element of a tuple."""
        return (self.table,)

    def __str__(self) -> str:
        from ..evaluation.metrics.scores import counts_line

        unread = [
            f"{name}: {counts_line(summary, 'answers')}"
            for name, summary in self.answers.items()
            if summary["unreadable"]
        ]
        return "\n".join([*unread, super().__str__()])

    def as_json(self) -> dict[str, Any]:
        """Return the scores as JSON values."""
        return {
            "config": self.config,
            "split": self.split,
            "answers": dict(self.answers),
            self.table.name: rows_json(self.table),
        }


@public
def score_permuted(
    out: AnyPath,
    *,
    original: Annotated[Sequence[AnyPath] | AnyPath | Rows | Sequence[Rows], IN_MEMORY],
    permuted: PathOrRows,
    categories: PathOrRows | None = None,
    config: str | None = None,
    split: str | None = None,
    columns: ColumnNames = (),
    first_index: FirstIndex = 0,
) -> PermutedScores:
    """Measure how a model's accuracy changes when videos or texts are permuted (Park et al. 2025, Table 3).

    `out` is an output, or a file with your own questions with id, answer and options. The table has the accuracy on the
    original items, with another item's text and with another item's video, and the differences, each as mean ±
    standard deviation over runs and sets.

    For example::

        stressreel score permuted out/clavi --original a.jsonl --permuted p.jsonl

    Args:
        out: The output, or a file with questions.
        original: Predictions for the original items. Several files are treated as runs. From Python, these and the
            other files can also be passed as rows.
        permuted: Predictions for the rows written by `stressreel permute`, with permuted, seed, id and answer.
        categories: The file written by `stressreel score modalities --items FILE`; by default all questions form one
            category.
        config: Table to score, if the output has several with questions; by default the first.
        split: Split to score, or all; by default test if there is one, else all.
        columns: Columns that have other names in the predictions, such as answer=output,id=sample.
        first_index: Index of the first option in predictions, and in `answer` of a file with your own questions.

    Raises:
        UsageError: The output, a file, table or split does not exist.
        InputError: A file cannot be read, or does not match the questions.
    """
    from ..builders.parts import items_of_output
    from ..evaluation.metrics.items import judge, read_items
    from ..evaluation.metrics.modality_importance import categories_of, permutation_table, permuted_sets
    from ..evaluation.metrics.predictions import predictions_of

    items = read_items(Path(out), items_of_output, config, split, first=first_index)
    named = columns_of(tuple(columns))
    kinds = [] if categories is None else categories_of(predictions_of(categories), items)
    runs = runs_of(original)
    answered = {
        name: judge(items, predictions, first=first_index, name=name, columns=named)
        for name, predictions in runs.items()
    }
    sets = permuted_sets(predictions_of(permuted, name="permuted", columns=named), items, first=first_index)
    table = permutation_table(
        kinds,
        [joined.picks == items.truth for joined in answered.values()],
        {
            kind: {seed: joined.picks == items.truth for seed, joined in by_seed.items()}
            for kind, by_seed in sets.items()
        },
    )
    answered |= {
        f"{kind} permuted, seed {seed}": joined for kind, by_seed in sets.items() for seed, joined in by_seed.items()
    }
    answers = {name: joined.summary() for name, joined in answered.items()}
    return PermutedScores(items.config, items.split, answers, table)


def runs_of(original: Any) -> dict[str, Any]:
    """Return the predictions of each run by name. A list of dicts is a single run, given by its rows."""
    if is_path(original):
        return {str(original): original}
    several = isinstance(original, list | tuple) and not any(isinstance(row, Mapping) for row in original)
    runs = original if several and original else [original]
    return {str(run) if is_path(run) else f"run {index}": run for index, run in enumerate(runs, 1)}
