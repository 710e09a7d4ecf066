"""Measure which modalities each question requires."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter, Token

from ..core.errors import InputError, UsageError
from ..core.files import check_place, write_table
from ..core.functions import public
from ..core.results import Cell, Estimate, Result, Table, rows_json, text_table
from ..core.rows import AnyPath, Rows, is_path
from ..core.settings import ColumnNames, FirstIndex, Resamples, Seed
from ..core.tabular import columns_of
from .agreement import paths_of, read_votes

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ..evaluation.metrics.items import Items

SHARE = "category: "


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
            (name, *(float(values[index]) for values in self.scores.values()), self.category[index])
            for index, name in enumerate(self.ids)
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
    people: Sequence[AnyPath] | AnyPath = (),
    figure: Path | str | None = None,
    columns: ColumnNames = (),
    first_index: FirstIndex = 0,
    seed: Seed = 0,
    resamples: Resamples = 1000,
) -> ModalityImportance:
    """Measure how important each modality is to each question of `out`, from predictions with all subsets of them.

    `out` is an output, or a file with your own questions with id, answer and options.

    For example::

        stressreel score modalities qa.csv video=v.csv text=t.csv video+text=vt.csv

    Args:
        out: The output, or a file with questions.
        predictions: Predictions files, or rows, by the modalities that the model was given, joined by "+": "video",
            "text", "video+text".
        config: Table to score, if the output has several with questions; by default the first.
        split: Split to score, or all; by default test if there is one, else all.
        items: Parquet, CSV or JSON-lines file to write with the scores and category of each item.
        by: Column of the questions, such as an annotated type, by which to break down the counts.
        people: Files of people, as for `stressreel agreement`, of all conditions; may be repeated. A table compares the
            scores that their answers yield with those of the model.
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
    from ..builders.parts import items_of_output
    from ..evaluation.metrics import modality_importance as mis
    from ..evaluation.metrics.items import annotations_of, judge, read_items

    path, files = Path(out), subsets_of(predictions)
    modalities = list(dict.fromkeys(name for names in predictions for name in _parts(names)))
    labels = {subset: "+".join(name for name in modalities if name in subset) for subset in files}
    check_targets(items, figure, path, files.values())
    questions = read_items(path, items_of_output, config, split, first=first_index)
    types = annotations_of(path, questions, by) if by else []
    mis.check_subsets(files, modalities)
    names = columns_of(tuple(columns))
    answers = {
        subset: judge(questions, file, first=first_index, name=labels[subset], columns=names)
        for subset, file in files.items()
    }
    right = {subset: picked.picks == questions.truth for subset, picked in answers.items()}
    scores, category = mis.importance(right, modalities), mis.categories(right, modalities)
    accuracy = {labels[subset]: correct for subset, correct in right.items()}
    values = _estimates(questions, scores, category, accuracy, seed, resamples)
    types = types or [questions.config] * len(category)
    shares = mis.shares_by(types, category, mis.category_names(modalities), by or "")
    humans = people_scores(path, people, questions, scores, category)
    result = ModalityImportance(
        config=questions.config,
        split=questions.split,
        answers={labels[subset]: picked.summary() for subset, picked in answers.items()},
        found=(*_tables(questions, values, category, shares if by else None), *humans),
        interval={"sources": len(set(questions.sources)), "resamples": resamples, "seed": seed},
        scores=scores,
        category=tuple(category),
        ids=tuple(questions.ids),
    )
    return replace(result, written=write_files(result, shares, items, figure))


def people_scores(
    out: Path,
    files: Sequence[AnyPath] | AnyPath,
    questions: Items,
    scores: Mapping[str, NDArray[np.float64]],
    category: Sequence[str],
) -> tuple[Table, ...]:
    """Compare the importance scores of people with those of a model on the same questions, as a table if there are any.

    A person is replaced by the share of people who answered correctly. The paper's section 4.2 compares the categories
    of questions on which people are unanimous under each condition.

    Raises:
        UsageError: `out` is not an output, or a condition is missing.
        InputError: A file cannot be read or belongs to other pages, or no question was answered under all conditions.
    """
    import numpy as np

    from ..core.output import reading
    from ..evaluation.metrics import agreement
    from ..evaluation.metrics import modality_importance as mis

    paths = paths_of(files)
    if not paths:
        return ()
    if not out.is_dir():
        raise UsageError(f"--people needs an output, from which pages for people are made; {out} is a file.")
    with reading(out) as output:
        groups = read_votes(output, paths)
    modalities = list(scores)
    absent = {frozenset(name.split("+")) for name in groups} ^ {*mis.subsets(modalities)}
    if absent or any(plan.config != questions.config for plan, _ in groups.values()):
        raise UsageError(
            f"people answered under {', '.join(groups)}, about table {next(iter(groups.values()))[0].config}. To be "
            f"compared with predictions from {', '.join(modalities)} about table {questions.config}, both must be of "
            "the same subsets of modalities, such as video, text and video+text, and of the same table."
        )
    truth = dict(zip(questions.ids, questions.truth.tolist(), strict=True))
    shares = {
        frozenset(name.split("+")): agreement.shares_right([vote for vote in votes if vote.question_id in truth], truth)
        for name, (_, votes) in groups.items()
    }
    places = [place for place, name in enumerate(questions.ids) if all(name in share for share in shares.values())]
    if not places:
        raise InputError("no question was answered by people under all conditions. Use pages of the same seed.")
    right = {
        subset: np.array([share[questions.ids[place]] for place in places], np.float64)
        for subset, share in shares.items()
    }
    humans = mis.importance(right, modalities)
    rows: list[tuple[Cell, ...]] = []
    for name, mine in humans.items():
        model = scores[name][places]
        correlations = (agreement.pearson(mine, model), agreement.spearman(mine, model))
        rows.append((f"MIS {name}", float(mine.mean()), float(model.mean()), *correlations, len(places)))
    united = np.all([(share == 0) | (share == 1) for share in right.values()], axis=0)
    judged = mis.categories({subset: share[united] == 1 for subset, share in right.items()}, modalities)
    theirs = [category[place] for place, kept in zip(places, united, strict=True) if kept]
    same = sum(one == other for one, other in zip(judged, theirs, strict=True))
    note = f"People are unanimous on {len(judged)} questions; the model's category is the same for {same} of them."
    heads = ("score", "people", "model", "Pearson", "Spearman", "questions")
    return (Table("people", "Scores by people and by the model, with their correlation", heads, tuple(rows), note),)


def check_targets(
    items: Path | str | None, figure: Path | str | None, out: Path, predictions: Iterable[AnyPath | Rows]
) -> None:
    """Raise UsageError or OutputError if the files for items or the figure cannot be written."""
    read = [Path(file) for file in predictions if is_path(file)]
    if items is not None:
        check_place(Path(items), out, read, option="--items")
    if figure is not None:
        check_place(Path(figure), out, read, option="--figure", endings=(".png",))


def write_files(
    result: ModalityImportance, shares: Table, items: Path | str | None, figure: Path | str | None
) -> tuple[str, ...]:
    """Write the figure and the items, if paths are given, and return messages that name them."""
    from ..core.files import write_atomic
    from ..data_cards.figures import shares_png

    messages = []
    if figure is not None:
        write_atomic(Path(figure), shares_png(shares))
        messages.append(f"Wrote {figure}")
    if items is not None:
        messages.append(write_table(Path(items), result.as_tables()[-1].columns()))
    return tuple(messages)


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
    questions: Items,
    scores: Mapping[str, NDArray[np.float64]],
    category: Sequence[str],
    right: Mapping[str, NDArray[np.bool_]],
    seed: int,
    resamples: int,
) -> dict[str, Estimate]:
    import numpy as np

    from ..evaluation.metrics.bootstrap import by_source, estimates, tally
    from ..evaluation.metrics.modality_importance import category_names

    sources, where = by_source(questions.sources)
    cells = {
        SHARE + kind: (where, np.array([name == kind for name in category], np.float64))
        for kind in category_names(list(scores))
    }
    cells |= {f"MIS {name}": (where, values) for name, values in scores.items()}
    cells |= {f"accuracy {name}": (where, values.astype(float)) for name, values in right.items()}
    return estimates(tally(sources, cells), lambda means: dict(means), seed=seed, resamples=resamples)


def _tables(
    questions: Items, values: Mapping[str, Estimate], category: Sequence[str], shares: Table | None
) -> tuple[Table, ...]:
    kinds = {name.removeprefix(SHARE): value for name, value in values.items() if name.startswith(SHARE)}
    counts = tuple((kind, category.count(kind), value) for kind, value in kinds.items())
    title = f"Questions by modality importance, {', '.join(filter(None, (questions.config, questions.split)))}"
    headings = ("category", "questions", "share [95% interval]")
    means = tuple((name, value) for name, value in values.items() if not name.startswith(SHARE))
    return (
        Table("categories", title, headings, (*counts, ("total", len(category), 1.0))),
        *([] if shares is None else [shares]),
        Table("means", "Means", ("score", "value [95% interval]"), means),
    )
