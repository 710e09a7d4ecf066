import struct
from collections.abc import Callable, Iterable
from fractions import Fraction
from pathlib import Path

import av
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from stressreel.core.errors import VideoError
from stressreel.video.decode import decode, decode_at, with_index
from stressreel.video.edit import read_sound
from stressreel.video.index import FrameIndex, check_opens, index_frames

NTSC = Fraction(30000, 1001)
UNEVEN = [0, 10, 15, 40, 41, 100, 161, 162, 300]


def starts(index: FrameIndex) -> list[Fraction]:
    return [index.seconds(number) for number in range(index.num_frames)]


def remuxed(
    source: Path, path: Path, change: Callable[[av.Packet], object] = lambda packet: None, kind: str = "", **options
) -> Path:
    """Copy the packets of a file, or those of one kind of stream, to another one, and change them."""
    with av.open(str(source)) as container, av.open(str(path), "w", **options) as output:
        streams = [stream for stream in container.streams if kind in ("", stream.type)]
        copies = {stream.index: output.add_stream_from_template(stream) for stream in streams}
        for packet in container.demux(*streams):
            if packet.size:
                change(packet)
                packet.stream = copies[packet.stream.index]
                output.mux(packet)
    return path


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("plain.mov", {}),
        ("b-frames.mp4", {"b_frames": 3, "gop": 20}),
        ("b-frames.ts", {"b_frames": 3, "gop": 20}),
        ("ntsc.mp4", {"rate": NTSC, "b_frames": 2}),
        ("one.mp4", {"frames": 1}),
        ("late.mp4", {"start": 300, "b_frames": 2}),
    ],
)
def test_packets_give_exact_times(tmp_path, bars, name, options):
    path = bars.write(tmp_path / name, **options)
    index = index_frames(path)
    count, rate = options.get("frames", 60), options.get("rate", Fraction(30))
    assert index.pts.tolist() == [frame.pts for frame in bars.decode(path)]
    assert [*starts(index), index.seconds(count)] == [k / rate for k in range(count + 1)]
    assert index.timed
    keys = [number for number in range(count) if index.boundary(number) in index.keyframes]
    assert keys == list(range(0, count, options.get("gop", count)))


@pytest.mark.parametrize("b_frames", [0, 2])
@pytest.mark.parametrize(("name", "unit"), [("a.mp4", 600), ("a.mkv", 1000)])
def test_variable_frame_rate(tmp_path, bars, name, unit, b_frames):
    path = bars.write(tmp_path / name, pts=UNEVEN, last=7, time_base=Fraction(1, unit), b_frames=b_frames)
    index, decoded = index_frames(path), index_frames(path, decode=True)
    assert starts(index) == [Fraction(pts, unit) for pts in UNEVEN]
    if name == "a.mkv" or not b_frames:  # MP4 stores durations in decoding order, so B-frames hide the last one's
        assert index.seconds(index.num_frames) == Fraction(307, unit)
    assert decoded.pts.tolist() == index.pts.tolist()
    assert (decoded.end, decoded.time_base, decoded.zero) == (index.end, index.time_base, index.zero)


def test_raw_streams_run_at_their_nominal_rate(tmp_path, bars, look):
    index = index_frames(bars.write(tmp_path / "a.h264", rate=NTSC, b_frames=2, gop=20))
    assert not index.timed
    assert [*starts(index), index.seconds(60)] == [k / NTSC for k in range(61)]
    index = index_frames(bars.write(tmp_path / "a.m2v", rate=NTSC, b_frames=2, look=look(codec="mpeg2video")))
    assert (index.timed, index.seconds(0)) == (False, 0)


@pytest.mark.parametrize(
    ("picture", "sound", "first"), [(0, 0, 0), (30, 0, 1), (0, 1, 0), (330, 10, 1), (300, 11, 0)], ids=str
)
def test_time_zero_is_the_earliest_start(tmp_path, bars, track, picture, sound, first):
    pcm = track(codec="pcm_s16le", start=Fraction(sound))
    index = index_frames(bars.write(tmp_path / "a.mkv", start=picture, track=pcm))
    assert index.seconds(0) == first
    assert (index.first_at(Fraction(first + 1)), index.first_at(Fraction(0))) == (30, 0)
    # The priming of AAC, before 0, is not the start.
    assert index_frames(bars.write(tmp_path / "b.mp4", track=track(), start=30)).seconds(0) == 1


@given(
    steps=st.lists(st.integers(1, 4000), min_size=1, max_size=40),
    first=st.integers(-5000, 5000),
    base=st.sampled_from([Fraction(1, 30), Fraction(1, 1000), Fraction(1001, 30000), Fraction(1, 90000)]),
    zero=st.fractions(-20, 20, max_denominator=48000),
    time=st.fractions(-30, 300),
)
def test_first_frame_at_or_after_a_time(steps, first, base, zero, time):
    pts = np.cumsum([first, *steps])
    index = FrameIndex(Path("-"), pts[:-1], int(pts[-1]), base, zero, np.empty(0, np.int64))
    for seconds in (time, *starts(index), index.seconds(index.num_frames)):
        expected = [k for k in range(index.num_frames) if int(pts[k]) * base - zero >= seconds]
        assert index.first_at(seconds) == (expected or [index.num_frames])[0]


def test_equal_timestamps_are_refused(tmp_path, bars):
    def merge(packet):
        packet.pts = packet.dts = packet.pts // 67 * 67

    path = remuxed(bars.write(tmp_path / "a.mkv", frames=10), tmp_path / "twice.mkv", merge)
    with pytest.raises(VideoError, match=r"twice\.mkv") as caught:
        index_frames(path)
    assert caught.value.reason == "undecodable"


def test_unreadable_files_are_refused(tmp_path, bars, track):
    (tmp_path / "text.mp4").write_text("no film")
    (tmp_path / "empty.mp4").touch()
    (tmp_path / "folder.mp4").mkdir()
    remuxed(
        bars.write(tmp_path / "a.mp4", frames=10, track=track()), tmp_path / "sound.mp4", kind="audio", format="ipod"
    )
    for name in ("text", "nothing", "empty", "folder", "sound"):
        for function in (check_opens, index_frames):
            with pytest.raises(VideoError, match=rf"^{name}\.mp4: \w+") as caught:
                function(tmp_path / f"{name}.mp4")
            assert caught.value.reason == "unreadable_video"
            assert "Errno" not in caught.value.detail


# Containers that do not store all times

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


def shown(bars, path: Path) -> FrameIndex:
    """Index a video, and check that all frames, runs and single frames show the right numbers."""

    def read(index: FrameIndex) -> FrameIndex:
        assert [bars.read(frame) for frame in decode(index, range(index.num_frames))] == STEADY
        for run in (range(22, 31), range(FRAMES - 3, FRAMES)):
            assert [bars.read(frame) for frame in decode(index, run)] == list(run)
        assert [bars.read(frame) for frame in decode_at(index, range(3, FRAMES, 11))] == list(range(3, FRAMES, 11))
        return index

    return with_index(path, read)


def close(times: list[Fraction]) -> object:
    """Times to compare with those of a container that counts milliseconds."""
    return pytest.approx(list(map(float, times)), abs=0.002)


AVI = {**H264, "mpeg4": {"codec": "mpeg4"}, "mpeg4 with B-frames": {"codec": "mpeg4", "b_frames": 2}}


@pytest.mark.parametrize("times", [STEADY, SLOWER, DROPPED], ids=["steady", "slower", "dropped"])
@pytest.mark.parametrize("kind", AVI)
def test_avi_with_empty_chunks_keeps_frame_times(tmp_path, bars, look, kind, times):
    index = shown(bars, written(bars, look, tmp_path / "a.avi", times, gop=15, **AVI[kind]))
    assert starts(index) == [time * UNIT for time in times]
    assert index.timed
    assert len(index.keyframes) > 1


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
def test_missing_times_are_filled(tmp_path, bars, look, missing, b_frames, codec):
    times = [0, *range(2, 2 * FRAMES, 2)]
    path = written(bars, look, tmp_path / "a.mkv", times, b_frames=b_frames, codec=codec)
    complete = index_frames(path)
    index = shown(bars, without_times(path, missing))
    assert index.timed
    assert list(map(float, starts(index))) == close(starts(complete))


def test_stored_times_are_kept_at_varying_rates(tmp_path, bars, look):
    path = written(bars, look, tmp_path / "a.mkv", SLOWER)
    assert starts(shown(bars, without_times(path, [20]))) == [
        22 * UNIT if number == 20 else time * UNIT for number, time in enumerate(SLOWER)
    ]


@pytest.mark.parametrize("suffix", ["mkv", "mp4"])
def test_decode_times_as_presentation_times_are_corrected(tmp_path, bars, look, suffix):
    def copy_time(packet: av.Packet) -> None:
        packet.pts = packet.dts = packet.dts + 10_000

    source = written(bars, look, tmp_path / "a.mp4", SLOWER, **H264["two"])
    index = shown(bars, remuxed(source, tmp_path / f"b.{suffix}", copy_time))
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
    index = shown(bars, tmp_path / "b.avi")
    assert starts(index) == [time * UNIT for time in STEADY]


@pytest.mark.parametrize(("codec", "suffix"), [("libx264", "ts"), ("mpeg2video", "mpg"), ("mpeg2video", "ts")])
def test_streams_that_store_few_times(tmp_path, bars, look, codec, suffix):
    source = written(bars, look, tmp_path / "a.ts", STEADY, codec=codec, b_frames=2, gop=12)
    few = {"pes_payload_size": "16000"} if suffix == "ts" else {}
    index = shown(bars, remuxed(source, tmp_path / f"b.{suffix}", options=few))
    assert [time - index.seconds(0) for time in starts(index)] == [time * UNIT for time in STEADY]


def test_avi_without_index_keeps_frame_times(tmp_path, bars, look):
    path = written(bars, look, tmp_path / "a.avi", SLOWER, gop=15, **H264["pyramid"])
    content = path.read_bytes()
    path.write_bytes(content[: content.rindex(b"idx1")])
    index = shown(bars, path)
    assert starts(index) == [time * UNIT for time in SLOWER]


@pytest.mark.parametrize("more", [-5, 5])
def test_contradictions_with_the_header_are_refused(tmp_path, bars, look, more):
    path = written(bars, look, tmp_path / "a.avi", STEADY, **H264["two"])
    with av.open(str(path)) as container:
        chunks, unit = container.streams.video[0].frames, container.streams.video[0].time_base
    content = bytearray(path.read_bytes())
    at = content.index(b"strh") + 8 + 32  # dwLength, in chunks
    assert struct.unpack_from("<I", content, at) == (chunks,)
    struct.pack_into("<I", content, at, chunks + round(more * UNIT / unit))
    path.write_bytes(content)
    with pytest.raises(VideoError, match=rf"2\.400 s.* {float((FRAMES + more) * UNIT):.3f} s") as caught:
        index_frames(path)
    assert caught.value.reason == "undecodable"


def test_unknown_last_times_are_refused(tmp_path, bars, look):
    irregular = [*range(FRAMES - 6), *range(FRAMES, FRAMES + 24, 4)]
    path = written(bars, look, tmp_path / "a.avi", irregular, **H264["pyramid"])
    with pytest.raises(VideoError, match="last 2 frames") as caught:
        index_frames(path)
    assert caught.value.reason == "undecodable"
    plain = written(bars, look, tmp_path / "b.avi", irregular)
    assert starts(index_frames(plain)) == [time * UNIT for time in irregular]


def test_sound_of_avi_stays_with_the_picture(tmp_path, bars, look, track):
    pcm = track(codec="pcm_s16le")
    path = written(bars, look, tmp_path / "a.avi", SLOWER, track=pcm, **H264["two"])
    index = shown(bars, path)
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
    index = shown(bars, path)
    expected = [time * UNIT for time in times]
    assert [float(time - index.seconds(0)) for time in starts(index)] == close(expected)
