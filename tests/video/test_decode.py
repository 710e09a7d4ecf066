from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from functools import partial
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
from stressreel.video import decode as module
from stressreel.video.decode import decode, decode_at, with_index
from stressreel.video.index import FrameIndex, IndexMismatchError, index_frames

if TYPE_CHECKING:
    from conftest import Bars, Look

    Full = tuple[FrameIndex, list[tuple[int | None, bytes]]]

FRAMES = 48
SOURCES = (
    "long.mp4",
    "long.mkv",
    "b-frames.mp4",
    "open-gop.mkv",
    "refresh.mp4",
    "uneven.mp4",
    "late.mkv",
    "raw.h264",
    "mpeg4.avi",
    "stream.ts",
    "vp9.webm",
)


def options(name: str, look: type[Look]) -> dict[str, Any]:
    special: dict[str, dict[str, Any]] = {
        "b-frames.mp4": {"gop": 12, "b_frames": 3},
        "open-gop.mkv": {"gop": 12, "look": look(options={"x264-params": "open-gop=1:bframes=3:b-adapt=0"})},
        "refresh.mp4": {"gop": 10, "look": look(options={"x264-params": "intra-refresh=1"})},
        "uneven.mp4": {
            "pts": np.cumsum(np.random.default_rng(1).integers(1, 90, FRAMES)).tolist(),
            "time_base": Fraction(1, 600),
            "gop": 16,
            "b_frames": 2,
        },
        "late.mkv": {"start": 300, "gop": 20, "b_frames": 2},
        "mpeg4.avi": {"gop": 10, "b_frames": 2, "look": look(codec="mpeg4")},
        "stream.ts": {"gop": 15, "b_frames": 2},
        "vp9.webm": {"gop": 20, "look": look(codec="libvpx-vp9", options={"cpu-used": "8", "lag-in-frames": "16"})},
    }
    return special.get(name, {"b_frames": 2})


def codes(bars: type[Bars], run: range, index: FrameIndex) -> list[int]:
    return [bars.read(frame) for frame in decode(index, run)]


def content(bars: type[Bars], frame: av.VideoFrame) -> tuple[int | None, bytes]:
    return frame.pts, b"".join(plane.tobytes() for plane in bars.arrays(frame))


@pytest.fixture(scope="module", params=SOURCES)
def full(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, bars: type[Bars], look: type[Look]
) -> Full:
    """A source's index and all its frames, decoded in one go."""
    path = tmp_path_factory.mktemp("decode") / request.param
    bars.write(path, **{"frames": FRAMES, **options(request.param, look)})
    frames = bars.decode(path)
    assert [bars.read(frame) for frame in frames] == list(range(FRAMES))
    return index_frames(path), [content(bars, frame) for frame in frames]


@given(run=st.tuples(st.integers(0, FRAMES), st.integers(0, FRAMES)).map(lambda ends: range(min(ends), max(ends))))
@example(run=range(FRAMES))
@example(run=range(FRAMES - 1, FRAMES))
@example(run=range(11, 13))
@settings(deadline=None, max_examples=40)
def test_a_run_is_bit_for_bit_the_same_part_of_the_whole(full: Full, bars: type[Bars], run: range) -> None:
    index, frames = full
    got = [content(bars, frame) for frame in decode(index, run)]
    if index.timed:
        assert got == frames[run.start : run.stop]
    else:
        assert [pixels for _, pixels in got] == [pixels for _, pixels in frames[run.start : run.stop]]


def test_no_frames_asked_for_none_given(full: Full) -> None:
    assert list(decode(full[0], range(7, 7))) == []
    assert list(decode_at(full[0], [])) == []


@given(numbers=st.sets(st.integers(0, FRAMES - 1)).map(sorted))
@example(numbers=[*range(FRAMES)])
@example(numbers=[FRAMES - 1])
@example(numbers=[0, 10, 11, 12, FRAMES - 1])
@settings(deadline=None, max_examples=40)
def test_single_frames_are_bit_for_bit_those_of_the_whole(full: Full, bars: type[Bars], numbers: list[int]) -> None:
    index, frames = full
    got = [content(bars, frame) for frame in decode_at(index, numbers)]
    if index.timed:
        assert got == [frames[number] for number in numbers]
    else:
        assert [pixels for _, pixels in got] == [frames[number][1] for number in numbers]


@pytest.mark.parametrize(
    ("numbers", "most"), [([0, 47], 6), ([13, 37], 4), ([12, 13], 2), ([5], 3)], ids=lambda value: str(value)
)
def test_what_no_frame_needs_is_not_decoded(
    tmp_path: Path, bars: type[Bars], look: type[Look], monkeypatch: pytest.MonkeyPatch, numbers: list[int], most: int
) -> None:
    steady = look(options={"x264-params": "b-adapt=0:b-pyramid=none:scenecut=0"})
    index = index_frames(bars.write(tmp_path / "a.mp4", frames=48, gop=12, b_frames=2, look=steady))
    decoded: list[int] = []
    single = module._decoded

    def spy(*given: Any) -> Iterator[av.VideoFrame]:
        for frame in single(*given):
            decoded.append(bars.read(frame))
            yield frame

    monkeypatch.setattr(module, "_decoded", spy)
    assert [bars.read(frame) for frame in decode_at(index, numbers)] == numbers
    assert len(decoded) <= most, decoded


def count_decoded(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Collect the first timestamp that each decoding run starts from, None for the beginning."""
    runs: list[Any] = []
    run = module._run

    def spy(index: FrameIndex, frames: range, keyframe: int | None) -> Iterator[av.VideoFrame]:
        runs.append(keyframe)
        return run(index, frames, keyframe)

    monkeypatch.setattr(module, "_run", spy)
    return runs


def test_decoding_starts_at_the_last_keyframe(
    tmp_path: Path, bars: type[Bars], monkeypatch: pytest.MonkeyPatch
) -> None:
    index = index_frames(bars.write(tmp_path / "a.mp4", gop=20, b_frames=2))
    runs = count_decoded(monkeypatch)
    for first, keyframe in ((19, None), (20, 20), (39, 20), (59, 40)):
        runs.clear()
        assert [bars.read(frame) for frame in decode(index, range(first, first + 1))] == [first]
        assert runs == [None if keyframe is None else index.boundary(keyframe)]


def test_false_keyframes_cost_time_but_not_truth(
    tmp_path: Path, bars: type[Bars], monkeypatch: pytest.MonkeyPatch
) -> None:
    index = index_frames(bars.write(tmp_path / "a.mp4", b_frames=2))
    runs = count_decoded(monkeypatch)
    wrong = replace(index, keyframes=index.pts[[0, 30]])
    monkeypatch.setattr(av.container.InputContainer, "seek", lambda *_, **__: None, raising=False)
    assert [bars.read(frame) for frame in decode(wrong, range(35, 40))] == list(range(35, 40))
    assert runs[0] == index.boundary(30)


@pytest.mark.parametrize("good", [0, 1, 4])
def test_what_a_seek_does_not_give_comes_from_the_beginning(
    tmp_path: Path, bars: type[Bars], monkeypatch: pytest.MonkeyPatch, good: int
) -> None:
    """After `good` frames, the run that was sought goes on with others than the index lists."""
    index = index_frames(bars.write(tmp_path / "a.mp4", gop=20))
    run = module._run

    def astray(index: FrameIndex, frames: range, keyframe: int | None) -> Iterator[av.VideoFrame]:
        for number, frame in enumerate(run(index, frames, keyframe)):
            if keyframe is None or number < good:
                yield frame
            elif number > good:
                yield from run(index, range(0, 1), None)

    monkeypatch.setattr(module, "_run", astray)
    shown = list(decode(index, range(45, 52)))
    assert [frame.pts for frame in shown] == index.pts[45:52].tolist()
    assert [bars.read(frame) for frame in shown] == list(range(45, 52))


def packets(path: Path) -> list[tuple[int, int]]:
    """Position and size of each packet of the picture in a file."""
    with av.open(str(path)) as container:
        return [(packet.pos or 0, packet.size) for packet in container.demux(video=0) if packet.size]


def damage(path: Path, numbers: range) -> None:
    """Overwrite what the packets hold, except their first bytes, which MP4 needs to find the slices."""
    data = bytearray(path.read_bytes())
    for position, size in packets(path)[numbers.start : numbers.stop]:
        noise: NDArray[np.uint8] = np.random.default_rng(size).integers(0, 256, size - 8).astype(np.uint8)
        data[position + 8 : position + size] = noise.tobytes()
    path.write_bytes(data)


def test_damage_elsewhere_does_not_matter(tmp_path: Path, bars: type[Bars]) -> None:
    path = bars.write(tmp_path / "a.mp4", gop=20)
    damage(path, range(2, 18))
    index = index_frames(path)
    assert [bars.read(frame) for frame in decode(index, range(25, 60))] == list(range(25, 60))
    with pytest.raises(VideoError, match=r"^a\.mp4: ") as caught:
        list(decode(index, range(0, 10)))
    assert caught.value.reason == "undecodable"


@pytest.mark.parametrize("name", ["a.mp4", "a.mkv"])
def test_frames_that_build_on_a_damaged_one_are_damaged(tmp_path: Path, bars: type[Bars], name: str) -> None:
    path = bars.write(tmp_path / name, gop=30)
    with av.open(str(path)) as container:
        packet = [bytes(packet) for packet in container.demux(video=0)][5]
    data = bytearray(path.read_bytes())
    middle = data.index(packet) + len(packet) // 2
    data[middle : middle + 20] = bytes(20)
    path.write_bytes(data)
    index = index_frames(path)
    assert [bars.read(frame) for frame in decode(index, range(0, 5))] == list(range(5))
    assert [bars.read(frame) for frame in decode(index, range(30, 60))] == list(range(30, 60))
    for run in (range(4, 7), range(6, 10), range(20, 40)):
        with pytest.raises(VideoError, match="damaged"):
            list(decode(index, run))


def test_frames_before_a_damaged_one_can_be_used(tmp_path: Path, bars: type[Bars]) -> None:
    path = bars.write(tmp_path / "a.mp4")
    damage(path, range(40, 60))
    assert [bars.read(frame) for frame in decode(index_frames(path), range(0, 35))] == list(range(35))


@pytest.mark.parametrize("name", ["a.mp4", "a.mkv"])
@pytest.mark.parametrize("shift", ["later", "longer", "other rate"])
def test_an_index_that_does_not_fit_is_noticed(tmp_path: Path, bars: type[Bars], name: str, shift: str) -> None:
    index = index_frames(bars.write(tmp_path / name, gop=20, b_frames=2))
    pts = index.pts
    step = int(pts[1])
    wrong = {
        "later": pts + 1,
        "longer": np.append(pts, pts[-1] + step * np.arange(1, 5)),
        "other rate": pts * 2,
    }[shift]
    for run in (range(45, 62), range(10, 62)):
        with pytest.raises(IndexMismatchError):
            list(decode(replace(index, pts=wrong), range(run.start, min(run.stop, len(wrong)))))


def without_first_keyframe(source: Path, path: Path) -> Path:
    """Copy a file without its first packet: the decoder cannot show what depends on it."""
    with av.open(str(source)) as container, av.open(str(path), "w") as output:
        copy = output.add_stream_from_template(container.streams.video[0])
        for number, packet in enumerate(container.demux()):
            if number and packet.dts is not None:
                packet.stream = copy
                output.mux(packet)
    return path


def test_packets_that_show_nothing_are_found_by_decoding(tmp_path: Path, bars: type[Bars]) -> None:
    source = bars.write(tmp_path / "a.mkv", gop=20)
    path = without_first_keyframe(source, tmp_path / "b.mkv")
    assert index_frames(path).num_frames == 59
    seen: list[int] = []

    def work(index: FrameIndex) -> list[int]:
        seen.append(index.num_frames)
        return [bars.read(frame) for frame in decode(index, range(index.num_frames))]

    assert with_index(path, work) == list(range(20, 60))
    assert seen == [59, 40]


def test_with_index_decodes_only_if_it_must(tmp_path: Path, bars: type[Bars]) -> None:
    path = bars.write(tmp_path / "a.mp4", gop=20)
    calls: list[FrameIndex] = []

    def work(index: FrameIndex) -> int:
        calls.append(index)
        return 7

    assert with_index(path, work) == 7
    assert [len(index.keyframes) for index in calls] == [3]


def test_frames_that_differ_each_time_are_a_video_error(tmp_path: Path, bars: type[Bars]) -> None:
    def work(index: FrameIndex) -> None:
        raise IndexMismatchError

    with pytest.raises(VideoError, match=r"^a\.mp4: decoding it twice") as caught:
        with_index(bars.write(tmp_path / "a.mp4", frames=3), work)
    assert caught.value.reason == "undecodable"


def test_made_up_timestamps_never_give_wrong_frames(tmp_path: Path, bars: type[Bars]) -> None:
    """AVI has no presentation times; for H.264's B-frames FFmpeg makes up some that do not increase."""
    path = bars.write(tmp_path / "a.avi", gop=20, b_frames=2)
    pts = [frame.pts or 0 for frame in bars.decode(path)]
    assert any(a > b for a, b in pairwise(pts))
    assert bars.read_codes(path) == list(range(60))
    wrong: list[tuple[range, list[int]]] = []
    for run in (range(first, first + 3) for first in range(57)):
        for way in (decode, decode_at):
            try:
                shown = with_index(path, lambda index: [bars.read(frame) for frame in way(index, run)])  # noqa: B023
            except VideoError:
                continue
            if shown != list(run):
                wrong.append((run, shown))
    assert not wrong


def test_h264_in_avi_can_be_used(tmp_path: Path, bars: type[Bars]) -> None:
    path = bars.write(tmp_path / "a.avi", gop=20, b_frames=2)
    assert with_index(path, partial(codes, bars, range(60))) == list(range(60))


BROKEN = {
    "decord__corrupted.mp4": ("undecodable", "Invalid data found when processing input"),
    "exoplayer__invalid-bitstream.webm": ("undecodable", "Invalid data found when processing input"),
    "mediabunny__annex-b.mp4": ("undecodable", "is damaged"),
    "mp4parse__chunk_out_of_range.mp4": ("unreadable_video", "Invalid data found when processing input"),
    "mp4parse__zero_empty_stsc.mp4": ("undecodable", "Invalid data found when processing input"),
}


@pytest.mark.shared
@pytest.mark.parametrize("name", BROKEN)
def test_broken_files_say_what_the_decoder_says(shared: Path, name: str) -> None:
    reason, words = BROKEN[name]
    with pytest.raises(VideoError) as caught:
        with_index(
            shared / "videos" / "broken" / name, lambda index: list(decode(index, range(max(index.num_frames, 1))))
        )
    assert caught.value.reason == reason
    assert caught.value.detail.startswith(f"{name}: ")
    assert caught.value.detail.endswith(words)
