"""Define the tables that contain question graphs, and read their rows one video at a time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from ...core.output import FinishedOutput
from ...core.schema import Column, Config, Public, Row
from .settings import DecompSettings

QUESTIONS = Config(
    "questions",
    "every question and sub-question, once per video",
    (
        Column("key", "string", "the question: the id of a root, or `<root>_<number>` of the first root that asks it"),
        Column("video_id", "string", "the video"),
        Column("question", "string", "the question; roots keep the wording of the source"),
        Column("answer", "string", "the correct answer; null if unknown"),
        Column("reason", "string", "why the answer is null; otherwise empty"),
        Column(
            "decided_by",
            "string",
            "source of the answer: `root` (the source itself), `graph` (the scene graph), or the rule by which it "
            "follows from other answers; for a `conflict`, the sources with their answers; otherwise empty",
        ),
        Column("options", "strings", "the possible answers, if they are yes and no or two named ones; otherwise empty"),
        Column("kind", "string", "one of the 34 kinds"),
        Column("group", "string", "one of the 13 groups for which scores are reported"),
        Column(
            "banned", "bool", "whether the kind is excluded from scores, because its answers are lists or hard to judge"
        ),
        Column("program", "string", "the meaning in a short notation; equal for questions with the same meaning"),
        Column("canonical_id", "string", "a hash of `video_id` and `program`"),
        Column("is_root", "bool", "whether the source contains the question"),
        Column("template", "string", "the template of the root, one of AGQA's 27; empty for other questions"),
        Column("agqa_program", "string", "the root's program in AGQA's notation; null for other questions"),
        Column(
            "recomputed", "string", "answer to the root according to the scene graph; null if it cannot be determined"
        ),
        Column(
            "novel_composition",
            "bool",
            "for roots: whether it has a composition that does not occur in train; otherwise null",
        ),
        Column("more_steps", "bool", "for roots: whether it has more steps than any question in train; otherwise null"),
    ),
    default=True,
)
GRAPHS = Config(
    "graphs",
    "the graph of every root",
    (
        Column("root", "string", "the root, in config `questions`"),
        Column("video_id", "string", "the video"),
        Column("template", "string", "the root's template"),
        Column("isolated", "bool", "whether no rule decomposes the root"),
        Column("depth", "int32", "number of rules on the longest path down from the root"),
        Column("nodes", "strings", "`key` of every question of the graph: children before parents, the root last"),
        Column(
            "edges",
            "records",
            "how questions are composed; a parent may be composed by several rules",
            fields=(
                Column("parent", "int32", "its index in `nodes`"),
                Column("rule", "string", "one of the 13 composition rules"),
                Column("children", "integers", "their indices in `nodes`, in the order of the rule"),
            ),
        ),
    ),
)
VIDEOS = Config(
    "videos",
    "the source videos, unchanged",
    (
        Column("video_id", "string", "the video"),
        Column("num_frames", "int32", "number of frames"),
        Column("fps", "float64", "number of frames divided by the duration"),
        Column("width", "int32", "width in pixels"),
        Column("height", "int32", "height in pixels"),
        Column("duration_s", "float64", "duration in seconds"),
        Column("sha256", "string", "SHA-256 of the file in `video`"),
        Column("video", "video", "the file"),
    ),
)

REASONS: Mapping[str, str] = {
    "no_graph": "The video has no scene graph, and no other answer decides the question.",
    "unknown_word": "The question names an object, relation or action that neither the vocabulary nor the graph has.",
    "not_annotated": "It is not annotated, and the annotations are too incomplete to rule it out.",
    "no_such_action": "An action that the question refers to does not happen.",
    "several_instances": "An action that the question refers to happens several times.",
    "empty_window": "No annotated frame lies in the part of the video that is asked about.",
    "no_object": "No object has the relation.",
    "several_objects": "Several objects have the relation, but the question asks for one.",
    "no_action": "No action is annotated in the part of the video that is asked about.",
    "several_actions": "Several actions are annotated, but the question asks for one.",
    "unresolved_reference": "The object or action that the question refers to is not known.",
    "ambiguous_margin": "Two actions are too close in time, or in length, to be ordered.",
    "ambiguous_run": "Several objects have the relation in the first or last frames in which it holds.",
    "both_sides": "It holds both before and after the action.",
    "at_the_same_time": "It holds during the action.",
    "neither_side": "It holds neither before nor after the action.",
    "both_options": "Both options are correct.",
    "neither_option": "Neither option is correct.",
    "unnamed": "It depends on an object or action that questions cannot name.",
    "conflict": "Two sources give different answers.",
    "not_published": "The published graph has no answer.",
}
"""Why a question has no answer: code and description."""

PUBLIC = {
    "questions": Public(
        shown=("key", "video_id", "question", "options", "kind", "group", "banned"),
        ids=("key", "canonical_id"),
        group="video_id",
    ),
    "graphs": Public(ids=("root", "nodes"), group="video_id"),
    "videos": Public(shown=tuple(column.name for column in VIDEOS.columns)),
}


def decomp_configs(settings: DecompSettings) -> tuple[Config, ...]:
    """Return the tables of a build with these settings."""
    return (QUESTIONS, GRAPHS, VIDEOS) if settings.embed == "yes" else (QUESTIONS, GRAPHS)


@dataclass(frozen=True)
class VideoRows:
    """All rows about one video."""

    video_id: str
    questions: Mapping[str, Row]
    graphs: Sequence[Row]


def by_video(output: FinishedOutput, split: str | None = None, *, whole: bool = False) -> Iterator[VideoRows]:
    """Yield the rows of each video. In both tables, they must be contiguous and the videos in the same order.

    If `split` is None, all splits are read. With `whole`, missing rows are an error.
    """
    read = output.whole if whole else output.rows
    for name in [split] if split else output.splits(QUESTIONS.name):
        questions = groupby(read(QUESTIONS.name, None, name), key=lambda row: row["video_id"])
        graphs = groupby(read(GRAPHS.name, None, name), key=lambda row: row["video_id"])
        waiting = next(graphs, None)
        for video, rows in questions:
            graph_rows: list[Row] = []
            by_key = {row["key"]: row for row in rows}
            if waiting and waiting[0] == video:
                graph_rows = list(waiting[1])
                waiting = next(graphs, None)
            yield VideoRows(video, by_key, graph_rows)
        if waiting:
            yield VideoRows(waiting[0], {}, list(waiting[1]))
