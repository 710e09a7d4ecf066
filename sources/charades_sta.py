"""Charades-STA."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from .charades import Annotations


def read_charades_sta(folder: Path, charades: Annotations, splits: Sequence[str]) -> Annotations:
    """Read."""
    return charades
