"""List every text that users see (help, errors, notes, progress, printed lines) and where it is in the source.

    python benchmarks/messages.py                        # the whole package
    python benchmarks/messages.py evaluation language    # some folders or files
    python benchmarks/messages.py --kind error           # one kind only

Texts are taken from the syntax tree, so nothing is imported. Interpolated values are shown as `{expression}`. If a
message is assembled from variables, only its literal parts are listed.
"""

from __future__ import annotations

import argparse
import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
NOT_SHOWN = {"tests", "build", "docs", "node_modules", ".venv"}
COMMANDS = ("api", "builders")  # files whose docstrings become the help of commands
KINDS = ("help", "error", "printed", "command")
PRINTS = {"print", "echo", "secho", "say", "log", "note", "warn", "warning", "info", "show", "Progress", "tracked"}
ERRORS = {
    node.name
    for node in ast.parse((ROOT / "core" / "errors.py").read_text(encoding="utf-8")).body
    if isinstance(node, ast.ClassDef)
} | {"AnswerError", "MissingExtraError", "ValueError", "BadParameter", "ClickException", "SystemExit"}


def text_of(node: ast.AST) -> str:
    """Return the literal text below a node, with `{…}` for interpolated values, or "" if there is none."""
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else ""
    if isinstance(node, ast.JoinedStr):
        parts = (
            part.value if isinstance(part, ast.Constant) else f"{{{ast.unparse(part.value)}}}"
            for part in node.values
            if isinstance(part, ast.Constant | ast.FormattedValue)
        )
        return "".join(map(str, parts))
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return text_of(node.left) + text_of(node.right)
    if isinstance(node, ast.IfExp):
        return " | ".join(filter(None, (text_of(node.body), text_of(node.orelse))))
    return ""


def called(node: ast.Call) -> str:
    return node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")


def messages(tree: ast.Module, *, commands: bool) -> Iterator[tuple[int, str, str]]:
    """Yield the line, kind and text of every message in a module.

    `commands` is true if public functions are commands, whose docstrings are shown as help.
    """
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            name = called(node)
            helped = [part.value for part in node.keywords if part.arg in ("help", "shown")]
            helped += node.args[:2] if name in ("option", "Option") else []
            yield from ((part.lineno, "help", text_of(part)) for part in helped)
            kind = "error" if name in ERRORS else "printed" if name in PRINTS else ""
            yield from ((part.lineno, kind, text_of(part)) for part in node.args if kind)
        elif commands and isinstance(node, ast.FunctionDef) and is_command(node):
            yield node.lineno, "command", ast.get_docstring(node) or ""


def is_command(node: ast.FunctionDef) -> bool:
    return any(ast.unparse(each).startswith("public") for each in node.decorator_list)


def listed(paths: list[Path], kinds: set[str]) -> Iterator[str]:
    for path in paths:
        inside = path.relative_to(ROOT)
        tree = ast.parse(path.read_text(encoding="utf-8"))
        found = messages(tree, commands=inside.parts[0] in COMMANDS)
        for line, kind, text in sorted(set(found)):
            if kind in kinds and " " in text.strip():
                yield f"{inside}:{line}: {kind}: {' '.join(text.split())}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("paths", type=Path, nargs="*", help="folders or files inside the repository; default: all")
    parser.add_argument("--kind", choices=KINDS, action="append", help="list only this kind; may be repeated")
    arguments = parser.parse_args()
    named = [path if path.is_absolute() else (ROOT / path) for path in arguments.paths] or [ROOT]
    files = [file for path in named for file in (sorted(path.rglob("*.py")) if path.is_dir() else [path])]
    shown = [file for file in files if not NOT_SHOWN & set(file.relative_to(ROOT).parts[:-1])]
    print("\n".join(listed(shown, set(arguments.kind or KINDS))))


if __name__ == "__main__":
    main()
