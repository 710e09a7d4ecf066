"""What travels: what the tables, the card and `build.json` name, and nothing else that lies in the folder."""

import hashlib
import json
import shutil
import subprocess
from pathlib import Path

import pytest
from stressreel.core.errors import InputError
from stressreel.core.output import open_output
from stressreel.exports.hub.contents import File, files_of, hashed

FIXED = {"README.md", "build.json", "units.parquet"}


def names(out: Path) -> set[str]:
    return {file.name for file in files_of(open_output(out))}


def test_what_a_build_leaves_travels_but_its_state_and_what_nothing_names(built: Path, tmp_path: Path) -> None:
    out = Path(shutil.copytree(built, tmp_path / "out"))
    left = {path.relative_to(out).as_posix() for path in out.rglob("*") if path.is_file()}
    travels = {name for name in left if not name.startswith(".build/")}
    assert FIXED < travels < left
    assert {file.name: file.size for file in files_of(open_output(out))} == {
        name: (out / name).stat().st_size for name in travels
    }
    for name in ("notes.txt", "figures/mine.png", "figures/.types.png.1.tmp.png", "other/test-00000-of-00001.parquet"):
        (out / name).parent.mkdir(exist_ok=True)
        (out / name).write_bytes(b"mine")
    for fingerprint, more in (
        ("of another output", set()),
        (open_output(out).info["fingerprint"], {"text_shift.json"}),
    ):
        shift = {"fingerprint": fingerprint, "originals": {"different": 0, "perplexity": None}}
        shift |= {name: {} for name in ("tools", "perturbations", "families", "paper")}
        (out / "text_shift.json").write_text(json.dumps(shift))
        assert names(out) == travels | more
    (out / "units.parquet").unlink()
    with pytest.raises(InputError, match=r"lacks units\.parquet"):
        files_of(open_output(out))


@pytest.mark.parametrize("content", [b"", bytes(range(256)) * 9000])
def test_hashes_are_those_of_git_and_of_large_files(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(content)
    found = hashed(File("file", path, len(content)))
    assert found.sha256 == hashlib.sha256(content).hexdigest()
    if shutil.which("git"):
        git = subprocess.run(["git", "hash-object", "--no-filters", path], capture_output=True, text=True, check=True)
        assert found.blob == git.stdout.strip()
