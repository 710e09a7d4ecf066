"""Compare the scores of models: means and deviations over the runs of each, and differences between two models.

The table has the form of CLAVI's Tables 3 and 15 (mean ± over three runs), the robustness paper's Tables 2 to 4 and 8
to 16 (± over settings; in 4, 10, 11, 14 and 15 those of several models), and CausalChaos's Tables 1 and 3.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from math import isnan, nan, sqrt
from statistics import fmean, stdev
from typing import Any

from ...core.errors import InputError, UsageError
from ...core.results import INTERVAL, Cell, Estimate, Result, Spread, Table, json_value
from .bootstrap import RESAMPLES, Measure, Tally, differences, estimates
from .scores import SavedScores, interval_line

HEADLINE = "headline"
STD, SETTINGS = " std", "settings"
GREATEST = 1e6
BY_CHANCE = "Each line is a separate test at the 5% level. Among many tests, some show a difference by chance."
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
    values: dict[Label, RunScore] = {}
    for row in rows:
        at = tuple(str(row[name]) for name in labels)
        for name in scores:
            if name.endswith(STD) and name.removesuffix(STD) in scores:
                continue
            spread = (_number(row[name + STD]), int(row[SETTINGS])) if name + STD in scores else ()
            values[(*at, name)] = RunScore(_number(row[name]), *spread)
    return values


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
    means = [run.value for run in values]
    mean = fmean(means)
    if not any(isnan(run.std) for run in values):
        total = sum(run.settings for run in values)
        squares = sum(run.settings * (run.std**2 + (run.value - mean) ** 2) for run in values)
        return Spread(mean, sqrt(squares / total) if total else nan, len(values))
    return Spread(mean, stdev(means) if len(means) > 1 and not isnan(mean) else nan, len(values))


@dataclass(frozen=True)
class Difference:
    """The difference between a score of two models, B - A, with its paired interval."""

    score: str
    a: float
    b: float
    difference: Estimate
    verdict: str


@dataclass(frozen=True)
class Comparison(Result):
    """The scores of models.

    Attributes:
        cells: Values by score and model, or None if a model lacks the score.
        over_settings: Whether ± refers to settings rather than to runs.
        differences: Differences between two models, or () if they were not computed.
        interval: Number of sources and resamples, and the seed of the intervals, or None without differences.
        remarks: Remarks on how the questions of the two models were paired.
        markdown: Whether to print the table in Markdown.
        written: Messages that name the written files.
    """

    title: str
    models: tuple[str, ...]
    scores: tuple[str, ...]
    cells: Mapping[tuple[str, str], Spread | None]
    over_settings: bool
    differences: tuple[Difference, ...] = ()
    interval: Mapping[str, Any] | None = None
    remarks: tuple[str, ...] = ()
    transposed: bool = False
    markdown: bool = False
    written: tuple[str, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """Return each score of each model with its number of runs, and the differences between two models."""
        rows = [
            {"model": model, "score": score, **(json_value(cell) or {"mean": None, "std": None, "runs": 0})}
            for (score, model), cell in self.cells.items()
        ]
        return {
            "title": self.title,
            "std": SETTINGS if self.over_settings else "runs",
            "rows": rows,
            "differences": json_value(self.differences),
            "interval": self.interval,
            "notes": list(self.remarks),
        }

    def __str__(self) -> str:
        return self.render("markdown") if self.markdown else super().__str__()

    @property
    def note(self) -> str:
        """Explanation of the intervals or of the values after ±."""
        if self.interval and not self.transposed:
            return "\n".join([*self.remarks, interval_line(self.interval), BY_CHANCE])
        runs = {cell.runs for cell in self.cells.values() if cell}
        if self.over_settings:
            return "± is the standard deviation over all settings" + ", of all runs of a model" * (runs != {1}) + "."
        if runs == {1}:
            return "One run of each model: no ±."
        counts = f"{min(runs)}" if len(runs) == 1 else f"{min(runs)} to {max(runs)}"
        return f"Mean ± standard deviation (n - 1) over {counts} runs of a model."

    def as_tables(self) -> tuple[Table, ...]:
        """Return the table as the only element of a tuple, with models in columns or, if transposed, in rows."""
        headings: tuple[str, ...]
        rows: list[tuple[Cell, ...]]
        if self.interval and not self.transposed:
            first, second = self.models
            headings = ("score", first, second, f"{second} - {first}{INTERVAL}", "verdict")
            rows = [tuple(vars(difference).values()) for difference in self.differences]
        elif self.transposed:
            headings = ("model", *self.scores)
            rows = [(model, *(self.cells[score, model] for score in self.scores)) for model in self.models]
        else:
            headings = ("score", *self.models)
            rows = [(score, *(self.cells[score, model] for model in self.models)) for score in self.scores]
        return (Table("models", self.title, headings, tuple(rows), self.note),)


def compare_models(
    models: Mapping[str, Sequence[SavedScores]],
    measure_of: Callable[[str, Sequence[str]], Measure],
    of: str = HEADLINE,
    only: Sequence[str] = (),
    *,
    seed: int = 0,
    resamples: int = RESAMPLES,
) -> Comparison:
    """Combine the scores in one table of several models, given the runs of each model.

    Scores on several tables of an output are named after the tables. With two models of one run each, the differences
    between their headline scores are computed, too.

    Args:
        models: The runs of each model.
        measure_of: Function that returns the measure of a benchmark with the given cells.
        of: "headline", or another table of the scores.
        only: Labels and columns to keep, such as "R@5" and "γr". Labels of a kind that is not listed are all kept.
        seed: Seed of the bootstrap.
        resamples: Number of resamples.

    Raises:
        UsageError: A table, label or column does not exist.
        InputError: The scores belong to different outputs or questions.
    """
    check_same_questions(models)
    runs = [(model, scored) for model, several in models.items() for scored in several]
    configs = list(dict.fromkeys(str(scored.about["config"]) for _, scored in runs))
    values: dict[Label, dict[str, list[RunScore]]] = {}
    for model, scored in runs:
        for label, value in values_of(scored, of).items():
            values.setdefault((str(scored.about["config"]), *label), {}).setdefault(model, []).append(value)
    if len({len(label) for label in values}) != 1:
        raise InputError(
            f"{', '.join(dict.fromkeys(scored.name for _, scored in runs))}: table {of!r} has no scores, or different "
            "columns for some of them. Score again."
        )
    kept, shared = select_labels(list(values), only)
    spreads = {
        (" ".join(part for part in name if part), model): mean_and_std(values[label][model])
        if model in values[label]
        else None
        for label, name in kept.items()
        for model in models
    }
    first = runs[0][1].about
    subject = [str(first["benchmark"]), configs[0] if len(configs) == 1 else "", str(first["split"])]
    title = ", ".join(filter(None, [*subject, *(part for part in shared if part and part not in configs)]))
    over_settings = any(not isnan(run.std) for label in kept for of_model in values[label].values() for run in of_model)
    names = tuple(dict.fromkeys(score for score, _ in spreads))
    table = Comparison(title, tuple(models), names, spreads, over_settings)
    if of != HEADLINE or len(models) != 2 or len(runs) != 2:
        return table
    left_out = {label[-1] for label in values} - {label[-1] for label in kept}
    return with_differences(table, runs, measure_of, left_out, seed=seed, resamples=resamples)


def with_differences(
    table: Comparison,
    runs: Sequence[tuple[str, SavedScores]],
    measure_of: Callable[[str, Sequence[str]], Measure],
    left_out: Collection[str],
    *,
    seed: int,
    resamples: int,
) -> Comparison:
    """Add the differences between two models, except for the scores in `left_out`.

    Raises:
        InputError: The scores cannot be computed from the counts of both.
    """
    (model_a, scores_a), (model_b, scores_b) = runs
    benchmark = scores_a.about["benchmark"]
    tally_a, tally_b, remarks = pair_up(scores_a, scores_b)
    try:
        measure = measure_of(benchmark, tally_a.cells)
        values_a = estimates(tally_a, measure, seed=seed, resamples=resamples)
        values_b = estimates(tally_b, measure, seed=seed, resamples=resamples)
        gaps = differences(tally_a, tally_b, measure, seed=seed, resamples=resamples)
    except (LookupError, ValueError) as error:
        raise InputError(
            f"{scores_a.name} and {scores_b.name} cannot be compared ({type(error).__name__}: {error}): no score of "
            f"{benchmark} can be computed from the counts that both contain. Score both again."
        ) from error
    rows = tuple(
        Difference(name, values_a[name].value, values_b[name].value, gap, verdict(gap, model_a, model_b))
        for name, gap in gaps.items()
        if name not in left_out
    )
    interval = {"sources": len(tally_a.sources), "resamples": resamples, "seed": seed}
    return replace(table, differences=rows, interval=interval, remarks=tuple(remarks))


def verdict(gap: Estimate, a: str, b: str) -> str:
    """Return a verdict such as "B higher" for the difference B - A."""
    if gap.low > 0:
        return f"{b} higher"
    if gap.high < 0:
        return f"{a} higher"
    if gap.low == gap.high == 0:
        return "equal"
    return "no difference shown" if gap.low <= gap.high else "–"


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


def check_comparable(first: SavedScores, second: SavedScores) -> None:
    """Raise InputError if scores belong to different benchmarks, splits or outputs."""
    for what in ("benchmark", "split", "output"):
        mine, theirs = (scored.about[what] for scored in (first, second))
        if what == "output":
            mine, theirs = mine["fingerprint"], theirs["fingerprint"]
        if mine != theirs:
            raise InputError(
                f"{first.name} and {second.name} cannot be compared: one belongs to {what} {mine[:16]}, the other to "
                f"{theirs[:16]}."
            )


def check_same_questions(models: Mapping[str, Sequence[SavedScores]]) -> None:
    """Raise InputError if scores belong to different outputs or splits, or if two models share no questions.

    Scores on one table must be of the same questions.
    """
    firsts = next(iter(models.values()))
    by_config: dict[str, SavedScores] = {}
    for several in models.values():
        for scored in several:
            check_comparable(firsts[0], scored)
            like = by_config.setdefault(scored.about["config"], scored)
            if questions_of(like) != questions_of(scored):
                raise different_questions(like, scored)
        if {*map(questions_of, firsts)}.isdisjoint(map(questions_of, several)):
            raise different_questions(firsts[0], several[0])


def questions_of(scored: SavedScores) -> str:
    """Return the hash of the questions that were scored."""
    return str(scored.about["answers"]["scored_sha256"])


def different_questions(first: SavedScores, second: SavedScores) -> InputError:
    """Return the error for scores of different questions."""
    tables = [scored.about["config"] for scored in (first, second)]
    why = (
        "was one scored with --partial, --without or --people?"
        if tables[0] == tables[1]
        else f"tables {tables[0]} and {tables[1]}"
    )
    return InputError(
        f"{first.name} and {second.name} answer different questions ({why}). Only scores of the same questions can be "
        "compared."
    )


def pair_up(first: SavedScores, second: SavedScores) -> tuple[Tally, Tally, list[str]]:
    """Reduce two tallies to the cells that both contain. Different tables with the same questions are paired by id.

    Returns:
        The two tallies, and remarks for the report.

    Raises:
        InputError: The questions differ.
    """
    check_comparable(first, second)
    if questions_of(first) != questions_of(second):
        raise different_questions(first, second)
    shared = [cell for cell in first.tally.cells if cell in set(second.tally.cells)]
    alone = len(set(first.tally.cells) ^ set(second.tally.cells))
    remarks = [f"{alone} cells are in only one of the two and are left out."] if alone else []
    tables = [scored.about["config"] for scored in (first, second)]
    if tables[0] != tables[1]:
        remarks.append(
            f"{first.name} is of table {tables[0]}, {second.name} of {tables[1]}: the same questions, paired by id."
        )
    return _cut(first.tally, shared), _cut(second.tally, shared), remarks


def _cut(tally: Tally, cells: Sequence[str]) -> Tally:
    columns = [tally.cells.index(cell) for cell in cells]
    return Tally(tally.sources, tuple(cells), tally.sums[:, columns], tally.counts[:, columns])
