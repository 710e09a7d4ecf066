"""Draw contact sheets of a suite, reproducible byte for byte."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile

import numpy as np
from numpy.typing import NDArray

from ...core.errors import InputError
from ...core.output import FinishedOutput
from ...core.schema import Row
from ...corruptions.registry import check_name
from ...corruptions.visual.engine import Recipe
from ...data_cards.plots import ORANGE, PALE
from ...data_cards.sheets import LINE, Picture, Sheet, fitted
from ...video.pyav import to_rgb
from ...video.thumbnails import UNDECODABLE, frames_of
from .render import index_map_of
from .settings import PerturbedSettings, settings_of
from .tables import CLEAN

LABEL, GAP, MARGIN, BAR = 150, 6, 12, 7
CELL = 180
STRIP, STRIP_CELL, STRIP_SEVERITIES, AMONG = 12, 66, (1, 3, 5), 600
EARLY = 25  # last frame for the contact sheet; each of the 90 files is decoded up to it


def perturbed_figures(output: FinishedOutput) -> dict[str, bytes]:
    """Draw the contact sheets of a suite with videos, and return them by file name."""
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
    """Draw one frame of a clip with a row for each perturbation and a column for each severity."""
    number = clearest_frame(clean, names, settings)
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


def clearest_frame(clean: Row, names: Sequence[str], settings: PerturbedSettings) -> int:
    """Choose an early frame in which camera shake is visible at every severity.

    The angle of `rotation` and the shift of `translation` are sampled per frame and may be near 0. Their effect is
    measured as the mean change of a linear gradient, relative to its maximum over frames. The frame with the largest
    minimum over severities is chosen.
    """
    last = min(EARLY, clean["num_frames"] // 2)
    first = 0 if settings.clip_first else clean["first_frame"]
    key = clean["clip_id"] if settings.clip_first else clean["source_id"]
    shaken = [name for name in names if (c := check_name(name)).family == "camera" and c.random]
    rising = np.add.outer(np.arange(96), np.arange(128)).astype(np.uint8)[..., None]
    least = np.ones(last + 1)
    for name in shaken:
        for severity in settings.severities:
            recipe = Recipe(check_name(name), severity, settings.seed, key)
            changed = [recipe.frame(rising, first + number).astype(int) for number in range(last + 1)]
            change = np.array([np.abs(frame - rising).mean() for frame in changed])
            least = np.minimum(least, change / max(change.max(), 1e-9))
    return int(least.argmax()) if shaken and least.min() < 1 else last


def temporal_png(output: FinishedOutput, clean: Row, names: Sequence[str], settings: PerturbedSettings) -> bytes:
    """Show the frames at twelve points of a clip, and plot the frame number against time."""
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

    strip(CLEAN, f"clip {clean['clip_id']}", originals, index_map_of(CLEAN, 0, clean, settings))
    top += step
    for name in names:
        found = {row["severity"]: row for row in rows_of(output, name, clean["clip_id"])}
        for severity in severities:
            if severity in found:
                line = f"severity {severity}: {check_name(name).level(severity)}"
                strip(name, line, frames_at(found[severity], numbers), index_map_of(name, severity, clean, settings))
            top += step
    words = "bar: from blue, the first frame, to yellow, the last, for every frame shown; right: the same as a curve"
    outside = "; grey: from outside the clip" if count < clean["source_frames"] else ""
    sheet.text(LABEL, top, words + outside, colour=PALE)
    return sheet.png()


def rows_of(output: FinishedOutput, name: str, clip_id: str) -> list[Row]:
    """Return the rows of a clip if it is the first in the table, else an empty list."""
    rows = output.whole(name, ["clip_id", "severity", "video"])
    return list(takewhile(lambda row: row["clip_id"] == clip_id, rows))


def frames_at(row: Row, numbers: Sequence[int]) -> list[Picture]:
    """Decode RGB frames of the video in a row. `numbers` must not decrease.

    Raises:
        InputError: The video lacks one of the frames.
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
            f"the video {row['video']['path']} has no frame {numbers[-1]} ({error}): it was changed after the build. "
            "Run `stressreel verify` for details, or build again with --fresh."
        ) from error
