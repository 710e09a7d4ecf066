"""Results of text perturbations."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Unchanged:
    """The reason why a perturbation cannot change a caption, such as "no verb"."""

    reason: str


@dataclass(frozen=True)
class TextResult:
    """A perturbed caption, whether it differs from the original, and the reason if it does not."""

    text: str
    changed: bool
    reason: str = ""
