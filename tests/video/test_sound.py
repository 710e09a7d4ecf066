import math
from fractions import Fraction

import av
import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from stressreel.core.errors import VideoError
from stressreel.video.edit import read_sound, write_edits
from stressreel.video.encode import EncodeSettings
from stressreel.video.index import index_frames

FAST = EncodeSettings(crf=20, preset="ultrafast")
PCM = "pcm_s16le"
A, FILLER, B = range(30, 75), range(75, 120), range(120, 201)
EDITS = [(A, FILLER, B), (B, FILLER, A)]


def hear(path):
    with av.open(str(path)) as container:
        stream = container.streams.audio[0]
        frames = list(container.decode(stream))
        assert (frames[0].pts or 0) == 0
        samples = np.concatenate([frame.to_ndarray() for frame in frames], axis=1)
        return samples, stream.rate, stream.layout.name, stream.duration * stream.time_base


def lag(heard, expected):
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
        ("odd.mov", {"rate": 16001, "codec": PCM}, {"rate": Fraction(30000, 1001)}),
        ("late.mkv", {"codec": PCM, "start": Fraction(5)}, {"start": 150, "b_frames": 3}),
        ("picture-later.mkv", {"codec": PCM}, {"start": 15}),
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


def test_gaps_are_silent_and_what_follows_them_is_in_step(tmp_path, bars, track):
    gap = (Fraction(3), Fraction(4))
    index = index_frames(bars.write(tmp_path / "a.mkv", frames=210, track=track(codec=PCM, gap=gap, rate=16001)))
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
    expected = np.pad(bars.sound(48000, 192_000, 96_000), (48_000, 24_000))
    assert np.allclose(samples, expected, atol=1e-4)
    assert [hear(output)[3] for output in write(index, tmp_path)] == [Fraction(57, 10)] * 2
    assert not read_sound(index, Fraction(15), Fraction(16)).samples.any()


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


def test_more_than_two_channels_become_stereo(tmp_path, bars, track):
    path = bars.write(tmp_path / "a.mkv", frames=15, track=track(layout="5.1", codec=PCM))
    samples = read_sound(index_frames(path), Fraction(0), Fraction(1, 2)).samples
    assert samples.shape == (2, 24_000)
    left, right, centre, _, back_left, back_right = (bars.sound(48000, 24_000, channel=k) for k in range(6))
    for heard, front, back in ((samples[0], left, back_left), (samples[1], right, back_right)):
        assert likeness(heard, front + math.sqrt(0.5) * (centre + back)) > 0.999
        assert 0.05 < np.abs(heard).max() <= 1


def test_there_is_no_sound_unless_there_is_some_and_it_is_asked_for(tmp_path, bars, track):
    for sound in (None, track()):
        index = index_frames(bars.write(tmp_path / "a.mp4", track=sound))
        write_edits(index, [(range(0, 9),)], [tmp_path / "o.mp4"], FAST, keep_sound=sound is None)
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
