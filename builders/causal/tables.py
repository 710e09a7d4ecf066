"""Define the tables of CausalChaos and the values of their columns, and read its questions as items."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from ...annotations.causalchaos import CausalRow
from ...core.output import FinishedOutput
from ...core.schema import Column, Config, Public, Row
from ...evaluation.metrics.items import Items, items_of, read_columns
from ...negatives.confused_options import Outcome
from ...negatives.confusion import Confusion
from ...negatives.options import Negative
from .settings import SCHEMES, CausalSettings, Scheme, settings_of

Target = Literal["answer", "explanation"]
TARGETS: tuple[Target, ...] = ("answer", "explanation")
SPLITS = ("train", "validation", "test")
TRAIN = SPLITS[0]
RIGHT = "right"
CONFUSED = "causal_confusion"
OPEN = "open_ended"
NOT_DRAWN = "enough others are there"
ITEM_COLUMNS = ("qid", "episode", "clip_id", "question", "options", "answer_index")
SCORED = ("hard", "random")  # kinds of options chosen by score
CLIPS = "clips"

NAMES: dict[Target, tuple[str, str, str]] = {
    "answer": ("options", "answer_index", "sources"),
    "explanation": ("explanation_options", "explanation_index", "explanation_sources"),
}
"""The columns with the options of a target, the index of the correct option, and the source of each option."""

SOURCE_FIELDS = (
    Column("qid", "string", "the question for which this is the correct option, or was before the text was changed"),
    Column(
        "kind", "string", "`right`, `hard`, `carried` (adapted from another question), `random`, `negation` or `swap`"
    ),
    Column("cos_question", "float64", "cosine of the two questions (SBERT)"),
    Column("cos_text", "float64", "cosine with the correct option"),
    Column("score", "float64", "the score by which it was selected"),
)
CONFUSION_FIELDS = (
    Column("target", "string", "`answer` or `explanation`"),
    Column("of", "string", "whether the original option is `right` or `wrong`"),
    Column("kind", "string", "`negation` or `swap`"),
    Column("place", "int32", "its index among the options; null if it is not an option"),
    Column("text", "string", "the confusion; null if none could be made"),
    Column("note", "string", "why it could not be made or used, or why it is ambiguous; otherwise empty"),
)
ASKED = (
    Column("qid", "string", "the question"),
    Column("episode", "string", "the video"),
    Column("start_frame", "int32", "first annotated frame of the clip"),
    Column("end_frame", "int32", "the frame after the last frame of the clip"),
    Column("clip_id", "string", "the clip, in config `clips`"),
    Column("question", "string", "the question"),
)
CHOICES = (
    *ASKED,
    Column("options", "strings", "answers to choose from"),
    Column("answer_index", "int32", "index of the correct answer, from 0"),
    Column("explanation_options", "strings", "explanations to choose from"),
    Column("explanation_index", "int32", "index of the correct explanation, from 0"),
    Column("sources", "records", "the source of each of `options`", fields=SOURCE_FIELDS),
    Column("explanation_sources", "records", "the source of each of `explanation_options`", fields=SOURCE_FIELDS),
    Column(
        "blind_guessable",
        "bool",
        "false in the balanced subset, where models without video are at chance; null if there is no such subset",
    ),
)
MEANINGS: dict[Scheme, str] = {
    "ud": "questions divided uniformly at random",
    "ps": "questions divided by their position in the episode",
    "un": "questions divided by episode: those of validation and test are unseen in train",
}
CONFUSED_CONFIG = Config(
    CONFUSED,
    "the test questions of the first division, with distractors replaced by negations and swaps",
    (*CHOICES, Column("confusions", "records", "the result of each attempt to confuse", fields=CONFUSION_FIELDS)),
)
OPEN_CONFIG = Config(
    OPEN,
    "every question with its correct answer and explanation, in the splits of the first division",
    (
        *ASKED,
        Column("answer", "string", "the correct answer"),
        Column("explanation", "string", "the correct explanation"),
        *(
            Column(f"split_{scheme}", "string", f"split of the question in `{scheme}`; null if that was not built")
            for scheme in SCHEMES
        ),
    ),
)
CLIPS_CONFIG = Config(
    CLIPS,
    "the clips of all questions, each clip once",
    (
        Column("clip_id", "string", "`<episode>_<start_frame>_<end_frame>`"),
        Column("episode", "string", "the video"),
        Column("start_frame", "int32", "first annotated frame"),
        Column("end_frame", "int32", "the frame after the last frame of the clip"),
        Column("first_frame", "int32", "index in the source video of the first frame of the clip"),
        Column("num_frames", "int32", "number of frames"),
        Column("fps", "float64", "number of frames divided by the duration"),
        Column("width", "int32", "width in pixels"),
        Column("height", "int32", "height in pixels"),
        Column("duration_s", "float64", "duration in seconds"),
        Column("source_sha256", "string", "SHA-256 of the source video"),
        Column("sha256", "string", "SHA-256 of the file in `video`"),
        Column("video", "video", "MP4, H.264, yuv420p"),
    ),
)


SHOWN = tuple(column.name for column in ASKED)
PUBLIC_CHOICES = Public(
    shown=(*SHOWN, "options", "explanation_options"),
    ids=("qid", "sources.qid", "explanation_sources.qid"),
    choices=tuple((index, options, sources) for options, index, sources in NAMES.values()),
)


def public(info: Mapping[str, Any]) -> dict[str, Public]:
    """Return which columns of each table remain visible in a split with withheld answers.

    Only one division is kept, since a question of its test split can be in train of another. Options that were chosen
    by score also have different distractors in each, so that only the correct one is in all of them.
    """
    divisions = [name for name in SCHEMES if name in info["counts"]]
    clips = Public(shown=tuple(column.name for column in CLIPS_CONFIG.columns))
    return {
        **dict.fromkeys(divisions[:1], PUBLIC_CHOICES),
        OPEN: Public(shown=SHOWN, ids=("qid",)),
        CLIPS: clips,
    }


def causal_configs(settings: CausalSettings) -> tuple[Config, ...]:
    """Return the tables of a build with these settings."""
    chosen = [
        Config(scheme, MEANINGS[scheme], CHOICES, default=scheme == settings.schemes[0]) for scheme in settings.schemes
    ]
    confused = settings.confuse and settings.split in ("test", "all")
    return (
        *chosen,
        *([CONFUSED_CONFIG] if confused else []),
        OPEN_CONFIG,
        *([CLIPS_CONFIG] if settings.render else []),
    )


def configs(info: Mapping[str, Any]) -> tuple[Config, ...]:
    """Return the tables of a finished output."""
    return causal_configs(settings_of(info))


def choice_tables() -> tuple[str, ...]:
    """Return the names of the tables with options to choose from."""
    return (*SCHEMES, CONFUSED)


def question_tables(info: Mapping[str, Any]) -> list[str]:
    """Return the names of an output's multiple-choice tables, starting with the first division."""
    return [name for name in choice_tables() if name in info["counts"]]


def text_of(row: CausalRow, target: Target) -> str:
    """Return the correct answer or explanation of a row."""
    return row.answer if target == "answer" else row.explanation


def clip_id(row: CausalRow) -> str:
    """Return the name of the clip that a row is about."""
    return f"{row.episode}_{row.start_frame}_{row.end_frame}"


def causal_row(row: Row) -> CausalRow:
    """Return the annotation from which a row of `open_ended` was made."""
    texts = (row["question"], row["answer"], row["explanation"])
    return CausalRow(row["qid"], row["episode"], row["start_frame"], row["end_frame"], *texts)


def asked_of(row: CausalRow) -> Row:
    """Return the columns listed in `ASKED`."""
    return {
        "qid": row.qid,
        "episode": row.episode,
        "start_frame": row.start_frame,
        "end_frame": row.end_frame,
        "clip_id": clip_id(row),
        "question": row.question,
    }


def source_row(qid: str, source: Negative | None) -> Row:
    """Return the source of an option as columns of `SOURCE_FIELDS`."""
    if source is None:
        return {"qid": qid, "kind": RIGHT, "cos_question": 1.0, "cos_text": 1.0, "score": None}
    return {
        "qid": source.id,
        "kind": source.kind,
        "cos_question": source.cos_question,
        "cos_text": source.cos_text,
        "score": source.score if source.kind in SCORED else None,
    }


def outcome_row(target: Target, outcome: Outcome) -> Row:
    """Return the outcome of a confusion as columns of `CONFUSION_FIELDS`."""
    confusion = outcome.result if isinstance(outcome.result, Confusion) else None
    note = confusion.ambiguous if confusion else getattr(outcome.result, "reason", "")
    return {
        "target": target,
        "of": outcome.of,
        "kind": outcome.result.kind,
        "place": outcome.position,
        "text": confusion.text if confusion else None,
        "note": NOT_DRAWN if confusion and outcome.position is None else note,
    }


def items(output: FinishedOutput, config: str, split: str) -> Items:
    """Return the questions of a table and split with their answer options."""
    rows, _ = read_columns(output, config, ITEM_COLUMNS, split)
    return items_of(
        output,
        config,
        split,
        id_column="qid",
        ids=rows["qid"],
        sources=rows["episode"],
        videos=rows["clip_id"],
        texts=rows["question"],
        options=[tuple(texts) for texts in rows["options"]],
        truth=rows["answer_index"],
    )
