"""Measure which modalities each question requires."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter, Token

from ..core.errors import UsageError
from ..core.functions import public
from ..core.results import Cell, Estimate, Result, Table, rows_json, text_table
from ..core.rows import AnyPath, Rows, is_path
from ..core.settings import ColumnNames, FirstIndex, Resamples, Seed
from ..core.tabular import columns_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ..evaluation.metrics.items import Items


@dataclass(frozen=True)
class ModalityImportance(Result):
    """Result of `score_modalities`, with the modalities that each question requires.

    Attributes:
        config: The scored table.
        answers: Counts of parsed, missing and unreadable answers, by file.
        found: Tables of the categories (by annotated type if requested) and of the mean scores.
        interval: Number of sources and resamples, and the seed of the intervals.
        scores: Modality importance scores of the items, by modality; shape (items,).
        category: Category of each item.
        written: Messages that name the written files.
    """

    config: str
    split: str
    answers: Mapping[str, dict[str, Any]]
    found: tuple[Table, ...]
    interval: Mapping[str, Any]
    scores: Mapping[str, NDArray[np.float64]]
    category: tuple[str, ...]
    ids: tuple[str, ...]
    written: tuple[str, ...] = ()

    def as_tables(self) -> tuple[Table, ...]:
        """Return the tables, followed by a table with one row per item."""
        rows: tuple[tuple[Cell, ...], ...] = tuple(
            (name, *(float(each[place]) for each in self.scores.values()), self.category[place])
            for place, name in enumerate(self.ids)
        )
        headings = ("id", *(f"mis_{name}" for name in self.scores), "category")
        return (*self.found, Table("items", "Items", headings, rows))

    def __str__(self) -> str:
        from ..evaluation.metrics.scores import counts_line, interval_line

        lines = []
        for name, summary in self.answers.items():
            lines.append(f"{name}: {counts_line(summary, 'answers')}")
            lines += [f"  cannot read {row['id']}: {row['answer']!r}" for row in summary["unreadable_first"][:5]]
        tables = ["\n" + text_table(table) for table in self.found]
        return "\n".join([*lines, *tables, "\n" + interval_line(self.interval)])

    def as_json(self) -> dict[str, Any]:
        """Return all tables except that of the items as JSON values."""
        tables = {table.name: rows_json(table) for table in self.found}
        about = {"config": self.config, "split": self.split, "answers": dict(self.answers)}
        return {**about, **tables, "interval": dict(self.interval)}


def read_modalities(kind: Any, tokens: Sequence[Token]) -> dict[str, str]:
    """Parse words such as `video+text=both.jsonl` into predictions files by modalities."""
    predictions: dict[str, str] = {}
    for text in (token.value for token in tokens):
        names, equals, file = text.partition("=")
        if not equals:
            raise UsageError(f"{text!r} is not in the form MODALITIES=FILE, such as video+text=both.jsonl.")
        if names in predictions:
            raise UsageError(f"{names} is given twice.")
        predictions[names] = file
    return predictions


@public
def score_modalities(
    out: AnyPath,
    predictions: Annotated[
        Mapping[str, AnyPath | Rows], Parameter(converter=read_modalities, n_tokens=-1, accepts_keys=False)
    ],
    *,
    config: str | None = None,
    split: str | None = None,
    items: Path | str | None = None,
    by: str | None = None,
    figure: Path | str | None = None,
    columns: ColumnNames = (),
    first_index: FirstIndex = 0,
    seed: Seed = 0,
    resamples: Resamples = 1000,
) -> ModalityImportance:
    """Measure how important each modality is to each question of `out`, from predictions with all subsets of them.

    `out` is an output, or a file with your own questions with id, answer and options.

    Args:
        out: The output, or a file with questions.
        predictions: Predictions files, or rows, by the modalities that the model was given, joined by "+": "video",
            "text", "video+text".
        config: Table to score, if the output has several with questions; by default the first.
        split: Split to score, or all; by default test if there is one, else all.
        items: Parquet, CSV or JSON-lines file to write with the scores and category of each item.
        by: Column of the questions, such as an annotated type, by which to break down the counts.
        figure: PNG file to write with a bar chart of the shares.
        columns: Columns that have other names in the predictions, such as answer=output,id=sample.
        first_index: Index of the first option in predictions, and in `answer` of a file with your own questions.
        seed: Random seed of the bootstrap.
        resamples: Number of bootstrap resamples over source videos.

    Raises:
        UsageError: The output, a file, table or split does not exist, or a subset of the modalities is missing.
        InputError: A file cannot be read, or does not match the questions.
        OutputError: A file cannot be written.
    """
    import numpy as np

    from ..builders.parts import items_of_output
    from ..core.files import write_atomic
    from ..data_cards.figures import shares_png
    from ..evaluation.metrics import modality_importance as mis
    from ..evaluation.metrics.items import annotations_of, judge, read_items
    from .files import check_place, write

    place = Path(out)
    files = subsets_of(predictions)
    read = [Path(file) for file in files.values() if is_path(file)]
    modalities = list(dict.fromkeys(name for names in predictions for name in _parts(names)))
    label = {subset: "+".join(name for name in modalities if name in subset) for subset in files}
    if items is not None:
        check_place(Path(items), place, read, option="--items")
    if figure is not None:
        check_place(Path(figure), place, read, option="--figure", endings=(".png",))
    asked = read_items(place, items_of_output, config, split, first=first_index)
    types = annotations_of(place, asked, by) if by else []
    if len(modalities) < 2 or any(subset not in files for subset in mis.subsets(modalities)):
        mis.importance({subset: np.zeros(0, bool) for subset in files}, modalities)  # reports missing subsets
    named = columns_of(tuple(columns))
    joined = {
        subset: judge(asked, file, first=first_index, name=label[subset], columns=named)
        for subset, file in files.items()
    }
    right = {subset: each.picks == asked.truth for subset, each in joined.items()}
    scores, found = mis.importance(right, modalities), mis.categories(right, modalities)
    shown = _estimates(asked, scores, found, {label[subset]: each for subset, each in right.items()}, seed, resamples)
    kinds = mis.category_names(modalities)
    counts = tuple((kind, found.count(kind), shown[f"category: {kind}"]) for kind in kinds)
    title = f"Questions by modality importance, {', '.join(filter(None, (asked.config, asked.split)))}"
    tables = [
        Table(
            "categories",
            title,
            ("category", "questions", "share [95% interval]"),
            (*counts, ("total", len(found), 1.0)),
        ),
        *([mis.shares_by(types, found, kinds, by)] if by else []),
        Table(
            "means",
            "Means",
            ("score", "value [95% interval]"),
            tuple((name, value) for name, value in shown.items() if not name.startswith("category: ")),
        ),
    ]
    lines = []
    if figure is not None:
        shares = mis.shares_by(types or [asked.config] * len(found), found, kinds, by or "")
        write_atomic(Path(figure), shares_png(shares))
        lines.append(f"Wrote {figure}")
    if items is not None:
        written: dict[str, list[object]] = {"id": list(asked.ids)}
        written |= {f"mis_{name}": [float(x) for x in scores[name]] for name in modalities}
        lines.append(write(Path(items), written | {"category": list(found)}))
    return ModalityImportance(
        config=asked.config,
        split=asked.split,
        answers={label[subset]: each.summary() for subset, each in joined.items()},
        found=tuple(tables),
        interval={"sources": len(set(asked.sources)), "resamples": resamples, "seed": seed},
        scores={name: scores[name] for name in modalities},
        category=tuple(found),
        ids=tuple(asked.ids),
        written=tuple(lines),
    )


def _parts(names: str) -> list[str]:
    return [part.strip() for part in names.split("+")]


def subsets_of(predictions: Mapping[str, AnyPath | Rows]) -> dict[frozenset[str], AnyPath | Rows]:
    """Return the predictions of each subset of modalities.

    Raises:
        UsageError: A name is not one or more modalities joined by "+", or two names are equivalent.
    """
    if not isinstance(predictions, Mapping):
        raise UsageError(
            'predictions must be a mapping, such as {"video": "v.jsonl", "text": "t.jsonl", "video+text": "vt.jsonl"}.'
        )
    files: dict[frozenset[str], AnyPath | Rows] = {}
    for names, file in predictions.items():
        parts = _parts(names)
        shown = file if is_path(file) else "FILE"
        if shown == "" or not all(parts) or len(set(parts)) < len(parts):
            raise UsageError(
                f"'{names}={shown}' does not have the form MODALITIES=FILE, such as video+text=both.jsonl."
            )
        if frozenset(parts) in files:
            raise UsageError(f"{names} is given twice.")
        files[frozenset(parts)] = Path(file).expanduser() if is_path(file) else file
    return files


def _estimates(
    asked: Items,
    scores: Mapping[str, NDArray[np.float64]],
    found: Sequence[str],
    right: Mapping[str, NDArray[np.bool_]],
    seed: int,
    resamples: int,
) -> dict[str, Estimate]:
    import numpy as np

    from ..evaluation.metrics.bootstrap import by_source, estimates, tally
    from ..evaluation.metrics.modality_importance import category_names

    sources, where = by_source(asked.sources)
    cells = {
        f"category: {kind}": (where, np.array([name == kind for name in found], np.float64))
        for kind in category_names(list(scores))
    }
    cells |= {f"MIS {name}": (where, each) for name, each in scores.items()}
    cells |= {f"accuracy {name}": (where, each.astype(float)) for name, each in right.items()}
    return estimates(tally(sources, cells), lambda means: dict(means), seed=seed, resamples=resamples)
