import csv
import os
from fractions import Fraction
from itertools import chain
from pathlib import Path

import av
import numpy as np
import pytest
from stressreel.video.decode import upright, with_index
from stressreel.video.edit import write_edits
from stressreel.video.encode import EncodeSettings
from stressreel.video.index import index_frames

pytestmark = [pytest.mark.shared, pytest.mark.full]

VIDEOS = Path(os.environ.get("STRESSREEL_SHARED", Path(__file__).parents[3] / "shared")) / "videos"
PLAYABLE = "broken/gradio__playable_but_bad_container.mkv"
SETTINGS = EncodeSettings(crf=8, preset="ultrafast")
LONGEST = 24
try:
    rows = csv.DictReader((VIDEOS / "MANIFEST.csv").read_text(encoding="utf-8").splitlines())
    MANIFEST = {row["filename"]: row for row in rows}
except FileNotFoundError:
    MANIFEST = {"none": {}}  # so that the tests are seen to be skipped and say why
CLIPS = [name for name in MANIFEST if not name.startswith("broken/")]


def swapped(count):
    """A, a filler and B from the middle third of a video (of the whole, if it has but a few frames), and B first."""
    first, last = (count // 3, count * 2 // 3) if count >= 9 else (0, count)
    last = min(last, first + LONGEST)
    step = (last - first) // 3
    a, filler, b = range(first, first + step), range(first + step, last - step), range(last - step, last)
    return [(a, filler, b), (b, filler, a)]


@pytest.mark.parametrize("name", [*CLIPS, PLAYABLE])
def test_cut_and_swapped(shared, tmp_path, bars, name):
    path = shared / "videos" / name
    outputs = [tmp_path / "v.mp4", tmp_path / "w.mp4"]

    def work(index):
        edits = swapped(index.num_frames)
        return index, edits, write_edits(index, edits, outputs, SETTINGS, keep_sound=True)

    index, edits, renditions = with_index(path, work)
    row = MANIFEST.get(name)
    if row and name != "torchcodec__nasa_13013.mp4":  # of its two pictures, the manifest counts the other one
        assert index.num_frames == int(row["frame_count_decoded"])
    start, stop = edits[0][0].start, edits[0][2].stop
    source = {k: upright(frame) for k, frame in enumerate(bars.decode(path, stop)) if k >= start}
    lengths = set()
    for edit, rendition in zip(edits, renditions, strict=True):
        numbers = list(chain.from_iterable(edit))
        shown = bars.decode(rendition.path, len(numbers) + 9)
        assert len(shown) == len(numbers) == rendition.num_frames
        for frame, k in zip(shown, numbers, strict=True):
            pairs = zip(bars.arrays(frame), bars.arrays(source[k]), strict=True)
            errors = np.concatenate([(a.astype(np.float32) - b).ravel() for a, b in pairs])
            assert np.square(errors).mean() < 6.5  # 40 dB
        written = index_frames(rendition.path)
        durations = [(index.boundary(k + 1) - index.boundary(k)) * index.time_base for k in numbers]
        for k in range(len(numbers)):
            assert abs(written.seconds(k) - sum(durations[:k])) < Fraction(1, 100_000)
        with av.open(str(rendition.path)) as container:
            stream = container.streams.video[0]
            assert (stream.width % 2, stream.height % 2, stream.codec_context.pix_fmt) == (0, 0, "yuv420p")
            assert (stream.width, stream.height) == (rendition.width, rendition.height)
            lengths.add((stream.duration * stream.time_base, rendition.ticks))
            assert abs(stream.duration * stream.time_base - sum(durations)) <= Fraction(1, 1000)
            with av.open(str(path), metadata_errors="ignore") as original:
                assert len(container.streams.audio) == min(1, len(original.streams.audio))
    assert len(lengths) == 1
