from fractions import Fraction
from itertools import accumulate, chain

import av
import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from stressreel.core.errors import VideoError
from stressreel.video.edit import Rendition, write_edits
from stressreel.video.encode import EncodeSettings
from stressreel.video.index import index_frames

FAST = EncodeSettings(crf=20, preset="ultrafast")
DEFAULT = EncodeSettings()
FRAME = 96 * 64 * 3 // 2  # bytes
FRAMES = 60


def swapped(first, a_end, b_start, last):
    a, filler, b = range(first, a_end), range(a_end, b_start), range(b_start, last)
    return [(a, filler, b), (b, filler, a)]


def numbers(edit):
    return list(chain.from_iterable(edit))


def write(index, edits, folder, settings=FAST, **options):
    folder.mkdir(exist_ok=True)
    paths = [folder / f"{number}.mp4" for number in range(len(edits))]
    assert [rendition.path for rendition in write_edits(index, edits, paths, settings, **options)] == paths
    return paths


@pytest.fixture(scope="module")
def source(tmp_path_factory, bars):
    """60 frames, keyframes at 0, 25 and 50, B-frames."""
    path = tmp_path_factory.mktemp("edit") / "a.mp4"
    return index_frames(bars.write(path, frames=FRAMES, gop=25, b_frames=2))


RUNS = st.tuples(st.integers(0, FRAMES), st.integers(0, FRAMES)).map(lambda ends: range(min(ends), max(ends)))
PIECES = st.lists(RUNS, min_size=1, max_size=4).filter(lambda pieces: any(pieces))


@given(edits=st.lists(PIECES.map(tuple), min_size=1, max_size=3), held=st.sampled_from([0, FRAME, 9 * FRAME, 2**30]))
@example([(range(0, 60),), (range(59, 60), range(0, 1)), (range(30, 40), range(30, 40))], 0)
@example([(range(50, 60),), (range(0, 5),)], 2**30)
@example([(range(20, 30), range(5, 5), range(0, 10)), (range(0, 10), range(25, 26), range(0, 10))], FRAME)
@settings(max_examples=15)
def test_any_edit_lists(bars, source, tmp_path_factory, edits, held):
    paths = write(source, edits, tmp_path_factory.getbasetemp() / "any", held_bytes=held)
    for path, edit in zip(paths, edits, strict=True):
        assert bars.read_codes(path) == numbers(edit)


@pytest.mark.parametrize(
    ("name", "unit", "settings"), [("a.mp4", 600, FAST), ("a.mkv", 1000, DEFAULT), ("a.mov", 90000, FAST)]
)
def test_frames_keep_their_durations(tmp_path, bars, name, unit, settings):
    pts = np.cumsum(np.random.default_rng(7).integers(1, 12, 50) * (unit // 120)).tolist()
    index = index_frames(bars.write(tmp_path / name, pts=pts, time_base=Fraction(1, unit)))
    edits = swapped(4, 17, 29, 46)
    sums = []
    for path, edit in zip(write(index, edits, tmp_path / "o", settings), edits, strict=True):
        durations = [(index.boundary(k + 1) - index.boundary(k)) * index.time_base for k in numbers(edit)]
        written = index_frames(path)
        assert written.zero == 0
        assert [written.seconds(k) for k in range(len(durations))] == [0, *accumulate(durations[:-1])]
        with av.open(str(path)) as container:
            stream = container.streams.video[0]
            sums.append(stream.duration * stream.time_base)
        assert abs(sums[-1] - sum(durations)) <= Fraction(1, 1000)
    assert sums[0] == sums[1]


def test_renditions_tell_what_was_written(tmp_path, bars, look):
    how = look(pix_fmt="yuv444p")
    path = bars.write(tmp_path / "a.mkv", frames=30, size=(97, 65), start=90, look=how, rate=Fraction(25))
    outputs = [tmp_path / f"{k}.mp4" for k in range(3)]
    found = write_edits(index_frames(path), [*swapped(3, 10, 12, 28), (range(0, 2),)], outputs, FAST)
    lengths = [(25, 1000), (25, 1000), (2, 80)]
    assert found == [Rendition(path, *length, 98, 66) for path, length in zip(outputs, lengths, strict=True)]
    for output, (count, _) in zip(outputs, lengths, strict=True):
        with av.open(str(output)) as container:
            stream = container.streams.video[0]
            assert (stream.width, stream.height, stream.frames) == (98, 66, count)
            assert (stream.codec_context.name, stream.codec_context.pix_fmt) == ("h264", "yuv420p")


@pytest.mark.parametrize("aspect", [None, Fraction(1137, 800)], ids=str)
@pytest.mark.parametrize("rotation", [0, 90, 180, 270])
def test_rotation_and_pixel_shape(tmp_path, bars, look, aspect, rotation):
    path = bars.write(tmp_path / "a.mp4", frames=20, look=look(rotation=rotation, aspect=aspect))
    edits = swapped(2, 8, 11, 19)
    for output, edit in zip(write(index_frames(path), edits, tmp_path / "o"), edits, strict=True):
        assert bars.read_codes(output) == numbers(edit)
        with av.open(str(output)) as container:
            stream = container.streams.video[0]
            assert (stream.width, stream.height) == (96, 64)
            expected = aspect or Fraction(1)
            shape = stream.sample_aspect_ratio or Fraction(1)
            assert shape == (expected if rotation % 180 == 0 else 1 / expected)
            assert {frame.rotation for frame in container.decode(stream)} == {0}


def test_a_picture_that_changes_size_is_an_error(tmp_path, bars):
    small = bars.write(tmp_path / "small.h264", frames=10)
    large = bars.write(tmp_path / "large.h264", frames=10, size=(128, 96), first=10)
    (tmp_path / "both.h264").write_bytes(small.read_bytes() + large.read_bytes())
    index = index_frames(tmp_path / "both.h264")
    assert bars.read_codes(write(index, [(range(12, 18),)], tmp_path / "o")[0]) == [*range(12, 18)]
    with pytest.raises(VideoError, match=r"^both\.h264: its frame size changes at frame 10$") as caught:
        write(index, [(range(5, 15),)], tmp_path / "o")
    assert caught.value.reason == "undecodable"
