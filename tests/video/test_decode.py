from dataclasses import replace
from fractions import Fraction
from functools import partial

import av
import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from stressreel.core.errors import VideoError
from stressreel.video.decode import decode, decode_at, with_index
from stressreel.video.index import IndexMismatchError, index_frames

FRAMES = 48
UNEVEN = np.cumsum(np.random.default_rng(1).integers(1, 90, FRAMES)).tolist()
SOURCES = {
    "long.mkv": {"b_frames": 2},
    "open-gop.mkv": {"gop": 12, "x264": "open-gop=1:bframes=3:b-adapt=0"},
    "refresh.mp4": {"gop": 10, "x264": "intra-refresh=1"},
    "uneven.mp4": {"pts": UNEVEN, "time_base": Fraction(1, 600), "gop": 16, "b_frames": 2},
    "late.mkv": {"start": 300, "gop": 20, "b_frames": 2},
    "raw.h264": {"b_frames": 2},
    "mpeg4.avi": {"gop": 10, "b_frames": 2, "codec": "mpeg4"},
    "stream.ts": {"gop": 15, "b_frames": 2},
    "vp9.webm": {"gop": 20, "codec": "libvpx-vp9", "options": {"cpu-used": "8", "lag-in-frames": "16"}},
}


def codes(bars, frames):
    return [bars.read(frame) for frame in frames]


@pytest.fixture(scope="module", params=SOURCES)
def full(request, tmp_path_factory, bars, look):
    """A source's index and all its frames, decoded in one go: timestamp and content."""
    given = dict(SOURCES[request.param])
    options = given.pop("options", {}) | ({"x264-params": given.pop("x264")} if "x264" in given else {})
    how = look(codec=given.pop("codec", "libx264"), options=options)
    path = bars.write(tmp_path_factory.mktemp("decode") / request.param, frames=FRAMES, look=how, **given)
    frames = bars.decode(path)
    assert codes(bars, frames) == list(range(FRAMES))
    index = index_frames(path)
    return index, [(int(pts), content(bars, frame)) for pts, frame in zip(index.pts, frames, strict=True)]


def content(bars, frame):
    return b"".join(plane.tobytes() for plane in bars.arrays(frame))


@given(numbers=st.sets(st.integers(0, FRAMES - 1), min_size=1).map(sorted), run=st.booleans())
@example(numbers=[*range(FRAMES)], run=False)
@example(numbers=[FRAMES - 1], run=True)
@example(numbers=[0, 10, 11, 12, FRAMES - 1], run=False)
@example(numbers=[11, 12], run=True)
@settings(max_examples=12)
def test_frames_are_bit_for_bit_those_of_the_whole(full, bars, numbers, run):
    index, frames = full
    if run:
        numbers = range(numbers[0], numbers[-1] + 1)
    got = decode(index, numbers) if run else decode_at(index, numbers)
    assert [(frame.pts, content(bars, frame)) for frame in got] == [frames[number] for number in numbers]


@pytest.mark.parametrize("name", ["a.mp4", "a.mkv"])
def test_frames_that_build_on_a_damaged_one_are_damaged(tmp_path, bars, name):
    path = bars.write(tmp_path / name, gop=30)
    with av.open(str(path)) as container:
        packet = [bytes(packet) for packet in container.demux(video=0)][5]
    data = bytearray(path.read_bytes())
    middle = data.index(packet) + len(packet) // 2
    data[middle : middle + 20] = bytes(20)
    path.write_bytes(data)
    index = index_frames(path)
    assert codes(bars, decode(index, range(0, 5))) == list(range(5))
    assert codes(bars, decode(index, range(30, 60))) == list(range(30, 60))
    for run in (range(4, 7), range(6, 10), range(20, 40)):
        with pytest.raises(VideoError, match="damaged") as caught:
            list(decode(index, run))
        assert caught.value.reason == "undecodable"


def test_an_index_that_does_not_fit_is_noticed(tmp_path, bars):
    index = index_frames(bars.write(tmp_path / "a.mkv", gop=20, b_frames=2))
    more = index.pts[-1] + index.pts[1] * np.arange(1, 5)
    for wrong in (index.pts + 1, np.append(index.pts, more), index.pts * 2):
        for first in (45, 10):
            with pytest.raises(IndexMismatchError):
                list(decode(replace(index, pts=wrong), range(first, min(62, len(wrong)))))


def test_packets_that_show_nothing_are_found_by_decoding(tmp_path, bars):
    whole, path = bars.write(tmp_path / "a.mkv", gop=20), tmp_path / "b.mkv"
    with av.open(str(whole)) as container, av.open(str(path), "w") as output:
        copy = output.add_stream_from_template(container.streams.video[0])
        for number, packet in enumerate(container.demux()):
            if number and packet.dts is not None:  # without the first keyframe
                packet.stream = copy
                output.mux(packet)
    seen = []

    def work(index):
        seen.append(index.num_frames)
        return codes(bars, decode(index, range(index.num_frames)))

    assert with_index(path, work) == list(range(20, 60))
    assert seen == [59, 40]

    def mismatch(index):
        raise IndexMismatchError

    with pytest.raises(VideoError, match=r"^b\.mkv: decoding it twice") as caught:
        with_index(path, mismatch)
    assert caught.value.reason == "undecodable"


def test_made_up_timestamps_never_give_wrong_frames(tmp_path, bars):
    """AVI has no presentation times; for H.264's B-frames FFmpeg makes up some that do not increase."""
    path = bars.write(tmp_path / "a.avi", gop=20, b_frames=2)
    pts = [frame.pts or 0 for frame in bars.decode(path)]
    assert pts != sorted(pts)
    for run in [range(60), *(range(first, first + 3) for first in range(0, 57, 4))]:
        for way in (decode, decode_at):
            work = partial(lambda way, run, index: codes(bars, way(index, run)), way, run)
            assert with_index(path, work) == list(run)
