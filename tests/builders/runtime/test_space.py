import shutil
from pathlib import Path
from types import SimpleNamespace

import pytest
from stressreel.builders.runtime.space import check_space, in_words
from stressreel.core.errors import OutputError
from stressreel.video.estimate import BuildEstimate, Cost


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
    said, _ = checked(monkeypatch, out, 100e9, rough=60e9, close=80e9)  # enough, but within the error
    assert "80.0 GB" in said
    assert "100.0 GB" in said
    for close in (77.1e9, 140.5e9):
        said = rf"about {close / 1e9:.1f} GB .* is needed .* 77\.0 GB is free.*--no-check-space"
        with pytest.raises(OutputError, match=said) as caught:
            checked(monkeypatch, out, 77e9, rough=60e9, close=close)
        assert str(out) in str(caught.value)


def test_a_dry_run_says_that_the_space_does_not_suffice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    estimate = BuildEstimate({("videos", 0): Cost(5e9, 1.0)}, Cost(), "typical sizes", 60.0)
    monkeypatch.setattr(shutil, "disk_usage", lambda path: SimpleNamespace(free=2e9))
    assert "GB (±30%) is needed at a time, but only 2.0 GB is free" in in_words(estimate, 1, tmp_path)[-1]
    monkeypatch.setattr(shutil, "disk_usage", lambda path: SimpleNamespace(free=9e9))
    assert "not enough" not in "".join(in_words(estimate, 1, tmp_path))


def test_what_an_earlier_run_left_is_not_needed_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(OutputError):
        checked(monkeypatch, tmp_path, 2e6, rough=4e6, close=4e6)
    (tmp_path / ".build" / "staging").mkdir(parents=True)
    (tmp_path / ".build" / "staging" / "1.mp4").write_bytes(bytes(2_500_000))
    assert checked(monkeypatch, tmp_path, 2e6, rough=4e6, close=4e6)[0] == ""
