"""The figure of how hard a language model finds perturbed captions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from .plots import BLUE, GREY, INK, ORANGE, PALE, _plain, _png

if TYPE_CHECKING:
    from matplotlib.figure import Figure

COLOURS = (BLUE, ORANGE, "#4f9d69", "#8a5fa8", "#c0504d", GREY, "#7a6a58")


def perplexity_png(report: Mapping[str, Any]) -> bytes:
    """Draw mean perplexities as the robustness paper's Figure 11 does.

    A bar for each perturbation, coloured by family; a mark at the mean without captions above 500, the share of which
    stands behind the bar; dashed lines for the originals, with and without those.

    Args:
        report: See `evaluation.metrics.text_shift.shift_report`; with perplexities.
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
            share = f"{found['outliers']:.0%}"
            where: dict[str, Any] = {
                "xytext": (4, 0),
                "textcoords": "offset points",
                "va": "center",
                "fontsize": 8,
                "color": PALE,
            }
            axes.annotate(share, (found["mean"], place), **where)
        for family, colour in colours.items():
            axes.barh(0, 0, color=colour, label=family)
        for key, label, width in (("mean", "originals", 1.3), ("mean_without_outliers", "originals up to 500", 0.8)):
            if originals[key]:
                axes.axvline(originals[key], color=INK, linewidth=width, linestyle=(0, (4, 3)), label=label)
        axes.set_yticks(range(len(names)), names)
        axes.set_ylim(len(names) - 0.4, -0.6)
        axes.set_title("Mean perplexity; mark: of captions up to 500, and the share of the others")
        axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0))
        _plain(axes, "x")

    return _png(draw, 1.2 + 0.22 * max(len(names), 8))
