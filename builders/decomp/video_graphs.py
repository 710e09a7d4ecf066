"""The questions and graphs of one video: everything is shared inside a video, and nothing between videos."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from ...annotations.scene_graphs import SceneGraph
from ...core.schema import Row
from ...evaluation.metrics.answers import YES_NO
from ...templates.agqa import load_agqa
from .answers import ROOT, Answer, Filled, fill
from .programs.decomposition import DecomposedQuestion, Step, graph_of
from .programs.questions import LengthChoose, ObjectChoose, OrderChoose, Question, notation, template_of
from .programs.wording import Wording, word

BEFORE_AFTER = ("before", "after")
_NUMBERS = re.compile(r"(\d+)")


@dataclass(frozen=True)
class Root:
    """A question that the source asks.

    Attributes:
        key: Its id.
        text: As the source words it.
        question: What it asks.
        answer: What is right.
        program: As AGQA writes it.
        novel_composition: Whether it combines what train never does; None if that is not known.
        more_steps: Whether it takes more steps than any in train; None if that is not known.
    """

    key: str
    text: str
    question: Question
    answer: str
    program: str
    novel_composition: bool | None = None
    more_steps: bool | None = None


def in_order(key: str) -> tuple[str | int, ...]:
    """Return what ids are sorted by: numbers in them by value."""
    return tuple(int(part) if part.isdigit() else part for part in _NUMBERS.split(key))


@dataclass(frozen=True)
class DecomposedVideo:
    """The graphs of a video.

    Attributes:
        video_id: The video.
        roots: Its roots, in order.
        graphs_by_root: What each root is taken apart into.
        keys: The key of every question that is asked of the video; of a question that several roots ask, the first's.
        filled: Answers.
        wording: How sub-questions are worded.
    """

    video_id: str
    roots: tuple[Root, ...]
    graphs_by_root: tuple[DecomposedQuestion, ...]
    keys: Mapping[Question, str]
    filled: Filled
    wording: Wording = "ours"

    def rows(self) -> Iterator[Row]:
        """Yield the rows of config `questions`: of each graph the questions that are new, children before parents."""
        first = {root.question: root for root in reversed(self.roots)}
        sources = dict(self.filled.sources)
        for conflict in reversed(self.filled.conflicts):  # the first of a question's is named: "graph yes, After no"
            said = zip(conflict.sources, conflict.values, strict=True)
            sources[conflict.question] = ", ".join(f"{who} {what}" for who, what in said)
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
        found = self.filled.answers[question]
        answer = Answer(root.answer) if root else found
        program = notation(question)
        recomputed = self.filled.recomputed.get(question) if root else None
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
            "recomputed": recomputed,
            "novel_composition": root.novel_composition if root else None,
            "more_steps": root.more_steps if root else None,
        }

    def graphs(self) -> Iterator[Row]:
        """Yield the rows of config `graphs`."""
        for root, graph in zip(self.roots, self.graphs_by_root, strict=True):
            yield {
                "root": root.key,
                "video_id": self.video_id,
                "template": template_of(root.question),
                "isolated": not graph.edges,
                "depth": graph.depths[-1],
                "nodes": [*[self.keys[step.question] for step in graph.steps[:-1]], root.key],
                "edges": [{"parent": parent, "rule": rule, "children": below} for parent, rule, below in graph.edges],
            }


def canonical_id(video_id: str, program: str) -> str:
    """Return what names a question's meaning in a video: the same for two roots with the same program."""
    return hashlib.sha256(f"{video_id}\0{program}".encode()).hexdigest()[:16]


def options_of(question: Question, answer: str) -> tuple[str, ...]:
    """Return what may be answered, where that is two things with names; else nothing.

    Args:
        question: The question.
        answer: What its kind is answered by: "yes/no", "choice", …
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
    """Take a video's questions apart and answer what they are taken apart into.

    A sub-question that is itself a root of the video is that root: one meaning is asked once. Two roots may mean the
    same all the same (AGQA has five such pairs in test); each keeps its row.

    Args:
        video_id: The video.
        roots: Its questions, in any order.
        graph: What is annotated of it; None if nothing is known but the questions.
        wording: How sub-questions are worded.
    """
    ordered = tuple(sorted(roots, key=lambda root: in_order(root.key)))
    keys: dict[Question, str] = {}
    for root in ordered:
        keys.setdefault(root.question, root.key)
    taken: list[DecomposedQuestion] = []
    for root in ordered:
        found = graph_of(root.question)
        for number, step in enumerate(found.steps):
            keys.setdefault(step.question, f"{root.key}_{number}")
        taken.append(found)
    given = {root.question: root.answer for root in reversed(ordered)}
    steps = [step for found in taken for step in found.steps]
    return DecomposedVideo(video_id, ordered, tuple(taken), keys, fill(steps, given, graph), wording)


def sub_questions(graphs: Iterator[Row]) -> Counter[str]:
    """Count sub-questions by template of their root, as "<template>", and roots, as "<template> roots"."""
    found = Counter[str]()
    for graph in graphs:
        found[graph["template"]] += len(graph["nodes"]) - 1
        found[f"{graph['template']} roots"] += 1
    return found
