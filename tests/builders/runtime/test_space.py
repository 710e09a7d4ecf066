from __future__ import annotations

import shutil
from pathlib import Path
from types import SimpleNamespace

import pytest
from stressreel.builders.runtime.space import check_space
from stressreel.core.errors import OutputError


class Disk:
    """A disk with so much free, and a build that needs so much; remembers what was said."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, free: float, rough: float, close: float):
        self.said: list[str] = []
        self.looked_closely = False
        self.rough, self.close = rough, close
        monkeypatch.setattr(shutil, "disk_usage", lambda path: SimpleNamespace(free=free))

    def needs(self, probe: bool) -> float:
        self.looked_closely |= probe
        return self.close if probe else self.rough

    def check(self, out: Path) -> None:
        check_space(out, self.needs, self.said.append)


def test_enough_after_a_closer_look(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    disk = Disk(monkeypatch, free=100e9, rough=60e9, close=70e9)
    disk.check(tmp_path / "out")
    assert (disk.said, disk.looked_closely) == ([], True)


@pytest.mark.parametrize("close", [80e9, 120e9])
def test_within_the_error_it_warns(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, close: float) -> None:
    disk = Disk(monkeypatch, free=100e9, rough=60e9, close=close)
    disk.check(tmp_path / "out")
    assert len(disk.said) == 1
    assert f"{close / 1e9:.1f} GB" in disk.said[0]
    assert "100.0 GB" in disk.said[0]


def test_too_little(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    disk = Disk(monkeypatch, free=77e9, rough=60e9, close=140.5e9)
    with pytest.raises(OutputError, match=r"140\.5 GB are needed .* 77\.0 GB are free.*--no-check-space") as caught:
        disk.check(tmp_path / "out")
    assert str(tmp_path / "out") in str(caught.value)


def test_what_an_earlier_run_left_is_not_needed_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    disk = Disk(monkeypatch, free=2e6, rough=4e6, close=4e6)
    with pytest.raises(OutputError):
        disk.check(tmp_path)
    (tmp_path / ".build" / "staging").mkdir(parents=True)
    (tmp_path / ".build" / "staging" / "1.mp4").write_bytes(bytes(2_500_000))
    disk.check(tmp_path)
    assert disk.said == []
