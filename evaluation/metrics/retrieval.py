"""Compute recall at 1, 5 and 10 of text-to-video retrieval, from similarities or ranked lists."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from ...core.errors import InputError
from .bootstrap import Floats

CUTS = (1, 5, 10)


def recall_hits(similarity: NDArray[np.floating], target: NDArray[np.intp]) -> Floats:
    """Return the probability that each caption's clip is among the first K, shape (captions, cuts).

    Similarities have the shape (clips, captions), and `target` is the row of the correct clip for each caption. Ties
    are ordered at random, so that an uninformative matrix scores chance rather than 1. With g clips above the correct
    one and e others equal to it, the probability is (K - g) / (e + 1), limited to 0 to 1.

    Raises:
        InputError: The shape does not match, or a value is NaN.
    """
    if similarity.ndim != 2 or similarity.shape[1] != len(target):
        raise InputError(
            f"a similarity matrix has shape {similarity.shape}; expected clips x captions, with {len(target)} captions."
        )
    right = similarity[target, np.arange(len(target))]
    if np.isnan(similarity).any():
        raise InputError("a similarity matrix contains NaN.")
    above = np.count_nonzero(similarity > right, axis=0)
    equal = np.count_nonzero(similarity == right, axis=0)
    share: Floats = (np.asarray(CUTS, np.float64)[None, :] - above[:, None]) / equal[:, None]
    return np.minimum(np.maximum(share, 0.0), 1.0)


def ranked_hits(ranked: Mapping[str, Sequence[str]], captions: Sequence[str], clips: Sequence[str]) -> Floats:
    """Return whether each caption's clip is among the first K of its ranked list, shape (captions, cuts).

    `ranked` maps caption ids to clip ids, best first. Each list must contain at least ten clips, or all clips.

    Raises:
        InputError: A caption has no list, or a list is too short or repeats a clip.
    """
    hits = np.zeros((len(captions), len(CUTS)))
    most = min(CUTS[-1], len(set(clips)))
    for number, (caption, clip) in enumerate(zip(captions, clips, strict=True)):
        if caption not in ranked:
            raise InputError(f"caption {caption!r} has no ranked list; every caption needs one.")
        best = list(ranked[caption])[: CUTS[-1]]
        if len(best) < most:
            raise InputError(f"the list of caption {caption!r} contains {len(best)} clips; at least {most} are needed.")
        if len(set(best)) < len(best):
            raise InputError(f"the list of caption {caption!r} contains a clip more than once.")
        if clip in best:
            hits[number] = [best.index(clip) < cut for cut in CUTS]
    return hits
