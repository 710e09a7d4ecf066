"""Real files from the wild: phones, cameras, YouTube, encoders of many years, and files made to be difficult."""

from __future__ import annotations

import csv
import math
import os
from fractions import Fraction
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

import av
import numpy as np
import pytest
from stressreel.video.decode import upright, with_index
from stressreel.video.edit import EditList, Rendition, write_edits
from stressreel.video.encode import EncodeSettings
from stressreel.video.index import FrameIndex, index_frames, open_video

if TYPE_CHECKING:
    from conftest import Bars

pytestmark = pytest.mark.shared

VIDEOS = Path(os.environ.get("STRESSREEL_SHARED", Path(__file__).parents[3] / "shared")) / "videos"
PLAYABLE = "broken/gradio__playable_but_bad_container.mkv"
# What is not in the manifest: of the two pictures of this file, it counts the one that is not the best.
BEST_OF_TWO = {"torchcodec__nasa_13013.mp4": 390}
SETTINGS = EncodeSettings(crf=8, preset="ultrafast")
LONGEST = 24


def manifest() -> dict[str, dict[str, str]]:
    try:
        with (VIDEOS / "MANIFEST.csv").open(newline="") as file:
            return {row["filename"]: row for row in csv.DictReader(file)}
    except FileNotFoundError:
        return {}


CLIPS = [name for name in manifest() if not name.startswith("broken/")]
# A stand-in where the clips are not, so that the tests are seen to be skipped and say why.
clips = pytest.mark.parametrize("name", CLIPS or ["none"])


@clips
def test_packets_count_the_frames_that_can_be_decoded(shared: Path, name: str) -> None:
    row = manifest()[name]
    index = index_frames(shared / "videos" / name)
    assert index.num_frames == BEST_OF_TWO.get(name, int(row["frame_count_decoded"]))
    assert np.all(np.diff(index.pts) > 0)
    rotated = any(f"rotation {sign}90" in row["notes"] for sign in ("", "-"))
    with open_video(index.path) as (_, stream):
        if name not in BEST_OF_TWO:
            assert (stream.width, stream.height) in {
                (int(row["width"]), int(row["height"])),
                *([(int(row["height"]), int(row["width"]))] if rotated else []),
            }


@pytest.mark.parametrize(
    ("name", "rate"),
    [
        ("sam2__02_cups.mp4", Fraction(30000, 1001)),
        ("edge/mp4parser__tos.h264", Fraction(24)),
        ("edge/torchcodec__testsrc2_odd_height_and_width_444.mp4", Fraction(25)),
        ("edge/torchcodec__discard_first_keyframe.mp4", Fraction(25)),
        ("edge/torchcodec__test_non_zero_start.mp4", Fraction(30)),
        ("edge/androidxmedia__bbb_800x640_768kbps_30fps_avc_2b_firstpts_10_sec.mp4", Fraction(30)),
    ],
)
def test_constant_rates_are_exact(shared: Path, name: str, rate: Fraction) -> None:
    index = index_frames(shared / "videos" / name)
    steps = {index.seconds(k + 1) - index.seconds(k) for k in range(index.num_frames - 1)}
    assert steps == {1 / rate}


@pytest.mark.parametrize(
    ("name", "header", "frames", "first"),
    [
        ("edge/torchcodec__discard_first_keyframe.mp4", 30, 25, Fraction(0)),
        ("edge/gradio__b.avi", 151, 150, Fraction(0)),
        ("edge/hfdatasets__test_video_66x50.mov", 87, 82, Fraction(0)),
        ("edge/mediabunny__rotate-buck-bunny.mp4", 0, 45, Fraction(1, 12)),
        ("edge/androidxmedia__edit_list_positive_shift.mp4", 270, 270, Fraction(1)),
        ("edge/androidxmedia__bbb_800x640_768kbps_30fps_avc_2b_firstpts_10_sec.mp4", 120, 120, Fraction(0)),
    ],
)
def test_headers_lie_but_the_index_does_not(shared: Path, name: str, header: int, frames: int, first: Fraction) -> None:
    path = shared / "videos" / name
    with open_video(path) as (_, stream):
        assert stream.frames == header
    index = index_frames(path)
    assert (index.num_frames, index.seconds(0)) == (frames, first)
    assert index_frames(path, decode=True).pts.tolist() == index.pts.tolist()


def quality(one: av.VideoFrame, other: av.VideoFrame, bars: type[Bars]) -> float:
    """PSNR over all samples of two yuv420p frames."""
    pairs = zip(bars.arrays(one), bars.arrays(other), strict=True)
    errors = np.concatenate([(a.astype(np.float32) - b).ravel() for a, b in pairs])
    return 10 * math.log10(255**2 / max(float(np.square(errors).mean()), 1e-9))


def thirds(count: int) -> EditList:
    """A, a filler and B from the middle third of a video (of the whole, if it has but a few frames)."""
    first, last = (count // 3, count * 2 // 3) if count >= 9 else (0, count)
    last = min(last, first + LONGEST)
    step = (last - first) // 3
    return range(first, first + step), range(first + step, last - step), range(last - step, last)


@pytest.mark.parametrize("name", [*(CLIPS or ["none"]), PLAYABLE])
def test_cut_and_swapped(shared: Path, tmp_path: Path, bars: type[Bars], name: str) -> None:
    path = shared / "videos" / name
    outputs = [tmp_path / "v.mp4", tmp_path / "w.mp4"]

    def work(index: FrameIndex) -> tuple[FrameIndex, list[EditList], list[Rendition]]:
        a, filler, b = thirds(index.num_frames)
        edits: list[EditList] = [(a, filler, b), (b, filler, a)]
        return index, edits, write_edits(index, edits, outputs, SETTINGS, keep_sound=True)

    index, edits, renditions = with_index(path, work)
    source = {
        number: upright(frame)
        for number, frame in enumerate(bars.decode(path, max(piece.stop for piece in edits[0])))
        if number >= edits[0][0].start
    }
    assert renditions[0].ticks == renditions[1].ticks
    lengths = set()
    for edit, rendition in zip(edits, renditions, strict=True):
        numbers = list(chain.from_iterable(edit))
        shown = bars.decode(rendition.path, len(numbers) + 9)
        assert len(shown) == len(numbers) == rendition.num_frames
        assert min(quality(frame, source[k], bars) for frame, k in zip(shown, numbers, strict=True)) > 40
        written = index_frames(rendition.path)
        durations = [(index.boundary(k + 1) - index.boundary(k)) * index.time_base for k in numbers]
        for k in range(len(numbers)):
            assert abs(written.seconds(k) - sum(durations[:k])) < Fraction(1, 100_000)
        with av.open(str(rendition.path)) as container:
            stream = container.streams.video[0]
            assert (stream.width % 2, stream.height % 2, stream.codec_context.pix_fmt) == (0, 0, "yuv420p")
            assert (stream.width, stream.height) == (rendition.width, rendition.height)
            assert stream.duration is not None
            assert stream.time_base is not None
            lengths.add(stream.duration * stream.time_base)
            assert abs(stream.duration * stream.time_base - sum(durations)) <= Fraction(1, 1000)
            with av.open(str(path), metadata_errors="ignore") as original:
                assert len(container.streams.audio) == min(1, len(original.streams.audio))
    assert len(lengths) == 1
