import io
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from stressreel.core.errors import InputError
from stressreel.core.output import open_output
from stressreel.data_cards.figures import LABEL, LINE, MARGIN, Strip, contact_sheet, frames_at


def test_frames_are_scaled_and_placed_by_strip() -> None:
    red, blue = (np.full((40, 80, 3), colour, np.uint8) for colour in ((255, 0, 0), (0, 0, 255)))
    strips = [Strip("V", "first", [(red, "A"), (blue, "B")]), Strip("V′", "second", [(blue, "B")])]
    sheet = Image.open(io.BytesIO(contact_sheet(strips, 40))).convert("RGB")
    below = MARGIN + (sheet.height - 2 * MARGIN) // 2
    assert [sheet.getpixel((LABEL + x, y + 10)) for x, y in ((0, MARGIN), (39, MARGIN), (46, MARGIN), (0, below))] == [
        *((255, 0, 0), (255, 0, 0)),
        *((0, 0, 255), (0, 0, 255)),
    ]
    assert sheet.getpixel((LABEL + 43, MARGIN + 10)) == (255, 255, 255)
    assert sheet.getpixel((LABEL + 46, below + 10)) == sheet.getpixel((LABEL, MARGIN + 20 + LINE)) == (255, 255, 255)


def test_long_texts_are_truncated() -> None:
    """Drawing them whole would take minutes."""
    frame = np.zeros((8, 8, 3), np.uint8)
    long, cut = "wide " * 100_000, "wide " * 200
    assert contact_sheet([Strip(long, long, [(frame, long)])], 8) == contact_sheet([Strip(cut, cut, [(frame, cut)])], 8)


def test_damaged_video_is_an_input_error(built: Path) -> None:
    row = next(open_output(built).whole("videos"))
    damaged = {**row, "video": {**row["video"], "bytes": row["video"]["bytes"][:200]}}
    with pytest.raises(InputError, match="changed after the build"):
        frames_at(damaged, [0])
    with pytest.raises(InputError, match=row["video"]["path"]):
        frames_at(row, [1_000_000])
