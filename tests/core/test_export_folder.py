"""A folder that an export goes on with: what is its own is known, what is not stays."""

import json
import re
from unicodedata import normalize

import pytest
from stressreel.core.errors import InputError
from stressreel.core.export_folder import ABOUT, file_names, open_folder

MADE_BY = {"exported_by": "stressreel 0", "format": "files", "fingerprint": "1"}


def test_files_are_named_before_they_appear(tmp_path):
    folder = tmp_path / "a" / "b"
    place = open_folder(folder, MADE_BY, force=False)
    assert not folder.exists()
    place.announce({"t/a": {}})
    place.announce({"t/b": {"sha256": "2"}})
    about = {**MADE_BY, "complete": False, "files": {"t/a": {}, "t/b": {"sha256": "2"}}}
    assert json.loads((folder / ABOUT).read_text()) == about
    again = open_folder(folder, MADE_BY, force=False)
    assert again.before == about["files"]
    again.announce({"t/b": {}})
    again.finish()
    assert json.loads((folder / ABOUT).read_text()) == {**about, "complete": True, "files": {"t/b": {}}}


def test_files_of_earlier_export_are_removed_last(tmp_path):
    open_folder(tmp_path, MADE_BY, force=False).announce({"t/a": {}, "t/b": {}, "u/c": {"rows": 3}})
    for name in ("t/a", "t/b", "u/c", "t/mine"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    other = {**MADE_BY, "fingerprint": "2"}
    with pytest.raises(InputError, match="an unfinished export of another output"):
        open_folder(tmp_path, other, force=False)
    place = open_folder(tmp_path, other, force=True)
    assert place.before == {}
    place.announce({"t/b": {}})
    assert (tmp_path / "u" / "c").is_file()
    stopped = json.loads((tmp_path / ABOUT).read_text())
    assert (stopped["fingerprint"], set(stopped["files"])) == ("2", {"t/a", "t/b", "u/c"})
    with pytest.raises(InputError, match=r"not written by an export: t/mine"):
        open_folder(tmp_path, other, force=False).announce({"t/b": {}, "t/mine": {}})
    place.finish()
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["b", "mine", ABOUT, "t"]


NAMES = ("../a", "/a", "t/../../a", "..", "a\0b", "t\\a", ".a")


@pytest.mark.parametrize(
    "more",
    [None, {"format": "webdataset"}, {"exported_by": "another"}, {"files": []}, *({"files": {n: {}}} for n in NAMES)],
)
def test_what_is_not_ours_is_refused(more, tmp_path):
    (tmp_path / "a").write_text("theirs")
    if more is not None:
        (tmp_path / ABOUT).write_text(json.dumps({**MADE_BY, "files": {}, **more}))
    for force in (False, True):
        with pytest.raises(InputError, match=r"is not empty and does not contain output\.json of an export"):
            open_folder(tmp_path, MADE_BY, force=force)


def test_file_names_are_valid_and_distinct_everywhere():
    stems = ["a:b", "a%3Ab", 'q?*"<>|', "CON", "nul.x", "-rf", " x ", ".", "A", "a", "clip.v2", "x" * 240]
    stems += ["caf\u00e9", "cafe\u0301"]
    names = file_names([f"{stem}.mp4" for stem in stems])
    for name in names:
        assert not re.search(r'[\x00-\x1f"*/:<>?\\|]|^[. -]|[. ]$', name)
        assert not re.match(r"(con|nul)(\.|$)", name, re.IGNORECASE)
        assert len(name.encode()) <= 230
    assert len({normalize("NFC", name).casefold() for name in names}) == len(stems)
    assert {"a%3Ab.mp4", "clip.v2.mp4"} <= {*names}
    for name in ("../x.mp4", "a/b.mp4", "a\\b.mp4", "a\x1b[2J.mp4", "", ".mp4", None):
        with pytest.raises(InputError, match="not a valid file name"):
            file_names([name])
