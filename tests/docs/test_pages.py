"""What README and the docs show works: Python runs, commands are parsed, and what is named is there."""

import re
import shlex
import tomllib
from collections.abc import Callable
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from typing import Any

import datasets
import pytest
from cyclopts import CycloptsError
from forgeries import know_the_example
from markdown_it import MarkdownIt
from pages import BUILDING, PAGES, ROOT, WALKED, blocks, commands, parse, python_blocks
from stressreel.annotations.samples import cached_sample
from stressreel.api.list import options_page
from stressreel.core.errors import StressreelError

GITHUB = "https://github.com/stressreel/stressreel"
LONG = ("docs/decode.md", "docs/probes.md", *BUILDING)
RUN = [page for page in PAGES if python_blocks(page) and page not in WALKED]  # test_walkthrough.py runs those


def torchcodec_loads() -> bool:
    try:
        import_module("torchcodec")
    except (ImportError, OSError, RuntimeError):  # it needs FFmpeg's shared libraries
        return False
    return True


@pytest.fixture
def folder_for(tmp_path: Path, built: Path, build_once: Callable[..., Path]) -> Callable[..., Path]:
    """Makes a folder with the outputs and the videos that the Python of pages names."""

    def make(page: str) -> Path:
        texts = ("--modality", "multimodal", "--perturbations", "jpeg", "--text-perturbations", "no_verbs")
        recipes = ("--severity", 3, "--perturbations", "jumble,gaussian_noise", "--no-render")
        chosen = (*texts, "--preset", "ultrafast") if page == "docs/text.md" else recipes
        suite = build_once("build-perturbed", "--msrvtt", "sample", "--limit", 2, *chosen)
        outputs = {"perturbed": suite, "msrvtt-p": suite}
        if page != "docs/api.md":  # which builds it
            outputs["clavi"] = built
        if page == "docs/decomp.md":
            outputs["decomp"] = build_once("build-decomp", "--charades", "sample")
        (tmp_path / "out").mkdir()
        for name, output in outputs.items():
            (tmp_path / "out" / name).symlink_to(output)
        (tmp_path / "MSRVTT").symlink_to(cached_sample("msrvtt"))
        return tmp_path

    return make


@pytest.mark.parametrize("page", [pytest.param(page, marks=[pytest.mark.full] * (page in LONG)) for page in RUN])
def test_python_runs_and_decodes_where_stated(
    page: str, folder_for: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = folder_for(page)
    decode, decoded = datasets.Video.decode_example, list[object]()
    monkeypatch.chdir(folder)
    monkeypatch.setattr("datasets.config.HF_DATASETS_CACHE", folder / "cache")  # else another run's rows are read
    monkeypatch.setattr(
        "datasets.Video.decode_example", lambda *args, **more: decoded.append(1) or decode(*args, **more)
    )
    names: dict[str, Any] = {}
    for number, block in enumerate(python_blocks(page)):
        decodes = block.startswith("decoder =")
        if not decodes or torchcodec_loads():
            decoded.clear()
            exec(compile(block, f"{page}, block {number + 1}", "exec"), names)
            assert page != "docs/decode.md" or bool(decoded) == decodes, block


@pytest.mark.full
@pytest.mark.filterwarnings("ignore")
def test_notebook_draws_progress_by_widgets(folder_for: Callable[..., Path], monkeypatch: pytest.MonkeyPatch) -> None:
    nbformat, nbclient = pytest.importorskip("nbformat"), pytest.importorskip("nbclient")
    folder = folder_for("docs/api.md")
    for name in ("HF_DATASETS_CACHE", "IPYTHONDIR", "JUPYTER_RUNTIME_DIR"):
        monkeypatch.setenv(name, str(folder / name))
    cells = python_blocks("docs/api.md")
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    done = nbclient.NotebookClient(notebook, resources={"metadata": {"path": str(folder)}}).execute()
    parts = [part for cell in done["cells"] for part in cell["outputs"] if part.get("name") == "stderr"]
    errors = "".join(part["text"] for part in parts)
    assert re.sub(r"^.*: \d+:\d\d\n", "", errors, flags=re.M) == ""  # but for stages that a slow machine reports
    models = [model for model in done["metadata"]["widgets"].values() for model in model["state"].values()]
    labels = [str(model["state"].get("value")).replace("\u2007", " ") for model in models]
    assert labels.count("build-clavi: 100%") == "".join(cells).count("stressreel.build_clavi(")


@pytest.mark.parametrize(("page", "words"), [pytest.param(*each, id=shlex.join(each[1])) for each in commands()])
def test_commands_are_parsed(page: str, words: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Path, "is_file", lambda path: True)  # files that are not here
    know_the_example(monkeypatch)
    try:
        parse(words)
    except (CycloptsError, StressreelError) as error:
        pytest.fail(f"{page}: {shlex.join(words)}\n{error}")


def test_named_extras_targets_and_scripts_exist() -> None:
    text = "\n".join(block.text for block in blocks()).replace("\\\n", " ")
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"]
    groups = re.findall(r"pip install .*?(?:\.|stressreel)\[(.*?)\]", text)
    assert {name for group in groups for name in group.split(",")} <= {*extras}
    targets = re.findall(r"^(\S+):", (ROOT / "Makefile").read_text("utf-8"), re.M)
    assert {*re.findall(r"^(?:\$ )?make (\w+)", text, re.M)} <= {*targets}
    scripts = re.findall(r"python ((?:examples|benchmarks|\.ci)/\S+\.py)(.*)", text)
    assert len(scripts) > 5
    for script, words in scripts:
        source = (ROOT / script).read_text("utf-8")
        assert [option for option in re.findall(r" (--[\w-]+)", words) if f'"{option}"' not in source] == []


def test_references_are_those_of_the_cards() -> None:
    cards = "".join(path.read_text("utf-8") for path in (ROOT / "builders").glob("*/card.md.j2"))
    references = [block.text for block in blocks() if block.language == "bibtex"]
    entries = [entry for text in references for entry in re.split(r"\n(?=@)", text.strip())]
    assert len(entries) >= 3
    assert [entry for entry in entries if entry not in cards] == []


def test_options_page_follows_the_settings() -> None:
    assert PAGES["docs/options.md"].read_text("utf-8").strip() == options_page().strip(), (
        "run `stressreel list options > docs/options.md`"
    )


TEXTS = {**PAGES, "CONTRIBUTING.md": ROOT / "CONTRIBUTING.md"}


def links(path: Path) -> list[str]:
    """The relative links and pictures of a page. README has their addresses on GitHub, since PyPI shows it, too."""
    found = [
        str(child.attrs.get("href") or child.attrs.get("src"))
        for token in MarkdownIt().enable("table").parse(path.read_text("utf-8"))
        for child in token.children or ()
        if child.type in ("link_open", "image")
    ]
    found = [re.sub(rf"^{GITHUB}/(blob|raw)/main/", f"{ROOT.resolve()}/", link) for link in found]
    return [link for link in found if not re.match(r"[a-z]+:", link)]


def anchors(text: str) -> set[str]:
    """The anchors that GitHub gives the headings of a page."""
    found: list[str] = []
    for opening, heading in pairwise(MarkdownIt().parse(text)):
        if opening.type == "heading_open":
            words = "".join(child.content for child in heading.children or ()).lower()
            slug = re.sub(r"[^\w\- ]", "", words).replace(" ", "-")
            before = len([each for each in found if re.fullmatch(rf"{re.escape(slug)}(-\d+)?", each)])
            found.append(f"{slug}-{before}" if before else slug)
    return set(found)


@pytest.mark.parametrize("page", TEXTS)
def test_links_lead_to_a_file_and_a_heading(page: str) -> None:
    for link in links(TEXTS[page]):
        name, _, anchor = link.partition("#")
        target = (TEXTS[page].parent / name).resolve() if name else TEXTS[page]
        assert target.exists(), link
        assert target.is_relative_to(ROOT.resolve()), link
        assert not anchor or anchor in anchors(target.read_text("utf-8")), link


def test_anchors_are_those_of_github() -> None:
    found = anchors("# What's `verify OUT`, and why?\n\n## Cost\n\n## Cost\n")
    assert found == {"whats-verify-out-and-why", "cost", "cost-1"}
