"""Apply QUAG to a torch model, as in `with quag(model, "crossmodal", modality=labels) as report: model(**inputs)`.

The method is that of Rawal et al. 2024, §2.2 and §2.3, for each head and layer separately. The paper's listing (§A.4)
rewrites the attention of a model. This module intercepts softmax instead, so that models need not be rewritten.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

from ...core.extras import import_extra
from .labels import read_streams
from .layers import chosen_layers
from .quadrants import TEXT, Quadrant, QuagReport, checked_operator, quadrants_of

if TYPE_CHECKING:
    import torch


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

    The operators are those of `reference.short_circuit`: "average" is the paper's, "knockout" and "merge" are ours. A
    key is visible to a query if its score is above `hidden_below`, so that padding and causal masks are excluded from
    means row by row. Rows without visible keys are not changed. Weights below 32 bits are computed in 32 bits.

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
