"""Compositional questions as programs: read, written, taken apart, worded."""
