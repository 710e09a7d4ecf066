"""A user's own clips: the splits they get, and a card that says whose they are."""

import json
import shlex
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import stressreel
import yaml
from cards import check_layout
from commands import info, refuses, rows, run
from stressreel.core.errors import MismatchError
from stressreel.core.files import write_json

DETAILS = {
    "title": "It's a kitchen --fresh [x](y)",
    "licence": "CC-BY-NC-4.0",
    "homepage": "https://example.org/kitchen",
    "description": "Clips of *one* kitchen.",
}
BIBTEX = "@misc{own2026,\n  title = {Own clips ``` <!-- notes: x -->}\n}\n"
PHRASES = ("opening a door", "washing the dishes", "reading a book", "folding some towels", "throwing a ball")
Build = Callable[..., Path]


def write_segments(path: Path, videos: int) -> Path:
    lines = ["video,start,end,phrase"]
    for number in range(videos):
        for place in range(2):
            phrase = PHRASES[(number + 2 * place) % len(PHRASES)]
            lines.append(f"v{number}.mp4,{10 * place},{10 * place + 6},{phrase}")
    path.write_text("\n".join([*lines, ""]))
    return path


@pytest.fixture(scope="module")
def own(once: Callable[[str, Callable[[Path], object]], Path]) -> Path:
    """Segments, captions and a BibTeX file, and a build of each kind; read only."""

    def write(folder: Path) -> None:
        folder.mkdir()
        segments = write_segments(folder / "segments.csv", 8)
        (folder / "captions.csv").write_text("video,caption\na.mp4,a man opens a door\nb.mp4,a dog runs\n")
        (folder / "own.bib").write_text(BIBTEX)
        given = DETAILS | {"cite": folder / "own.bib", "render": False, "progress": False}
        stressreel.build_clavi(segments=segments, out=folder / "clavi", **given)
        stressreel.build_clavi(segments=segments, out=folder / "plain", render=False, progress=False)
        suite = {"captions": folder / "captions.csv", "perturbations": "jpeg", "out": folder / "perturbed"}
        stressreel.build_perturbed(**suite, **given)

    return once("own-data", write)


def head(out: Path) -> dict[str, Any]:
    text = (out / "README.md").read_text()
    return yaml.safe_load(text.split("---\n")[1])


def test_all_pairs_are_in_test(own: Path) -> None:
    counts = info(own / "plain")["counts"]
    assert {table: list(splits) for table, splits in counts.items()} == {"questions": ["test"], "pairs": ["test"]}
    assert counts["pairs"]["test"] == 8


def test_own_videos_have_no_train_split(own: Path) -> None:
    given = ("--segments", own / "segments.csv", "--no-render", "--dry-run")
    refuses(run("build-clavi", *given, "--split", "train"), "'train'", "--split-shares")


def test_shares_give_each_split_videos(tmp_path: Path) -> None:
    file = write_segments(tmp_path / "own.csv", 20)
    given = {"segments": file, "render": False, "progress": False, "split_shares": (0.5, 0.25, 0.25)}
    stressreel.build_clavi(**given, out=tmp_path / "a")
    first = info(tmp_path / "a")
    assert set(first["counts"]["pairs"]) == {"train", "validation", "test"}
    sources = [{row["source_id"] for row in rows(tmp_path / "a", "pairs", split)} for split in first["counts"]["pairs"]]
    assert sum(map(len, sources)) == len(set.union(*sources))
    assert first["settings"]["split_shares"] == [0.5, 0.25, 0.25]
    assert "--split-shares 0.5,0.25,0.25" in first["command"]
    lines = file.read_text().splitlines()
    file.write_text("\n".join([lines[0], *lines[:0:-1], ""]))
    stressreel.build_clavi(**given, out=tmp_path / "b")
    assert info(tmp_path / "b")["fingerprints"] == first["fingerprints"]


def test_audit_says_how_to_get_a_train_split(own: Path) -> None:
    audit = stressreel.audit(own / "plain", sbert=False, resamples=100)
    assert any("--split-shares" in note and "column split" in note for note in audit.notes)


def test_card_and_croissant_are_the_users(own: Path) -> None:
    for name, method in (("clavi", "rawal2024dissecting"), ("perturbed", "schiappa2022robustness")):
        out = own / name
        text = (out / "README.md").read_text()
        assert (head(out)["pretty_name"], head(out)["license"]) == (DETAILS["title"], "cc-by-nc-4.0")
        assert "Unknown licence" not in text
        assert "**Licence: cc-by-nc-4.0 (<https://creativecommons.org/licenses/by-nc/4.0/>).**" in text
        assert f"<{DETAILS['homepage']}>" in text
        assert "Clips of \\*one\\* kitchen." in text
        assert text.count("<!-- notes:") == 1
        check_layout(text)
        citation = text[text.index("## Citation") :]
        assert citation.index("own2026") < citation.index("method of") < citation.index(method)
        assert citation.count("```") == 4
        croissant = json.loads((out / "croissant.json").read_text())
        assert (croissant["name"], croissant["url"]) == (DETAILS["title"], DETAILS["homepage"])
        assert croissant["license"] == "https://creativecommons.org/licenses/by-nc/4.0/"
        assert croissant["citeAs"].startswith("@misc{own2026")
        assert croissant["description"].startswith(DETAILS["description"])


def test_card_without_details_says_which_options_give_them(own: Path) -> None:
    text = (own / "plain" / "README.md").read_text()
    assert head(own / "plain")["license"] == "unknown"
    assert "--licence" in text
    assert "--cite FILE.bib" in text


def test_stated_licence_is_enough_to_push(own: Path) -> None:
    assert "cc-by-nc-4.0" in stressreel.push(own / "clavi", "me/own", dry_run=True, decode=False).contents.licence
    refuses(run("stressreel", "push", own / "plain", "me/own", "--dry-run"), "--licence-confirmed")


def test_details_and_bibtex_file_are_verified(own: Path, tmp_path: Path) -> None:
    for given in ({}, {"sources": own}):
        assert stressreel.verify(own / "clavi", **given).passed
    shutil.copy(own / "segments.csv", tmp_path)
    lacking = run("stressreel", "verify", own / "clavi", "--sources", tmp_path)
    assert lacking.code == 1
    assert "--cite" in lacking.out
    (tmp_path / "own.bib").write_text(BIBTEX.replace("2026", "2025"))
    assert "record" in {each.name for each in stressreel.verify(own / "clavi", sources=tmp_path) if each.count}


def test_forged_licence_is_found(own: Path, tmp_path: Path) -> None:
    shutil.copytree(own / "clavi", tmp_path / "o")
    content = info(tmp_path / "o")
    content["source"]["license"] = {"license": "cc0-1.0"}
    write_json(tmp_path / "o" / "build.json", content)
    stressreel.card(tmp_path / "o")
    assert [each.name for each in stressreel.verify(tmp_path / "o") if each.count] == ["settings"]


def test_other_details_are_other_settings(own: Path, tmp_path: Path) -> None:
    shutil.copytree(own / "clavi", tmp_path / "o")
    given = {**DETAILS, "segments": own / "segments.csv", "cite": own / "own.bib", "render": False, "progress": False}
    stressreel.build_clavi(**given, out=tmp_path / "o")
    assert info(tmp_path / "o") == info(own / "clavi")
    with pytest.raises(MismatchError, match=r"cc-by-nc-4\.0 → mit"):
        stressreel.build_clavi(**given | {"licence": "mit"}, out=tmp_path / "o")


def test_recorded_command_builds_the_same_again(own: Path, tmp_path: Path) -> None:
    words = shlex.split(info(own / "clavi")["command"])[1:-1]
    assert run("build-clavi", *words, tmp_path / "o", "--no-progress", cwd=own).code == 0
    assert info(tmp_path / "o")["fingerprint"] == info(own / "clavi")["fingerprint"]


def test_details_may_come_from_yaml(own: Path, tmp_path: Path) -> None:
    given = {"segments": str(own / "segments.csv"), "render": False, "split-shares": ".4,.3,.3", **DETAILS}
    (tmp_path / "own.yaml").write_text(yaml.safe_dump({**given, "cite": str(own / "own.bib")}))
    assert run("build-clavi", "--config", tmp_path / "own.yaml", "--dry-run").code == 0
