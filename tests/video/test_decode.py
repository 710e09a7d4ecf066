from dataclasses import replace
from fractions import Fraction

import av
import numpy as np
import pytest
from av.video.frame import PictureType
from av.video.reformatter import ColorRange
from hypothesis import example, given, settings
from hypothesis import strategies as st
from stressreel.core.errors import VideoError
from stressreel.video.decode import decode, decode_at, upright, with_index
from stressreel.video.index import IndexMismatchError, index_frames

FRAMES = 48
UNEVEN = np.cumsum(np.random.default_rng(1).integers(1, 90, FRAMES)).tolist()
SOURCES = {
    "long.mkv": {"b_frames": 2},
    "open-gop.mkv": {"gop": 12, "options": {"x264-params": "open-gop=1:bframes=3:b-adapt=0"}},
    "refresh.mp4": {"gop": 10, "options": {"x264-params": "intra-refresh=1"}},
    "uneven.mp4": {"pts": UNEVEN, "time_base": Fraction(1, 600), "gop": 16, "b_frames": 2},
    "late.mkv": {"start": 300, "gop": 20, "b_frames": 2},
    "raw.h264": {"b_frames": 2},
    "mpeg4.avi": {"gop": 10, "b_frames": 2, "codec": "mpeg4"},
    "stream.ts": {"gop": 15, "b_frames": 2},
    "vp9.webm": {"gop": 20, "codec": "libvpx-vp9", "options": {"cpu-used": "8", "lag-in-frames": "16"}},
}


def codes(bars, frames):
    return [bars.read(frame) for frame in frames]


def content(bars, frame):
    return b"".join(plane.tobytes() for plane in bars.arrays(frame))


@pytest.fixture(scope="module", params=SOURCES)
def full(request, tmp_path_factory, bars, look):
    """A source's index and all its frames, decoded in one go: timestamp and content."""
    how = dict(SOURCES[request.param])
    drawn = look(codec=how.pop("codec", "libx264"), options=how.pop("options", {}))
    path = bars.write(tmp_path_factory.mktemp("decode") / request.param, frames=FRAMES, look=drawn, **how)
    frames = bars.decode(path)
    assert codes(bars, frames) == list(range(FRAMES))
    index = index_frames(path)
    return index, [(int(pts), content(bars, frame)) for pts, frame in zip(index.pts, frames, strict=True)]


@given(numbers=st.sets(st.integers(0, FRAMES - 1), min_size=1).map(sorted), run=st.booleans())
@example(numbers=[FRAMES - 1], run=True)
@example(numbers=[0, 10, 11, 12, FRAMES - 1], run=False)
@settings(max_examples=12)
def test_frames_equal_those_of_the_whole_video(full, bars, numbers, run):
    index, frames = full
    if run:
        numbers = range(numbers[0], numbers[-1] + 1)
    got = decode(index, numbers) if run else decode_at(index, numbers)
    assert [(frame.pts, content(bars, frame)) for frame in got] == [frames[number] for number in numbers]


@pytest.mark.parametrize("key", [0, 30])  # to decode from the beginning, and to seek
def test_frames_after_a_damaged_one_are_refused(tmp_path, bars, key):
    path = bars.write(tmp_path / "a.mp4", gop=30)
    with av.open(str(path)) as container:
        packet = [bytes(packet) for packet in container.demux(video=0)][key + 5]
    path.write_bytes(path.read_bytes().replace(packet[20:], bytes(len(packet) - 20)))
    index = index_frames(path)
    for run in (range(key, key + 5), range(30 - key, 35 - key)):
        assert codes(bars, decode(index, run)) == list(run)
    for run in (range(key + 4, key + 7), range(key + 20, key + 24)):
        with pytest.raises(VideoError, match="damaged") as caught:
            list(decode(index, run))
        assert caught.value.reason == "undecodable"


def test_index_mismatch_is_noticed(tmp_path, bars):
    index = index_frames(bars.write(tmp_path / "a.mkv", gop=20, b_frames=2))
    more = index.pts[-1] + index.pts[1] * np.arange(1, 5)
    for wrong in (index.pts + 1, np.append(index.pts, more), index.pts * 2):
        for first in (45, 10):
            with pytest.raises(IndexMismatchError):
                list(decode(replace(index, pts=wrong), range(first, min(62, len(wrong)))))


def test_mismatch_leads_to_an_index_by_decoding(tmp_path, bars):
    whole, path = bars.write(tmp_path / "a.mkv", gop=20), tmp_path / "b.mkv"
    with av.open(str(whole)) as container, av.open(str(path), "w") as output:
        copy = output.add_stream_from_template(container.streams.video[0])
        for packet in [packet for packet in container.demux() if packet.dts is not None][1:]:  # no first keyframe
            packet.stream = copy
            output.mux(packet)
    counts = []

    def work(index):
        counts.append(index.num_frames)
        return codes(bars, decode(index, range(index.num_frames)))

    def mismatch(index):
        raise IndexMismatchError

    assert with_index(path, work) == list(range(20, 60))
    assert counts == [59, 40]
    with pytest.raises(VideoError, match=r"^b\.mkv"):
        with_index(path, mismatch)


def test_frame_types_are_left_to_the_encoder(tmp_path, bars):
    raw = list(decode(index_frames(bars.write(tmp_path / "a.mkv", frames=6, b_frames=2)), range(6)))
    assert {frame.pict_type for frame in raw} >= {PictureType.I, PictureType.P}
    assert {upright(frame).pict_type for frame in raw} == {PictureType.NONE}


@given(width=st.integers(2, 70), height=st.integers(2, 70))
@settings(max_examples=30)
def test_odd_sizes_repeat_the_edge(bars, width, height):
    rng = np.random.default_rng(width * 100 + height)
    shapes = [(height, width), *[((height + 1) // 2, (width + 1) // 2)] * 2]
    planes = [rng.integers(16, 236, shape).astype(np.uint8) for shape in shapes]
    luma, *chroma = bars.arrays(upright(bars.frame(planes)))
    assert np.array_equal(luma, np.pad(planes[0], ((0, height % 2), (0, width % 2)), mode="edge"))
    assert np.array_equal(chroma, planes[1:])


RAMP = np.tile(np.arange(256, dtype=np.uint8), (16, 1))
SMOOTH = np.tile(np.arange(128, dtype=np.uint8) + 64, (8, 1))
FULL = ("yuv420p", ColorRange.JPEG), ("yuvj420p", ColorRange.JPEG), ("yuvj420p", 0)


@pytest.mark.parametrize(
    ("name", "tagged"), [*FULL, ("yuv420p", 0), ("yuv444p", 0), ("yuv422p", 0), ("yuv420p10le", 0)]
)
def test_every_format_becomes_limited_yuv420p(name, tagged, bars):
    frame, expected = av.VideoFrame(256, 16, name), [RAMP, SMOOTH, SMOOTH[:, ::-1]]
    deep = name.endswith("10le")
    for plane, values in zip(frame.planes, expected, strict=True):
        rows = np.frombuffer(memoryview(plane), np.uint16 if deep else np.uint8).reshape(plane.height, -1)
        repeated = np.kron(values, np.ones((plane.height // len(values), plane.width // values.shape[1]), np.uint8))
        rows[:, : plane.width] = repeated.astype(np.uint16) * 4 if deep else repeated
    frame.color_range = tagged
    if (name, tagged) in FULL:
        expected = [16 + RAMP * 219.0 / 255, *(128 + (plane - 128.0) * 224 / 255 for plane in expected[1:])]
    shown = upright(frame)
    assert shown.format.name == "yuv420p"
    assert (shown.color_range == ColorRange.MPEG) == ((name, tagged) in FULL)
    for plane, wanted in zip(bars.arrays(shown), expected, strict=True):
        assert np.abs(plane - wanted.astype(float)).max() <= 1


def test_converted_rgb_is_tagged_as_yuv():
    frame = av.VideoFrame.from_ndarray(np.full((16, 16, 3), (200, 40, 90), np.uint8), "rgb24")
    frame.colorspace = 0  # as PNG, GIF and lossless screen recordings are tagged
    shown = upright(frame)
    back = shown.reformat(format="rgb24", src_colorspace="ITU601").to_ndarray()
    assert np.abs(back.astype(int) - (200, 40, 90)).max() <= 3
    assert shown.colorspace != 0
