from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
from stressreel.video.index import index_frames
from stressreel.video.pyav import colours, to_rgb
from stressreel.video.store import FrameStore

if TYPE_CHECKING:
    from conftest import Bars, Look

PICTURE = np.full((64, 96, 3), (180, 90, 60), np.uint8)


@pytest.mark.parametrize(
    ("colorspace", "red", "blue"),
    [(6, 0.299, 0.114), (1, 0.2126, 0.0722), (9, 0.2627, 0.0593)],
    ids=["BT.601", "BT.709", "BT.2020"],
)
def test_a_perturbed_picture_is_converted_by_the_matrix_of_its_source(
    tmp_path: Path, bars: type[Bars], look: type[Look], colorspace: int, red: float, blue: float
) -> None:
    path = bars.write(tmp_path / "a.mp4", frames=2, look=look(tags={"color_range": 1, "colorspace": colorspace}))
    with FrameStore(index_frames(path), range(2), tmp_path) as store:
        frame = store.from_rgb(PICTURE)
        assert colours(frame) == colours(store.yuv(0))
    luma = 16 + 219 / 255 * (red * 180 + (1 - red - blue) * 90 + blue * 60)
    assert np.abs(bars.arrays(frame)[0] - luma).max() <= 1
    assert np.abs(to_rgb(frame).astype(int) - PICTURE).max() <= 3
