"""Draw the figures on the card of a CLAVI build."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from ...core.errors import InputError
from ...core.output import FinishedOutput
from ...core.schema import Row
from ...core.shards import chosen_rows
from ...data_cards.plots import BLUE, GREY, INK, ORANGE, PALE, _plain, _png, _short
from ...data_cards.sheets import LINE, Picture, Sheet, fitted, shortened
from ...video.pyav import to_rgb
from ...video.thumbnails import UNDECODABLE, frames_of
from .relations import PIECES, relation_of
from .statistics import PartCounts

if TYPE_CHECKING:
    from matplotlib.figure import Figure

BAR_IN = 0.185
STRIP, STRIP_CELL, LABEL, MARGIN, BAR = 10, 96, 40, 10, 10  # frames per strip, then pixels
SHOWN = (
    *("pair_id", "phrase_a", "phrase_b", "out_a", "in_a", "in_b", "out_b"),
    *("start_a_s", "end_a_s", "start_b_s", "end_b_s"),
)
COLOURS = {"A": BLUE, "B": ORANGE, "AB": INK, "filler": GREY}
MOST_BARS = 160


def kind_png(name: str, counts: PartCounts) -> bytes:
    """Draw the number of pairs in which each action, verb or object plays each part (Figure 7b to d)."""
    shown = dict(list(counts.items())[:MOST_BARS])
    title = name.capitalize()
    if len(shown) < len(counts):
        title += f": the {len(shown)} commonest of {len(counts):,}"

    def draw(figure: Figure) -> None:
        axes = figure.subplots()
        left = [0] * len(shown)
        for part, label, colour in (
            (0, "A, first in V", BLUE),
            (1, "B, second in V", ORANGE),
            (2, "C, negative control", GREY),
        ):
            widths = [each[part] for each in shown.values()]
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


def swap_png(output: FinishedOutput, pair_id: str) -> bytes:
    """Draw frames of V and of V′ along a time axis, and mark the pieces A, filler and B below them."""
    pair = next(row for row in output.rows("pairs", [*SHOWN]) if row["pair_id"] == pair_id)
    videos = sorted(chosen_rows(output.shards("videos"), "pair_id", {pair_id}), key=lambda row: str(row["video_id"]))
    edges = [pair[name] - pair["out_a"] for name in ("out_a", "in_a", "in_b", "out_b")]
    relation = relation_of(pair)
    named = {"A": f"A: {pair['phrase_a']}", "B": f"B: {pair['phrase_b']}", "AB": "A and B", "filler": ""}
    lengths = [stop - start for start, stop in pairwise(edges)]
    pieces_of_v = [
        (named[name], seconds, COLOURS[name]) for name, seconds in zip(PIECES[relation], lengths, strict=True)
    ]
    strips = [frames_along(row, STRIP) for row in videos]
    width, height = fitted(strips[0][0], STRIP_CELL)
    long = STRIP * (width + 2) - 2
    step = height + BAR + LINE + MARGIN
    sheet = Sheet(LABEL + long + MARGIN, MARGIN + 2 * step + LINE)
    for number, (name, frames, pieces) in enumerate(
        zip(("V", "V′"), strips, (pieces_of_v, pieces_of_v[::-1]), strict=True)
    ):
        top = MARGIN + number * step
        sheet.text(MARGIN, top, name, bold=True)
        for place, frame in enumerate(frames):
            sheet.paste(frame, LABEL + place * (width + 2), top, width, height)
        begin = 0.0
        for words, seconds, colour in pieces:
            left, right = (LABEL + round(long * at / edges[3]) for at in (begin, begin + seconds))
            sheet.block(left, top + height + 2, max(right - left - 1, 1), BAR, colour)
            sheet.text(left, top + height + BAR + 3, shortened(words, right - left - 4), colour=INK)
            begin += seconds
    words = f"pair {pair_id}: {edges[3]:.1f} s, from left to right"
    words += "; grey: the filler between A and B" if relation == "sequence" else ""
    sheet.text(LABEL, MARGIN + 2 * step - 2, words, colour=PALE)
    return sheet.png()


def frames_along(row: Row, count: int) -> list[Picture]:
    """Divide a video into `count` equal parts and decode the middle frame of each.

    Raises:
        InputError: The video has fewer frames than its row claims, or cannot be decoded.
    """
    numbers = [(2 * place + 1) * row["num_frames"] // (2 * count) for place in range(count)]
    try:
        found = {n: to_rgb(frame) for n, frame in enumerate(frames_of(row["video"]["bytes"])) if n in {*numbers}}
        return [found[number] for number in numbers]
    except (*UNDECODABLE, KeyError) as error:
        raise InputError(
            f"the frames of video {row['video_id']} cannot be read for the figure ({error}): the file was changed "
            "after the build. Run `stressreel verify` for details, or build again with --fresh."
        ) from error
