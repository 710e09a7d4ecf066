"""Draw frames with captions on a contact sheet for cards, with Pillow, so that the same input yields the same bytes."""

from __future__ import annotations

import io
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

from ..core.errors import InputError
from ..core.schema import Row
from ..video.pyav import to_rgb
from ..video.thumbnails import UNDECODABLE, frames_of
from .figures import INK, PALE

LINE, LABEL, MARGIN, GAP = 16, 170, 12, 6  # pixels: height of a line of text, width of the labels, spaces
LABEL_LINES, LABEL_CHARACTERS = 4, 22
LONGEST = 500  # characters of a text that are laid out


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
