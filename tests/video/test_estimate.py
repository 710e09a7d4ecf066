from fractions import Fraction

import pytest
from stressreel.video.edit import write_edits
from stressreel.video.encode import EncodeSettings
from stressreel.video.estimate import Content, Footage, build_estimate, sampled
from stressreel.video.index import index_frames


def test_estimate_is_within_30_percent(tmp_path, bars):
    path, settings = tmp_path / "bars.mp4", EncodeSettings(30, "ultrafast")
    bars.write(path, size=(192, 128), rate=Fraction(25), frames=250)
    (real,) = write_edits(index_frames(path), [(range(250),)], [tmp_path / "real.mp4"], settings)
    footage = [Footage("a"), Footage("a"), Footage("missing")]
    clean, basis = sampled(footage, {"a": path}, settings, "clavi", probe=True)
    assert (clean.pixels, clean.fps, clean.num_frames) == (192 * 128, 25, 250)
    assert basis.startswith("from 16 encoded samples")
    estimate = build_estimate(footage, {("videos", 0): clean}, basis)
    assert estimate.size_bytes == pytest.approx(3 * real.path.stat().st_size, rel=0.3)
    (tmp_path / "text.mp4").write_text("no film")
    unreadable = sampled([Footage("b")], {"b": tmp_path / "text.mp4"}, settings, "clavi", probe=True)
    assert unreadable == sampled(footage, {"a": path}, settings, "clavi", probe=False)  # typical ones
    assert (unreadable[0].pixels, unreadable[0].num_frames) == (172_800, 900)
    spans = (), (2, 6), (30, 60, 10.0), (30, 60, None)
    assert [Footage("a", *span).span(25, 500) for span in spans] == [(0, 500), (50, 100), (75, 75), (30, 30)]


def test_totals_sound_and_peak_disk_usage():
    content = Content(1e6, 25, 500, key=8e6, later=8e5, cpu_s=0.02)
    parts = {("clean", 0): content, ("jpeg", 1): content}
    silent, loud = (build_estimate([Footage("a", 0, 20)], parts, "", sound=sound) for sound in (False, True))
    assert [part.size_bytes for part in silent.parts] == [pytest.approx(2e6 + 498e5, rel=0.001)] * 2
    assert silent.cpu_seconds == pytest.approx(2 * 500 * 0.02)
    assert loud.size_bytes - silent.size_bytes == 2 * 20 * 16_000
    assert silent.peak_disk_bytes == 2 * silent.size_bytes  # all files, and the shard that is written from them
    spooled = build_estimate([Footage("a", 0, 20)] * 100, parts, "", spool=7e9)
    assert spooled.peak_disk_bytes == spooled.size_bytes + 500e6 + 7e9
