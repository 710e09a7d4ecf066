import math
from fractions import Fraction
from itertools import pairwise
from pathlib import Path

import av
import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from stressreel.core.errors import VideoError
from stressreel.video.edit import write_edits
from stressreel.video.encode import EncodeSettings, Sound
from stressreel.video.index import FrameIndex, index_frames
from stressreel.video.sound import read_sound, splice

FAST = EncodeSettings(crf=20, preset="ultrafast")
PCM = "pcm_s16le"
A, FILLER, B = range(30, 75), range(75, 120), range(120, 201)
EDITS = [(A, FILLER, B), (B, FILLER, A)]


def hear(path):
    """What a decoder gives of a file's sound, with the stream that its header describes."""
    with av.open(str(path)) as container:
        stream = container.streams.audio[0]
        frames = list(container.decode(stream))
        assert (frames[0].pts or 0) == 0
        samples = np.concatenate([frame.to_ndarray() for frame in frames], axis=1)
        return samples, stream.rate, stream.layout.name, stream.duration * stream.time_base


def lag(heard, expected):
    """How many samples later than expected something is heard."""
    size = len(heard) + len(expected)
    match = np.fft.irfft(np.fft.rfft(heard, size) * np.conj(np.fft.rfft(expected, size)), size)
    best = int(np.argmax(match))
    return best - size if best > size // 2 else best


def likeness(heard, expected):
    return float(np.corrcoef(heard, expected)[0, 1])


def in_order(index, edit, rate):
    """Where each piece's sound begins in the file, its length, and where it begins in the source, in samples."""
    position = Fraction(0)
    for piece in edit:
        start, length = index.seconds(piece.start), index.seconds(piece.stop) - index.seconds(piece.start)
        yield round(position * rate), round(length * rate), round((start + index.zero) * rate)
        position += length


def write(index, folder):
    paths = [folder / f"{number} out.mp4" for number in range(len(EDITS))]
    write_edits(index, EDITS, paths, FAST, keep_sound=True)
    return paths


@pytest.mark.parametrize(
    ("name", "sound", "options"),
    [
        ("stereo.mp4", {"layout": "stereo", "rate": 44100}, {}),
        ("low.mp4", {"rate": 11025}, {"rate": Fraction(30000, 1001)}),
        pytest.param("high.mkv", {"rate": 96000, "codec": PCM}, {"b_frames": 3}, marks=pytest.mark.full),
        ("odd.mov", {"rate": 16001, "codec": PCM}, {}),
        ("late.mkv", {"codec": PCM, "start": Fraction(5)}, {"start": 150}),
        pytest.param("picture-later.mkv", {"codec": PCM}, {"start": 15}, marks=pytest.mark.full),
    ],
)
def test_sound_lies_where_its_frames_lie(tmp_path, bars, track, name, sound, options):
    index = index_frames(bars.write(tmp_path / name, frames=210, track=track(**sound), **options))
    length = index.seconds(B.stop) - index.seconds(A.start)
    durations = set()
    for path, edit in zip(write(index, tmp_path), EDITS, strict=True):
        samples, rate, layout, duration = hear(path)
        durations.add(duration)
        given_rate = sound.get("rate", 48000)
        assert rate == (given_rate if given_rate != 16001 else 48000)
        assert layout == sound.get("layout", "mono")
        # The priming of AAC is taken away by whoever reads the edit list; the last frame is filled up.
        assert 0 <= samples.shape[1] - round(length * rate) < 1024
        for at, count, source in in_order(index, edit, rate):
            for channel in range(len(samples)):
                piece = samples[channel, at : at + count]
                expected = bars.sound(rate, count, source, channel)
                assert abs(lag(piece, expected)) <= 1
                assert likeness(piece, expected) > 0.98
                # Right after and right before the cut, too, it is this piece's sound and not its neighbour's.
                edge = rate // 40
                assert likeness(piece[:edge], expected[:edge]) > 0.8
                assert likeness(piece[-edge:], expected[-edge:]) > 0.8
    assert len(durations) == 1
    assert abs(durations.pop() - length) <= Fraction(1, 1000)


@pytest.mark.parametrize("rate", [48000, 16001])
def test_gaps_are_silent_and_what_follows_them_is_in_step(tmp_path, bars, track, rate):
    gap = (Fraction(3), Fraction(4))
    index = index_frames(bars.write(tmp_path / "a.mkv", frames=210, track=track(codec=PCM, gap=gap, rate=rate)))
    sound = read_sound(index, index.seconds(30), index.seconds(200))
    moments = [round((moment - 1) * sound.rate) for moment in gap]
    expected = bars.sound(sound.rate, sound.samples.shape[1], sound.rate)
    slack = sound.rate // 500
    assert np.abs(sound.samples[0, moments[0] + slack : moments[1] - slack]).max() < 1e-3
    for part in (slice(0, moments[0] - slack), slice(moments[1] + slack, None)):
        assert abs(lag(sound.samples[0, part], expected[part])) <= 1
        assert likeness(sound.samples[0, part], expected[part]) > 0.98


def test_sound_that_starts_later_or_ends_earlier_is_filled_up(tmp_path, bars, track):
    late = track(codec=PCM, start=Fraction(2), stop=Fraction(6))
    index = index_frames(bars.write(tmp_path / "a.mkv", frames=210, track=late))
    [samples] = read_sound(index, Fraction(1), Fraction(13, 2)).samples
    assert len(samples) == 264_000
    assert not samples[:48_000].any()
    assert np.allclose(samples[48_000:240_000], bars.sound(48000, 192_000, 96_000), atol=1e-4)
    assert not samples[240_000:].any()
    assert [hear(output)[3] for output in write(index, tmp_path)] == [Fraction(57, 10)] * 2
    for start, stop in ((Fraction(0), Fraction(1)), (Fraction(6), Fraction(7)), (Fraction(15), Fraction(16))):
        sound = read_sound(index, start, stop)
        assert sound.samples.shape == (1, 48000)
        assert not sound.samples.any()


@pytest.fixture(scope="module")
def exact(tmp_path_factory, bars, track):
    """Two seconds of uncompressed stereo at 8 kHz that start 1/4 s before the picture."""
    path = tmp_path_factory.mktemp("sound") / "a.mov"
    sound = track(rate=8000, layout="stereo", codec=PCM, stop=Fraction(2))
    return index_frames(bars.write(path, rate=Fraction(20), frames=40, start=5, track=sound))


@given(
    start=st.fractions(0, 3, max_denominator=90000), length=st.fractions(Fraction(1, 8000), 3, max_denominator=90000)
)
@example(start=Fraction(3, 4), length=Fraction(1, 2))
@example(start=Fraction(1, 4), length=Fraction(1, 8000))
@settings(max_examples=40)
def test_uncompressed_sound_is_cut_to_the_sample(bars, exact, start, length):
    assert exact.seconds(0) == Fraction(1, 4)
    sound = read_sound(exact, start, start + length)
    assert (sound.rate, sound.samples.shape, sound.samples.dtype) == (8000, (2, round(length * 8000)), np.float32)
    whole = np.zeros((2, 60_000))
    whole[:, :16_000] = [bars.sound(8000, 16_000, channel=channel) for channel in range(2)]
    nearest = {math.floor(start * 8000), math.ceil(start * 8000)}
    assert any(np.allclose(sound.samples, whole[:, k : k + sound.samples.shape[1]], atol=1e-4) for k in nearest)


@pytest.mark.parametrize(("layout", "channels"), [("mono", 1), ("2.1", 2), ("5.1", 2)])
def test_channels(tmp_path, bars, track, layout, channels):
    path = bars.write(tmp_path / "a.mkv", frames=15, track=track(layout=layout, codec=PCM))
    samples = read_sound(index_frames(path), Fraction(0), Fraction(1, 2)).samples
    assert samples.shape == (channels, 24_000)
    if layout == "5.1":
        left, right, centre, _, back_left, back_right = (bars.sound(48000, 24_000, channel=k) for k in range(6))
        for heard, front, back in ((samples[0], left, back_left), (samples[1], right, back_right)):
            assert likeness(heard, front + math.sqrt(0.5) * (centre + back)) > 0.999
            assert 0.05 < np.abs(heard).max() <= 1


@pytest.mark.parametrize("with_sound", [False, True])
def test_there_is_no_sound_unless_there_is_some_and_it_is_asked_for(tmp_path, bars, track, with_sound):
    index = index_frames(bars.write(tmp_path / "a.mp4", track=track() if with_sound else None))
    assert (read_sound(index, Fraction(0), Fraction(1)) is not None) == with_sound
    write_edits(index, [(range(0, 9),)], [tmp_path / "o.mp4"], FAST, keep_sound=not with_sound)
    with av.open(str(tmp_path / "o.mp4")) as container:
        assert [stream.type for stream in container.streams] == ["video"]


def test_sound_that_cannot_be_decoded_is_an_error(tmp_path, bars, track):
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
    uneven=st.booleans(),
)
@settings(max_examples=20)
def test_splice_loses_and_doubles_nothing(cuts, order, rate, uneven):
    pts = np.cumsum(np.random.default_rng(3).integers(1, 3000, 91)) if uneven else 1001 * np.arange(91)
    none = np.empty(0, np.int64)
    index = FrameIndex(Path("-"), pts[:-1].astype(np.int64), int(pts[-1]), Fraction(1, 30000), Fraction(0), none)
    pieces = [range(a, b) for a, b in pairwise(cuts)]
    order.shuffle(pieces)
    first, last = index.seconds(cuts[0]), index.seconds(cuts[-1])
    samples = np.arange(round((last - first) * rate), dtype=np.float32)[None]
    out = splice(Sound(samples, rate), index, tuple(pieces)).samples[0]
    assert sorted(out) == samples[0].tolist()
    position = 0
    for piece in pieces:
        ends = [(index.seconds(k) - first) * rate for k in (piece.start, piece.stop)]
        part = out[position : position + round(ends[1]) - round(ends[0])]
        if len(part):
            assert abs(part[0] - ends[0]) <= Fraction(1, 2)
            assert abs(part[-1] + 1 - ends[1]) <= Fraction(1, 2)
            assert np.all(np.diff(part) == 1)
        position += len(part)
    assert position == len(out)
