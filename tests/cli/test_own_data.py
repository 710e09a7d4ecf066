"""A user's own clips: the splits they get, and a card that says whose they are."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
import stressreel
import yaml
from cards import check_layout
from commands import info, refuses, run
from stressreel.core.errors import MismatchError
from stressreel.core.files import write_json

DETAILS = {
    "title": "It's a kitchen --fresh [x](y)",
    "licence": "CC-BY-NC-4.0",
    "homepage": "https://example.org/kitchen",
    "description": "Clips of *one* kitchen.",
}
QUIET = {"render": False, "progress": False}
BIBTEX = "@misc{own2026,\n  title = {Own clips ``` <!-- notes: x -->}\n}\n"
PHRASES = ("opening a door", "washing the dishes", "reading a book", "folding some towels", "throwing a ball")


@pytest.fixture(scope="module")
def own(once: Callable[[str, Callable[[Path], object]], Path]) -> Path:
    """Segments, captions and a BibTeX file, and a build of each kind; read only."""

    def write(folder: Path) -> None:
        folder.mkdir()
        segments, said = folder / "segments.csv", [(n, place) for n in range(8) for place in (0, 2)]
        lines = [f"v{n}.mp4,{5 * place},{5 * place + 6},{PHRASES[(n + place) % 5]}\n" for n, place in said]
        segments.write_text("".join(["video,start,end,phrase\n", *lines]))
        (folder / "captions.csv").write_text("video,caption\na.mp4,a man opens a door\nb.mp4,a dog runs\n")
        (folder / "own.bib").write_text(BIBTEX)
        given = DETAILS | {"cite": folder / "own.bib"} | QUIET
        stressreel.build_clavi(segments=segments, out=folder / "clavi", **given)
        stressreel.build_clavi(segments=segments, out=folder / "plain", **QUIET)
        suite = {"captions": folder / "captions.csv", "perturbations": "jpeg", "out": folder / "perturbed"}
        stressreel.build_perturbed(**suite, **given)

    return once("own-data", write)


def test_without_shares_all_is_in_test(own: Path) -> None:
    counts = info(own / "plain")["counts"]
    assert (list(counts["questions"]), counts["pairs"]) == (["test"], {"test": 8})
    given = ("--segments", own / "segments.csv", "--no-render", "--dry-run")
    refuses(run("build-clavi", *given, "--split", "train"), "'train'", "--split-shares")
    audit = stressreel.audit(own / "plain", sbert=False, resamples=100)
    assert any("--split-shares" in note and "column split" in note for note in audit.notes)
    text = (own / "plain" / "README.md").read_text()
    assert "license: unknown" in text
    assert "--licence" in text
    assert "--cite FILE.bib" in text


@pytest.mark.parametrize(
    ("name", "method"), [("clavi", "rawal2024dissecting"), ("perturbed", "schiappa2022robustness")]
)
def test_card_and_croissant_are_the_users(name: str, method: str, own: Path) -> None:
    text = (own / name / "README.md").read_text()
    head = yaml.safe_load(text.split("---\n")[1])
    assert (head["pretty_name"], head["license"]) == (DETAILS["title"], "cc-by-nc-4.0")
    assert "**Licence: cc-by-nc-4.0 (<https://creativecommons.org/licenses/by-nc/4.0/>).**" in text
    assert f"<{DETAILS['homepage']}>" in text
    assert "Clips of \\*one\\* kitchen." in text
    assert text.count("<!-- notes:") == 1
    check_layout(text)
    citation = text[text.index("## Citation") :]
    assert citation.index("own2026") < citation.index("method of") < citation.index(method)
    assert citation.count("```") == 4
    croissant = json.loads((own / name / "croissant.json").read_text())
    assert (croissant["name"], croissant["url"]) == (DETAILS["title"], DETAILS["homepage"])
    assert croissant["license"] == "https://creativecommons.org/licenses/by-nc/4.0/"
    assert croissant["citeAs"].startswith("@misc{own2026")
    assert croissant["description"].startswith(DETAILS["description"])


def test_details_and_bibtex_file_are_verified(own: Path, tmp_path: Path) -> None:
    copy = Path(shutil.copytree(own / "clavi", tmp_path / "copy"))
    given = {"segments": own / "segments.csv", "cite": own / "own.bib", **DETAILS, **QUIET}
    before = {path: path.stat().st_mtime_ns for path in copy.rglob("*.parquet")}
    stressreel.build_clavi(**given, out=copy)
    assert info(copy) == info(own / "clavi")
    with pytest.raises(MismatchError, match=r"cc-by-nc-4\.0 → mit"):
        stressreel.build_clavi(**given | {"licence": "mit"}, out=copy)
    assert before == {path: path.stat().st_mtime_ns for path in copy.rglob("*.parquet")}
    assert stressreel.verify(copy, sources=own).passed
    shutil.copy(own / "segments.csv", tmp_path)
    (tmp_path / "own.bib").write_text(BIBTEX.replace("2026", "2025"))
    assert "record" in {each.name for each in stressreel.verify(copy, sources=tmp_path) if each.count}
    content = info(copy)
    content["source"]["license"] = {"license": "cc0-1.0"}
    write_json(copy / "build.json", content)
    stressreel.card(copy)
    assert [each.name for each in stressreel.verify(copy) if each.count] == ["settings"]
