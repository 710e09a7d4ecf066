"""Learning from some source videos and guessing about others."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from ...core.seeds import rng_for
from .asked import Arranged, Floats

FOLDS = 5
Fold = tuple[NDArray[np.int64], NDArray[np.int64]]
"""The questions to learn from, and those to guess about."""


def folds(rows: Arranged, seed: int = 0, count: int = FOLDS) -> list[Fold]:
    """Divide questions by source videos into parts of about equally many videos; each is left out once.

    Args:
        rows: The questions.
        seed: Seed of the draw.
        count: How many parts, if there are as many source videos.

    Returns:
        For each part the numbers of the questions outside and inside of it; nothing for a single source video.
    """
    names = sorted({one.cluster for one in rows.asked})
    parts = min(count, len(names))
    if parts < 2:
        return []
    drawn = rng_for(seed, "blind", "folds").permutation(len(names)) % parts
    part_of = dict(zip(names, drawn.tolist(), strict=True))
    where = np.array([part_of[one.cluster] for one in rows.asked])
    return [(np.flatnonzero(where != part), np.flatnonzero(where == part)) for part in range(parts)]


def cross_fitted(divided: list[Fold], guess: Callable[[NDArray[np.int64], NDArray[np.int64], str], Floats]) -> Floats:
    """Let a guesser score every question after learning from the other parts.

    Args:
        divided: The parts, of `folds`.
        guess: Learns from questions and scores others; gets the numbers of both and the name of the part.

    Returns:
        The scores, in the order of the questions.
    """
    parts = [guess(learnt, asked, str(number)) for number, (learnt, asked) in enumerate(divided)]
    found = np.zeros((sum(len(part) for part in parts), *parts[0].shape[1:]))
    for (_, asked), part in zip(divided, parts, strict=True):
        found[asked] = part
    return found
