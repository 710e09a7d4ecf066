"""Check that the card, figures and croissant.json of an output match its content."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from ..core.documents import LARGEST_OWN, read_bytes
from ..core.files import regular
from ..core.output import Check, Finding, FinishedOutput, Note
from ..core.output_files import CARD
from ..core.schema import Config
from .card import Card, croissant_of, render_card
from .croissant import FILE as CROISSANT

Pixels = NDArray[np.float32]

LARGEST_FIGURE = 20_000_000  # bytes
BEGINNING = b"\x89PNG\r\n\x1a\n"
EQUAL = 2.0  # grey levels
NEAR, LEVELS = 12, 16.0  # Texts of Matplotlib 3.9 and 3.11 are up to 12 pixels apart; beyond that, they differ by 11.
BLOCK, BLOCK_LEVELS = 16, 35.0  # The means of their blocks differ by at most 17.4.


def card_checks(configs: Sequence[Config], card: Card) -> dict[str, Check]:
    """Return checks that README.md, the figures and croissant.json match the content of the output."""
    computed: list[dict[str, Any]] = []

    def fields(output: FinishedOutput) -> dict[str, Any]:
        if not computed:
            computed.append(card.fields(output))
        return computed[0]

    def croissant(output: FinishedOutput) -> Iterator[Finding]:
        return differing_text(output, CROISSANT, lambda: croissant_of(output, configs, card, fields(output)))

    return {
        "card": lambda output: differing_text(output, CARD, lambda: render_card(output, configs, card, fields(output))),
        "figures": lambda output: differing_figures(output, card.figures(output, fields(output))),
        "croissant": croissant,
    }


def differing_text(output: FinishedOutput, name: str, render: Callable[[], str]) -> Iterator[str]:
    """Yield a finding if a file is missing or does not contain the rendered text."""
    file = output.path / name
    if not file.is_file():
        yield f"{name} is missing; run `stressreel card` to write it"
    elif read_bytes(file, LARGEST_OWN).replace(b"\r\n", b"\n") != render().encode("utf-8", "backslashreplace"):
        kept = ", which keeps your notes" if name == CARD else ""
        yield f"{name} does not match the content; run `stressreel card` to update it{kept}"


def differing_figures(output: FinishedOutput, figures: Mapping[str, bytes]) -> Iterator[Finding]:
    """Yield the figures that differ from new ones, and note those that another version of Matplotlib has drawn."""
    for name, drawn in figures.items():
        file = output.path / "figures" / name
        if not file.is_file() or file.stat().st_size > LARGEST_FIGURE:
            yield f"figures/{name} is missing or too large; run `stressreel card` to write it"
            continue
        content = regular(file).read_bytes()
        difference = "" if content == drawn else figure_difference(content, drawn)
        if difference is None:
            yield Note(
                f"figures/{name} was only compared roughly, as if drawn by another version of Matplotlib: small "
                "texts in it may have been changed; run `stressreel card` to draw it again"
            )
        elif difference:
            yield f"figures/{name} does not match the content: {difference}; run `stressreel card` to update it"


def figure_difference(content: bytes, drawn: bytes) -> str | None:
    """Explain how a PNG file differs from the drawn one. Return "" for equal pixels, and None for another rendering.

    Files that name the same version of Matplotlib must have equal pixels. Another rendering has the same colours within
    a few pixels, and the same amount of ink in every block. Words on the background and other bars are neither.
    """
    from matplotlib.image import imread

    try:
        chunks, expected = ([kind for kind in _chunks(png) if kind != "IDAT"] for png in (content, drawn))
        if chunks != expected:
            return f"it has the parts {', '.join(chunks)}, not {', '.join(expected)}"
        head = len(BEGINNING) + 8 + 13
        if content[:head] != drawn[:head]:  # possibly too large to open
            return "it has another size or format"
        old, new = (255 * np.asarray(imread(io.BytesIO(png), format="png"), np.float32) for png in (content, drawn))
    except (OSError, ValueError, SyntaxError) as error:
        return f"it is damaged ({error})"
    if old.shape != new.shape:
        return "it has another size or format"
    if np.abs(old - new).max() <= EQUAL:
        return ""
    if b"Matplotlib" in _software(drawn) and _software(content) == _software(drawn):
        return "its pixels differ, although it names the same version of Matplotlib"
    outside = max(_beyond(old, new), _beyond(new, old))
    blocks = float(np.abs(_block_means(old) - _block_means(new)).max())
    if outside > LEVELS or blocks > BLOCK_LEVELS:
        return "its pixels differ by more than between versions of Matplotlib"
    return None


def _chunks(content: bytes) -> Iterator[str]:
    """Yield the types of a PNG file's chunks. Raise ValueError if it has other bytes."""
    start = len(BEGINNING)
    if content[:start] != BEGINNING:
        raise ValueError("it is no PNG file")
    kind = b""
    while start < len(content):
        if kind == b"IEND":
            raise ValueError("there are bytes after its end")
        kind = content[start + 4 : start + 8]
        yield kind.decode("ascii", "replace")
        start += 12 + int.from_bytes(content[start : start + 4], "big")
    if kind != b"IEND" or start != len(content):
        raise ValueError("its end is missing")


def _software(content: bytes) -> bytes:
    """Return the text chunk that names the program which wrote a PNG file, or nothing."""
    start = content.find(b"tEXtSoftware\0")
    return b"" if start < 4 else content[start : start + 4 + int.from_bytes(content[start - 4 : start], "big")]


def _beyond(pixels: Pixels, others: Pixels) -> float:
    """Return how far a pixel is outside of the range of the other picture's pixels around its place."""
    low = high = others
    for axis in (0, 1):
        edges = [(NEAR, NEAR) if axis == number else (0, 0) for number in range(others.ndim)]
        low = sliding_window_view(np.pad(low, edges, mode="edge"), 2 * NEAR + 1, axis).min(-1)
        high = sliding_window_view(np.pad(high, edges, mode="edge"), 2 * NEAR + 1, axis).max(-1)
    return float(np.maximum(low - pixels, pixels - high).max())


def _block_means(pixels: Pixels) -> Pixels:
    height, width = (size // BLOCK * BLOCK for size in pixels.shape[:2])
    tiles = pixels[:height, :width].reshape(height // BLOCK, BLOCK, width // BLOCK, BLOCK, -1)
    return np.asarray(tiles.mean(axis=(1, 3)), np.float32)
