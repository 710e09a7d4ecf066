import struct
from fractions import Fraction
from itertools import product

import av
import pytest
from stressreel.core.errors import VideoError
from stressreel.video.decode import decode, decode_at, with_index
from stressreel.video.index import check_opens, index_frames

NTSC = Fraction(30000, 1001)


def starts(index):
    return [index.seconds(number) for number in range(index.num_frames)]


def remuxed(source, path, change=lambda packet: None, kind="video", **options):
    """Copy the packets of one kind of stream to another file, and change them."""
    with av.open(str(source)) as container, av.open(str(path), "w", **options) as output:
        [stream] = getattr(container.streams, kind)
        copy = output.add_stream_from_template(stream)
        for packet in container.demux(stream):
            if packet.size:
                change(packet)
                packet.stream = copy
                output.mux(packet)
    return path


@pytest.mark.parametrize(("name", "codec"), [("a.h264", "libx264"), ("a.m2v", "mpeg2video")])
def test_raw_streams_run_at_their_nominal_rate(tmp_path, bars, look, name, codec):
    index = index_frames(bars.write(tmp_path / name, rate=NTSC, b_frames=2, gop=20, look=look(codec=codec)))
    assert not index.timed
    assert [*starts(index), index.seconds(60)] == [k / NTSC for k in range(61)]


@pytest.mark.parametrize(
    ("name", "codec", "picture", "sound", "first"),
    [
        ("a.mkv", "pcm_s16le", 0, 1, 0),
        ("a.mkv", "pcm_s16le", 330, 10, 1),
        ("a.mkv", "pcm_s16le", 300, 11, 0),
        ("a.mp4", "aac", 30, 0, 1),  # the priming of AAC, before 0, is not the start
    ],
)
def test_time_zero_is_the_earliest_start(tmp_path, bars, track, name, codec, picture, sound, first):
    heard = track(codec=codec, start=Fraction(sound))
    index = index_frames(bars.write(tmp_path / name, start=picture, track=heard))
    assert (index.seconds(0), index.first_at(Fraction(first + 1))) == (first, 30)


def refused(path, match="", function=index_frames):
    with pytest.raises(VideoError, match=rf"^{path.name}: .*{match}") as caught:
        function(path)
    return caught.value.reason


def test_unreadable_files_are_refused(tmp_path, bars, track):
    (tmp_path / "text.mp4").write_text("no film")
    (tmp_path / "empty.mp4").touch()
    (tmp_path / "folder.mp4").mkdir()
    source = bars.write(tmp_path / "a.mp4", frames=10, track=track())
    remuxed(source, tmp_path / "sound.mp4", kind="audio", format="ipod")
    names = ("text", "nothing", "empty", "folder", "sound")
    for name, function in product(names, (check_opens, index_frames)):
        assert refused(tmp_path / f"{name}.mp4", function=function) == "unreadable_video"


# Containers that do not store all times

FRAMES = 60
UNIT = Fraction(1, 25)
STEADY = list(range(FRAMES))
SLOWER = [*range(20), *range(20, 20 + 5 * (FRAMES - 20), 5)]  # 25 frames per second, then 5
DROPPED = [n for n in range(FRAMES + 3) if n not in (5, 13, 14)]
TWO = {"b_frames": 2, "x264": "b-adapt=0:scenecut=0:b-pyramid=none"}
PYRAMID = {"b_frames": 3, "x264": "b-adapt=0:scenecut=0:b-pyramid=normal"}


@pytest.fixture
def store(tmp_path, bars, look):
    """Writes a video whose frames start at the given times, in units of `UNIT`, and whose last one lasts one unit."""

    def write(name, times, *, x264="", codec="libx264", **options):
        pix_fmt = "yuvj420p" if codec == "mjpeg" else "yuv420p"
        how = look(codec=codec, pix_fmt=pix_fmt, options={"x264-params": x264} if x264 else {})
        timing = {"frames": len(times), "pts": times, "last": 1, "time_base": UNIT, "rate": 1 / UNIT}
        return bars.write(tmp_path / name, look=how, **timing, **options)

    return write


@pytest.fixture
def check(bars):
    """Checks that all frames, runs and single frames of a video show the right numbers at the right times."""

    def read(index):
        assert [bars.read(frame) for frame in decode(index, range(index.num_frames))] == STEADY
        for run in (range(22, 31), range(FRAMES - 3, FRAMES)):
            assert [bars.read(frame) for frame in decode(index, run)] == list(run)
        assert [bars.read(frame) for frame in decode_at(index, range(3, FRAMES, 11))] == list(range(3, FRAMES, 11))
        return index

    def shown(path, times):
        index = with_index(path, read)
        found = [float(time - index.seconds(0)) for time in starts(index)]
        assert found == pytest.approx([float(time * UNIT) for time in times], abs=1e-9)
        assert index.timed
        return index

    return shown


STORED = [
    *((suffix, TWO) for suffix in ("mkv", "mov", "flv", "nut", "wmv", "m2ts")),
    *((suffix, options) for suffix in ("avi", "mp4", "ts") for options in ({}, TWO, PYRAMID)),
    ("avi", {"b_frames": 3, "x264": "b-adapt=0:scenecut=0:open-gop=1"}),
    ("avi", {"b_frames": 2, "x264": "b-bias=-100"}),  # the decoder expects B-frames that never come
    *((suffix, {"codec": "libx265", "b_frames": 3}) for suffix in ("mkv", "mp4")),
    *((suffix, {"codec": "mpeg4", "b_frames": 2}) for suffix in ("avi", "mkv", "wmv", "3gp")),
    *((suffix, {"codec": codec}) for suffix, codec in (("avi", "mjpeg"), ("avi", "libvpx"), ("webm", "libvpx-vp9"))),
]


@pytest.mark.parametrize("times", [SLOWER, DROPPED], ids=["slower", "dropped"])
@pytest.mark.parametrize(("suffix", "options"), STORED)
def test_every_container_keeps_frame_times(store, check, suffix, options, times):
    """AVI stores empty chunks for frames that are left out, and no times of presentation."""
    path = store(f"a.{suffix}", times, gop=15, **options)
    index = check(path, times)
    assert suffix != "avi" or index.seconds(0) == 0
    if suffix in ("mp4", "mkv") and "codec" not in options:
        assert index.pts.tolist() == index_frames(path, decode=True).pts.tolist()
        assert [number for number in range(FRAMES) if index.boundary(number) in index.keyframes] == [0, 15, 30, 45]


def packets_of(path):
    with av.open(str(path)) as container:
        return [bytes(packet) for packet in container.demux(video=0) if packet.size]


@pytest.mark.parametrize(
    ("missing", "times", "options"),
    [
        ([7], STEADY, TWO),
        ([0], STEADY, {}),
        ([FRAMES - 1], STEADY, TWO),
        ([*range(1, 20, 3), 21, 22], STEADY, {"b_frames": 2, "codec": "mpeg4"}),
        ([21], SLOWER, {}),
    ],
    ids=str,
)
def test_missing_times_are_filled(store, check, missing, times, options):
    path = store("a.mkv", times, **options)
    content = bytearray(path.read_bytes())
    for number in missing:  # before the start, which Matroska allows and FFmpeg takes for no time
        at = content.index(packets_of(path)[number])
        content[at - 3 : at - 1] = struct.pack(">h", -(2**15))
    path.write_bytes(content)
    check(path, times)


@pytest.mark.parametrize("suffix", ["mkv", "mp4"])
def test_decode_times_as_presentation_times_are_corrected(tmp_path, store, check, suffix):
    def copy_time(packet):
        packet.pts = packet.dts = packet.dts + 10_000

    check(remuxed(store("a.mp4", SLOWER, **TWO), tmp_path / f"b.{suffix}", copy_time), SLOWER)


def test_packed_b_frames_keep_their_times(tmp_path, store, check):
    """DivX stores a B-frame in the packet of the frame after it, followed by an empty frame."""
    start, b_frame = b"\0\0\1\xb6", 2
    packed = []
    for frame in packets_of(plain := store("a.avi", STEADY, codec="mpeg4", b_frames=1)):
        if frame[frame.index(start) + 4] >> 6 == b_frame:
            packed[-1] += frame
            packed.append(start + b"\x51\0\0")
        else:
            packed.append(frame)
    assert packed != packets_of(plain)
    packed[0] = packed[0].replace(start, b"\0\0\1\xb2DivX503b1393p" + start, 1)
    with av.open(str(plain)) as container, av.open(str(tmp_path / "b.avi"), "w") as output:
        copy = output.add_stream_from_template(container.streams.video[0])
        for number, content in enumerate(packed):
            packet = av.Packet(content)
            packet.pts = packet.dts = number
            packet.time_base, packet.stream, packet.is_keyframe = UNIT, copy, number == 0
            output.mux(packet)
    check(tmp_path / "b.avi", STEADY)


@pytest.mark.parametrize(("codec", "suffix"), [("libx264", "ts"), ("mpeg2video", "mpg"), ("mpeg2video", "ts")])
def test_streams_that_store_few_times(tmp_path, store, check, codec, suffix):
    source = store("a.ts", STEADY, codec=codec, b_frames=2, gop=12)
    few = {"pes_payload_size": "16000"} if suffix == "ts" else {}
    check(remuxed(source, tmp_path / f"b.{suffix}", options=few), STEADY)


def test_avi_without_index_keeps_frame_times(store, check):
    path = store("a.avi", SLOWER, gop=15, **PYRAMID)
    content = path.read_bytes()
    path.write_bytes(content[: content.rindex(b"idx1")])
    check(path, SLOWER)


def test_contradictory_or_unknown_times_are_refused(tmp_path, store, bars):
    for more in (-5, 5):
        path = store("a.avi", STEADY, **TWO)
        with av.open(str(path)) as container:
            chunks, unit = container.streams.video[0].frames, container.streams.video[0].time_base
        content = bytearray(path.read_bytes())
        struct.pack_into("<I", content, content.index(b"strh") + 40, chunks + round(more * UNIT / unit))  # dwLength
        path.write_bytes(content)
        assert refused(path, rf"2\.400 s.* {float((FRAMES + more) * UNIT):.3f} s") == "undecodable"
    irregular = [*range(FRAMES - 6), *range(FRAMES, FRAMES + 24, 4)]
    assert refused(store("b.avi", irregular, **PYRAMID), "last 2 frames") == "undecodable"
    assert starts(index_frames(store("c.avi", irregular))) == [time * UNIT for time in irregular]

    def merge(packet):
        packet.pts = packet.dts = packet.pts // 67 * 67

    twice = remuxed(bars.write(tmp_path / "a.mkv", frames=10), tmp_path / "twice.mkv", merge)
    assert refused(twice) == "undecodable"
