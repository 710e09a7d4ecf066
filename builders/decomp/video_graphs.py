"""Decompose the questions about a video. Sub-questions are shared within a video, but never between videos."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from ...annotations.scene_graphs import SceneGraph
from ...core.schema import Row
from ...evaluation.metrics.answers import YES_NO
from ...templates.agqa import load_agqa
from .decomposition import DecomposedQuestion, Step, decompose_with_edges
from .graph_answers import Answer
from .inference import ROOT, VideoAnswers, answer_all
from .questions import LengthChoose, ObjectChoose, OrderChoose, Question, notation, template_of
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
