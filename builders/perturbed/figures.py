"""Pictures of a suite of perturbed clips, as sheets of thumbnails: the same bytes every time, without metadata."""

from __future__ import annotations

import io
from collections.abc import Sequence
from functools import cache
from itertools import takewhile
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageColor, ImageDraw, ImageFont

from ...corruptions.registry import check_name
from ...corruptions.visual.engine import Recipe
from ...data_cards.plots import BLUE, GREY, GRID, INK, ORANGE, PALE
from ...errors import InputError
from ...records.output import FinishedOutput
from ...records.schema import Row
from ...video.pyav import to_rgb
from ...video.thumbnails import UNDECODABLE, frames_of
from .settings import PerturbedSettings, settings_of
from .tables import CLEAN

Picture = NDArray[np.uint8]

LABEL, GAP, MARGIN, BAR = 150, 6, 12, 7
CELL = 180
STRIP, STRIP_CELL, STRIP_SEVERITIES, AMONG = 12, 66, (1, 3, 5), 600
EARLY = 25  # frame of the sheet of pixels: each of the 90 files is decoded up to it
LINE = 16


def perturbed_figures(output: FinishedOutput) -> dict[str, bytes]:
    """Draw the sheets of a suite that has videos, by file name."""
    settings = settings_of(output.info)
    if not settings.render:
        return {}
    columns = ["clip_id", "severity", "source_id", "num_frames", "source_frames", "first_frame", "video"]
    clean = next(output.whole(CLEAN, columns))
    temporal = [name for name in settings.perturbations if check_name(name).scope == "index"]
    pixels = [name for name in settings.perturbations if name not in temporal]
    sheets = {}
    if pixels:
        sheets["pixels.png"] = pixels_png(output, clean, pixels, settings)
    if temporal:
        sheets["temporal.png"] = temporal_png(output, clean, temporal, settings)
    return sheets


def pixels_png(output: FinishedOutput, clean: Row, names: Sequence[str], settings: PerturbedSettings) -> bytes:
    """Draw one frame of a clip under perturbations (rows) at all severities (columns)."""
    number = min(EARLY, clean["num_frames"] // 2)
    (original,) = frames_at(clean, [number])
    width, height = fitted(original, CELL)
    columns = settings.severities
    sheet = Sheet(
        LABEL + max(len(columns), 2) * (width + GAP) + MARGIN,
        MARGIN + 2 * LINE + (len(names) + 1) * (height + LINE + GAP) + GAP,
    )
    top = MARGIN
    sheet.text(MARGIN, top, "clean", bold=True)
    sheet.text(MARGIN, top + LINE, f"clip {clean['clip_id']}", colour=PALE)
    sheet.text(MARGIN, top + 2 * LINE, f"frame {number}", colour=PALE)
    sheet.paste(original, LABEL, top, width, height)
    top += height + GAP + LINE
    for column, severity in enumerate(columns):
        sheet.text(LABEL + column * (width + GAP), top, f"severity {severity}", bold=True)
    top += LINE + GAP
    for name in names:
        corruption = check_name(name)
        sheet.text(MARGIN, top, name, bold=True)
        sheet.wrapped(MARGIN, top + LINE, corruption.unit, LABEL - 2 * MARGIN)
        for row in rows_of(output, name, clean["clip_id"]):
            left = LABEL + columns.index(row["severity"]) * (width + GAP)
            (frame,) = frames_at(row, [number])
            sheet.paste(frame, left, top, width, height)
            sheet.text(left, top + height, corruption.level(row["severity"]))
        top += height + LINE + GAP
    return sheet.png()


def temporal_png(output: FinishedOutput, clean: Row, names: Sequence[str], settings: PerturbedSettings) -> bytes:
    """Draw what is shown at twelve moments of a clip, and which frame is shown at every moment."""
    count, first = clean["num_frames"], clean["first_frame"]
    stop = min(count, AMONG)
    numbers = [n * (stop - 1) // max(STRIP - 1, 1) for n in range(min(STRIP, stop))]
    severities = [severity for severity in STRIP_SEVERITIES if severity in settings.severities] or settings.severities
    originals = frames_at(clean, numbers)
    width, height = fitted(originals[0], STRIP_CELL)
    plot = max(height, 48)
    step = plot + BAR + LINE + GAP
    rows = 1 + len(names) * len(severities)
    right = LABEL + len(numbers) * (width + 2) + 4 * GAP
    sheet = Sheet(right + plot + MARGIN, 2 * MARGIN + rows * step + LINE)
    top = MARGIN

    def strip(title: str, line: str, frames: Sequence[Picture], whole: NDArray[np.int64]) -> None:
        shown = whole[first : first + stop]
        sheet.text(MARGIN, top, title, bold=True)
        sheet.text(MARGIN, top + LINE, line, colour=PALE)
        for place, frame in enumerate(frames):
            left = LABEL + place * (width + 2)
            sheet.paste(frame, left, top, width, height)
            number = int(shown[numbers[place]])
            colour = PALE if number == first + numbers[place] else ORANGE
            sheet.text(left, top + height + BAR, str(number), colour=colour)
        sheet.bar((shown - first) / count, LABEL, top + height, len(frames) * (width + 2) - 2, BAR - 2)
        sheet.plot(shown - first, right, top, plot, count)

    strip("clean", f"clip {clean['clip_id']}", originals, np.arange(clean["source_frames"]))
    top += step
    for name in names:
        found = {row["severity"]: row for row in rows_of(output, name, clean["clip_id"])}
        for severity in severities:
            if severity in found:
                key = clean["clip_id"] if settings.clip_first else clean["source_id"]
                recipe = Recipe(check_name(name), severity, settings.seed, key)
                line = f"severity {severity}: {recipe.corruption.level(severity)}"
                strip(name, line, frames_at(found[severity], numbers), recipe.index_map(clean["source_frames"]))
            top += step
    words = "bar: from blue, the first frame, to yellow, the last, for every frame shown; right: the same as a curve"
    outside = "; grey: from outside the clip" if count < clean["source_frames"] else ""
    sheet.text(LABEL, top, words + outside, colour=PALE)
    return sheet.png()


def rows_of(output: FinishedOutput, name: str, clip_id: str) -> list[Row]:
    """Return the rows of the first clip in a table; none if the table does not begin with it."""
    rows = output.whole(name, ["clip_id", "severity", "video"])
    return list(takewhile(lambda row: row["clip_id"] == clip_id, rows))


def frames_at(row: Row, numbers: Sequence[int]) -> list[Picture]:
    """Decode a few frames of a row's video, RGB; `numbers` increase and may repeat.

    Raises:
        InputError: It has not these frames.
    """
    wanted, found = set(numbers), {}
    try:
        for number, frame in enumerate(frames_of(row["video"]["bytes"])):
            if number in wanted:
                found[number] = to_rgb(frame)
            if number == numbers[-1]:
                break
        return [found[number] for number in numbers]
    except (*UNDECODABLE, KeyError) as error:
        raise InputError(
            f"the video {row['video']['path']} has not frame {numbers[-1]} ({error}), so it is not what was built. "
            "`stressreel verify` says more; build again with --fresh."
        ) from error


def fitted(frame: Picture, side: int) -> tuple[int, int]:
    """Return the width and height in which a frame fits into a square."""
    height, width = frame.shape[:2]
    scale = side / max(height, width)
    return max(round(width * scale), 1), max(round(height * scale), 1)


class Sheet:
    """A white sheet to put pictures and words on."""

    def __init__(self, width: int, height: int):
        """Make an empty sheet."""
        self._image = Image.new("RGB", (width, height), "white")
        self._draw = ImageDraw.Draw(self._image)

    def text(self, left: int, top: int, words: str, *, bold: bool = False, colour: str = INK) -> None:
        """Write a line."""
        self._draw.text((left, top), words, fill=colour, font=font(bold))

    def wrapped(self, left: int, top: int, words: str, width: int) -> None:
        """Write words below each other in as many lines as they need."""
        line = ""
        for word in [*words.split(), ""]:
            longer = f"{line} {word}".strip()
            if line and (not word or font(False).getlength(longer) > width):
                self.text(left, top, line, colour=PALE)
                line, top = word, top + LINE
            else:
                line = longer

    def paste(self, frame: Picture, left: int, top: int, width: int, height: int) -> None:
        """Put a frame on the sheet, shrunk by averaging."""
        small = Image.fromarray(frame).resize((width, height), Image.Resampling.BOX)
        self._image.paste(small, (left, top))

    def bar(self, shares: NDArray[np.float64], left: int, top: int, width: int, height: int) -> None:
        """Draw numbers from 0 to below 1 as colours, side by side; others in grey."""
        import matplotlib

        shares = shares[np.arange(width) * len(shares) // width]
        colours = matplotlib.colormaps["viridis"](shares, bytes=True)
        colours[(shares < 0) | (shares >= 1), :3] = ImageColor.getrgb(GREY)
        row = np.broadcast_to(colours[None, :, :3], (height, width, 3))
        self._image.paste(Image.fromarray(np.ascontiguousarray(row)), (left, top))

    def plot(self, shown: NDArray[np.int64], left: int, top: int, side: int, count: int) -> None:
        """Draw in a square which frame (upwards) is shown at each moment (rightwards), if it is one of the clip."""
        end = max(count - 1, 1)
        self._draw.rectangle((left, top, left + side, top + side), outline=GREY, fill="white")
        self._draw.line((left, top + side, left + side, top), fill=GRID)
        for position, frame in enumerate(shown.tolist()):
            if not 0 <= frame < count:
                continue
            x, y = left + position * side / end, top + side - frame * side / end
            self._draw.rectangle((round(x), round(y), round(x) + 1, round(y) + 1), fill=BLUE)

    def png(self) -> bytes:
        """Encode the sheet."""
        target = io.BytesIO()
        self._image.save(target, format="png")
        return target.getvalue()


@cache
def font(bold: bool) -> ImageFont.FreeTypeFont:
    """Load the font of the other figures, which Matplotlib brings along."""
    import matplotlib

    name = "DejaVuSans-Bold.ttf" if bold else "DejaVuSans.ttf"
    path = Path(matplotlib.get_data_path()) / "fonts" / "ttf" / name
    return ImageFont.truetype(str(path), 12, layout_engine=ImageFont.Layout.BASIC)
