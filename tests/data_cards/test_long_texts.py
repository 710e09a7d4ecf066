"""Texts that rows of a stranger may have are cut before they are drawn, which would take minutes."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure
from stressreel.data_cards.plots import _png, _short
from stressreel.data_cards.sheets import Sheet, fitted, shortened

LONG = "wide " * 100_000


def drawn(text: str) -> bytes:
    def draw(figure: Figure) -> None:
        axes = figure.subplots()
        axes.barh([0, 1], [1, 2], label=text)
        axes.set_yticks([0, 1], [text, "b"])
        axes.set_title(text)
        axes.legend()

    return _png(draw, 2)


def test_figures() -> None:
    assert drawn(LONG) == drawn(_short(LONG))


def test_sheets() -> None:
    sheet, other = Sheet(300, 40), Sheet(300, 40)
    sheet.text(0, 0, LONG)
    sheet.wrapped(0, 16, LONG, 200)
    other.text(0, 0, LONG[:5000])
    other.wrapped(0, 16, LONG[:5000], 200)
    assert sheet.png() == other.png()
    assert fitted(np.zeros((100, 200, 3), np.uint8), 50) == (50, 25)
    assert shortened(LONG, 100) == shortened(LONG[:100], 100)
