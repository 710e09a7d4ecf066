import csv
import math
from fractions import Fraction
from itertools import accumulate, chain

import av
import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from stressreel.core.errors import VideoError
from stressreel.video.decode import upright, with_index
from stressreel.video.edit import Rendition, read_sound, write_edits
from stressreel.video.encode import EncodeSettings
from stressreel.video.index import index_frames

FAST = EncodeSettings(crf=20, preset="ultrafast")
FRAME_BYTES = 96 * 64 * 3 // 2
FRAMES = 60


def swapped(first, a_end, b_start, last):
    a, filler, b = range(first, a_end), range(a_end, b_start), range(b_start, last)
    return [(a, filler, b), (b, filler, a)]


def numbers(edit):
    return list(chain.from_iterable(edit))


def durations(index, edit):
    return [index.seconds(frame + 1) - index.seconds(frame) for frame in numbers(edit)]


def write(index, edits, folder, settings=FAST, **options):
    folder.mkdir(exist_ok=True)
    paths = [folder / f"{number}.mp4" for number in range(len(edits))]
    written = write_edits(index, edits, paths, settings, **options)
    for path, edit, rendition in zip(paths, edits, written, strict=True):
        with av.open(str(path)) as container:
            stream = container.streams.video[0]
            size = stream.width, stream.height
            assert (stream.codec_context.name, stream.codec_context.pix_fmt) == ("h264", "yuv420p")
            ticks = sum(durations(index, edit)) / index.time_base
            assert rendition == Rendition(path, stream.frames, ticks, *size)
    return paths


@pytest.fixture(scope="module")
def source(tmp_path_factory, bars):
    """60 frames, keyframes at 0, 25 and 50, B-frames."""
    path = tmp_path_factory.mktemp("edit") / "a.mp4"
    return index_frames(bars.write(path, frames=FRAMES, gop=25, b_frames=2))


RUNS = st.tuples(st.integers(0, FRAMES), st.integers(0, FRAMES)).map(lambda ends: range(min(ends), max(ends)))
PIECES = st.lists(RUNS, min_size=1, max_size=4).filter(lambda pieces: any(pieces))
ROOM = st.sampled_from([0, FRAME_BYTES, 9 * FRAME_BYTES, 2**30])


@given(edits=st.lists(PIECES.map(tuple), min_size=1, max_size=3), held_bytes=ROOM)
@example([(range(0, 60),), (range(59, 60), range(0, 1)), (range(30, 40), range(30, 40))], 0)
@example([(range(20, 30), range(5, 5), range(0, 10)), (range(0, 10), range(25, 26), range(0, 10))], FRAME_BYTES)
@settings(max_examples=10)
def test_any_edit_lists(bars, source, tmp_path_factory, edits, held_bytes):
    paths = write(source, edits, tmp_path_factory.getbasetemp() / "any", held_bytes=held_bytes)
    assert [bars.read_codes(path) for path in paths] == [numbers(edit) for edit in edits]


def test_frames_keep_their_durations(tmp_path, bars):
    pts = np.cumsum(np.random.default_rng(7).integers(5, 60, 50)).tolist()
    index = index_frames(bars.write(tmp_path / "a.mov", pts=pts, time_base=Fraction(1, 600)))
    edits = swapped(4, 17, 29, 46)
    for path, edit in zip(write(index, edits, tmp_path / "o", EncodeSettings()), edits, strict=True):
        written, expected = index_frames(path), durations(index, edit)
        assert written.zero == 0
        assert [written.seconds(k) for k in range(len(expected))] == [0, *accumulate(expected[:-1])]
        with av.open(str(path)) as container:
            stream = container.streams.video[0]
            assert stream.duration * stream.time_base == pytest.approx(sum(expected), abs=0.001)


@pytest.mark.parametrize(("rotation", "aspect"), [(0, 1137), (90, 800), (90, 1137), (180, 1137), (270, 800)])
def test_rotation_and_pixel_shape(tmp_path, bars, look, aspect, rotation):
    how = look(rotation=rotation, aspect=Fraction(aspect, 800))
    path = bars.write(tmp_path / "a.mp4", frames=20, look=how)
    [edit, _] = swapped(2, 8, 11, 19)
    [output] = write(index_frames(path), [edit], tmp_path / "o")
    assert bars.read_codes(output) == numbers(edit)
    with av.open(str(output)) as container:
        stream = container.streams.video[0]
        assert (stream.width, stream.height) == (96, 64)
        assert (stream.sample_aspect_ratio or 1) == (1 / how.aspect if rotation % 180 else how.aspect)
        assert {frame.rotation for frame in container.decode(stream)} == {0}


def test_changes_of_frame_size_are_refused(tmp_path, bars):
    small = bars.write(tmp_path / "small.h264", frames=10)
    large = bars.write(tmp_path / "large.h264", frames=10, size=(128, 96), first=10)
    (tmp_path / "both.h264").write_bytes(small.read_bytes() + large.read_bytes())
    index = index_frames(tmp_path / "both.h264")
    assert bars.read_codes(write(index, [(range(12, 18),)], tmp_path / "o")[0]) == [*range(12, 18)]
    with pytest.raises(VideoError, match=r"both\.h264.* 10$"):
        write(index, [(range(5, 15),)], tmp_path / "o")


@pytest.mark.shared
@pytest.mark.full
def test_real_clips_are_cut_and_swapped(shared, tmp_path, bars):
    def cut(index):
        count = index.num_frames
        first, last = (count // 3, min(count * 2 // 3, count // 3 + 24)) if count >= 9 else (0, count)
        step = (last - first) // 3
        edits = swapped(first, first + step, last - step, last)
        return index, edits, write(index, edits, tmp_path / "o", EncodeSettings(8, "ultrafast"), keep_sound=True)

    with open(shared / "videos" / "MANIFEST.csv", encoding="utf-8") as file:
        clips = [row for row in csv.DictReader(file) if not row["filename"].startswith("broken/")]
    playable = {"filename": "broken/gradio__playable_but_bad_container.mkv"}
    for row in (*clips, playable):
        path = shared / "videos" / row["filename"]
        index, edits, outputs = with_index(path, cut)
        if row is not playable and path.name != "torchcodec__nasa_13013.mp4":  # which has two pictures
            assert index.num_frames == int(row["frame_count_decoded"]), path
        source = [upright(frame) for frame in bars.decode(path, max(numbers(edits[0])) + 1)]
        for edit, output in zip(edits, outputs, strict=True):
            for frame, number in zip(bars.decode(output), numbers(edit), strict=True):
                pairs = zip(bars.arrays(frame), bars.arrays(source[number]), strict=True)
                errors = np.concatenate([(a.astype(np.float32) - b).ravel() for a, b in pairs])
                assert np.square(errors).mean() < 6.5, path  # 40 dB


# Sound

PCM = "pcm_s16le"
EDITS = swapped(30, 75, 120, 201)


def hear(path):
    with av.open(str(path)) as container:
        stream = container.streams.audio[0]
        frames = list(container.decode(stream))
        assert (frames[0].pts or 0) == 0
        samples = np.concatenate([frame.to_ndarray() for frame in frames], axis=1)
        return samples, stream.rate, stream.duration * stream.time_base


def alike(heard, expected, least=0.98):
    """Check that a sound is the expected one, at most a sample late."""
    size = len(heard) + len(expected)
    match = np.fft.irfft(np.fft.rfft(heard, size) * np.conj(np.fft.rfft(expected, size)), size)
    assert int(np.argmax(match)) in (0, 1, size - 1)
    assert np.corrcoef(heard, expected)[0, 1] > least


@pytest.mark.parametrize(
    ("name", "sound", "options"),
    [
        ("stereo.mp4", {"layout": "stereo", "rate": 44100}, {}),
        ("odd.mov", {"rate": 16001, "codec": PCM}, {"rate": Fraction(30000, 1001)}),
        ("late.mkv", {"codec": PCM, "start": Fraction(5)}, {"start": 150, "b_frames": 3}),
    ],
)
def test_sound_is_cut_with_its_frames(tmp_path, bars, track, name, sound, options):
    index = index_frames(bars.write(tmp_path / name, frames=210, track=track(**sound), **options))
    length = index.seconds(201) - index.seconds(30)
    for path, edit in zip(write(index, EDITS, tmp_path / "o", keep_sound=True), EDITS, strict=True):
        samples, rate, duration = hear(path)
        assert duration == pytest.approx(length, abs=0.001)
        assert (rate, len(samples)) == ((44100, 2) if name == "stereo.mp4" else (48000, 1))
        # The priming of AAC is taken away by whoever reads the edit list; the last frame is filled up.
        assert 0 <= samples.shape[1] - round(length * rate) < 1024
        position = Fraction(0)
        for piece in edit:
            seconds = index.seconds(piece.stop) - index.seconds(piece.start)
            start, count = round(position * rate), round(seconds * rate)
            position += seconds
            for channel, heard in enumerate(samples[:, start : start + count]):
                expected = bars.sound(rate, count, round((index.seconds(piece.start) + index.zero) * rate), channel)
                alike(heard, expected)
                edge = rate // 40  # at a cut, it is not the sound of the neighbour
                assert np.corrcoef(heard[:edge], expected[:edge])[0, 1] > 0.8
                assert np.corrcoef(heard[-edge:], expected[-edge:])[0, 1] > 0.8


def test_missing_sound_is_silent_and_keeps_time(tmp_path, bars, track):
    heard = track(codec=PCM, start=Fraction(2), gap=(Fraction(3), Fraction(4)), stop=Fraction(6), rate=16001)
    index = index_frames(bars.write(tmp_path / "a.mkv", frames=210, track=heard))
    [samples] = read_sound(index, Fraction(1), Fraction(13, 2)).samples
    expected, slack = bars.sound(48000, 264_000, 48_000), 96
    for begin, end in ((0, 1), (2, 3), (5, 5.5)):
        assert np.abs(samples[round(begin * 48000) + slack : round(end * 48000) - slack]).max() < 1e-3
    for begin, end in ((1, 2), (3, 5)):
        part = slice(begin * 48000 + slack, end * 48000 - slack)
        alike(samples[part], expected[part])
    assert not read_sound(index, Fraction(15), Fraction(16)).samples.any()
    for output in write(index, EDITS, tmp_path / "o", keep_sound=True):
        assert hear(output)[2] == Fraction(57, 10)


@pytest.fixture(scope="module")
def exact(tmp_path_factory, bars, track):
    """Two seconds of uncompressed stereo at 8 kHz that start 1/4 s before the picture."""
    path = tmp_path_factory.mktemp("sound") / "a.mov"
    sound = track(rate=8000, layout="stereo", codec=PCM, stop=Fraction(2))
    return index_frames(bars.write(path, rate=Fraction(20), frames=40, start=5, track=sound))


@given(
    start=st.fractions(0, 3, max_denominator=90000), length=st.fractions(Fraction(1, 8000), 3, max_denominator=90000)
)
@settings(max_examples=40)
def test_uncompressed_sound_is_cut_to_the_sample(bars, exact, start, length):
    assert exact.seconds(0) == Fraction(1, 4)
    sound = read_sound(exact, start, start + length)
    assert (sound.rate, sound.samples.shape, sound.samples.dtype) == (8000, (2, round(length * 8000)), np.float32)
    whole = np.zeros((2, 60_000))
    whole[:, :16_000] = [bars.sound(8000, 16_000, channel=channel) for channel in range(2)]
    nearest = {math.floor(start * 8000), math.ceil(start * 8000)}
    assert any(np.allclose(sound.samples, whole[:, k : k + sound.samples.shape[1]], atol=1e-4) for k in nearest)


def test_sound_is_optional_but_not_damaged(tmp_path, bars, track):
    for sound in (None, track()):
        path = bars.write(tmp_path / "a.mp4", track=sound)
        [output] = write(index_frames(path), [(range(0, 9),)], tmp_path / "o", keep_sound=sound is None)
        with av.open(str(output)) as container:
            assert [stream.type for stream in container.streams] == ["video"]
    with av.open(str(path)) as container:
        packets = [bytes(packet) for packet in container.demux(audio=0) if packet.size]
    data = path.read_bytes()
    for packet in packets[20:30]:
        data = data.replace(packet, b"\xff" * len(packet))
    path.write_bytes(data)
    with pytest.raises(VideoError, match=r"a\.mp4, sound") as caught:
        read_sound(index_frames(path), Fraction(0), Fraction(2))
    assert caught.value.reason == "undecodable"
