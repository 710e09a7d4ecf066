import pytest


@pytest.fixture(scope="session")
def two_parts(bars, once):
    """Folder of `film.mp4` with captions of two parts in `c.csv`; read only."""

    def write(folder):
        folder.mkdir()
        bars.write(folder / "film.mp4", frames=90)
        (folder / "c.csv").write_text("video,caption,start,end\nfilm,first | one,0.5,1.5\nfilm,second,1.2,2.6\n")

    return once("two_parts", write)
