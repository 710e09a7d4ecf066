import numpy as np
import pytest
from stressreel.video.thumbnails import SIDE, thumbnail


@pytest.mark.parametrize("size", [(64, 96), (481, 853), (20, 40), (1, 1)])
def test_a_thumbnail_is_the_mean_of_each_area(size):
    plane = np.random.default_rng(3).integers(0, 256, size).astype(np.uint8)
    found = thumbnail(plane).reshape(SIDE, SIDE)
    for at, mean in np.ndenumerate(found):
        (top, bottom), (left, right) = (
            (n * length // SIDE, max((n + 1) * length // SIDE, n * length // SIDE + 1))
            for n, length in zip(at, size, strict=True)
        )
        assert mean == pytest.approx(plane[top:bottom, left:right].mean(), rel=1e-6)
