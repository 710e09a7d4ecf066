"""What an output brings along stays in it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from stressreel.core.errors import InputError
from stressreel.core.output import inside, open_output, refuse_foreign_entries


@pytest.mark.parametrize("name", ["a", "a/b.mp4", "..a", "a b", "é"])
def test_names_that_stay(tmp_path: Path, name: str) -> None:
    assert inside(tmp_path, name).is_relative_to(tmp_path)


@pytest.mark.parametrize("name", ["", "..", "../a", "a/../../b", "/etc/passwd", "a\\b", "a\0", "a\nb", "link/a", None])
def test_names_that_lead_out(tmp_path: Path, name: str) -> None:
    (tmp_path / "link").symlink_to(tmp_path.parent)
    with pytest.raises(InputError, match=r"not a valid file name|is a link that leads outside"):
        inside(tmp_path, name)


@pytest.mark.parametrize("place", ["build.json", "videos/test-00000-of-00001.parquet", "videos", ".build"])
def test_an_output_with_a_link_is_not_opened(tmp_path: Path, place: str) -> None:
    out = tmp_path / "out"
    (out / place).parent.mkdir(parents=True)
    (out / place).symlink_to(tmp_path)
    with pytest.raises(InputError, match="is a link"):
        open_output(out)


def test_links_in_a_circle(tmp_path: Path) -> None:
    (tmp_path / "self").symlink_to("self")
    with pytest.raises(InputError, match="is a link"):
        open_output(tmp_path)
    with pytest.raises(InputError, match="form a cycle"):
        inside(tmp_path, "self/file")


def test_an_output_with_a_pipe_is_not_opened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "build.json")
    with pytest.raises(InputError, match="is a pipe"):
        open_output(tmp_path)


def test_a_snapshot_of_the_hub_is_one_of_files(tmp_path: Path) -> None:
    snapshot, blob = tmp_path / "snapshots" / "abc", tmp_path / "blobs" / "1f"
    for folder in (snapshot, blob.parent):
        folder.mkdir(parents=True)
    blob.write_text("{}")
    (snapshot / "build.json").symlink_to("../../blobs/1f")
    refuse_foreign_entries(snapshot)
    (tmp_path / "secret").write_text("{}")
    (snapshot / "other").symlink_to("../../secret")
    with pytest.raises(InputError, match="other is a link"):
        refuse_foreign_entries(snapshot)
