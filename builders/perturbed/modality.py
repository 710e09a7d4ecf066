"""Determine which halves of a suite the option `--modality` includes."""

from __future__ import annotations

from typing import Any


def shows(settings: Any) -> bool:
    """Return whether the suite includes videos."""
    return bool(settings.modality != "text")


def worded(settings: Any) -> bool:
    """Return whether the suite includes perturbed captions."""
    return bool(settings.modality != "video")


def combined(settings: Any) -> bool:
    """Return whether the suite includes combinations."""
    return settings.modality in ("multimodal", "all")
