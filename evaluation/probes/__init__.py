"""Probe how torch models fuse modalities.

This package contains QUAG (quadrant averaging; Rawal et al. 2024, "Dissecting Multimodality in VideoQA Transformer
Models by Impairing Modality Fusion") for any torch model, its NumPy reference, QUAG-attention, modality labels of
tokens, and attention distances of complement pairs. torch is imported only when a model is probed.
"""

from .attention_distances import Distance, attention_distance
from .attention_maps import CapturedAttention, captured_attention
from .labels import labels_for, labels_of_ids, labels_of_parts, labels_of_types
from .quadrants import NEITHER, TEXT, VIDEO, LayerReport, QuadrantShare, QuagReport, quadrants_of
from .reference import merged_attention, short_circuit
from .short_circuits import quag

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
