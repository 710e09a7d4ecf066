"""Loaders for annotated datasets, with one module for each file format."""
