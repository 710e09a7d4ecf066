"""Write sets of questions in which the video or the text comes from another question."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from ..core.errors import InputError
from ..core.functions import public
from ..core.results import Result, Table
from ..core.rows import AnyPath
from ..core.settings import ColumnNames, Seed, within
from ..core.tabular import columns_of
from .files import check_place, write

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
    from ..core.seeds import rng_for
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
    return Permutations(path, len(items.ids), sets, permutations, write(path, permutations))
