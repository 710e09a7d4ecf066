"""Measure how well questions can be answered without the video, with many blind baselines."""
