"""Define the tables of a suite."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ...core.schema import Column, Config, Public, Row
from ...corruptions.registry import check_name, check_text_name
from .settings import PerturbedSettings

CLEAN = "clean"

COLUMNS = (
    Column("clip_id", "string", "the clip"),
    Column("severity", "int32", "1 to 5; 0 in `clean`"),
    Column("perturbation", "string", "the perturbation, which is the name of the config; `clean` in `clean`"),
    Column("level", "string", "the paper's values of the severity"),
    Column(
        "written_quantiser", "int32", "the quantiser that FFmpeg writes for mpeg1 and mpeg2, at most 31; otherwise null"
    ),
    Column("captions", "strings", "the captions written by annotators"),
    Column("source_id", "string", "the source video"),
    Column("start_s", "float64", "start of the clip in seconds of the source; null for the whole video"),
    Column("end_s", "float64", "end of the clip; like the start, not outside the picture of the source"),
    Column("num_frames", "int32", "number of frames"),
    Column("fps", "float64", "number of frames divided by the duration"),
    Column(
        "source_frames",
        "int32",
        "number of frames perturbed as a whole: those of the source, or of the clip if it was cut first",
    ),
    Column("first_frame", "int32", "index of the clip's first frame among them"),
    Column("sha256", "string", "SHA-256 of the file in `video`"),
    Column("changed", "bool", "whether `video` differs from that of the clip in `clean`", of_file=True),
)
VIDEO = Column("video", "video", "MP4, H.264")
TEXT_COLUMNS = (
    Column("caption_id", "string", "the caption: the id of its clip and its number, from 0"),
    Column("perturbation", "string", "the perturbation, which is the name of the config"),
    Column("clip_id", "string", "the clip that the caption describes, as in `clean`", refers_to="clean"),
    Column("caption", "string", "the perturbed caption, or the original if nothing could be changed"),
    Column("original", "string", "the original caption"),
    Column("changed", "bool", "whether `caption` differs from `original`"),
    Column("reason", "string", "why the caption did not change; null if it did"),
)
MULTIMODAL = "multimodal"
PAIR_COLUMNS = (
    Column("perturbation", "string", "the combination, as visual:text"),
    Column("visual", "string", "the config with the clip"),
    Column("severity", "int32", "the severity of the clip"),
    Column("text", "string", "the config with the caption"),
    Column("clip_id", "string", "the clip", refers_to="clean"),
    Column("caption_id", "string", "the caption"),
)
MULTIMODAL_CONFIG = Config(
    MULTIMODAL,
    "combinations: which row of a visual config goes with which of a text config",
    PAIR_COLUMNS,
    key_columns=len(PAIR_COLUMNS),
)


def text_configs(names: Sequence[str]) -> tuple[Config, ...]:
    """Define a table for each text perturbation."""
    return tuple(Config(c.name, f"{c.family}; {c.does}", TEXT_COLUMNS) for c in map(check_text_name, names))


def suite_configs(settings: PerturbedSettings) -> tuple[Config, ...]:
    """Return all tables of a suite: `clean`, one for each perturbation, and the combinations."""
    columns = (*COLUMNS, VIDEO) if settings.render else COLUMNS
    visual = map(check_name, settings.perturbations)
    return (
        Config(CLEAN, "the unperturbed clips, encoded like the others", columns, default=True, key_columns=2),
        *(Config(c.name, f"{c.family}; levels are {c.unit}", columns, key_columns=2) for c in visual),
        *text_configs(settings.text_perturbations),
        *([MULTIMODAL_CONFIG] if settings.pairs else []),
    )


def visual_tables(info: Mapping[str, Any]) -> list[str]:
    """Return the names of a finished suite's visual tables, starting with `clean`."""
    return [name for name in (CLEAN, *info["settings"]["perturbations"]) if name in info["counts"]]


def public(info: Mapping[str, Any]) -> dict[str, Public]:
    """Return what each table shows of a split with withheld answers: clips, and captions in a new order.

    Ids are replaced, as they may be descriptive or published with captions, unless the suite has no videos and needs
    them.
    """
    of_clip = [column.name for column in (*COLUMNS, VIDEO)]
    hidden = {"source_id", "start_s", "end_s", "source_frames", "first_frame"} if info["settings"]["render"] else set()
    ids = ("clip_id",) if info["settings"]["render"] else ()
    visual = Public(shown=tuple(name for name in of_clip if name not in hidden), ids=ids, moved=("captions",))
    text = Public(
        shown=("caption_id", "perturbation", "caption", "original", "changed", "reason"), ids=ids, moved=("caption_id",)
    )
    return {
        **dict.fromkeys(visual_tables(info), visual),
        **dict.fromkeys((name for name in info["settings"]["text_perturbations"] if name in info["counts"]), text),
        MULTIMODAL_CONFIG.name: Public(ids=ids, moved=("caption_id",)),
    }


def level_of(name: str, severity: int) -> Row:
    """Return the columns that the perturbation and severity determine. `clean` has no level."""
    if name == CLEAN:
        return {"perturbation": CLEAN, "level": None, "written_quantiser": None}
    corruption = check_name(name)
    return {
        "perturbation": name,
        "level": corruption.level(severity),
        "written_quantiser": corruption.written_quantiser(severity),
    }


def caption_tables(info: Mapping[str, Any]) -> list[str]:
    """Return the names of the tables with perturbed captions."""
    return [name for name in info["settings"]["text_perturbations"] if name in info["counts"]]
