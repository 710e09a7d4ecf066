"""The picture of a pair in the card: frames of V and V′, and below them the pieces in their places."""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from PIL import Image, ImageColor
from stressreel.builders.clavi.figures import BAR, LABEL, MARGIN, frames_along, swap_png, types_png
from stressreel.builders.clavi.statistics import TypeCount
from stressreel.core.errors import InputError
from stressreel.core.output import FinishedOutput, open_output
from stressreel.core.schema import Row
from stressreel.data_cards.plots import BLUE, ORANGE
from stressreel.data_cards.sheets import LINE


@pytest.fixture(scope="module")
def output(built: Path) -> FinishedOutput:
    return open_output(built)


@pytest.fixture(scope="module")
def last(output: FinishedOutput) -> Row:
    *_, pair = output.rows("pairs")
    return pair


def runs(row: np.ndarray, colour: str) -> Iterator[tuple[int, int]]:
    """Where a row of pixels has a colour, as first and after-last places."""
    same = np.r_[False, (row == ImageColor.getrgb(colour)).all(1), False].astype(int)
    yield from zip(np.flatnonzero(np.diff(same) == 1), np.flatnonzero(np.diff(same) == -1), strict=True)


def test_pieces_lie_where_the_cuts_are(output: FinishedOutput, last: Row) -> None:
    with Image.open(io.BytesIO(swap_png(output, last["pair_id"]))) as picture:
        sheet = np.asarray(picture)
    long = sheet.shape[1] - LABEL - MARGIN
    step = (sheet.shape[0] - MARGIN - LINE) // 2
    bars = [MARGIN + number * step + (step - BAR - LINE - MARGIN) + 2 + BAR // 2 for number in range(2)]
    length = last["out_b"] - last["out_a"]
    a, b = (last["in_a"] - last["out_a"]) / length, (last["out_b"] - last["in_b"]) / length
    expected = [{BLUE: (0, a), ORANGE: (1 - b, 1)}, {ORANGE: (0, b), BLUE: (1 - a, 1)}]
    for top, places in zip(bars, expected, strict=True):
        for colour, (begin, end) in places.items():
            ((left, right),) = runs(sheet[top], colour)
            assert (left - LABEL) / long == pytest.approx(begin, abs=0.01)
            assert (right - LABEL) / long == pytest.approx(end, abs=0.01)


def test_a_video_that_is_cut_off_is_one_clear_error(output: FinishedOutput) -> None:
    row = next(output.whole("videos"))
    cut = {**row, "video": {**row["video"], "bytes": row["video"]["bytes"][:200]}}
    with pytest.raises(InputError, match="cannot be read for the figure"):
        frames_along(cut, 10)


def test_the_figure_of_types_has_a_limit(paint: None) -> None:
    types = [TypeCount(f"type {number}", "complement", 1, {"test": 1}, 1, 0) for number in range(3000)]
    with Image.open(io.BytesIO(types_png(types))) as picture:
        assert picture.height < 3000
