"""Annotation files that `build.json` names, which may be a stranger's."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from stressreel.builders.replanned import input_files
from stressreel.errors import InputError


@pytest.mark.parametrize(
    "inputs", [{}, [], None, {"/etc/hostname": "0"}, {"../secret": "0"}, {"..": "0"}, {"a/b": "0"}]
)
def test_what_names_no_files_is_refused(tmp_path: Path, inputs: Any) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "secret").write_text("x")
    with pytest.raises(InputError, match="expected names of files"):
        input_files({"inputs": inputs}, tmp_path / "folder")


def test_files_are_found_by_name(tmp_path: Path) -> None:
    (tmp_path / "below").mkdir()
    (tmp_path / "below" / "my file.csv").write_text("x")
    assert input_files({"inputs": {"my file.csv": "0"}}, tmp_path) == {
        "my file.csv": tmp_path / "below" / "my file.csv"
    }
