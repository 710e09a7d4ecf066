"""Attention maps of a torch model: `with captured_attention(model) as captured: model(**inputs)`.

Every family of models is reached as by `quag`, also those that have no `output_attentions` or none for all of their
layers. Nothing is changed but the kernel: models of transformers run with their eager attention within the block.
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
    """What was captured; complete after the `with` block, and readable within.

    Attributes:
        runs: For each layer, by its name and in the model's order, the maps of each of its runs: float32, shape (batch,
            heads, queries, keys), softmax before dropout. Each takes 4 · batch · heads · queries · keys bytes.
    """

    runs: Mapping[str, Sequence[NDArray[np.float32]]]

    def maps(self, item: int = 0, run: int = 0) -> Maps:
        """Return the maps of one item of the batch in one run, layer by layer, as `attention_distance` takes them.

        Args:
            item: Number in the batch.
            run: Number of the run. The first of a model that generates is the one over the prompt; later ones hold the
                queries of single new tokens.

        Returns:
            For each layer an array (heads, queries, keys).

        Raises:
            UsageError: A layer has no such run or item.
        """
        for name, runs in self.runs.items():
            there = f"{name or 'the model itself'} has {len(runs)} runs"
            if not 0 <= run < len(runs):
                raise UsageError(f"there is no run {run}: {there}; numbers go from 0.")
            if not 0 <= item < len(runs[run]):
                raise UsageError(f"there is no item {item}: {there}, run {run} of {len(runs[run])} items, from 0.")
        return tuple(runs[run][item] for runs in self.runs.values())


@contextmanager
def captured_attention(
    model: torch.nn.Module,
    layers: str | int | Sequence[str | int] | None = None,
    *,
    attention: type | tuple[type, ...] | None = None,
    batch: int = 1,
) -> Iterator[CapturedAttention]:
    """Capture the attention maps of every run of a model while a `with` block runs.

    Args:
        model: Any torch module.
        layers: Which attention modules; see `quag`. None: all but those of encoders of pictures or sound, resamplers
            and pooling heads.
        attention: Classes of modules that are attention; see `quag`.
        batch: Items in each run. It matters only where a model holds batch and heads as one axis.

    Returns:
        A context manager that gives a `CapturedAttention`.

    Raises:
        UsageError: A layer is unknown, `batch` does not go with an axis, or a block is within another.
        ProbeError: At the end of the block: a layer that was asked for did not run, or was not reached each time.
        MissingExtraError: torch is not installed.
    """
    if batch < 1:
        raise UsageError(f"batch must be 1 or more, and is {batch}.")
    capture = import_extra(".capture", __package__, what="captured_attention")
    probe = capture.AttentionCapture(model, chosen_layers(model, layers, attention), batch)
    with probe:
        yield CapturedAttention(probe.maps)
