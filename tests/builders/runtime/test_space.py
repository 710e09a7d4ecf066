import shutil
from pathlib import Path
from types import SimpleNamespace

import pytest
from stressreel.builders.runtime.space import check_space
from stressreel.core.errors import OutputError


def checked(monkeypatch: pytest.MonkeyPatch, out: Path, free: float, rough: float, close: float) -> tuple[str, bool]:
    """Look at a disk with so much free, for a build that needs so much; return what was said, and how it looked."""
    said: list[str] = []
    closely: list[bool] = []
    monkeypatch.setattr(shutil, "disk_usage", lambda path: SimpleNamespace(free=free))
    check_space(out, lambda probe: closely.append(probe) or (close if probe else rough), said.append)
    return " ".join(said), any(closely)


def test_what_is_said_and_when(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out = tmp_path / "new" / "out"
    assert checked(monkeypatch, out, 100e9, rough=20e9, close=500e9) == ("", False)
    assert checked(monkeypatch, out, 100e9, rough=60e9, close=70e9) == ("", True)
    for close in (80e9, 120e9):  # within the error
        said, _ = checked(monkeypatch, out, 100e9, rough=60e9, close=close)
        assert f"{close / 1e9:.1f} GB" in said
        assert "100.0 GB" in said
    with pytest.raises(OutputError, match=r"140\.5 GB is needed .* 77\.0 GB is free.*--no-check-space") as caught:
        checked(monkeypatch, out, 77e9, rough=60e9, close=140.5e9)
    assert str(out) in str(caught.value)


def test_what_an_earlier_run_left_is_not_needed_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(OutputError):
        checked(monkeypatch, tmp_path, 2e6, rough=4e6, close=4e6)
    (tmp_path / ".build" / "staging").mkdir(parents=True)
    (tmp_path / ".build" / "staging" / "1.mp4").write_bytes(bytes(2_500_000))
    assert checked(monkeypatch, tmp_path, 2e6, rough=4e6, close=4e6)[0] == ""
