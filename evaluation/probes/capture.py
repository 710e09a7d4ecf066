"""How attention maps are taken from a running torch model; imported by `attention_maps.captured_attention` alone."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray

from ...core.errors import ProbeError, UsageError
from .interception import AttentionInterception, Operation
from .streams import Streams

NOTHING = Operation(frozenset(), "capture", heads=None, hidden_below=None, measure=False)


class AttentionCapture(AttentionInterception):
    """Notes what softmax gives within the layers, and changes none of it."""

    def __init__(self, model: torch.nn.Module, layers: dict[str, torch.nn.Module], batch: int):
        """Prepare; nothing of the model is touched before the block begins."""
        super().__init__(model, NOTHING, Streams([], None), layers)
        self.batch = batch
        self.maps: dict[str, list[NDArray[np.float32]]] = {name: [] for name in layers}

    def _reached(self, scores: torch.Tensor, weights: torch.Tensor) -> torch.Tensor:
        name, reached = self.running[-1]
        if reached:
            raise ProbeError(
                f"{name or 'the model itself'} calls softmax more than once in a run, as encoders do that look at one "
                "picture after the other, so it has no one attention map. Name with `layers` what is to be captured."
            )
        reached.append(True)
        found = weights.detach().to("cpu", torch.float32, copy=True)
        if found.ndim == 3:  # batch and heads are one axis
            if len(found) % self.batch:
                raise UsageError(
                    f"{name or 'the model itself'} holds batch and heads as one axis, of length {len(found)}, which is "
                    f"no multiple of batch={self.batch}: say with `batch` how many items a run has."
                )
            found = found.reshape(self.batch, -1, *found.shape[1:])
        self.maps[name].append(found.numpy())
        return weights
