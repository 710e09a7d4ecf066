"""Draw overview.png: the four benchmarks on the built-in samples. Run `python docs/draw_overview.py`.

Frames, cuts, questions, options and graphs come from outputs that are built first. Needs the extras `perturb` and
`sbert`, and takes a minute.
"""

from __future__ import annotations

import io
import sys
import tempfile
from collections.abc import Iterator, Mapping
from itertools import count, islice
from pathlib import Path
from textwrap import fill
from typing import Any

import av
import numpy as np
import stressreel
from matplotlib import style
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure, SubFigure
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch, Rectangle
from numpy.typing import NDArray
from stressreel.annotations.samples.cartoon import frames as cartoon
from stressreel.annotations.samples.causal import sample_episodes
from stressreel.annotations.samples.msrvtt import frames, sample_clips
from stressreel.data_cards.plots import BLUE, GREY, INK, ORANGE, PALE, STYLE

Picture = NDArray[np.uint8]
WIDTH_IN, HEIGHT_IN, DPI = 13.0, 8.9, 130
GREEN, RED, PAPER, EDGE = "#2f855a", "#c8385a", "#f7f8fa", "#d5dae0"
PAIR = "ae39cc12"
CLIP, MOMENT, STRIP = "video90007", 40, 12
SHOWN = ("gaussian_noise", "defocus_blur", "motion_blur", "jpeg", "static_rotate", "translation")
QID = "13"
ROOT = "SR0A1-0"
KINDS = {
    "right": ("right", GREEN),
    "hard": ("hard negative", PALE),
    "negation": ("negated", ORANGE),
    "swap": ("roles exchanged", RED),
}


def main() -> None:
    """Build the outputs and draw the picture."""
    to = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_name("overview.png")
    with tempfile.TemporaryDirectory() as folder, style.context(["default", STYLE]):
        out = Path(folder)
        figure = Figure(figsize=(WIDTH_IN, HEIGHT_IN), dpi=DPI, facecolor="white")
        FigureCanvasAgg(figure)
        panels = figure.subfigures(2, 2, width_ratios=(1.0, 1.0), height_ratios=(1.0, 0.92)).flat
        draw_clavi(next(panels), built("clavi", out, charades="sample"))
        draw_perturbed(next(panels))
        draw_causal(next(panels), built("causal", out, annotations="sample", render=False))
        draw_decomp(next(panels), built("decomp", out, charades="sample", embed="no"))
        figure.savefig(to, metadata={"Software": None})


def built(name: str, out: Path, **options: Any) -> stressreel.Output:
    """Build a benchmark from its built-in sample."""
    output = stressreel.build(name, out=out / name, progress=False, **options)
    assert output is not None
    return output


def all_rows(output: stressreel.Output, table: str) -> Iterator[dict[str, Any]]:
    """Yield the rows of a table in all splits."""
    for split in output.configs[table]:
        yield from output.rows(table, split)


def sheet(panel: SubFigure, title: str, what: str) -> Axes:
    """Create the axes of a panel, in inches from its top left corner, with a frame, a title and a summary."""
    panel.set_facecolor("white")
    axes = panel.add_axes((0, 0, 1, 1))
    box = panel.bbox
    wide, high = box.width / DPI, box.height / DPI
    axes.set(xlim=(0, wide), ylim=(high, 0))
    axes.axis("off")
    edge = FancyBboxPatch((0.14, 0.14), wide - 0.28, high - 0.28, boxstyle="round,pad=0,rounding_size=0.08")
    edge.set(facecolor=PAPER, edgecolor=EDGE, linewidth=1)
    axes.add_patch(edge)
    axes.text(0.36, 0.50, title, fontsize=14, fontweight="bold", va="center")
    axes.text(0.36, 0.80, what, fontsize=9.5, color=PALE, va="center")
    return axes


def show(axes: Axes, picture: Picture, left: float, top: float, width: float) -> float:
    """Draw a picture on a sheet; return its height in inches."""
    height = width * picture.shape[0] / picture.shape[1]
    axes.imshow(picture, extent=(left, left + width, top + height, top), aspect="auto", zorder=2)
    axes.add_patch(Rectangle((left, top), width, height, fill=False, edgecolor=PAPER, linewidth=2, zorder=3))
    return height


def pill(axes: Axes, x: float, y: float, text: str, colour: str, wide: float) -> None:
    """Draw a word in a rounded box whose left edge is at x."""
    box = FancyBboxPatch((x, y - 0.105), wide, 0.21, boxstyle="round,pad=0,rounding_size=0.1", linewidth=0)
    box.set_facecolor(colour)
    axes.add_patch(box)
    axes.text(x + wide / 2, y + 0.005, text, fontsize=8, color="white", ha="center", va="center", fontweight="bold")


def draw_clavi(panel: SubFigure, output: stressreel.Output) -> None:
    """Draw V and V′ as strips of frames with the pieces below them, and questions with both answers."""
    axes = sheet(panel, "CLAVI", "Two actions change places; the same questions are asked of both videos.")
    pair = next(row for row in all_rows(output, "pairs") if row["pair_id"] == PAIR)
    a, filler, b = (
        pair[end] - pair[start]
        for start, end in (("out_a_frame", "in_a_frame"), ("in_a_frame", "in_b_frame"), ("in_b_frame", "out_b_frame"))
    )
    left, wide, shown = 0.86, 5.25, 6
    orders = {"V": ((a, "A", BLUE), (filler, "", GREY), (b, "B", ORANGE))}
    orders["V′"] = orders["V"][::-1]
    for number, (name, pieces) in enumerate(orders.items()):
        top = 1.04 + number * 1.07
        pictures = decoded(output.video(f"{PAIR}_{number + 1}"))
        axes.text(0.60, top + 0.33, name, fontsize=13, fontweight="bold", ha="center", va="center")
        step = wide / shown
        for spot in range(shown):
            middle = int((spot + 0.5) * len(pictures) / shown)
            height = show(axes, pictures[middle], left + spot * step, top, step)
        at = left
        for length, letter, colour in pieces:
            span = wide * length / (a + filler + b)
            axes.add_patch(Rectangle((at, top + height + 0.05), span - 0.02, 0.2, facecolor=colour, linewidth=0))
            phrase = {"A": pair["phrase_a"], "B": pair["phrase_b"]}.get(letter, "")
            label = f"{letter}: {phrase}" if letter else ""
            axes.text(at + span / 2, top + height + 0.152, label, fontsize=8, color="white", ha="center", va="center")
            at += span
    answers: dict[str, dict[str, int]] = {}
    for row in all_rows(output, "questions"):
        if row["pair_id"] == PAIR:
            answers.setdefault(row["question"], {})[row["video_id"]] = row["answer"]
    asked = [next(text for text in answers if text.startswith(begin)) for begin in (
        f"Did {pair['phrase_a']} happen before {pair['phrase_b']}",
        f"Was the person {pair['phrase_b']} at the end",
        f"Was someone {pair['phrase_c']}",
    )]  # fmt: skip
    for x, name in ((5.30, "V"), (5.82, "V′")):
        axes.text(x, 3.26, name, fontsize=9, fontweight="bold", ha="center", va="center")
    for line, text in enumerate(asked):
        y = 3.52 + line * 0.27
        axes.text(0.36, y, text, fontsize=9, va="center")
        for x, video in ((5.30, 1), (5.82, 2)):
            word, colour = (("no", PALE), ("yes", GREEN))[answers[text][f"{PAIR}_{video}"]]
            pill(axes, x - 0.2, y, word, colour, 0.4)


def decoded(video: bytes) -> list[Picture]:
    """Return the frames of an MP4 file."""
    with av.open(io.BytesIO(video)) as container:
        return [frame.to_ndarray(format="rgb24") for frame in container.decode(video=0)]


def draw_perturbed(panel: SubFigure) -> None:
    """Draw a frame under six perturbations at three severities, a temporal one as a strip, and two captions."""
    axes = sheet(
        panel, "MSRVTT-P, YouCook2-P", "18 visual perturbations at five severities, 35 of captions, 66 combinations."
    )
    clip = next(each for each in sample_clips() if each.id == CLIP)
    every = np.stack(list(frames(clip)))
    seen = every[MOMENT : MOMENT + 1]
    left, step = 0.86, 5.25 / len(SHOWN)
    for column, name in enumerate(SHOWN):
        axes.text(left + (column + 0.5) * step, 1.10, name, fontsize=7.6, color=PALE, ha="center", va="center")
        for row, severity in enumerate((1, 3, 5)):
            picture = stressreel.corrupt(seen, name, severity=severity, key=CLIP)[0]
            height = show(axes, picture, left + column * step, 1.20 + row * step * 0.75, step)
    for row, severity in enumerate((1, 3, 5)):
        axes.text(
            0.66, 1.20 + (row + 0.5) * height, str(severity), fontsize=11, fontweight="bold", ha="center", va="center"
        )
    top = 1.20 + 3 * height + 0.10
    numbers = np.arange(len(every), dtype=np.uint8)[:, None, None, None] * np.ones((1, 16, 16, 3), np.uint8)
    jumbled = stressreel.corrupt(numbers, "box_jumble", severity=3, key=CLIP)[:, 0, 0, 0]
    for name, order in (("clean", numbers[:, 0, 0, 0]), ("box_jumble", jumbled)):
        axes.text(0.82, top + 0.16, name, fontsize=7.6, color=PALE, ha="right", va="center")
        small = 5.25 / STRIP
        for spot in range(STRIP):
            number = int(order[spot * len(every) // STRIP])
            tall = show(axes, every[number], left + spot * small, top, small)
            x = left + (spot + 0.5) * small
            axes.text(x, top + tall + 0.075, str(number), fontsize=6.8, color=PALE, ha="center", va="center")
        top += tall + 0.17
    words = stressreel.corrupt_text(clip.caption, "keyboard", key=f"{CLIP}#0").text
    axes.text(left, top + 0.10, f"“{clip.caption}”  →  “{words}”", fontsize=9, va="center")


def draw_causal(panel: SubFigure, output: stressreel.Output) -> None:
    """Draw a clip, its question and its five options with their origins."""
    axes = sheet(panel, "CausalChaos", "Why-questions whose wrong answers nearly fit: mined, negated, exchanged.")
    row = next(row for row in all_rows(output, "causal_confusion") if row["qid"] == QID)
    number, episode = next(each for each in enumerate(sample_episodes()) if each[1].id == row["episode"])
    clip = list(islice(cartoon(episode, number), row["start_frame"], row["end_frame"]))
    shown, left, wide = 6, 0.36, 5.76
    for number in range(shown):
        picture = clip[int((number + 0.5) * len(clip) / shown)]
        height = show(axes, picture, left + number * wide / shown, 1.02, wide / shown)
    y = 1.02 + height + 0.30
    axes.text(left, y, row["question"], fontsize=11.5, fontweight="bold", va="center")
    for number, (text, source) in enumerate(zip(row["options"], row["sources"], strict=True)):
        kind, colour = KINDS[source["kind"]]
        y += 0.30
        axes.text(left, y, f"{'ABCDE'[number]}", fontsize=10, fontweight="bold", color=colour, va="center")
        right = source["kind"] == "right"
        axes.text(left + 0.22, y, text, fontsize=10, va="center", color=INK if right else PALE)
        pill(axes, left + wide - 1.25, y, kind, colour, 1.25)


def draw_decomp(panel: SubFigure, output: stressreel.Output) -> None:
    """Draw a question's graph: the question at the top, its sub-questions below, with rules and answers."""
    axes = sheet(
        panel, "AGQA-Decomp", "A question decomposed: which composition fails, and is an answer right for a reason?"
    )
    graph = next(row for row in all_rows(output, "graphs") if row["root"] == ROOT)
    questions = {row["key"]: row for row in all_rows(output, "questions")}
    made_of = {edge["parent"]: edge for edge in graph["edges"]}
    spots: dict[int, tuple[float, float]] = {}
    place(len(graph["nodes"]) - 1, made_of, spots, count())
    for parent, edge in made_of.items():
        x, y = spots[parent]
        for child in edge["children"]:
            ends = (spots[child][0], spots[child][1] - 0.26), (x, y + 0.27)
            axes.add_patch(FancyArrowPatch(*ends, arrowstyle="-|>", mutation_scale=10, color=GREY, linewidth=1.5))
        pill(axes, x - 0.45, y + 0.52, edge["rule"], BLUE, 0.9)
    for node, (x, y) in spots.items():
        question = questions[graph["nodes"][node]]
        text = fill(question["question"], 60 if question["is_root"] else 22)
        wide = 4.5 if question["is_root"] else 1.74
        box = FancyBboxPatch((x - wide / 2, y - 0.25), wide, 0.5, boxstyle="round,pad=0,rounding_size=0.07")
        box.set(facecolor="white", edgecolor=EDGE, linewidth=1.2)
        axes.add_patch(box)
        axes.text(x, y, text, fontsize=9, ha="center", va="center")
        pill(axes, x + wide / 2 - 0.30, y - 0.25, question["answer"], GREEN, 0.4)


def place(
    node: int,
    made_of: Mapping[int, dict[str, Any]],
    spots: dict[int, tuple[float, float]],
    columns: Iterator[int],
    y: float = 1.36,
) -> float:
    """Place a question above the middle of its sub-questions, leaves side by side; return its x coordinate."""
    if node in made_of:
        across = [place(child, made_of, spots, columns, y + 1.08) for child in made_of[node]["children"]]
        x = sum(across) / len(across)
    else:
        x = 0.36 + 1.92 * (next(columns) + 0.5)
    spots[node] = x, y
    return x


if __name__ == "__main__":
    main()
