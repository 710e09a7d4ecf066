"""Draw figures of audits, scores, model comparisons and text shifts, in the style of the cards."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isnan
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.errors import UsageError
from ..core.results import Estimate, Table
from ..evaluation.metrics.open_ended import BEST, CAPSMIX, SCORES
from .plots import BLUE, GREY, INK, ORANGE, PALE, _or_zero, _plain, _png, _shares, _short

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from ..evaluation.blind.report import Titled
    from ..evaluation.metrics.comparison import Comparison
    from ..evaluation.metrics.scores import Scores

MOST_BASELINES = 12
AUDIT_COLUMNS = 2
MOST_BARS, MOST_PANELS = 150, 12
COLOURS = (BLUE, ORANGE, "#4f9d69", "#8a5fa8", "#c0504d", GREY, "#7a6a58")
BESIDE: dict[str, Any] = {"loc": "upper left", "bbox_to_anchor": (1.0, 1.0)}  # right of the axes


def _interval(axes: Axes, place: float, low: float, high: float, width: float = 1.4) -> None:
    axes.plot([low, high], [place, place], color=INK, linewidth=width, solid_capstyle="butt")


def _label(axes: Axes, text: str, right: float, place: float, size: int) -> None:
    where: dict[str, Any] = {"xytext": (4, 0), "textcoords": "offset points", "va": "center"}
    axes.annotate(text, (right, place), fontsize=size, color=PALE, **where)


# Audits


def audit_png(audits: Sequence[Titled]) -> bytes:
    """Draw the accuracies of the best blind baselines in each audit, with 95% intervals and chance level."""
    rows = -(-len(audits) // AUDIT_COLUMNS)
    most = max(min(MOST_BASELINES, len(one.audit.figures)) for one in audits)

    def draw(figure: Figure) -> None:
        panels = figure.subplots(rows, min(AUDIT_COLUMNS, len(audits)), squeeze=False).ravel()
        for axes, one in zip(panels, audits, strict=False):
            ranked = sorted(one.audit.figures, key=lambda figure: -figure.share.value)[:MOST_BASELINES]
            for place, each in enumerate(ranked):
                axes.barh(place, 100 * each.share.value, 0.7, color=ORANGE if each.family == "trained" else BLUE)
                if not isnan(each.share.low):
                    _interval(axes, place, 100 * each.share.low, 100 * each.share.high)
            axes.axvline(100 * one.audit.chance, color=GREY, linewidth=1.5)
            axes.set_yticks(range(len(ranked)), [_short(each.guesser.replace("_", " "), 34) for each in ranked])
            axes.set_ylim(most - 0.4, -0.6)
            axes.set_xlim(0, 100)
            axes.set_title(one.title)
            axes.set_xlabel("accuracy, %; blue: untrained, orange: trained", color=PALE)
            _plain(axes, "x")
        for axes in panels[len(audits) :]:
            axes.axis("off")

    return _png(draw, rows * (0.9 + 0.22 * most))


# Scores


def score_figures(scores: Scores) -> dict[str, bytes]:
    """Return the figures that are drawn for every benchmark, by file name."""
    return {"scores.png": headline_png(scores)}


def headline_png(scores: Scores) -> bytes:
    """Draw the headline scores with their intervals, and the accuracy by type if it is available."""
    by_type = next((table for table in scores.tables if table.name == "by_type"), None)
    shown = of_best(scores.headline)
    title = "Scores, 95% intervals" if any(not isnan(each.low) for each in shown.values()) else "Scores"

    def draw(figure: Figure) -> None:
        panels = figure.subplots(1, 2, squeeze=False)[0] if by_type else [figure.subplots()]
        bars(panels[0], shown, title)
        if by_type:
            _fine_grained(panels[1], next(table for table in scores.tables if table.name == "fine_grained"))

    return _png(draw, 1.0 + 0.3 * max(len(shown), 12 if by_type else 0))


def of_best(values: Mapping[str, Estimate]) -> dict[str, Estimate]:
    """Divide each score by its maximum, which is added to its name as in "A CIDEr / 10"."""
    found = {}
    for name, each in values.items():
        best = BEST.get(name.split()[-1], 1.0)
        if name.startswith(CAPSMIX):
            best = sum(BEST[score] for score in (*SCORES, *SCORES))
        label = name if best == 1 else f"{name} / {best:g}"
        found[label] = Estimate(each.value / best, each.low / best, each.high / best)
    return found


def bars(axes: Axes, values: Mapping[str, Estimate], title: str) -> None:
    """Draw scores between 0 and 1 as bars, with their intervals."""
    places = range(len(values))
    axes.barh(places, [_or_zero(each.value) for each in values.values()], 0.7, color=BLUE)
    for place, each in zip(places, values.values(), strict=True):
        if not isnan(each.low):
            _interval(axes, place, each.low, each.high)
        right = each.value if isnan(each.high) else each.high
        _label(axes, "–" if isnan(each.value) else f"{each.value:.3f}", _or_zero(right), place, 9)
    axes.set_yticks(places, list(values))
    axes.invert_yaxis()
    axes.set_title(title)
    _shares(axes, "x", top=1.12)


def _fine_grained(axes: Axes, table: Table) -> None:
    labels = list(dict.fromkeys(f"{row[1]} {row[2]}".removesuffix(" -") for row in table.rows))
    for number, (variant, colour) in enumerate((("V", BLUE), ("V′", ORANGE))):
        found = {f"{row[1]} {row[2]}".removesuffix(" -"): row[3] for row in table.rows if row[0] == variant}
        values = [_or_zero(found.get(label)) for label in labels]
        places = [place + 0.2 * (2 * number - 1) for place in range(len(labels))]
        axes.barh(places, values, 0.37, color=colour, label=variant)
    axes.set_yticks(range(len(labels)), labels)
    axes.invert_yaxis()
    axes.set_title("Accuracy by type and wording")
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.06), ncols=2)
    _shares(axes, "x")


def shares_png(table: Table) -> bytes:
    """Draw each row of a table as a stacked bar of shares."""
    kinds = table.headings[2:]

    def draw(figure: Figure) -> None:
        from matplotlib import colormaps

        axes = figure.subplots()
        places = range(len(table.rows))
        left = np.zeros(len(table.rows))
        for number, kind in enumerate(kinds):
            shares = np.array([_or_zero(row[2 + number]) for row in table.rows])
            axes.barh(places, shares, 0.7, left=left, color=colormaps["tab10"](number % 10), label=kind)
            for place, share, start in zip(places, shares, left, strict=True):
                if share >= 0.05:
                    middle = (start + share / 2, place)
                    axes.annotate(f"{share:.0%}", middle, ha="center", va="center", fontsize=8, color="white")
            left += shares
        axes.set_yticks(places, [f"{_short(str(row[0]), 40)} ({row[1]:,})" for row in table.rows])
        axes.invert_yaxis()
        axes.set_title(table.title)
        axes.legend(**BESIDE)
        _shares(axes, "x")

    return _png(draw, 1.4 + 0.4 * max(len(table.rows), 4))


# Several models


def models_png(table: Comparison) -> bytes:
    """Draw the scores of several models as grouped bars, with standard deviations.

    Raises:
        UsageError: The table has too many scores and models for a figure.
    """
    count = len(table.scores) * len(table.models)
    if count > MOST_BARS:
        raise UsageError(
            f"--figure: the figure would have {count} bars; the limit is {MOST_BARS}. Use --only to select fewer "
            "scores."
        )
    places, thick = np.arange(len(table.scores)), 0.8 / len(table.models)
    tops = [cell.mean + (0 if isnan(cell.std) else cell.std) for cell in table.cells.values() if cell]

    def draw(figure: Figure) -> None:
        from matplotlib import colormaps

        axes = figure.subplots()
        colours = colormaps["tab10" if len(table.models) <= 10 else "turbo"]
        for number, model in enumerate(table.models):
            cells = [table.cells[score, model] for score in table.scores]
            at = places + thick * (number - (len(table.models) - 1) / 2)
            means = [_or_zero(cell.mean if cell else None) for cell in cells]
            colour = colours(number if len(table.models) <= 10 else number / (len(table.models) - 1))
            axes.barh(at, means, 0.92 * thick, color=colour, label=model)
            for place, mean, cell in zip(at, means, cells, strict=True):
                if cell and not isnan(cell.std):
                    _interval(axes, place, max(0.0, mean - cell.std), mean + cell.std, 1.2)
        axes.set_yticks(places, [_short(score) for score in table.scores])
        axes.invert_yaxis()
        axes.set_title(table.title)
        axes.legend(**BESIDE)
        _shares(axes, "x", top=max(1.0, 1.05 * max((top for top in tops if not isnan(top)), default=1.0)))

    return _png(draw, 1.2 + 0.17 * max(count + len(table.scores), 10))


def against_png(table: Comparison, score: str) -> bytes:
    """Plot the scores of models against one of them, as in Figures 2 and 12 of the robustness paper.

    Raises:
        UsageError: The score is unknown, or the number of other scores is 0 or too large.
    """
    others = [each for each in table.scores if each != score]
    if score not in table.scores or not 0 < len(others) <= MOST_PANELS:
        raise UsageError(
            f"--against {score}: expected one of the scores shown, next to 1 to {MOST_PANELS} others. Scores shown: "
            f"{', '.join(table.scores[:20])}. Use --only to select fewer."
        )
    columns = min(3, len(others))
    rows = -(-len(others) // columns)

    def draw(figure: Figure) -> None:
        from matplotlib.ticker import MaxNLocator

        grid = figure.subplots(rows, columns, squeeze=False).ravel()
        for axes, other in zip(grid, others, strict=False):
            for model in table.models:
                one, two = table.cells[score, model], table.cells[other, model]
                if one is None or two is None or isnan(one.mean) or isnan(two.mean):
                    continue
                axes.errorbar(
                    *(one.mean, two.mean, _or_zero(two.std), _or_zero(one.std)), fmt="o", color=BLUE, ecolor=PALE
                )
                where: dict[str, Any] = {"xytext": (5, 4), "textcoords": "offset points", "fontsize": 8, "color": INK}
                axes.annotate(_short(model, 20), (one.mean, two.mean), **where)
            _plain(axes, "y")
            for axis in (axes.xaxis, axes.yaxis):
                axis.set_major_locator(MaxNLocator(5))
                axis.set_major_formatter("{x:g}")
            axes.set_xlabel(score)
            axes.set_ylabel(other)
            axes.margins(0.2)
        for axes in grid[len(others) :]:
            axes.set_visible(False)

    return _png(draw, 3.2 * rows + 0.2)


# Perturbed captions


def perplexity_png(report: Mapping[str, Any]) -> bytes:
    """Draw the mean perplexity of each perturbation, as in Figure 11 of the robustness paper.

    A mark shows the mean without captions above 500, whose share is printed beside the bar. Dashed lines show both
    means for the original captions. `report` must include perplexities.
    """
    shifts: Mapping[str, Mapping[str, Any]] = report["perturbations"]
    colours = {family: COLOURS[number % len(COLOURS)] for number, family in enumerate(report["families"])}
    names = [name for family in colours for name, shift in shifts.items() if shift["family"] == family]
    originals = report["originals"]["perplexity"]

    def draw(figure: Figure) -> None:
        axes = figure.subplots()
        for place, name in enumerate(names):
            found = shifts[name]["perplexity"]
            axes.barh(place, found["mean"], 0.75, color=colours[shifts[name]["family"]])
            inner = found["mean_without_outliers"]
            if found["outliers"] < 1:
                axes.plot([inner, inner], [place - 0.42, place + 0.42], color=INK, linewidth=1.6)
            _label(axes, f"{found['outliers']:.0%}", found["mean"], place, 8)
        for family, colour in colours.items():
            axes.barh(0, 0, color=colour, label=family)
        for key, label, width in (("mean", "originals", 1.3), ("mean_without_outliers", "originals up to 500", 0.8)):
            if originals[key]:
                axes.axvline(originals[key], color=INK, linewidth=width, linestyle=(0, (4, 3)), label=label)
        axes.set_yticks(range(len(names)), names)
        axes.set_ylim(len(names) - 0.4, -0.6)
        axes.set_title("Mean perplexity (mark: mean of captions up to 500; number: share of captions above)")
        axes.legend(**BESIDE)
        _plain(axes, "x")

    return _png(draw, 1.2 + 0.22 * max(len(names), 8))
