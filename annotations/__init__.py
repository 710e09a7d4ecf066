"""Loaders of annotation formats, one module per format."""
