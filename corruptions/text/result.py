"""Results of text perturbations."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Unchanged:
    """A caption in which a perturbation can change nothing.

    Attributes:
        reason: Why, in a few words: "no verb".
    """

    reason: str


@dataclass(frozen=True)
class TextResult:
    """A caption after a perturbation.

    Attributes:
        text: The caption; the original if it is unchanged.
        changed: Whether it differs from the original.
        reason: Why it does not; empty if it does.
    """

    text: str
    changed: bool
    reason: str = ""
