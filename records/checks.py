"""What a check of a finished output is, and how far a verification looks."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from .output import FinishedOutput

Check = Callable[[FinishedOutput], Iterable[str]]
"""Yields one line for each problem; none if the check passes."""


@dataclass(frozen=True)
class VerifyOptions:
    """How far a verification looks.

    Attributes:
        decode: Decode the videos of the output.
        workers: Processes for decoding.
        sources: The folder with the source videos; None if they are not at hand.
        sample: How many units to make again from their sources.
    """

    decode: bool = True
    workers: int = 1
    sources: Path | None = None
    sample: int = 20
