import errno
from pathlib import Path

import pytest
from stressreel.builders.runtime.store import FolderStore, SharedFolderStore
from stressreel.core.errors import InputError, OutputError, TransientError


def test_files_are_delivered_whole_from_scratch_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    local, store = tmp_path / "local", SharedFolderStore(tmp_path / "shared" / "staging")
    local.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(local))
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
    for code, error in ((errno.ENOSPC, OutputError), (errno.ESTALE, TransientError)):
        (store.scratch("u") / "1.mp4").write_bytes(b"content")

        def fail(source: Path, target: Path, code: int = code) -> None:
            Path(target).write_bytes(b"con")
            raise OSError(code, "the system's words")

        monkeypatch.setattr("shutil.copyfile", fail)
        with pytest.raises(error):
            store.deliver("u", {"1.mp4": 7})
        assert list((store.path / "u").iterdir()) == []


def test_store_reads_no_file_outside_its_unit(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("secret")
    store = FolderStore(tmp_path / "staging")
    folder = store.scratch("unit")
    (folder / "link.mp4").symlink_to(tmp_path / "secret")
    for name in ("../../secret", str(tmp_path / "secret"), "link.mp4"):
        with pytest.raises(InputError):
            store.has("unit", {name: 6})
        with pytest.raises(InputError):
            store.read("unit", name, "")
    (folder / "near.mp4").symlink_to(folder / "file.mp4")
    (folder / "file.mp4").write_text("secret")
    assert not store.has("unit", {"near.mp4": 6})
