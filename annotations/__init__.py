"""Loaders for annotated datasets, with one module for each file format."""

from __future__ import annotations

from pathlib import Path

from ..core.documents import package_table
from ..core.source import Source


def load_source(key: str) -> Source:
    """Return a collection that annotations come from, with its licence and citation; `key` is one in `sources.yaml`."""
    row = package_table(Path(__file__).with_name("sources.yaml"))[key]
    folders = {"video_folders": tuple(row["video_folders"])} if "video_folders" in row else {}
    return Source(key, **row | folders)
