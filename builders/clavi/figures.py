"""Figures of the card of a CLAVI build."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from ...data_cards.plots import BLUE, GREY, INK, ORANGE, PALE, SPLITS, _plain, _png, _short
from ...data_cards.statistics import Spread
from .statistics import Kind, TypeCount

if TYPE_CHECKING:
    from matplotlib.figure import Figure
BAR_IN = 0.185
MOST_BARS = 160


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
