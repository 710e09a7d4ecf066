"""The figure of an audit: what guessers get right that see no video."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..evaluation.blind.report import Titled
from .plots import BLUE, GREY, INK, ORANGE, PALE, _plain, _png, _short

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SHOWN = 12
COLUMNS = 2


def audit_png(audits: Sequence[Titled]) -> bytes:
    """Draw the best guessers of every audit as bars with 95 % intervals, trained ones in orange; the line is chance."""
    rows = -(-len(audits) // COLUMNS)
    most = max(min(SHOWN, len(one.audit.figures)) for one in audits)

    def draw(figure: Figure) -> None:
        panels = figure.subplots(rows, min(COLUMNS, len(audits)), squeeze=False).ravel()
        for axes, one in zip(panels, audits, strict=False):
            ranked = sorted(one.audit.figures, key=lambda figure: -figure.share.value)[:SHOWN]
            for place, each in enumerate(ranked):
                colour = ORANGE if each.family == "trained" else BLUE
                axes.barh(place, 100 * each.share.value, 0.7, color=colour)
                if each.share.low == each.share.low:
                    ends = [100 * each.share.low, 100 * each.share.high]
                    axes.plot(ends, [place, place], color=INK, linewidth=1.4, solid_capstyle="butt")
            axes.axvline(100 * one.audit.chance, color=GREY, linewidth=1.5)
            axes.set_yticks(range(len(ranked)), [_short(each.guesser.replace("_", " "), 34) for each in ranked])
            axes.set_ylim(most - 0.4, -0.6)
            axes.set_xlim(0, 100)
            axes.set_title(one.title)
            axes.set_xlabel("% right; blue: untrained, orange: trained", color=PALE)
            _plain(axes, "x")
        for axes in panels[len(audits) :]:
            axes.axis("off")

    return _png(draw, rows * (0.9 + 0.22 * most))
