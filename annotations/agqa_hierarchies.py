"""Load the question hierarchies published with AGQA-Decomp (Gandhi et al. 2022).

A folder contains one JSON file per video, and `isolated.json`. Within the hierarchy of a root question, each question
is identified by its text. Predictions refer to its `key`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..core.documents import parse_json, read_text, shortened
from ..core.errors import InputError, UsageError
from ..core.files import sha256_file
from ..templates.agqa import load_agqa
from . import load_source

AGQA_DECOMP = load_source("agqa_decomp")
ISOLATED = "isolated.json"
SPLITS = ("train", "test")
LONGEST = 300  # maximum number of characters of a quoted reason
IN_ORDER = frozenset({"Equals", "Xor", "Choose"})
"""Composition rules with two children, in this order."""


@dataclass(frozen=True)
class HierarchyNode:
    """A question of a published hierarchy. `key` is its id in predictions; `answer` is None if it is unknown."""

    text: str
    key: str
    kind: str
    answer: str | None
    program: str


@dataclass(frozen=True)
class Hierarchy:
    """The published hierarchy of one root question.

    Attributes:
        old_program: The root's program in AGQA's notation, or an empty string.
        nodes: All questions of the hierarchy by text, including the root.
        rules: For each parent text, the composition rules and the texts of their children, in order.
    """

    root: str
    text: str
    old_program: str
    nodes: Mapping[str, HierarchyNode]
    rules: Mapping[str, Mapping[str, tuple[str, ...]]]


@dataclass(frozen=True)
class HierarchyFolder:
    """The published hierarchies of one split: the file of each video, and `isolated.json` if it exists."""

    split: str
    files: Mapping[str, Path]
    isolated: Path | None


def find_hierarchies(folder: Path) -> list[HierarchyFolder]:
    """Find the folders of published hierarchies. The name of each folder must contain its split.

    Raises:
        UsageError: The folder does not exist.
        InputError: The folder contains no hierarchies, or two folders of the same split.
    """
    if not folder.is_dir():
        raise UsageError(
            f"there is no folder {folder}. Use --release-hierarchies to specify the folder with the published "
            "hierarchies."
        )
    folders = []
    for path in (folder, *sorted(path for path in folder.iterdir() if path.is_dir())):
        files = {file.stem: file for file in sorted(path.glob("*.json")) if file.name != ISOLATED}
        if files:
            split = next((name for name in SPLITS if name in path.name.lower()), "test")
            isolated = path / ISOLATED
            folders.append(HierarchyFolder(split, files, isolated if isolated.is_file() else None))
    if not folders:
        raise InputError(
            f"found no <video>.json in {folder} or its subfolders. Use --release-hierarchies to specify the folder "
            "with the published hierarchies of one split, such as test_hierarchies, or its parent folder for both "
            "splits."
        )
    if len({hierarchies.split for hierarchies in folders}) != len(folders):
        raise InputError(
            f"{folder} contains more than one folder for the same split. A folder belongs to the train split if its "
            "name contains `train`, and to the test split otherwise."
        )
    return folders


def folder_hashes(folder: HierarchyFolder) -> dict[str, str]:
    """Return the SHA-256 hash of every file, keyed by split and file name."""
    paths = [*folder.files.values(), *([folder.isolated] if folder.isolated else [])]
    return {f"{folder.split}/{path.name}": sha256_file(path) for path in paths}


def read_hierarchies(path: Path) -> Iterator[Hierarchy]:
    """Yield the hierarchies of a video. Raise InputError, naming the root question, if the file has another layout."""
    content = _load(path)
    if not isinstance(content, dict):
        kind = type(content).__name__
        raise InputError(f"{path}: expected an object with a graph for each root, got {kind}.")
    for root, graph in content.items():
        try:
            yield _hierarchy(root, graph)
        except (KeyError, TypeError, AttributeError, ValueError) as error:
            why = "a value has the wrong type"
            if isinstance(error, KeyError):
                why = f"it lacks {shortened(str(error.args[0]))}"
            elif isinstance(error, ValueError):
                why = str(error)[:LONGEST]
            raise InputError(
                f"{path}: root {root!r} does not have the layout of the published hierarchies: {why}. "
                "Required keys: question, subquestion, hierarchy."
            ) from error


def read_isolated(path: Path) -> list[dict[str, Any]]:
    """Return the roots that have no hierarchy, as dictionaries with the keys `type`, `answer` and `key`."""
    content = _load(path)
    optional = ("answer", "question", "program", "new_program", "video_id")
    if not isinstance(content, list) or not all(
        isinstance(row, dict)
        and "answer" in row
        and all(isinstance(row.get(name), str) for name in ("type", "key"))
        and all(isinstance(row.get(name), str | None) for name in optional)
        for row in content
    ):
        raise InputError(f"{path}: expected a list of objects with the string fields type, answer and key.")
    return content


def _hierarchy(root: str, graph: Mapping[str, Any]) -> Hierarchy:
    nodes = {
        text: HierarchyNode(text, str(row["key"]), row["type"], row["answer"], row.get("program") or "")
        for text, row in graph["subquestion"].items()
    }
    text = graph["question"]
    if text not in nodes:
        nodes[text] = HierarchyNode(text, root, graph["type"], graph["answer"], graph.get("new_program") or "")
    old = graph.get("old_program") or ""
    for node in nodes.values():
        texts = {"text": node.text, "type": node.kind, "program": node.program, "old_program": old}
        texts["answer"] = "" if node.answer is None else node.answer
        if wrong := [name for name, value in texts.items() if not isinstance(value, str)]:
            raise ValueError(f"the field {wrong[0]} of {node.key} is not a string")
    rules = {
        parent: {rule: _children(rule, children) for rule, children in by_rule.items() if children}
        for parent, by_rule in graph["hierarchy"].items()
    }
    named = {*rules} | {child for by_rule in rules.values() for children in by_rule.values() for child in children}
    if absent := sorted(named - nodes.keys()):
        raise ValueError(f"hierarchy refers to {absent[0]!r}, which is not in subquestion")
    if len({node.key for node in nodes.values()}) != len(nodes):
        raise ValueError("two of its questions have the same key")
    return Hierarchy(root, text, old, nodes, rules)


def _children(rule: str, children: Any) -> tuple[str, ...]:
    if rule not in load_agqa().rules:
        raise ValueError(f"{rule!r} is not a composition rule")
    if not isinstance(children, list) or not all(isinstance(child, str) for child in children):
        raise ValueError(f"the children of {rule} are not a list of strings")
    if rule in IN_ORDER and len(children) != 2:
        raise ValueError(f"{rule} has {len(children)} children but needs exactly two, in order")
    return tuple(children)


def _load(path: Path) -> Any:
    try:
        return parse_json(read_text(path))
    except ValueError as error:
        raise InputError(f"{path} is not valid JSON: {error}.") from error
