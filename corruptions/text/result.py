"""Results of text perturbations."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Unchanged:
    """A caption that a perturbation cannot change.

    Attributes:
        reason: The reason in a few words, such as "no verb".
    """

    reason: str


@dataclass(frozen=True)
class TextResult:
    """A caption after a perturbation.

    Attributes:
        text: The resulting caption, which may be the original.
        changed: Whether it differs from the original.
        reason: Reason why it does not differ; empty if it does.
    """

    text: str
    changed: bool
    reason: str = ""
