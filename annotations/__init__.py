"""Loaders of annotation formats, one module each."""
