from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

import av
import numpy as np
import pytest
from av.video.stream import VideoStream
from numpy.typing import NDArray
from stressreel.video.by_decord import differs_by_decord
from stressreel.video.encode import AAC_RATES, EncodeSettings, Mp4Writer, Sound, write_video
from stressreel.video.index import index_frames
from stressreel.video.pyav import rgb_frame

if TYPE_CHECKING:
    from conftest import Bars

FAST = EncodeSettings(crf=20, preset="ultrafast")


def write(
    bars: type[Bars],
    path: Path,
    durations: list[int],
    *,
    settings: EncodeSettings = FAST,
    time_base: Fraction = Fraction(1, 600),
    sound: Sound | None = None,
    aspect: Fraction | None = None,
    size: tuple[int, int] = (96, 64),
) -> Path:
    rate = (len(durations) / (sum(durations) * time_base)).limit_denominator(1001)
    with Mp4Writer(
        path, time_base=time_base, rate=rate, settings=settings, sample_aspect_ratio=aspect, sound=sound
    ) as writer:
        for number, duration in enumerate(durations):
            writer.write(bars.frame(bars.planes(number, *size)), duration)
    return path


def tone(seconds: float, rate: int, channels: int = 1) -> Sound:
    wave = np.sin(np.arange(round(seconds * rate)) / 20).astype(np.float32) / 2
    return Sound(np.stack([wave] * channels), rate)


def video(container: av.container.InputContainer) -> VideoStream:
    [stream] = container.streams.video
    return stream


@pytest.mark.parametrize("preset", ["ultrafast", "veryfast", "medium"])
@pytest.mark.parametrize(
    "time_base",
    [Fraction(1, 30), Fraction(1001, 30000), Fraction(1, 600), Fraction(1, 1000), Fraction(1, 10**9)],
    ids=str,
)
def test_every_frame_starts_exactly_when_it_should(
    tmp_path: Path, bars: type[Bars], time_base: Fraction, preset: str
) -> None:
    unit = max(1, round(Fraction(1, 100) / time_base))
    durations = (unit * np.random.default_rng(4).integers(1, 12, 40)).tolist()
    path = write(bars, tmp_path / "a.mp4", durations, time_base=time_base, settings=EncodeSettings(preset=preset))
    index = index_frames(path)
    assert [index.seconds(k) for k in range(40)] == [sum(durations[:k]) * time_base for k in range(40)]
    assert bars.read_codes(path) == list(range(40))
    with av.open(str(path)) as container:
        stream = video(container)
        assert stream.duration is not None
        assert stream.time_base is not None
        # The edit list of MP4 counts milliseconds.
        assert abs(stream.duration * stream.time_base - sum(durations) * time_base) <= Fraction(1, 1000)


def test_it_is_h264_in_mp4(tmp_path: Path, bars: type[Bars]) -> None:
    with av.open(str(write(bars, tmp_path / "a.mp4", [20] * 10))) as container:
        stream = video(container)
        context = stream.codec_context
        assert (context.name, context.pix_fmt, stream.width, stream.height) == ("h264", "yuv420p", 96, 64)
        assert "mp4" in container.format.name
        assert stream.sample_aspect_ratio in (None, 0, 1)
        assert not container.streams.audio


@pytest.mark.parametrize("aspect", [Fraction(4, 3), Fraction(1137, 800), Fraction(427, 320), Fraction(9, 16)], ids=str)
def test_pixels_keep_their_shape(tmp_path: Path, bars: type[Bars], aspect: Fraction) -> None:
    with av.open(str(write(bars, tmp_path / "a.mp4", [20] * 4, aspect=aspect))) as container:
        assert video(container).sample_aspect_ratio == aspect


def test_colours_are_written(tmp_path: Path, bars: type[Bars]) -> None:
    path = tmp_path / "a.mp4"
    wanted = (1, 9, 9, 18)
    with Mp4Writer(path, time_base=Fraction(1, 30), rate=Fraction(30), settings=FAST) as writer:
        frame = bars.frame(bars.planes(0))
        frame.color_range, frame.colorspace, frame.color_primaries, frame.color_trc = wanted
        writer.write(frame, 1)
    with av.open(str(path)) as container:
        frame = next(container.decode(video=0))
        assert (frame.color_range, frame.colorspace, frame.color_primaries, frame.color_trc) == wanted


@pytest.mark.parametrize("preset", ["ultrafast", "veryfast"])
def test_same_input_same_bytes(tmp_path: Path, bars: type[Bars], preset: str) -> None:
    settings = EncodeSettings(preset=preset)
    one, two = (
        write(bars, tmp_path / name, [20] * 45, settings=settings, sound=tone(1.5, 44100, 2)).read_bytes()
        for name in ("one.mp4", "other name.mp4")
    )
    assert one == two
    assert one != write(bars, tmp_path / "a.mp4", [20] * 45, settings=settings).read_bytes()


def test_the_file_says_how_it_was_made_but_not_with_which_library(tmp_path: Path, bars: type[Bars]) -> None:
    size = (256, 256)  # x264 would take one thread for less, whatever it is told
    made = EncodeSettings(crf=31, preset="veryfast")
    data = write(bars, tmp_path / "a.mp4", [20] * 10, settings=made, size=size).read_bytes()
    settings = data[data.index(b"x264 - core") :].split(b"\0")[0].split(b" ")
    assert {b"threads=1", b"lookahead_threads=1", b"crf=31.0", b"sliced_threads=0"} <= set(settings)
    assert b"subme=2" in settings  # veryfast
    assert b"Lavf" not in data
    assert b"Lavc" not in data


def test_threads_and_processor_do_not_choose(tmp_path: Path, bars: type[Bars], monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[dict[str, str]] = []
    original = Mp4Writer._open

    def spy(self: Mp4Writer, frame: av.VideoFrame) -> None:
        original(self, frame)
        opened.append(dict(self._video.codec_context.options))

    monkeypatch.setattr(Mp4Writer, "_open", spy)
    write(bars, tmp_path / "a.mp4", [20] * 2)
    assert len(opened) == 1
    assert "cpu-independent=1" in opened[0]["x264-params"].split(":")


def test_lower_crf_is_better_and_larger(tmp_path: Path, bars: type[Bars]) -> None:
    sizes, errors = [], []
    for crf in (8, 23, 40):
        path = write(bars, tmp_path / "a.mp4", [20] * 20, settings=EncodeSettings(crf=crf))
        sizes.append(path.stat().st_size)
        with av.open(str(path)) as container:
            shown = [bars.arrays(frame)[0].astype(float) for frame in container.decode(video=0)]
        errors.append(np.mean([np.square(luma - bars.planes(k)[0]).mean() for k, luma in enumerate(shown)]))
    assert sizes == sorted(sizes, reverse=True)
    assert errors == sorted(errors)
    assert sizes[0] > 1.5 * sizes[2]


def test_the_file_can_be_played_before_it_is_read_whole(tmp_path: Path, bars: type[Bars]) -> None:
    path = write(bars, tmp_path / "a.mp4", [40] * 240, sound=tone(16, 16000))
    data = path.read_bytes()
    assert data.index(b"moov") < data.index(b"mdat")
    with av.open(str(path)) as container:
        order = sorted(
            (packet.pos or 0, packet.stream.type, float((packet.pts or 0) * packet.time_base))
            for packet in container.demux()
            if packet.size
        )
    latest = {"video": 0.0, "audio": 0.0}
    for _, kind, seconds in order:
        latest[kind] = max(latest[kind], seconds)
        assert abs(latest["video"] - latest["audio"]) < 2.2  # the encoder looks ahead
    assert latest["audio"] > 15.8


@pytest.mark.parametrize(("rate", "channels"), [(8000, 1), (11025, 2), (44100, 1), (48000, 2), (96000, 2)])
def test_sound_is_aac_of_the_same_length(tmp_path: Path, bars: type[Bars], rate: int, channels: int) -> None:
    path = write(bars, tmp_path / "a.mp4", [20] * 45, sound=tone(1.5, rate, channels))
    with av.open(str(path)) as container:
        [stream] = container.streams.audio
        assert (stream.codec_context.name, stream.rate, stream.channels) == ("aac", rate, channels)
        assert stream.duration is not None
        assert abs(stream.duration / rate - 1.5) <= 1 / 1000
        assert stream.start_time == 0


@pytest.mark.parametrize("rate", AAC_RATES)
def test_every_rate_that_is_kept_can_be_encoded(tmp_path: Path, bars: type[Bars], rate: int) -> None:
    path = write(bars, tmp_path / "a.mp4", [20] * 15, sound=tone(0.5, rate))
    with av.open(str(path)) as container:
        assert sum(frame.samples for frame in container.decode(audio=0)) >= rate // 2


@pytest.mark.parametrize("written", [0, 1, 20])
def test_an_error_goes_through_the_writer(tmp_path: Path, bars: type[Bars], written: int) -> None:
    def fail() -> None:
        sound = tone(1, 8000)
        with Mp4Writer(
            tmp_path / "a.mp4", time_base=Fraction(1, 30), rate=Fraction(30), settings=FAST, sound=sound
        ) as writer:
            for number in range(written):
                writer.write(bars.frame(bars.planes(number)), 1)
            raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        fail()


def pictures(count: int) -> list[NDArray[np.uint8]]:
    return [np.full((48, 64, 3), (40 + 9 * k, 200 - 9 * k, 90), np.uint8) for k in range(count)]


def test_write_video_writes_rgb(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "a.mp4"
    path.parent.mkdir()
    rate = Fraction(30000, 1001)
    sound = np.sin(np.arange(5339, dtype=np.float32) / 9).astype(np.float32)
    write_video(path, pictures(10), rate=rate, sound=sound, settings=EncodeSettings(crf=5))
    with av.open(str(path)) as container:
        shown = [frame.to_ndarray(format="rgb24") for frame in container.decode(video=0)]
        assert container.streams.audio[0].rate == 16000
    assert np.abs(np.stack(shown).astype(int) - np.stack(pictures(10))).max() <= 6
    index = index_frames(path)
    assert [index.seconds(k) for k in range(11)] == [k / rate for k in range(11)]


def test_write_video_leaves_nothing_half_done(tmp_path: Path) -> None:
    path = tmp_path / "a.mp4"
    path.write_bytes(b"what was there")

    def broken() -> Iterator[NDArray[np.uint8]]:
        yield from pictures(3)
        raise RuntimeError("no more")

    with pytest.raises(RuntimeError, match="no more"):
        write_video(path, broken(), rate=Fraction(30))
    assert path.read_bytes() == b"what was there"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("preset", ["veryfast", "medium"])
def test_readers_that_seek_find_every_frame_of_lossless_noise(tmp_path: Path, preset: str) -> None:
    path = tmp_path / "noise.mp4"
    settings = EncodeSettings(preset=preset, lossless=True)
    with Mp4Writer(path, time_base=Fraction(1, 25), rate=Fraction(25), settings=settings) as writer:
        for number in range(40):
            noise = np.random.default_rng(number).integers(0, 256, (64, 128, 3), np.uint8)
            writer.write(rgb_frame(noise), 1)
    with av.open(str(path)) as container:
        keys = [packet.pts for packet in container.demux(video(container)) if packet.size and packet.is_keyframe]
        assert len(keys) > 5
        for moment in keys:
            container.seek(moment, stream=video(container))
            assert next(container.decode(video(container))).pts == moment
    assert differs_by_decord(path.read_bytes()) == ""
