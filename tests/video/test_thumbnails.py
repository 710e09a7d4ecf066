from __future__ import annotations

import numpy as np
import pytest
from stressreel.video.thumbnails import SIDE, thumbnail


@pytest.mark.parametrize("size", [(64, 96), (240, 320), (481, 853), (32, 32), (20, 40), (1, 1)])
def test_a_thumbnail_is_the_mean_of_each_area(size: tuple[int, int]) -> None:
    plane = np.random.default_rng(3).integers(0, 256, size).astype(np.uint8)
    found = thumbnail(plane).reshape(SIDE, SIDE)
    edges = [[length * number // SIDE for number in range(SIDE + 1)] for length in size]
    for row in range(SIDE):
        for column in range(SIDE):
            (top, bottom), (left, right) = ((at[n], at[n + 1]) for at, n in zip(edges, (row, column), strict=True))
            area = plane[top : max(bottom, top + 1), left : max(right, left + 1)]
            assert found[row, column] == pytest.approx(area.mean(), rel=1e-6)
    assert found.dtype == np.float32
