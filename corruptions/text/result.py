"""Define what a text perturbation returns."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Unchanged:
    """The reason why a perturbation cannot change a caption, such as "no verb"."""

    reason: str


@dataclass(frozen=True)
class TextResult:
    """A perturbed caption, with the reason why it did not change if it is the same as the original."""

    text: str
    changed: bool
    reason: str = ""
