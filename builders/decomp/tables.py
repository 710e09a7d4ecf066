"""Define the tables that contain question graphs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...core.schema import Column, Config, Public
from .settings import DecompSettings, settings_of

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


def configs(info: Mapping[str, Any]) -> tuple[Config, ...]:
    """Return the tables of a finished output."""
    return decomp_configs(settings_of(info))
