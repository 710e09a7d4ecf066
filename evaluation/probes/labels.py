"""Label the tokens of a model's inputs by modality, and match the labels with the axes of a layer's attention.

Labels are int64 arrays of shape (batch, tokens): 1 for video, 2 for text, 0 for neither, including padding. Special
tokens ([CLS], separators, markers around a video) count as text, as in the paper's models (Rawal et al. 2024, §A.8 and
§A.9). Inputs may be NumPy arrays, torch tensors or lists.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...core.errors import InputError, UsageError
from .quadrants import NEITHER, TEXT, VIDEO

Labels = NDArray[np.int64]

VIDEO_IDS = ("image_token_id", "video_token_id", "image_token_index", "video_token_index")
"""Fields of a model's config that contain the placeholder ids of image and video features."""


def as_array(array: Any) -> NDArray[Any]:
    """Convert a torch tensor on any device, or any array-like, to a NumPy array."""
    return np.asarray(array.detach().cpu() if hasattr(array, "detach") else array)


def labels_of_parts(*parts: tuple[int, Any]) -> Labels:
    """Label the parts of a sequence, as in `labels_of_parts((VIDEO, video_mask), (TEXT, attention_mask))`.

    Args:
        parts: Pairs of a label and the mask of a part, shape (batch, tokens), 0 at padding.

    Raises:
        InputError: The masks have different batch sizes.
    """
    masks = [(label, as_array(mask)) for label, mask in parts]
    shapes = [mask.shape for _, mask in masks]
    if not masks or any(len(shape) != 2 or shape[0] != shapes[0][0] for shape in shapes):
        raise InputError(f"masks of parts must have shape (batch, tokens) and one batch size; got {shapes}.")
    return np.concatenate([np.where(mask != 0, label, NEITHER) for label, mask in masks], axis=1).astype(np.int64)


def labels_of_ids(input_ids: Any, video_ids: Iterable[int], *, attention_mask: Any = None) -> Labels:
    """Label tokens by their ids.

    Args:
        input_ids: Token ids, shape (batch, tokens).
        video_ids: Placeholder ids of image and video features.
        attention_mask: Mask of the same shape, 0 at padding, or None if there is no padding.
    """
    return _unpadded(np.where(np.isin(as_array(input_ids), list(video_ids)), VIDEO, TEXT), attention_mask)


def labels_of_types(token_type_ids: Any, types: Mapping[int, int], *, attention_mask: Any = None) -> Labels:
    """Label the tokens of a BERT-like model by segment.

    Args:
        token_type_ids: Segment ids, shape (batch, tokens).
        types: Label of each segment, such as `{0: TEXT, 1: VIDEO}`. Other segments are labelled 0.
        attention_mask: Mask of the same shape, 0 at padding, or None if there is no padding.
    """
    segments = as_array(token_type_ids)
    labels = np.zeros(segments.shape, np.int64)
    for segment, label in types.items():
        labels[segments == segment] = label
    return _unpadded(labels, attention_mask)


def labels_for(config: Any, inputs: Mapping[str, Any]) -> Labels | list[Labels]:
    """Label the tokens in the inputs of a transformers model.

    Supported models are those with image or video placeholder ids in their config (Qwen2-VL, LLaVA-OneVision and many
    others), VisualBERT (text, then `visual_embeds`), ViLT (text, then a token for the image and its patches) and LXMERT
    (two streams: text and image).

    Args:
        config: The model's config.
        inputs: The model's inputs by name.

    Returns:
        Labels of shape (batch, tokens), or a list of them for models with separate streams. `quag` accepts both.

    Raises:
        InputError: The model family is not supported, or a required input is missing.
    """
    family = getattr(config, "model_type", "")
    video_ids = _ids(config)
    if family in ("visual_bert", "vilt", "lxmert"):
        ids = as_array(_needed(inputs, "input_ids", family))
        text = labels_of_ids(ids, (), attention_mask=inputs.get("attention_mask"))
        if family == "visual_bert":
            shape = as_array(_needed(inputs, "visual_embeds", family)).shape[:2]
            return np.concatenate([text, _video(shape, inputs.get("visual_attention_mask"))], axis=1)
        if family == "lxmert":
            shape = as_array(_needed(inputs, "visual_feats", family)).shape[:2]
            return [text, _video(shape, inputs.get("visual_attention_mask"))]
        return np.concatenate([text, _video((len(ids), _patches(config, inputs)), None)], axis=1)
    if video_ids:
        ids = _needed(inputs, "input_ids", family)
        return labels_of_ids(ids, video_ids, attention_mask=inputs.get("attention_mask"))
    raise InputError(
        f"models of the family {family or '(unnamed)'} are not supported. Create the labels with labels_of_parts, "
        "labels_of_ids or labels_of_types, or as an array (batch, tokens) of 1 (video), 2 (text) and 0."
    )


def _ids(config: Any) -> set[int]:
    configs = (config, getattr(config, "text_config", None))
    ids = {getattr(part, name, None) for part in configs for name in VIDEO_IDS}
    return {token_id for token_id in ids if isinstance(token_id, int)}


def _needed(inputs: Mapping[str, Any], name: str, family: str) -> Any:
    if inputs.get(name) is None:
        raise InputError(f"labels of {family} need the input {name}, which is missing.")
    return inputs[name]


def _video(shape: tuple[int, ...], mask: Any) -> Labels:
    return _unpadded(np.full(shape, VIDEO), mask)


def _patches(config: Any, inputs: Mapping[str, Any]) -> int:
    """Count ViLT's image tokens: one for the image, and one for each patch of the largest image in the batch."""
    if inputs.get("image_embeds") is not None:
        return int(as_array(inputs["image_embeds"]).shape[1])
    pixels = as_array(_needed(inputs, "pixel_values", "vilt")).shape
    mask = inputs.get("pixel_mask")
    visible = np.ones((pixels[0], *pixels[-2:])) if mask is None else as_array(mask)
    size = config.patch_size
    rows, columns = (np.linspace(0, length, length // size, endpoint=False).astype(int) for length in pixels[-2:])
    small = visible[:, rows][:, :, columns]  # one pixel per patch, as selected by nearest-neighbour scaling
    most = int((small[:, :, 0].sum(axis=1) * small[:, 0].sum(axis=1)).max())
    limit = getattr(config, "max_image_length", -1)
    return 1 + (most if not isinstance(limit, int) or limit <= 0 else min(most, limit))


def _unpadded(labels: NDArray[Any], mask: Any) -> Labels:
    if mask is None:
        return labels.astype(np.int64)
    mask_array = as_array(mask)
    if mask_array.shape != labels.shape:
        raise InputError(f"a mask of shape {mask_array.shape} does not match tokens of shape {labels.shape}.")
    return np.where(mask_array != 0, labels, NEITHER).astype(np.int64)


@dataclass
class Streams:
    """Labels of tokens, for each pattern of layer names."""

    by_pattern: list[tuple[str, list[Labels], list[Labels]]]
    generated: int | None
    begun: set[str] = field(default_factory=set)
    """Layers that have seen all labelled tokens. Only after that can further tokens be generated ones."""

    def match(self, name: str, batch: int, queries: int, keys: int, *, folded: bool) -> tuple[Labels, Labels] | None:
        """Return the labels that fit a layer's queries and keys, each (batch, tokens) or (1, tokens), or None.

        `folded` tells whether the first axis merges batch and heads.
        """
        for pattern, query_labels, key_labels in self.by_pattern:
            if fnmatchcase(name, pattern):
                matching = self._lengths(name, query_labels, key_labels, queries, keys)
                if matching is None or any(batch % len(axis_labels) for axis_labels in matching):
                    return None
                if not folded:
                    matching = _repeated(matching[0], batch), _repeated(matching[1], batch)
                return matching
        return None

    def _lengths(
        self, name: str, query_labels: list[Labels], key_labels: list[Labels], queries: int, keys: int
    ) -> tuple[Labels, Labels] | None:
        if len(key_labels) == 1 and query_labels is key_labels:
            added = keys - key_labels[0].shape[1]
            if added == 0 and queries == keys:
                self.begun.add(name)
            elif self.generated is not None and added > 0 and queries < keys and name in self.begun:
                new_labels = np.full((len(key_labels[0]), added), self.generated, np.int64)
                all_labels = np.concatenate([key_labels[0], new_labels], axis=1)
                return all_labels[:, keys - queries :], all_labels
        rows, columns = _of_length(name, query_labels, queries), _of_length(name, key_labels, keys)
        return None if rows is None or columns is None else (rows, columns)

    def lengths(self) -> str:
        """Return the shapes of all labels as text for messages."""
        shapes = {labels.shape for _, *streams in self.by_pattern for stream in streams for labels in stream}
        return " and ".join(map(str, sorted(shapes)))


def _repeated(labels: Labels, batch: int) -> Labels:
    return labels if len(labels) in (1, batch) else np.repeat(labels, batch // len(labels), axis=0)


def _of_length(name: str, streams: list[Labels], length: int) -> Labels | None:
    matching = [labels for labels in streams if labels.shape[1] == length]
    if len(matching) > 1 and any(not np.array_equal(matching[0], labels) for labels in matching[1:]):
        raise UsageError(
            f"two streams have labels of length {length}, which matches an axis of {name}. Distinguish them with "
            '`modality={"pattern of a layer\'s name": (labels of queries, labels of keys), …}`.'
        )
    return matching[0] if matching else None


def read_streams(modality: Any, generated: int | None) -> Streams:
    """Parse the `modality` argument of `quag`."""
    if not isinstance(modality, Mapping):
        streams = _streams(modality)
        return Streams([("*", streams, streams)], generated)
    by_pattern = []
    for pattern, labels in modality.items():
        if isinstance(labels, tuple):
            if len(labels) != 2:
                raise InputError(f"labels for {pattern!r}: a tuple must be (labels of queries, labels of keys).")
            by_pattern.append((str(pattern), _streams(labels[0]), _streams(labels[1])))
        else:
            streams = _streams(labels)
            by_pattern.append((str(pattern), streams, streams))
    return Streams(by_pattern, generated)


def _streams(modality: Any) -> list[Labels]:
    several = isinstance(modality, list | tuple) and modality and all(hasattr(item, "shape") for item in modality)
    return [_labels(labels) for labels in (modality if several else [modality])]


def _labels(tokens: Any) -> Labels:
    labels = as_array(tokens)
    if labels.dtype.kind not in "iu" or labels.ndim not in (1, 2) or not labels.size or labels.min() < 0:
        raise InputError(
            f"labels must be non-negative integers of shape (batch, tokens) or (tokens,); got {labels.dtype} of shape "
            f"{labels.shape}."
        )
    return np.atleast_2d(labels).astype(np.int64)
