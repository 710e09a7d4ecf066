"""Draw the graph of a question's sub-questions, and the path along which a model's errors spread."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import ceil
from textwrap import wrap
from typing import TYPE_CHECKING

from ..evaluation.metrics.question_paths import RIGHT, UNANSWERED, UNASKED, UNKNOWN, WRONG, JudgedQuestion, QuestionPath
from .plots import BLUE, GREY, INK, PALE, WIDTH_IN, _png, _short

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

FILLS = {RIGHT: "#dcefdc", WRONG: "#f6d3d6", UNKNOWN: "#f1f3f5", UNANSWERED: "#fbf6e3", UNASKED: "#ffffff"}
PATH = "#c8385a"
IN_A_ROW = 4
LINE_IN, PAD_IN, GAP_IN = 0.155, 0.10, 0.55
"""Height of a line of text, padding around it, and space between rows, in inches."""
BETWEEN_IN, LANE_IN = 0.26, 0.08
"""Distance between two boxes in a row, and between two lines that pass between them, in inches."""
CROWDED = 0.02
"""Detour that a line accepts for each other line in a gap, divided by the width of the gap, in inches."""
LETTER_IN = 0.078
MOST_LETTERS = 160
TOO_MANY = 60
"""Maximum number of questions in a picture."""
Place = tuple[float, float, float]
"""Horizontal centre, top and bottom of a box."""


def question_graph_png(path: QuestionPath) -> bytes:
    """Draw the graph of a question as PNG, with sub-questions below the question and coloured by verdict.

    The error path is red, and rules with contradicting answers are blue. Of a graph with more than 60 questions, only
    those nearest to the root are drawn.
    """
    rows, hidden = layers(path)
    count = max(len(row) for row in rows)
    box_in = (WIDTH_IN - 0.3) / max(count, 2) - BETWEEN_IN
    texts = {place: _lines(path.steps[place], box_in) for row in rows for place in row}
    heights = [max(len(texts[place]) for place in row) * LINE_IN + 2 * PAD_IN for row in rows]
    tops = [sum(heights[:number]) + number * GAP_IN for number in range(len(rows))]
    height = tops[-1] + heights[-1]

    def draw(figure: Figure) -> None:
        axes = figure.subplots()
        where: dict[int, Place] = {}
        for row, top in zip(rows, tops, strict=True):
            for number, place in enumerate(row):
                across = (number + 0.5) * (WIDTH_IN - 0.3) / len(row)
                tall = len(texts[place]) * LINE_IN + 2 * PAD_IN
                where[place] = across, top, top + tall
                _box(axes, path.steps[place], texts[place], where[place], box_in)
        _edges(axes, path, rows, where, box_in)
        _legend(axes, path, hidden)
        axes.set_xlim(0, WIDTH_IN - 0.3)
        axes.set_ylim(height + 0.05, -0.05)
        axes.set_axis_off()

    return _png(draw, height + 0.75)


def layers(path: QuestionPath) -> tuple[list[list[int]], int]:
    """Arrange questions in rows, so that each is below its parents and, if possible, centred under them.

    Returns:
        Positions of questions in `path.steps` for each row, and the number of omitted questions.
    """
    last = len(path.steps) - 1
    parents: dict[int, list[int]] = {}
    for parent, _, children in path.edges:
        for child in children:
            parents.setdefault(child, []).append(parent)
    depth = {last: 0}
    for place in range(last - 1, -1, -1):  # parents follow their children
        above = [depth[parent] for parent in parents.get(place, ()) if parent in depth]
        if above:
            depth[place] = max(above) + 1
    shown = sorted(depth, key=lambda place: (depth[place], -place))[:TOO_MANY]
    rows: list[list[int]] = []
    middle: dict[int, float] = {}
    for level in range(max(depth[place] for place in shown) + 1):
        mine = [place for place in shown if depth[place] == level]
        wanted = {
            place: [middle[parent] for parent in parents.get(place, ()) if parent in middle] or [0.5] for place in mine
        }
        mine.sort(key=lambda place: (sum(wanted[place]) / len(wanted[place]), place))
        parts = ceil(len(mine) / IN_A_ROW)
        for part in range(parts):
            row = mine[part::parts]
            rows.append(row)
            middle |= {place: (number + 0.5) / len(row) for number, place in enumerate(row)}
    return rows, len(depth) - len(shown)


def _lines(step: JudgedQuestion, box_in: float) -> list[str]:
    width = max(8, int(box_in / LETTER_IN))
    said = step.verdict if step.prediction is None else f"“{_short(step.prediction, 30)}”"
    if step.verdict == WRONG:
        said += f", right: {_short(str(step.node.answer), 30)}"
    elif step.verdict != RIGHT and step.prediction is not None:
        said += f", {step.verdict}"
    texts = (step.node.kind, _short(step.node.text, MOST_LETTERS), said)
    return [line for text in texts for line in wrap(text, width)]


def _box(axes: Axes, step: JudgedQuestion, lines: Sequence[str], where: Place, box_in: float) -> None:
    from matplotlib.patches import FancyBboxPatch

    across, top, bottom = where
    axes.add_patch(
        FancyBboxPatch(
            (across - box_in / 2, top),
            box_in,
            bottom - top,
            boxstyle="round,pad=0,rounding_size=0.06",
            facecolor=FILLS[step.verdict],
            edgecolor=PATH if step.on_path else GREY,
            linewidth=1.8 if step.on_path else 0.9,
            linestyle="--" if step.verdict == UNASKED else "-",
            zorder=2,
        )
    )
    for number, line in enumerate(lines):
        axes.text(
            across,
            top + PAD_IN + (number + 0.5) * LINE_IN,
            line,
            ha="center",
            va="center",
            fontsize=7.5,
            color=PALE if line == step.node.kind else INK,
            zorder=3,
        )


def routes(
    pairs: Sequence[tuple[int, int]], rows: Sequence[Sequence[int]], where: Mapping[int, Place], box_in: float
) -> dict[tuple[int, int], list[tuple[float, float]]]:
    """Route lines from parents to children (`pairs`) around the boxes in the rows between them.

    A line crosses each row vertically, through the gap nearest to the direct line unless that gap is crowded. Lines
    bend only between rows. `box_in` is the width of a box in inches.
    """
    level = {place: number for number, row in enumerate(rows) for place in row}
    bands = [(where[row[0]][1], max(where[place][2] for place in row)) for row in rows]
    gaps = [_gaps([where[place][0] for place in row], box_in) for row in rows]
    taken: dict[tuple[int, int], list[tuple[float, tuple[int, int]]]] = {}
    for parent, child in dict.fromkeys(pairs):
        across, end = where[parent][0], where[child][0]
        for row in range(level[parent] + 1, level[child]):
            across += (end - across) / (level[child] - row + 1)
            costs = []
            for number, (low, high) in enumerate(gaps[row]):
                nearest = min(max(across, low), high)
                there = len(taken.get((row, number), ()))
                costs.append((abs(nearest - across) + CROWDED * there / (high - low), nearest, number))
            _, across, number = min(costs)
            taken.setdefault((row, number), []).append((across, (parent, child)))
    through: dict[tuple[int, int], dict[int, float]] = {}
    for (row, number), lines in taken.items():
        low, high = gaps[row][number]
        apart = min(LANE_IN, (high - low) / (len(lines) + 1))
        lane = low
        for at, (across, pair) in enumerate(sorted(lines)):
            lane = min(max(across, lane + apart), high - apart * (len(lines) - at))
            through.setdefault(pair, {})[row] = lane
    found: dict[tuple[int, int], list[tuple[float, float]]] = {}
    for pair in dict.fromkeys(pairs):
        (start, _, bottom), (end, top, _) = where[pair[0]], where[pair[1]]
        lanes = sorted(through.get(pair, {}).items())
        middle = [(lane, edge) for row, lane in lanes for edge in bands[row]]
        found[pair] = [(start, bottom), (start, bands[level[pair[0]]][1]), *middle, (end, top)]
    return found


def _gaps(middles: Sequence[float], box_in: float) -> list[tuple[float, float]]:
    starts = [0.0, *(middle + box_in / 2 for middle in middles)]
    ends = [*(middle - box_in / 2 for middle in middles), WIDTH_IN - 0.3]
    return list(zip(starts, ends, strict=True))


def _edges(
    axes: Axes, path: QuestionPath, rows: Sequence[Sequence[int]], where: Mapping[int, Place], box_in: float
) -> None:
    from matplotlib.patches import FancyArrowPatch
    from matplotlib.path import Path

    drawn = [
        (parent, child, rule)
        for parent, rule, children in path.edges
        for child in dict.fromkeys(children)
        if parent in where and child in where
    ]
    lines = routes([(parent, child) for parent, child, _ in drawn], rows, where, box_in)
    for parent, child, rule in drawn:
        on_path, contradicts = (parent, child) in path.error_edges, (parent, rule) in path.contradictions
        axes.add_patch(
            FancyArrowPatch(
                path=Path(lines[parent, child]),
                arrowstyle="-|>",
                mutation_scale=10,
                color=PATH if on_path else BLUE if contradicts else GREY,
                linewidth=2.0 if on_path else 1.4 if contradicts else 0.9,
                linestyle="--" if contradicts else "-",
                joinstyle="round",
                zorder=1.5 if on_path else 1.2 if contradicts else 1,
            )
        )
    rules: dict[int, list[str]] = {}
    for parent, rule, _ in path.edges:
        if parent in where:
            contradicts = (parent, rule) in path.contradictions
            rules.setdefault(parent, []).append(f"{rule} ↯" if contradicts else rule)
    for parent, names in rules.items():
        across, _, bottom = where[parent]
        axes.text(
            across,
            bottom + 0.11,
            ", ".join(names),
            ha="center",
            va="center",
            fontsize=7.5,
            style="italic",
            color=BLUE if any("↯" in name for name in names) else PALE,
            bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.8, "alpha": 0.85},
            zorder=4,
        )


def _legend(axes: Axes, path: QuestionPath, hidden: int) -> None:
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    there = {step.verdict for step in path.steps}
    keys: list[Patch | Line2D] = [
        Patch(facecolor=colour, edgecolor=GREY, label=verdict) for verdict, colour in FILLS.items() if verdict in there
    ]
    if path.error_edges:
        keys.append(Line2D([], [], color=PATH, linewidth=2, label="error path"))
    if path.contradictions:
        keys.append(Line2D([], [], color=BLUE, linewidth=1.4, linestyle="--", label="↯ contradiction"))
    title = f"{hidden} more questions are not drawn" if hidden else None
    axes.legend(handles=keys, loc="upper center", bbox_to_anchor=(0.5, 0), ncols=len(keys), title=title)
