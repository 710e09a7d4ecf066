"""Capture attention maps in a running torch model. Only `attention_maps.captured_attention` imports this module."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray

from ...core.errors import ProbeError, UsageError
from .interception import AttentionInterception, Operation
from .streams import Streams

NOTHING = Operation(frozenset(), "capture", heads=None, hidden_below=None, measure=False)


class AttentionCapture(AttentionInterception):
    """Records the softmax output of layers without changing it."""

    def __init__(self, model: torch.nn.Module, layers: dict[str, torch.nn.Module], batch: int):
        super().__init__(model, NOTHING, Streams([], None), layers)
        self.batch = batch
        self.maps: dict[str, list[NDArray[np.float32]]] = {name: [] for name in layers}

    def _reached(self, scores: torch.Tensor, weights: torch.Tensor) -> torch.Tensor:
        name, reached = self.running[-1]
        if reached:
            raise ProbeError(
                f"{name or 'the model itself'} calls softmax more than once in a run, as encoders do that process "
                "images one by one, so it has no single attention map. Select other modules with `layers`."
            )
        reached.append(True)
        found = weights.detach().to("cpu", torch.float32, copy=True)
        if found.ndim == 3:  # batch and heads are merged into one axis
            if len(found) % self.batch:
                raise UsageError(
                    f"{name or 'the model itself'} merges batch and heads into one axis of length {len(found)}, which "
                    f"is not a multiple of batch={self.batch}. Set `batch` to the number of items in a run."
                )
            found = found.reshape(self.batch, -1, *found.shape[1:])
        self.maps[name].append(found.numpy())
        return weights
