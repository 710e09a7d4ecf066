from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from stressreel.video import estimate as module
from stressreel.video.encode import PRESETS
from stressreel.video.estimate import estimate

if TYPE_CHECKING:
    from conftest import Bars


@pytest.fixture(autouse=True)
def _round_constants(monkeypatch: pytest.MonkeyPatch) -> None:
    """Speeds that the expectations below can be worked out with by hand, whatever is measured later."""
    monkeypatch.setattr(module, "PIXELS_PER_SECOND", 1e6)
    monkeypatch.setattr(module, "BITS_PER_PIXEL", 0.08)
    monkeypatch.setattr(module, "RELATIVE_TIME", {"ultrafast": 0.5, "veryfast": 1.0, "slow": 4.0})


def source(bars: type[Bars], folder: Path, size: tuple[int, int], rate: int) -> Path:
    return bars.write(folder / f"{size[0]}x{size[1]}.mp4", size=size, rate=Fraction(rate), frames=3)


@pytest.mark.parametrize(
    ("seconds", "crf", "preset", "workers", "expected"),
    [
        # 100 x 100 pixels at 10 frames a second: 100,000 pixels, 8,000 bits and 0.1 s of work in each second.
        (36_000, 23, "veryfast", 2, "about 0.04 GB and 30 minutes with 2 workers"),
        (3_600_000, 23, "veryfast", 2, "about 3.60 GB and 50.0 hours with 2 workers"),
        (3_600_000, 17, "veryfast", 2, "about 7.20 GB and 50.0 hours with 2 workers"),
        (3_600_000, 29, "veryfast", 4, "about 1.80 GB and 25.0 hours with 4 workers"),
        (36_000, 23, "slow", 2, "about 0.04 GB and 2.0 hours with 2 workers"),
        (36_000, 23, "ultrafast", 2, "about 0.04 GB and 15 minutes with 2 workers"),
        (2_000, 23, "veryfast", 4, "about 0.00 GB and 50 s with 4 workers"),
    ],
)
def test_size_and_time(
    tmp_path: Path, bars: type[Bars], seconds: float, crf: int, preset: str, workers: int, expected: str
) -> None:
    sources = [source(bars, tmp_path, (100, 100), 10)]
    assert estimate(sources, seconds, crf, preset, workers) == expected


def test_sources_are_averaged_and_bad_ones_left_out(tmp_path: Path, bars: type[Bars]) -> None:
    missing, text = tmp_path / "missing.mp4", tmp_path / "text.mp4"
    text.write_text("no film")
    sources = [missing, source(bars, tmp_path, (100, 100), 10), text, source(bars, tmp_path, (200, 100), 15)]
    # 100,000 and 300,000 pixels a second
    assert estimate(sources, 36_000, 23, "veryfast", 2) == "about 0.07 GB and 1.0 hours with 2 workers"


def test_only_a_dozen_sources_are_looked_at(tmp_path: Path, bars: type[Bars], monkeypatch: pytest.MonkeyPatch) -> None:
    looked: list[Path] = []
    shape = module._shape

    def spy(path: Path) -> tuple[int, float] | None:
        looked.append(path)
        return shape(path)

    monkeypatch.setattr(module, "_shape", spy)
    small = source(bars, tmp_path, (100, 100), 10)
    estimate([small] * 500, 1, 23, "veryfast", 2)
    assert looked == [small] * 12


@pytest.mark.parametrize("sources", [[], [Path("nowhere.mp4")]])
def test_without_sources_it_says_what_it_assumes(sources: list[Path]) -> None:
    # 480 x 360 pixels at 30 frames a second
    expected = "about 0.52 GB and 14.4 hours with 1 workers (assuming 480x360 at 30 fps)"
    assert estimate(sources, 10_000, 23, "veryfast", 1).replace("1 worker (", "1 workers (") == expected


def test_every_preset_has_a_speed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    assert tuple(module.RELATIVE_TIME) == PRESETS
    assert module.RELATIVE_TIME["veryfast"] == 1
    speeds = list(module.RELATIVE_TIME.values())
    assert speeds == sorted(speeds)
