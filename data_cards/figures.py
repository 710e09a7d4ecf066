"""Draw figures of audits, scores, model comparisons and text shifts, and contact sheets of frames, for cards.

Contact sheets are drawn with Pillow, so that the same input yields the same bytes.
"""

from __future__ import annotations

import io
import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import ceil, isnan
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

from ..core.errors import InputError, UsageError
from ..core.results import Estimate, Spread, Table
from ..core.schema import Row
from ..evaluation.metrics.open_ended import BEST, CAPSMIX, SCORES
from ..video.pyav import to_rgb
from ..video.thumbnails import UNDECODABLE, frames_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from ..evaluation.blind.report import Titled
    from ..evaluation.metrics.comparison import Comparison
    from ..evaluation.metrics.scores import Scores


LINE, LABEL, MARGIN, GAP = 16, 170, 12, 6  # pixels: height of a line of text, width of the labels, spaces
LABEL_LINES, LABEL_CHARACTERS = 4, 22

WIDTH_IN, DPI = 9.0, 120
LONGEST = 500  # maximum characters of a text in a figure, as drawing takes time per character
MOST_BASELINES = 12
MOST_BARS, MOST_PANELS = 150, 12
INK, PALE, GRID = "#1f2933", "#52606d", "#e4e7eb"
BLUE, ORANGE, GREY = "#3b76af", "#e08a3c", "#b8c0c9"
COLOURS = (BLUE, ORANGE, "#4f9d69", "#8a5fa8", "#c0504d", GREY, "#7a6a58")
BESIDE: dict[str, Any] = {"loc": "upper left", "bbox_to_anchor": (1.0, 1.0)}  # right of the axes
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


def value_axis(axes: Axes, along: Literal["x", "y"], top: float | None = 1.0) -> None:
    """Add a grid along x or y, and scale that axis from 0 to `top`, or with integer ticks if `top` is None."""
    from matplotlib.ticker import MaxNLocator

    whole = top is None
    axis = axes.xaxis if along == "x" else axes.yaxis
    axis.set_major_locator(MaxNLocator(8 if whole else 6, integer=whole, steps=[1, 2, 5, 10]))
    axis.set_major_formatter("{x:,.0f}" if whole else "{x:g}")
    axes.grid(axis=along, color=GRID)
    axes.spines[["top", "right"]].set_visible(False)
    axes.set_axisbelow(True)
    axes.tick_params(length=0)
    if not whole:
        axes.set(**{f"{along}lim": (0, top)})


def bar_axes(axes: Axes, labels: Sequence[str], title: str, *, top: float | None = 1.0, most: int = 0) -> None:
    """Label horizontal bars from the top down, with space for at least `most`; see `value_axis` for `top`."""
    axes.set_yticks(range(len(labels)), labels)
    axes.set_ylim(max(len(labels), most) - 0.4, -0.6)
    axes.set_title(title)
    value_axis(axes, "x", top)


def panels(figure: Figure, count: int, columns: int) -> list[Axes]:
    """Divide a figure into `count` axes, at most `columns` in a row."""
    grid = figure.subplots(ceil(count / columns), min(columns, count), squeeze=False).ravel()
    for axes in grid[count:]:
        axes.set_visible(False)
    return list(grid[:count])


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


def estimated_bars(
    axes: Axes, heights: Sequence[float], values: Sequence[Estimate], *, numbers: bool, **look: Any
) -> None:
    """Draw estimates as horizontal bars with their intervals, if any, and their `numbers` beside them."""
    shown = np.nan_to_num([value.value for value in values])
    ends = np.array([[value.low for value in values], [value.high for value in values]])
    intervals = np.nan_to_num(np.abs(ends - shown))
    bars = axes.barh(heights, shown, xerr=intervals, error_kw={"ecolor": INK, "elinewidth": 1.4}, **look)
    if numbers:
        texts = ["–" if isnan(value.value) else f"{value.value:.3f}" for value in values]
        axes.bar_label(bars, texts, padding=4, fontsize=9, color=PALE)


# Audits


def audit_png(audits: Sequence[Titled]) -> bytes:
    """Draw the accuracies of the best blind baselines in each audit, with 95% intervals and chance level."""
    most = max(min(MOST_BASELINES, len(titled.audit.figures)) for titled in audits)

    def draw(figure: Figure) -> None:
        for axes, titled in zip(panels(figure, len(audits), 2), audits, strict=True):
            ranked = sorted(titled.audit.figures, key=lambda figure: -figure.share.value)[:MOST_BASELINES]
            colours = [ORANGE if baseline.family == "trained" else BLUE for baseline in ranked]
            shares = [baseline.share for baseline in ranked]
            estimated_bars(axes, range(len(ranked)), shares, numbers=False, height=0.7, color=colours)
            axes.axvline(titled.audit.chance, color=GREY, linewidth=1.5)
            names = [shorten(baseline.guesser.replace("_", " "), 34) for baseline in ranked]
            bar_axes(axes, names, titled.title, most=most)
            axes.set_xlabel("accuracy; blue: untrained, orange: trained", color=PALE)

    return draw_png(draw, ceil(len(audits) / 2) * (0.9 + 0.22 * most))


# Scores


def score_figures(scores: Scores) -> dict[str, bytes]:
    """Draw the headline scores with their intervals, and the accuracy by type if it is available, by file name."""
    fine = next((table for table in scores.tables if table.name == "fine_grained"), None)
    shown = of_best(scores.headline)
    title = "Scores, 95% intervals" if any(not isnan(score.low) for score in shown.values()) else "Scores"

    def draw(figure: Figure) -> None:
        axes, *more = panels(figure, 2 if fine else 1, 2)
        estimated_bars(axes, range(len(shown)), list(shown.values()), numbers=True, height=0.7, color=BLUE)
        bar_axes(axes, list(shown), title, top=1.12)
        if fine:
            _fine_grained(more[0], fine)

    return {"scores.png": draw_png(draw, 1.0 + 0.3 * max(len(shown), 12 if fine else 0))}


def of_best(values: Mapping[str, Estimate]) -> dict[str, Estimate]:
    """Divide each score by its maximum, which is added to its name as in "A CIDEr / 10"."""
    shares = {}
    for name, value in values.items():
        best = BEST.get(name.split()[-1], 1.0)
        if name.startswith(CAPSMIX):
            best = sum(BEST[score] for score in (*SCORES, *SCORES))
        label = name if best == 1 else f"{name} / {best:g}"
        shares[label] = Estimate(value.value / best, value.low / best, value.high / best)
    return shares


def _fine_grained(axes: Axes, table: Table) -> None:
    labels = list(dict.fromkeys(f"{row[1]} {row[2]}".removesuffix(" -") for row in table.rows))
    for number, (variant, colour) in enumerate((("V", BLUE), ("V′", ORANGE))):
        shares = {f"{row[1]} {row[2]}".removesuffix(" -"): row[3] for row in table.rows if row[0] == variant}
        values = [or_zero(shares.get(label)) for label in labels]
        heights = np.arange(len(labels)) + 0.2 * (2 * number - 1)
        axes.barh(heights, values, 0.37, color=colour, label=variant)
    bar_axes(axes, labels, "Accuracy by type and wording")
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.06), ncols=2)


def shares_png(table: Table) -> bytes:
    """Draw each row of a table as a stacked bar of shares."""
    kinds = table.headings[2:]

    def draw(figure: Figure) -> None:
        from matplotlib import colormaps

        axes = figure.subplots()
        left = np.zeros(len(table.rows))
        for number, kind in enumerate(kinds):
            shares = np.array([or_zero(row[2 + number]) for row in table.rows])
            bars = axes.barh(
                range(len(shares)), shares, 0.7, left=left, color=colormaps["tab10"](number % 10), label=kind
            )
            texts = [f"{share:.0%}" if share >= 0.05 else "" for share in shares]
            axes.bar_label(bars, texts, label_type="center", fontsize=8, color="white")
            left += shares
        bar_axes(axes, [f"{shorten(str(row[0]), 40)} ({row[1]:,})" for row in table.rows], table.title)
        axes.legend(**BESIDE)

    return draw_png(draw, 1.4 + 0.4 * max(len(table.rows), 4))


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
    thick = 0.8 / len(table.models)
    highest = np.nanmax([1.0, *(cell.mean + or_zero(cell.std) for cell in table.cells.values() if cell)])

    def draw(figure: Figure) -> None:
        from matplotlib import colormaps

        axes = figure.subplots()
        colours = colormaps["tab10" if len(table.models) <= 10 else "turbo"]
        for number, model in enumerate(table.models):
            cells = [table.cells[score, model] for score in table.scores]
            heights = np.arange(len(cells)) + thick * (number - (len(table.models) - 1) / 2)
            colour = colours(number if len(table.models) <= 10 else number / (len(table.models) - 1))
            look = {"height": 0.92 * thick, "color": colour, "label": model}
            estimated_bars(axes, heights.tolist(), [_spread(cell) for cell in cells], numbers=False, **look)
        bar_axes(axes, [shorten(score) for score in table.scores], table.title, top=1.05 * float(highest))
        axes.legend(**BESIDE)

    return draw_png(draw, 1.2 + 0.17 * max(count + len(table.scores), 10))


def _spread(cell: Spread | None) -> Estimate:
    """Return a mean with one standard deviation on both sides as an estimate."""
    return Estimate(cell.mean, cell.mean - cell.std, cell.mean + cell.std) if cell else Estimate(0, 0, 0)


def against_png(table: Comparison, score: str) -> bytes:
    """Plot the scores of models against one of them, as in Figures 2 and 12 of the robustness paper.

    Raises:
        UsageError: The score is unknown, or the number of other scores is 0 or too large.
    """
    others = [name for name in table.scores if name != score]
    if score not in table.scores or not 0 < len(others) <= MOST_PANELS:
        raise UsageError(
            f"--against {score}: expected one of the scores shown, next to 1 to {MOST_PANELS} others. Scores shown: "
            f"{', '.join(table.scores[:20])}. Use --only to select fewer."
        )

    def draw(figure: Figure) -> None:
        from matplotlib.ticker import MaxNLocator

        for axes, other in zip(panels(figure, len(others), 3), others, strict=True):
            for model in table.models:
                x, y = table.cells[score, model], table.cells[other, model]
                if x is None or y is None or isnan(x.mean) or isnan(y.mean):
                    continue
                errors = or_zero(y.std), or_zero(x.std)
                axes.errorbar(x.mean, y.mean, *errors, fmt="o", color=BLUE, ecolor=PALE)
                where: dict[str, Any] = {"xytext": (5, 4), "textcoords": "offset points", "fontsize": 8, "color": INK}
                axes.annotate(shorten(model, 20), (x.mean, y.mean), **where)
            value_axis(axes, "y", None)
            for axis in (axes.xaxis, axes.yaxis):
                axis.set_major_locator(MaxNLocator(5))
                axis.set_major_formatter("{x:g}")
            axes.set_xlabel(score)
            axes.set_ylabel(other)
            axes.margins(0.2)

    return draw_png(draw, 3.2 * ceil(len(others) / 3) + 0.2)


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
        perplexities = [shifts[name]["perplexity"] for name in names]
        means = [perplexity["mean"] for perplexity in perplexities]
        bars = axes.barh(range(len(names)), means, 0.75, color=[colours[shifts[name]["family"]] for name in names])
        axes.bar_label(
            bars, [f"{perplexity['outliers']:.0%}" for perplexity in perplexities], padding=4, fontsize=8, color=PALE
        )
        inner = [(row, p["mean_without_outliers"]) for row, p in enumerate(perplexities) if p["outliers"] < 1]
        axes.plot([mean for _, mean in inner], [row for row, _ in inner], "|", color=INK, markersize=14)
        for family, colour in colours.items():
            axes.barh(0, 0, color=colour, label=family)
        for key, label, width in (("mean", "originals", 1.3), ("mean_without_outliers", "originals up to 500", 0.8)):
            if originals[key]:
                axes.axvline(originals[key], color=INK, linewidth=width, linestyle=(0, (4, 3)), label=label)
        title = "Mean perplexity (mark: mean of captions up to 500; number: share of captions above)"
        bar_axes(axes, names, title, top=None)
        axes.legend(**BESIDE)

    return draw_png(draw, 1.2 + 0.22 * max(len(names), 8))


@dataclass(frozen=True)
class Strip:
    """A row of a contact sheet.

    Attributes:
        frames: RGB frames of one size, uint8 of shape (height, width, 3), each with its caption.
    """

    title: str
    details: str
    frames: Sequence[tuple[NDArray[np.uint8], str]]


def contact_sheet(strips: Sequence[Strip], side: int) -> bytes:
    """Return a PNG file with strips below one another, whose frames are scaled to fit into squares of `side` pixels."""
    height, width = strips[0].frames[0][0].shape[:2]
    scale = side / max(height, width)
    width, height = max(round(width * scale), 1), max(round(height * scale), 1)
    step = max(height + LINE, (1 + LABEL_LINES) * LINE) + GAP
    columns = max(len(strip.frames) for strip in strips)
    image = Image.new("RGB", (LABEL + columns * (width + GAP) + MARGIN, len(strips) * step + 2 * MARGIN), "white")
    draw = ImageDraw.Draw(image)
    plain, bold = _font("DejaVuSans.ttf"), _font("DejaVuSans-Bold.ttf")
    for row, strip in enumerate(strips):
        top = MARGIN + row * step
        draw.text((MARGIN, top), strip.title[:LABEL_CHARACTERS], fill=INK, font=bold)
        lines = textwrap.wrap(strip.details[:LONGEST], LABEL_CHARACTERS, max_lines=LABEL_LINES, placeholder="…")
        for number, line in enumerate(lines, 1):
            draw.text((MARGIN, top + number * LINE), line, fill=PALE, font=plain)
        for column, (frame, caption) in enumerate(strip.frames):
            left = LABEL + column * (width + GAP)
            image.paste(Image.fromarray(frame).resize((width, height), Image.Resampling.BOX), (left, top))
            draw.text((left, top + height), caption[:LONGEST], fill=INK, font=plain)
    target = io.BytesIO()
    image.save(target, format="png")
    return target.getvalue()


def _font(name: str) -> ImageFont.FreeTypeFont:
    """Return a font that comes with Matplotlib."""
    import matplotlib

    path = Path(matplotlib.get_data_path()) / "fonts" / "ttf" / name
    return ImageFont.truetype(str(path), 12, layout_engine=ImageFont.Layout.BASIC)


def frames_at(row: Row, numbers: Sequence[int]) -> list[NDArray[np.uint8]]:
    """Decode RGB frames of the video in a row. `numbers` must not decrease.

    Raises:
        InputError: The video lacks one of the frames, or cannot be decoded.
    """
    frames = {}
    try:
        for number, frame in enumerate(frames_of(row["video"]["bytes"])):
            if number in numbers:
                frames[number] = to_rgb(frame)
            if number == numbers[-1]:
                break
        return [frames[number] for number in numbers]
    except (*UNDECODABLE, KeyError) as error:
        raise InputError(
            f"the frames of {row['video']['path']} cannot be read for the figure ({error}): the file was changed after "
            "the build. Run `stressreel verify` for details, or build again with --fresh."
        ) from error
