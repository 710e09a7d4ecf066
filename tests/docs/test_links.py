"""Links between pages lead somewhere on GitHub: to a file of the repository, and to a heading of it."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path

import pytest
from markdown_it import MarkdownIt
from markdown_it.token import Token
from pages import PAGES, ROOT

TEXTS = {**PAGES, "CONTRIBUTING.md": ROOT / "CONTRIBUTING.md"}


def links(path: Path) -> list[str]:
    """The relative links and pictures of a page."""
    found = [
        str(child.attrs.get("href") or child.attrs.get("src"))
        for token in MarkdownIt().enable("table").parse(path.read_text("utf-8"))
        for child in token.children or ()
        if child.type in ("link_open", "image")
    ]
    return [link for link in found if not re.match(r"[a-z]+:", link)]


def anchors(path: Path) -> set[str]:
    """The anchors that GitHub gives the headings of a page."""
    tokens = MarkdownIt().parse(path.read_text("utf-8"))
    found: list[str] = []
    for opening, heading in pairwise(tokens):
        if opening.type == "heading_open":
            slug = re.sub(r"[^\w\- ]", "", plain(heading).lower()).replace(" ", "-")
            before = sum(each == slug or re.fullmatch(rf"{re.escape(slug)}-\d+", each) is not None for each in found)
            found.append(f"{slug}-{before}" if before else slug)
    return set(found)


def plain(heading: Token) -> str:
    """The words of a heading without its markup."""
    return "".join(child.content for child in heading.children or ())


@pytest.mark.parametrize("page", TEXTS)
def test_links_lead_to_a_file_and_a_heading(page: str) -> None:
    for link in links(TEXTS[page]):
        name, _, anchor = link.partition("#")
        target = (TEXTS[page].parent / name).resolve() if name else TEXTS[page]
        assert target.exists(), link
        assert target.is_relative_to(ROOT.resolve()), link
        if anchor:
            assert anchor in anchors(target), link


def test_anchors_are_those_of_github(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("# What's `verify OUT`, and why?\n\n## Cost\n\n## Cost\n", "utf-8")
    assert anchors(page) == {"whats-verify-out-and-why", "cost", "cost-1"}
