from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
from stressreel.core.shards import SHARD_BYTES
from stressreel.video import estimate as module
from stressreel.video.encode import PRESETS, EncodeSettings
from stressreel.video.estimate import (
    Cost,
    Estimate,
    Footage,
    Shape,
    costs,
    estimate_cuts,
    frames_in,
    key_share,
    look,
    spread,
    stretches,
    survey,
    usual,
)
from stressreel.video.index import FrameIndex

if TYPE_CHECKING:
    from conftest import Bars


def whole(source_id: str) -> Footage:
    return Footage(source_id, lambda shape: shape.num_frames, lambda index: range(index.num_frames))


def source(bars: type[Bars], folder: Path, size: tuple[int, int], rate: int, frames: int = 3) -> Path:
    path = folder / f"{size[0]}x{size[1]}.mp4"
    return bars.write(path, size=size, rate=Fraction(rate), frames=frames)


def index_of(keys: list[int], frames: int) -> FrameIndex:
    return FrameIndex(Path("x"), np.arange(frames), frames, Fraction(1, 25), Fraction(0), np.array(keys, np.int64))


class TestKeyFrames:
    def test_one_at_the_start_and_after_250(self) -> None:
        assert key_share(index_of([0], 100), range(100)) == 1 / 100
        assert key_share(index_of([0], 600), range(600)) == 3 / 600

    def test_regular_ones_are_no_cuts(self) -> None:
        assert key_share(index_of(list(range(0, 120, 12)), 120), range(120)) == 1 / 120

    def test_early_ones_are_cuts(self) -> None:
        assert key_share(index_of([0, 40, 70], 200), range(200)) == 3 / 200

    def test_only_those_in_the_footage_count(self) -> None:
        assert key_share(index_of([0, 40, 70], 200), range(50, 150)) == 2 / 100


class TestSurvey:
    def test_sources_are_averaged_and_bad_ones_left_out(self, tmp_path: Path, bars: type[Bars]) -> None:
        text = tmp_path / "text.mp4"
        text.write_text("no film")
        sources = {
            "missing": tmp_path / "missing.mp4",
            "small": source(bars, tmp_path, (100, 100), 10),
            "text": text,
            "large": source(bars, tmp_path, (200, 100), 20),
        }
        found = survey([whole(name) for name in (*sources, "absent")], sources, "clavi")
        assert set(found.shapes) == {"small", "large"}
        assert (found.usual.width, found.usual.height, found.usual.fps) == (150, 100, 15)
        assert found.frames == 5 * 3
        assert found.pixels == 3 * (10_000 + 20_000 + 3 * 15_000)

    def test_only_so_many_headers_are_read(
        self, tmp_path: Path, bars: type[Bars], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        small, read = source(bars, tmp_path, (100, 100), 10), list[Path]()

        def spy(path: Path) -> Shape | None:
            read.append(path)
            return look(path)

        monkeypatch.setattr(module, "look", spy)
        sources = {f"{number:04}": small for number in range(1000)}
        assert survey([whole(name) for name in sources], sources, "clavi").frames == 3000
        assert len(read) == module.LOOKED

    def test_a_stream_without_a_header_is_counted(self, tmp_path: Path, bars: type[Bars]) -> None:
        path = tmp_path / "raw.h264"
        bars.write(path, size=(96, 64), rate=Fraction(25), frames=7)
        shape = look(path)
        assert shape is not None
        assert shape.num_frames == 7

    @pytest.mark.shared
    def test_frames_that_an_edit_list_hides_do_not_count(self, shared: Path) -> None:
        shape = look(shared / "videos" / "edge" / "hfdatasets__test_video_66x50.mov")
        assert shape is not None
        assert round(shape.num_frames) == 82  # of 87

    def test_without_videos_it_says_what_it_assumes(self) -> None:
        found = survey([whole("a")], {}, "perturbed")
        assert stretches(found) == []
        assert "assumed are 320x240" in found.basis([])

    def test_a_part_ends_with_its_source(self) -> None:
        assert frames_in(4, Shape(1, 1, 25, 300)) == 100
        assert frames_in(40, Shape(1, 1, 25, 300)) == 300
        assert frames_in(None, Shape(1, 1, 25, 300)) == 300


def test_spread_is_even() -> None:
    assert spread([0, 1, 2, 3, 4, 5, 6, 7], 2) == [2, 6]
    assert spread([0, 1, 2], 5) == [0, 1, 2]
    assert spread([], 5) == []


def test_stretches_stand_for_equal_shares_of_the_pixels(tmp_path: Path, bars: type[Bars]) -> None:
    sources = {"short": source(bars, tmp_path, (96, 64), 25, 60), "long": source(bars, tmp_path, (128, 64), 25, 225)}
    found = stretches(survey([whole(name) for name in sources], sources, "clavi"))
    assert [stretch.index.path.name for stretch in found] == ["96x64.mp4"] * 1 + ["128x64.mp4"] * 7
    assert all(len(stretch.frames) >= module.STRETCH for stretch in found)
    starts = [stretch.frames.start for stretch in found[1:]]
    assert starts == sorted(starts)
    assert min(starts) < 40
    assert max(stretch.frames.stop for stretch in found[1:]) > 190


def test_the_most_on_disk_is_all_files_and_one_shard() -> None:
    parts = {("clean", 0): Cost(10e6, 1), ("jpeg", 1): Cost(20e6, 2), ("jpeg", 2): Cost(20e6, 2)}
    small = Estimate(parts, Cost(0, 3), "", seconds=1)
    assert small.total == Cost(50e6, 8)
    assert small.disk == 50e6 + 40e6
    assert Estimate({("jpeg", 1): Cost(2e9, 0)}, Cost(), "", seconds=1, spool=7).disk == 2e9 + SHARD_BYTES + 7


def test_six_steps_of_crf_halve_what_is_usual() -> None:
    assert usual(EncodeSettings(crf=17)).later == pytest.approx(2 * usual(EncodeSettings(crf=23)).later)
    assert tuple(costs()["presets"]) == PRESETS
    assert list(costs()["presets"].values()) == sorted(costs()["presets"].values())
    assert costs()["presets"][EncodeSettings.preset] == 1
    assert costs()["crf"] == EncodeSettings.crf


@pytest.mark.parametrize(("crf", "preset"), [(23, "veryfast"), (30, "ultrafast"), (18, "medium")])
def test_what_comes_out(tmp_path: Path, bars: type[Bars], crf: int, preset: str) -> None:
    """The real size of an encode of the whole source is foretold from its stretches."""
    path = source(bars, tmp_path, (192, 128), 25, 250)
    settings = EncodeSettings(crf, preset)
    index = module.index_frames(path)
    with module.opened([module.Stretch(index, range(250), 1 / 250, 0)]) as (((stretch, store),), _):
        pictures = [store.yuv(number) for number in range(250)]
        module.measure(pictures, stretch, settings, tmp_path / "real.mp4")
    real = (tmp_path / "real.mp4").stat().st_size
    found = estimate_cuts(
        survey([whole("a")], {"a": path}, "clavi"),
        settings,
        table="videos",
        copies=2,
        keep_sound=False,
        workers=1,
        probe=True,
    )
    assert found.total.size == pytest.approx(2 * real, rel=0.3)
    assert found.seconds == 20
    assert found.total.cpu_s > costs()["fixed"]["command_s"] / 4


def test_sound_and_contents_taken_to_be_usual(tmp_path: Path, bars: type[Bars]) -> None:
    looked = survey([whole("a")], {"a": source(bars, tmp_path, (192, 128), 25, 50)}, "clavi")
    given = {"table": "videos", "copies": 2, "workers": 1, "probe": False}
    silent = estimate_cuts(looked, EncodeSettings(), keep_sound=False, **given)  # type: ignore[arg-type]
    loud = estimate_cuts(looked, EncodeSettings(), keep_sound=True, **given)  # type: ignore[arg-type]
    assert loud.total.size - silent.total.size == pytest.approx(2 * 2 * 16_000)
    assert silent.total.size == pytest.approx(2 * 50 * 192 * 128 * usual(EncodeSettings()).later / 8, rel=0.8)
