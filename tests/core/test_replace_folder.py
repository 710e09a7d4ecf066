"""A folder that is written whole: what is ours is written over, what is not stays, and a failure changes nothing."""

import json
from pathlib import Path
from typing import Any

import pytest
from stressreel.core.errors import InputError, OutputError
from stressreel.core.export_folder import ABOUT, replace_folder, replaceable_files

MADE_BY = {"path": "out", "exported_by": "stressreel 0"}


def content(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_an_export_is_replaced_and_other_files_stay(tmp_path: Path) -> None:
    folder = tmp_path / "a" / "b"
    replace_folder(folder, MADE_BY, {"x.yaml": b"1", "y.yaml": b"1"}, replaceable_files(folder, force=False))
    assert json.loads((folder / ABOUT).read_text()) == {**MADE_BY, "files": [ABOUT, "x.yaml", "y.yaml"]}
    (folder / "mine.yaml").write_text("mine")
    with pytest.raises(InputError, match="overwrite it with --force"):
        replaceable_files(folder, force=False)
    replace_folder(folder, MADE_BY, {"y.yaml": b"2", "z.yaml": b"2"}, replaceable_files(folder, force=True))
    found = content(folder)
    assert found.pop(ABOUT)
    assert found == {"mine.yaml": b"mine", "y.yaml": b"2", "z.yaml": b"2"}


@pytest.mark.parametrize(
    "about",
    [
        None,
        "no json",
        "[]",
        json.dumps(MADE_BY),
        *(
            json.dumps({**MADE_BY, "files": files})
            for files in (["x.yaml"], [ABOUT, "../x"], [ABOUT, ".."], [ABOUT, 1])
        ),
        json.dumps({"exported_by": "another", "files": [ABOUT]}),
    ],
)
def test_what_is_not_ours_is_refused(about: str | None, tmp_path: Path) -> None:
    (tmp_path / "x.yaml").write_text("theirs")
    if about is not None:
        (tmp_path / ABOUT).write_text(about)
    for force in (False, True):
        with pytest.raises(InputError, match=r"is not empty and does not contain output\.json"):
            replaceable_files(tmp_path, force=force)


def test_a_file_of_somebody_else_is_not_written_over(tmp_path: Path) -> None:
    folder = tmp_path / "tasks"
    replace_folder(folder, MADE_BY, {"x.yaml": b"1"}, frozenset())
    (folder / "y.yaml").write_text("theirs")
    before = content(folder)
    with pytest.raises(InputError, match=r"has y\.yaml, which was not written by the earlier export"):
        replace_folder(folder, MADE_BY, {"x.yaml": b"2", "y.yaml": b"2"}, replaceable_files(folder, force=True))
    assert content(folder) == before
    (folder / "x.yaml").unlink()
    (folder / "x.yaml").mkdir()
    with pytest.raises(InputError, match=r"has x\.yaml"):
        replace_folder(folder, MADE_BY, {"x.yaml": b"2"}, replaceable_files(folder, force=True))


def test_a_write_that_fails_leaves_what_was_there(tmp_path: Path, monkeypatch: Any) -> None:
    old, new = tmp_path / "old", tmp_path / "new"
    replace_folder(old, MADE_BY, {"x.yaml": b"1", "y.yaml": b"1"}, frozenset())
    before, write = content(old), Path.write_bytes

    def full(path: Path, data: bytes) -> int:
        if path.name == "y.yaml":
            raise OSError(28, "No space left on device")
        return write(path, data)

    monkeypatch.setattr(Path, "write_bytes", full)
    for folder in (old, new):
        with pytest.raises(OutputError, match=r"cannot write .*No space left"):
            replace_folder(folder, MADE_BY, {"x.yaml": b"2", "y.yaml": b"2"}, frozenset(before))
    assert content(old) == before
    assert not new.exists()


def test_targets_and_names_that_are_none_are_refused(tmp_path: Path) -> None:
    for name in ("../x", "a/b", "..", "", "/x", ".x"):
        with pytest.raises(InputError, match="not a valid file name"):
            replace_folder(tmp_path / "to", {}, {name: b"1"}, frozenset())
    assert list(tmp_path.iterdir()) == []
    file = tmp_path / "file"
    file.write_text("")
    with pytest.raises(InputError, match="is a file"):
        replaceable_files(file, force=True)
    assert replaceable_files(file / "below", force=True) == frozenset()
    for folder in (file / "below", Path("/proc/stressreel")):  # nobody, not even root, may write there
        with pytest.raises(OutputError, match="Give a writable folder with --to"):
            replace_folder(folder, MADE_BY, {"x.yaml": b""}, frozenset())
