"""Small annotation files, written line by line."""

from collections.abc import Callable
from pathlib import Path

import pytest

Write = Callable[..., Path]


@pytest.fixture
def write(tmp_path):
    """Write lines to a file of the test's folder and return its path."""

    def write_lines(name, *lines):
        path = tmp_path / name
        path.write_text("\n".join([*lines, ""]), encoding="utf-8")
        return path

    return write_lines
