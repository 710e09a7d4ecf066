"""Read questions in the short notation of `questions.notation`, and tables of cases in it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache, partial
from pathlib import Path
from typing import Any

import yaml
from stressreel.builders.decomp import questions as ask
from stressreel.builders.decomp.parsing import Tree, read_tree

PARTS: Mapping[str, Callable[..., Any]] = {
    **{its.notation: kind for kind, its in ask.QUESTION_TYPES.items() if "{" not in its.notation},
    **{f"{edge}Object": partial(ask.EdgeObject, edge) for edge in ("first", "last")},
    **{f"{edge}Action": partial(ask.EdgeAction, edge) for edge in ("first", "last")},
    **{f"{word}Action": partial(ask.ExtremeAction, word) for word in ("longest", "shortest")},
    **{word: partial(ask.LengthChoose, word) for word in ("longer", "shorter")},
    **{word: partial(ask.Both, word) for word in ("and", "xor")},
    **{
        word: partial(lambda word, *actions: ask.Window(word, actions), word)
        for word in ("before", "after", "while", "between")
    },
}


def read(text: str) -> Any:
    """Read a question, an action, or a part of a video. What has nothing in its brackets has none."""

    def part(tree: Tree) -> Any:
        if tree.arguments is None and tree.name not in PARTS:
            return tree.name
        return PARTS[tree.name](*map(part, tree.arguments or ()))

    return part(read_tree(text.replace("()", "")))


def timed(text: str) -> tuple[str, float, float]:
    """Read what happens when, in seconds: "holding a phone 5-12"."""
    name, when = text.rsplit(" ", 1)
    start, end = map(float, when.split("-"))
    return name, start, end


@cache
def cases(table: str) -> list[Any]:
    """Read a table of `cases.yaml`: what a question is asked of, the question, and what is expected."""
    groups = yaml.safe_load(Path(__file__).with_name("cases.yaml").read_text(encoding="utf-8"))[table]
    lines = [(group["of"], *line.split(" -> ")) for group in groups for line in group["asked"]]
    return [(of, read(question), expected) for of, question, expected in lines]
