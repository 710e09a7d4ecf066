"""Configure the site: Sphinx with furo and MyST, built by `make docs`. Warnings, such as dead links, are errors."""

from __future__ import annotations

import re

from cyclopts.docs import generate_markdown_docs
from docutils import nodes
from sphinx.application import Sphinx
from stressreel.builders import BENCHMARKS
from stressreel.cli.commands import application, build_application
from stressreel.core.version import __version__

project = "stressreel"
author = "the authors of stressreel"
copyright = "the authors of stressreel, Apache License 2.0"
release = version = __version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
exclude_patterns = ["_build"]
smartquotes = False  # keeps the dashes of `--option`
highlight_language = "text"  # indented blocks are commands, listings and formulas

myst_heading_anchors = 4  # GitHub creates the same anchors

default_role = "code"  # docstrings write code in single backticks
autodoc_member_order = "bysource"
autodoc_typehints = "description"
autodoc_mock_imports = ["torch", "transformers", "scipy"]  # the site only needs the extra `docs`
napoleon_numpy_docstring = False
napoleon_use_ivar = True

html_theme = "furo"
html_title = f"stressreel {__version__}"
html_copy_source = False
html_theme_options = {"navigation_with_keys": True}


def fill_in(app: Sphinx, page: str, source: list[str]) -> None:
    """Append the command reference to cli.md, and the pages that index.md does not list to index.md."""
    if page == "cli":
        source[0] += command_reference()
    if page == "index":
        unlisted = sorted(app.env.found_docs - set(source[0].splitlines()) - {"index"})
        if unlisted:
            source[0] += "\n".join(["", "```{toctree}", ":caption: More", ":maxdepth: 1", "", *unlisted, "```", ""])


def command_reference() -> str:
    """Return the help of every command in Markdown, in which builds are described as programs only."""
    programs = [application(every=True), *(build_application(f"build-{name}") for name in BENCHMARKS)]
    left_out = [*BENCHMARKS, "--install-completion"]  # which cli.md describes
    parts = [
        generate_markdown_docs(program, heading_level=2, generate_toc=False, exclude_commands=left_out)
        for program in programs
    ]
    text = "\n\n".join(["", *parts])
    return re.sub(r"^(?! {4}).*<.*", lambda line: line[0].replace("<", r"\<"), text, flags=re.MULTILINE)


def mend_dashes(app: Sphinx, page: nodes.document) -> None:
    """Replace the hyphens that Sphinx writes after argument names by dashes."""
    for text in list(page.findall(nodes.Text)):
        if text == " -- ":
            text.parent.replace(text, nodes.Text(" – "))


def setup(app: Sphinx) -> None:
    """Register the two hooks with Sphinx."""
    app.connect("source-read", fill_in)
    app.connect("doctree-read", mend_dashes)
