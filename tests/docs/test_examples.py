"""No example on a page is left out in silence: it runs, is parsed, names what is there, or a reason stands here."""

from __future__ import annotations

import re
import shlex
import tomllib
from collections.abc import Iterator

import pytest
from pages import OURS, ROOT, WALKED, Block, blocks

EXTRAS = set(tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"])
UNRUN = {
    ("docs/causal.md", "alpha"): "a formula",
    ("docs/clavi.md", "V  ="): "a formula",
    ("docs/clavi.md", "V′ ="): "a formula",
    ("docs/decode.md", "sudo apt-get"): "changes the system",
    ("docs/decode.md", "brew"): "changes the system",
    ("docs/decode.md", "conda"): "changes the system",
    ("docs/install.md", "git clone"): "a clone has no address of its own",
    ("docs/outputs.md", "OUT/"): "a listing of files",
    ("docs/outputs.md", "mlcroissant"): "tests/data_cards/test_croissant.py reads with its library",
    ("docs/outputs.md", "22 videos re-encoded"): "what a command prints",
    ("docs/own_benchmark.md", "[project.entry-points"): "the lines of examples/own_benchmark/pyproject.toml",
    ("docs/own_benchmark.md", "backwards ="): "the lines of examples/own_benchmark/pyproject.toml",
    ("docs/storage.md", "from datasets"): "needs object storage of the reader's",
}
"""Page and beginning of a statement, or of a block of Python that is not fenced, to why no test runs or parses it."""


def statements() -> Iterator[tuple[Block, str]]:
    """Yield what each block shows: its statements, or the block itself where it is Python."""
    for block in blocks():
        if block.page in WALKED or block.language == "python":  # test_walkthrough.py and test_pages.py run these
            continue
        if block.language == "bibtex":  # no example; test_references_are_those_of_the_cards compares them
            continue
        python = re.search(r"^(from|import) ", block.text, re.M)
        lines = Block(block.page, block.language, block.text[: python.start()] if python else block.text)
        for each in [*lines.statements, *([block.text[python.start() :]] if python else [])]:
            yield block, each


def reason_for(page: str, statement: str) -> tuple[str, str] | None:
    """Find the entry of UNRUN that a statement falls under."""
    return next((entry for entry in UNRUN if entry[0] == page and statement.startswith(entry[1])), None)


def fault(block: Block, statement: str) -> str:
    """Find what is wrong with an example; empty if nothing is."""
    if OURS.match(statement):
        return ""  # test_pages.py parses it
    if reason_for(block.page, statement):
        return ""
    words = shlex.split(re.sub(r"^([A-Z_]+=\S+ )+", "", statement), comments=True)
    if words[:2] == ["pip", "install"]:
        extras = {
            name for group in re.findall(r"(?:\.|stressreel)\[(.*?)\]", " ".join(words)) for name in group.split(",")
        }
        return f"no such extra: {', '.join(extras - EXTRAS)}" if extras - EXTRAS else ""
    if words[0] == "make":
        targets = re.findall(r"^(\S+):", (ROOT / "Makefile").read_text("utf-8"), re.M)
        return "" if words[1] in targets else "no such target"
    if words[0] == "python" and words[1].endswith(".py"):
        return fault_of_script(words[1], [word.split("=")[0] for word in words[2:] if word.startswith("--")])
    return "add what runs or parses it, or a reason to UNRUN"


def fault_of_script(script: str, options: list[str]) -> str:
    """Find out whether a script of the checkout exists and knows the options."""
    path = ROOT / script
    if not path.exists():
        return "no such script"
    source = path.read_text("utf-8")
    unknown = [each for each in options if each != "--" and f'"{each}"' not in source]
    return f"{script} has no {', '.join(unknown)}" if unknown else ""


@pytest.mark.parametrize("page", sorted({block.page for block in blocks()}))
def test_every_example_runs_or_has_a_reason(page: str) -> None:
    faults = [f"{each}\n    {fault(block, each)}" for block, each in statements() if block.page == page]
    assert [each for each in faults if not each.endswith("    ")] == []


def test_no_reason_is_idle() -> None:
    used = {reason_for(block.page, each) for block, each in statements()}
    assert set(UNRUN) - used == set()


@pytest.mark.parametrize(
    "statement",
    [*("pip install 'stressreel[nothing]'", "make nothing", "python benchmarks/nothing.py", "nobody knows this")],
)
def test_what_is_not_there_is_a_fault(statement: str) -> None:
    assert fault(Block("README.md", "", statement), statement)


def test_references_are_those_of_the_cards() -> None:
    cards = "".join(path.read_text("utf-8") for path in (ROOT / "builders").glob("*/card.md.j2"))
    references = [block.text for block in blocks() if block.language == "bibtex"]
    entries = [entry for text in references for entry in re.split(r"\n(?=@)", text.strip())]
    assert len(entries) >= 3
    assert [entry for entry in entries if entry not in cards] == []
