"""Files that are published, and the licence of every known source."""

import hashlib
import importlib
import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest
import stressreel
from stressreel.core.errors import InputError, UsageError
from stressreel.core.output import open_output
from stressreel.core.source import Source
from stressreel.exports.hub import File, files_of, hashed, permission


def names(out):
    return {file.name for file in files_of(open_output(out))}


def test_only_named_files_are_published(built, tmp_path):
    out = Path(shutil.copytree(built, tmp_path / "out"))
    sizes = {path.relative_to(out).as_posix(): path.stat().st_size for path in out.rglob("*") if path.is_file()}
    travels = {name: size for name, size in sizes.items() if not name.startswith(".build/")}
    assert {"README.md", "build.json", "units.parquet"} < travels.keys() < sizes.keys()
    assert {file.name: file.size for file in files_of(open_output(out))} == travels
    for name in ("notes.txt", "figures/mine.png", "figures/.types.png.1.tmp.png", "other/test-00000-of-00001.parquet"):
        (out / name).parent.mkdir(exist_ok=True)
        (out / name).write_bytes(b"mine")
    for fingerprint, more in (
        ("of another output", set()),
        (open_output(out).info["fingerprint"], {"text_shift.json"}),
    ):
        (out / "text_shift.json").write_text(json.dumps({"fingerprint": fingerprint}))
        assert names(out) == travels.keys() | more
    (out / "units.parquet").unlink()
    with pytest.raises(InputError, match=r"lacks units\.parquet"):
        files_of(open_output(out))


@pytest.mark.parametrize("content", [b"", bytes(range(256)) * 9000])
def test_hashes_equal_those_of_git(content, tmp_path):
    path = tmp_path / "file"
    path.write_bytes(content)
    found = hashed(File("file", path, len(content)))
    assert found.sha256 == hashlib.sha256(content).hexdigest()
    if shutil.which("git"):
        git = subprocess.run(["git", "hash-object", "--no-filters", path], capture_output=True, text=True, check=True)
        assert found.blob == git.stdout.strip()


FOLDER = Path(stressreel.__file__).parent / "annotations"
SOURCES = {
    f"{path.stem}.{name}": value
    for path in sorted(FOLDER.glob("*.py"))
    for name, value in vars(importlib.import_module(f"stressreel.annotations.{path.stem}")).items()
    if isinstance(value, Source)
}
SAID = "Written permission of 3 May\nby the owners."


@pytest.mark.parametrize("name", SOURCES)
@pytest.mark.parametrize("videos", [True, False])
def test_only_free_sources_need_no_confirmation(name, videos):
    source = SOURCES[name]
    if source.redistributable:
        assert source.license["license"] in permission(source, videos=videos, confirmed=None)
    else:
        with pytest.raises(InputError, match=re.escape(source.terms or source.name)):
            permission(source, videos=videos, confirmed=None)
    if videos and source.redistributable is False:  # stay whatever is said
        with pytest.raises(InputError, match="may not be published"):
            permission(source, videos=True, confirmed=SAID)
    else:
        said = permission(source, videos=videos, confirmed=SAID)
        assert '"Written permission of 3 May by the owners."' in said
        assert (source.terms or "") in said
    with pytest.raises(UsageError, match="is empty"):
        permission(source, videos=False, confirmed=" \n")
