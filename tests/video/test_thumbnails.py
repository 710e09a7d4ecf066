import numpy as np
import pytest
from av.error import FFmpegError
from stressreel.video import pyav
from stressreel.video.thumbnails import SIDE, decode_video, side_for, thumbnail


@pytest.mark.parametrize("size", [(481, 853), (20, 40), (1, 1)])
def test_thumbnail_is_the_mean_of_each_area(size):
    plane = np.random.default_rng(3).integers(0, 256, size).astype(np.uint8)
    means = thumbnail(plane).reshape(SIDE, SIDE)
    for at, mean in np.ndenumerate(means):
        (top, bottom), (left, right) = (
            (n * length // SIDE, max((n + 1) * length // SIDE, n * length // SIDE + 1))
            for n, length in zip(at, size, strict=True)
        )
        assert mean == pytest.approx(plane[top:bottom, left:right].mean(), rel=1e-6)


def test_memory_is_limited(bars, tmp_path, monkeypatch):
    film = bars.write(tmp_path / "film.mp4", frames=20).read_bytes()
    assert decode_video(film, side=4).pictures.shape == (20, 16)
    with pytest.raises(ValueError, match="more than 19 frames"):
        decode_video(film, most=19)
    assert [side_for(frames) for frames in (48_828, 48_829, 200_000, 4_000_000)] == [32, 16, 8, 4]
    memory = iter(range(0, 10**12, 10**8))
    monkeypatch.setattr(pyav, "memory_in_use", lambda: next(memory))
    with pytest.raises(FFmpegError, match="more than 500 MB of memory"):
        decode_video(film)
