"""What is read from Python and what is asked: an output that does not fit together is refused in words."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
import stressreel
from stressreel.api.questions import find_clips, read_questions
from stressreel.core.errors import InputError


def test_an_output_that_changed_after_its_questions_were_read(built: Path, tmp_path: Path) -> None:
    out = shutil.copytree(built, tmp_path / "out")
    asked = read_questions(out, (), None, (), 1)
    info = json.loads((out / "build.json").read_text())
    (out / "build.json").write_text(json.dumps({**info, "settings": True}))
    with pytest.raises(InputError, match="is inconsistent"):
        find_clips(asked, None)


def test_an_output_without_its_fingerprint(built: Path, tmp_path: Path) -> None:
    out = shutil.copytree(built, tmp_path / "out")
    info = json.loads((out / "build.json").read_text())
    del info["fingerprint"]
    (out / "build.json").write_text(json.dumps(info))
    with pytest.raises(InputError, match="is damaged"):
        stressreel.read(out).items()
