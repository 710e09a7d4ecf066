"""Draw the scores of a suite as figures."""

from __future__ import annotations

from collections.abc import Mapping
from math import ceil, isnan
from typing import TYPE_CHECKING, Any

import numpy as np

from ...data_cards.figures import BESIDE, COLOURS, GREY, INK, bar_axes, draw_png, or_zero, panels, value_axis
from ...evaluation.metrics.bootstrap import Floats
from ...evaluation.metrics.robustness import CLEAN, Setting, gamma_relative
from ...evaluation.metrics.scores import Scores

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MARKS = "osD^v"
APART = 0.11  # horizontal distance between markers; lower lines are thicker, so that equal ones remain visible
PANEL_IN = 2.9
FEW_CLIPS = 50  # if there are fewer clips, R@5 is close to 1


def robustness_figures(scores: Scores) -> dict[str, bytes]:
    """Draw scores by severity, under text perturbations, and for combinations (Figures 18, 16 and 4 of the paper).

    Retrieval is shown as R@5, or as R@1 for fewer than 50 clips. Combinations are relative to clean and omitted if
    clean is 0.
    """
    table = next(table for table in scores.tables if table.name == "settings")
    names = list(dict.fromkeys(str(row[0]) for row in table.rows))
    shown = "R@5" if "R@5" in names and scores.answers["clips"] >= FEW_CLIPS else names[0]
    values = {
        Setting(str(visual), int(str(severity)), str(text)): float(str(value))
        for score, visual, severity, text, value, *_ in table.rows
        if score == shown
    }
    families = {
        str(row[3]): str(row[2])
        for row in next(table for table in scores.tables if table.name == "perturbations").rows
        if row[1] != "multimodal"
    }
    figures = {}
    if any(setting.modality == "video" for setting in values):
        figures["severity.png"] = severity_png(values, families, shown)
    if any(setting.modality == "text" for setting in values):
        figures["text.png"] = text_png(values, families, shown)
    if any(setting.modality == "multimodal" for setting in values) and values[Setting()] > 0:
        figures["pairs.png"] = pairs_png(values, shown)
    return figures


def severity_png(values: Mapping[Setting, float], families: Mapping[str, str], score: str) -> bytes:
    """Plot a score against severity, with one panel for each family."""
    visual = {setting.visual: families[setting.visual] for setting in values if setting.modality == "video"}
    members: dict[str, list[str]] = {}
    for name, family in visual.items():
        members.setdefault(family, []).append(name)
    top = max(values.values()) * 1.08 or 1.0

    def draw(figure: Figure) -> None:
        for axes, (family, names) in zip(panels(figure, len(members), 3), members.items(), strict=True):
            axes.axhline(values[Setting()], color=GREY, linewidth=1.2, linestyle=(0, (4, 3)), label=CLEAN, zorder=3)
            for number, name in enumerate(names):
                points = sorted((s.severity, value) for s, value in values.items() if s.visual == name and not s.text)
                places = [severity + APART * (number - (len(names) - 1) / 2) for severity, _ in points]
                axes.plot(
                    places,
                    [value for _, value in points],
                    marker=MARKS[number % 5],
                    markersize=6,
                    markeredgecolor="white",
                    linewidth=1.3 + 1.3 * (len(names) - 1 - number),
                    color=COLOURS[number % 5],
                    label=name,
                )
            axes.set_title(family)
            axes.set_xticks(sorted({s.severity for s in values if s.severity}))
            axes.set_xlabel("severity")
            axes.set_ylabel(score)
            axes.legend(fontsize=8, loc="upper center", bbox_to_anchor=(0.5, -0.2), ncols=2)
            value_axis(axes, "y", top)

    return draw_png(draw, PANEL_IN * ceil(len(members) / 3) + 0.3)


def text_png(values: Mapping[Setting, float], families: Mapping[str, str], score: str) -> bytes:
    """Plot a score under each text perturbation, coloured by family, with a line for the clean score."""
    scores = {setting.text: value for setting, value in values.items() if setting.modality == "text"}
    order = list(dict.fromkeys(families[name] for name in scores))
    colours = dict(zip(order, COLOURS, strict=False))

    def draw(figure: Figure) -> None:
        axes = figure.subplots()
        for place, (name, value) in enumerate(scores.items()):
            axes.barh(place, or_zero(value), 0.75, color=colours[families[name]])
        for family in order:
            axes.barh(0, 0, color=colours[family], label=family)
        axes.axvline(values[Setting()], color=INK, linewidth=1.2, linestyle=(0, (4, 3)), label=CLEAN)
        title = f"{score} under text perturbations"
        bar_axes(axes, list(scores), title, top=max(values.values()) * 1.08 or 1.0)
        axes.legend(**BESIDE)

    return draw_png(draw, 1.1 + 0.2 * max(len(scores), 6))


def pairs_png(values: Mapping[Setting, float], score: str) -> bytes:
    """Draw the relative robustness under combinations as a heat map, next to that under single perturbations."""
    pairs = [setting for setting in values if setting.modality == "multimodal"]
    visual = list(dict.fromkeys((s.visual, s.severity) for s in pairs))
    text = list(dict.fromkeys(s.text for s in pairs))
    clean = values[Setting()]

    def relative(setting: Setting) -> float:
        value: Floats = gamma_relative(np.array([clean]), np.array([values.get(setting, np.nan)]))
        return float(value[0])

    grid = np.array([[relative(Setting(*(v or ("", 0)), t)) for t in ["", *text]] for v in [None, *visual]])
    grid[0, 0] = np.nan
    top = max(1.0, float(np.nanmax(grid)))

    def draw(figure: Figure) -> None:
        axes = figure.subplots()
        image = axes.imshow(np.ma.masked_invalid(grid), cmap="viridis", vmin=0, vmax=top, aspect="auto")
        for row, column in np.ndindex(*grid.shape):
            value = grid[row, column]
            if not isnan(value):
                colour = "white" if value < 0.6 * top else INK
                axes.text(column, row, f"{value:.2f}", ha="center", va="center", fontsize=8, color=colour)
        turned: dict[str, Any] = {"rotation": 40, "ha": "right", "rotation_mode": "anchor"} if len(text) > 3 else {}
        axes.set_xticks(range(len(text) + 1), ["video alone", *text], **turned)
        axes.set_yticks(range(len(visual) + 1), ["text alone", *(name for name, _ in visual)])
        axes.tick_params(length=0)
        axes.spines[:].set_visible(False)
        axes.axhline(0.5, color="white", linewidth=3)
        axes.axvline(0.5, color="white", linewidth=3)
        axes.set_title(f"Relative robustness of pairs, {score}")
        figure.colorbar(image, ax=axes, pad=0.02, label="γr")

    return draw_png(draw, 1.9 + 0.42 * (len(visual) + 1))
