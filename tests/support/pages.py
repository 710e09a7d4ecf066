"""README and the pages of the site, and the examples in them."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import click
from markdown_it import MarkdownIt
from stressreel.builders import BENCHMARKS
from stressreel.cli.main import load_command, stressreel

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
    for place, command in every_command():
        text = (command.help or "").replace("\\\n", " ")
        shown += [(f"{place} --help", line.strip()) for line in text.splitlines() if line.startswith("  ")]
    for place, line in shown:
        if OURS.match(line):
            usage = re.sub(r"\[(--\S+ )\w+\]", r"\g<1>1", line)  # `[--sample N]`, in synopses
            yield place, shlex.split(usage.replace("$ ", "").partition(" | ")[0], comments=True)


def every_command() -> Iterator[tuple[str, click.Command]]:
    """Yield the path and the object of every command and group, from `stressreel` and the build commands down."""
    waiting: list[tuple[str, click.Command]] = [("stressreel", stressreel)]
    waiting += [(name, load_command(name)) for name in PROGRAMS[1:]]
    while waiting:
        path, command = waiting.pop()
        yield path, command
        if isinstance(command, click.Group):
            context = click.Context(command)
            for name in command.list_commands(context):
                below = command.get_command(context, name)
                assert below is not None
                waiting.append((f"{path} {name}", below))


def named(words: list[str]) -> tuple[click.Command, list[str]]:
    """Find the command that words name, and what is left of them."""
    command: Any = stressreel if words[0] == "stressreel" else load_command(words[0])
    rest = words[1:]
    if rest[:1] == ["score"] and rest[1] not in load_command("score").list_commands(click.Context(command)):  # type: ignore[attr-defined]
        rest.insert(1, "answers")  # what `stressreel score OUT` means
    while isinstance(command, click.Group) and rest:
        _, under, rest = command.resolve_command(click.Context(command), rest)
        assert under is not None
        command = under
    return command, rest
