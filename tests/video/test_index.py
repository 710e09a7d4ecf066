from fractions import Fraction
from pathlib import Path

import av
import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from stressreel.core.errors import VideoError
from stressreel.video.index import FrameIndex, check_opens, index_frames

NTSC = Fraction(30000, 1001)
UNEVEN = [0, 10, 15, 40, 41, 100, 161, 162, 300]


def starts(index):
    return [index.seconds(number) for number in range(index.num_frames + 1)]


def plain_index(pts, end, time_base, zero=Fraction(0)):
    return FrameIndex(Path("-"), np.array(pts, np.int64), end, time_base, zero, np.empty(0, np.int64))


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
def test_packets_tell_the_frames_and_their_exact_times(tmp_path, bars, name, options):
    path = bars.write(tmp_path / name, **options)
    index = index_frames(path)
    count, rate = options.get("frames", 60), options.get("rate", Fraction(30))
    assert index.pts.tolist() == [frame.pts for frame in bars.decode(path)]
    assert starts(index) == [k / rate for k in range(count + 1)]
    assert index.timed
    keys = [number for number in range(count) if index.boundary(number) in index.keyframes]
    assert keys == list(range(0, count, options.get("gop", count)))


@pytest.mark.parametrize("b_frames", [0, 2])
@pytest.mark.parametrize(("name", "unit"), [("a.mp4", 600), ("a.mkv", 1000)])
def test_variable_rate(tmp_path, bars, name, unit, b_frames):
    path = bars.write(tmp_path / name, pts=UNEVEN, last=7, time_base=Fraction(1, unit), b_frames=b_frames)
    index, decoded = index_frames(path), index_frames(path, decode=True)
    assert starts(index)[:-1] == [Fraction(pts, unit) for pts in UNEVEN]
    if name == "a.mkv" or not b_frames:  # MP4 stores durations in decoding order, so B-frames hide the last one's
        assert index.seconds(index.num_frames) == Fraction(307, unit)
    assert decoded.pts.tolist() == index.pts.tolist()
    assert (decoded.end, decoded.time_base, decoded.zero) == (index.end, index.time_base, index.zero)


def test_raw_stream_has_no_timestamps_and_runs_at_the_rate_that_it_names(tmp_path, bars):
    index = index_frames(bars.write(tmp_path / "a.h264", rate=NTSC, b_frames=2, gop=20))
    assert not index.timed
    assert starts(index) == [k / NTSC for k in range(61)]


def test_raw_stream_starts_at_zero_though_its_decoder_reorders_frames(tmp_path, bars, look):
    index = index_frames(bars.write(tmp_path / "a.m2v", rate=NTSC, b_frames=2, look=look(codec="mpeg2video")))
    assert not index.timed
    assert float(index.seconds(0)) == 0


@pytest.mark.parametrize(
    ("picture", "sound", "first"), [(0, 0, 0), (30, 0, 1), (0, 1, 0), (330, 10, 1), (300, 11, 0)], ids=str
)
def test_time_zero_is_the_earliest_of_picture_and_sound(tmp_path, bars, track, picture, sound, first):
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
    times=st.tuples(st.fractions(-30, 300), st.fractions(-30, 300)),
    on_boundary=st.booleans(),
    data=st.data(),
)
@example([1], 0, Fraction(1, 30), Fraction(0), (Fraction(0), Fraction(1, 30)), False, None)
@settings(max_examples=60)
def test_a_stretch_of_time_holds_the_frames_that_start_in_it(steps, first, base, zero, times, on_boundary, data):
    pts = np.cumsum([first, *steps]).tolist()
    index = plain_index(pts[:-1], pts[-1], base, zero)
    start, end = sorted(data.draw(st.tuples(*[st.sampled_from(starts(index))] * 2)) if on_boundary else times)
    inside = [k for k in range(index.num_frames) if start <= pts[k] * base - zero < end]
    assert list(range(index.first_at(start), index.first_at(end))) == inside


def copied(source, path, kind, change=lambda packet: None, **options):
    with av.open(str(source)) as container, av.open(str(path), "w", **options) as output:
        stream = next(stream for stream in container.streams if stream.type == kind)
        copy = output.add_stream_from_template(stream)
        for packet in container.demux(stream):
            if packet.dts is not None:
                change(packet)
                packet.stream = copy
                output.mux(packet)
    return path


def test_frames_with_the_same_timestamp_are_refused(tmp_path, bars):
    def together(packet):
        packet.pts = packet.dts = packet.pts // 67 * 67

    twice = copied(bars.write(tmp_path / "a.mkv", frames=10), tmp_path / "twice.mkv", "video", together)
    with pytest.raises(VideoError, match=r"twice\.mkv: its timestamps do not increase") as caught:
        index_frames(twice)
    assert caught.value.reason == "undecodable"


def test_what_cannot_be_opened_says_so(tmp_path, bars, track):
    (tmp_path / "text.mp4").write_text("no film")
    (tmp_path / "empty.mp4").touch()
    (tmp_path / "folder.mp4").mkdir()
    copied(bars.write(tmp_path / "a.mp4", frames=10, track=track()), tmp_path / "sound.mp4", "audio", format="ipod")
    for name in ("text", "nothing", "empty", "folder", "sound"):
        for look_at in (check_opens, index_frames):
            with pytest.raises(VideoError, match=rf"^{name}\.mp4: \w+") as caught:
                look_at(tmp_path / f"{name}.mp4")
            assert caught.value.reason == "unreadable_video"
            assert "Errno" not in caught.value.detail
    assert "no decodable video stream" in caught.value.detail
