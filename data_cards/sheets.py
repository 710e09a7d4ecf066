"""Draw sheets of pictures and texts for cards with Pillow, so that the same input yields the same bytes."""

from __future__ import annotations

import io
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageColor, ImageDraw, ImageFont

from .plots import BLUE, GREY, GRID, INK, PALE

Picture = NDArray[np.uint8]
LINE = 16
"""Height of a line of text, in pixels."""
LONGEST = 2_000  # characters of a text that are measured and drawn; more than fit on any line


def fitted(frame: Picture, side: int) -> tuple[int, int]:
    """Return the (width, height) in pixels of a frame that is scaled to fit into a square."""
    height, width = frame.shape[:2]
    scale = side / max(height, width)
    return max(round(width * scale), 1), max(round(height * scale), 1)


class Sheet:
    """A white canvas for images and text, with positions in pixels."""

    def __init__(self, width: int, height: int):
        self._image = Image.new("RGB", (width, height), "white")
        self._draw = ImageDraw.Draw(self._image)

    def text(self, left: int, top: int, words: str, *, bold: bool = False, colour: str = INK) -> None:
        """Draw a line of text with its top left corner at this position."""
        self._draw.text((left, top), words[:LONGEST], fill=colour, font=font(bold))

    def wrapped(self, left: int, top: int, words: str, width: int) -> None:
        """Draw text that is wrapped to a width in pixels."""
        line = ""
        for word in [*words[:LONGEST].split(), ""]:
            longer = f"{line} {word}".strip()
            if line and (not word or font(False).getlength(longer) > width):
                self.text(left, top, line, colour=PALE)
                line, top = word, top + LINE
            else:
                line = longer

    def paste(self, frame: Picture, left: int, top: int, width: int, height: int) -> None:
        """Place a frame on the sheet, scaled down by averaging pixels."""
        small = Image.fromarray(frame).resize((width, height), Image.Resampling.BOX)
        self._image.paste(small, (left, top))

    def bar(self, shares: NDArray[np.float64], left: int, top: int, width: int, height: int) -> None:
        """Draw numbers in [0, 1) as a bar of adjacent colours. Other numbers are grey."""
        import matplotlib

        shares = shares[np.arange(width) * len(shares) // width]
        colours = matplotlib.colormaps["viridis"](shares, bytes=True)
        colours[(shares < 0) | (shares >= 1), :3] = ImageColor.getrgb(GREY)
        row = np.broadcast_to(colours[None, :, :3], (height, width, 3))
        self._image.paste(Image.fromarray(np.ascontiguousarray(row)), (left, top))

    def plot(self, shown: NDArray[np.int64], left: int, top: int, side: int, count: int) -> None:
        """Plot the source frame (y) that is shown at each time (x), without frames outside the clip."""
        end = max(count - 1, 1)
        self._draw.rectangle((left, top, left + side, top + side), outline=GREY, fill="white")
        self._draw.line((left, top + side, left + side, top), fill=GRID)
        for position, frame in enumerate(shown.tolist()):
            if not 0 <= frame < count:
                continue
            x, y = left + position * side / end, top + side - frame * side / end
            self._draw.rectangle((round(x), round(y), round(x) + 1, round(y) + 1), fill=BLUE)

    def block(self, left: int, top: int, width: int, height: int, colour: str) -> None:
        """Fill a rectangle with a colour."""
        self._draw.rectangle((left, top, left + width - 1, top + height - 1), fill=colour)

    def png(self) -> bytes:
        """Return the sheet as the bytes of a PNG file."""
        target = io.BytesIO()
        self._image.save(target, format="png")
        return target.getvalue()


def shortened(words: str, width: float) -> str:
    """Truncate a text to a width in pixels, ending in "…"."""
    words = words[:LONGEST]
    if font(False).getlength(words) <= width:
        return words
    while words and font(False).getlength(f"{words}…") > width:
        words = words[:-1]
    return f"{words.rstrip()}…" if words else ""


@cache
def font(bold: bool) -> ImageFont.FreeTypeFont:
    """Return the font of the figures, which comes with Matplotlib."""
    import matplotlib

    name = "DejaVuSans-Bold.ttf" if bold else "DejaVuSans.ttf"
    path = Path(matplotlib.get_data_path()) / "fonts" / "ttf" / name
    return ImageFont.truetype(str(path), 12, layout_engine=ImageFont.Layout.BASIC)
