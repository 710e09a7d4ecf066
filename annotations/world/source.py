"""Recognize a folder that stressreel has drawn, whose videos anyone may redistribute."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from ...core.documents import parse_own, read_own
from ...core.errors import InputError
from ...core.source import Source
from .. import load_source
from . import RECORD


def drawn_or(source: Source, path: Path, hashes: Mapping[str, str]) -> Source:
    """Return the source of a drawn world if the annotations that were read are one's, and otherwise `source`.

    Args:
        source: The collection whose format the annotations have.
        path: The annotations, or their folder.
        hashes: SHA-256 of the files that were read, by name.
    """
    record = (path.parent if path.is_file() else path) / RECORD
    try:
        known = parse_own(read_own(record)).get("annotations", {}) if record.is_file() else {}
        drawn = {Path(name).name: value for name, value in known.items()}
    except (InputError, ValueError, AttributeError, TypeError):
        return source
    if not hashes or any(drawn.get(name) != value for name, value in hashes.items()):
        return source
    return replace(load_source("drawn"), video_folders=source.video_folders, style=source.style)
