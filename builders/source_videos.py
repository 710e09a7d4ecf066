"""The source videos that a build was given, as every builder that renders looks at them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from ..errors import VideoError
from ..records.files import file_stamp
from ..records.plan import Skip, Unit
from ..video.index import check_opens


def missing_source(unit: Unit, videos: Mapping[str, str]) -> Skip | None:
    """Look whether the source of a unit is there and opens, without decoding it.

    Args:
        unit: The unit.
        videos: Path of each source video by id.
    """
    path = videos.get(unit.source_id)
    if path is None:
        return Skip(unit.id, unit.source_id, "missing_video", f"there is no file {unit.source_id}.mp4")
    try:
        check_opens(Path(path))
    except VideoError as error:
        return Skip(unit.id, unit.source_id, "unreadable_video", error.detail)
    return None


def source_stamp(unit: Unit, videos: Mapping[str, str]) -> str:
    """Give the size and the time of change of a unit's source file; empty if there is none."""
    path = videos.get(unit.source_id)
    return file_stamp(Path(path)) if path else ""
