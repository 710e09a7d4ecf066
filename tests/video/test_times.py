"""Times of frames in containers that do not store all of them."""

import struct
from collections.abc import Callable, Iterable
from fractions import Fraction
from pathlib import Path

import av
import pytest
from stressreel.core.errors import VideoError
from stressreel.video.decode import decode, decode_at, with_index
from stressreel.video.edit import read_sound
from stressreel.video.index import FrameIndex, index_frames

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
    pix_fmt = "yuvj420p" if codec == "mjpeg" else "yuv420p"
    how = look(codec=codec, pix_fmt=pix_fmt, options={"x264-params": x264} if x264 else {})
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


def close(times: list[Fraction]) -> object:
    """Times to compare with those of a container that counts milliseconds."""
    return pytest.approx(list(map(float, times)), abs=0.002)


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


def packets_of(path: Path) -> list[bytes]:
    with av.open(str(path)) as container:
        return [bytes(packet) for packet in container.demux(video=0) if packet.size]


def without_times(path: Path, numbers: Iterable[int]) -> Path:
    """Remove the times of packets from a Matroska file, by moving them to before its start."""
    content = bytearray(path.read_bytes())
    packets = packets_of(path)
    for number in numbers:
        at = content.index(packets[number])
        content[at - 3 : at - 1] = struct.pack(">h", -(2**15))
    path.write_bytes(content)
    return path


@pytest.mark.parametrize("codec", ["libx264", "mpeg4"])
@pytest.mark.parametrize("b_frames", [0, 2])
@pytest.mark.parametrize("missing", [[7], [0], [FRAMES - 1], [*range(1, 20, 3), 21, 22]], ids=str)
def test_missing_times_are_filled_and_others_are_kept(tmp_path, bars, look, missing, b_frames, codec):
    times = [0, *range(2, 2 * FRAMES, 2)]
    path = written(bars, look, tmp_path / "a.mkv", times, b_frames=b_frames, codec=codec)
    complete = index_frames(path)
    index, codes = shown(bars, without_times(path, missing))
    assert codes == list(range(FRAMES))
    assert index.timed
    assert list(map(float, starts(index))) == close(starts(complete))
    assert index.num_frames == complete.num_frames


def test_only_missing_times_change_where_the_frame_rate_varies(tmp_path, bars, look):
    path = written(bars, look, tmp_path / "a.mkv", SLOWER)
    assert starts(shown(bars, without_times(path, [20]))[0]) == [
        22 * UNIT if number == 20 else time * UNIT for number, time in enumerate(SLOWER)
    ]


@pytest.mark.parametrize("suffix", ["mkv", "mp4"])
def test_presentation_times_copied_from_decode_times_are_mended(tmp_path, bars, look, suffix):
    def copy_time(packet: av.Packet) -> None:
        packet.pts = packet.dts = packet.dts + 10_000

    source = written(bars, look, tmp_path / "a.mp4", SLOWER, **H264["two"])
    index, codes = shown(bars, remuxed(source, tmp_path / f"b.{suffix}", copy_time))
    assert codes == list(range(FRAMES))
    assert list(map(float, starts(index))) == close([time * UNIT for time in SLOWER])


def test_packed_b_frames_keep_their_times(tmp_path, bars, look):
    """DivX stores a B-frame in the packet of the frame after it, followed by an empty frame."""
    plain = written(bars, look, tmp_path / "a.avi", STEADY, codec="mpeg4", b_frames=1)
    frame_start, b_frame = b"\0\0\1\xb6", 2
    frames = packets_of(plain)
    kinds = [frame[frame.index(frame_start) + 4] >> 6 for frame in frames]
    header = frames[0].index(frame_start)
    frames[0] = frames[0][:header] + b"\0\0\1\xb2DivX503b1393p" + frames[0][header:]
    packed = []
    for number, frame in enumerate(frames):
        if kinds[number] == b_frame:
            packed[-1] += frame
            packed.append(frame_start + b"\x51\0\0")
        else:
            packed.append(frame)
    assert b_frame in kinds
    with av.open(str(plain)) as container, av.open(str(tmp_path / "b.avi"), "w") as output:
        copy = output.add_stream_from_template(container.streams.video[0])
        for number, content in enumerate(packed):
            packet = av.Packet(content)
            packet.pts = packet.dts = number
            packet.time_base, packet.stream, packet.is_keyframe = UNIT, copy, number == 0
            output.mux(packet)
    index, codes = shown(bars, tmp_path / "b.avi")
    assert codes == list(range(FRAMES))
    assert starts(index) == [time * UNIT for time in STEADY]


@pytest.mark.parametrize(("codec", "suffix"), [("libx264", "ts"), ("mpeg2video", "mpg"), ("mpeg2video", "ts")])
def test_streams_that_store_few_times(tmp_path, bars, look, codec, suffix):
    source = written(bars, look, tmp_path / "a.ts", STEADY, codec=codec, b_frames=2, gop=12)
    few = {"pes_payload_size": "16000"} if suffix == "ts" else {}
    index, codes = shown(bars, remuxed(source, tmp_path / f"b.{suffix}", **few))
    assert codes == list(range(FRAMES))
    assert [time - index.seconds(0) for time in starts(index)] == [time * UNIT for time in STEADY]


def test_avi_without_index_keeps_frame_times(tmp_path, bars, look):
    path = written(bars, look, tmp_path / "a.avi", SLOWER, gop=15, **H264["pyramid"])
    content = path.read_bytes()
    path.write_bytes(content[: content.rindex(b"idx1")])
    index, codes = shown(bars, path)
    assert codes == list(range(FRAMES))
    assert starts(index) == [time * UNIT for time in SLOWER]


@pytest.mark.parametrize("more", [-10, 10])
def test_reconstructed_times_that_contradict_the_header_are_refused(tmp_path, bars, look, more):
    path = written(bars, look, tmp_path / "a.avi", STEADY, **H264["two"])
    with av.open(str(path)) as container:
        chunks, unit = container.streams.video[0].frames, container.streams.video[0].time_base
    content = bytearray(path.read_bytes())
    at = content.index(b"strh") + 8 + 32  # dwLength, in chunks
    assert struct.unpack_from("<I", content, at) == (chunks,)
    struct.pack_into("<I", content, at, chunks + round(more * UNIT / unit))
    path.write_bytes(content)
    with pytest.raises(VideoError) as caught:
        index_frames(path)
    assert caught.value.reason == "undecodable"
    assert "2.400 s" in caught.value.detail
    assert f"{float((FRAMES + more) * UNIT):.3f} s" in caught.value.detail


def test_last_times_that_cannot_be_known_are_refused(tmp_path, bars, look):
    irregular = [*range(FRAMES - 6), *range(FRAMES, FRAMES + 24, 4)]
    path = written(bars, look, tmp_path / "a.avi", irregular, **H264["pyramid"])
    with pytest.raises(VideoError, match="the times of its last 2 frames") as caught:
        index_frames(path)
    assert caught.value.reason == "undecodable"
    plain = written(bars, look, tmp_path / "b.avi", irregular)
    assert starts(index_frames(plain)) == [time * UNIT for time in irregular]


def test_sound_of_avi_stays_with_the_picture(tmp_path, bars, look, track):
    pcm = track(codec="pcm_s16le")
    path = written(bars, look, tmp_path / "a.avi", SLOWER, track=pcm, **H264["two"])
    index, _ = shown(bars, path)
    assert (index.zero, index.seconds(0)) == (0, 0)
    begin, stop = index.seconds(25), index.seconds(30)
    sound = read_sound(index, begin, stop)
    expected = bars.sound(pcm.rate, sound.samples.shape[1], round(begin * pcm.rate))
    assert abs(sound.samples[0] - expected).max() < 0.01


CONTAINERS = {
    "libx264": ("avi", "mkv", "mov", "mp4", "ts", "flv", "nut", "wmv", "m2ts"),
    "libx265": ("mkv", "mp4", "ts"),
    "mpeg4": ("avi", "mkv", "mp4", "nut", "wmv", "3gp"),
    "mjpeg": ("avi", "mov", "mkv"),
    "libvpx": ("avi", "webm", "mkv"),
    "libvpx-vp9": ("avi", "webm", "mp4"),
}


@pytest.mark.full
@pytest.mark.parametrize("times", [STEADY, SLOWER, DROPPED], ids=["steady", "slower", "dropped"])
@pytest.mark.parametrize("b_frames", [0, 2, 3])
@pytest.mark.parametrize(("codec", "suffix"), [(codec, suffix) for codec in CONTAINERS for suffix in CONTAINERS[codec]])
def test_every_container_keeps_frame_times(tmp_path, bars, look, codec, suffix, b_frames, times):
    if b_frames and codec in ("mjpeg", "libvpx", "libvpx-vp9"):
        pytest.skip(f"{codec} has no B-frames")
    options = {"x264": ALL_B} if codec == "libx264" else {}
    path = written(bars, look, tmp_path / f"a.{suffix}", times, codec=codec, b_frames=b_frames, gop=12, **options)
    index, codes = shown(bars, path)
    assert codes == list(range(FRAMES))
    expected = [time * UNIT for time in times]
    assert [float(time - index.seconds(0)) for time in starts(index)] == close(expected)
