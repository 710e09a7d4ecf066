"""Combine the scores of several models in one table, as mean and standard deviation over the runs of each.

The form follows CLAVI's Tables 3 and 15 (mean ± over three runs), the robustness paper's Tables 2 to 4 and 8 to 16 (±
over settings; in 4, 10, 11, 14 and 15 those of several models), and CausalChaos's Tables 1 and 3.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isnan, nan, sqrt
from statistics import fmean, stdev
from typing import Any

from ...core.errors import InputError, UsageError
from ...core.results import Cell, Result, Spread, Table, json_value
from .folder import SavedScores, check_comparable

HEADLINE = "headline"
STD, SETTINGS = " std", "settings"
GREATEST = 1e6
FAULTS = (LookupError, TypeError, ValueError, AttributeError)

Label = tuple[str, ...]


@dataclass(frozen=True)
class RunScore:
    """The score of one run.

    Attributes:
        value: The score; NaN if undefined.
        std: Standard deviation over the averaged settings; NaN if the score is not such a mean.
    """

    value: float
    std: float = nan
    settings: int = 1


def values_of(scored: SavedScores, of: str) -> dict[Label, RunScore]:
    """Return the scores in one table of a model's saved scores, by label.

    A label, such as ("R@5", "text", "bias", "γr"), consists of the cells before the first score and the name of the
    score's column. Counts are omitted.

    Raises:
        UsageError: The table does not exist.
        InputError: `scores.json` is damaged.
    """
    try:
        if of == HEADLINE:
            return {(name,): RunScore(_number(value)) for name, value in scored.about[HEADLINE].items()}
        tables = scored.about["tables"]
        if of in tables:
            return _rows(tables[of])
        known = ", ".join((HEADLINE, *tables))
    except FAULTS as error:
        raise InputError(f"{scored.name} is damaged ({type(error).__name__}: {error}). Score again.") from error
    raise UsageError(f"{scored.name} has no table {of!r}. Tables: {known}.")


def _rows(rows: Sequence[Mapping[str, Any]]) -> dict[Label, RunScore]:
    names = list(rows[0]) if rows else []
    scores = [name for name in names if all(_is_score(row[name]) for row in rows)]
    labels = names[: names.index(scores[0])] if scores else names
    found: dict[Label, RunScore] = {}
    for row in rows:
        at = tuple(str(row[name]) for name in labels)
        for name in scores:
            if name.endswith(STD) and name.removesuffix(STD) in scores:
                continue
            spread = (_number(row[name + STD]), int(row[SETTINGS])) if name + STD in scores else ()
            found[(*at, name)] = RunScore(_number(row[name]), *spread)
    return found


def _is_score(cell: Any) -> bool:
    return cell is None or isinstance(cell, float | dict)


def _number(cell: Any) -> float:
    value = cell["value"] if isinstance(cell, dict) else cell
    if value is None:
        return nan
    if not abs(value) < GREATEST:
        raise ValueError(f"{value} is not a score")
    return float(value)


def mean_and_std(values: Sequence[RunScore]) -> Spread:
    """Return the mean of a model's runs with its standard deviation.

    For means over settings, the deviation is over the settings of all runs, as in the robustness tables. Otherwise it
    is over runs, with n - 1, and NaN for a single run.
    """
    means = [each.value for each in values]
    mean = fmean(means)
    if not any(isnan(each.std) for each in values):
        total = sum(each.settings for each in values)
        squares = sum(each.settings * (each.std**2 + (each.value - mean) ** 2) for each in values)
        return Spread(mean, sqrt(squares / total) if total else nan, len(values))
    return Spread(mean, stdev(means) if len(means) > 1 and not isnan(mean) else nan, len(values))


@dataclass(frozen=True)
class ModelTable(Result):
    """The scores of several models.

    Attributes:
        cells: Values by score and model, or None if a model lacks the score.
        over_settings: Whether ± refers to settings rather than to runs.
        markdown: Whether to print the table in Markdown.
        written: Messages that name the written files.
    """

    title: str
    models: tuple[str, ...]
    scores: tuple[str, ...]
    cells: Mapping[tuple[str, str], Spread | None]
    over_settings: bool
    transposed: bool = False
    markdown: bool = False
    written: tuple[str, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """Return each score of each model, with its number of runs."""
        rows = [
            {"model": model, "score": score, **(json_value(cell) or {"mean": None, "std": None, "runs": 0})}
            for (score, model), cell in self.cells.items()
        ]
        return {"title": self.title, "std": SETTINGS if self.over_settings else "runs", "rows": rows}

    def __str__(self) -> str:
        return self.render("markdown") if self.markdown else super().__str__()

    @property
    def note(self) -> str:
        """Explanation of the values after ±."""
        runs = {cell.runs for cell in self.cells.values() if cell}
        if self.over_settings:
            return "± is the standard deviation over all settings" + ", of all runs of a model" * (runs != {1}) + "."
        if runs == {1}:
            return "One run of each model: no ±."
        counts = f"{min(runs)}" if len(runs) == 1 else f"{min(runs)} to {max(runs)}"
        return f"Mean ± standard deviation (n - 1) over {counts} runs of a model."

    def as_tables(self) -> tuple[Table, ...]:
        """Return the table as the only element of a tuple, with models in columns or, if transposed, in rows."""
        rows: list[tuple[Cell, ...]]
        if self.transposed:
            headings = ("model", *self.scores)
            rows = [(model, *(self.cells[score, model] for score in self.scores)) for model in self.models]
        else:
            headings = ("score", *self.models)
            rows = [(score, *(self.cells[score, model] for model in self.models)) for score in self.scores]
        return (Table("models", self.title, headings, tuple(rows), self.note),)


def model_table(
    models: Mapping[str, Sequence[SavedScores]], of: str = HEADLINE, only: Sequence[str] = ()
) -> ModelTable:
    """Combine the scores in one table of several models ("headline" or another), given the runs of each model.

    Scores on several tables of an output are named after the tables. `only` lists labels and columns to keep, such as
    "R@5" and "γr". Labels of a kind that is not listed are all kept.

    Raises:
        UsageError: A table, label or column does not exist.
        InputError: The scores belong to different outputs or questions.
    """
    runs = [(model, scored) for model, several in models.items() for scored in several]
    check_same_questions([scored for _, scored in runs])
    configs = list(dict.fromkeys(str(scored.about["config"]) for _, scored in runs))
    found: dict[Label, dict[str, list[RunScore]]] = {}
    for model, scored in runs:
        for label, value in values_of(scored, of).items():
            whole = (str(scored.about["config"]), *label)
            found.setdefault(whole, {}).setdefault(model, []).append(value)
    if len({len(label) for label in found}) != 1:
        raise InputError(
            f"{', '.join(dict.fromkeys(scored.name for _, scored in runs))}: table {of!r} has no scores, or different "
            "columns for some of them. Score again."
        )
    kept, shared = select_labels(list(found), only)
    spreads = {
        (" ".join(part for part in name if part), model): mean_and_std(found[label][model])
        if model in found[label]
        else None
        for label, name in kept.items()
        for model in models
    }
    first = runs[0][1].about
    subject = [str(first["benchmark"]), configs[0] if len(configs) == 1 else "", str(first["split"])]
    title = ", ".join(filter(None, [*subject, *(part for part in shared if part and part not in configs)]))
    over_settings = any(not isnan(value.std) for label in kept for values in found[label].values() for value in values)
    names = tuple(dict.fromkeys(score for score, _ in spreads))
    return ModelTable(title, tuple(models), names, spreads, over_settings)


def select_labels(labels: Sequence[Label], only: Sequence[str]) -> tuple[dict[Label, Label], Label]:
    """Select labels of equal length by their parts, and remove the parts that all have in common.

    A position of the labels is filtered only if one of the parts in `only` occurs there.

    Returns:
        The shortened name of every selected label, and the parts that all have in common.

    Raises:
        UsageError: A part is unknown, or no label remains.
    """
    places = [list(dict.fromkeys(parts)) for parts in zip(*labels, strict=True)]
    unknown = [part for part in only if not any(part in parts for parts in places)]
    if unknown:
        known = "; ".join(", ".join(filter(None, parts)) for parts in places if len(parts) > 1)
        raise UsageError(
            f"--only {unknown[0]} does not match any label or column of the table. Available: {known or 'one score'}."
        )
    wanted = [{part for part in parts if part in only} or {*parts} for parts in places]
    kept = [label for label in labels if all(part in parts for part, parts in zip(label, wanted, strict=True))]
    if not kept:
        raise UsageError(f"--only {', '.join(only)}: no score matches all of these.")
    varies = [len({label[at] for label in kept}) > 1 for at in range(len(places))]
    if not any(varies):
        varies[-1] = True
    names = {label: tuple(part for part, own in zip(label, varies, strict=True) if own) for label in kept}
    return names, tuple(part for part, own in zip(kept[0], varies, strict=True) if not own)


def check_same_questions(scored: Sequence[SavedScores]) -> None:
    """Raise InputError if scores belong to different outputs, splits or questions."""
    first = scored[0]
    questions: dict[str, SavedScores] = {}
    for each in scored:
        check_comparable(first, each)
        like = questions.setdefault(each.about["config"], each)
        if like.about["answers"]["scored_sha256"] != each.about["answers"]["scored_sha256"]:
            raise InputError(
                f"{like.name} and {each.name} are scores for different questions of table {each.about['config']}. Was "
                "one of them scored with --partial? All scores in a table must cover the same questions."
            )
