"""Convert between the published layout of AGQA-Decomp and the tables of an output."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ...annotations.agqa_hierarchies import ISOLATED, Hierarchy, HierarchyNode
from ...core.errors import InputError
from ...core.output import FinishedOutput
from ...core.schema import Row
from ...evaluation.metrics.answers import YES_NO
from ...templates.agqa import load_agqa
from .inference import ROOT
from .parsing import parse_program
from .questions import Question, template_of
from .tables import by_video
from .video_graphs import BEFORE_AFTER, canonical_id, depth_of, natural_order, options_of

DEEPEST = 100  # maximum number of consecutive rules; published graphs have about ten


@dataclass(frozen=True)
class PublishedGraphs:
    """The published graphs of a video, which are to be converted to rows.

    Attributes:
        hierarchies: The graphs of its roots.
        isolated: Roots without a graph, as published.
    """

    video_id: str
    hierarchies: Sequence[Hierarchy]
    isolated: Sequence[Mapping[str, Any]] = ()

    def rows(self) -> Iterator[Row]:
        """Yield the rows of config `questions`. Each key occurs once, and children come before parents.

        A root that is also a child in another graph is yielded with its own graph.
        """
        ordered = self._ordered()
        roots = {hierarchy.nodes[hierarchy.text].key for hierarchy in ordered}
        seen: set[str] = set()
        for hierarchy in ordered:
            for text in order_of(hierarchy):
                node, is_root = hierarchy.nodes[text], text == hierarchy.text
                if node.key not in seen and (is_root or node.key not in roots):
                    seen.add(node.key)
                    yield self._row(node, hierarchy if is_root else None)

    def _ordered(self) -> list[Hierarchy]:
        """Return all graphs sorted by root id. Isolated roots become graphs of one question."""
        programs = {node.key: node.program for hierarchy in self.hierarchies for node in hierarchy.nodes.values()}
        graphs = {hierarchy.nodes[hierarchy.text].key: hierarchy for hierarchy in self.hierarchies}
        for row in self.isolated:
            text, key, program = row.get("question", ""), row["key"], row.get("new_program") or ""
            node = HierarchyNode(text, key, row["type"], row["answer"], program or programs.get(key, ""))
            graphs.setdefault(key, Hierarchy(key, text, row.get("program") or "", {text: node}, {}))
        return sorted(graphs.values(), key=lambda hierarchy: natural_order(hierarchy.root))

    def _row(self, node: HierarchyNode, root: Hierarchy | None) -> Row:
        kind = load_agqa().kinds.get(node.kind)
        if kind is None:
            raise InputError(
                f"{self.video_id}: {node.key} has the category {node.kind!r}, which does not exist in AGQA-Decomp."
            )
        old = root.old_program if root else ""
        question = _question(old)
        two = BEFORE_AFTER if node.answer in BEFORE_AFTER and kind.answer == "choice" else ()
        options = options_of(question, kind.answer) if question else YES_NO if kind.answer == "yes/no" else two
        return {
            "key": node.key,
            "video_id": self.video_id,
            "question": node.text,
            "answer": node.answer,
            "reason": "" if node.answer is not None else "not_published",
            "decided_by": "" if node.answer is None else "published" if root is None else ROOT,
            "options": list(options),
            "kind": kind.name,
            "group": kind.group,
            "banned": kind.banned,
            "program": node.program,
            "canonical_id": canonical_id(self.video_id, node.program or node.text),
            "is_root": root is not None,
            "template": template_of(question) if question else "",
            "agqa_program": old or None,
            "recomputed": None,
            "novel_composition": None,
            "more_steps": None,
        }

    def graphs(self) -> Iterator[Row]:
        """Yield the rows of config `graphs`."""
        for hierarchy in self._ordered():
            texts = order_of(hierarchy)
            position = {text: index for index, text in enumerate(texts)}
            edges = [
                {"parent": position[text], "rule": rule, "children": [position[child] for child in children]}
                for text in texts
                for rule, children in hierarchy.rules.get(text, {}).items()
            ]
            keys, question = [hierarchy.nodes[text].key for text in texts], _question(hierarchy.old_program)
            yield {
                "root": keys[-1],
                "video_id": self.video_id,
                "template": template_of(question) if question else "",
                "isolated": not edges,
                "depth": depth_of(len(keys), edges),
                "nodes": keys,
                "edges": edges,
            }


def _question(program: str) -> Question | None:
    """Parse a program, or return None if it is invalid. Published graphs are not validated."""
    try:
        return parse_program(program) if program else None
    except InputError:
        return None


def order_of(hierarchy: Hierarchy) -> list[str]:
    """Sort the questions of a published graph so that children come before parents and the root is last.

    Raises:
        InputError: The graph is cyclic or excessively deep.
    """
    ordered: dict[str, None] = {}
    open_texts: list[str] = []

    def visit(text: str) -> None:
        if text in ordered:
            return
        if text in open_texts:
            raise InputError(f"root {hierarchy.root}: {text!r} is its own sub-question.")
        if len(open_texts) > DEEPEST:
            raise InputError(f"root {hierarchy.root} has more than {DEEPEST} levels of sub-questions.")
        open_texts.append(text)
        for children in hierarchy.rules.get(text, {}).values():
            for child in children:
                visit(child)
        open_texts.pop()
        ordered[text] = None

    for text in hierarchy.nodes:
        if text != hierarchy.text:
            visit(text)
    visit(hierarchy.text)
    del ordered[hierarchy.text]
    return [*ordered, hierarchy.text]


def published_layout(output: FinishedOutput, split: str) -> Iterator[tuple[str, bytes]]:
    """Yield the graphs of a split in the layout of AGQA-Decomp, for use with the authors' scorer.

    Yields:
        File names and contents: `<video>.json` for each video, then `isolated.json`.

    Raises:
        InputError: Rows are missing, or two questions in a graph have the same text, which must be unique here.
    """
    isolated: list[Row] = []
    for video in by_video(output, split, whole=True):
        if not video.questions or not video.graphs:
            raise InputError(
                f"{output.path}: {video.video_id} has only questions or only graphs. Run `stressreel verify` for "
                "details."
            )
        content = {}
        for graph in video.graphs:
            if graph["isolated"]:
                isolated.append(_isolated(video.questions[graph["root"]]))
            else:
                content[graph["root"]] = _published(graph, video.questions)
        if content:
            yield f"{video.video_id}.json", _dump(content)
    yield ISOLATED, _dump(isolated)


def _published(graph: Row, by_key: Mapping[str, Row]) -> dict[str, Any]:
    nodes = [by_key[key] for key in graph["nodes"]]
    texts = [row["question"] for row in nodes]
    if len(set(texts)) != len(texts):
        twice = next(text for text in texts if texts.count(text) > 1)
        raise InputError(
            f"graph {graph['root']} asks {twice!r} twice, but the published layout identifies questions by their text."
        )
    hierarchy: dict[str, dict[str, list[str]]] = {}
    for edge in graph["edges"]:
        children = [texts[child] for child in edge["children"]]
        hierarchy.setdefault(texts[edge["parent"]], {})[edge["rule"]] = children
    root, columns = nodes[-1], {"type": "kind", "program": "program", "answer": "answer", "key": "key"}
    return {
        "question": root["question"],
        "type": root["kind"],
        "old_program": root["agqa_program"],
        "new_program": root["program"],
        "answer": root["answer"],
        "subquestion": {row["question"]: {name: row[column] for name, column in columns.items()} for row in nodes},
        "hierarchy": hierarchy,
    }


def _isolated(row: Row) -> Row:
    columns = {"type": "kind", "answer": "answer", "key": "key", "question": "question", "video_id": "video_id"}
    columns |= {"program": "agqa_program", "new_program": "program"}
    return {name: row[column] for name, column in columns.items()}


def _dump(content: Any) -> bytes:
    return (json.dumps(content, ensure_ascii=False) + "\n").encode()
