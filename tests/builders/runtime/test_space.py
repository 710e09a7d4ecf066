import shutil
from types import SimpleNamespace

import pytest
from stressreel.builders.runtime.build import check_space, in_words
from stressreel.core.errors import OutputError
from stressreel.video.estimate import BuildEstimate, PartEstimate


@pytest.fixture
def check(tmp_path, monkeypatch):
    """Check a build against a disk; return what was said, and whether the close estimate was needed."""

    def check(free, rough, close, out=tmp_path / "new" / "out"):
        said, probed = [], []
        monkeypatch.setattr(shutil, "disk_usage", lambda path: SimpleNamespace(free=free))
        check_space(out, lambda probe: probed.append(probe) or (close if probe else rough), said.append)
        return " ".join(said), any(probed)

    return check


def test_close_estimate_decides_if_space_may_lack(check):
    assert check(100e9, rough=20e9, close=500e9) == ("", False)
    assert check(100e9, rough=60e9, close=70e9) == ("", True)
    warning, _ = check(100e9, rough=60e9, close=80e9)  # enough, but within the error
    assert "80.0GB" in warning
    with pytest.raises(OutputError, match=r"140GB .*new.out.* 77\.0GB .*--no-check-space"):
        check(77e9, rough=60e9, close=140e9)


def test_files_of_earlier_run_count_as_free(check, tmp_path):
    with pytest.raises(OutputError):
        check(2e6, rough=4e6, close=4e6, out=tmp_path)
    (tmp_path / ".build" / "staging").mkdir(parents=True)
    (tmp_path / ".build" / "staging" / "1.mp4").write_bytes(bytes(4_000_000))
    assert check(2e6, rough=4e6, close=4e6, out=tmp_path) == ("", True)


@pytest.mark.parametrize(("free", "lacks"), [(2e9, True), (9e9, False)])
def test_dry_run_shows_sizes_and_space(tmp_path, monkeypatch, free, lacks):
    monkeypatch.setattr(shutil, "disk_usage", lambda path: SimpleNamespace(free=free))
    parts = tuple(PartEstimate(*level, 10**9, 60) for level in (("clean", 0), ("jpeg", 1), ("jpeg", 3)))
    lines = in_words(BuildEstimate(3 * 10**9, 35 * 10**8, 3600, "from samples", parts), tmp_path)
    assert ["jpeg", "2.00GB", "02:00", "1.00GB", "1.00GB"] in [line.split() for line in lines]
    assert "  about 3.00GB and 1:00:00 of CPU" in lines
    assert ("not enough" in lines[-1]) is lacks
