import io

import numpy as np
import pytest
from PIL import Image
from stressreel.core.errors import InputError
from stressreel.core.output import open_output
from stressreel.data_cards.figures import LABEL, LINE, MARGIN, Strip, contact_sheet, frames_at

WHITE, RED, BLUE = (255, 255, 255), (255, 0, 0), (0, 0, 255)


def test_frames_are_scaled_and_placed_by_strip():
    red, blue = (np.full((40, 80, 3), colour, np.uint8) for colour in (RED, BLUE))
    strips = [Strip("V", "first", [(red, "A"), (blue, "B")]), Strip("V′", "second", [(blue, "B")])]
    sheet = Image.open(io.BytesIO(contact_sheet(strips, 40))).convert("RGB")
    below = (sheet.height - 2 * MARGIN) // 2
    places = {(0, 10): RED, (39, 10): RED, (43, 10): WHITE, (46, 10): BLUE, (0, 20 + LINE): WHITE}
    places |= {(0, below + 10): BLUE, (46, below + 10): WHITE}
    assert {(x, y): sheet.getpixel((LABEL + x, MARGIN + y)) for x, y in places} == places
    long, cut = "wide " * 100_000, "wide " * 200  # to draw it whole would take minutes
    assert contact_sheet([Strip(long, long, [(red, long)])], 8) == contact_sheet([Strip(cut, cut, [(red, cut)])], 8)


def test_damaged_video_is_an_input_error(built):
    row = next(open_output(built).whole("videos"))
    damaged = {**row, "video": {**row["video"], "bytes": row["video"]["bytes"][:200]}}
    with pytest.raises(InputError, match="changed after the build"):
        frames_at(damaged, [0])
    with pytest.raises(InputError, match=row["video"]["path"]):
        frames_at(row, [1_000_000])
