import av
import numpy as np
import pytest
from av.video.frame import PictureType
from av.video.reformatter import ColorRange
from hypothesis import example, given, settings
from hypothesis import strategies as st
from stressreel.video.decode import decode, upright
from stressreel.video.index import index_frames

RAMP = np.tile(np.arange(256, dtype=np.uint8), (16, 1))
SMOOTH = np.tile(np.arange(128, dtype=np.uint8) + 64, (8, 1))


@pytest.mark.parametrize(("pix_fmt", "size"), [("yuv420p", (96, 64)), ("yuv444p", (97, 65)), ("yuvj420p", (96, 64))])
def test_the_encoder_chooses_its_own_frame_types(tmp_path, bars, look, pix_fmt, size):
    index = index_frames(bars.write(tmp_path / "a.mkv", frames=6, size=size, b_frames=2, look=look(pix_fmt=pix_fmt)))
    raw = list(decode(index, range(6)))
    assert {frame.pict_type for frame in raw} >= {PictureType.I, PictureType.P}
    assert {upright(frame).pict_type for frame in raw} == {PictureType.NONE}


@given(width=st.integers(2, 70), height=st.integers(2, 70))
@example(width=65, height=64)
@example(width=64, height=65)
@settings(max_examples=30)
def test_odd_sizes_grow_by_repeating_the_edge(bars, width, height):
    rng = np.random.default_rng(width * 100 + height)
    shapes = [(height, width), *[((height + 1) // 2, (width + 1) // 2)] * 2]
    planes = [rng.integers(16, 236, shape).astype(np.uint8) for shape in shapes]
    luma, blue, red = bars.arrays(upright(bars.frame(planes)))
    assert np.array_equal(luma, np.pad(planes[0], ((0, height % 2), (0, width % 2)), mode="edge"))
    assert np.array_equal(blue, planes[1])
    assert np.array_equal(red, planes[2])


@pytest.mark.parametrize(
    ("named", "tagged"), [("yuv420p", ColorRange.JPEG), ("yuvj420p", ColorRange.JPEG), ("yuvj420p", 0)]
)
def test_full_range_becomes_limited(bars, named, tagged):
    planes = [RAMP, SMOOTH, SMOOTH[:, ::-1]]
    assert np.array_equal(bars.arrays(upright(bars.frame(planes)))[0], RAMP)  # which is limited already
    frame = bars.frame(planes, named)
    frame.color_range = tagged
    shown = upright(frame)
    assert (shown.format.name, shown.color_range) == ("yuv420p", ColorRange.MPEG)
    expected = [16 + RAMP * 219.0 / 255, *(128 + (plane - 128.0) * 224 / 255 for plane in planes[1:])]
    for plane, wanted in zip(bars.arrays(shown), expected, strict=True):
        assert np.abs(plane - wanted).max() <= 1


@pytest.mark.parametrize(("name", "step"), [("yuv444p", 1), ("yuv422p", 2)])
def test_other_chroma_layouts_keep_the_luma(bars, name, step):
    chroma = np.tile(np.arange(256, dtype=np.uint8) // 2 + 64, (16, 1))[:, ::step]
    shown = upright(bars.frame([RAMP, chroma, chroma], name))
    luma, *rest = bars.arrays(shown)
    assert shown.format.name == "yuv420p"
    assert np.array_equal(luma, RAMP)
    assert all(plane.shape == (8, 128) and np.abs(plane - (64 + np.arange(128.0))).max() <= 1 for plane in rest)


def test_ten_bits_become_eight(bars):
    deep = av.VideoFrame(256, 16, "yuv420p10le")
    rng = np.random.default_rng(0)
    values = []
    for plane in deep.planes:
        rows = np.frombuffer(memoryview(plane), np.uint16).reshape(-1, plane.line_size // 2)
        values.append(rng.integers(64, 941, (plane.height, plane.width)))
        rows[: plane.height, : plane.width] = values[-1]
    shown = upright(deep)
    assert shown.format.name == "yuv420p"
    assert all(np.abs(narrow - wide / 4).max() <= 1 for narrow, wide in zip(bars.arrays(shown), values, strict=True))


def test_rgb_does_not_call_its_yuv_rgb(bars):
    frame = av.VideoFrame.from_ndarray(np.full((16, 16, 3), (200, 40, 90), np.uint8), "rgb24")
    frame.colorspace = 0  # as PNG, GIF and lossless screen recordings are tagged
    shown = upright(frame)
    back = shown.reformat(format="rgb24", src_colorspace="ITU601").to_ndarray()
    assert np.abs(back.astype(int) - (200, 40, 90)).max() <= 3
    assert shown.colorspace != 0
