"""Turn the question graphs of a video, decomposed here or published, into rows, and rows into the published layout.

Sub-questions are shared within a video, but never between videos.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ...annotations.agqa_hierarchies import ISOLATED, Hierarchy, HierarchyNode
from ...annotations.scene_graphs import SceneGraph
from ...core.errors import InputError
from ...core.output import FinishedOutput
from ...core.schema import Row
from ...evaluation.metrics.answers import YES_NO
from ...templates.agqa import load_agqa
from .decomposition import DecomposedQuestion, Step, decompose_with_edges
from .graph_answers import Answer
from .inference import ROOT, VideoAnswers, answer_all
from .parsing import parse_program
from .questions import LengthChoose, ObjectChoose, OrderChoose, Question, notation, template_of
from .tables import by_video
from .wording import Wording, word

BEFORE_AFTER = ("before", "after")
_NUMBERS = re.compile(r"(\d+)")


@dataclass(frozen=True)
class Root:
    """A question of the dataset, which is the root of a graph.

    Attributes:
        key: Id of the question.
        text: Text in the source.
        question: Parsed meaning.
        program: Program in AGQA's notation.
        novel_composition: Whether the question has a composition that never occurs in `train`, if known.
        more_steps: Whether the question needs more steps than any question in `train`, if known.
    """

    key: str
    text: str
    question: Question
    answer: str
    program: str
    novel_composition: bool | None = None
    more_steps: bool | None = None


def natural_order(key: str) -> tuple[str | int, ...]:
    """Return a key that sorts ids with numbers in them in numerical order."""
    return tuple(int(part) if part.isdigit() else part for part in _NUMBERS.split(key))


@dataclass(frozen=True)
class DecomposedVideo:
    """The question graphs of a video. The key of a question is the one it has in the first graph that contains it."""

    video_id: str
    roots: tuple[Root, ...]
    graphs_by_root: tuple[DecomposedQuestion, ...]
    keys: Mapping[Question, str]
    answers: VideoAnswers
    wording: Wording = "ours"

    def rows(self) -> Iterator[Row]:
        """Yield the rows of config `questions`: for each graph, the questions not yielded before, children first."""
        first = {root.question: root for root in reversed(self.roots)}
        sources = dict(self.answers.sources)
        for conflict in reversed(self.answers.conflicts):  # report only the first conflict about each question
            claims = zip(conflict.sources, conflict.values, strict=True)
            sources[conflict.question] = ", ".join(f"{source} {value}" for source, value in claims)
        seen: set[Question] = set()
        for root, graph in zip(self.roots, self.graphs_by_root, strict=True):
            for step in graph.steps[:-1]:
                if step.question not in seen and step.question not in first:
                    seen.add(step.question)
                    yield self._row(step, None, sources.get(step.question, ""))
            yield self._row(graph.steps[-1], root, ROOT)

    def _row(self, step: Step, root: Root | None, decided_by: str) -> Row:
        question = step.question
        kind = load_agqa().kinds[step.kind]
        answer = Answer(root.answer) if root else self.answers.answers[question]
        program = notation(question)
        return {
            "key": root.key if root else self.keys[question],
            "video_id": self.video_id,
            "question": root.text if root else word(question, self.wording),
            "answer": answer.value,
            "reason": answer.reason,
            "decided_by": decided_by,
            "options": list(options_of(question, kind.answer)),
            "kind": kind.name,
            "group": kind.group,
            "banned": kind.banned,
            "program": program,
            "canonical_id": canonical_id(self.video_id, program),
            "is_root": root is not None,
            "template": template_of(question) if root else "",
            "agqa_program": root.program if root else None,
            "recomputed": self.answers.recomputed.get(question) if root else None,
            "novel_composition": root.novel_composition if root else None,
            "more_steps": root.more_steps if root else None,
        }

    def graphs(self) -> Iterator[Row]:
        """Yield the rows of config `graphs`."""
        for root, graph in zip(self.roots, self.graphs_by_root, strict=True):
            edges = [{"parent": parent, "rule": rule, "children": children} for parent, rule, children in graph.edges]
            yield {
                "root": root.key,
                "video_id": self.video_id,
                "template": template_of(root.question),
                "isolated": not edges,
                "depth": depth_of(len(graph.steps), edges),
                "nodes": [*[self.keys[step.question] for step in graph.steps[:-1]], root.key],
                "edges": edges,
            }


def canonical_id(video_id: str, program: str) -> str:
    """Hash the meaning of a question about a video. Roots with the same program have the same hash."""
    return hashlib.sha256(f"{video_id}\0{program}".encode()).hexdigest()[:16]


def depth_of(count: int, edges: Iterable[Row]) -> int:
    """Return the number of rules on the longest path down from the root, which is the last of `count` nodes."""
    depths = [0] * count
    for edge in sorted(edges, key=lambda edge: edge["parent"]):
        parent = edge["parent"]
        depths[parent] = max(depths[parent], *(1 + depths[child] for child in edge["children"]))
    return depths[-1]


def options_of(question: Question, answer: str) -> tuple[str, ...]:
    """Return the two possible answers to a question: yes and no, or those named in its text. Otherwise return ().

    `answer` is the answer type of the category: "yes/no", "choice", "object" or "action".
    """
    if answer == "yes/no":
        return YES_NO
    match question:
        case OrderChoose():
            return BEFORE_AFTER
        case ObjectChoose(first, second) | LengthChoose(first=first, second=second):
            if isinstance(first, str) and isinstance(second, str):
                return (first, second)
    return ()


def graphs_of(
    video_id: str, roots: Sequence[Root], graph: SceneGraph | None, wording: Wording = "ours"
) -> DecomposedVideo:
    """Decompose all questions about a video, and answer their sub-questions.

    A sub-question that is also a root of the video is stored once, as that root. If two roots have the same meaning
    (AGQA has five such pairs in test), both keep their rows.
    """
    ordered = tuple(sorted(roots, key=lambda root: natural_order(root.key)))
    keys: dict[Question, str] = {}
    for root in ordered:
        keys.setdefault(root.question, root.key)
    graphs: list[DecomposedQuestion] = []
    root_answers = {root.question: root.answer for root in reversed(ordered)}
    for root in ordered:
        decomposed = decompose_with_edges(root.question, root_answers)
        for index, step in enumerate(decomposed.steps):
            keys.setdefault(step.question, f"{root.key}_{index}")
        graphs.append(decomposed)
    steps = [step for decomposed in graphs for step in decomposed.steps]
    return DecomposedVideo(video_id, ordered, tuple(graphs), keys, answer_all(steps, root_answers, graph), wording)


DEEPEST = 100  # maximum number of consecutive rules; published graphs have about ten


@dataclass(frozen=True)
class PublishedGraphs:
    """The published graphs of a video, which are to be converted to rows.

    Attributes:
        hierarchies: The graphs of its roots.
        isolated: Roots without a graph, as published.
        disputed: Roots to leave out.
    """

    video_id: str
    hierarchies: Sequence[Hierarchy]
    isolated: Sequence[Mapping[str, Any]] = ()
    disputed: Collection[str] = ()

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
        kept = (hierarchy for key, hierarchy in graphs.items() if key not in self.disputed)
        return sorted(kept, key=lambda hierarchy: natural_order(hierarchy.root))

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
