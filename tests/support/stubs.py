"""The stub of functions that are made from settings."""

from __future__ import annotations

import inspect
import textwrap
from collections.abc import Callable, Iterable
from typing import Any

HEAD = """# Made from the settings of the benchmarks: STRESSREEL_UPDATE_GOLDEN=1 pytest tests/api/test_typed.py
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from ..negatives.mine_questions import MinedQuestions
from .outputs import Output
"""


def stub(functions: Iterable[Callable[..., Any]]) -> str:
    """Write signatures and docstrings of functions as a `.pyi` file."""
    return HEAD + "".join(f"\n{_function(function)}" for function in functions)


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
    doc = "\n\n".join(_wrapped(part) for part in (inspect.getdoc(function) or "").split("\n\n"))
    return "\n".join([*lines, textwrap.indent(f'"""{doc}\n"""', "    "), "    ...", ""])


def _wrapped(part: str) -> str:
    lines = part.split("\n")
    if not lines[-1].startswith(" "):
        return textwrap.fill(part, 110)
    return "\n".join(textwrap.fill(line, 110, subsequent_indent="        ") for line in lines)
