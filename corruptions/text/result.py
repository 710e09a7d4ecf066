"""What a text perturbation gives back."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Unchanged:
    """A perturbation has nothing in a caption that it can change.

    Attributes:
        reason: Why, in a few words: "no verb".
    """

    reason: str


@dataclass(frozen=True)
class TextResult:
    """A caption after a perturbation.

    Attributes:
        text: The caption; the original if nothing could be changed.
        changed: Whether it differs from the original.
        reason: Why it does not; empty if it does.
    """

    text: str
    changed: bool
    reason: str = ""
