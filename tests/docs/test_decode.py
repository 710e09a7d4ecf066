"""The snippets of docs/decode.md, in order, on the sample that the page names."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "decode.md"
SNIPPETS = re.findall(r"^```python\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.M | re.S)
TORCHCODEC = "decoder = videos[0]"

# Where torchcodec has no FFmpeg to load, its snippet alone is left out. A snippet that should not decode must not.
RUN = """
import sys
import datasets
decoded = []
real = datasets.Video.decode_example
datasets.Video.decode_example = lambda self, *a, **k: decoded.append(1) or real(self, *a, **k)
names = {"__name__": "snippets"}
for number, snippet in enumerate(sys.argv[1:]):
    decoded.clear()
    exec(compile(snippet, f"snippet {number}", "exec"), names)
    assert bool(decoded) == snippet.startswith("decoder ="), f"snippet {number} decoded {len(decoded)} videos"
"""


@pytest.fixture
def folder(tmp_path: Path, built: Path) -> Path:
    """A folder with out/clavi, built from the sample."""
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "clavi").symlink_to(built)
    return tmp_path


def torchcodec_fault() -> str:
    """What keeps torchcodec from loading; empty if nothing does."""
    done = subprocess.run([sys.executable, "-c", "import torchcodec"], capture_output=True, text=True)
    return done.stderr.strip().splitlines()[-1][:80] if done.returncode else ""


@pytest.mark.full
def test_snippets_run_and_decode_where_stated(folder: Path) -> None:
    assert len(SNIPPETS) >= 10
    fault = torchcodec_fault()
    done = subprocess.run(
        [sys.executable, "-c", RUN, *(snippet for snippet in SNIPPETS if not fault or TORCHCODEC not in snippet)],
        cwd=folder,
        capture_output=True,
        text=True,
        env={**os.environ, "HF_HOME": str(folder / "cache")},
    )
    assert done.returncode == 0, done.stderr[-3000:]
    if fault:
        pytest.skip(f"all but that of torchcodec ran, which needs FFmpeg's shared libraries: {fault}")
