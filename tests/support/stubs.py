"""The stub of functions that are made from settings."""

from __future__ import annotations

import inspect
import textwrap
from collections.abc import Callable, Iterable
from typing import Any

HEAD = """# Made from the settings of the benchmarks: STRESSREEL_UPDATE_GOLDEN=1 pytest tests/api/test_typed.py
from collections.abc import Sequence
from pathlib import Path
from typing import Literal, Required, TypedDict, Unpack, overload

from ..core.share import Unfinished
from ..negatives.mine_questions import MinedQuestions
from .build import DryRun
from .outputs import Output
"""
OVERLOADS = {  # keywords that determine what a build returns, the most frequent first
    "Output": "dry_run: Literal[False] = False, shard: None = None",
    "DryRun": "dry_run: Literal[True], shard: str | None = None",
    "Output | Unfinished": "dry_run: Literal[False] = False, shard: str | None",
    "Output | DryRun | Unfinished": "dry_run: bool, shard: str | None = None",
}


def stub(functions: Iterable[Callable[..., Any]]) -> str:
    """Write signatures and docstrings of functions as a `.pyi` file."""
    return HEAD + "".join(
        f"\n{_build(function) if function.__name__.startswith('build_') else _function(function)}"
        for function in functions
    )


def _function(function: Callable[..., Any]) -> str:
    signature = inspect.signature(function)
    lines, keywords = [f"def {function.__name__}("], False
    for name, parameter in signature.parameters.items():
        if parameter.kind is parameter.KEYWORD_ONLY and not keywords:
            lines.append("    *,")
            keywords = True
        default = "" if parameter.default is inspect.Parameter.empty else f" = {parameter.default!r}"
        lines.append(f"    {name}: {parameter.annotation}{default},")
    lines.append(f") -> {signature.return_annotation}:")
    return "\n".join([*lines, _docstring(function), "    ...", ""])


def _build(function: Callable[..., Any]) -> str:
    """Write a function once for each kind of result, with the options that they share as a `TypedDict`."""
    signature = inspect.signature(function)
    assert signature.return_annotation == list(OVERLOADS)[-1]
    options = f"_{function.__name__.removeprefix('build_').capitalize()}Options"
    lines = [f"class {options}(TypedDict, total=False):"]
    for name, parameter in signature.parameters.items():
        if name not in ("dry_run", "shard"):
            required = parameter.default is inspect.Parameter.empty
            kind = f"Required[{parameter.annotation}]" if required else parameter.annotation
            lines.append(f"    {name}: {kind}" + ("" if required else f"  # {parameter.default!r}"))
    lines.append("")
    for result, keywords in OVERLOADS.items():
        head = f"def {function.__name__}(*, {keywords}, **options: Unpack[{options}]) -> {result}:"
        lines += ["@overload", f"{head} ..."]
        if result == "Output":
            lines[-1:] = [head, _docstring(function), "    ..."]
    return "\n".join([*lines, ""])


def _docstring(function: Callable[..., Any]) -> str:
    doc = "\n\n".join(_wrapped(part) for part in (inspect.getdoc(function) or "").split("\n\n"))
    return textwrap.indent(f'"""{doc}\n"""', "    ")


def _wrapped(part: str) -> str:
    lines = part.split("\n")
    if not lines[-1].startswith(" "):
        return textwrap.fill(part, 110)
    return "\n".join(textwrap.fill(line, 110, subsequent_indent="        ") for line in lines)
