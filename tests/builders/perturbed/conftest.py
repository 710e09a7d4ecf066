"""Two parts of one bar-coded video."""

from collections.abc import Callable
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def two_parts(bars, once: Callable[[str, Callable[[Path], object]], Path]) -> Path:
    """Folder of `film.mp4` with captions of two parts in `c.csv`; read only."""

    def write(folder: Path) -> None:
        folder.mkdir()
        bars.write(folder / "film.mp4", frames=90)
        (folder / "c.csv").write_text("video,caption,start,end\nfilm,first | one,0.5,1.5\nfilm,second,1.2,2.6\n")

    return once("two_parts", write)
