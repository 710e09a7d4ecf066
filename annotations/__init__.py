"""Loaders for annotated datasets, with one module for each file format."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import yaml

from ..core.source import Source


def load_source(key: str) -> Source:
    """Return a collection that annotations come from, with its licence and citation; `key` is one in `sources.yaml`."""
    row = _sources()[key]
    folders = {"video_folders": tuple(row["video_folders"])} if "video_folders" in row else {}
    return Source(key, **row | folders)


@cache
def _sources() -> dict[str, Any]:
    table: dict[str, Any] = yaml.safe_load(Path(__file__).with_name("sources.yaml").read_text(encoding="utf-8"))
    return table
