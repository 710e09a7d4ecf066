"""Probes: what a model loses when a part of what it does inside is taken away.

QUAG (quadrant average; Rawal et al. 2024, "Dissecting Multimodality in VideoQA Transformer Models by Impairing Modality
Fusion") on any torch model, its definition in NumPy, QUAG-attention, the labels that say which token is of which
modality, and how far apart a model's attention lies for the two sides of a complement pair. torch is
imported when a model is probed, not before.
"""

from .attention_distances import Distance, attention_distance
from .attention_maps import CapturedAttention, captured_attention
from .labels import labels_for, labels_of_ids, labels_of_parts, labels_of_types
from .quadrants import NEITHER, TEXT, VIDEO, quadrants_of
from .reference import merged_attention, short_circuit
from .reports import LayerReport, QuadrantShare, Report
from .short_circuits import quag

__all__ = [
    "NEITHER",
    "TEXT",
    "VIDEO",
    "CapturedAttention",
    "Distance",
    "LayerReport",
    "QuadrantShare",
    "Report",
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
