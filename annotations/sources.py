"""Load the collections that annotations come from, with their licences and citations, from `sources.yaml`."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import yaml

from ..core.source import Source


def load_source(key: str) -> Source:
    """Return the source with the given key."""
    row = _table()[key]
    folders = {"video_folders": tuple(row["video_folders"])} if "video_folders" in row else {}
    return Source(key, **row | folders)


@cache
def _table() -> dict[str, Any]:
    table: dict[str, Any] = yaml.safe_load(Path(__file__).with_suffix(".yaml").read_text(encoding="utf-8"))
    return table
