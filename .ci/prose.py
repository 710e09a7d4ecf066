"""Check the wording of documentation, docstrings, comments and messages against `prose.yaml`.

    python .ci/prose.py [PATH ...]      default: all files that git tracks, except tests

Exits with 1 if any rule matches.
"""

from __future__ import annotations

import io
import re
import subprocess
import sys
import tokenize
from collections.abc import Iterator
from pathlib import Path

import yaml

RULES = Path(__file__).with_name("prose.yaml")
SUFFIXES = {".md", ".py", ".j2"}
NOT_PROSE = re.compile(r"`[^`]*`|{%.*?%}|\]\([^)]*\)|https?://\S+")


def prose(path: Path) -> Iterator[tuple[int, str]]:
    """Yield numbered lines of prose: Markdown outside code blocks, docstrings, comments and strings."""
    text = path.read_text(encoding="utf-8")
    if path.suffix != ".py":
        fenced = False
        for number, line in enumerate(text.splitlines(), 1):
            if line.lstrip().startswith(("```", "~~~")):
                fenced = not fenced
            elif not fenced:
                yield number, line
        return
    strings = {tokenize.STRING, tokenize.COMMENT, getattr(tokenize, "FSTRING_MIDDLE", tokenize.STRING)}
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type in strings and " " in token.string:
            yield from enumerate(token.string.splitlines(), token.start[0])


def findings(paths: list[Path]) -> Iterator[str]:
    """Yield one line per match: its place, the words found and their replacement."""
    rules = [
        (re.compile(r"\b(?:" + "|".join(rule["words"]) + r")\b", re.IGNORECASE), rule["use"], rule.get("except", ()))
        for rule in yaml.safe_load(RULES.read_text(encoding="utf-8"))
    ]
    for path in paths:
        here = [(pattern, use) for pattern, use, places in rules if not path.as_posix().startswith(tuple(places))]
        for number, line in prose(path):
            for pattern, use in here:
                for match in pattern.finditer(NOT_PROSE.sub(lambda code: " " * len(code[0]), line)):
                    yield f'{path}:{number}: "{match[0]}": write: {use}'


def tracked() -> list[Path]:
    """Return the tracked files except tests and rules."""
    listed = subprocess.run(["git", "ls-files"], capture_output=True, text=True, check=True).stdout.splitlines()
    return [Path(name) for name in listed if Path(name).suffix in SUFFIXES and not name.startswith("tests/")]


def main() -> None:
    """Print all findings; exit with 1 if there are any."""
    found = list(findings([Path(name) for name in sys.argv[1:]] or tracked()))
    print("\n".join(found) if found else "no findings")
    sys.exit(bool(found))


if __name__ == "__main__":
    main()
