"""Capture the attention maps of a torch model.

For example, run `with captured_attention(model) as captured: model(**inputs)`. The same models as for `quag` are
supported, including those without `output_attentions` in some layers. Only the kernel changes: transformers models use
eager attention within the block.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ...core.errors import UsageError
from ...core.extras import import_extra
from .layers import chosen_layers

if TYPE_CHECKING:
    import torch

Maps = tuple[NDArray[np.float32], ...]


@dataclass(frozen=True)
class CapturedAttention:
    """The captured attention maps, which are complete after the `with` block.

    Attributes:
        runs: Maps of each run by layer name, in the model's order: float32, shape (batch, heads, queries, keys),
            softmax before dropout.
    """

    runs: Mapping[str, Sequence[NDArray[np.float32]]]

    def maps(self, item: int = 0, run: int = 0) -> Maps:
        """Return the maps of one item in one run, in the form that `attention_distance` expects.

        Args:
            item: Index in the batch.
            run: Index of the run. During generation, run 0 covers the prompt, and later runs contain the queries of
                single tokens.

        Returns:
            One array of shape (heads, queries, keys) per layer.

        Raises:
            UsageError: A layer lacks the run or item.
        """
        for name, runs in self.runs.items():
            available = f"{name or 'the model itself'} has {len(runs)} runs"
            if not 0 <= run < len(runs):
                raise UsageError(f"there is no run {run}: {available}, counted from 0.")
            if not 0 <= item < len(runs[run]):
                raise UsageError(f"there is no item {item}: {available}; run {run} has {len(runs[run])} items, from 0.")
        return tuple(runs[run][item] for runs in self.runs.values())


@contextmanager
def captured_attention(
    model: torch.nn.Module,
    layers: str | int | Sequence[str | int] | None = None,
    *,
    attention: type | tuple[type, ...] | None = None,
    batch: int = 1,
) -> Iterator[CapturedAttention]:
    """Capture the attention maps of every run of a model within a `with` block.

    Args:
        model: Any torch module.
        layers: Attention modules to capture; see `quag`.
        attention: Classes of attention modules; see `quag`.
        batch: Number of items per run, needed only for models that merge batch and heads into one axis.

    Raises:
        UsageError: A layer is unknown, `batch` does not divide an axis, or blocks are nested.
        ProbeError: At the end of the block: a requested layer did not run, or was not reached in every run.
        MissingExtraError: torch is not installed.
    """
    if batch < 1:
        raise UsageError(f"batch must be 1 or more; got {batch}.")
    capture = import_extra(".interception", __package__, what="captured_attention")
    probe = capture.AttentionCapture(model, chosen_layers(model, layers, attention), batch)
    with probe:
        yield CapturedAttention(probe.maps)
