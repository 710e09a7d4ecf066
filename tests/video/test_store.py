import numpy as np
import pytest
from stressreel.video.index import index_frames
from stressreel.video.pyav import colours, to_rgb
from stressreel.video.store import FrameStore

PICTURE = np.full((64, 96, 3), (180, 90, 60), np.uint8)
MATRICES = {"BT.601": (6, 0.299, 0.114), "BT.709": (1, 0.2126, 0.0722), "BT.2020": (9, 0.2627, 0.0593)}


@pytest.mark.parametrize("name", MATRICES)
def test_pictures_get_the_matrix_of_the_source(tmp_path, bars, look, name):
    matrix, red, blue = MATRICES[name]
    path = bars.write(tmp_path / "a.mp4", frames=2, look=look(tags={"color_range": 1, "colorspace": matrix}))
    with FrameStore(index_frames(path), range(2), tmp_path) as store:
        frame = store.from_rgb(PICTURE)
        assert colours(frame) == colours(store.yuv(0))
    luma = 16 + 219 / 255 * (red * 180 + (1 - red - blue) * 90 + blue * 60)
    assert np.abs(bars.arrays(frame)[0] - luma).max() <= 1
    assert np.abs(to_rgb(frame).astype(int) - PICTURE).max() <= 3


def test_frames_in_a_file_equal_those_in_memory(tmp_path, bars):
    frames = [2, 5, 6, 7, 8, 11]
    index = index_frames(bars.write(tmp_path / "a.mp4", frames=12))
    with FrameStore(index, frames, tmp_path, memory_bytes=0, rgb_bytes=0) as store:
        for number in (*frames, frames[0]):
            assert bars.read(store.yuv(number)) == number
            assert np.array_equal(store.rgb(number), to_rgb(store.yuv(number)))
