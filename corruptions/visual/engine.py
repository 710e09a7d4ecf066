"""Perturb clips and single frames with a visual perturbation chosen by name."""

from __future__ import annotations

import operator
import sys
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from ...core.errors import InputError
from ...core.numerics import rng_for
from ..registry import VisualCorruption, check_name, check_severity
from . import Frame

Pictures = TypeVar("Pictures")
"""A NumPy array or a torch tensor."""
LAYOUTS = ("THWC", "TCHW", "HWC", "CHW", "THW", "HW")
"""Layouts in the order in which "auto" tries them; "auto" never interprets three axes as CHW."""


@dataclass(frozen=True)
class Recipe:
    """Everything that determines how a clip is perturbed. `key` is the id of the clip or of its source video."""

    corruption: VisualCorruption
    severity: int
    seed: int
    key: str

    @property
    def level(self) -> tuple[float, ...]:
        """Return the parameter values for the severity."""
        return self.corruption.levels[self.severity - 1]

    def index_map(self, num_frames: int) -> NDArray[np.int64]:
        """Return which source frame is shown at each position. It is the identity unless the scope is "index".

        The severity is not part of the random key, so all levels of a clip use the same random numbers.
        """
        if self.corruption.scope != "index":
            return np.arange(num_frames, dtype=np.int64)
        shown: NDArray[np.int64] = self.corruption.function(num_frames, *self.level, *self._rng())
        return shown

    def frame(self, frame: Frame, index: int) -> Frame:
        """Perturb one frame, for the scopes "frame" and "clip". `index` is its number in the source."""
        changed: Frame = self.corruption.function(frame, *self.level, *self._rng(index))
        return changed

    def _rng(self, *index: int) -> tuple[np.random.Generator, ...]:
        return (rng_for(self.seed, self.corruption.name, self.key, *index),) if self.corruption.random else ()


def corrupt(
    frames: Pictures,
    name: str,
    *,
    severity: int,
    seed: int = 0,
    key: str = "",
    first_index: int = 0,
    layout: str = "auto",
) -> Pictures:
    """Perturb a clip or a single frame, in RGB or grey.

    Args:
        frames: NumPy array or torch tensor of uint8, RGB or grey, of any size; not modified.
        name: Name of a perturbation in `list_corruptions("visual")`.
        severity: Severity, 1 to 5.
        seed: Seed of the random numbers, 0 or more.
        key: Identifier of the clip. Different keys produce different random numbers.
        first_index: Position of the first frame within the clip, so that single frames of a clip can be reproduced.
            Must
            be 0 for temporal perturbations and video codecs, which need the whole clip.
        layout: Axes of `frames`: "THWC", "TCHW", "HWC", "CHW", "THW" or "HW"; C is 1 or 3. "auto" interprets four axes
            as THWC if the last has 1 or 3 entries, else as TCHW; three as HWC if the last has 1 or 3, else as THW; two
            as HW. Specify the layout of ambiguous shapes such as (T, 3, H, 3) and (3, H, W).

    Returns:
        Contiguous uint8 array, or tensor on the same device, of the same shape and layout as the input.

    Raises:
        InputError: Name, layout or severity is invalid, or an argument has the wrong type.

    Reference:
        Schiappa et al. 2022 (arXiv 2207.02159), section 3.1 and appendix A.1. Levels and differences are listed in
        `corruptions/visual/declarations.yaml`.
    """
    corruption = check_name(name)
    if not isinstance(key, str):
        raise InputError(f"key must be a string; got {key!r}")
    seed, first_index = _whole_number("seed", seed), _whole_number("first_index", first_index)
    recipe = Recipe(corruption, check_severity(severity, name), seed, key)
    array = _as_array(frames)
    axes = _axes(array.shape, layout)
    clip = _as_clip(array, axes)
    if corruption.scope in ("index", "file") and first_index:
        raise InputError(f"{name} needs the whole clip, so first_index must be 0; got {first_index}")
    if corruption.scope == "index":
        changed = clip[recipe.index_map(len(clip))]
    elif corruption.scope == "file":
        changed = corruption.function(clip, *recipe.level)
    else:
        changed = np.stack([recipe.frame(frame, first_index + position) for position, frame in enumerate(clip)])
    same: Pictures = _like(np.ascontiguousarray(_from_clip(changed, axes)), frames)
    return same


def _whole_number(name: str, value: Any) -> int:
    try:
        whole = -1 if isinstance(value, bool) else operator.index(value)
    except TypeError:
        whole = -1
    if whole < 0:
        raise InputError(f"{name} must be a non-negative integer; got {value!r}")
    return whole


def _is_tensor(frames: Any) -> bool:
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(frames, torch.Tensor)


def _as_array(frames: Any) -> Frame:
    """Convert frames to a uint8 array. Nothing is copied unless they are on another device."""
    tensor = _is_tensor(frames)
    if not (tensor or isinstance(frames, np.ndarray)) or str(frames.dtype) not in ("uint8", "torch.uint8"):
        kind = f"{'a tensor' if tensor else 'an array'} of {frames.dtype}" if hasattr(frames, "dtype") else ""
        raise InputError(
            f"frames must be a NumPy array or a torch tensor of uint8; got {kind or type(frames).__name__}"
        )
    if not tensor:
        return np.asarray(frames)
    try:
        return np.asarray(frames.cpu().numpy())
    except (TypeError, RuntimeError, NotImplementedError) as error:  # a sparse tensor, or one without content
        raise InputError(f"frames must be a dense tensor; got layout {frames.layout} ({error})") from error


def _like(changed: Frame, frames: Any) -> Any:
    if not _is_tensor(frames):
        return changed
    torch = sys.modules["torch"]
    return torch.from_numpy(changed).to(frames.device).as_subclass(type(frames))


def _axes(shape: tuple[int, ...], layout: str) -> str:
    """Return the axes of an array as letters. Raise InputError if the layout is unknown or does not match the shape."""
    if layout != "auto" and layout not in LAYOUTS:
        raise InputError(f'layout must be "auto" or one of {", ".join(LAYOUTS)}; got {layout!r}')
    for axes in LAYOUTS if layout == "auto" else (layout,):
        channels = shape[axes.index("C")] if "C" in axes and len(shape) == len(axes) else 1
        if len(shape) == len(axes) and channels in (1, 3) and 0 not in shape and (axes != "CHW" or layout == axes):
            return axes
    wanted = "(T, H, W, C) with 1 or 3 channels or another layout" if layout == "auto" else f"{layout}, C 1 or 3"
    raise InputError(f"frames must have the shape {wanted}, with no empty axis; got {tuple(shape)}")


def _as_clip(frames: Frame, axes: str) -> Frame:
    if axes in ("TCHW", "CHW"):
        frames = np.moveaxis(frames, -3, -1)
    if "C" not in axes:
        frames = frames[..., np.newaxis]
    return np.ascontiguousarray(frames if "T" in axes else frames[np.newaxis])


def _from_clip(clip: Frame, axes: str) -> Frame:
    frames = clip if "T" in axes else clip[0]
    if "C" not in axes:
        return frames[..., 0]
    return np.moveaxis(frames, -1, -3) if axes in ("TCHW", "CHW") else frames
