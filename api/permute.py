"""Write sets of questions in which the video or the text comes from another question, and score answers to them."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from ..core.errors import InputError
from ..core.files import check_place, write_table
from ..core.functions import public
from ..core.results import Result, Table, rows_json
from ..core.rows import AnyPath, Rows, is_path
from ..core.settings import IN_MEMORY, ColumnNames, FirstIndex, PathOrRows, Seed, within
from ..core.tabular import columns_of

PERMUTED = ("video", "text")
TestSplit = Annotated[str | None, Parameter(show_default="test if it exists, else all")]


@dataclass(frozen=True)
class Permutations(Result):
    """Result of `permute`.

    Attributes:
        wrote: Message that names the written file.
    """

    path: Path
    items: int
    sets: int
    columns: Mapping[str, list[Any]] = field(repr=False)
    wrote: str = field(repr=False)

    def as_tables(self) -> tuple[Table, ...]:
        """Return the rows of the file as a table."""
        return (Table("permuted", str(self), tuple(self.columns), tuple(zip(*self.columns.values(), strict=True))),)

    def __str__(self) -> str:
        return (
            f"{self.wrote}: {self.items:,} items, {self.sets} sets with videos permuted, {self.sets} with texts "
            "permuted."
        )


@public
def permute(
    out: AnyPath,
    *,
    to: Annotated[Path | str | None, Parameter(show_default="<OUT>-permuted.parquet beside OUT")] = None,
    seed: Seed = 0,
    sets: Annotated[int, within(1, 1000)] = 5,
    config: Annotated[str | None, Parameter(show_default="the first")] = None,
    split: TestSplit = None,
    columns: ColumnNames = (),
) -> Permutations:
    """Pair each question with the video, or with the text, of a question about another source video.

    These are the feature-permutation sets of Park et al. (2025), Table 3. `out` is an output, or a file of your own
    questions with id, video_id, source_id and question. Each row names the video and the text to show. Answers are
    compared with the correct answer to the question in the `id` column.

    For example::

        stressreel permute out/clavi
        stressreel permute out/clavi --sets 10 --to permuted.jsonl

    Args:
        out: The output, or the file with questions.
        to: Parquet, CSV or JSON-lines file to write.
        seed: Random seed of the first set.
        sets: Number of sets of each kind, with consecutive seeds.
        config: Table to permute, if the output has several with questions.
        split: Split to permute, or all.
        columns: With a file: columns that have other names in it, such as video=clip,id=key.

    Raises:
        UsageError: The output, table or split does not exist, or the file may not be written there.
        InputError: The questions cannot be read, or cannot be permuted.
        OutputError: The file cannot be written.
    """
    from ..builders.parts import items_of_output
    from ..core.numerics import rng_for
    from ..evaluation.metrics.items import TEXTS, VIDEOS, read_items
    from ..evaluation.metrics.modality_importance import permuted

    out = Path(out)
    named = out if out.name not in ("", "..") else Path(os.path.abspath(out))
    path = Path(to or named.with_name(f"{named.stem if named.is_file() else named.name}-permuted.parquet"))
    check_place(path, out, option="--to")
    items = read_items(out, items_of_output, config, split, judged=False, columns=columns_of(tuple(columns)))
    for kind, values, names in (("video", items.videos, VIDEOS), ("text", items.texts, TEXTS)):
        if "" in values:
            raise InputError(
                f"{out}: {values.count(''):,} of {len(values):,} items have no {kind} to permute; the first is "
                f"{items.ids[values.index('')]!r}. The {kind} is read from the columns {', '.join(names)}."
            )
    permutations: dict[str, list[Any]] = {
        name: [] for name in ("permuted", "seed", "id", "video_id", "text", "video_of", "text_of")
    }
    for set_seed in range(seed, seed + sets):
        for kind in PERMUTED:
            partners = permuted(items.sources, rng_for(set_seed, "permute", kind))
            for item, partner in enumerate(partners):
                video, text = (partner, item) if kind == "video" else (item, partner)
                row = (kind, set_seed, items.ids[item], items.videos[video], items.texts[text])
                for name, value in zip(permutations, (*row, items.ids[video], items.ids[text]), strict=True):
                    permutations[name].append(value)
    return Permutations(path, len(items.ids), sets, permutations, write_table(path, permutations))


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
