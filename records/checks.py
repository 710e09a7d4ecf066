"""What a check of a finished output is, and how far a verification looks."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from .output import FinishedOutput


@dataclass(frozen=True)
class NotChecked:
    """What a check could not look at, which is no problem of the output.

    Attributes:
        reason: What is left open and what to give so that it can be checked, in one line.
        name: What `--allow-unverified` calls it, if nobody asked for it to be left open; the output is then not
            verified. Empty for what was not asked for.
    """

    reason: str
    name: str = ""


@dataclass(frozen=True)
class Note:
    """What users of an output should know although nothing is wrong with it.

    Attributes:
        text: One line.
    """

    text: str


Finding = str | NotChecked | Note
Check = Callable[[FinishedOutput], Iterable[Finding]]
"""Yields one line for each problem, a `NotChecked` for what it had to leave open, and a `Note`; or nothing."""


@dataclass(frozen=True)
class VerifyOptions:
    """How far a verification looks.

    Attributes:
        decode: Decode the videos of the output.
        workers: Processes for decoding; 1 works in the calling process.
        sources: The folder with the source videos and, where they lie together, the annotations; None if they are not
            at hand.
        sample: How many units to make again from their sources.
        annotations: The annotation file or folder, if it is not in `sources`.
    """

    decode: bool = True
    workers: int = 1
    sources: Path | None = None
    sample: int = 20
    annotations: Path | None = None


def draw_sample(output: FinishedOutput, names: Sequence[str], count: int) -> list[str]:
    """Draw names, in their order; all of them if there are no more than `count`.

    The draw is keyed by the fingerprint of the output, so whoever changes a row changes what is looked at.
    """
    key = str(output.info["fingerprint"])
    drawn = sorted(names, key=lambda name: hashlib.sha256(f"{key}\0{name}".encode()).digest())[:count]
    kept = set(drawn)
    return [name for name in names if name in kept]
