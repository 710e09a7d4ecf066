"""`data_show`: what it returns is what the command prints."""

from __future__ import annotations

from pathlib import Path

import pytest
import stressreel
from commands import run
from stressreel.core.errors import UsageError


def test_what_is_here() -> None:
    found = stressreel.data_show()
    assert f"{found}\n" == run("stressreel", "data", "show").out
    assert dict(found.to_pandas().values) == found.found


def test_a_file_is_no_folder(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(UsageError, match="is a file"):
        stressreel.data_download(to=tmp_path / "file")
