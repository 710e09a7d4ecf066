from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import av
import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from stressreel.core.errors import VideoError
from stressreel.video.edit import EditList, write_edits
from stressreel.video.encode import EncodeSettings, Sound
from stressreel.video.index import FrameIndex, index_frames
from stressreel.video.sound import read_sound, splice

if TYPE_CHECKING:
    from conftest import Bars, Track

    Wave = NDArray[np.floating[Any]]

FAST = EncodeSettings(crf=20, preset="ultrafast")
PCM = "pcm_s16le"
A, FILLER, B = range(30, 75), range(75, 120), range(120, 201)
EDITS: list[EditList] = [(A, FILLER, B), (B, FILLER, A)]


@dataclass(frozen=True)
class Heard:
    """What a decoder gives of a file's sound, and what its header says."""

    samples: NDArray[np.float32]
    rate: int
    layout: str
    start: int
    duration: Fraction


def hear(path: Path) -> Heard:
    with av.open(str(path)) as container:
        stream = container.streams.audio[0]
        frames = list(container.decode(stream))
        assert stream.duration is not None
        assert stream.time_base is not None
        return Heard(
            np.concatenate([frame.to_ndarray() for frame in frames], axis=1),
            stream.rate,
            stream.layout.name,
            frames[0].pts or 0,
            stream.duration * stream.time_base,
        )


def lag(heard: Wave, expected: Wave) -> int:
    """How many samples later than expected something is heard."""
    size = len(heard) + len(expected)
    match = np.fft.irfft(np.fft.rfft(heard, size) * np.conj(np.fft.rfft(expected, size)), size)
    best = int(np.argmax(match))
    return best - size if best > size // 2 else best


def likeness(heard: Wave, expected: Wave) -> float:
    return float(np.corrcoef(heard, expected)[0, 1])


def in_order(index: FrameIndex, edit: EditList, rate: int) -> list[tuple[int, int, int]]:
    """Where each piece's sound begins in the file, its length, and where it begins in the source, in samples."""
    pieces, position = [], Fraction(0)
    for piece in edit:
        start, length = index.seconds(piece.start), index.seconds(piece.stop) - index.seconds(piece.start)
        pieces.append((round(position * rate), round(length * rate), round((start + index.zero) * rate)))
        position += length
    return pieces


def write(index: FrameIndex, folder: Path, edits: list[EditList] = EDITS) -> list[Path]:
    paths = [folder / f"{number} out.mp4" for number in range(len(edits))]
    write_edits(index, edits, paths, FAST, keep_sound=True)
    return paths


@pytest.mark.parametrize(
    ("name", "track_options", "options"),
    [
        ("a.mp4", {}, {}),
        ("a.mov", {"codec": PCM}, {"b_frames": 2}),
        ("a.mkv", {}, {"b_frames": 3, "gop": 30}),
        ("stereo.mp4", {"layout": "stereo", "rate": 44100}, {}),
        ("low.mp4", {"rate": 11025}, {"rate": Fraction(30000, 1001)}),
        ("lowest.mp4", {"rate": 8000}, {}),
        ("high.mkv", {"rate": 96000, "codec": PCM}, {}),
        ("odd.mov", {"rate": 16001, "codec": PCM}, {}),
        ("studio.mkv", {"rate": 192000, "codec": PCM, "layout": "stereo"}, {}),
        ("late.mkv", {"codec": PCM, "start": Fraction(5)}, {"start": 150}),
        ("picture-later.mkv", {"codec": PCM}, {"start": 15}),
    ],
)
def test_sound_lies_where_its_frames_lie(
    tmp_path: Path,
    bars: type[Bars],
    track: type[Track],
    name: str,
    track_options: dict[str, Any],
    options: dict[str, Any],
) -> None:
    path = bars.write(tmp_path / name, frames=210, track=track(**track_options), **options)
    index = index_frames(path)
    heard = [hear(output) for output in write(index, tmp_path)]
    given_rate = track_options.get("rate", 48000)
    length = index.seconds(B.stop) - index.seconds(A.start)
    for sound, edit in zip(heard, EDITS, strict=True):
        assert (sound.rate, sound.layout) == (
            given_rate if given_rate not in (16001, 192000) else 48000,
            track_options.get("layout", "mono"),
        )
        assert sound.start == 0
        # The priming of AAC is taken away by whoever reads the edit list; the last frame is filled up.
        assert 0 <= sound.samples.shape[1] - round(length * sound.rate) < 1024
        for at, count, source in in_order(index, edit, sound.rate):
            for channel in range(len(sound.samples)):
                piece = sound.samples[channel, at : at + count]
                expected = bars.sound(sound.rate, count, source, channel)
                assert abs(lag(piece, expected)) <= 1
                assert likeness(piece, expected) > 0.98
                # Right after and right before the cut, too, it is this piece's sound and not its neighbour's.
                edge = sound.rate // 40
                assert likeness(piece[:edge], expected[:edge]) > 0.8
                assert likeness(piece[-edge:], expected[-edge:]) > 0.8
    assert heard[0].duration == heard[1].duration
    assert abs(heard[0].duration - length) <= Fraction(1, 1000)


@pytest.mark.parametrize("rate", [48000, 16001])
def test_gaps_are_silent_and_what_follows_them_is_in_step(
    tmp_path: Path, bars: type[Bars], track: type[Track], rate: int
) -> None:
    gap = (Fraction(3), Fraction(4))
    path = bars.write(tmp_path / "a.mkv", frames=210, track=track(codec=PCM, gap=gap, rate=rate))
    index = index_frames(path)
    sound = read_sound(index, index.seconds(30), index.seconds(200))
    assert sound is not None
    moments = [round((moment - 1) * sound.rate) for moment in gap]
    expected = bars.sound(sound.rate, sound.samples.shape[1], sound.rate)
    slack = sound.rate // 500
    assert np.abs(sound.samples[0, moments[0] + slack : moments[1] - slack]).max() < 1e-3
    for part in (slice(0, moments[0] - slack), slice(moments[1] + slack, None)):
        assert abs(lag(sound.samples[0, part], expected[part])) <= 1
        assert likeness(sound.samples[0, part], expected[part]) > 0.98


def test_converted_sound_is_complete(tmp_path: Path, bars: type[Bars], track: type[Track]) -> None:
    index = index_frames(bars.write(tmp_path / "a.mov", track=track(rate=16001, codec=PCM)))
    sound = read_sound(index, Fraction(0), Fraction(2))
    assert sound is not None
    for part in (slice(0, 60), slice(-60, None), slice(None)):
        assert likeness(sound.samples[0, part], bars.sound(48000, 96_000)[part]) > 0.95


def test_gaps_survive_the_swap(tmp_path: Path, bars: type[Bars], track: type[Track]) -> None:
    gap = (Fraction(5, 2), Fraction(4))  # the filler
    path = bars.write(tmp_path / "a.mkv", frames=210, track=track(codec=PCM, gap=gap))
    index = index_frames(path)
    for output, edit in zip(write(index, tmp_path), EDITS, strict=True):
        heard = hear(output).samples[0]
        for piece, (at, count, source) in zip(edit, in_order(index, edit, 48000), strict=True):
            inner = heard[at + 2048 : at + count - 2048]
            if piece == FILLER:
                assert np.abs(inner).max() < 0.01
            else:
                assert likeness(inner, bars.sound(48000, count, source)[2048:-2048]) > 0.98


def test_sound_that_starts_later_or_ends_earlier_is_filled_up(
    tmp_path: Path, bars: type[Bars], track: type[Track]
) -> None:
    late = track(codec=PCM, start=Fraction(2), stop=Fraction(6))
    index = index_frames(bars.write(tmp_path / "a.mkv", frames=210, track=late))
    sound = read_sound(index, Fraction(1), Fraction(13, 2))
    assert sound is not None
    [samples] = sound.samples
    assert len(samples) == 264_000
    assert not samples[:48_000].any()
    assert np.allclose(samples[48_000:240_000], bars.sound(48000, 192_000, 96_000), atol=1e-4)
    assert not samples[240_000:].any()
    files = [hear(output) for output in write(index, tmp_path)]
    assert files[0].duration == files[1].duration == Fraction(57, 10)


def test_a_stretch_without_any_sound_is_silent(tmp_path: Path, bars: type[Bars], track: type[Track]) -> None:
    path = bars.write(tmp_path / "a.mkv", track=track(codec=PCM, start=Fraction(1), stop=Fraction(3, 2)))
    index = index_frames(path)
    for start, stop in ((Fraction(0), Fraction(1)), (Fraction(3, 2), Fraction(2)), (Fraction(5), Fraction(6))):
        sound = read_sound(index, start, stop)
        assert sound is not None
        assert sound.samples.shape == (1, round((stop - start) * 48000))
        assert not sound.samples.any()


@pytest.fixture(scope="module")
def exact(tmp_path_factory: pytest.TempPathFactory, bars: type[Bars], track: type[Track]) -> FrameIndex:
    """Two seconds of uncompressed stereo at 8 kHz that start 1/4 s before the picture."""
    path = tmp_path_factory.mktemp("sound") / "a.mov"
    sound = track(rate=8000, layout="stereo", codec=PCM, stop=Fraction(2))
    return index_frames(bars.write(path, rate=Fraction(20), frames=40, start=5, track=sound))


@given(
    start=st.fractions(0, 3, max_denominator=90000), length=st.fractions(Fraction(1, 8000), 3, max_denominator=90000)
)
@example(start=Fraction(0), length=Fraction(2))
@example(start=Fraction(1, 4), length=Fraction(1, 8000))
@settings(deadline=None, max_examples=60)
def test_uncompressed_sound_is_cut_to_the_sample(
    bars: type[Bars], exact: FrameIndex, start: Fraction, length: Fraction
) -> None:
    sound = read_sound(exact, start, start + length)
    assert sound is not None
    assert sound.rate == 8000
    assert sound.samples.shape == (2, round(length * 8000))
    assert sound.samples.dtype == np.float32
    whole = np.zeros((2, 60_000))
    whole[:, :16_000] = [bars.sound(8000, 16_000, channel=channel) for channel in range(2)]
    nearest = {math.floor(start * 8000), math.ceil(start * 8000)}
    assert any(
        np.allclose(sound.samples, whole[:, first : first + sound.samples.shape[1]], atol=1e-4) for first in nearest
    )


def test_picture_that_starts_later_than_the_sound(bars: type[Bars], exact: FrameIndex) -> None:
    assert exact.seconds(0) == Fraction(1, 4)
    sound = read_sound(exact, exact.seconds(10), exact.seconds(20))
    assert sound is not None
    assert np.allclose(sound.samples[0], bars.sound(8000, 4000, 6000), atol=1e-4)


def test_surround_becomes_stereo(tmp_path: Path, bars: type[Bars], track: type[Track]) -> None:
    path = bars.write(tmp_path / "a.mkv", track=track(layout="5.1", codec=PCM))
    sound = read_sound(index_frames(path), Fraction(0), Fraction(2))
    assert sound is not None
    assert sound.samples.shape == (2, 96_000)
    left, right, centre, _, back_left, back_right = (bars.sound(48000, 96_000, channel=k) for k in range(6))
    for heard, front, back in ((sound.samples[0], left, back_left), (sound.samples[1], right, back_right)):
        assert likeness(heard, front + math.sqrt(0.5) * (centre + back)) > 0.999
        assert 0.05 < np.abs(heard).max() <= 1


@pytest.mark.parametrize(("layout", "channels"), [("mono", 1), ("stereo", 2), ("2.1", 2), ("quad", 2)])
def test_channels(tmp_path: Path, bars: type[Bars], track: type[Track], layout: str, channels: int) -> None:
    path = bars.write(tmp_path / "a.mkv", frames=15, track=track(layout=layout, codec=PCM))
    sound = read_sound(index_frames(path), Fraction(0), Fraction(1, 2))
    assert sound is not None
    assert sound.samples.shape == (channels, 24_000)


def test_a_video_without_sound_stays_without(tmp_path: Path, bars: type[Bars]) -> None:
    index = index_frames(bars.write(tmp_path / "a.mp4", frames=210))
    assert read_sound(index, Fraction(0), Fraction(1)) is None
    for output in write(index, tmp_path):
        with av.open(str(output)) as container:
            assert not container.streams.audio
            assert container.streams.video[0].frames == 171


def test_sound_is_dropped_unless_asked_for(tmp_path: Path, bars: type[Bars], track: type[Track]) -> None:
    index = index_frames(bars.write(tmp_path / "a.mp4", track=track()))
    write_edits(index, [(range(0, 9),)], [tmp_path / "o.mp4"], FAST)
    with av.open(str(tmp_path / "o.mp4")) as container:
        assert [stream.type for stream in container.streams] == ["video"]


def test_sound_that_cannot_be_decoded_is_an_error(tmp_path: Path, bars: type[Bars], track: type[Track]) -> None:
    path = bars.write(tmp_path / "a.mp4", track=track())
    with av.open(str(path)) as container:
        packets = [bytes(packet) for packet in container.demux(audio=0) if packet.size]
    data = path.read_bytes()
    for packet in packets[20:30]:
        assert data.count(packet) == 1
        data = data.replace(packet, b"\xff" * len(packet))
    path.write_bytes(data)
    with pytest.raises(VideoError, match=r"^a\.mp4, sound: \w+") as caught:
        read_sound(index_frames(path), Fraction(0), Fraction(2))
    assert caught.value.reason == "undecodable"


@given(
    cuts=st.lists(st.integers(0, 90), min_size=2, max_size=6, unique=True).map(sorted),
    order=st.randoms(use_true_random=False),
    rate=st.sampled_from([8000, 11025, 44100, 48000]),
    steps=st.sampled_from(["constant", "uneven"]),
)
@settings(deadline=None, max_examples=100)
def test_splice_loses_and_doubles_nothing(cuts: list[int], order: Any, rate: int, steps: str) -> None:
    pts = 1001 * np.arange(91) if steps == "constant" else np.cumsum(np.random.default_rng(3).integers(1, 3000, 91))
    time_base = Fraction(1, 30000)
    index = FrameIndex(
        Path("-"), pts[:-1].astype(np.int64), int(pts[-1]), time_base, Fraction(0), np.empty(0, np.int64)
    )
    pieces: list[range] = [range(a, b) for a, b in pairwise(cuts)]
    order.shuffle(pieces)
    first, last = index.seconds(cuts[0]), index.seconds(cuts[-1])
    samples = np.arange(round((last - first) * rate), dtype=np.float32)[None]
    out = splice(Sound(samples, rate), index, tuple(pieces)).samples[0]
    assert sorted(out) == samples[0].tolist()
    position = 0
    for piece in pieces:
        ends = [(index.seconds(k) - first) * rate for k in (piece.start, piece.stop)]
        count = round(ends[1]) - round(ends[0])
        part = out[position : position + count]
        if count:
            assert abs(part[0] - ends[0]) <= Fraction(1, 2)
            assert abs(part[-1] + 1 - ends[1]) <= Fraction(1, 2)
            assert np.all(np.diff(part) == 1)
        position += count
    assert position == len(out)
