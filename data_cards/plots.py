"""Figures of a dataset card, drawn off screen: no window, no global state, the same picture every time."""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from .statistics import Kind, Spread, TypeCount

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

WIDTH_IN, DPI = 9.0, 120
BAR_IN = 0.185
MOST_BARS = 160
INK, PALE, GRID = "#1f2933", "#52606d", "#e4e7eb"
BLUE, ORANGE, GREY = "#3b76af", "#e08a3c", "#b8c0c9"
SPLITS = {"train": BLUE, "validation": GREY, "test": ORANGE}
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


def durations_png(actions_s: Sequence[float], videos_s: Sequence[float]) -> bytes:
    """Draw the durations of actions and videos as two histograms (the paper's Figure 6)."""
    from matplotlib.ticker import MaxNLocator

    def draw(figure: Figure) -> None:
        panels = figure.subplots(1, 2)
        for axes, title, values, step, colour in (
            (panels[0], "Actions (A and B, as annotated)", actions_s, 1, ORANGE),
            (panels[1], "Videos (V and V′)", videos_s, 2, BLUE),
        ):
            spread = Spread.of(values)
            low, high = int(spread.low // step) * step, int(-(-spread.high // step)) * step
            axes.hist(values, bins=range(low, max(high, low + step) + step, step), color=colour, edgecolor="white")
            axes.axvline(spread.mean, color=INK, linewidth=1, linestyle=(0, (4, 3)))
            axes.set_title(title)
            axes.set_title(f"{spread.mean:.2f} ± {spread.sd:.2f} s", loc="right", fontsize=10, fontweight="normal")
            axes.xaxis.set_major_locator(MaxNLocator(10, integer=True))
            axes.set_xlabel(f"seconds, bars of {step} s")
            _plain(axes, "y")

    return _png(draw, 3.3)


def types_png(types: Sequence[TypeCount]) -> bytes:
    """Draw how many questions there are of each type, by split (Figure 7a)."""
    splits = list(types[0].splits)
    height = 0.8 / len(splits)

    def draw(figure: Figure) -> None:
        axes = figure.subplots()
        for number, split in enumerate(splits):
            total = sum(kind.splits[split] for kind in types)
            counts = [kind.splits[split] for kind in types]
            places = [row - 0.4 + height * (number + 0.5) for row in range(len(types))]
            axes.barh(places, counts, height * 0.92, color=SPLITS[split], label=f"{split}, {total:,} questions")
            for place, count in zip(places, counts, strict=True):
                axes.annotate(
                    f"{count:,} ({count / total:.1%})",
                    (count, place),
                    xytext=(4, 0),
                    textcoords="offset points",
                    va="center",
                    fontsize=9,
                    color=PALE,
                )
        axes.set_yticks(range(len(types)), [kind.type for kind in types])
        axes.invert_yaxis()
        axes.margins(x=0.16)
        axes.set_title("Questions by type")
        axes.set_xlabel("questions")
        axes.legend(loc="upper right")
        _plain(axes, "x")

    return _png(draw, 1.0 + 0.26 * len(types) * len(splits))


def kind_png(name: str, kind: Kind) -> bytes:
    """Draw in how many pairs each action, verb or object plays each part (Figure 7b to d)."""
    shown = dict(list(kind.counts.items())[:MOST_BARS])
    hidden = len(kind.counts) - len(shown)
    title = f"{name.capitalize()}: the {len(shown)} commonest of {len(kind.counts):,}" if hidden else name.capitalize()

    def draw(figure: Figure) -> None:
        axes = figure.subplots()
        left = [0] * len(shown)
        for part, label, colour in (
            (0, "A, first in V", BLUE),
            (1, "B, second in V", ORANGE),
            (2, "C, negative control", GREY),
        ):
            widths = [counts[part] for counts in shown.values()]
            axes.barh(range(len(shown)), widths, 0.8, left=left, color=colour, label=label)
            left = [start + width for start, width in zip(left, widths, strict=True)]
        axes.set_yticks(range(len(shown)), [_short(text) for text in shown])
        axes.set_ylim(len(shown) - 0.4, -0.6)
        axes.set_title(title)
        axes.set_xlabel("pairs")
        axes.legend(loc="lower right")
        _plain(axes, "x")
        axes.tick_params(labeltop=len(shown) > 60)

    return _png(draw, 1.1 + BAR_IN * max(len(shown), 4))


def clavi_figures(
    actions_s: Sequence[float], videos_s: Sequence[float], types: Sequence[TypeCount], kinds: Mapping[str, Kind]
) -> dict[str, bytes]:
    """Draw all figures of a CLAVI card, by file name."""
    return {
        "durations.png": durations_png(actions_s, videos_s),
        "types.png": types_png(types),
        **{f"{name}.png": kind_png(name, kind) for name, kind in kinds.items()},
    }


def _short(text: str, most: int = 52) -> str:
    return text if len(text) <= most else text[: most - 1].rstrip() + "…"


def _plain(axes: Axes, counted: Literal["x", "y"]) -> None:
    """Take away the frame, draw light lines behind the bars, and label the axis of counts with whole numbers."""
    from matplotlib.ticker import MaxNLocator

    axis = axes.xaxis if counted == "x" else axes.yaxis
    axis.set_major_locator(MaxNLocator(8, integer=True, steps=[1, 2, 5, 10]))
    axis.set_major_formatter("{x:,.0f}")
    axes.grid(axis=counted, color=GRID)
    axes.spines[["top", "right"]].set_visible(False)
    axes.set_axisbelow(True)
    axes.tick_params(length=0)


def _png(draw: Callable[[Figure], None], height_in: float) -> bytes:
    """Draw a figure of the cards' width, without the version or the date that Matplotlib would write into it."""
    from matplotlib import style
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    with style.context(["default", STYLE]):
        figure = Figure(figsize=(WIDTH_IN, height_in), dpi=DPI, layout="constrained", facecolor="white")
        FigureCanvasAgg(figure)
        draw(figure)
        target = io.BytesIO()
        figure.savefig(target, format="png", metadata={"Software": None})
    return target.getvalue()
