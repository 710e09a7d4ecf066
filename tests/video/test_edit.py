from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import av
import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from stressreel.core.errors import VideoError
from stressreel.video import edit as module
from stressreel.video.decode import decode, with_index
from stressreel.video.edit import EditList, Rendition, write_edits
from stressreel.video.encode import EncodeSettings
from stressreel.video.index import FrameIndex, IndexMismatchError, index_frames

if TYPE_CHECKING:
    from conftest import Bars, Look, Track

FAST = EncodeSettings(crf=20, preset="ultrafast")
DEFAULT = EncodeSettings()
FRAME = 96 * 64 * 3 // 2  # bytes
FRAMES = 60


def swapped(first: int, a_end: int, b_start: int, last: int) -> list[EditList]:
    a, filler, b = range(first, a_end), range(a_end, b_start), range(b_start, last)
    return [(a, filler, b), (b, filler, a)]


def numbers(edit: EditList) -> list[int]:
    return list(chain.from_iterable(edit))


def lengths(index: FrameIndex, frames: list[int]) -> list[Fraction]:
    return [(index.boundary(k + 1) - index.boundary(k)) * index.time_base for k in frames]


def write(
    index: FrameIndex, edits: list[EditList], folder: Path, settings: EncodeSettings = FAST, **options: Any
) -> list[Path]:
    folder.mkdir(exist_ok=True)
    paths = [folder / f"{number}.mp4" for number in range(len(edits))]
    assert [rendition.path for rendition in write_edits(index, edits, paths, settings, **options)] == paths
    return paths


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory, bars: type[Bars]) -> FrameIndex:
    """60 frames, keyframes at 0, 25 and 50, B-frames."""
    path = tmp_path_factory.mktemp("edit") / "a.mp4"
    return index_frames(bars.write(path, frames=FRAMES, gop=25, b_frames=2))


@pytest.mark.parametrize("settings", [FAST, DEFAULT], ids=["ultrafast", "default"])
@pytest.mark.parametrize("held", [0, 3 * FRAME, 2**30], ids=["nothing", "3 frames", "all"])
@pytest.mark.parametrize(
    "cuts",
    [
        (0, 20, 40, 60),
        (0, 1, 59, 60),
        (7, 26, 27, 58),
        (30, 37, 44, 49),
        (26, 30, 52, 60),
        (10, 30, 30, 50),
        (24, 25, 50, 51),
    ],
    ids=str,
)
def test_every_output_frame_is_the_one_that_the_list_says(
    tmp_path: Path,
    bars: type[Bars],
    source: FrameIndex,
    cuts: tuple[int, int, int, int],
    held: int,
    settings: EncodeSettings,
) -> None:
    edits = swapped(*cuts)
    for path, edit in zip(write(source, edits, tmp_path, settings, held_bytes=held), edits, strict=True):
        assert bars.read_codes(path) == numbers(edit)


@pytest.mark.parametrize("with_sound", [False, True])
def test_memory_does_not_change_the_bytes(
    tmp_path: Path, bars: type[Bars], track: type[Track], with_sound: bool
) -> None:
    path = bars.write(tmp_path / "a.mp4", gop=20, b_frames=2, track=track() if with_sound else None)
    index, edits = index_frames(path), swapped(5, 22, 31, 57)
    files = {
        held: [
            path.read_bytes() for path in write(index, edits, tmp_path / "o", held_bytes=held, keep_sound=with_sound)
        ]
        for held in (0, FRAME, 7 * FRAME + 1, 20 * FRAME, 2**30)
    }
    assert len({tuple(pair) for pair in files.values()}) == 1
    assert files[0][0] != files[0][1]


def count_decoded(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    decoded: list[int] = []

    def spy(index: FrameIndex, frames: range) -> Iterator[av.VideoFrame]:
        for number, frame in zip(frames, decode(index, frames), strict=True):
            decoded.append(number)
            yield frame

    monkeypatch.setattr(module, "decode", spy)
    return decoded


@pytest.mark.parametrize(
    ("held", "again"),
    [
        (2**30, []),
        (17 * FRAME, []),
        (10 * FRAME, [*range(10, 17)]),  # the latest are held: decoding again ends sooner
        (0, [*range(19, 27), *range(10, 19)]),
    ],
)
def test_what_is_held_is_not_decoded_again(
    tmp_path: Path, source: FrameIndex, monkeypatch: pytest.MonkeyPatch, held: int, again: list[int]
) -> None:
    """V′ shows B live and wants the filler and A after it: of these 17 frames, those that are not held come again."""
    decoded = count_decoded(monkeypatch)
    write(source, swapped(10, 19, 27, 60), tmp_path, held_bytes=held)
    assert decoded == [*range(10, 60), *again]


def test_held_memory_is_bounded(tmp_path: Path, source: FrameIndex, monkeypatch: pytest.MonkeyPatch) -> None:
    alive: list[int] = []
    worth: Callable[[Any, range, int], set[int]] = module._worth_holding

    def spy(outputs: Any, run: range, room: int) -> set[int]:
        keep = worth(outputs, run, room)
        alive.append(len(keep))
        return keep

    monkeypatch.setattr(module, "_worth_holding", spy)
    for held in (0, FRAME - 1, FRAME, 5 * FRAME, 2**30):
        write(source, swapped(10, 30, 40, 50), tmp_path, held_bytes=held)
    assert alive == [0, 0, 1, 5, 30]


PIECES = st.lists(
    st.tuples(st.integers(0, FRAMES), st.integers(0, FRAMES)).map(lambda ends: range(min(ends), max(ends))),
    min_size=1,
    max_size=4,
).filter(lambda pieces: any(pieces))


@given(edits=st.lists(PIECES.map(tuple), min_size=1, max_size=3), held=st.sampled_from([0, FRAME, 9 * FRAME, 2**30]))
@example([(range(0, 60),), (range(59, 60), range(0, 1)), (range(30, 40), range(30, 40))], 0)
@example([(range(50, 60),), (range(0, 5),)], 2**30)
@example([(range(20, 30), range(5, 5), range(0, 10)), (range(0, 10), range(25, 26), range(0, 10))], FRAME)
@settings(deadline=None, max_examples=40)
def test_any_edit_lists(
    bars: type[Bars],
    source: FrameIndex,
    tmp_path_factory: pytest.TempPathFactory,
    edits: list[EditList],
    held: int,
) -> None:
    paths = write(source, edits, tmp_path_factory.getbasetemp() / "any", held_bytes=held)
    for path, edit in zip(paths, edits, strict=True):
        assert bars.read_codes(path) == numbers(edit)


@pytest.mark.parametrize("settings", [FAST, DEFAULT], ids=["ultrafast", "default"])
@pytest.mark.parametrize(
    ("name", "unit"), [("a.mp4", Fraction(1, 600)), ("a.mkv", Fraction(1, 1000)), ("a.mov", Fraction(1, 90000))]
)
def test_frames_keep_their_durations(
    tmp_path: Path, bars: type[Bars], name: str, unit: Fraction, settings: EncodeSettings
) -> None:
    steps = np.random.default_rng(7).integers(1, 12, 50) * (unit.denominator // 120)
    pts = np.cumsum(steps).tolist()
    index = index_frames(bars.write(tmp_path / name, pts=pts, time_base=unit))
    edits = swapped(4, 17, 29, 46)
    sums = []
    for path, edit in zip(write(index, edits, tmp_path / "o", settings), edits, strict=True):
        assert bars.read_codes(path) == numbers(edit)
        durations = lengths(index, numbers(edit))
        written = index_frames(path)
        assert written.zero == 0
        assert [written.seconds(k) for k in range(written.num_frames)] == [
            sum(durations[:k]) for k in range(len(durations))
        ]
        with av.open(str(path)) as container:
            stream = container.streams.video[0]
            assert stream.duration is not None
            assert stream.time_base is not None
            sums.append(stream.duration * stream.time_base)
            assert abs(sums[-1] - sum(durations)) <= Fraction(1, 1000)
    assert sums[0] == sums[1]


def test_the_last_frame_keeps_its_duration_too(tmp_path: Path, bars: type[Bars]) -> None:
    index = index_frames(bars.write(tmp_path / "a.mkv", pts=[0, 40, 80, 120], last=777, time_base=Fraction(1, 1000)))
    paths = write(index, [(range(0, 4),), (range(3, 4), range(0, 3))], tmp_path / "o")
    for path in paths:
        assert index_frames(path).seconds(4) == Fraction(897, 1000)
    assert index_frames(paths[1]).seconds(1) == Fraction(777, 1000)


@pytest.mark.parametrize("rate", [Fraction(30000, 1001), Fraction(25), Fraction(15), Fraction(60000, 1001)], ids=str)
def test_constant_rates_stay_exact(tmp_path: Path, bars: type[Bars], rate: Fraction) -> None:
    index = index_frames(bars.write(tmp_path / "a.mp4", rate=rate, start=40))
    for path in write(index, swapped(10, 20, 30, 50), tmp_path / "o", DEFAULT):
        written = index_frames(path)
        assert [written.seconds(k) for k in range(41)] == [k / rate for k in range(41)]
        with av.open(str(path)) as container:
            assert container.streams.video[0].average_rate == rate


def test_renditions_tell_what_was_written(tmp_path: Path, bars: type[Bars], look: type[Look]) -> None:
    path = bars.write(
        tmp_path / "a.mkv", frames=30, size=(97, 65), start=90, look=look(pix_fmt="yuv444p"), rate=Fraction(25)
    )
    index = index_frames(path)
    edits = [*swapped(3, 10, 12, 28), (range(0, 2),)]
    outputs = [tmp_path / f"{k}.mp4" for k in range(3)]
    assert write_edits(index, edits, outputs, FAST) == [
        Rendition(outputs[0], 25, 1000, 98, 66),
        Rendition(outputs[1], 25, 1000, 98, 66),
        Rendition(outputs[2], 2, 80, 98, 66),
    ]
    for output, count in zip(outputs, (25, 25, 2), strict=True):
        with av.open(str(output)) as container:
            stream = container.streams.video[0]
            assert (stream.width, stream.height, stream.frames) == (98, 66, count)
            assert (stream.codec_context.name, stream.codec_context.pix_fmt) == ("h264", "yuv420p")
            assert not container.streams.audio


@pytest.mark.parametrize("aspect", [None, Fraction(1), Fraction(4, 3), Fraction(1137, 800)], ids=str)
@pytest.mark.parametrize("rotation", [0, 90, 180, 270])
def test_rotation_and_pixel_shape(
    tmp_path: Path, bars: type[Bars], look: type[Look], aspect: Fraction | None, rotation: int
) -> None:
    path = bars.write(tmp_path / "a.mp4", frames=20, look=look(rotation=rotation, aspect=aspect))
    edits = swapped(2, 8, 11, 19)
    for output, edit in zip(write(index_frames(path), edits, tmp_path / "o"), edits, strict=True):
        assert bars.read_codes(output) == numbers(edit)
        with av.open(str(output)) as container:
            stream = container.streams.video[0]
            assert (stream.width, stream.height) == (96, 64)
            shape = stream.sample_aspect_ratio or Fraction(1)
            expected = aspect or Fraction(1)
            assert shape == (expected if rotation % 180 == 0 else 1 / expected)
            assert {frame.rotation for frame in container.decode(stream)} == {0}


def test_colours_reach_the_file(tmp_path: Path, bars: type[Bars], look: type[Look]) -> None:
    path = bars.write(
        tmp_path / "a.mp4",
        frames=4,
        look=look(pix_fmt="yuvj420p", tags={"color_range": 2, "colorspace": 1, "color_primaries": 1, "color_trc": 1}),
    )
    [output] = write(index_frames(path), [(range(0, 4),)], tmp_path / "o")
    with av.open(str(output)) as container:
        frame = next(container.decode(video=0))
        assert (frame.color_range, frame.colorspace, frame.color_primaries, frame.color_trc) == (1, 1, 1, 1)
        assert bars.read(frame) == 0


@pytest.mark.parametrize("cut", [range(0, 20), range(5, 15), range(12, 18)], ids=str)
def test_a_picture_that_changes_size_is_an_error(tmp_path: Path, bars: type[Bars], cut: range) -> None:
    small = bars.write(tmp_path / "small.h264", frames=10)
    large = bars.write(tmp_path / "large.h264", frames=10, size=(128, 96), first=10)
    path = tmp_path / "both.h264"
    path.write_bytes(small.read_bytes() + large.read_bytes())
    index = index_frames(path)
    assert index.num_frames == 20
    if cut.start >= 10:
        [output] = write(index, [(cut,)], tmp_path / "o")
        assert bars.read_codes(output) == list(cut)
        return
    with pytest.raises(VideoError, match=r"^both\.h264: its picture changes size at frame 10$") as caught:
        write(index, [(cut,)], tmp_path / "o")
    assert caught.value.reason == "undecodable"


def test_packets_that_show_nothing_are_not_written(tmp_path: Path, bars: type[Bars]) -> None:
    whole, path = bars.write(tmp_path / "a.mkv", gop=20), tmp_path / "b.mkv"
    with av.open(str(whole)) as container, av.open(str(path), "w") as output:
        copy = output.add_stream_from_template(container.streams.video[0])
        for number, packet in enumerate(container.demux()):
            if number and packet.dts is not None:
                packet.stream = copy
                output.mux(packet)
    edits = swapped(3, 10, 15, 30)
    with pytest.raises(IndexMismatchError):
        write(index_frames(path), edits, tmp_path / "o")
    outputs = with_index(path, lambda index: write(index, edits, tmp_path / "o"))
    for shown, edit in zip(outputs, edits, strict=True):
        assert bars.read_codes(shown) == [20 + k for k in numbers(edit)]


def test_broken_source_stops_the_writing(tmp_path: Path, bars: type[Bars]) -> None:
    path = bars.write(tmp_path / "a.mp4")
    index = index_frames(path)
    data = path.read_bytes()
    path.write_bytes(data[: len(data) * 2 // 3].ljust(len(data), b"\0"))
    with pytest.raises((VideoError, IndexMismatchError)):
        write(index, swapped(5, 20, 30, 60), tmp_path / "o")
