"""Apply a recipe to all frames of a clip or to a single one."""

from __future__ import annotations

import operator
import sys
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from ...core.errors import InputError
from ...core.seeds import rng_for
from ..registry import VisualCorruption, check_name, check_severity

Frame = NDArray[np.uint8]
"""uint8, shape (height, width, channels), RGB or grey, contiguous."""
Pictures = TypeVar("Pictures")
"""A NumPy array or a torch tensor."""
LAYOUTS = ("THWC", "TCHW", "HWC", "CHW", "THW", "HW")
"""Axes of frames in the order in which "auto" tries them; three axes are never CHW."""


@dataclass(frozen=True)
class Recipe:
    """What determines a perturbation, so that it can be repeated bit for bit.

    Attributes:
        corruption: The perturbation.
        severity: 1 to 5.
        seed: The dataset's seed.
        key: The id of the clip, or of its source video.
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
        """Return the source frame shown at each position; the identity unless the scope is "index".

        The severity is not in the key, so the five levels of a clip use the same random numbers.
        """
        if self.corruption.scope != "index":
            return np.arange(num_frames, dtype=np.int64)
        shown: NDArray[np.int64] = self.corruption.function(num_frames, *self.level, *self._rng())
        return shown

    def frame(self, frame: Frame, index: int) -> Frame:
        """Perturb one frame of scope "frame" or "clip".

        Args:
            frame: The source frame; it is not modified.
            index: Its index in the source, which keys the random numbers.
        """
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
    """Perturb a clip, a frame or a grey picture.

    Args:
        frames: A NumPy array or a torch tensor of uint8, RGB or grey, any size from 1x1. Not modified.
        name: A perturbation of `list_corruptions("visual")`.
        severity: 1 to 5.
        seed: Seed of random numbers, 0 or more.
        key: Identifies the clip, such as its id; other keys give other random numbers.
        first_index: Index in the clip of the first frame given, so that a frame of a clip can be made alone. Temporal
            perturbations and video codecs need the whole clip, so 0.
        layout: The axes of `frames`: "THWC", "TCHW", "HWC", "CHW", "THW" or "HW"; C is 1 or 3.
            "auto" reads four axes as THWC if the last has 1 or 3 entries, else as TCHW; three as HWC if the last has 1
            or 3, else as THW; two as HW. So (T, 3, H, 3) is THWC and (3, H, W) is three grey frames unless the layout
            is named.

    Returns:
        An array, or a tensor on the same device, as given: uint8, of the same shape and layout, contiguous.

    Raises:
        InputError: Name, layout or severity is invalid, the array is of another kind, or seed, key or first index is of
            another type (NumPy's integers are accepted).

    Reference:
        Schiappa et al. 2022 (arXiv 2207.02159), section 3.1 and appendix A.1; levels and differences in
        `corruptions/visual/declarations.yaml`.
    """
    corruption = check_name(name)
    if not isinstance(key, str):
        raise InputError(f"key must be a text; got {key!r}")
    seed, first_index = _whole_number("seed", seed), _whole_number("first_index", first_index)
    recipe = Recipe(corruption, check_severity(severity, name), seed, key)
    given = _as_array(frames)
    axes = _axes(given.shape, layout)
    clip = _as_clip(given, axes)
    if corruption.scope in ("index", "file") and first_index:
        raise InputError(f"{name} needs the whole clip, so first_index must be 0; got {first_index}")
    if corruption.scope == "index":
        changed = clip[recipe.index_map(len(clip))]
    elif corruption.scope == "file":
        changed = corruption.function(clip, *recipe.level)
    else:
        changed = np.stack([recipe.frame(frame, first_index + number) for number, frame in enumerate(clip)])
    same: Pictures = _like(np.ascontiguousarray(_from_clip(changed, axes)), frames)
    return same


def _whole_number(name: str, value: Any) -> int:
    """Return an integer of Python or NumPy as Python's."""
    try:
        number = -1 if isinstance(value, bool) else operator.index(value)
    except TypeError:
        number = -1
    if number < 0:
        raise InputError(f"{name} must be a whole number from 0 on; got {value!r}")
    return number


def _is_tensor(frames: Any) -> bool:
    """Return whether frames are a torch tensor, without importing torch."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(frames, torch.Tensor)


def _as_array(frames: Any) -> Frame:
    """View frames as an array of uint8; a tensor on another device is copied."""
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
    except (TypeError, RuntimeError, NotImplementedError) as error:  # sparse, or without content
        raise InputError(f"frames must be a tensor with plain content; got one of {frames.layout} ({error})") from error


def _like(changed: Frame, frames: Any) -> Any:
    """Convert an array to the kind of `frames`."""
    if not _is_tensor(frames):
        return changed
    torch = sys.modules["torch"]
    return torch.from_numpy(changed).to(frames.device).as_subclass(type(frames))


def _axes(shape: tuple[int, ...], layout: str) -> str:
    """Name the axes of a shape.

    Raises:
        InputError: There is no such layout, or the shape is not of it.
    """
    if layout != "auto" and layout not in LAYOUTS:
        raise InputError(f'layout must be "auto" or one of {", ".join(LAYOUTS)}; got {layout!r}')
    for axes in LAYOUTS if layout == "auto" else (layout,):
        channels = shape[axes.index("C")] if "C" in axes and len(shape) == len(axes) else 1
        if len(shape) == len(axes) and channels in (1, 3) and 0 not in shape and (axes != "CHW" or layout == axes):
            return axes
    wanted = "(T, H, W, C) with 1 or 3 channels or another layout" if layout == "auto" else f"{layout}, C 1 or 3"
    raise InputError(f"frames must have the shape {wanted}, no axis empty; got {tuple(shape)}")


def _as_clip(frames: Frame, axes: str) -> Frame:
    """View frames as (T, H, W, C), contiguous."""
    if axes in ("TCHW", "CHW"):
        frames = np.moveaxis(frames, -3, -1)
    if "C" not in axes:
        frames = frames[..., np.newaxis]
    return np.ascontiguousarray(frames if "T" in axes else frames[np.newaxis])


def _from_clip(clip: Frame, axes: str) -> Frame:
    """Undo `_as_clip`."""
    frames = clip if "T" in axes else clip[0]
    if "C" not in axes:
        return frames[..., 0]
    return np.moveaxis(frames, -1, -3) if axes in ("TCHW", "CHW") else frames
