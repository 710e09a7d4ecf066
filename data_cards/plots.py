"""Draw figures in a common style, off screen and without global state, so that they are reproducible."""

from __future__ import annotations

import io
from collections.abc import Callable
from math import isnan
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

WIDTH_IN, DPI = 9.0, 120
LONGEST = 500  # maximum characters of a text in a figure, as drawing takes time per character
INK, PALE, GRID = "#1f2933", "#52606d", "#e4e7eb"
BLUE, ORANGE, GREY = "#3b76af", "#e08a3c", "#b8c0c9"
STYLE: dict[Any, Any] = {
    "font.family": "DejaVu Sans",
    "font.size": 10,
    "text.color": INK,
    "text.parse_math": False,
    "axes.labelcolor": PALE,
    "axes.edgecolor": GREY,
    "axes.titlesize": 11,
    "axes.titlelocation": "left",
    "axes.titleweight": "bold",
    "xtick.color": PALE,
    "ytick.color": INK,
    "xtick.labelsize": 9,
    "ytick.labelsize": 9,
    "legend.frameon": False,
    "legend.fontsize": 9,
}


def shorten(text: str, most: int = 52) -> str:
    """Truncate a text to `most` characters, ending in "…"."""
    return text if len(text) <= most else text[: most - 1].rstrip() + "…"


def plain_axis(axes: Axes, counted: Literal["x", "y"]) -> None:
    """Give axes a grid and integers along x or y."""
    from matplotlib.ticker import MaxNLocator

    axis = axes.xaxis if counted == "x" else axes.yaxis
    axis.set_major_locator(MaxNLocator(8, integer=True, steps=[1, 2, 5, 10]))
    axis.set_major_formatter("{x:,.0f}")
    axes.grid(axis=counted, color=GRID)
    axes.spines[["top", "right"]].set_visible(False)
    axes.set_axisbelow(True)
    axes.tick_params(length=0)


def share_axis(axes: Axes, counted: Literal["x", "y"], top: float = 1.0) -> None:
    """Give axes a grid and a scale from 0 to `top` along x or y."""
    from matplotlib.ticker import MaxNLocator

    plain_axis(axes, counted)
    axis = axes.xaxis if counted == "x" else axes.yaxis
    axis.set_major_locator(MaxNLocator(6, steps=[1, 2, 5, 10]))
    axis.set_major_formatter("{x:g}")
    (axes.set_xlim if counted == "x" else axes.set_ylim)(0, top)


def or_zero(value: object) -> float:
    """Return a number, or 0 if it is NaN or not a number."""
    number = float(value) if isinstance(value, float | int) else 0.0
    return 0.0 if isnan(number) else number


def _truncate_texts(figure: Figure) -> None:
    """Truncate long texts, which would take minutes to draw."""
    from matplotlib.text import Text
    from matplotlib.ticker import FixedLocator

    for axes in figure.axes:
        for axis in (axes.xaxis, axes.yaxis):
            if isinstance(axis.get_major_locator(), FixedLocator):
                labels = [label.get_text() for label in axis.get_ticklabels()]
                if max(map(len, labels), default=0) > LONGEST:
                    axis.set_ticklabels([shorten(label) for label in labels])
    for text in figure.findobj(Text):
        if len(text.get_text()) > LONGEST:
            text.set_text(shorten(text.get_text()))


def draw_png(draw: Callable[[Figure], None], height_in: float) -> bytes:
    """Draw a figure and return it as PNG, without Matplotlib's version and date."""
    import matplotlib
    from matplotlib import style
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    with style.context(["default", STYLE]):
        figure = Figure(figsize=(WIDTH_IN, height_in), dpi=DPI, layout="constrained", facecolor="white")
        FigureCanvasAgg(figure)
        draw(figure)
        _truncate_texts(figure)
        target = io.BytesIO()
        figure.savefig(target, format="png", metadata={"Software": f"Matplotlib {matplotlib.__version__}"})
    return target.getvalue()
