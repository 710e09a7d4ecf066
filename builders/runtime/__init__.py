"""Render a plan into a finished output: executors, journal, packing, verification."""
