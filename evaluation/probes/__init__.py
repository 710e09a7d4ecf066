"""Probe how torch models fuse modalities.

This package contains QUAG (quadrant averaging; Rawal et al. 2024, "Dissecting Multimodality in VideoQA Transformer
Models by Impairing Modality Fusion") for any torch model, its NumPy reference, QUAG-attention, modality labels of
tokens, captured attention maps, and attention distances of complement pairs. torch is imported only when a model is
probed, as in `with quag(model, "crossmodal", modality=labels) as report: model(**inputs)`.

The paper's listing (§A.4) rewrites the attention of a model. This package intercepts softmax instead, so that models
need not be rewritten.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ...core.errors import UsageError
from ...core.extras import import_extra
from .attention_distances import Distance, attention_distance
from .labels import labels_for, labels_of_ids, labels_of_parts, labels_of_types, read_streams
from .layers import chosen_layers
from .quadrants import (
    NEITHER,
    TEXT,
    VIDEO,
    LayerReport,
    Quadrant,
    QuadrantShare,
    QuagReport,
    checked_operator,
    quadrants_of,
)
from .reference import merged_attention, short_circuit

if TYPE_CHECKING:
    import torch


__all__ = [
    "NEITHER",
    "TEXT",
    "VIDEO",
    "CapturedAttention",
    "Distance",
    "LayerReport",
    "QuadrantShare",
    "QuagReport",
    "attention_distance",
    "captured_attention",
    "labels_for",
    "labels_of_ids",
    "labels_of_parts",
    "labels_of_types",
    "merged_attention",
    "quadrants_of",
    "quag",
    "short_circuit",
]


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

    The same models as for `quag` are supported, including those without `output_attentions` in some layers. Only the
    kernel changes: transformers models use eager attention within the block.

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


def quag(
    model: torch.nn.Module,
    quadrants: str | Iterable[str | Quadrant],
    *,
    modality: Any,
    operator: str = "average",
    layers: str | int | Sequence[str | int] | None = None,
    heads: Iterable[int] | None = None,
    attention: type | tuple[type, ...] | None = None,
    generated: int | None = TEXT,
    hidden_below: float | None = None,
    measure: bool = True,
) -> AbstractContextManager[QuagReport]:
    """Impair quadrants of a model's attention within a `with` block.

    The method is that of Rawal et al. 2024, §2.2 and §2.3, for each head and layer separately. The operators are those
    of `reference.short_circuit`: "average" is the paper's, "knockout" and "merge" are ours. A key is visible to a query
    if its score is above `hidden_below`, so that padding and causal masks are excluded from means row by row. Rows
    without visible keys are not changed. Weights below 32 bits are computed in 32 bits.

    Transformers models use eager attention within the block; their settings are restored afterwards. In other models,
    `torch.nn.functional.scaled_dot_product_attention` and `nn.MultiheadAttention` are intercepted too. Gradients are
    preserved. Compiled models and kernels of other packages cannot be reached, which raises an error. Blocks around one
    model cannot be nested.

    Args:
        model: Any torch module.
        quadrants: A short-circuit ("unimodal", "crossmodal", "video", "text"), "all", a quadrant, or several; see
            `quadrants_of`.
        modality: Labels of tokens, integers (1 video, 2 text, 0 neither, other integers for other modalities):

            * an array (batch, tokens), or (tokens,) if all items are alike: attention over these tokens;
            * a list of such arrays: the streams of a model with separate modalities, or encoder and decoder, which are
              matched to the axes of attention by length;
            * a dict from patterns of layer names (`fnmatch`) to one of these or to a tuple (labels of queries, labels
              of keys), for streams of equal length; the first matching pattern applies.

            With beam search, the batch may be a multiple of the rows of labels.
        operator: "average", "knockout" or "merge".
        layers: Attention modules by index or by pattern of their names (`fnmatch`). None for all except image and audio
            encoders, resamplers and pooling heads, which only patterns can select.
        heads: Indices of the heads to change, or None for all.
        attention: Classes of attention modules. None for modules whose class name ends in "Attention", "Attn" or "MHA"
            and that contain no other such module.
        generated: Label of tokens that a single-stream model appends to its cache during generation, once a layer has
            seen all labelled tokens. With None, their attention is not matched, which raises an error.
        hidden_below: Maximum score of masked keys. None for half the lowest number of the dtype, as in transformers;
            models that mask with -10,000 need -5,000.
        measure: Whether to measure the attention in each quadrant before and after. False saves time.

    Raises:
        UsageError: A name, index or pattern is unknown, labels are ambiguous, or blocks are nested.
        InputError: Labels are not integers of shape (batch, tokens).
        ProbeError: At the end of the block: a selected layer did not run, or was not reached in every run.
        MissingExtraError: torch is not installed.
    """
    chosen, operator = quadrants_of(quadrants), checked_operator(operator)
    interception = import_extra(".interception", __package__, what="quag", extra="probes")
    probe: AbstractContextManager[QuagReport] = interception.AttentionInterception(
        model,
        interception.Operation(chosen, operator, None if heads is None else frozenset(heads), hidden_below, measure),
        read_streams(modality, generated),
        chosen_layers(model, layers, attention),
    )
    return probe
