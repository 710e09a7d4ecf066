"""QUAG on a torch model: `with quag(model, "crossmodal", modality=labels) as report: model(**inputs)`.

Rawal et al. 2024, §2.2 and §2.3, for each head and layer by itself. The paper's listing (§A.4) rewrites the attention
of a model; here softmax is intercepted while the model's own attention runs, so no model has to be rewritten.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

from ...core.extras import import_extra
from .layers import chosen_layers
from .quadrants import TEXT, Quadrant, checked_operator, quadrants_of
from .reports import Report
from .streams import read_streams

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
) -> AbstractContextManager[Report]:
    """Impair quadrants of a model's attention while a `with` block runs.

    Every operator changes weights as `reference.short_circuit` says: "average", the paper's; "knockout" and "merge",
    ours. Keys are visible to a query if their score is above `hidden_below`: padding and causal masks are left out of
    means, row by row. Rows that see nothing stay as they are. Weights of less than 32 bits are computed in 32.

    A model of transformers runs with its eager attention within the block, and with what it had before behind it, also
    after an exception. Elsewhere `torch.nn.functional.scaled_dot_product_attention` and `nn.MultiheadAttention` are
    reached too. Gradients flow. Compiled models and kernels of other packages are not reached, which is an error.
    Blocks around one model do not nest.

    Args:
        model: Any torch module.
        quadrants: A short-circuit ("unimodal", "crossmodal", "video", "text"), "all", a quadrant, or several; see
            `quadrants_of`.
        modality: Labels of tokens, integers (1 video, 2 text, 0 neither, further ones for further modalities):

            * an array (batch, tokens), or (tokens,) where all rows are alike: attention over these tokens;
            * a list of such arrays: streams of a model that holds its modalities apart, or encoder and decoder; axes of
              attention are matched to them by length;
            * a dict from patterns of layers' names (`fnmatch`) to one of these or to a tuple (labels of queries, labels
              of keys), for streams of one length; the first pattern that matches counts.

            Rows of beams may be a multiple of rows of labels.
        operator: "average", "knockout" or "merge".
        layers: Which attention modules: their numbers, or patterns of their names (`fnmatch`). None: all of the model
            but those of encoders of pictures or sound, resamplers and pooling heads; numbers count these. A pattern
            reaches the others too.
        heads: Numbers of the heads that are changed; None: all.
        attention: Classes of modules that are attention. None: modules whose class is called so ("…Attention", "…Attn",
            "…MHA") and that hold no other of the kind.
        generated: Label of tokens that a model adds with its cache while it generates, after a layer has seen all
            tokens with labels; of one stream. None: their attention is not matched, which is an error.
        hidden_below: Scores at or below it are masked. None: half the lowest number of their type, as in all of
            transformers; models with masks of -10,000 need -5,000.
        measure: Measure what each quadrant holds before and after; False saves time.

    Returns:
        A context manager that gives a `Report`.

    Raises:
        UsageError: A name, number or pattern is unknown, labels are ambiguous, or a block is within another.
        InputError: Labels are not integers of shape (batch, tokens).
        ProbeError: At the end of the block: a layer that was asked for did not run, or was not reached each time.
        MissingExtraError: torch is not installed.
    """
    chosen, operator = quadrants_of(quadrants), checked_operator(operator)
    interception = import_extra(".interception", __package__, what="quag", extra="probes")
    probe: AbstractContextManager[Report] = interception.AttentionInterception(
        model,
        interception.Operation(chosen, operator, None if heads is None else frozenset(heads), hidden_below, measure),
        read_streams(modality, generated),
        chosen_layers(model, layers, attention),
    )
    return probe
