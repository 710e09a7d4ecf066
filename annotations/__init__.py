"""Annotation loaders, one module per format."""
