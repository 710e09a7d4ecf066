from fractions import Fraction

import pytest
from stressreel.video import estimate as module
from stressreel.video.encode import EncodeSettings
from stressreel.video.estimate import BuildEstimate, Cost, Footage, estimate_cuts, survey


def whole(source_id):
    return Footage(source_id, lambda shape: shape.num_frames, lambda index: range(index.num_frames))


def source(bars, folder, size, rate, frames=3):
    return bars.write(folder / f"{size[0]}x{size[1]}.mp4", size=size, rate=Fraction(rate), frames=frames)


def test_sources_are_averaged_and_bad_ones_left_out(tmp_path, bars, monkeypatch):
    (tmp_path / "text.mp4").write_text("no film")
    sources = {name: tmp_path / f"{name}.mp4" for name in ("missing", "text")}
    sources |= {"small": source(bars, tmp_path, (100, 100), 10), "large": source(bars, tmp_path, (200, 100), 20)}
    found = survey([whole(name) for name in (*sources, "absent")], sources, "clavi")
    assert set(found.shapes) == {"small", "large"}
    assert (found.usual.width, found.usual.height, found.usual.fps) == (150, 100, 15)
    assert found.frames == 5 * 3
    assert found.pixels == 3 * (10_000 + 20_000 + 3 * 15_000)
    monkeypatch.setattr(module, "LOOKED", 4)
    many = {f"{number:04}": sources["small"] for number in range(100)}
    assert len(survey([whole(name) for name in many], many, "clavi").shapes) == 4


def test_totals_and_the_most_on_disk():
    parts = {("clean", 0): Cost(10e6, 1), ("jpeg", 1): Cost(20e6, 2), ("jpeg", 2): Cost(20e6, 2)}
    small = BuildEstimate(parts, Cost(0, 3), "", seconds=1)
    assert (small.total, small.disk) == (Cost(50e6, 8), 50e6 + 40e6)  # all files and the shard that is written of them


def test_what_comes_out(tmp_path, bars):
    path = source(bars, tmp_path, (192, 128), 25, 250)
    settings = EncodeSettings(30, "ultrafast")
    stretch = module.Stretch(module.index_frames(path), range(250), 1 / 250, 0)
    with module.FrameStore(stretch.index, stretch.frames, tmp_path) as store:
        pictures = [store.yuv(number) for number in range(250)]
        module.measure(pictures, stretch, settings, tmp_path / "real.mp4")
    real = (tmp_path / "real.mp4").stat().st_size
    looked = survey([whole("a")], {"a": path}, "clavi")
    given = {"table": "videos", "copies": 2, "workers": 1}
    found = estimate_cuts(looked, settings, keep_sound=False, probe=True, **given)
    assert found.total.size == pytest.approx(2 * real, rel=0.3)
    assert found.seconds == 20
    silent, loud = (estimate_cuts(looked, settings, keep_sound=sound, probe=False, **given) for sound in (False, True))
    assert loud.total.size - silent.total.size == pytest.approx(2 * 10 * 16_000)
