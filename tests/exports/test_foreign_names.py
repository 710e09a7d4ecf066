"""Names from a stranger's output: nothing outside of `--to` is written, removed or read because of them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from commands import refuses, run
from forger import Forgery, forge
from stressreel.builders.runtime.object_store import ObjectStore
from stressreel.builders.runtime.store import FolderStore
from stressreel.core.errors import InputError
from stressreel.core.export_folder import replace_folder
from stressreel.core.output import open_output
from stressreel.data_cards.gallery.answers import _beside
from stressreel.evaluation.metrics.folder import SCORES, _earlier_figures
from stressreel.exports.released import write_layout

ODD = ["../x", "../../x", "a/b", "/tmp/stressreel-x", "..", ".", "a\\b", "a\nb", "a\x1b[2Jb", "a\x00b", "x/../../y"]
EXPORTS = {
    "files": ("export", "files"),
    "webdataset": ("export", "webdataset"),
    "lmms-eval": ("export", "lmms-eval"),
    "inspect": ("export", "inspect"),
    "gallery": ("gallery",),
}
RESUMABLE = [name for name in EXPORTS if name in ("files", "webdataset", "gallery")]


def listing(folder: Path) -> dict[str, str]:
    """Everything in a folder and below, links as what they name."""
    return {
        path.relative_to(folder).as_posix(): str(path.readlink())
        if path.is_symlink()
        else hashlib.sha256(path.read_bytes()).hexdigest()
        if path.is_file()
        else ""
        for path in folder.rglob("*")
    }


def outside(parent: Path) -> dict[str, str]:
    """What is beside the folder `to`."""
    return {name: content for name, content in listing(parent).items() if name.split("/")[0] != "to"}


def export(kind: str, out: Path, *more: object) -> Any:
    progress = ("--no-progress",) if kind in RESUMABLE else ()
    return run("stressreel", EXPORTS[kind][0], *EXPORTS[kind][1:], out, *progress, *more)


@pytest.fixture(scope="module")
def graphs(build_once: Callable[..., Path]) -> Path:
    return build_once("build-decomp", "--charades", "sample", "--embed", "no")


@pytest.mark.parametrize("name", ODD)
@pytest.mark.parametrize("kind", EXPORTS)
def test_names_of_videos(built: Path, tmp_path: Path, kind: str, name: str) -> None:
    def change(forged: Forgery) -> None:
        row = forged.rows("videos")[0]
        row["video"] = {**row["video"], "path": f"{name}.mp4"}
        before = row["video_id"]
        for other in [*forged.rows("videos"), *forged.rows("questions")]:
            if other["video_id"] == before:
                other["video_id"] = name

    out = forge(built, tmp_path / "out", change)
    before = outside(tmp_path)
    done = export(kind, out, "--to", tmp_path / "to", *(("--limit", "2") if kind == "gallery" else ()))
    assert outside(tmp_path) == before
    assert not Path("/tmp/stressreel-x.mp4").exists()
    if kind == "files":
        refuses(done, "no name for a file")
    elif kind == "webdataset":
        assert done.code == 0, done.err  # names are percent-encoded
        import tarfile

        for shard in (tmp_path / "to").rglob("*.tar"):
            with tarfile.open(shard) as tar:
                assert not any(set(member) & set("/\\\n\x1b") or ".." in member for member in tar.getnames())
    else:
        assert done.code in (0, 1)
        assert "Traceback" not in done.err


@pytest.mark.parametrize("name", [name for name in ODD if name.strip(".")])
def test_released_names_files_by_videos(graphs: Path, tmp_path: Path, name: str) -> None:
    def change(forged: Forgery) -> None:
        first = forged.tables["questions"]["test"][0]["video_id"]
        for table in ("questions", "graphs"):
            for row in forged.rows(table):
                if row["video_id"] == first:
                    row["video_id"] = name

    out = forge(graphs, tmp_path / "out", change)
    before = outside(tmp_path)
    done = run("stressreel", "export", "released", out, "--to", tmp_path / "deep" / "to")
    refuses(done, "verify")
    assert {key: value for key, value in outside(tmp_path).items() if key != "deep"} == before
    assert listing(tmp_path / "deep") == {}


def test_a_layout_has_no_name_twice(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="the name of two files"):
        write_layout(tmp_path / "to", [("a.json", b"1"), ("a.json", b"2")])


@pytest.mark.parametrize("kind", RESUMABLE)
def test_an_earlier_export_that_names_other_files(built: Path, tmp_path: Path, kind: str) -> None:
    victim, to = tmp_path / "victim.txt", tmp_path / "to"
    victim.write_text("mine")
    given = ("--to", to, *(("--limit", "1") if kind == "gallery" else ()))
    assert export(kind, built, *given).code == 0
    about = json.loads((to / "output.json").read_text())
    kept = about["files"]
    for name in ("../victim.txt", str(victim), "a/../../victim.txt", "..", "a\x00b"):
        (to / "output.json").write_text(json.dumps({**about, "files": {**kept, name: {}}}))
        refuses(export(kind, built, *given, "--force"), "holds something")
        assert victim.read_text() == "mine"


@pytest.mark.parametrize("kind", RESUMABLE)
@pytest.mark.parametrize("same", [True, False])
def test_links_in_an_earlier_export(built: Path, tmp_path: Path, kind: str, same: bool) -> None:
    """A folder of the export is a link to another one: nothing is written or removed there."""
    to, other = tmp_path / "to", tmp_path / "other"
    given = ("--to", to, *(("--limit", "1") if kind == "gallery" else ()))
    assert export(kind, built, *given).code == 0
    folder = next(path for path in sorted(to.iterdir()) if path.is_dir() and path.name in ("videos", "media"))
    folder.rename(other)
    folder.symlink_to(other, target_is_directory=True)
    if not same:
        about = json.loads((to / "output.json").read_text())
        (to / "output.json").write_text(json.dumps({**about, "fingerprint": "0"}))
    before = outside(tmp_path)
    refuses(export(kind, built, *given, "--force"), "leads out of")
    assert outside(tmp_path) == before


@pytest.mark.parametrize("kind", ["lmms-eval", "inspect"])
def test_an_earlier_folder_of_tasks_that_names_other_files(built: Path, tmp_path: Path, kind: str) -> None:
    victim, to = tmp_path / "victim.txt", tmp_path / "to"
    victim.write_text("mine")
    assert export(kind, built, "--to", to).code == 0
    about = json.loads((to / "output.json").read_text())
    for name in ("../victim.txt", str(victim), "..", "a\x00b"):
        (to / "output.json").write_text(json.dumps({**about, "files": [*about["files"], name]}))
        refuses(export(kind, built, "--to", to, "--force"), "holds something")
        assert victim.read_text() == "mine"


@pytest.mark.parametrize("name", ["../x", "a/b", "..", "", "/x"])
def test_tasks_are_files_of_their_folder(tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError, match="no name for one"):
        replace_folder(tmp_path / "to", {}, {name: b"1"}, frozenset())
    assert listing(tmp_path) == {}


@pytest.mark.parametrize("name", ["..", "", ".", "/", "../x", "a\x00b", "../../etc/passwd"])
def test_scores_name_predictions_beside_them(tmp_path: Path, name: str) -> None:
    (tmp_path / "a" / "scores").mkdir(parents=True)
    (tmp_path / "x").write_text("1")
    with pytest.raises(InputError, match="not beside it"):
        _beside(tmp_path / "a" / "scores", {"file": name})


def test_scores_name_figures_of_their_folder(tmp_path: Path) -> None:
    scored = {
        "predictions": {"file": "p"},
        "output": {"fingerprint": "f"},
        "benchmark": "b",
        "config": "c",
        "split": "s",
        "figures": ["../x.png", "..", "", "mine.txt", "/x.png", "a\0.png", "scores.png"],
    }
    (tmp_path / SCORES).write_text(json.dumps(scored))
    assert _earlier_figures(tmp_path, scored, beside=False, force=False) == ["scores.png"]


def test_rows_name_no_tables_elsewhere(built: Path, tmp_path: Path) -> None:
    output = open_output(built)
    for name in ("../out/videos", "..", "/tmp", "videos/../videos", ""):
        assert output.shards(name) == []


@pytest.mark.parametrize("unit", ["../x", "..", ".", "", "/x", "a\x00b", "a/../../x"])
def test_units_have_their_files_in_the_store(tmp_path: Path, unit: str) -> None:
    (tmp_path / "x").mkdir()
    (tmp_path / "x" / "mine").touch()
    (tmp_path / "files").mkdir()
    store = FolderStore(tmp_path / "files")
    for call in (
        lambda: store.scratch(unit),
        lambda: store.discard(unit),
        lambda: store.has(unit, {"mine": 0}),
        lambda: store.has("u", {unit: 0}),
        lambda: store.read(unit, "mine", ""),
        lambda: store.remove(unit, "mine"),
        lambda: store.remove("u", f"../{unit}"),
        lambda: ObjectStore.discard(None, unit),  # type: ignore[arg-type]
    ):
        with pytest.raises(InputError):
            call()
    assert (tmp_path / "x" / "mine").exists()
