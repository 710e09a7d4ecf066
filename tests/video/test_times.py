"""Times of frames in containers that do not store all of them."""

import struct
from collections.abc import Callable, Iterable
from fractions import Fraction
from functools import partial
from pathlib import Path

import av
import pytest
from stressreel.core.errors import VideoError
from stressreel.video.decode import decode, decode_at, with_index
from stressreel.video.index import FrameIndex, index_frames
from stressreel.video.sound import read_sound

FRAMES = 60
UNIT = Fraction(1, 25)
STEADY = list(range(FRAMES))
SLOWER = [*range(20), *range(20, 20 + 5 * (FRAMES - 20), 5)]  # 25 frames per second, then 5
DROPPED = [n for n in range(FRAMES + 3) if n not in (5, 13, 14)]
ALL_B = "b-adapt=0:scenecut=0"
H264 = {
    "none": {},
    "two": {"b_frames": 2, "x264": f"{ALL_B}:b-pyramid=none"},
    "pyramid": {"b_frames": 3, "x264": f"{ALL_B}:b-pyramid=normal"},
    "open-gop": {"b_frames": 3, "x264": f"{ALL_B}:open-gop=1"},
    "unused": {"b_frames": 2, "x264": "b-bias=-100"},  # the decoder expects B-frames that never come
}


def written(bars, look, path: Path, times: list[int], *, x264: str = "", codec: str = "libx264", **options) -> Path:
    """Write a video whose frames start at the given times, in units of `UNIT`, and whose last one lasts one unit."""
    how = look(codec=codec, options={"x264-params": x264} if x264 else {})
    return bars.write(path, frames=len(times), pts=times, last=1, time_base=UNIT, rate=1 / UNIT, look=how, **options)


def remuxed(source: Path, path: Path, change: Callable[[av.Packet], object] = lambda packet: None, **options) -> Path:
    with av.open(str(source)) as container, av.open(str(path), "w", options=options) as output:
        copies = {stream.index: output.add_stream_from_template(stream) for stream in container.streams}
        for packet in container.demux():
            if packet.size:
                change(packet)
                packet.stream = copies[packet.stream.index]
                output.mux(packet)
    return path


def shown(bars, path: Path) -> tuple[FrameIndex, list[int]]:
    """Return the index, and the numbers of all frames. Check that single frames and runs are those of the whole."""

    def read(index: FrameIndex) -> tuple[FrameIndex, list[int]]:
        codes = [bars.read(frame) for frame in decode(index, range(index.num_frames))]
        for run in (range(22, 31), range(index.num_frames - 3, index.num_frames)):
            assert [bars.read(frame) for frame in decode(index, run)] == codes[run.start : run.stop]
        some = range(3, index.num_frames, 11)
        assert [bars.read(frame) for frame in decode_at(index, some)] == [codes[number] for number in some]
        return index, codes

    return with_index(path, read)


def starts(index: FrameIndex) -> list[Fraction]:
    return [index.seconds(number) for number in range(index.num_frames)]


@pytest.mark.parametrize("times", [STEADY, SLOWER, DROPPED], ids=["steady", "slower", "dropped"])
@pytest.mark.parametrize("kind", H264)
def test_avi_with_empty_chunks_keeps_frame_times(tmp_path, bars, look, kind, times):
    index, codes = shown(bars, written(bars, look, tmp_path / "a.avi", times, gop=15, **H264[kind]))
    assert codes == list(range(FRAMES))
    assert starts(index) == [time * UNIT for time in times]
    assert index.timed
    assert len(index.keyframes) > 1


@pytest.mark.parametrize("b_frames", [0, 2])
def test_mpeg4_avi_keeps_frame_times(tmp_path, bars, look, b_frames):
    how = {"codec": "mpeg4", "b_frames": b_frames, "gop": 12}
    index, codes = shown(bars, written(bars, look, tmp_path / "a.avi", SLOWER, **how))
    assert codes == list(range(FRAMES))
    assert starts(index) == [time * UNIT for time in SLOWER]
