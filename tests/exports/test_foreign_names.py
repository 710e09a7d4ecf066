"""Names from a stranger's output: nothing outside of `--to` is written, removed or read because of them."""

import hashlib
import json
import tarfile
from pathlib import Path

import pytest
from commands import refuses, run
from forger import forge
from stressreel.builders.runtime.store import FolderStore
from stressreel.core.errors import InputError
from stressreel.core.output import open_output
from stressreel.data_cards.gallery.answers import _beside
from stressreel.evaluation.metrics.scores import SCORES, _earlier_figures

ODD = ["../x", "a\x1b[2Jb", *(pytest.param(name, marks=pytest.mark.full) for name in ("/tmp/stressreel-x", "a\x00b"))]
EXPORTS = {
    "files": ("export", "files", "--no-progress"),
    "webdataset": ("export", "webdataset", "--no-progress"),
    "gallery": ("gallery", "--no-progress", "--limit", "1"),
    "lmms-eval": ("export", "lmms-eval"),
    "inspect": ("export", "inspect"),
}


def export(kind, out, *more):
    return run("stressreel", *EXPORTS[kind], out, *more)


def outside(parent):
    """The files and folders beside the folder `to`."""
    return {
        path.relative_to(parent).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""
        for path in parent.rglob("*")
        if path.relative_to(parent).parts[0] != "to"
    }


@pytest.mark.parametrize("name", ODD)
def test_video_names_write_nothing_outside(built, tmp_path, name):
    def change(forged):
        row = forged.rows("videos")[0]
        row["video"] = {**row["video"], "path": f"{name}.mp4"}
        before = row["video_id"]
        for other in forged.rows("videos", "questions"):
            other["video_id"] = name if other["video_id"] == before else other["video_id"]

    out = forge(built, tmp_path / "out", change, card=False)
    before = outside(tmp_path)
    done = {kind: export(kind, out, "--to", tmp_path / "to" / kind) for kind in EXPORTS}
    assert outside(tmp_path) == before
    assert not Path("/tmp/stressreel-x.mp4").exists()
    refuses(done["files"], "not a valid file name")
    assert done["webdataset"].code == 0, done["webdataset"].err  # names are percent-encoded
    for shard in (tmp_path / "to" / "webdataset").rglob("*.tar"):
        with tarfile.open(shard) as tar:
            assert not any(set(member) & set("/\\\n\x1b") or ".." in member for member in tar.getnames())
    assert {each.code for each in done.values()} <= {0, 1}


def test_released_layout_refuses_bad_video_names(built_graphs, tmp_path):
    def change(forged):
        first = forged.tables["questions"]["test"][0]["video_id"]
        for row in forged.rows("questions", "graphs"):
            row["video_id"] = "../x" if row["video_id"] == first else row["video_id"]

    out = forge(built_graphs, tmp_path / "out", change)
    before = outside(tmp_path)
    refuses(run("stressreel", "export", "released", out, "--to", tmp_path / "deep" / "to"), "verify")
    assert outside(tmp_path) == before | {"deep": ""}


@pytest.mark.parametrize("kind", ["files", "webdataset", "gallery"])
def test_links_in_earlier_exports_are_refused(built, tmp_path, kind):
    """A folder of the export is a link to another one: nothing is written or removed there."""
    to, other = tmp_path / "to", tmp_path / "other"
    assert export(kind, built, "--to", to).code == 0
    folder = next(path for path in to.iterdir() if path.name in ("videos", "media"))
    folder.rename(other)
    folder.symlink_to(other, target_is_directory=True)
    before, about = outside(tmp_path), json.loads((to / "output.json").read_text())
    for fingerprint in (about["fingerprint"], "0"):
        (to / "output.json").write_text(json.dumps({**about, "fingerprint": fingerprint}))
        refuses(export(kind, built, "--to", to, "--force"), "is a link that leads outside")
        assert outside(tmp_path) == before


def test_scores_name_only_files_of_their_folder(tmp_path):
    (tmp_path / "a" / "scores").mkdir(parents=True)
    (tmp_path / "x").write_text("1")
    for name in ("..", "", ".", "/", "../x", "a\x00b", "../../etc/passwd"):
        with pytest.raises(InputError, match="not in the same parent folder"):
            _beside(tmp_path / "a" / "scores", {"file": name})
    figures = ["../x.png", "..", "", "mine.txt", "/x.png", "a\0.png", "scores.png"]
    scored = {"predictions": {"file": "p"}, "output": {"fingerprint": "f"}, "figures": figures}
    scored |= {"benchmark": "b", "config": "c", "split": "s"}
    (tmp_path / SCORES).write_text(json.dumps(scored))
    assert _earlier_figures(tmp_path, scored, beside=False, force=False) == ["scores.png"]


def test_table_names_cannot_leave_the_output(built):
    output = open_output(built)
    for name in ("../out/videos", "..", "/tmp", "videos/../videos", ""):
        assert output.shards(name) == []


@pytest.mark.parametrize("unit", ["../x", "..", ".", "", "/x", "a\x00b", "a/../../x"])
def test_unit_names_cannot_leave_the_store(tmp_path, unit):
    for folder in ("x", "files"):
        (tmp_path / folder).mkdir()
    (tmp_path / "x" / "mine").touch()
    store = FolderStore(tmp_path / "files")
    for call in (
        lambda: store.scratch(unit),
        lambda: store.discard(unit),
        lambda: store.has(unit, {"mine": 0}),
        lambda: store.has("u", {unit: 0}),
        lambda: store.read(unit, "mine", ""),
        lambda: store.remove(unit, "mine"),
        lambda: store.remove("u", f"../{unit}"),
    ):
        with pytest.raises(InputError):
            call()
    assert (tmp_path / "x" / "mine").exists()
