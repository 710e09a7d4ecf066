import errno
from pathlib import Path

import pytest
from stressreel.builders.runtime.store import SharedFolderStore
from stressreel.core.errors import OutputError, TransientError


@pytest.fixture
def local(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The local disk."""
    (tmp_path / "local").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "local"))
    return tmp_path / "local"


def test_units_are_made_here_and_delivered_there(local: Path, tmp_path: Path) -> None:
    store = SharedFolderStore(tmp_path / "shared" / "staging")
    for content in (b"one", b"two!"):  # a second delivery takes the place of the first
        scratch = store.scratch("u")
        assert scratch.parent == local
        assert list(scratch.iterdir()) == []
        (scratch / "1.mp4").write_bytes(content)
        store.deliver("u", {"1.mp4": len(content)})
        assert store.read("u", "1.mp4", "") == content
        assert store.has("u", {"1.mp4": len(content)})
    assert list(local.iterdir()) == []
    assert [path.name for path in (store.path / "u").iterdir()] == ["1.mp4"]
    store.discard("u")
    assert list(store.path.iterdir()) == []


def test_a_reader_never_sees_half_a_file(local: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = SharedFolderStore(tmp_path / "staging")
    scratch = store.scratch("u")
    (scratch / "1.mp4").write_bytes(b"content")

    def full(source: Path, target: Path) -> None:
        Path(target).write_bytes(b"con")
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr("shutil.copyfile", full)
        with pytest.raises(OutputError, match="no space left"):
            store.deliver("u", {"1.mp4": 7})
    assert list((store.path / "u").iterdir()) == []


def test_a_file_system_that_is_away_is_no_lasting_failure(
    local: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = SharedFolderStore(tmp_path / "staging")
    store.scratch("u")

    def stale(source: Path, target: Path) -> None:
        raise OSError(errno.ESTALE, "Stale file handle")

    monkeypatch.setattr("shutil.copyfile", stale)
    with pytest.raises(TransientError, match="is temporarily unreachable: Stale file handle"):
        store.deliver("u", {"1.mp4": 7})
