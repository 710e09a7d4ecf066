from fractions import Fraction
from itertools import chain

import av
import numpy as np
import pytest
from stressreel.video.compare import decord_difference
from stressreel.video.encode import EncodeSettings, Mp4Writer, Sound, write_video
from stressreel.video.index import index_frames
from stressreel.video.pyav import rgb_frame


def write(bars, path, durations, *, preset="ultrafast", time_base=Fraction(1, 600), sound=None, size=(96, 64)):
    """Write frames that are shown for these durations, in units of `time_base`."""
    rate = (len(durations) / (sum(durations) * time_base)).limit_denominator(1001)
    settings = EncodeSettings(31, preset)
    with Mp4Writer(path, time_base=time_base, rate=rate, settings=settings, sound=sound) as writer:
        for number, duration in enumerate(durations):
            writer.write(bars.frame(bars.planes(number, *size)), duration)
    return path


def tone(seconds, rate, channels=1):
    wave = np.sin(np.arange(round(seconds * rate)) / 20).astype(np.float32) / 2
    return Sound(np.stack([wave] * channels), rate)


@pytest.mark.parametrize(
    ("time_base", "preset"), [(Fraction(1001, 30000), "medium"), (Fraction(1, 10**9), "ultrafast")]
)
def test_frames_start_at_exact_times(tmp_path, bars, time_base, preset):
    unit = max(1, round(Fraction(1, 100) / time_base))
    durations = (unit * np.random.default_rng(4).integers(1, 12, 40)).tolist()
    path = write(bars, tmp_path / "a.mp4", durations, time_base=time_base, preset=preset)
    index = index_frames(path)
    assert [index.seconds(k) for k in range(40)] == [sum(durations[:k]) * time_base for k in range(40)]
    assert bars.read_codes(path) == list(range(40))
    with av.open(str(path)) as container:
        [stream] = container.streams  # no sound
        assert (stream.codec_context.name, "mp4" in container.format.name) == ("h264", True)
        # The edit list of MP4 counts milliseconds.
        assert abs(stream.duration * stream.time_base - sum(durations) * time_base) <= Fraction(1, 1000)


def test_output_is_reproducible(tmp_path, bars):
    options = {"sound": tone(1.5, 44100, 2), "size": (256, 256)}  # for smaller pictures, x264 uses a single thread
    first, second = (
        write(bars, tmp_path / name, [20] * 45, preset="veryfast", **options).read_bytes()
        for name in ("one.mp4", "other name.mp4")
    )
    assert first == second
    x264 = first[first.index(b"x264 - core") :].split(b"\0")[0].split(b" ")
    assert {b"threads=1", b"lookahead_threads=1", b"crf=31.0", b"sliced_threads=0", b"subme=2"} <= set(x264)
    with Mp4Writer(tmp_path / "a.mp4", time_base=Fraction(1), rate=Fraction(1), settings=EncodeSettings()) as writer:
        writer._open(frame := bars.frame(bars.planes(0)))
        assert "cpu-independent=1" in writer._video.codec_context.options["x264-params"].split(":")
        writer.write(frame, 1)
    silent = (tmp_path / "a.mp4").read_bytes()
    assert not {b"Lavf", b"Lavc"} & {silent[at : at + 4] for at in range(len(silent))}


def test_write_video_is_atomic(tmp_path):
    path, rate = tmp_path / "a.mp4", Fraction(30000, 1001)
    pictures = [np.full((48, 64, 3), (40 + 9 * k, 200 - 9 * k, 90), np.uint8) for k in range(10)]
    sound = np.sin(np.arange(5339, dtype=np.float32) / 9).astype(np.float32)
    write_video(path, pictures, rate=rate, sound=sound, settings=EncodeSettings(crf=5))
    with av.open(str(path)) as container:
        shown = [frame.to_ndarray(format="rgb24") for frame in container.decode(video=0)]
        assert container.streams.audio[0].rate == 16000
    assert np.abs(np.stack(shown).astype(int) - np.stack(pictures)).max() <= 6
    index = index_frames(path)
    assert [index.seconds(k) for k in range(11)] == [k / rate for k in range(11)]
    before = path.read_bytes()
    for count in (0, 3):
        broken = chain(pictures[:count], map(int, ["no picture"]))
        with pytest.raises(ValueError, match="no picture"):
            write_video(path, broken, rate=Fraction(30), sound=sound)
        assert (path.read_bytes(), list(tmp_path.iterdir())) == (before, [path])


def test_lossless_noise_can_be_seeked(tmp_path):
    path, settings = tmp_path / "noise.mp4", EncodeSettings(lossless=True)
    with Mp4Writer(path, time_base=Fraction(1, 25), rate=Fraction(25), settings=settings) as writer:
        for number in range(40):
            writer.write(rgb_frame(np.random.default_rng(number).integers(0, 256, (64, 128, 3), np.uint8)), 1)
    with av.open(str(path)) as container:
        stream = container.streams.video[0]
        keys = [packet.pts for packet in container.demux(stream) if packet.size and packet.is_keyframe]
        assert len(keys) > 5
        for moment in keys:
            container.seek(moment, stream=stream)
            assert next(container.decode(stream)).pts == moment
    assert decord_difference(path.read_bytes()) == ""
