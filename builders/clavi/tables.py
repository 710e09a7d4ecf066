"""Define the tables of CLAVI, and read its questions as items."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ...core.output import FinishedOutput
from ...core.schema import Column, Config, Public
from ...evaluation.metrics.answers import YES_NO
from ...evaluation.metrics.items import Items, items_of, read_columns
from .settings import AMBIGUOUS, RELATIONS, ClaviSettings, settings_of

ITEM_COLUMNS = ("question_id", "source_id", "video_id", "question", "answer")
VARIANTS = ("original", "complement")
ANSWERS = ("no", "yes")

QUESTIONS = Config(
    "questions",
    "the yes/no questions about every video",
    (
        Column("question_id", "string", "`<video_id>_<00 to 18>`"),
        Column("video_id", "string", "the video asked about, in config `videos`"),
        Column("pair_id", "string", "the pair, in config `pairs`"),
        Column("source_id", "string", "the Charades video"),
        Column("question", "string", "the question"),
        Column("answer", "label", "`no` or `yes`", ANSWERS),
        Column(
            "type",
            "string",
            "`E` (existence), `BE` (beginning or end), `BA` (before or after); `E-NC`, `BA-NC`: negative control",
        ),
        Column("type_id", "int32", "type id of the release (0, 1, 4, 5, 8, 9, 10 in V, the same plus 16 in V′)"),
        Column("subset", "string", "`control` (E, E-NC, BA-NC) or `complement` (BE, BA)"),
        Column("variant", "string", "`original` (V) or `complement` (V′)"),
        Column(
            "complement_question_id",
            "string",
            "Q′: the question with the opposite time about the same video; null for E and E-NC",
        ),
        Column("counterpart_question_id", "string", "the same question about the other video of the pair"),
        Column("template_id", "string", "wording in `templates/clavi.yaml`"),
    ),
    default=True,
)
VIDEOS = Config(
    "videos",
    "the videos V and V′ of every pair",
    (
        Column("video_id", "string", "`<pair_id>_1` (V) or `<pair_id>_2` (V′)"),
        Column("pair_id", "string", "the pair"),
        Column("variant", "string", "`original` or `complement`"),
        Column("source_id", "string", "the Charades video"),
        Column("num_frames", "int32", "number of frames"),
        Column("fps", "float64", "number of frames divided by the duration"),
        Column("width", "int32", "width in pixels"),
        Column("height", "int32", "height in pixels"),
        Column("duration_s", "float64", "duration in seconds"),
        Column("sha256", "string", "SHA-256 of the file in `video`"),
        Column("video", "video", "MP4, H.264, yuv420p"),
    ),
)
PAIRS = Config(
    "pairs",
    "the swapped actions A and B (A before B in the source) and the negative control C",
    (
        Column("pair_id", "string", "8 hex digits"),
        Column("source_id", "string", "the Charades video"),
        Column("subject", "string", "Charades' id of the person"),
        Column("relation", "string", "relation of A and B: `sequence`, `overlap` or `contain` (A contains B)"),
        *(
            Column(f"{what}_{letter}", kind, f"{meaning} of {letter.upper()}")
            for letter in "abc"
            for what, kind, meaning in (
                ("class", "string", "class id (or phrase, with `--source sta`)"),
                ("label", "string", "label in the annotation"),
                ("phrase", "string", "wording in the questions"),
                ("verb", "string", "verb"),
                ("objects", "strings", "objects"),
            )
        ),
        *(
            Column(f"{edge}_{letter}_s", "float64", f"annotated {edge} of {letter.upper()}, in seconds of the source")
            for letter in "ab"
            for edge in ("start", "end")
        ),
        Column("out_a", "float64", "start of A's piece, in seconds of the source"),
        Column("in_a", "float64", "end of A's piece and start of the filler"),
        Column("in_b", "float64", "end of the filler and start of B's piece"),
        Column("out_b", "float64", "end of B's piece"),
        Column("out_a_frame", "int32", "first source frame of A's piece"),
        Column("in_a_frame", "int32", "first source frame of the filler"),
        Column("in_b_frame", "int32", "first source frame of B's piece"),
        Column("out_b_frame", "int32", "first source frame after B's piece"),
        Column("other_actions", "strings", "other actions of the source that do not start or end in the segment"),
        Column("source_verbs", "strings", "verbs of all annotations of the source"),
        Column("source_objects", "strings", "objects of all annotations of the source"),
        Column("source_sha256", "string", "SHA-256 of the source file"),
    ),
)

DOUBTFUL = Column(
    AMBIGUOUS,
    "bool",
    "whether the order of A and B is in doubt, as A or B has another interval in the clip (complement questions only)",
)
RECURRING = Column(
    AMBIGUOUS, "bool", "whether another interval of A reaches into the clip after A, or one of B before B"
)
SOURCE_ACTIONS = Column("source_actions", "strings", "class ids of all annotations of the source")
SOURCE = Column("source", "string", "the collection: `causalchaos`, `youcook2` or `segments`")
CLIP_WORDS = Column("clip_words", "strings", "verbs, objects and words of all annotations in the clip or close to it")
ASKED = tuple(
    Column(
        f"asked_{letter}",
        "string",
        f"yes/no question of {letter.upper()}, without the question mark; empty for a gerund",
    )
    for letter in "abc"
)
MEANINGS = {  # of columns whose meaning differs from that for Charades
    "source_id": "the source video",
    "subject": "the person or thing that acts, if annotated",
    **{f"class_{letter}": f"phrase, or class, of {letter.upper()}" for letter in "abc"},
    "template_id": "wording in `templates/clavi.yaml`, or in `templates/clavi_events.yaml` for phrases with subjects",
}
NATURAL = {
    "question_id": "`<video_id>_<00 to 18>`; further wordings of the same questions have the numbers from 19",
    "template_id": "type of question; its wordings are in `templates/clavi_natural.yaml`",
    **{f"phrase_{letter}": "wording in the questions, in the gerund" for letter in "abc"},
}

RELATED = {
    "question_id": "`<video_id>_<number>`; numbers start at 00 and depend on the relation and the wordings",
    "type": "`E`, `BE`, `BA` for sequences; `W` (while), `AW` (already … when), `SB` (start before or after) for "
    "overlaps; `W`, `TH` (third) for actions that contain another; `-NC`: negative control",
    "type_id": "0 to 31 for sequences, 32 to 63 for overlaps, 64 to 95 for contained actions; plus 16 in V′",
    "subset": "`control` (E, W, NC) or `complement` (BE, BA, AW, SB, TH)",
    "complement_question_id": "Q′: the question with the opposite time about the same video; null for E and W",
    "template_id": "wording in `templates/clavi.yaml`, `clavi_overlap.yaml` or `clavi_contain.yaml`",
    **{
        name: f"{what} in seconds of the source"
        for name, what in zip(
            ("out_a", "in_a", "in_b", "out_b"),
            (
                "start of the first piece",
                "start of the middle piece",
                "start of the last piece",
                "end of the last piece",
            ),
            strict=True,
        )
    },
    **{
        name: f"first source frame {what}"
        for name, what in zip(
            ("out_a_frame", "in_a_frame", "in_b_frame", "out_b_frame"),
            ("of the first piece", "of the middle piece", "of the last piece", "after the last piece"),
            strict=True,
        )
    },
}


PUBLIC = {
    # Types, templates, subsets and links tell Q from Q′ and V from V′; `pairs` and source ids tell the actions.
    "questions": Public(
        shown=("question_id", "video_id", "question"),
        ids=("question_id", "video_id", "pair_id", "complement_question_id", "counterpart_question_id"),
        group="video_id",
    ),
    "videos": Public(
        shown=("video_id", "num_frames", "fps", "width", "height", "duration_s", "sha256", "video"),
        ids=("video_id", "pair_id"),
    ),
    "pairs": Public(ids=("pair_id",)),
}


def clavi_configs(settings: ClaviSettings) -> tuple[Config, ...]:
    """Return the tables of a build. Datasets other than Charades have more columns for pairs."""
    meanings = {} if settings.collection == "charades" else dict(MEANINGS)
    if settings.wording == "natural":
        meanings |= NATURAL
    if settings.relations != RELATIONS[:1]:
        meanings |= RELATED
    configs_built = []
    optional = {QUESTIONS.name: (DOUBTFUL,) * settings.may_recur, PAIRS.name: pair_columns(settings)}
    for table in (QUESTIONS, VIDEOS, PAIRS) if settings.render else (QUESTIONS, PAIRS):
        columns = table.columns + optional.get(table.name, ())
        meant = (replace(column, meaning=meanings.get(column.name, column.meaning)) for column in columns)
        configs_built.append(replace(table, columns=tuple(meant)))
    return tuple(configs_built)


def pair_columns(settings: ClaviSettings) -> tuple[Column, ...]:
    """Return the columns of `pairs` that not every build has."""
    if settings.collection != "charades":
        return (SOURCE, CLIP_WORDS) if settings.collection == "youcook2" else (SOURCE, CLIP_WORDS, *ASKED)
    compared = settings.implied == "drop" and settings.source == "actions"
    return (*(RECURRING,) * settings.may_recur, *(SOURCE_ACTIONS,) * compared)


def configs(info: Mapping[str, Any]) -> tuple[Config, ...]:
    """Return the tables of a finished output."""
    return clavi_configs(settings_of(info))


def items(output: FinishedOutput, config: str, split: str) -> Items:
    """Return the questions of a split as items."""
    rows, _ = read_columns(output, config, ITEM_COLUMNS, split)
    return items_of(
        output,
        config,
        split,
        id_column="question_id",
        ids=rows["question_id"],
        sources=rows["source_id"],
        videos=rows["video_id"],
        texts=rows["question"],
        options=[YES_NO] * len(rows["question_id"]),
        truth=rows["answer"],
    )
