"""The site builds without a warning, and a link that leads nowhere is one."""

from __future__ import annotations

import html
import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path

import click
import pytest
from pages import ROOT, every_command

pytestmark = [
    pytest.mark.full,  # `make docs` builds the site as well, and fails on every warning
    pytest.mark.skipif(
        any(importlib.util.find_spec(name) is None for name in ("sphinx", "myst_parser", "furo")),
        reason="Sphinx, MyST and furo are not installed: `make docs` installs them",
    ),
]
DOCS = ROOT / "docs"


def build(pages: Path, to: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [
            sys.executable,
            "-m",
            "sphinx",
            "-q",
            "-W",
            "--keep-going",
            "-d",
            str(to / "trees"),
            str(pages),
            str(to / "html"),
        ],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONWARNINGS": "ignore"},
    )


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, built from all pages."""
    to = tmp_path_factory.mktemp("site")
    done = build(DOCS, to)
    assert done.returncode == 0, done.stderr[-3000:]
    return to / "html"


def test_the_reference_has_every_command_with_its_options(site: Path) -> None:
    text = (site / "cli.html").read_text("utf-8")
    headings = set(re.findall(r"<h2>(.*?)<a", text))
    expected = {path for path, _ in every_command() if not path.startswith("stressreel build ")}
    assert headings == expected
    shown = html.unescape(text)
    for path, command in every_command():
        for option in command.params:
            if path in expected and isinstance(option, click.Option):
                assert ", ".join(option.opts) in shown, path


def test_the_functions_have_their_docstrings(site: Path) -> None:
    import stressreel

    text = (site / "functions.html").read_text("utf-8")
    for name in stressreel.__all__:
        if name != "__version__":
            assert f'id="stressreel.{name}"' in text or f'id="stressreel.api.{name}"' in text
    assert 'class="field-list' in text  # arguments are laid out, not left as written
