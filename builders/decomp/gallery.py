"""Lay out gallery pages that show each root question with its sub-questions."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from math import ceil
from typing import Any

from ...core.output import FinishedOutput
from ...core.schema import Row
from ...data_cards.gallery.answers import CONTRADICTORY, Answers
from ...data_cards.gallery.exhibits import Exhibit, ExhibitQuestion, Facet, Film, Gallery
from ...evaluation.metrics.items import ALL, read_columns
from ...evaluation.metrics.predictions import match
from .question_graphs import VideoGraphs
from .question_paths import RIGHT, WRONG, QuestionPath, question_path
from .scores import graphs_of_video
from .tables import GRAPHS, VIDEOS, VideoRows, by_video

FACETS = (
    Facet("split", "Split"),
    Facet("class", "Template"),
    Facet("rule", "Rule"),
    Facet("source", "Video"),
)
IN_A_ROW = 4
TOO_MANY = 60
"""Maximum number of questions in a picture of a graph."""
ASKED_FACETS = (Facet("group", "Group", ("group of the parent",)), Facet("kind", "Kind"))


def gallery(output: FinishedOutput, answers: Answers) -> Gallery:
    """Return the gallery of an output; see `data_cards.gallery.exhibits`."""
    films: dict[str, Film] = {}
    if VIDEOS.name in output.info["counts"]:
        columns, _ = read_columns(output, VIDEOS.name, ("video_id", "sha256"), ALL)
        films = {name: Film(VIDEOS.name, sha256) for name, sha256 in zip(*columns.values(), strict=True)}
    count = sum(output.info["counts"][GRAPHS.name].values())

    def exhibits(indices: Collection[int]) -> Iterator[Exhibit]:
        chosen, offset = set(indices), 0
        answer_of: Mapping[str, Any] = {}
        if answers.predictions is not None:
            rows, _ = read_columns(output, "questions", ("key",), ALL)
            answer_of = match(answers.predictions, rows["key"], partial=True).given
        for split in output.splits(GRAPHS.name):
            for rows_of_video in by_video(output, split):
                positions = [position for position in range(len(rows_of_video.graphs)) if offset + position in chosen]
                offset += len(rows_of_video.graphs)
                if positions:
                    video = graphs_of_video(rows_of_video)
                    for position in positions:
                        graph = rows_of_video.graphs[position]
                        yield _exhibit(rows_of_video, video, graph, split, films.get(graph["video_id"]), answer_of)

    return Gallery(count, exhibits, "question", FACETS, ASKED_FACETS)


def layers(path: QuestionPath) -> tuple[list[list[int]], int]:
    """Arrange questions in rows, so that each is below its parents and, if possible, centred under them.

    Returns:
        Positions of questions in `path.steps` for each row, and the number of omitted questions.
    """
    last = len(path.steps) - 1
    parents: dict[int, list[int]] = {}
    for parent, _, children in path.edges:
        for child in children:
            parents.setdefault(child, []).append(parent)
    depth = {last: 0}
    for index in range(last - 1, -1, -1):  # parents follow their children
        above = [depth[parent] for parent in parents.get(index, ()) if parent in depth]
        if above:
            depth[index] = max(above) + 1
    shown = sorted(depth, key=lambda index: (depth[index], -index))[:TOO_MANY]
    rows: list[list[int]] = []
    middle: dict[int, float] = {}
    for level in range(max(depth[index] for index in shown) + 1):
        level_indices = [index for index in shown if depth[index] == level]
        wanted = {
            index: [middle[parent] for parent in parents.get(index, ()) if parent in middle] or [0.5]
            for index in level_indices
        }
        level_indices.sort(key=lambda index: (sum(wanted[index]) / len(wanted[index]), index))
        parts = ceil(len(level_indices) / IN_A_ROW)
        for part in range(parts):
            row = level_indices[part::parts]
            rows.append(row)
            middle |= {index: (column + 0.5) / len(row) for column, index in enumerate(row)}
    return rows, len(depth) - len(shown)


def _exhibit(
    rows: VideoRows, video: VideoGraphs, graph: Row, split: str, film: Film | None, answer_of: Mapping[str, Any]
) -> Exhibit:
    predictions = {key: str(answer_of[key]) for key in graph["nodes"] if key in answer_of}
    path = question_path(video, graph["root"], predictions)
    placed, hidden = layers(path)
    contradicting = {parent for parent, _ in path.contradictions} if predictions else set()
    nodes, exhibit_questions = [], []
    for index, step in enumerate(path.steps):
        row = rows.questions[step.node.key]
        verdict = step.verdict if step.prediction is not None and step.verdict in (RIGHT, WRONG) else ""
        facets = {"group": row["group"], "kind": row["kind"]}
        exhibit_questions.append(ExhibitQuestion(row["question"], facets, verdict))
        if index in contradicting:
            exhibit_questions.append(ExhibitQuestion("", facets, CONTRADICTORY))
        nodes.append(
            {
                "id": row["key"],
                "text": row["question"],
                "kind": row["kind"],
                "answer": row["answer"],
                "reason": row["reason"],
                "decided": row["decided_by"],
                "options": row["options"],
                "program": row["program"],
                "said": step.prediction,
                "verdict": verdict,
                "path": bool(predictions) and step.on_path,
                "contradicts": index in contradicting,
            }
        )
    root = rows.questions[graph["root"]]
    return Exhibit(
        graph["root"],
        root["question"],
        {
            "split": [split],
            "class": [graph["template"]],
            "rule": sorted({edge["rule"] for edge in graph["edges"]}),
            "source": [graph["video_id"]],
        },
        "graph",
        {
            "film": film.sha256 if film else None,
            "text": root["question"],
            "answer": root["answer"],
            "nodes": nodes,
            "rows": placed,
            "hidden": hidden,
            "edges": [
                {
                    "parent": parent,
                    "rule": rule,
                    "children": list(dict.fromkeys(children)),
                    "contradicts": bool(predictions) and (parent, rule) in path.contradictions,
                    "errors": [child for child in dict.fromkeys(children) if (parent, child) in path.error_edges]
                    if predictions
                    else [],
                }
                for parent, rule, children in path.edges
            ],
            "facts": [
                ["Question", graph["root"]],
                ["Video", graph["video_id"]],
                ["Split", split],
                ["Template", graph["template"]],
                ["Questions", str(len(nodes))],
                ["Depth", str(graph["depth"])],
            ],
        },
        [film] if film else [],
        exhibit_questions,
    )
