"""The layout in which AGQA-Decomp's hierarchies are published: one JSON file for each video, and `isolated.json`.

Gandhi et al. 2022, as their scoring programs read it. A question is named by its text: inside a root's graph texts are
unique. `key` is what predictions are given for.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..core.documents import parse_json, read_text, shortened
from ..core.errors import InputError, UsageError
from ..core.files import sha256_file
from ..core.source import Source
from ..templates.agqa import load_agqa

AGQA_DECOMP = Source(
    "agqa_decomp",
    "AGQA-Decomp",
    {"license": "unknown"},
    terms="no licence is stated for its questions and graphs; its videos are those of Charades, for non-commercial use",
    citation="Gandhi et al. 2022, Measuring Compositional Consistency for Video Question Answering (CVPR 2022)",
    link="https://agqa-decomp.cs.washington.edu",
    video_folders=("Charades_v1_480", "Charades_v1", "."),
)
ISOLATED = "isolated.json"
SPLITS = ("train", "test")
LONGEST = 300  # characters of a reason
IN_ORDER = frozenset({"Equals", "Xor", "Choose"})
"""Rules whose two children scores tell apart."""


@dataclass(frozen=True)
class HierarchyNode:
    """A question of a published graph.

    Attributes:
        text: Its text.
        key: What predictions are given for.
        kind: Its leaf kind.
        answer: What is right; None if that is not known.
        program: In the publishers' notation; empty if it is not given.
    """

    text: str
    key: str
    kind: str
    answer: str | None
    program: str


@dataclass(frozen=True)
class Hierarchy:
    """The published graph of a root.

    Attributes:
        root: The root's id.
        text: The root's text.
        old_program: The root's program as AGQA writes it; empty if it is not given.
        nodes: All questions of the graph by text, the root among them.
        rules: For each parent's text the rules that compose it, with the texts of the children in order.
    """

    root: str
    text: str
    old_program: str
    nodes: Mapping[str, HierarchyNode]
    rules: Mapping[str, Mapping[str, tuple[str, ...]]]


@dataclass(frozen=True)
class HierarchyFolder:
    """The folder of a split.

    Attributes:
        split: "train" or "test".
        files: The file of each video, by id.
        isolated: `isolated.json`; None if there is none.
    """

    split: str
    files: Mapping[str, Path]
    isolated: Path | None


def find_hierarchies(folder: Path) -> list[HierarchyFolder]:
    """Find the folders of published hierarchies.

    Args:
        folder: The folder of a split, or one that holds those of both; a split is told by its folder's name.

    Raises:
        UsageError: There is no such folder.
        InputError: It has none.
    """
    if not folder.is_dir():
        raise UsageError(f"there is no folder {folder}. --release-hierarchies takes that of the published hierarchies.")
    found = []
    for place in (folder, *sorted(path for path in folder.iterdir() if path.is_dir())):
        files = {path.stem: path for path in sorted(place.glob("*.json")) if path.name != ISOLATED}
        if files:
            split = next((name for name in SPLITS if name in place.name.lower()), "test")
            isolated = place / ISOLATED
            found.append(HierarchyFolder(split, files, isolated if isolated.is_file() else None))
    if not found:
        raise InputError(
            f"{folder} holds no <video>.json, nor does a folder in it. --release-hierarchies takes the folder of the "
            "published hierarchies of a split (test_hierarchies), or the folder of both."
        )
    if len({each.split for each in found}) != len(found):
        raise InputError(
            f"{folder} holds two folders of the same split. Folders are told apart by `train` or `test` in their names."
        )
    return found


def folder_hashes(found: HierarchyFolder) -> dict[str, str]:
    """Return the SHA-256 of every file, by split and name."""
    paths = [*found.files.values(), *([found.isolated] if found.isolated else [])]
    return {f"{found.split}/{path.name}": sha256_file(path) for path in paths}


def read_hierarchies(path: Path) -> Iterator[Hierarchy]:
    """Read the graphs of a video.

    Raises:
        InputError: The file is not laid out so; the message names the root.
    """
    content = _load(path)
    if not isinstance(content, dict):
        raise InputError(f"{path}: it should hold an object with a graph for each root, and holds {_kind(content)}.")
    for root, graph in content.items():
        try:
            yield _hierarchy(root, graph)
        except (KeyError, TypeError, AttributeError, ValueError) as error:
            raise InputError(
                f"{path}: root {root!r} is not laid out as in the published hierarchies: {_why(error)}. It needs "
                "question, subquestion and hierarchy."
            ) from error


def _why(error: Exception) -> str:
    """Describe what is wrong with a graph."""
    if isinstance(error, KeyError):
        return f"it lacks {shortened(str(error.args[0]))}"
    return str(error)[:LONGEST] if isinstance(error, ValueError) else "something in it is of another type"


def read_isolated(path: Path) -> list[dict[str, Any]]:
    """Read the roots without a graph: rows with `type`, `answer` and `key`.

    Raises:
        InputError: The file is not laid out so.
    """
    content = _load(path)
    if not isinstance(content, list) or not all(isinstance(row, dict) and _is_alone(row) for row in content):
        raise InputError(f"{path}: it should hold a list of objects with type, answer and key, each a text.")
    return content


def _is_alone(row: Mapping[str, Any]) -> bool:
    """Whether a row of `isolated.json` has what it must, and texts where it has more."""
    needed = all(isinstance(row.get(name), str) for name in ("type", "key"))
    more = ("answer", "question", "program", "new_program", "video_id")
    return needed and "answer" in row and all(isinstance(row.get(name), str | None) for name in more)


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
        said = {"text": node.text, "type": node.kind, "program": node.program, "old_program": old}
        if node.answer is not None:
            said["answer"] = node.answer
        if wrong := [name for name, value in said.items() if not isinstance(value, str)]:
            raise ValueError(f"{wrong[0]} of {node.key} is no text")
    rules = {
        parent: {rule: _children(rule, children) for rule, children in by_rule.items() if children}
        for parent, by_rule in graph["hierarchy"].items()
    }
    named = {parent for parent in rules} | {name for by in rules.values() for names in by.values() for name in names}
    if absent := sorted(named - nodes.keys()):
        raise ValueError(f"hierarchy names {absent[0]!r}, which subquestion has not")
    if len({node.key for node in nodes.values()}) != len(nodes):
        raise ValueError("two of its questions have the same key")
    return Hierarchy(root, text, old, nodes, rules)


def _children(rule: str, children: Any) -> tuple[str, ...]:
    """Return the children that a rule has; one without any composes nothing, and is left out before."""
    if rule not in load_agqa().rules:
        raise ValueError(f"there is no rule {rule!r}")
    if not isinstance(children, list) or not all(isinstance(child, str) for child in children):
        raise ValueError(f"the children of {rule} are no list of texts")
    if rule in IN_ORDER and len(children) != 2:
        raise ValueError(f"{rule} has {len(children)} children, and takes two, in order")
    return tuple(children)


def _load(path: Path) -> Any:
    try:
        return parse_json(read_text(path))
    except ValueError as error:
        raise InputError(f"{path} is no JSON: {error}.") from error


def _kind(content: Any) -> str:
    return type(content).__name__
