from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from fractions import Fraction
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Any

import av
import numpy as np
import pytest
from av.stream import Disposition
from hypothesis import example, given, settings
from hypothesis import strategies as st
from stressreel.core.errors import VideoError
from stressreel.video.index import FrameIndex, check_opens, index_frames, open_video

if TYPE_CHECKING:
    from conftest import Bars, Look, Track

NTSC = Fraction(30000, 1001)
UNEVEN = [0, 10, 15, 40, 41, 100, 161, 162, 300]


def starts(index: FrameIndex) -> list[Fraction]:
    return [index.seconds(number) for number in range(index.num_frames + 1)]


def plain_index(pts: list[int], end: int, time_base: Fraction, zero: Fraction = Fraction(0)) -> FrameIndex:
    return FrameIndex(Path("-"), np.array(pts, np.int64), end, time_base, zero, np.empty(0, np.int64))


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("plain.mp4", {}),
        ("plain.mov", {}),
        ("b-frames.mp4", {"b_frames": 3, "gop": 20}),
        ("b-frames.ts", {"b_frames": 3, "gop": 20}),
        ("ntsc.mp4", {"rate": NTSC, "b_frames": 2}),
        ("one.mp4", {"frames": 1}),
        ("film.mp4", {"rate": Fraction(24000, 1001), "frames": 40}),
        ("late.mp4", {"start": 300, "b_frames": 2}),
    ],
)
def test_packets_tell_the_frames_and_their_exact_times(
    tmp_path: Path, bars: type[Bars], name: str, options: dict[str, Any]
) -> None:
    path = bars.write(tmp_path / name, **options)
    index = index_frames(path)
    count, rate = options.get("frames", 60), options.get("rate", Fraction(30))
    assert index.pts.tolist() == [frame.pts for frame in bars.decode(path)]
    assert starts(index) == [k / rate for k in range(count + 1)]
    assert index.timed
    assert [number for number in range(count) if index.boundary(number) in index.keyframes] == list(
        range(0, count, options.get("gop", count))
    )


@pytest.mark.parametrize("start", [0, 300])
def test_matroska_rounds_times_to_milliseconds(tmp_path: Path, bars: type[Bars], start: int) -> None:
    path = bars.write(tmp_path / "a.mkv", rate=NTSC, b_frames=3, gop=20, start=start)
    index = index_frames(path)
    assert index.pts.tolist() == [frame.pts for frame in bars.decode(path)]
    assert index.zero == round(start / NTSC, 3)
    for number, seconds in enumerate(starts(index)):
        assert abs(seconds - number / NTSC) <= Fraction(1, 1000)


@pytest.mark.parametrize("b_frames", [0, 2])
@pytest.mark.parametrize(("name", "unit"), [("a.mp4", 600), ("a.mkv", 1000)])
def test_variable_rate(tmp_path: Path, bars: type[Bars], name: str, unit: int, b_frames: int) -> None:
    path = bars.write(tmp_path / name, pts=UNEVEN, last=7, time_base=Fraction(1, unit), b_frames=b_frames)
    index = index_frames(path)
    assert index.pts.tolist() == [frame.pts for frame in bars.decode(path)]
    assert starts(index)[:-1] == [Fraction(pts, unit) for pts in UNEVEN]
    if name == "a.mkv" or not b_frames:  # MP4 stores durations in decoding order, so B-frames hide the last one's
        assert index.seconds(index.num_frames) == Fraction(307, unit)


def test_decoding_gives_the_same_index(tmp_path: Path, bars: type[Bars]) -> None:
    path = bars.write(tmp_path / "a.mp4", pts=UNEVEN, last=7, time_base=Fraction(1, 600), b_frames=2, start=600)
    packets, frames = index_frames(path), index_frames(path, decode=True)
    assert frames.pts.tolist() == packets.pts.tolist()
    assert (frames.end, frames.time_base, frames.zero) == (packets.end, packets.time_base, packets.zero)


@pytest.mark.parametrize("rate", [Fraction(24), Fraction(30), NTSC])
def test_raw_stream_has_no_timestamps_and_runs_at_the_rate_that_it_names(
    tmp_path: Path, bars: type[Bars], rate: Fraction
) -> None:
    index = index_frames(bars.write(tmp_path / "a.h264", rate=rate, b_frames=2, gop=20))
    assert not index.timed
    assert index.num_frames == 60
    assert starts(index) == [k / rate for k in range(61)]


@pytest.mark.parametrize("order", [("small", "large"), ("large", "small")], ids=" ".join)
def test_best_of_two_pictures_is_the_video(
    tmp_path: Path, bars: type[Bars], look: type[Look], order: tuple[str, str]
) -> None:
    bars.write(tmp_path / "small.mp4", frames=40, size=(64, 64), look=look(options={"crf": "45"}))
    bars.write(tmp_path / "large.mp4", frames=50, size=(128, 96))
    both = tmp_path / "both.mp4"
    with ExitStack() as stack, av.open(str(both), "w") as output:
        inputs = [stack.enter_context(av.open(str(tmp_path / f"{name}.mp4"))) for name in order]
        copies = [output.add_stream_from_template(source.streams.video[0]) for source in inputs]
        for copy in copies:
            copy.disposition = Disposition.default
        for together in zip_longest(*[source.demux() for source in inputs]):
            for packet, copy in zip(together, copies, strict=True):
                if packet and packet.dts is not None:
                    packet.stream = copy
                    output.mux(packet)
    with open_video(both) as (container, stream):
        assert [each.width for each in container.streams.video] == [{"small": 64, "large": 128}[n] for n in order]
        assert stream.width == 128
    assert index_frames(both).num_frames == 50


@pytest.mark.parametrize(
    ("picture", "sound", "first"),
    [(0, 0, 0), (30, 0, 1), (0, 1, 0), (300, 10, 0), (330, 10, 1), (300, 11, 0)],
    ids=lambda value: str(value),
)
def test_time_zero_is_the_earliest_of_picture_and_sound(
    tmp_path: Path, bars: type[Bars], track: type[Track], picture: int, sound: int, first: int
) -> None:
    path = bars.write(tmp_path / "a.mkv", start=picture, track=track(codec="pcm_s16le", start=Fraction(sound)))
    index = index_frames(path)
    assert index.seconds(0) == first
    assert index.first_at(Fraction(first + 1)) == 30
    assert index.first_at(Fraction(0)) == 0


def test_time_zero_of_mp4_ignores_the_priming_of_aac(tmp_path: Path, bars: type[Bars], track: type[Track]) -> None:
    assert index_frames(bars.write(tmp_path / "a.mp4", track=track(), start=30)).seconds(0) == 1


def test_boundaries_are_exact_and_half_open() -> None:
    index = plain_index([1001 * k for k in range(100_000)], 1001 * 100_000, Fraction(1, 30000))
    hair = Fraction(1, 10**12)
    for number in (0, 1, 29, 30, 12_345, 99_999):
        boundary = Fraction(1001 * number, 30000)
        assert [index.first_at(boundary + shift) for shift in (-hair, 0, hair)] == [number, number, number + 1]
    assert index.first_at(index.seconds(100_000)) == 100_000
    assert index.first_at(Fraction(10**9)) == 100_000
    assert index.first_at(Fraction(-5)) == 0


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
@settings(deadline=None, max_examples=300)
def test_a_stretch_of_time_holds_exactly_the_frames_that_start_in_it(
    steps: list[int],
    first: int,
    base: Fraction,
    zero: Fraction,
    times: tuple[Fraction, Fraction],
    on_boundary: bool,
    data: st.DataObject | None,
) -> None:
    pts = np.cumsum([first, *steps]).tolist()
    index = plain_index(pts[:-1], pts[-1], base, zero)
    start, end = sorted(times)
    if on_boundary and data:
        start, end = sorted(data.draw(st.tuples(*[st.sampled_from(starts(index))] * 2)))
    inside = [k for k in range(index.num_frames) if start <= pts[k] * base - zero < end]
    assert list(range(index.first_at(start), index.first_at(end))) == inside


def test_frames_with_the_same_timestamp_are_refused(tmp_path: Path, bars: type[Bars]) -> None:
    source = bars.write(tmp_path / "a.mkv", frames=10)
    twice = tmp_path / "twice.mkv"
    with av.open(str(source)) as container, av.open(str(twice), "w") as output:
        copy = output.add_stream_from_template(container.streams.video[0])
        for packet in container.demux():
            if packet.pts is not None:
                packet.pts = packet.dts = packet.pts // 67 * 67
                packet.stream = copy
                output.mux(packet)
    with pytest.raises(VideoError, match=r"twice\.mkv: its timestamps do not increase") as caught:
        index_frames(twice)
    assert caught.value.reason == "undecodable"


def text(path: Path) -> None:
    path.write_text("no film")


def nothing(path: Path) -> None:
    pass


def empty(path: Path) -> None:
    path.touch()


def folder(path: Path) -> None:
    path.mkdir()


@pytest.mark.parametrize("make", [text, nothing, empty, folder])
@pytest.mark.parametrize("look_at", [check_opens, index_frames])
def test_what_cannot_be_opened_says_so(
    tmp_path: Path, make: Callable[[Path], None], look_at: Callable[[Path], object]
) -> None:
    path = tmp_path / "gone.mp4"
    make(path)
    with pytest.raises(VideoError, match=r"^gone\.mp4: \w+") as caught:
        look_at(path)
    assert caught.value.reason == "unreadable_video"
    assert "Errno" not in caught.value.detail


def test_sound_alone_is_no_video(tmp_path: Path, bars: type[Bars], track: type[Track]) -> None:
    source = bars.write(tmp_path / "a.mp4", frames=10, track=track())
    path = tmp_path / "sound.m4a"
    with av.open(str(source)) as container, av.open(str(path), "w", format="ipod") as output:
        copy = output.add_stream_from_template(container.streams.audio[0])
        for packet in container.demux(audio=0):
            if packet.dts is not None:
                packet.stream = copy
                output.mux(packet)
    for look_at in (check_opens, index_frames):
        with pytest.raises(VideoError, match="no video stream") as caught:
            look_at(path)
        assert caught.value.reason == "unreadable_video"


def test_check_opens_accepts_a_video(tmp_path: Path, bars: type[Bars]) -> None:
    check_opens(bars.write(tmp_path / "a.mp4", frames=2))


def test_avi(tmp_path: Path, bars: type[Bars], look: type[Look]) -> None:
    index = index_frames(bars.write(tmp_path / "a.avi", look=look(codec="mpeg4"), gop=20))
    assert starts(index) == [Fraction(k, 30) for k in range(61)]
