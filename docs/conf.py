"""The site: Sphinx with furo and MyST, built by `make docs`. Warnings are errors, dead links and anchors among them."""

from __future__ import annotations

import sys
from pathlib import Path

from docutils import nodes
from sphinx.application import Sphinx

sys.path.insert(0, str(Path(__file__).parent))

from command_reference import command_reference
from stressreel.core.version import __version__

project = "stressreel"
author = "the authors of stressreel"
copyright = "the authors of stressreel, Apache License 2.0"
release = version = __version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
exclude_patterns = ["_build"]
smartquotes = False  # `--option` keeps its dashes
highlight_language = "text"  # indented blocks are commands, listings and formulas alike

myst_heading_anchors = 4  # the anchors that GitHub makes

default_role = "code"  # of docstrings, whose code stands between single backticks
autodoc_member_order = "bysource"
autodoc_typehints = "description"
autodoc_mock_imports = ["torch", "transformers", "scipy"]  # the site needs no extra but `docs`
napoleon_numpy_docstring = False
napoleon_use_ivar = True

html_theme = "furo"
html_title = f"stressreel {__version__}"
html_copy_source = False
html_theme_options = {"navigation_with_keys": True}


def fill_in(app: Sphinx, page: str, source: list[str]) -> None:
    """Put the commands behind the text of cli.md, and the pages that index.md does not list behind its own."""
    if page == "cli":
        source[0] += command_reference()
    if page == "index":
        unlisted = sorted(app.env.found_docs - set(source[0].splitlines()) - {"index"})
        if unlisted:
            source[0] += "\n".join(["", "```{toctree}", ":caption: More", ":maxdepth: 1", "", *unlisted, "```", ""])


def mend_dashes(app: Sphinx, page: nodes.document) -> None:
    """Write the dashes that Sphinx puts behind the names of arguments as dashes."""
    for text in list(page.findall(nodes.Text)):
        if text == " -- ":
            text.parent.replace(text, nodes.Text(" – "))


def setup(app: Sphinx) -> None:
    """Have pages read through `fill_in` and `mend_dashes`."""
    app.connect("source-read", fill_in)
    app.connect("doctree-read", mend_dashes)
