from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from stressreel.core.shards import SHARD_BYTES
from stressreel.video import estimate as module
from stressreel.video.encode import PRESETS, EncodeSettings
from stressreel.video.estimate import (
    BuildEstimate,
    Cost,
    Footage,
    Shape,
    costs,
    estimate_cuts,
    frames_in,
    key_share,
    look,
    stretches,
    survey,
    usual,
)
from stressreel.video.index import FrameIndex


def whole(source_id):
    return Footage(source_id, lambda shape: shape.num_frames, lambda index: range(index.num_frames))


def source(bars, folder, size, rate, frames=3):
    return bars.write(folder / f"{size[0]}x{size[1]}.mp4", size=size, rate=Fraction(rate), frames=frames)


@pytest.mark.parametrize(
    ("keys", "count", "frames", "share"),
    [
        ([0], 100, range(100), 1 / 100),
        ([0], 600, range(600), 3 / 600),  # one after 250
        (list(range(0, 120, 12)), 120, range(120), 1 / 120),  # regular ones are no cuts
        ([0, 40, 70], 200, range(200), 3 / 200),  # early ones are
        ([0, 40, 70], 200, range(50, 150), 2 / 100),
    ],
)
def test_the_share_of_key_frames(keys, count, frames, share):
    keys = np.array(keys, np.int64)
    index = FrameIndex(Path("x"), np.arange(count), count, Fraction(1, 25), Fraction(0), keys)
    assert key_share(index, frames) == share


def test_sources_are_averaged_and_bad_ones_left_out(tmp_path, bars, monkeypatch):
    (tmp_path / "text.mp4").write_text("no film")
    sources = {
        "missing": tmp_path / "missing.mp4",
        "small": source(bars, tmp_path, (100, 100), 10),
        "text": tmp_path / "text.mp4",
        "large": source(bars, tmp_path, (200, 100), 20),
    }
    found = survey([whole(name) for name in (*sources, "absent")], sources, "clavi")
    assert set(found.shapes) == {"small", "large"}
    assert (found.usual.width, found.usual.height, found.usual.fps) == (150, 100, 15)
    assert found.frames == 5 * 3
    assert found.pixels == 3 * (10_000 + 20_000 + 3 * 15_000)
    monkeypatch.setattr(module, "LOOKED", 4)
    many = {f"{number:04}": sources["small"] for number in range(100)}
    assert len(survey([whole(name) for name in many], many, "clavi").shapes) == 4


def test_headers_and_parts(tmp_path, bars):
    raw = bars.write(tmp_path / "raw.h264", size=(96, 64), rate=Fraction(25), frames=7)
    assert look(raw).num_frames == 7
    assert [frames_in(seconds, Shape(1, 1, 25, 300)) for seconds in (4, 40, None)] == [100, 300, 300]
    found = survey([whole("a")], {}, "perturbed")
    assert stretches(found) == []
    assert "assuming 320x240" in found.basis([])


def test_stretches_stand_for_equal_shares_of_the_pixels(tmp_path, bars):
    sources = {"short": source(bars, tmp_path, (96, 64), 25, 60), "long": source(bars, tmp_path, (128, 64), 25, 225)}
    found = stretches(survey([whole(name) for name in sources], sources, "clavi"))
    assert [stretch.index.path.name for stretch in found] == ["96x64.mp4"] * 1 + ["128x64.mp4"] * 7
    assert all(len(stretch.frames) >= module.STRETCH for stretch in found)
    starts = [stretch.frames.start for stretch in found[1:]]
    assert starts == sorted(starts)
    assert (min(starts) < 40, found[-1].frames.stop > 190) == (True, True)


def test_the_most_on_disk_is_all_files_and_one_shard():
    parts = {("clean", 0): Cost(10e6, 1), ("jpeg", 1): Cost(20e6, 2), ("jpeg", 2): Cost(20e6, 2)}
    small = BuildEstimate(parts, Cost(0, 3), "", seconds=1)
    assert (small.total, small.disk) == (Cost(50e6, 8), 50e6 + 40e6)
    assert BuildEstimate({("jpeg", 1): Cost(2e9, 0)}, Cost(), "", seconds=1, spool=7).disk == 2e9 + SHARD_BYTES + 7


def test_six_steps_of_crf_halve_what_is_usual():
    assert usual(EncodeSettings(crf=17)).later == pytest.approx(2 * usual(EncodeSettings(crf=23)).later)
    presets = costs()["presets"]
    assert tuple(presets) == PRESETS
    assert list(presets.values()) == sorted(presets.values())
    assert (presets[EncodeSettings.preset], costs()["crf"]) == (1, EncodeSettings.crf)


GIVEN = {"table": "videos", "copies": 2, "workers": 1}


@pytest.mark.parametrize(
    ("crf", "preset"), [(30, "ultrafast"), *(pytest.param(23, p, marks=pytest.mark.full) for p in ("fast", "medium"))]
)
def test_what_comes_out(tmp_path, bars, crf, preset):
    """The real size of an encode of the whole source is foretold from its stretches."""
    path = source(bars, tmp_path, (192, 128), 25, 250)
    settings = EncodeSettings(crf, preset)
    stretch = module.Stretch(module.index_frames(path), range(250), 1 / 250, 0)
    with module.FrameStore(stretch.index, stretch.frames, tmp_path) as store:
        pictures = [store.yuv(number) for number in range(250)]
        module.measure(pictures, stretch, settings, tmp_path / "real.mp4")
    real = (tmp_path / "real.mp4").stat().st_size
    looked = survey([whole("a")], {"a": path}, "clavi")
    found = estimate_cuts(looked, settings, keep_sound=False, probe=True, **GIVEN)
    assert found.total.size == pytest.approx(2 * real, rel=0.3)
    assert found.seconds == 20


def test_sound_and_contents_taken_to_be_usual(tmp_path, bars):
    looked = survey([whole("a")], {"a": source(bars, tmp_path, (192, 128), 25, 50)}, "clavi")
    silent, loud = (
        estimate_cuts(looked, EncodeSettings(), keep_sound=sound, probe=False, **GIVEN) for sound in (False, True)
    )
    assert loud.total.size - silent.total.size == pytest.approx(2 * 2 * 16_000)
    assert silent.total.size == pytest.approx(2 * 50 * 192 * 128 * usual(EncodeSettings()).later / 8, rel=0.8)
