"""README and the pages of the site, and the examples in them."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from markdown_it import MarkdownIt
from stressreel.builders import BENCHMARKS
from stressreel.cli.commands import application, build_application
from stressreel.cli.main import launcher

ROOT = Path(__file__).parents[2]
PAGES = {
    path.relative_to(ROOT).as_posix(): path for path in (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")))
}
WALKED = ("README.md", *(f"docs/{name}.md" for name in ("quickstart", "own_data", "ask", "share", "use")))
"""Pages that tests/docs/test_walkthrough.py follows from the beginning to the end."""
PROGRAMS = ("stressreel", *(f"build-{name}" for name in BENCHMARKS))
OURS = re.compile(rf"(?:\$ )?(?:{'|'.join(PROGRAMS)})(?= |$)")


@dataclass(frozen=True)
class Block:
    """A block of code on a page: fenced, with its language, or indented, with none."""

    page: str
    language: str
    text: str

    @property
    def statements(self) -> list[str]:
        """Its lines, those that end in a backslash joined with the next, without those that are empty."""
        return [line.strip() for line in self.text.replace("\\\n", " ").splitlines() if line.strip()]


@cache
def blocks() -> tuple[Block, ...]:
    """Read every block of every page; directives of Sphinx (`{toctree}`) are none."""
    return tuple(
        Block(page, token.info.strip(), token.content)
        for page, path in PAGES.items()
        for token in MarkdownIt().parse(path.read_text("utf-8"))
        if token.type == "code_block" or (token.type == "fence" and not token.info.startswith("{"))
    )


def python_blocks(page: str) -> list[str]:
    return [block.text for block in blocks() if block.page == page and block.language == "python"]


BUILDING = [
    page
    for page in PAGES
    if page not in WALKED and any("stressreel.build_clavi(" in block for block in python_blocks(page))
]
"""Other pages whose Python starts worker processes."""


def commands() -> Iterator[tuple[str, list[str]]]:
    """Yield the page and the words of every command of ours that is shown, in pages and in the help of commands."""
    shown = [(block.page, line) for block in blocks() if block.language != "python" for line in block.statements]
    helps = application(every=True).generate_docs().replace("\\\n", " ").splitlines()
    shown += [("--help", line.strip()) for line in helps if line.startswith("    ")]
    for place, line in shown:
        if OURS.match(line):
            usage = re.sub(r"\[(--\S+ )\w+\]", r"\g<1>1", line)  # `[--sample N]`, in synopses
            usage = re.sub(r"\$[A-Z_]+", "1", usage)  # variables of the shell
            yield place, shlex.split(usage.replace("$ ", "").partition(" | ")[0], comments=True)


def parse(words: list[str]) -> None:
    """Parse a command as the command line does, but do not run it."""
    program, *rest = words
    app = application(rest[:2]) if program == "stressreel" else build_application(program)
    _, bound, _ = launcher(app, "", takes_config=True).parse_args(rest, exit_on_error=False, print_error=False)
    app.parse_args(bound.args, exit_on_error=False, print_error=False)
