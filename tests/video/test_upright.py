from __future__ import annotations

import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import av
import numpy as np
import pytest
from av.video.frame import PictureType
from av.video.reformatter import ColorPrimaries, ColorRange, ColorTrc
from hypothesis import example, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from stressreel.core.errors import VideoError
from stressreel.video.decode import decode, upright
from stressreel.video.index import index_frames
from stressreel.video.pyav import plane_view

if TYPE_CHECKING:
    from conftest import Bars, Look, Planes

HDR = {  # as a phone records it: BT.2020, hybrid log-gamma
    "color_range": int(ColorRange.MPEG),
    "colorspace": 9,
    "color_primaries": int(ColorPrimaries.BT2020),
    "color_trc": int(ColorTrc.ARIB_STD_B67),
}


def tags(frame: av.VideoFrame) -> dict[str, int]:
    return {name: int(getattr(frame, name)) for name in HDR}


def frames(path: Path) -> list[av.VideoFrame]:
    index = index_frames(path)
    return list(decode(index, range(index.num_frames)))


def autorotated(path: Path, like: av.VideoFrame) -> list[Planes]:
    """What FFmpeg's command line shows of a file, as yuv420p planes."""
    ffmpeg = pytest.importorskip("imageio_ffmpeg", reason="FFmpeg's command line comes with imageio-ffmpeg")
    command = [ffmpeg.get_ffmpeg_exe(), "-v", "error", "-i", path, "-fps_mode", "passthrough"]
    result = subprocess.run([*command, "-f", "rawvideo", "-pix_fmt", "yuv420p", "-"], capture_output=True, check=True)
    width, height = like.width, like.height
    pictures = np.frombuffer(result.stdout, np.uint8).reshape(-1, width * height * 3 // 2)
    planes = []
    for picture in pictures:
        luma, blue, red = np.split(picture, [width * height, width * height * 5 // 4])
        half = (height // 2, width // 2)
        planes.append((luma.reshape(height, width), blue.reshape(half), red.reshape(half)))
    return planes


def same(one: Planes, other: Planes) -> bool:
    return all(np.array_equal(a, b) for a, b in zip(one, other, strict=True))


@pytest.mark.parametrize("rotation", [0, 90, 180, 270])
def test_rotation_is_applied_as_ffmpeg_does(tmp_path: Path, bars: type[Bars], look: type[Look], rotation: int) -> None:
    path = bars.write(tmp_path / "a.mp4", frames=3, look=look(rotation=rotation))
    raw = frames(path)
    assert {frame.rotation % 360 for frame in raw} == {rotation}
    shown = [upright(frame) for frame in raw]
    assert [(bars.read(frame), frame.width, frame.height) for frame in shown] == [(k, 96, 64) for k in range(3)]
    for frame, reference in zip(shown, autorotated(path, shown[0]), strict=True):
        assert same(bars.arrays(frame), reference)


@pytest.mark.parametrize("rotation", [0, 90, 180, 270])
def test_a_mirrored_picture_is_never_passed_on_mirrored(
    tmp_path: Path, bars: type[Bars], look: type[Look], rotation: int
) -> None:
    path = bars.write(tmp_path / "a.mp4", frames=1, look=look(rotation=rotation, hflip=True))
    [raw] = frames(path)
    try:
        shown = upright(raw)
    except VideoError:
        return
    assert same(bars.arrays(shown), autorotated(path, shown)[0])
    assert bars.read(shown) == 0


@pytest.mark.shared
@pytest.mark.parametrize("name", ["video_0", "video_90", "video_180", "video_270"])
def test_rotated_phone_videos(shared: Path, bars: type[Bars], name: str) -> None:
    path = shared / "videos" / "edge" / f"decord__{name}.mov"
    shown = [upright(frame) for frame in frames(path)]
    for frame, reference in zip(shown, autorotated(path, shown[0]), strict=True):
        assert np.array_equal(bars.arrays(frame)[0], reference[0])
        for ours, theirs in zip(bars.arrays(frame)[1:], reference[1:], strict=True):
            assert np.abs(ours.astype(int) - theirs).max() <= 1


def test_slanted_pictures_are_refused(tmp_path: Path, bars: type[Bars], look: type[Look]) -> None:
    path = bars.write(tmp_path / "a.mp4", frames=1)
    slanted = tmp_path / "slanted.mp4"
    with av.open(str(path)) as container, av.open(str(slanted), "w") as output:
        copy = output.add_stream_from_template(container.streams.video[0])
        copy.set_display_rotation(45)
        for packet in container.demux():
            if packet.dts is not None:
                packet.stream = copy
                output.mux(packet)
    [raw] = frames(slanted)
    assert raw.rotation == 45
    with pytest.raises(VideoError, match="rotated by 45°; only multiples of 90°") as caught:
        upright(raw)
    assert caught.value.reason == "undecodable"


def test_ordinary_frames_pass_untouched(bars: type[Bars]) -> None:
    frame = bars.frame(bars.planes(5))
    frame.pict_type, frame.color_range = PictureType.I, ColorRange.MPEG
    before = bars.arrays(frame)
    assert upright(frame) is frame
    assert same(bars.arrays(frame), before)


@pytest.mark.parametrize("name", ["a.mp4", "odd.mkv", "full.mp4"])
def test_the_encoder_chooses_its_own_frame_types(tmp_path: Path, bars: type[Bars], look: type[Look], name: str) -> None:
    size = (97, 65) if name == "odd.mkv" else (96, 64)
    how = look(pix_fmt="yuv444p") if name == "odd.mkv" else look(pix_fmt="yuvj420p" if "full" in name else "yuv420p")
    raw = frames(bars.write(tmp_path / name, frames=6, size=size, b_frames=2, look=how))
    assert {frame.pict_type for frame in raw} >= {PictureType.I, PictureType.P}
    assert {upright(frame).pict_type for frame in raw} == {PictureType.NONE}


@given(width=st.integers(2, 70), height=st.integers(2, 70))
@example(width=65, height=64)
@example(width=64, height=65)
@settings(deadline=None, max_examples=60)
def test_odd_sizes_grow_by_repeating_the_edge(bars: type[Bars], width: int, height: int) -> None:
    rng = np.random.default_rng(width * 100 + height)
    shapes = [(height, width), *[((height + 1) // 2, (width + 1) // 2)] * 2]
    planes = [rng.integers(16, 236, shape).astype(np.uint8) for shape in shapes]
    shown = upright(bars.frame(planes))
    luma, blue, red = bars.arrays(shown)
    assert luma.shape == (height + height % 2, width + width % 2)
    assert np.array_equal(luma[:height, :width], planes[0])
    assert np.array_equal(luma[-1, :width], planes[0][-1])
    assert np.array_equal(luma[:height, -1], planes[0][:, -1])
    assert np.array_equal(blue, planes[1])
    assert np.array_equal(red, planes[2])


@pytest.mark.parametrize("rotation", [90, 180, 270])
def test_odd_and_rotated(tmp_path: Path, bars: type[Bars], look: type[Look], rotation: int) -> None:
    how = look(pix_fmt="yuv444p", rotation=rotation, options={"crf": "0"})
    [raw] = frames(bars.write(tmp_path / "a.mp4", frames=1, size=(97, 67), look=how))
    shown = upright(raw)
    luma = bars.arrays(shown)[0]
    assert luma.shape == (68, 98)
    assert np.array_equal(luma[:67, :97], bars.planes(0, 97, 67)[0])
    assert np.array_equal(luma[67, :97], luma[66, :97])
    assert np.array_equal(luma[:, 97], luma[:, 96])


def ramp() -> NDArray[np.uint8]:
    return np.tile(np.arange(256, dtype=np.uint8), (16, 1))


def smooth() -> NDArray[np.uint8]:
    return np.tile(np.arange(128, dtype=np.uint8) + 64, (8, 1))


@pytest.mark.parametrize(
    ("named", "tagged"),
    [("yuv420p", ColorRange.JPEG), ("yuvj420p", ColorRange.JPEG), ("yuvj420p", ColorRange.UNSPECIFIED)],
)
def test_full_range_becomes_limited(bars: type[Bars], named: str, tagged: ColorRange) -> None:
    frame = bars.frame([ramp(), smooth(), smooth()[:, ::-1]], named)
    frame.color_range = tagged
    shown = upright(frame)
    assert (shown.format.name, shown.color_range) == ("yuv420p", ColorRange.MPEG)
    luma, blue, red = (plane.astype(float) for plane in bars.arrays(shown))
    assert np.abs(luma - (16 + ramp() * 219.0 / 255)).max() <= 1
    assert np.abs(blue - (128 + (smooth() - 128.0) * 224 / 255)).max() <= 1
    assert np.abs(red - (128 + (smooth()[:, ::-1] - 128.0) * 224 / 255)).max() <= 1


@pytest.mark.parametrize("value", [ColorRange.MPEG, ColorRange.UNSPECIFIED])
def test_limited_range_is_not_stretched(bars: type[Bars], value: ColorRange) -> None:
    frame = bars.frame([ramp(), smooth(), smooth()])
    frame.color_range = value
    assert np.array_equal(bars.arrays(upright(frame))[0], ramp())


def test_other_chroma_layouts_keep_the_luma(bars: type[Bars]) -> None:
    chroma = np.tile(np.arange(256, dtype=np.uint8) // 2 + 64, (16, 1))
    for name, planes in {
        "yuv444p": [ramp(), chroma, chroma],
        "yuv422p": [ramp(), chroma[:, ::2], chroma[:, ::2]],
    }.items():
        shown = upright(bars.frame(planes, name))
        luma, blue, red = bars.arrays(shown)
        assert shown.format.name == "yuv420p"
        assert np.array_equal(luma, ramp())
        for plane in (blue, red):
            assert plane.shape == (8, 128)
            assert np.abs(plane - (64 + np.arange(128.0))).max() <= 1


def test_ten_bits_become_eight(bars: type[Bars]) -> None:
    deep = av.VideoFrame(256, 16, "yuv420p10le")
    rng = np.random.default_rng(0)
    values = []
    for plane in deep.planes:
        rows = np.frombuffer(memoryview(plane), np.uint16).reshape(-1, plane.line_size // 2)
        values.append(rng.integers(64, 941, (plane.height, plane.width)))
        rows[: plane.height, : plane.width] = values[-1]
    shown = upright(deep)
    assert shown.format.name == "yuv420p"
    for narrow, wide in zip(bars.arrays(shown), values, strict=True):
        assert np.abs(narrow - wide / 4).max() <= 1


@pytest.mark.parametrize(
    ("pix_fmt", "size", "rotation"),
    [
        ("yuv420p", (96, 64), 0),
        ("yuv420p10le", (96, 64), 0),
        ("yuv420p", (96, 64), 90),
        ("yuv420p10le", (96, 64), 270),
        ("yuv444p", (97, 65), 0),
    ],
)
def test_colour_tags_survive(
    tmp_path: Path, bars: type[Bars], look: type[Look], pix_fmt: str, size: tuple[int, int], rotation: int
) -> None:
    how = look(pix_fmt=pix_fmt, rotation=rotation, tags=HDR)
    [raw] = frames(bars.write(tmp_path / "a.mp4", frames=1, size=size, look=how))
    assert tags(raw) == HDR
    assert tags(upright(raw)) == tags(raw)


def test_rgb_does_not_call_its_yuv_rgb(bars: type[Bars]) -> None:
    frame = av.VideoFrame.from_ndarray(np.full((16, 16, 3), (200, 40, 90), np.uint8), "rgb24")
    frame.colorspace = 0  # as PNG, GIF and lossless screen recordings are tagged
    shown = upright(frame)
    back = shown.reformat(format="rgb24", src_colorspace="ITU601").to_ndarray()
    assert np.abs(back.astype(int) - (200, 40, 90)).max() <= 3
    assert shown.colorspace != 0


def test_plane_view_is_the_plane(bars: type[Bars]) -> None:
    frame = bars.frame(bars.planes(3, 66, 64))
    assert frame.planes[0].line_size > 66
    for number, pixels in enumerate(bars.arrays(frame)):
        assert np.array_equal(plane_view(frame, number), pixels)
    plane_view(frame, 0)[5, 65] = 77
    assert bars.arrays(frame)[0][5, 65] == 77
