"""The tables of question graphs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...core.schema import Column, Config
from .settings import DecompSettings, settings_of

QUESTIONS = Config(
    "questions",
    "every question and sub-question, once for each video",
    (
        Column("key", "string", "the question: the id of a root, or `<root>_<number>` of the first root that asks it"),
        Column("video_id", "string", "the video"),
        Column("question", "string", "its text; a root's is that of the source"),
        Column("answer", "string", "what is right; null if nothing decides it"),
        Column("reason", "string", "why the answer is null; else empty"),
        Column(
            "decided_by",
            "string",
            "what the answer comes from: `root` (the source's own), `graph` (the scene graph), or the rule by which it "
            "follows from other answers; of a `conflict` who says what; else empty",
        ),
        Column(
            "options", "strings", "what may be answered, if it is yes or no or one of two that are named; else empty"
        ),
        Column("kind", "string", "one of the 34 kinds"),
        Column("group", "string", "one of the 13 groups that scores are given for"),
        Column("banned", "bool", "whether the kind is left out of scores: its answers are lists, or hardly judged"),
        Column("program", "string", "what it asks, in a short notation: equal for questions that mean the same"),
        Column("canonical_id", "string", "a hash of `video_id` and `program`"),
        Column("is_root", "bool", "whether the source asks it"),
        Column("template", "string", "the root's template, one of AGQA's 27; empty for other questions"),
        Column("agqa_program", "string", "the root's program as AGQA writes it; null for other questions"),
        Column(
            "recomputed", "string", "a root's answer found again from the scene graph; null if that decides nothing"
        ),
        Column("novel_composition", "bool", "of roots: whether it combines what train never does; else null"),
        Column("more_steps", "bool", "of roots: whether it takes more steps than any in train; else null"),
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
        Column("isolated", "bool", "whether no rule takes the root apart"),
        Column("depth", "int32", "rules on the longest way down from the root"),
        Column("nodes", "strings", "`key` of every question of the graph: children before parents, the root last"),
        Column(
            "edges",
            "records",
            "how questions are composed; a parent may be composed by several rules",
            fields=(
                Column("parent", "int32", "its place in `nodes`"),
                Column("rule", "string", "one of the 13 composition rules"),
                Column("children", "integers", "their places in `nodes`, in the order that the rule gives them"),
            ),
        ),
    ),
)
VIDEOS = Config(
    "videos",
    "the videos, as they are in the source",
    (
        Column("video_id", "string", "the video"),
        Column("num_frames", "int32", "frames"),
        Column("fps", "float64", "frames divided by seconds"),
        Column("width", "int32", "pixels"),
        Column("height", "int32", "pixels"),
        Column("duration_s", "float64", "seconds"),
        Column("sha256", "string", "of the file in `video`"),
        Column("video", "video", "the file"),
    ),
)


def decomp_configs(settings: DecompSettings) -> tuple[Config, ...]:
    """Return the tables of a build."""
    return (QUESTIONS, GRAPHS, VIDEOS) if settings.embed == "yes" else (QUESTIONS, GRAPHS)


def configs(info: Mapping[str, Any]) -> tuple[Config, ...]:
    """Return the tables of a finished build."""
    return decomp_configs(settings_of(info))
