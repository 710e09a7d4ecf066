"""Apply a recipe to the frames of a clip, all of them or any one alone."""

from __future__ import annotations

import operator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...errors import InputError
from ...seeds import rng_for
from ..registry import VisualCorruption, check_name, check_severity

Frame = NDArray[np.uint8]
"""uint8, shape (height, width, channels), RGB or grey, contiguous."""


@dataclass(frozen=True)
class Recipe:
    """Enough to make a perturbation again, bit for bit.

    Attributes:
        corruption: The perturbation.
        severity: 1 to 5.
        seed: The dataset's seed.
        key: What is perturbed: the id of a clip, or of its source video.
    """

    corruption: VisualCorruption
    severity: int
    seed: int
    key: str

    @property
    def level(self) -> tuple[float, ...]:
        """The values of the severity."""
        return self.corruption.levels[self.severity - 1]

    def index_map(self, num_frames: int) -> NDArray[np.int64]:
        """Give the source frame shown at each position; the identity unless the scope is "index".

        The severity is not in the key, so the five levels of a clip start from the same random numbers.
        """
        if self.corruption.scope != "index":
            return np.arange(num_frames, dtype=np.int64)
        shown: NDArray[np.int64] = self.corruption.function(num_frames, *self.level, *self._rng())
        return shown

    def frame(self, frame: Frame, index: int) -> Frame:
        """Perturb one frame of scope "frame" or "clip".

        Args:
            frame: The source frame; it is not modified.
            index: Its index in the source, which decides what is drawn for it.
        """
        changed: Frame = self.corruption.function(frame, *self.level, *self._rng(index))
        return changed

    def _rng(self, *index: int) -> tuple[np.random.Generator, ...]:
        return (rng_for(self.seed, self.corruption.name, self.key, *index),) if self.corruption.random else ()


def corrupt(
    frames: NDArray[np.uint8],
    name: str,
    *,
    severity: int,
    seed: int = 0,
    key: str = "",
    first_index: int = 0,
) -> NDArray[np.uint8]:
    """Perturb a clip, a frame or a grey picture.

    Args:
        frames: uint8 RGB of shape (T, H, W, 3), grey (T, H, W, 1) or (T, H, W); or one frame (H, W, 3), (H, W, 1) or
            (H, W). Any size from 1x1. Three dimensions with a last one of 1 or 3 are one frame. Not modified.
        name: A perturbation; `list_corruptions("visual")` has them.
        severity: 1 to 5.
        seed: Seed of what is drawn, 0 or more.
        key: What names the clip, such as its id: other keys, other draws.
        first_index: Index in the clip of the first frame given, so that a frame of a clip can be made alone.
            Temporal perturbations and video codecs need the whole clip, so 0.

    Returns:
        uint8, same shape.

    Raises:
        InputError: Unknown name, severity that is none, an array of another kind, or a seed, key or first index of
            another type (NumPy's integers will do).

    Reference:
        Schiappa et al. 2022 (arXiv 2207.02159), section 3.1 and appendix A.1; levels and differences in
        `corruptions/visual/declarations.yaml`.
    """
    corruption = check_name(name)
    if not isinstance(key, str):
        raise InputError(f"key must be a text; got {key!r}")
    seed, first_index = _whole_number("seed", seed), _whole_number("first_index", first_index)
    recipe = Recipe(corruption, check_severity(severity, name), seed, key)
    clip = _as_clip(frames)
    if corruption.scope in ("index", "file") and first_index:
        raise InputError(f"{name} needs the whole clip, so first_index must be 0; got {first_index}")
    if corruption.scope == "index":
        changed = clip[recipe.index_map(len(clip))]
    elif corruption.scope == "file":
        changed = corruption.function(clip, *recipe.level)
    else:
        changed = np.stack([recipe.frame(frame, first_index + number) for number, frame in enumerate(clip)])
    return changed.reshape(frames.shape)


def _whole_number(name: str, value: Any) -> int:
    """Take an integer of Python or NumPy, which give the same draw."""
    try:
        number = -1 if isinstance(value, bool) else operator.index(value)
    except TypeError:
        number = -1
    if number < 0:
        raise InputError(f"{name} must be a whole number from 0 on; got {value!r}")
    return number


def _as_clip(frames: Any) -> NDArray[np.uint8]:
    """View frames as (T, H, W, C), contiguous."""
    if not isinstance(frames, np.ndarray) or frames.dtype != np.uint8:
        kind = f"an array of {frames.dtype}" if isinstance(frames, np.ndarray) else type(frames).__name__
        raise InputError(f"frames must be a NumPy array of uint8; got {kind}")
    array = frames
    if array.ndim == 2:
        array = array[None, :, :, None]
    elif array.ndim == 3:
        array = array[None] if array.shape[-1] in (1, 3) else array[..., None]
    if array.ndim != 4 or array.shape[-1] not in (1, 3) or 0 in array.shape:
        raise InputError(f"frames must have the shape (T, H, W, 3) or one of its simpler forms; got {frames.shape}")
    return np.ascontiguousarray(array)
