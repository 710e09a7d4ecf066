"""Figures of scores, drawn like those of the cards."""

from __future__ import annotations

from collections.abc import Mapping
from math import isnan
from typing import TYPE_CHECKING

import numpy as np

from ..core.results import Estimate, Table
from ..evaluation.metrics.open_ended import BEST, CAPSMIX, SCORES
from ..evaluation.metrics.scores import Scores
from .plots import BLUE, INK, ORANGE, PALE, _plain, _png, _short

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def score_figures(scores: Scores) -> dict[str, bytes]:
    """Draw the figures that every score has, by file name."""
    return {"scores.png": headline_png(scores)}


def headline_png(scores: Scores) -> bytes:
    """Draw the headline numbers with their intervals, and beside them the accuracy by type where there are types."""
    by_type = next((table for table in scores.tables if table.name == "by_type"), None)
    shown = of_best(scores.headline)
    title = "Scores" + ", 95 % intervals" * any(not isnan(each.low) for each in shown.values())

    def draw(figure: Figure) -> None:
        panels = figure.subplots(1, 2, squeeze=False)[0] if by_type else [figure.subplots()]
        bars(panels[0], shown, title)
        if by_type:
            fine = next(table for table in scores.tables if table.name == "fine_grained")
            _fine_grained(panels[1], fine)

    count = max(len(shown), 12 if by_type else 0)
    return _png(draw, 1.0 + 0.3 * count)


def of_best(values: Mapping[str, Estimate]) -> dict[str, Estimate]:
    """Divide scores whose best is not 1 by it, and say so in their names: "A CIDEr / 10"."""
    found = {}
    for name, each in values.items():
        best = (
            sum(BEST[score] for score in (*SCORES, *SCORES))
            if name.startswith(CAPSMIX)
            else BEST.get(name.split()[-1], 1.0)
        )
        label = name if best == 1 else f"{name} / {best:g}"
        found[label] = Estimate(each.value / best, each.low / best, each.high / best)
    return found


def bars(axes: Axes, values: Mapping[str, Estimate], title: str) -> None:
    """Draw scores from 0 to 1 as bars with intervals."""
    places = range(len(values))
    axes.barh(places, [_or_zero(each.value) for each in values.values()], 0.7, color=BLUE)
    for place, each in zip(places, values.values(), strict=True):
        if not isnan(each.low):
            axes.plot([each.low, each.high], [place, place], color=INK, linewidth=1.4, solid_capstyle="butt")
        right = each.value if isnan(each.high) else each.high
        axes.annotate(
            "–" if isnan(each.value) else f"{each.value:.3f}",
            (_or_zero(right), place),
            xytext=(4, 0),
            textcoords="offset points",
            va="center",
            fontsize=9,
            color=PALE,
        )
    axes.set_yticks(places, list(values))
    axes.invert_yaxis()
    axes.set_title(title)
    _shares(axes, "x", top=1.12)


def shares_png(table: Table) -> bytes:
    """Draw the shares of each row, which add up to 1, as one bar."""
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
        axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0))
        _shares(axes, "x")

    return _png(draw, 1.4 + 0.4 * max(len(table.rows), 4))


def _fine_grained(axes: Axes, table: Table) -> None:
    """Draw Table 15: accuracy on V and V′ for each type and wording."""
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


def _shares(axes: Axes, counted: str, top: float = 1.0) -> None:
    """Make an axis one of scores from 0 up."""
    from matplotlib.ticker import MaxNLocator

    _plain(axes, "x" if counted == "x" else "y")
    axis = axes.xaxis if counted == "x" else axes.yaxis
    axis.set_major_locator(MaxNLocator(6, steps=[1, 2, 5, 10]))
    axis.set_major_formatter("{x:g}")
    (axes.set_xlim if counted == "x" else axes.set_ylim)(0, top)


def _or_zero(value: object) -> float:
    number = float(value) if isinstance(value, float | int) else 0.0
    return 0.0 if isnan(number) else number
