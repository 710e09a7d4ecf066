import pytest


@pytest.fixture(scope="session")
def two_parts(bars, once):
    """Folder of `film.mp4` with captions of two parts in `c.csv`; read only."""

    def write(folder):
        folder.mkdir()
        bars.write(folder / "film.mp4", frames=90)
        (folder / "c.csv").write_text("video,caption,start,end\nfilm,first | one,0.5,1.5\nfilm,second,1.2,2.6\n")

    return once("two_parts", write)


@pytest.fixture(scope="session")
def suite_options():
    """Options of a suite with every kind of table."""
    visual = ("--perturbations", "jpeg,jumble", "--severity", "1,3", "--preset", "ultrafast", "--modality", "all")
    return (*visual, "--text-perturbations", "typos,no_verbs", "--pairs", "jpeg:no_verbs")


@pytest.fixture(scope="session")
def suite(build_once, msrvtt, suite_options):
    """A suite of two clips with every kind of table; read only."""
    return build_once("build-perturbed", "--msrvtt", msrvtt, "--limit", 2, *suite_options)
