"""Figures of several models: their scores as bars, and one score against others."""

from __future__ import annotations

from math import isnan
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.errors import UsageError
from ..evaluation.metrics.model_table import ModelTable
from .plots import BLUE, INK, PALE, _plain, _png, _short
from .score_figures import _or_zero, _shares

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOST_BARS, MOST_PANELS = 150, 12


def models_png(table: ModelTable) -> bytes:
    """Draw scores of several models as bars beside one another, with their standard deviations.

    Raises:
        UsageError: They are more than a page shows.
    """
    count = len(table.scores) * len(table.models)
    if count > MOST_BARS:
        raise UsageError(f"--figure: {count} bars are too many for a picture, {MOST_BARS} at most. Narrow with --only.")
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
                    ends = [max(0.0, mean - cell.std), mean + cell.std]
                    axes.plot(ends, [place, place], color=INK, linewidth=1.2, solid_capstyle="butt")
        axes.set_yticks(places, [_short(score) for score in table.scores])
        axes.invert_yaxis()
        axes.set_title(table.title)
        axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0))
        _shares(axes, "x", top=max(1.0, 1.05 * max((top for top in tops if not isnan(top)), default=1.0)))

    return _png(draw, 1.2 + 0.17 * max(count + len(table.scores), 10))


def against_png(table: ModelTable, score: str) -> bytes:
    """Draw each other score of the models against one, as the robustness paper's Figures 2 and 12 do.

    Raises:
        UsageError: There is no such score, or there are no others, or more than a page shows.
    """
    others = [each for each in table.scores if each != score]
    if score not in table.scores or not 0 < len(others) <= MOST_PANELS:
        raise UsageError(
            f"--against {score}: give one of the scores shown, beside 1 to {MOST_PANELS} others. Shown: "
            f"{', '.join(table.scores[:20])}. Narrow with --only."
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
